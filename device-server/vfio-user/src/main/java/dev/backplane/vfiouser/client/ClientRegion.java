// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import dev.backplane.vfiouser.pci.Bar;
import java.util.List;

/**
 * A region of the device as DEVICE_GET_REGION_INFO describes it.
 *
 * @param index its number ({@link dev.backplane.vfiouser.protocol.Region})
 * @param bytes size; 0 when the device does not have it
 * @param readable whether it may be read
 * @param writable whether it may be written
 * @param areas parts that can be mapped; empty when none can
 */
public record ClientRegion(int index, long bytes, boolean readable, boolean writable, List<Bar.Area> areas) {
    public ClientRegion {
        areas = List.copyOf(areas);
    }
}
