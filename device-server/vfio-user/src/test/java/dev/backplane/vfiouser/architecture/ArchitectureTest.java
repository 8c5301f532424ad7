// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The walls inside the library. */
class ArchitectureTest {
    private static final String ROOT = "dev.backplane.vfiouser.";

    private static JavaClasses library;

    @BeforeAll
    static void read() {
        library = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("dev.backplane.vfiouser");
    }

    @Test
    void onlyOnePackageTouchesTheLinker() {
        noClasses()
                .that()
                .resideOutsideOfPackage(ROOT + "natives..")
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(Linker.class, SymbolLookup.class)
                .check(library);
    }

    /** What a device model is written against knows neither sockets nor messages. */
    @Test
    void devicesDoNotSeeTheProtocol() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        ROOT + "device..", ROOT + "memory..", ROOT + "pci..", ROOT + "counter..", ROOT + "layout..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        ROOT + "server..",
                        ROOT + "client..",
                        ROOT + "protocol..",
                        ROOT + "natives..",
                        ROOT + "example..")
                .check(library);
    }

    @Test
    void serverAndClientMeetInTheProtocolOnly() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + "server..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ROOT + "client..")
                .check(library);
        noClasses()
                .that()
                .resideInAPackage(ROOT + "client..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT + "server..", ROOT + "device..", ROOT + "interrupt..")
                .check(library);
        noClasses()
                .that()
                .resideInAPackage(ROOT + "protocol..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT + "server..", ROOT + "client..", ROOT + "device..")
                .check(library);
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching(ROOT + "(*)..").should().beFreeOfCycles().check(library);
    }
}
