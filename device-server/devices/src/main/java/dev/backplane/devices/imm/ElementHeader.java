// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.vfiouser.layout.Access.DEVICE;

import dev.backplane.vfiouser.layout.Constants;
import dev.backplane.vfiouser.layout.Struct;

/** The head of an element in a ring; the payload follows. Elements start at multiples of their header's size. */
public final class ElementHeader {
    public static final Struct LAYOUT = Struct.memory("bp_imm_element", "Head of an element; its payload follows.")
            .u32("commit", DEVICE, "0: not there yet. Else header and payload rounded up to 32; stored last, release.")
            .u32("length", DEVICE, "Payload bytes.")
            .u16("source_node", DEVICE, "Node that put it.")
            .u16("source_context", DEVICE, "Context that put it.")
            .u32("reserved_12", DEVICE, "Zero.")
            .u64("sequence", DEVICE, "Number of the element in this ring, from 0 on; padding is not counted.")
            .u64("tag", DEVICE, "As given with the PUT.")
            .size(32);

    public static final int BYTES = LAYOUT.size();
    public static final int COMMIT = LAYOUT.offset("commit");
    public static final int LENGTH = LAYOUT.offset("length");
    public static final int SOURCE_NODE = LAYOUT.offset("source_node");
    public static final int SOURCE_CONTEXT = LAYOUT.offset("source_context");
    public static final int SEQUENCE = LAYOUT.offset("sequence");
    public static final int TAG = LAYOUT.offset("tag");

    /** Flag in {@code commit}: filler to the ring's end. */
    public static final int PADDING = 0x8000_0000;

    public static final Constants CONSTANTS = Constants.of("Element", "of its commit word")
            .add("BP_IMM_ELEMENT_PADDING", PADDING & 0xffff_ffffL, "filler to the end of the ring: skip it")
            .add("BP_IMM_ELEMENT_ALIGN", BYTES, "elements start at multiples of this")
            .build();

    private ElementHeader() {}
}
