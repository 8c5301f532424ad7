// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.device;

import java.util.List;

/**
 * A device with registers that clients may also write to by event descriptors (DEVICE_GET_REGION_IO_FDS). Such a write
 * arrives as any other, at {@link PciDevice#write}, by the same thread. A client need not use them, and is told of no more
 * of a BAR than it takes descriptors in one message: the first in the list.
 */
public interface IoEventDevice extends PciDevice {
    /** The registers, none in a mapped area or an MSI-X structure. The same at each call. */
    List<IoEvent> ioEvents();
}
