// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

/** Command numbers (vfio-user specification, "Commands"). A number from the wire is data: any 16 bits may come. */
public final class Command {
    public static final int VERSION = 1;
    public static final int DMA_MAP = 2;
    public static final int DMA_UNMAP = 3;
    public static final int DEVICE_GET_INFO = 4;
    public static final int DEVICE_GET_REGION_INFO = 5;
    public static final int DEVICE_GET_REGION_IO_FDS = 6;
    public static final int DEVICE_GET_IRQ_INFO = 7;
    public static final int DEVICE_SET_IRQS = 8;
    public static final int REGION_READ = 9;
    public static final int REGION_WRITE = 10;

    /** Sent by the server. */
    public static final int DMA_READ = 11;

    /** Sent by the server. */
    public static final int DMA_WRITE = 12;

    public static final int DEVICE_RESET = 13;
    public static final int REGION_WRITE_MULTI = 15;
    public static final int DEVICE_FEATURE = 16;
    public static final int MIG_DATA_READ = 17;
    public static final int MIG_DATA_WRITE = 18;

    /** One more than the greatest command number. */
    public static final int LIMIT = 19;

    private Command() {}

    /** The name of a command for people, such as {@code REGION_READ}; {@code command 99} when there is none. */
    public static String name(int command) {
        return switch (command) {
            case VERSION -> "VERSION";
            case DMA_MAP -> "DMA_MAP";
            case DMA_UNMAP -> "DMA_UNMAP";
            case DEVICE_GET_INFO -> "DEVICE_GET_INFO";
            case DEVICE_GET_REGION_INFO -> "DEVICE_GET_REGION_INFO";
            case DEVICE_GET_REGION_IO_FDS -> "DEVICE_GET_REGION_IO_FDS";
            case DEVICE_GET_IRQ_INFO -> "DEVICE_GET_IRQ_INFO";
            case DEVICE_SET_IRQS -> "DEVICE_SET_IRQS";
            case REGION_READ -> "REGION_READ";
            case REGION_WRITE -> "REGION_WRITE";
            case DMA_READ -> "DMA_READ";
            case DMA_WRITE -> "DMA_WRITE";
            case DEVICE_RESET -> "DEVICE_RESET";
            case REGION_WRITE_MULTI -> "REGION_WRITE_MULTI";
            case DEVICE_FEATURE -> "DEVICE_FEATURE";
            case MIG_DATA_READ -> "MIG_DATA_READ";
            case MIG_DATA_WRITE -> "MIG_DATA_WRITE";
            default -> "command " + command;
        };
    }
}
