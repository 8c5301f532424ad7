// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

final class Commands {
    static final int VERSION = 1;
    static final int DMA_MAP = 2;
    static final int DMA_UNMAP = 3;
    static final int GET_INFO = 4;
    static final int GET_REGION_INFO = 5;
    static final int GET_IRQ_INFO = 7;
    static final int SET_IRQS = 8;
    static final int REGION_READ = 9;
    static final int REGION_WRITE = 10;
    static final int DMA_READ = 11;
    static final int DMA_WRITE = 12;
    static final int RESET = 13;
    static final int REGION_WRITE_MULTI = 15;
    static final int DEVICE_FEATURE = 16;
    static final int MIG_DATA_READ = 17;
    static final int MIG_DATA_WRITE = 18;

    private Commands() {}
}
