// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

/**
 * Rendezvous memory as of one moment.
 *
 * @param bytes its size
 * @param cellBytes size of a cell
 * @param cells number of cells
 * @param allocated cells that hold frames
 * @param highWater most cells that ever held frames at a time
 * @param descriptors second descriptors that are queued
 */
public record MemoryView(long bytes, int cellBytes, int cells, int allocated, int highWater, int descriptors) {
    public static MemoryView of(RendezvousMemory m) {
        return new MemoryView(
                m.bytes(), m.cellBytes(), m.capacity(), m.allocated(), m.highWater(), m.descriptorsAllocated());
    }
}
