// SPDX-License-Identifier: Apache-2.0
/** The boundary between a device model and the protocol: implement {@link dev.backplane.vfiouser.device.PciDevice}. */
package dev.backplane.vfiouser.device;
