// SPDX-License-Identifier: Apache-2.0
/**
 * System calls that the JDK does not offer, for Linux: Unix sockets that carry bytes and file descriptors together,
 * event descriptors, anonymous memory files and shared mappings. The only package that touches the foreign linker.
 *
 * <p>Conventions. Calls that are expected to fail now and then return a value of at least 0, or the negated error number
 * ({@link dev.backplane.vfiouser.natives.Errno}); the others throw {@link
 * dev.backplane.vfiouser.natives.NativeException}, which names call and error. An interrupted call is repeated here. A
 * blocking call occupies its thread, so it belongs on a platform thread: on a virtual one it would hold the carrier.
 */
package dev.backplane.vfiouser.natives;
