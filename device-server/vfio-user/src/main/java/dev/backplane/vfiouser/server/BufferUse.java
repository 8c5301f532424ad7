// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

/**
 * Memory outside the heap that a connection takes for messages.
 *
 * @param held bytes now
 * @param peak most bytes at a time since the client has come
 */
public record BufferUse(long held, long peak) {}
