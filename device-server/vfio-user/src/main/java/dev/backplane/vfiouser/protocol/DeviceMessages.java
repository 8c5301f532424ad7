// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import static dev.backplane.vfiouser.layout.Access.RW;

import dev.backplane.vfiouser.layout.Struct;

/** Payloads of VERSION and of the commands that describe the device. Numbers are those of {@code linux/vfio.h}. */
public final class DeviceMessages {
    /** {@code struct vfio_user_version}, before the capabilities. */
    public static final Struct VERSION = Struct.memory("vfio_user_version", "Protocol version.")
            .u16("major", RW, "Must be the same on both sides.")
            .u16("minor", RW, "The reply's is at most the request's.")
            .size(4);

    public static final int VERSION_MAJOR = VERSION.offset("major");
    public static final int VERSION_MINOR = VERSION.offset("minor");

    /** The version that we speak. */
    public static final int MAJOR = 0;

    public static final int MINOR = 1;

    /** {@code struct vfio_user_device_info}. */
    public static final Struct INFO = Struct.memory("vfio_user_device_info", "What the device has.")
            .u32("argsz", RW, "Request: room for the reply. Reply: size of all there is.")
            .u32("flags", RW, "Reset, PCI.")
            .u32("num_regions", RW, "Number of region indices.")
            .u32("num_irqs", RW, "Number of interrupt indices.")
            .size(16);

    public static final int INFO_ARGSZ = INFO.offset("argsz");
    public static final int INFO_FLAGS = INFO.offset("flags");
    public static final int INFO_REGIONS = INFO.offset("num_regions");
    public static final int INFO_IRQS = INFO.offset("num_irqs");
    public static final int INFO_RESET = 1;
    public static final int INFO_PCI = 2;

    /** {@code struct vfio_region_info}. */
    public static final Struct REGION = Struct.memory("vfio_region_info", "A region.")
            .u32("argsz", RW, "Request: room for the reply. Reply: size of all there is.")
            .u32("flags", RW, "Readable, writable, mappable, with capabilities.")
            .u32("index", RW, "Which region.")
            .u32("cap_offset", RW, "Start of the first capability in this payload, or 0.")
            .u64("size", RW, "Bytes; 0 when there is no such region.")
            .u64("offset", RW, "Where the region starts in the file that comes along.")
            .size(32);

    public static final int REGION_ARGSZ = REGION.offset("argsz");
    public static final int REGION_FLAGS = REGION.offset("flags");
    public static final int REGION_INDEX = REGION.offset("index");
    public static final int REGION_CAP_OFFSET = REGION.offset("cap_offset");
    public static final int REGION_SIZE = REGION.offset("size");
    public static final int REGION_OFFSET = REGION.offset("offset");
    public static final int REGION_READ = 1;
    public static final int REGION_WRITE = 2;
    public static final int REGION_MMAP = 4;
    public static final int REGION_CAPS = 8;

    /** {@code struct vfio_region_info_cap_sparse_mmap} with its capability header. */
    public static final Struct SPARSE = Struct.memory("vfio_region_info_cap_sparse_mmap", "Which areas can be mapped.")
            .u16("id", RW, "1.")
            .u16("version", RW, "1.")
            .u32("next", RW, "Start of the next capability, or 0.")
            .u32("nr_areas", RW, "Number of areas that follow.")
            .u32("reserved", RW, "0.")
            .size(16);

    public static final int SPARSE_ID = SPARSE.offset("id");
    public static final int SPARSE_VERSION = SPARSE.offset("version");
    public static final int SPARSE_NEXT = SPARSE.offset("next");
    public static final int SPARSE_AREAS = SPARSE.offset("nr_areas");
    public static final int CAP_SPARSE_MMAP = 1;

