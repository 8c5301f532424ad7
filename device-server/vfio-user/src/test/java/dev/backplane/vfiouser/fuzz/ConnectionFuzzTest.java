// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.fuzz;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.backplane.vfiouser.conformance.Fds;
import dev.backplane.vfiouser.conformance.Message;
import dev.backplane.vfiouser.conformance.RawPeer;
import dev.backplane.vfiouser.conformance.ScratchSystem;
import dev.backplane.vfiouser.conformance.Wire;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A whole connection, all handlers, under any sequence of messages; the client after it is served as ever. */
final class ConnectionFuzzTest {
    private static ScratchSystem system;
    private static int[] descriptors;

    @BeforeAll
    static void start() throws IOException {
        system = new ScratchSystem();
        descriptors = new int[] {Fds.eventfd(), Fds.memfd(0x10000), Fds.memfd(0x1000)};
        warmUp();
    }

    /** The first client has the server's classes loaded and instrumented, which on a busy machine takes long. */
    private static void warmUp() {
        int attempts = 12;
        while (true) {
            try (RawPeer p = RawPeer.negotiated(system.socket())) {
                p.nothingPending();
                return;
            } catch (AssertionError e) {
                if (--attempts == 0) {
                    throw e;
                }
            }
        }
    }

    @AfterAll
    static void stop() throws IOException {
        system.close();
        for (int fd : descriptors) {
            Fds.close(fd);
        }
    }

    @FuzzTest
    void serves(FuzzedDataProvider data) {
        int before = Fds.count();
        try (RawPeer p = RawPeer.connect(system.socket())) {
            if (data.consumeInt(0, 15) > 0) {
                p.trySend(Message.version("{\"capabilities\":{\"max_msg_fds\":8}}")
                        .toBytes());
            }
            boolean open = true;
            while (open && data.remainingBytes() > 0) {
                Message m = Message.command(data.consumeInt(0, 20));
                int fds = data.consumeInt(0, 3);
                if (data.consumeInt(0, 7) == 0) {
                    m.posted();
                }
                if (data.consumeInt(0, 31) == 0) {
                    m.size(data.consumeInt());
                }
                int fields = data.consumeInt(0, 12);
                for (int i = 0; i < fields; i++) {
                    m.u32(data.consumeInt(0, 3) == 0 ? data.consumeInt() : data.consumeInt(0, 64));
                }
                open = p.trySend(m.toBytes(), Arrays.copyOf(descriptors, fds)) && p.drain();
            }
        }
        try (RawPeer next = RawPeer.negotiated(system.socket())) {
            if (next.ok(Message.read(Wire.CONFIG_REGION, 0, 2)).u16(16) != 0x1b36) {
                throw new AssertionError("the next client read something else\n" + system.report());
            }
            if (system.windows() != 0) {
                throw new AssertionError("windows are left\n" + system.report());
            }
        }
        int after = Fds.awaitCount(before);
        if (after > before) {
            throw new AssertionError("descriptors: " + before + " before, " + after + " after\n" + system.report());
        }
    }
}
