// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.protocol.DeviceState;
import dev.backplane.vfiouser.protocol.FeatureMessages;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.Limits;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.Wire;
import java.lang.foreign.MemorySegment;

/** DEVICE_FEATURE (migration and DMA logging), MIG_DATA_READ and MIG_DATA_WRITE. */
final class FeatureHandlers {
    private static final int FIXED = FeatureMessages.FEATURE_DATA;
    private static final int OPERATIONS = FeatureMessages.GET | FeatureMessages.SET | FeatureMessages.PROBE;

    private FeatureHandlers() {}

    static int feature(Session s) {
        MessageReader in = s.in();
        if (in.bodyBytes() < FIXED) {
            return -Errno.EINVAL;
        }
        int flags = in.u32(FeatureMessages.FEATURE_FLAGS);
        int feature = flags & FeatureMessages.FEATURE_MASK;
        int operations = flags & ~FeatureMessages.FEATURE_MASK;
        int supported = supported(s, feature);
        if (supported == 0 || (operations & ~supported) != 0) {
            return -Errno.EINVAL;
        }
        return switch (operations) {
            case FeatureMessages.GET -> get(s, feature);
            case FeatureMessages.SET -> set(s, feature);
            default -> (operations & FeatureMessages.PROBE) != 0 ? echo(s) : -Errno.EINVAL;
        };
    }

    private static int supported(Session s, int feature) {
        int all = switch (feature) {
            case FeatureMessages.MIGRATION, FeatureMessages.DMA_LOGGING_REPORT -> OPERATIONS & ~FeatureMessages.SET;
            case FeatureMessages.MIG_DEVICE_STATE -> OPERATIONS;
            case FeatureMessages.DMA_LOGGING_START, FeatureMessages.DMA_LOGGING_STOP ->
                OPERATIONS & ~FeatureMessages.GET;
            default -> 0;
        };
        return s.device().migratable() == null ? 0 : all;
    }

    /** The request as the reply, for which there must be room. */
    private static int echo(Session s) {
        MessageReader in = s.in();
        int bytes = in.bodyBytes();
        if (Integer.compareUnsigned(in.u32(FeatureMessages.FEATURE_ARGSZ), bytes) < 0) {
            return -Errno.EINVAL;
        }
        MemorySegment out = s.out().begin(bytes);
        MemorySegment.copy(in.memory(), in.bodyStart(), out, Header.BYTES, bytes);
        return bytes;
    }

    private static int get(Session s, int feature) {
        return switch (feature) {
            case FeatureMessages.MIGRATION ->
                getWord(s, FeatureMessages.MIGRATION_STOP_COPY | FeatureMessages.MIGRATION_PRE_COPY);
            case FeatureMessages.MIG_DEVICE_STATE ->
                getWord(s, s.migration().state().number());
            default -> report(s);
        };
    }

    /** Both features that can be got have eight bytes, of which the first four say it. */
    private static int getWord(Session s, int value) {
        MessageReader in = s.in();
        int bytes = FIXED + FeatureMessages.STATE_DATA.size();
        if (Integer.compareUnsigned(in.u32(FeatureMessages.FEATURE_ARGSZ), bytes) < 0) {
            return -Errno.EINVAL;
        }
        MemorySegment out = s.out().begin(bytes);
        out.set(Wire.U32, Header.BYTES + FeatureMessages.FEATURE_ARGSZ, bytes);
        out.set(Wire.U32, Header.BYTES + FeatureMessages.FEATURE_FLAGS, in.u32(FeatureMessages.FEATURE_FLAGS));
        out.set(Wire.U64, Header.BYTES + FIXED, value);
        return bytes;
    }

    private static int report(Session s) {
        MessageReader in = s.in();
        int fixed = FIXED + FeatureMessages.REPORT.size();
        if (in.bodyBytes() < fixed) {
            return -Errno.EINVAL;
        }
        long iova = in.u64(FIXED + FeatureMessages.REPORT_IOVA);
        long length = in.u64(FIXED + FeatureMessages.REPORT_LENGTH);
        long bitmap = DirtyReport.bitmapBytes(length, in.u64(FIXED + FeatureMessages.REPORT_PAGE_SIZE));
        GuestMemory memory = s.device().memory();
        if (bitmap < 0
                || fixed + bitmap > Limits.MAX_MESSAGE - Header.BYTES
                || Integer.toUnsignedLong(in.u32(FeatureMessages.FEATURE_ARGSZ)) < fixed + bitmap) {
            return -Errno.EINVAL;
        }
        if (!memory.readable(iova, length)) {
            return -Errno.ENOENT;
        }
        if (memory.dirtyLog() == null) {
            return -Errno.EINVAL;
        }
        int bytes = fixed + (int) bitmap;
        MemorySegment out = s.out().begin(bytes);
        MemorySegment.copy(in.memory(), in.bodyStart(), out, Header.BYTES, fixed);
        out.set(Wire.U32, Header.BYTES + FeatureMessages.FEATURE_ARGSZ, bytes);
        MemorySegment bits = out.asSlice(Header.BYTES + fixed, bitmap);
        bits.fill((byte) 0);
        memory.dirtyLog().take(iova, length, in.u64(FIXED + FeatureMessages.REPORT_PAGE_SIZE), bits);
        return bytes;
    }

