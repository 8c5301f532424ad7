// SPDX-License-Identifier: Apache-2.0
/** Interrupts towards the guest: INTx, MSI-X, error and request, delivered through eventfds. */
package dev.backplane.vfiouser.interrupt;
