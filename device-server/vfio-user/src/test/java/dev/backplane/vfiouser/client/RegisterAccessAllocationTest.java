// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.backplane.vfiouser.conformance.ScratchDevice;
import dev.backplane.vfiouser.conformance.ScratchSystem;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MessageSocket;
import dev.backplane.vfiouser.natives.UnixSocket;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A register access allocates nothing of ours. This runs without escape analysis, which comes and goes with the
 * compiler's mood: so what the linker allocates for a call, and the compiler mostly removes, is there in full, and is
 * measured and taken off.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RegisterAccessAllocationTest {
    private static final int LOT = 1000;

    /** Lots at most; the least counts, since what linking and warming up allocate is not the accesses'. */
    private static final int LOTS = 20;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private interface Action {
        void run(int i) throws IOException;
    }

    /** Bytes that {@link #LOT} runs allocate on this thread. */
    private long bytes(Action action) throws IOException {
        long me = Thread.currentThread().threadId();
        long least = Long.MAX_VALUE;
        for (int lot = 0; lot < LOTS; lot++) {
            long before = threads.getThreadAllocatedBytes(me);
            for (int i = 0; i < LOT; i++) {
                action.run(i);
            }
            least = Math.min(least, threads.getThreadAllocatedBytes(me) - before);
        }
        return least;
    }

    /** What the linker allocates for {@link #LOT} system calls. */
    private long ofTheLinker() throws IOException {
        FileDescriptor[] pair = UnixSocket.pair();
        try (FileDescriptor one = pair[0];
                FileDescriptor other = pair[1];
                MessageSocket socket = new MessageSocket(one, 1)) {
            assertTrue(other.value() >= 0);
            return bytes(i -> socket.awaitReadable(0));
        }
    }

    @Test
    void aRegisterAccessAllocatesNothing() throws IOException {
        long call = ofTheLinker();
        try (ScratchSystem system = new ScratchSystem();
                VfioUserClient client = VfioUserClient.connect(system.socket())) {
            int registers = ScratchDevice.REGISTERS;
            // a message is sent; that there is an answer is waited for; it is received
            assertEquals(3 * call, bytes(i -> client.writeInt(registers, 0, i)), "bytes for " + LOT + " writes");
            assertEquals(3 * call, bytes(i -> client.readInt(registers, 0)), "bytes for " + LOT + " reads");
            // only sent, and a read after each so that the socket never fills
            assertEquals(
                    4 * call,
                    bytes(i -> {
                        client.post(registers, 4, 4, i);
                        client.readInt(registers, 0);
                    }),
                    "bytes for " + LOT + " posted writes and as many reads");
        }
    }
}