    private static int set(Session s, int feature) {
        MessageReader in = s.in();
        if (Integer.compareUnsigned(in.u32(FeatureMessages.FEATURE_ARGSZ), in.bodyBytes()) < 0) {
            return -Errno.EINVAL;
        }
        return switch (feature) {
            case FeatureMessages.MIG_DEVICE_STATE -> setState(s);
            case FeatureMessages.DMA_LOGGING_START -> startLogging(s);
            default -> {
                s.device().memory().stopDirtyLog();
                s.loggingPageSize(0);
                yield echo(s);
            }
        };
    }

    private static int setState(Session s) {
        MessageReader in = s.in();
        if (in.bodyBytes() < FIXED + FeatureMessages.STATE_DATA.size()) {
            return -Errno.EINVAL;
        }
        DeviceState target = DeviceState.of(in.u32(FIXED + FeatureMessages.STATE));
        int error = target == null ? -Errno.EINVAL : s.migration().go(target);
        return error != 0 ? error : echo(s);
    }

    /**
     * All writes are logged, in pages of our own size, whatever ranges and page size the client wishes. Once more with
     * another wish is refused (as by libvfio-user).
     */
    private static int startLogging(Session s) {
        MessageReader in = s.in();
        int fixed = FIXED + FeatureMessages.LOGGING.size();
        if (in.bodyBytes() < fixed) {
            return -Errno.EINVAL;
        }
        long pageSize = in.u64(FIXED + FeatureMessages.LOGGING_PAGE_SIZE);
        long ranges = Integer.toUnsignedLong(in.u32(FIXED + FeatureMessages.LOGGING_RANGES));
        if (Long.bitCount(pageSize) != 1 || ranges * FeatureMessages.RANGE.size() > in.bodyBytes() - fixed) {
            return -Errno.EINVAL;
        }
        if (s.loggingPageSize() != 0 && pageSize != s.loggingPageSize() && pageSize != Limits.PAGE) {
            return -Errno.EINVAL;
        }
        s.loggingPageSize(pageSize);
        s.device().memory().startDirtyLog();
        int bytes = echo(s);
        s.out().begin(bytes).set(Wire.U64, Header.BYTES + FIXED + FeatureMessages.LOGGING_PAGE_SIZE, Limits.PAGE);
        return bytes;
    }

    static int readState(Session s) {
        MessageReader in = s.in();
        int fixed = FeatureMessages.DATA_BYTES;
        if (in.bodyBytes() < fixed || !s.migration().state().saving()) {
            return -Errno.EINVAL;
        }
        int size = in.u32(FeatureMessages.DATA_SIZE);
        if (!validSize(s, size)) {
            return -Errno.EINVAL;
        }
        MemorySegment out = s.out().begin(fixed + size);
        int n = s.migration().read(out, Header.BYTES + fixed, size);
        out.set(Wire.U32, Header.BYTES + FeatureMessages.DATA_ARGSZ, fixed + n);
        out.set(Wire.U32, Header.BYTES + FeatureMessages.DATA_SIZE, n);
        return fixed + n;
    }

    static int writeState(Session s) {
        MessageReader in = s.in();
        int fixed = FeatureMessages.DATA_BYTES;
        if (in.bodyBytes() < fixed || s.migration().state() != DeviceState.RESUMING) {
            return -Errno.EINVAL;
        }
        int size = in.u32(FeatureMessages.DATA_SIZE);
        if (!validSize(s, size) || size > in.bodyBytes() - fixed) {
            return -Errno.EINVAL;
        }
        return s.migration().write(in.memory(), in.bodyStart() + fixed, size);
    }

    private static boolean validSize(Session s, int size) {
        return size >= 0
                && size <= Limits.MAX_DATA_XFER_SIZE
                && size <= s.client().maxDataXferSize()
                && Integer.toUnsignedLong(s.in().u32(FeatureMessages.DATA_ARGSZ))
                        >= (long) FeatureMessages.DATA_BYTES + size;
    }
}
