// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.backplane.vfiouser.protocol.Command;
import dev.backplane.vfiouser.protocol.DeviceState;
import dev.backplane.vfiouser.protocol.FeatureMessages;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.Wire;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/** Migration as its client drives it: device states, the stream of state, and the log of pages that the device wrote. */
public final class ClientMigration {
    private static final int FEATURE = FeatureMessages.FEATURE_DATA;
    private static final int DATA = FeatureMessages.DATA_BYTES;

    private final ClientConnection connection;
    private final int transferBytes;

    ClientMigration(ClientConnection connection, int transferBytes) {
        this.connection = connection;
        this.transferBytes = transferBytes;
    }

    /** Whether the device can be saved and restored. */
    public boolean supported() throws IOException {
        begin(FEATURE, FEATURE, FeatureMessages.PROBE | FeatureMessages.GET | FeatureMessages.MIGRATION);
        try {
            connection.call(Command.DEVICE_FEATURE, FEATURE);
            return true;
        } catch (ServerErrorException no) {
            return false;
        }
    }

    /** The device's state. */
    public DeviceState state() throws IOException {
        int room = FEATURE + FeatureMessages.STATE_DATA.size();
        begin(FEATURE, room, FeatureMessages.GET | FeatureMessages.MIG_DEVICE_STATE);
        MessageReader reply = connection.call(Command.DEVICE_FEATURE, FEATURE);
        DeviceState state =
                reply.bodyBytes() < room ? null : DeviceState.of(reply.u32(FEATURE + FeatureMessages.STATE));
        if (state == null) {
            throw new IOException("the server names no state of its device that there is");
        }
        return state;
    }

    /** Brings the device into another state, by way of others where that is needed. */
    public void state(DeviceState state) throws IOException {
        int bytes = FEATURE + FeatureMessages.STATE_DATA.size();
        MemorySegment o = begin(bytes, bytes, FeatureMessages.SET | FeatureMessages.MIG_DEVICE_STATE);
        o.set(Wire.U64, Header.BYTES + FEATURE, 0);
        o.set(Wire.U32, Header.BYTES + FEATURE + FeatureMessages.STATE, state.number());
        connection.call(Command.DEVICE_FEATURE, bytes);
    }

    /** Stops the device and returns its state. The device is left in STOP_COPY. */
    public byte[] save() throws IOException {
        state(DeviceState.STOP_COPY);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        int n;
        do {
            MemorySegment o = connection.begin(DATA);
            o.set(Wire.U32, Header.BYTES + FeatureMessages.DATA_ARGSZ, DATA + transferBytes);
            o.set(Wire.U32, Header.BYTES + FeatureMessages.DATA_SIZE, transferBytes);
            MessageReader reply = connection.call(Command.MIG_DATA_READ, DATA);
            n = reply.bodyBytes() < DATA ? -1 : reply.u32(FeatureMessages.DATA_SIZE);
            if (n < 0 || n > reply.bodyBytes() - DATA) {
                throw new IOException("a piece of " + n + " bytes of state in a payload of " + reply.bodyBytes());
            }
            all.writeBytes(
                    reply.memory().asSlice(reply.bodyStart() + (long) DATA, n).toArray(JAVA_BYTE));
        } while (n == transferBytes);
        return all.toByteArray();
    }

    /** Gives the device a state that was saved, and lets it run. */
    public void restore(byte[] state) throws IOException {
        state(DeviceState.RESUMING);
        for (int at = 0; at < state.length; at += transferBytes) {
            int n = Math.min(transferBytes, state.length - at);
            MemorySegment o = connection.begin(DATA + n);
            o.set(Wire.U32, Header.BYTES + FeatureMessages.DATA_ARGSZ, DATA + n);
            o.set(Wire.U32, Header.BYTES + FeatureMessages.DATA_SIZE, n);
            MemorySegment.copy(state, at, o, JAVA_BYTE, Header.BYTES + (long) DATA, n);
            connection.call(Command.MIG_DATA_WRITE, DATA + n);
        }
        state(DeviceState.STOP);
        state(DeviceState.RUNNING);
    }

    /** Starts the log of the pages that the device writes, in all windows. Returns the size of the pages it has. */
    public long startLogging(long pageBytes) throws IOException {
        int bytes = FEATURE + FeatureMessages.LOGGING.size();
        MemorySegment o = begin(bytes, bytes, FeatureMessages.SET | FeatureMessages.DMA_LOGGING_START);
        o.asSlice(Header.BYTES + FEATURE, FeatureMessages.LOGGING.size()).fill((byte) 0);
        o.set(Wire.U64, Header.BYTES + FEATURE + FeatureMessages.LOGGING_PAGE_SIZE, pageBytes);
        MessageReader reply = connection.call(Command.DEVICE_FEATURE, bytes);
        return reply.bodyBytes() < bytes ? pageBytes : reply.u64(FEATURE + FeatureMessages.LOGGING_PAGE_SIZE);
    }

    /** Ends the log. */
    public void stopLogging() throws IOException {
        begin(FEATURE, FEATURE, FeatureMessages.SET | FeatureMessages.DMA_LOGGING_STOP);
        connection.call(Command.DEVICE_FEATURE, FEATURE);
    }

    /** The pages of a range that the device has written since the last report; bit 0 is the page at {@code iova}. */
    public BitSet dirtyPages(long iova, long bytes, long pageBytes) throws IOException {
        int words = Math.toIntExact(((bytes - 1) / pageBytes + 1 + 63) / 64);
        int fixed = FEATURE + FeatureMessages.REPORT.size();
        MemorySegment o =
                begin(fixed, fixed + Long.BYTES * words, FeatureMessages.GET | FeatureMessages.DMA_LOGGING_REPORT);
        o.set(Wire.U64, Header.BYTES + FEATURE + FeatureMessages.REPORT_IOVA, iova);
        o.set(Wire.U64, Header.BYTES + FEATURE + FeatureMessages.REPORT_LENGTH, bytes);
        o.set(Wire.U64, Header.BYTES + FEATURE + FeatureMessages.REPORT_PAGE_SIZE, pageBytes);
        MessageReader reply = connection.call(Command.DEVICE_FEATURE, fixed);
        if (reply.bodyBytes() < fixed + Long.BYTES * words) {
            throw new IOException("a report of " + reply.bodyBytes() + " bytes for " + words + " words");
        }
        long[] bits = new long[words];
        for (int i = 0; i < words; i++) {
            bits[i] = reply.u64(fixed + Long.BYTES * i);
        }
        return BitSet.valueOf(bits);
    }

    private MemorySegment begin(int bytes, int room, int flags) {
        MemorySegment o = connection.begin(bytes);
        o.set(Wire.U32, Header.BYTES + FeatureMessages.FEATURE_ARGSZ, room);
        o.set(Wire.U32, Header.BYTES + FeatureMessages.FEATURE_FLAGS, flags);
        return o;
    }
}
