// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import static dev.backplane.vfiouser.client.ClientConnection.INT;
import static dev.backplane.vfiouser.client.ClientConnection.LONG;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.backplane.vfiouser.client.ClientSocket.Header;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/** Migration as its client drives it: device states, the stream of state, and the log of pages that the device wrote. */
public final class ClientMigration {
    /** States of a device, with their numbers in {@code linux/vfio.h}, {@code enum vfio_device_mig_state}. */
    public enum State {
        ERROR(0),
        STOP(1),
        RUNNING(2),
        STOP_COPY(3),
        RESUMING(4),
        RUNNING_P2P(5),
        PRE_COPY(6),
        PRE_COPY_P2P(7);

        private final int number;

        State(int number) {
            this.number = number;
        }

        private static State of(int number) throws IOException {
            for (State s : values()) {
                if (s.number == number) {
                    return s;
                }
            }
            throw new IOException("the device is in state " + number + ", which there is not");
        }
    }

    private static final int FEATURE_BYTES = 8;
    private static final int GET = 1 << 16;
    private static final int SET = 1 << 17;
    private static final int PROBE = 1 << 18;
    private static final int MIGRATION = 1;
    private static final int DEVICE_STATE = 2;
    private static final int LOGGING_START = 6;
    private static final int LOGGING_STOP = 7;
    private static final int LOGGING_REPORT = 8;
    private static final int DATA_BYTES = 8;

    private final ClientConnection connection;
    private final int transferBytes;

    ClientMigration(ClientConnection connection, int transferBytes) {
        this.connection = connection;
        this.transferBytes = transferBytes;
    }

    /** Whether the device can be saved and restored. */
    public boolean supported() throws IOException {
        feature(FEATURE_BYTES, PROBE | GET | MIGRATION);
        try {
            connection.callPlain(Commands.DEVICE_FEATURE, FEATURE_BYTES);
            return true;
        } catch (ServerErrorException no) {
            return false;
        }
    }

    /** The device's state. */
    public State state() throws IOException {
        feature(FEATURE_BYTES + 8, GET | DEVICE_STATE);
        connection.callPlain(Commands.DEVICE_FEATURE, FEATURE_BYTES);
        return State.of(connection.in().get(INT, connection.payload() + (long) FEATURE_BYTES));
    }

    /** Brings the device into another state, by way of others where that is needed. */
    public void state(State state) throws IOException {
        MemorySegment o = feature(FEATURE_BYTES + 8, SET | DEVICE_STATE);
        o.set(INT, 24, state.number);
        o.set(INT, 28, -1);
        connection.callPlain(Commands.DEVICE_FEATURE, FEATURE_BYTES + 8);
    }

    /** Stops the device and returns its state. The device is left in STOP_COPY. */
    public byte[] save() throws IOException {
        state(State.STOP_COPY);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        int n;
        do {
            MemorySegment o = connection.out(DATA_BYTES);
            o.set(INT, 16, DATA_BYTES + transferBytes);
            o.set(INT, 20, transferBytes);
            int got = connection.callPlain(Commands.MIG_DATA_READ, DATA_BYTES);
            n = connection.in().get(INT, connection.payload() + 4L);
            if (n < 0 || n > got - DATA_BYTES) {
                throw new IOException("a piece of " + n + " bytes of state in a payload of " + got);
            }
            all.writeBytes(connection
                    .in()
                    .asSlice(connection.payload() + (long) DATA_BYTES, n)
                    .toArray(JAVA_BYTE));
        } while (n == transferBytes);
        return all.toByteArray();
    }

    /** Gives the device a state that was saved, and lets it run. */
    public void restore(byte[] state) throws IOException {
        state(State.RESUMING);
        for (int at = 0; at < state.length; at += transferBytes) {
            int n = Math.min(transferBytes, state.length - at);
            MemorySegment o = connection.out(DATA_BYTES + n);
            o.set(INT, 16, DATA_BYTES + n);
            o.set(INT, 20, n);
            MemorySegment.copy(state, at, o, JAVA_BYTE, Header.BYTES + (long) DATA_BYTES, n);
            connection.callPlain(Commands.MIG_DATA_WRITE, DATA_BYTES + n);
        }
        state(State.STOP);
        state(State.RUNNING);
    }

    /** Starts the log of the pages that the device writes, in all windows. */
    public void startLogging(long pageBytes) throws IOException {
        MemorySegment o = feature(FEATURE_BYTES + 16, SET | LOGGING_START);
        o.set(LONG, 24, pageBytes);
        o.set(LONG, 32, 0);
        connection.callPlain(Commands.DEVICE_FEATURE, FEATURE_BYTES + 16);
    }

    /** Ends the log. */
    public void stopLogging() throws IOException {
        feature(FEATURE_BYTES, SET | LOGGING_STOP);
        connection.callPlain(Commands.DEVICE_FEATURE, FEATURE_BYTES);
    }

    /** The pages of a range that the device has written since the last report; bit 0 is the page at {@code iova}. */
    public BitSet dirtyPages(long iova, long bytes, long pageBytes) throws IOException {
        int words = Math.toIntExact((bytes / pageBytes + 63) / 64);
        MemorySegment o = feature(FEATURE_BYTES + 24 + 8 * words, GET | LOGGING_REPORT);
        o.set(LONG, 24, iova);
        o.set(LONG, 32, bytes);
        o.set(LONG, 40, pageBytes);
        int got = connection.callPlain(Commands.DEVICE_FEATURE, FEATURE_BYTES + 24);
        if (got < FEATURE_BYTES + 24 + 8 * words) {
            throw new IOException("a report of " + got + " bytes for " + words + " words");
        }
        long[] bits = new long[words];
        for (int i = 0; i < words; i++) {
            bits[i] = connection.in().get(LONG, connection.payload() + FEATURE_BYTES + 24L + 8L * i);
        }
        return BitSet.valueOf(bits);
    }

    private MemorySegment feature(int argsz, int flags) {
        MemorySegment o = connection.out(Math.max(argsz, FEATURE_BYTES + 24));
        o.set(INT, 16, argsz);
        o.set(INT, 20, flags);
        return o;
    }
}
