// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import static dev.backplane.vfiouser.layout.Access.RW;

import dev.backplane.vfiouser.layout.Struct;

/** Payloads of REGION_READ, REGION_WRITE and REGION_WRITE_MULTI. */
public final class RegionMessages {
    /** {@code struct vfio_user_region_access}: before the data of a write request and of a read reply. */
    public static final Struct ACCESS = Struct.memory("vfio_user_region_access", "Access to a region.")
            .u64("offset", RW, "Bytes from the start of the region.")
            .u32("region", RW, "Index of the region.")
            .u32("count", RW, "Bytes to transfer.")
            .size(16);

    public static final int OFFSET = ACCESS.offset("offset");
    public static final int REGION = ACCESS.offset("region");
    public static final int COUNT = ACCESS.offset("count");

    /** Start of the data. */
    public static final int DATA = ACCESS.size();

    /** Payload of REGION_WRITE_MULTI before the writes, and its whole reply. */
    public static final Struct MULTI = Struct.memory("vfio_user_write_multi", "Several writes in one message.")
            .u64("wr_cnt", RW, "Number of writes; in the reply those that were done.")
            .size(8);

    public static final int MULTI_COUNT = MULTI.offset("wr_cnt");

    /** One write of REGION_WRITE_MULTI. */
    public static final Struct MULTI_WRITE = Struct.memory("vfio_user_write_one", "One of several writes.")
            .u64("offset", RW, "Bytes from the start of the region.")
            .u32("region", RW, "Index of the region.")
            .u32("count", RW, "Bytes to write, up to 8.")
            .u64("data", RW, "The bytes, from the lowest on.")
            .size(24);

    public static final int MULTI_WRITE_OFFSET = MULTI_WRITE.offset("offset");
    public static final int MULTI_WRITE_REGION = MULTI_WRITE.offset("region");
    public static final int MULTI_WRITE_BYTES = MULTI_WRITE.offset("count");
    public static final int MULTI_WRITE_DATA = MULTI_WRITE.offset("data");

    private RegionMessages() {}
}
