// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import java.util.List;

/**
 * A region of the device as DEVICE_GET_REGION_INFO describes it.
 *
 * @param index 0 to 5 are the BARs, 6 the expansion ROM, 7 configuration space
 * @param bytes size; 0 when the device does not have it
 * @param readable whether it may be read
 * @param writable whether it may be written
 * @param areas parts that can be mapped; empty when none can
 */
public record Region(int index, long bytes, boolean readable, boolean writable, List<Area> areas) {
    /**
     * A part of a region that can be mapped.
     *
     * @param offset bytes from the region's start
     * @param bytes size in bytes
     */
    public record Area(long offset, long bytes) {}

    public Region {
        areas = List.copyOf(areas);
    }
}
