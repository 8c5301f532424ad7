// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.fuzz;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.backplane.vfiouser.conformance.ScratchDevice;
import dev.backplane.vfiouser.pci.ConfigSpace;
import dev.backplane.vfiouser.pci.PciFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Configuration space under any sequence of accesses. */
final class ConfigSpaceFuzzTest {
    private static final MemorySegment BUFFER = Arena.global().allocate(ConfigSpace.BYTES);
    private static final MemorySegment OTHER = Arena.global().allocate(ConfigSpace.BYTES);

    @FuzzTest
    void keepsWhatMayNotChange(FuzzedDataProvider data) {
        PciFunction function = new ScratchDevice().function();
        ConfigSpace[] space = new ConfigSpace[1];
        space[0] = new ConfigSpace(function, new ConfigSpace.Listener() {
            @Override
            public void controlChanged() {
                // nobody to tell
            }

            @Override
            public void functionLevelReset() {
                space[0].reset();
            }
        });
        while (data.remainingBytes() > 0) {
            int offset = data.consumeInt(0, ConfigSpace.BYTES - 1);
            int count = data.consumeInt(1, Math.min(64, ConfigSpace.BYTES - offset));
            if (data.consumeBoolean()) {
                byte[] bytes = data.consumeBytes(count);
                MemorySegment.copy(bytes, 0, BUFFER, ValueLayout.JAVA_BYTE, 0, bytes.length);
                space[0].write(offset, BUFFER, 0, bytes.length);
            } else {
                readsTheSameTwice(space[0], offset, count);
            }
        }
        space[0].read(0, BUFFER, 0, ConfigSpace.BYTES);
        int ids = BUFFER.get(ValueLayout.JAVA_INT, 0);
        if ((ids & 0xffff) != function.vendorId() || ids >>> 16 != function.deviceId()) {
            throw new AssertionError("identity is now " + Integer.toHexString(ids));
        }
        savedAndRestoredItIsTheSame(function, space[0]);
    }

    private static void readsTheSameTwice(ConfigSpace space, int offset, int count) {
        space.read(offset, BUFFER, 0, count);
        space.read(offset, OTHER, 0, count);
        if (BUFFER.asSlice(0, count).mismatch(OTHER.asSlice(0, count)) != -1) {
            throw new AssertionError("two reads of " + count + " bytes at " + offset + " differ");
        }
    }

    private static void savedAndRestoredItIsTheSame(PciFunction function, ConfigSpace space) {
        ConfigSpace other = new ConfigSpace(function, new ConfigSpace.Listener() {
            @Override
            public void controlChanged() {
                // nobody to tell
            }

            @Override
            public void functionLevelReset() {
                // not asked for
            }
        });
        space.save(BUFFER, 0);
        other.restore(BUFFER, 0);
        other.save(OTHER, 0);
        if (BUFFER.mismatch(OTHER) != -1 || other.busMaster() != space.busMaster()) {
            throw new AssertionError("a restored configuration space differs");
        }
    }
}
