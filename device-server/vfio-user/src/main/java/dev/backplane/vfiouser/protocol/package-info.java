// SPDX-License-Identifier: Apache-2.0
/**
 * The vfio-user protocol (qemu {@code docs/interop/vfio-user.rst}), as server and client share it: commands, layouts of
 * the messages, capabilities, and the framing of messages with their file descriptors on a stream socket.
 *
 * <p>Every layout is declared once, with its size, in a {@link dev.backplane.vfiouser.layout.Struct}; offsets are those
 * inside the payload, that is, after the header.
 */
package dev.backplane.vfiouser.protocol;
