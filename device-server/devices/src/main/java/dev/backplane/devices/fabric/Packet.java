// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import dev.backplane.vfiouser.memory.GuestMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A packet as an output port gets it. A frame that the port can take as it is makes one packet. Of any other the fabric
 * makes what the port can take, in software: a frame for segmentation becomes a packet for each segment, a partial
 * checksum is completed, a VLAN tag comes inside. Only headers are made anew, in a few bytes of their own; the data is
 * moved once, from rendezvous memory to where the port wants it. One instance for each port, used by its loop only.
 */
public final class Packet {
    /** Most bytes before the end of a checksum field that is completed in software. */
    static final int MAX_HEAD = 512;

    private final RendezvousMemory memory;
    private final FrameCursor cursor;
    /** Room for a tag, then the headers: so they are at the same place with and without a tag. */
    private final MemorySegment head = Arena.ofAuto().allocate(VlanTag.BYTES + MAX_HEAD, 8);

    private Frame frame;
    private boolean tagInside;
    private boolean segmented;
    private boolean checksummed;
    private int index;
    private int count;

    /** Bytes of the frame that come from {@link #head} instead, without the tag; and where the rest begins. */
    private int headBytes;

    private int bodyAt;
    private int bodyBytes;

    private boolean composed;
    private int headDone;
    private int headEnd;

    Packet(RendezvousMemory memory) {
        this.memory = memory;
        this.cursor = new FrameCursor(memory);
    }

    // ---- for the port ----

    /** Bytes of the packet, a tag inside included. */
    public int length() {
        return headBytes + bodyBytes + tagBytes();
    }

    /** Bytes of a VLAN tag that is inside the packet: by so much everything is behind its place in the frame. */
    public int tagBytes() {
        return tagInside ? VlanTag.BYTES : 0;
    }

    /** The frame that the packet is of; its offload fields hold for the packet unless {@link #completed}. */
    public Frame frame() {
        return frame;
    }

    /** Whether the packet is complete in itself: its checksum is computed, nothing is to be segmented. */
    public boolean completed() {
        return checksummed;
    }

    /** Goes to the first byte; before the first {@link #moveOut}, and whenever the moves begin anew. */
    public void rewind() {
        if (headEnd == 0) {
            cursor.start(frame);
            return;
        }
        if (!composed) {
            compose();
            composed = true;
        }
        headDone = tagInside ? 0 : VlanTag.BYTES;
        cursor.start(frame);
        cursor.skip(bodyAt);
    }

    /** Moves the next {@code bytes} bytes to a guest's memory. Never more in all than {@link #length}. */
    public void moveOut(GuestMemory to, long iova, int bytes) {
        int n = Math.min(bytes, headEnd - headDone);
        if (n > 0) {
            to.write(iova, head, headDone, n);
            headDone += n;
            cursor.moveOut(to, iova + n, bytes - n);
        } else {
            cursor.moveOut(to, iova, bytes);
        }
    }

    /** Moves the next {@code bytes} bytes to the server's own memory. Never more in all than {@link #length}. */
    public void moveOut(MemorySegment to, long offset, int bytes) {
        int n = Math.min(bytes, headEnd - headDone);
        if (n > 0) {
            MemorySegment.copy(head, headDone, to, offset, n);
            headDone += n;
            cursor.moveOut(to, offset + n, bytes - n);
        } else {
            cursor.moveOut(to, offset, bytes);
        }
    }

    // ---- for the fabric ----

    /**
     * Begins with a frame, at the packet that is next.
     *
     * @param offloads what the port can take, {@code Offloads.TAKES_*}
     * @param tagged whether the frame goes out with its tag
     * @return false when what has to be done in software cannot be done with such headers
     */
    boolean start(Frame f, int offloads, boolean tagged) {
        frame = f;
        int lacking = Offloads.needed(f) & ~offloads;
        tagInside = tagged && (offloads & Offloads.TAKES_VLAN) == 0;
        if (lacking == 0 && !tagInside) {
            segmented = false;
            checksummed = false;
            whole(0);
            headEnd = 0;
            return true;
        }
        checksummed = lacking != 0;
        segmented = checksummed && f.gsoType != Offloads.GSO_NONE;
        if (segmented) {
            if (!SegmentHeaders.fit(f, memory.segment(), frameOffset())) {
                return false;
            }
            count = (f.length - f.headerLength + f.gsoSize - 1) / f.gsoSize;
            select(f.delivered);
        } else {
            int checksumEnd = f.csumStart + f.csumOffset + 2;
            if (checksummed && checksumEnd > Math.min(MAX_HEAD, f.length)) {
                return false;
            }
            whole(checksummed ? Math.max(checksumEnd, VlanTag.OFFSET) : VlanTag.OFFSET);
        }
        headEnd = VlanTag.BYTES + headBytes;
        composed = false;
        return true;
    }

    private void whole(int bytes) {
        count = 1;
        index = 0;
        headBytes = bytes;
        bodyAt = bytes;
        bodyBytes = frame.length - bytes;
    }

    /** Goes on to the frame's next packet, if there is one. */
    boolean next() {
        if (index + 1 == count) {
            return false;
        }
        select(index + 1);
        composed = false;
        return true;
    }

    private void select(int segment) {
        index = segment;
        headBytes = frame.headerLength;
        bodyAt = frame.headerLength + segment * frame.gsoSize;
        bodyBytes = Math.min(frame.gsoSize, frame.length - bodyAt);
    }

    /** Number of the packet in its frame, from 0 on. */
    int index() {
        return index;
    }

    /** Whether it is one of several that the frame is cut into, be it the only one. */
    boolean segmented() {
        return segmented;
    }

    private long frameOffset() {
        return memory.cellOffset(frame.cell) + frame.offset;
    }

    private void compose() {
        if (segmented) {
            cursor.start(frame);
            cursor.skip(bodyAt);
            int sum = cursor.sum(bodyBytes);
            SegmentHeaders.compose(
                    head,
                    VlanTag.BYTES,
                    memory.segment(),
                    frameOffset(),
                    frame,
                    index,
                    bodyBytes,
                    sum,
                    index == count - 1);
        } else {
            cursor.start(frame);
            cursor.moveOut(head, VlanTag.BYTES, headBytes);
            if (checksummed) {
                cursor.start(frame);
                cursor.skip(frame.csumStart);
                short checksum = InternetChecksum.field(cursor.sum(frame.length - frame.csumStart));
                head.set(FlowKey.BE16, VlanTag.BYTES + frame.csumStart + frame.csumOffset, checksum);
            }
        }
        if (tagInside) {
            MemorySegment.copy(head, VlanTag.BYTES, head, 0, VlanTag.OFFSET);
            VlanTag.write(head, VlanTag.OFFSET, frame.vlanTci);
        }
    }
}
