// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.vfiouser.conformance.Message;
import dev.backplane.vfiouser.conformance.ScratchDevice;
import dev.backplane.vfiouser.conformance.Wire;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MessageSocket;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.natives.RawCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A message costs one system call, its answer another one. The server is given a socket that keeps packets apart, where
 * that shows: a command read in two calls would lose its rest, and an answer sent in two would arrive as two.
 */
@Timeout(60)
class SystemCallsTest {
    private static final int MESSAGES = 500;
    private static final int WAIT_MILLIS = 20_000;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment buffer = arena.allocate(65_536);
    private final ConnectionCounters counters = new ConnectionCounters();
    private FileDescriptor ours;
    private MessageSocket peer;
    private ServedDevice device;
    private Connection connection;

    @BeforeEach
    void connect() throws NativeException {
        FileDescriptor[] pair = RawCalls.packetPair();
        ours = pair[0];
        peer = new MessageSocket(ours, MessageSocket.MAX_FDS);
        device = new ServedDevice(new ScratchDevice(), "calls");
        connection = new Connection(device, pair[1], 0, ServerOptions.named("calls"), counters, new TraceSwitch());
        connection.start("calls");
        send(Message.version("{}"));
        receive();
    }

    @AfterEach
    void disconnect() throws InterruptedException {
        connection.disconnect();
        assertTrue(connection.awaitEnd(Duration.ofSeconds(20)));
        device.close();
        peer.close();
        ours.close();
        arena.close();
    }

    @Test
    void registerReadIsOneCallInAndOneOut() {
        for (int i = 0; i < MESSAGES; i++) {
            send(Message.read(ScratchDevice.REGISTERS, 0, 4).id(i));
            assertEquals(Wire.HEADER + 16 + 4, receive(), "bytes of the answer's first packet");
            assertEquals(i, buffer.get(ValueLayout.JAVA_SHORT, 0) & 0xffff);
        }
        assertEquals(1 + MESSAGES, counters.group().get("messages"));
        assertNothingMore();
    }

    @Test
    void postedWriteIsOneCallInAndNoneOut() {
        for (int i = 0; i < MESSAGES; i++) {
            send(Message.write32(ScratchDevice.REGISTERS, 8, i).posted());
        }
        send(Message.read(ScratchDevice.REGISTERS, 8, 4).id(7));
        assertEquals(Wire.HEADER + 16 + 4, receive(), "the only answer");
        assertEquals(MESSAGES - 1, buffer.get(ValueLayout.JAVA_INT, Wire.HEADER + 16));
        assertEquals(MESSAGES, counters.group().get("posted"));
        assertNothingMore();
    }

    private void send(Message m) {
        byte[] bytes = m.toBytes();
        MemorySegment.copy(bytes, 0, buffer, ValueLayout.JAVA_BYTE, 0, bytes.length);
        assertEquals(bytes.length, peer.send(buffer.address(), bytes.length, new int[0], 0, 0));
    }

    /** Takes one packet; returns its length. */
    private int receive() {
        assertEquals(1, peer.awaitReadable(WAIT_MILLIS), "an answer");
        return peer.receive(buffer.address(), (int) buffer.byteSize(), 0);
    }

    private void assertNothingMore() {
        assertEquals(0, peer.awaitReadable(0), "another packet");
    }
}
