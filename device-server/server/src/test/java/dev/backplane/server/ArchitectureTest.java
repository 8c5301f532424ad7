// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which way the arrows go: server, then devices, then vfio-user; and who may touch what. */
@Timeout(120)
class ArchitectureTest {
    private static JavaClasses program;

    @BeforeAll
    static void read() {
        program = new ClassFileImporter()
                // Tests of other modules come as folders or as jars, depending on how Maven was called.
                .withImportOption(place -> !place.contains("test-classes") && !place.contains("-tests.jar"))
                .importPackages("dev.backplane");
        for (String part : new String[] {"vfiouser.server", "devices.agg", "devices.imm", "server.run"}) {
            assertTrue(
                    program.stream().anyMatch(c -> c.getPackageName().equals("dev.backplane." + part)),
                    "no classes of " + part + " were read");
        }
    }

    @Test
    void theLibraryKnowsNeitherDevicesNorServer() {
        noClasses()
                .that()
                .resideInAPackage("dev.backplane.vfiouser..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.backplane.devices..", "dev.backplane.server..")
                .check(program);
    }

    @Test
    void theLibraryCouldBePublishedAlone() {
        classes()
                .that()
                .resideInAPackage("dev.backplane.vfiouser..")
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(
                        "dev.backplane.vfiouser..", "java..", "com.fasterxml.jackson..", "org.slf4j.."))
                .check(program);
    }

    @Test
    void devicesDoNotKnowTheServer() {
        noClasses()
                .that()
                .resideInAPackage("dev.backplane.devices..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.backplane.server..")
                .check(program);
    }

    @Test
    void devicesSeeNeitherSocketsNorMessages() {
        noClasses()
                .that()
                .resideInAPackage("dev.backplane.devices..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.backplane.vfiouser.natives..",
                        "dev.backplane.vfiouser.protocol..",
                        "dev.backplane.vfiouser.server..",
                        "dev.backplane.vfiouser.client..",
                        "java.net..",
                        "java.nio.channels..",
                        "io.netty..")
                .check(program);
    }

    @Test
    void onlyOnePackageTouchesTheLinker() {
        noClasses()
                .that(not(resideInAnyPackage("dev.backplane.vfiouser.natives")))
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(Linker.class, SymbolLookup.class)
                .check(program);
    }

    @Test
    void nothingDependsOnTheCommandLine() {
        noClasses()
                .that(not(resideInAnyPackage("dev.backplane.server", "dev.backplane.server.command")))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.backplane.server.command..", "picocli..")
                .check(program);
    }

    @Test
    void thePartsOfTheServerFormNoCycle() {
        slices().matching("dev.backplane.server.(*)..")
                .should()
                .beFreeOfCycles()
                .check(program);
    }

    @Test
    void thePartsOfTheDevicesFormNoCycle() {
        slices().matching("dev.backplane.devices.(*)..")
                .should()
                .beFreeOfCycles()
                .check(program);
    }
}
