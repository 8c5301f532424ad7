// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The files made from the declarations are the ones in the tree: else C and Java would disagree. */
class DeviceLayoutsTest {
    private static final Path ROOT =
            Path.of("").toAbsolutePath().resolve("../..").normalize();

    @Test
    void headerInTheTreeIsTheGeneratedOne() throws IOException {
        assertEquals(DeviceLayouts.header(), Files.readString(ROOT.resolve(DeviceLayouts.HEADER)), "run ci/layouts");
    }

    @Test
    void tablesInTheTreeAreTheGeneratedOnes() throws IOException {
        assertEquals(DeviceLayouts.tables(), Files.readString(ROOT.resolve(DeviceLayouts.TABLES)), "run ci/layouts");
    }
}
