// SPDX-License-Identifier: Apache-2.0
/** A PCI function's face: description, configuration space, capabilities. */
package dev.backplane.vfiouser.pci;
