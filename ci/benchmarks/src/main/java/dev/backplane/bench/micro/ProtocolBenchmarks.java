// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench.micro;

import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MessageSocket;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.natives.UnixSocket;
import dev.backplane.vfiouser.protocol.AdaptiveSpin;
import dev.backplane.vfiouser.protocol.Command;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.Limits;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.MessageWriter;
import dev.backplane.vfiouser.protocol.SendLock;
import dev.backplane.vfiouser.protocol.SpinBudget;
import dev.backplane.vfiouser.protocol.StreamException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Messages on a socket, both ends in one thread, so that nobody waits. */
public class ProtocolBenchmarks {
    private static final int BATCH = 32;
    private static final int BODY = 20;
    private static final int[] NO_FDS = {};

    /** A connected pair. */
    @State(Scope.Thread)
    public static class Connection {
        private FileDescriptor[] pair;
        private MessageWriter out;
        private MessageSocket raw;
        private final Arena arena = Arena.ofShared();
        private final MemorySegment batch = arena.allocate((long) BATCH * (Header.BYTES + BODY), 8);
        private MessageReader in;

        /** Connects. */
        @Setup
        public void connect() throws NativeException {
            pair = UnixSocket.pair();
            out = new MessageWriter(pair[0], new SendLock());
            raw = new MessageSocket(pair[0], 1);
            in = new MessageReader(pair[1], Limits.MAX_MESSAGE, new AdaptiveSpin(new SpinBudget(0)));
            for (int i = 0; i < BATCH; i++) {
                int size = Header.BYTES + BODY;
                Header.write(batch.asSlice((long) i * size), i, Command.REGION_WRITE, size, Header.NO_REPLY, 0);
            }
        }

        /** Closes. */
        @TearDown
        public void close() {
            out.close();
            raw.close();
            in.close();
            pair[0].close();
            pair[1].close();
            arena.close();
        }
    }

    /** A doorbell: one call to send it, one to receive it, and its decoding. */
    @Benchmark
    public int sendReceiveDecode(Connection c) throws StreamException {
        c.out.begin(BODY);
        c.out.send(1, Command.REGION_WRITE, Header.NO_REPLY, 0, BODY);
        c.in.receive();
        return c.in.command() + c.in.u32(0) + c.in.u32(16);
    }

    /** Messages that come in bulk: decoding, and a 32nd of a call to send and of one to receive. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int decode(Connection c) throws StreamException {
        c.raw.send(c.batch.address(), (int) c.batch.byteSize(), NO_FDS, 0, 0);
        int sum = 0;
        for (int i = 0; i < BATCH; i++) {
            c.in.receive();
            sum += c.in.command() + c.in.u32(0) + c.in.u32(16);
        }
        return sum;
    }
}
