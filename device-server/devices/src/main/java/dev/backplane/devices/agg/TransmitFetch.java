// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.fabric.Frame;
import dev.backplane.devices.fabric.FrameCursor;
import dev.backplane.devices.fabric.Offloads;
import dev.backplane.devices.fabric.VlanTag;
import dev.backplane.vfiouser.memory.GuestMemory;

/**
 * The first transmit descriptors of one frame, as fetched from guest memory. Each word is read exactly once, so what is
 * checked is what is used, whatever the guest writes meanwhile. Confined to the queue's loop.
 */
final class TransmitFetch {
    private static final int KNOWN_FLAGS =
            TransmitDescriptor.END_OF_FRAME | TransmitDescriptor.CHECKSUM | TransmitDescriptor.VLAN;

    private final VnicDevice device;
    private final long[] addresses = new long[AggRegisters.MAX_SEGMENTS];
    private final int[] lengths = new int[AggRegisters.MAX_SEGMENTS];
    private int segments;
    private int length;
    private int status;
    private int flags;
    private int vlanTci;
    private int csumStart;
    private int csumOffset;
    private int gsoType;
    private int gsoSize;
    private int headerLength;

    TransmitFetch(VnicDevice device) {
        this.device = device;
    }

    /** Bytes of the frame, as far as that is known. */
    int length() {
        return length;
    }

    /** {@link TransmitCompletion#OK}, or what is wrong with the frame. */
    int status() {
        return status;
    }

    /** Whether the frame has a VLAN tag beside it. */
    boolean tagged() {
        return (flags & TransmitDescriptor.VLAN) != 0;
    }

    /**
     * Fetches the descriptors of the frame that starts at index {@code next}.
     *
     * @return their number, or 0 when the frame's last one has not been made available yet
     */
    int fetch(Ring r, QueueLink link, int next, int producer) {
        length = 0;
        int giveUp = link.discarding();
        if (giveUp >= 0) {
            return skip(r, link, next, producer, giveUp);
        }
        status = TransmitCompletion.OK;
        segments = 0;
        long total = 0;
        for (int index = next; index != producer; index++) {
            long at = (long) r.place(index) * TransmitDescriptor.BYTES;
            addresses[segments] = r.descriptors.getLong(at + TransmitDescriptor.ADDRESS);
            long word = r.descriptors.getLong(at + TransmitDescriptor.LENGTH);
            int bytes = (int) word;
            int descriptorFlags = field(word, TransmitDescriptor.FLAGS);
            if (segments == 0) {
                flags = descriptorFlags;
                vlanTci = field(word, TransmitDescriptor.VLAN_TCI);
                offloads(r, at);
            }
            lengths[segments++] = bytes;
            total += Integer.toUnsignedLong(bytes);
            if (bytes == 0) {
                fail(TransmitCompletion.BAD_LENGTH);
            }
            if ((descriptorFlags & ~KNOWN_FLAGS) != 0) {
                fail(TransmitCompletion.BAD_FLAGS);
            }
            if ((descriptorFlags & TransmitDescriptor.END_OF_FRAME) != 0) {
                check(total);
                return segments;
            }
            if (segments == AggRegisters.MAX_SEGMENTS) {
                status = TransmitCompletion.TOO_MANY_SEGMENTS;
                link.discarding(status);
                return segments;
            }
        }
        if (producer - next == r.size) {
            // The ring is full of one frame, whose end can never come.
            status = TransmitCompletion.TOO_MANY_SEGMENTS;
            link.discarding(status);
            return segments;
        }
        return 0;
    }

    /** The rest of a frame that was given up: completes with the same status, up to its end. */
    private int skip(Ring r, QueueLink link, int next, int producer, int giveUp) {
        status = giveUp;
        int n = 0;
        for (int index = next; index != producer; index++) {
            long at = (long) r.place(index) * TransmitDescriptor.BYTES;
            int descriptorFlags =
                    field(r.descriptors.getLong(at + TransmitDescriptor.LENGTH), TransmitDescriptor.FLAGS);
            n++;
            if ((descriptorFlags & TransmitDescriptor.END_OF_FRAME) != 0) {
                link.discarding(-1);
                break;
            }
        }
        return n;
    }

