// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import dev.backplane.vfiouser.natives.EventFd;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.OptionalLong;

/** A register that can be written to without a message (DEVICE_GET_REGION_IO_FDS). Any thread may write. */
public final class ClientIoEvent implements AutoCloseable {
    private static final VarHandle VALUE =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private final int region;
    private final long offset;
    private final int width;
    private final OptionalLong match;
    private final EventFd event;
    private final MemorySegment shadow;

    ClientIoEvent(int region, long offset, int width, OptionalLong match, EventFd event, MemorySegment shadow) {
        this.region = region;
        this.offset = offset;
        this.width = width;
        this.match = match;
        this.event = event;
        this.shadow = shadow;
    }

    /** Index of the region. */
    public int region() {
        return region;
    }

    /** Bytes from the region's start. */
    public long offset() {
        return offset;
    }

    /** Bytes of an access; 0 for any. */
    public int width() {
        return width;
    }

    /** The only value that can be written this way, or none when any can. */
    public OptionalLong match() {
        return match;
    }

    /** Whether the value reaches the device; else only that there was a write. */
    public boolean keepsValue() {
        return shadow != null || match.isPresent();
    }

    /**
     * Writes, as KVM does for a guest: the value to its shadow, then the signal.
     *
     * @return false when the server has not taken any signal for 2<sup>64</sup> of them
     */
    public boolean write(long value) {
        if (match.isPresent() && match.getAsLong() != value) {
            throw new IllegalArgumentException("this descriptor stands for " + match.getAsLong() + ", not " + value);
        }
        if (shadow != null) {
            VALUE.setRelease(shadow, 0L, value);
        }
        return event.signal();
    }

    @Override
    public void close() {
        event.close();
    }
}
