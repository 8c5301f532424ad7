// SPDX-License-Identifier: Apache-2.0
/** Guests without a virtual machine: drivers in miniature over the vfio-user client, for tests with real sockets. */
package dev.backplane.server.guest;
