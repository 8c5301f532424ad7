// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

import java.lang.foreign.MemorySegment;

/**
 * A frame in rendezvous memory, as one loop looks at it: the fields of its second descriptor. One instance per loop is
 * used for all its frames. Inside the fabric a frame is untagged; its VLAN id and priority are beside it.
 */
public final class Frame {
    /** The transport checksum is partial: whoever takes the frame off the fabric completes it or may trust the data. */
    public static final int CHECKSUM_PARTIAL = 1;
    /** The transport checksum is known to be right. */
    public static final int CHECKSUM_VALID = 2;

    /** VLAN id in a tag's control information (IEEE 802.1Q, 9.6). */
    public static final int VLAN_ID_MASK = 0xfff;

    public int cell;
    public int cells;
    public int offset;
    public int length;
    public int flags;
    public int vlanTci;
    public int csumStart;
    public int csumOffset;
    public int gsoType;
    public int gsoSize;
    public int headerLength;
    public int sourceNode;
    public int flowHash;
    public int epoch;
    public long due;

    /** Packets that have left the port already, when the frame is segmented for it. */
    int delivered;

    /** Forgets the offload fields: an ordinary frame without VLAN. */
    public void clearOffloads() {
        flags = 0;
        vlanTci = 0;
        csumStart = 0;
        csumOffset = 0;
        gsoType = 0;
        gsoSize = 0;
        headerLength = 0;
    }

    /** VLAN id. */
    public int vlan() {
        return vlanTci & VLAN_ID_MASK;
    }

    /** Length in bytes of the longest packet that this frame stands for: itself, or one of its segments. */
    public int packetLength() {
        return gsoType == 0 ? length : Math.min(length, headerLength + gsoSize);
    }

    /** Writes the second descriptor at {@code at}, all but its link. */
    void store(MemorySegment m, long at) {
        m.set(RendezvousMemory.INT, at + SecondDescriptor.CELL, cell);
        SecondDescriptor.set(m, at, SecondDescriptor.LENGTH, length, cells, offset);
        SecondDescriptor.set(m, at, SecondDescriptor.FLAGS, flags | vlanTci << 16, csumStart, csumOffset);
        SecondDescriptor.set(m, at, SecondDescriptor.GSO_TYPE, gsoType | gsoSize << 16, headerLength, sourceNode);
        SecondDescriptor.set(m, at, SecondDescriptor.FLOW_HASH, flowHash, epoch & 0xffff, epoch >>> 16);
        m.set(RendezvousMemory.LONG, at + SecondDescriptor.DUE, due);
        m.set(RendezvousMemory.INT, at + SecondDescriptor.DELIVERED, 0);
    }

    /** Reads the second descriptor at {@code at}. */
    void load(MemorySegment m, long at) {
        cell = m.get(RendezvousMemory.INT, at + SecondDescriptor.CELL);
        long w = m.get(RendezvousMemory.LONG, at + SecondDescriptor.LENGTH);
        length = (int) w;
        cells = (int) (w >>> 32) & 0xffff;
        offset = (int) (w >>> 48);
        w = m.get(RendezvousMemory.LONG, at + SecondDescriptor.FLAGS);
        flags = (int) w & 0xffff;
        vlanTci = (int) w >>> 16;
        csumStart = (int) (w >>> 32) & 0xffff;
        csumOffset = (int) (w >>> 48);
        w = m.get(RendezvousMemory.LONG, at + SecondDescriptor.GSO_TYPE);
        gsoType = (int) w & 0xffff;
        gsoSize = (int) w >>> 16;
        headerLength = (int) (w >>> 32) & 0xffff;
        sourceNode = (int) (w >>> 48);
        w = m.get(RendezvousMemory.LONG, at + SecondDescriptor.FLOW_HASH);
        flowHash = (int) w;
        epoch = (int) (w >>> 32);
        due = m.get(RendezvousMemory.LONG, at + SecondDescriptor.DUE);
        delivered = m.get(RendezvousMemory.INT, at + SecondDescriptor.DELIVERED);
    }

    /** Notes in the second descriptor at {@code at}, which is the port's own, how many packets have left. */
    static void storeDelivered(MemorySegment m, long at, int packets) {
        m.set(RendezvousMemory.INT, at + SecondDescriptor.DELIVERED, packets);
    }
}
