// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class RendezvousFileTest {
    private static final long BYTES = 4 << 20;

    @Test
    void memoryIsThereWithHugePagesAndWithout() throws Exception {
        long free = freeHugePages();
        for (boolean asked : new boolean[] {false, true}) {
            RendezvousFile file = RendezvousFile.allocate(BYTES, asked);
            assertEquals(BYTES, file.segment().byteSize());
            if (!asked || free >= 2) {
                assertEquals(asked, file.huge());
            }
            for (long at = 0; at < BYTES; at += 4096) {
                assertEquals(0, file.segment().get(ValueLayout.JAVA_LONG, at));
                file.segment().set(ValueLayout.JAVA_LONG, at, at);
            }
        }
    }

    private static long freeHugePages() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
            if (line.startsWith("HugePages_Free:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        return 0;
    }
}