    private void offloads(Ring r, long at) {
        long word = r.descriptors.getLong(at + TransmitDescriptor.CSUM_START);
        csumStart = field(word, TransmitDescriptor.CSUM_START);
        csumOffset = field(word, TransmitDescriptor.CSUM_OFFSET);
        gsoType = field(word, TransmitDescriptor.GSO_TYPE);
        gsoSize = field(word, TransmitDescriptor.GSO_SIZE);
        headerLength = gsoType == Offloads.GSO_NONE
                ? 0
                : field(r.descriptors.getLong(at + TransmitDescriptor.HEADER_LENGTH), TransmitDescriptor.HEADER_LENGTH);
    }

    /** A two-byte field of the eight bytes of a descriptor that it lies in. */
    private static int field(long word, int offset) {
        return (int) (word >>> ((offset & 7) * 8)) & 0xffff;
    }

    private void fail(int code) {
        if (status == TransmitCompletion.OK) {
            status = code;
        }
    }

    private void check(long total) {
        boolean partial = (flags & TransmitDescriptor.CHECKSUM) != 0;
        if (total < AggRegisters.MIN_FRAME || total > FabricConfig.MAX_FRAME) {
            fail(TransmitCompletion.BAD_LENGTH);
            return;
        }
        length = (int) total;
        if (gsoType == Offloads.GSO_NONE && length > device.settings().mtu() + AggRegisters.MIN_FRAME + VlanTag.BYTES) {
            fail(TransmitCompletion.BAD_LENGTH);
        }
        long needed = (partial ? AggRegisters.FEATURE_CHECKSUM : 0)
                | (tagged() ? AggRegisters.FEATURE_VLAN : 0)
                | featureOf(gsoType);
        if ((needed & ~device.settings().driverFeatures()) != 0) {
            fail(TransmitCompletion.BAD_FLAGS);
        }
        if (partial && (csumStart < AggRegisters.MIN_FRAME || csumStart + csumOffset + 2 > length)) {
            fail(TransmitCompletion.BAD_OFFLOAD);
        }
        if (gsoType != Offloads.GSO_NONE
                && (gsoType > Offloads.GSO_UDP
                        || !partial
                        || gsoSize == 0
                        || headerLength <= csumStart
                        || headerLength >= length)) {
            fail(TransmitCompletion.BAD_OFFLOAD);
        }
    }

    private static long featureOf(int gsoType) {
        return switch (gsoType) {
            case Offloads.GSO_TCPV4 -> AggRegisters.FEATURE_TSO4;
            case Offloads.GSO_TCPV6 -> AggRegisters.FEATURE_TSO6;
            case Offloads.GSO_UDP -> AggRegisters.FEATURE_UDP_SEGMENTATION;
            default -> 0;
        };
    }

    /** Sets the frame's offload fields. */
    void describe(Frame frame) {
        boolean partial = (flags & TransmitDescriptor.CHECKSUM) != 0;
        frame.flags = partial ? Frame.CHECKSUM_PARTIAL : 0;
        frame.vlanTci = vlanTci;
        frame.csumStart = partial ? csumStart : 0;
        frame.csumOffset = partial ? csumOffset : 0;
        frame.gsoType = gsoType;
        frame.gsoSize = gsoType == Offloads.GSO_NONE ? 0 : gsoSize;
        frame.headerLength = gsoType == Offloads.GSO_NONE ? 0 : headerLength;
    }

    /** Moves the data to {@code to}. Throws {@link dev.backplane.vfiouser.memory.GuestMemoryFault}. */
    void moveIn(GuestMemory memory, FrameCursor to) {
        for (int i = 0; i < segments; i++) {
            to.moveIn(memory, addresses[i], lengths[i]);
        }
    }
}
