// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import static dev.backplane.vfiouser.layout.Access.RW;

import dev.backplane.vfiouser.layout.Struct;

/** Payloads of DEVICE_FEATURE, MIG_DATA_READ and MIG_DATA_WRITE. Numbers are those of {@code linux/vfio.h}. */
public final class FeatureMessages {
    /** {@code struct vfio_user_device_feature}, before the feature's data. */
    public static final Struct FEATURE = Struct.memory("vfio_user_device_feature", "A feature and what to do with it.")
            .u32("argsz", RW, "Request: room for the reply. Reply: its size.")
            .u32("flags", RW, "Feature in bits 0 to 15, GET, SET, PROBE.")
            .size(8);

    public static final int FEATURE_ARGSZ = FEATURE.offset("argsz");
    public static final int FEATURE_FLAGS = FEATURE.offset("flags");

    /** Start of the feature's data. */
    public static final int FEATURE_DATA = FEATURE.size();

    public static final int FEATURE_MASK = 0xffff;
    public static final int GET = 1 << 16;
    public static final int SET = 1 << 17;
    public static final int PROBE = 1 << 18;

    public static final int MIGRATION = 1;
    public static final int MIG_DEVICE_STATE = 2;
    public static final int DMA_LOGGING_START = 6;
    public static final int DMA_LOGGING_STOP = 7;
    public static final int DMA_LOGGING_REPORT = 8;

    /** Data of MIGRATION. */
    public static final Struct MIGRATION_DATA = Struct.memory(
                    "vfio_user_device_feature_migration", "Which device states there are.")
            .u64("flags", RW, "STOP_COPY, P2P, PRE_COPY.")
            .size(8);

    public static final int MIGRATION_STOP_COPY = 1;
    public static final int MIGRATION_PRE_COPY = 4;

    /** Data of MIG_DEVICE_STATE. */
    public static final Struct STATE_DATA = Struct.memory("vfio_user_device_feature_mig_state", "The device's state.")
            .u32("device_state", RW, "State of enum vfio_device_mig_state.")
            .u32("data_fd", RW, "Unused.")
            .size(8);

    public static final int STATE = STATE_DATA.offset("device_state");

    /** Data of DMA_LOGGING_START and STOP, before the ranges. */
    public static final Struct LOGGING = Struct.memory("vfio_user_device_feature_dma_logging_control", "What to log.")
            .u64("page_size", RW, "Wish; in the reply what it became.")
            .u32("num_ranges", RW, "Number of ranges that follow; 0 for all addresses.")
            .u32("reserved", RW, "0.")
            .size(16);

    public static final int LOGGING_PAGE_SIZE = LOGGING.offset("page_size");
    public static final int LOGGING_RANGES = LOGGING.offset("num_ranges");

    /** A range of DMA_LOGGING_START. */
    public static final Struct RANGE = Struct.memory("vfio_user_device_feature_dma_logging_range", "A range to log.")
            .u64("iova", RW, "First guest address.")
            .u64("length", RW, "Bytes.")
            .size(16);

    public static final int RANGE_IOVA = RANGE.offset("iova");
    public static final int RANGE_LENGTH = RANGE.offset("length");

    /** Data of DMA_LOGGING_REPORT, before the bitmap. */
    public static final Struct REPORT = Struct.memory("vfio_user_device_feature_dma_logging_report", "What to report.")
            .u64("iova", RW, "First guest address.")
            .u64("length", RW, "Bytes.")
            .u64("page_size", RW, "Bytes for each bit, a power of two.")
            .size(24);

    public static final int REPORT_IOVA = REPORT.offset("iova");
    public static final int REPORT_LENGTH = REPORT.offset("length");
    public static final int REPORT_PAGE_SIZE = REPORT.offset("page_size");

    /** {@code struct vfio_user_mig_data}, before the data. */
    public static final Struct DATA = Struct.memory("vfio_user_mig_data", "A part of the device's saved state.")
            .u32("argsz", RW, "Request: room for the reply. Reply: its size.")
            .u32("size", RW, "Bytes of data; in a reply fewer than asked for at the end.")
            .size(8);

    public static final int DATA_ARGSZ = DATA.offset("argsz");
    public static final int DATA_SIZE = DATA.offset("size");

    /** Start of the data. */
    public static final int DATA_BYTES = DATA.size();

    private FeatureMessages() {}
}
