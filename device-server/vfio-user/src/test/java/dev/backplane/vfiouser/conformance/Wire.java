// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

/**
 * The numbers of the protocol, written down a second time from the specification (QEMU, docs/interop/vfio-user.rst) and
 * {@code linux/vfio.h}: were they taken from the library under test, a wrong one could not be found.
 */
public final class Wire {
    public static final int HEADER = 16;

    public static final int VERSION = 1;
    public static final int DMA_MAP = 2;
    public static final int DMA_UNMAP = 3;
    public static final int GET_INFO = 4;
    public static final int GET_REGION_INFO = 5;
    public static final int GET_REGION_IO_FDS = 6;
    public static final int GET_IRQ_INFO = 7;
    public static final int SET_IRQS = 8;
    public static final int REGION_READ = 9;
    public static final int REGION_WRITE = 10;
    public static final int DMA_READ = 11;
    public static final int DMA_WRITE = 12;
    public static final int RESET = 13;
    public static final int REGION_WRITE_MULTI = 15;
    public static final int DEVICE_FEATURE = 16;
    public static final int MIG_DATA_READ = 17;
    public static final int MIG_DATA_WRITE = 18;

    public static final int REPLY = 0x1;
    public static final int NO_REPLY = 0x10;
    public static final int ERROR = 0x20;

    public static final int MAP_READ = 1;
    public static final int MAP_WRITE = 2;
    public static final int UNMAP_ALL = 2;

    public static final int IRQ_NONE = 1;
    public static final int IRQ_BOOL = 2;
    public static final int IRQ_EVENTFD = 4;
    public static final int IRQ_MASK = 8;
    public static final int IRQ_UNMASK = 0x10;
    public static final int IRQ_TRIGGER = 0x20;

    public static final int INTX = 0;
    public static final int MSI = 1;
    public static final int MSIX = 2;
    public static final int ERR = 3;
    public static final int REQ = 4;

    public static final int CONFIG_REGION = 7;
    public static final int PCI_REGIONS = 9;

    public static final int FEATURE_GET = 1 << 16;
    public static final int FEATURE_SET = 1 << 17;
    public static final int FEATURE_PROBE = 1 << 18;
    public static final int FEATURE_MIGRATION = 1;
    public static final int FEATURE_DEVICE_STATE = 2;
    public static final int FEATURE_LOGGING_START = 6;
    public static final int FEATURE_LOGGING_STOP = 7;
    public static final int FEATURE_LOGGING_REPORT = 8;

    public static final int STATE_ERROR = 0;
    public static final int STATE_STOP = 1;
    public static final int STATE_RUNNING = 2;
    public static final int STATE_STOP_COPY = 3;
    public static final int STATE_RESUMING = 4;
    public static final int STATE_PRE_COPY = 6;

    public static final int ENOENT = 2;
    public static final int ENOMEM = 12;
    public static final int EEXIST = 17;
    public static final int ENODEV = 19;
    public static final int EINVAL = 22;
    public static final int ENOSPC = 28;
    public static final int ENOTSUP = 95;

    private Wire() {}
}
