// SPDX-License-Identifier: Apache-2.0
/** The running server: its run directory, its nodes with their devices and sockets, and how all of it starts and ends. */
package dev.backplane.server.run;