    /** {@code struct vfio_region_sparse_mmap_area}. */
    public static final Struct AREA = Struct.memory("vfio_region_sparse_mmap_area", "An area that can be mapped.")
            .u64("offset", RW, "Bytes from the start of the region.")
            .u64("size", RW, "Bytes.")
            .size(16);

    public static final int AREA_OFFSET = AREA.offset("offset");
    public static final int AREA_SIZE = AREA.offset("size");

    /** {@code struct vfio_user_region_io_fds_request} and the start of its reply. */
    public static final Struct IO_FDS = Struct.memory("vfio_user_region_io_fds", "Descriptors for parts of a region.")
            .u32("argsz", RW, "Request: room for the reply. Reply: size of all there is.")
            .u32("flags", RW, "0.")
            .u32("index", RW, "Which region.")
            .u32("count", RW, "Request: 0. Reply: number of sub-regions.")
            .size(16);

    public static final int IO_FDS_ARGSZ = IO_FDS.offset("argsz");
    public static final int IO_FDS_FLAGS = IO_FDS.offset("flags");
    public static final int IO_FDS_INDEX = IO_FDS.offset("index");
    public static final int IO_FDS_COUNT = IO_FDS.offset("count");

    /** A sub-region with an ioeventfd (specification, "Sub-Region IO FD info format"). */
    public static final Struct IOEVENTFD = Struct.memory("vfio_user_sub_region_ioeventfd", "A part of a region.")
            .u64("offset", RW, "Bytes from the start of the region.")
            .u64("size", RW, "Bytes of an access, or 0 for any.")
            .u32("fd_index", RW, "Which of the descriptors that come along is signalled.")
            .u32("type", RW, "Ioeventfd.")
            .u32("flags", RW, "KVM_IOEVENTFD_FLAG_*.")
            .u32("padding", RW, "0.")
            .u64("datamatch", RW, "Value to match.")
            .size(40);

    public static final int IOEVENTFD_OFFSET = IOEVENTFD.offset("offset");
    public static final int IOEVENTFD_SIZE = IOEVENTFD.offset("size");
    public static final int IOEVENTFD_FD = IOEVENTFD.offset("fd_index");
    public static final int IOEVENTFD_TYPE = IOEVENTFD.offset("type");
    public static final int IOEVENTFD_FLAGS = IOEVENTFD.offset("flags");
    public static final int IOEVENTFD_MATCH = IOEVENTFD.offset("datamatch");

    /**
     * A sub-region that may have a shadow. The specification has none; this is libvfio-user's layout, which starts alike.
     * A reply has one kind of entries: this one as soon as one of them has a shadow, so that a client which takes an
     * entry's size from the reply's, as it should, understands both.
     */
    public static final Struct SHADOW = Struct.memory("vfio_user_sub_region_ioeventfd", "A part with a shadow.")
            .u64("gpa_offset", RW, "Bytes from the start of the region.")
            .u64("size", RW, "Bytes of an access, or 0 for any.")
            .u32("fd_index", RW, "Which of the descriptors that come along is signalled.")
            .u32("type", RW, "Ioeventfd, or ioeventfd with shadow.")
            .u32("flags", RW, "KVM_IOEVENTFD_FLAG_*.")
            .u32("shadow_mem_fd_index", RW, "Which of the descriptors is the file that gets the value.")
            .u64("shadow_offset", RW, "Where in that file.")
            .u64("datamatch", RW, "Value to match.")
            .size(48);

    public static final int SHADOW_FD = SHADOW.offset("shadow_mem_fd_index");
    public static final int SHADOW_OFFSET = SHADOW.offset("shadow_offset");
    public static final int SHADOW_MATCH = SHADOW.offset("datamatch");

    public static final int TYPE_IOEVENTFD = 0;
    public static final int TYPE_IOEVENTFD_SHADOW = 2;

    /** KVM_IOEVENTFD_FLAG_DATAMATCH of {@code linux/kvm.h}. */
    public static final int FLAG_MATCH = 1;

    private DeviceMessages() {}
}
