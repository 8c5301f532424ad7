// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.fuzz;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.backplane.vfiouser.conformance.Fds;
import dev.backplane.vfiouser.conformance.RawPeer;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.protocol.AdaptiveSpin;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.Limits;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.SpinBudget;
import dev.backplane.vfiouser.protocol.StreamException;

/** The frame decoder under any stream, cut anywhere, with descriptors anywhere. */
final class MessageReaderFuzzTest {
    private static final int MOST = 60_000;

    @FuzzTest
    void deliversWhatCameOrEnds(FuzzedDataProvider data) {
        int event = Fds.eventfd();
        int[] pair = Fds.socketPair();
        int before = Fds.count();
        long sent = 0;
        try (RawPeer peer = RawPeer.on(pair[0])) {
            while (data.remainingBytes() > 0 && sent < MOST) {
                int[] fds = new int[data.consumeInt(0, 7) == 7 ? data.consumeInt(1, 20) : 0];
                java.util.Arrays.fill(fds, event);
                byte[] piece = data.consumeBytes(data.consumeInt(1, 300));
                if (piece.length == 0 || !peer.trySend(piece, fds)) {
                    break;
                }
                sent += piece.length;
            }
            peer.endOfStream();
            long received = receiveAll(pair[1]);
            if (received > sent) {
                throw new AssertionError(received + " bytes of messages from " + sent);
            }
        }
        Fds.close(event);
        int after = Fds.count();
        if (after != before - 3) {
            throw new AssertionError("descriptors: " + before + " before, " + after + " after");
        }
    }

    private static long receiveAll(int socket) {
        long received = 0;
        FileDescriptor fd = FileDescriptor.own(socket);
        try (MessageReader reader = new MessageReader(fd, Limits.MAX_MESSAGE, new AdaptiveSpin(new SpinBudget(0)))) {
            while (true) {
                reader.receive();
                int size = Header.BYTES + reader.bodyBytes();
                if (size > Limits.MAX_MESSAGE
                        || reader.bodyStart() + reader.bodyBytes()
                                > reader.memory().byteSize()) {
                    throw new AssertionError("a message of " + size + " bytes");
                }
                if (reader.fds() > 0) {
                    reader.takeFd().close();
                }
                received += size;
            }
        } catch (StreamException end) {
            return received;
        } finally {
            fd.close();
        }
    }
}
