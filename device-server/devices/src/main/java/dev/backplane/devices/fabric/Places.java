// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

/**
 * Free cells and second descriptors in the hands of one loop: taken and given back in batches, so that a frame costs no
 * atomic operation. Confined to its loop, which gives all back at the end of each turn.
 */
final class Places {
    /** Most of each kind. Twice the cells of the largest frame in the smallest cells (2 KiB), rounded up. */
    static final int CAPACITY = 80;

    private final RendezvousMemory memory;
    private final int[] cells = new int[CAPACITY];
    private final int[] descriptors = new int[CAPACITY];
    private int cellCount;
    private int descriptorCount;

    Places(RendezvousMemory memory) {
        this.memory = memory;
    }

    boolean has(int wantedCells) {
        return cellCount >= wantedCells && descriptorCount > 0;
    }

    /** Takes more until there are that many cells, and descriptors for that many frames; or nothing: then false. */
    boolean take(int wantedCells, int wantedDescriptors) {
        int c = Math.max(0, wantedCells - cellCount);
        int d = Math.max(0, wantedDescriptors - descriptorCount);
        if (!memory.descriptors().take(d, descriptors, descriptorCount)) {
            return false;
        }
        if (!memory.cells().take(c, cells, cellCount)) {
            memory.descriptors().give(d, descriptors, descriptorCount);
            return false;
        }
        descriptorCount += d;
        cellCount += c;
        memory.noteTaken();
        return true;
    }

    /** Takes over all that {@code other} has. */
    void takeOver(Places other) {
        System.arraycopy(other.cells, 0, cells, cellCount, other.cellCount);
        System.arraycopy(other.descriptors, 0, descriptors, descriptorCount, other.descriptorCount);
        cellCount += other.cellCount;
        descriptorCount += other.descriptorCount;
        other.cellCount = 0;
        other.descriptorCount = 0;
    }

    /** Links {@code n} cells, of which there are so many; returns the first. */
    int chain(int n) {
        int next = 0;
        for (int i = 0; i < n; i++) {
            int cell = cells[--cellCount];
            memory.linkCell(cell, next);
            next = cell;
        }
        return next;
    }

    /** Puts the {@code n} cells of a frame that nobody else holds back here. */
    void putBack(int cell, int n) {
        int c = cell;
        for (int i = 0; i < n; i++) {
            if (cellCount == CAPACITY) {
                giveBack();
            }
            int next = memory.nextCell(c);
            cells[cellCount++] = c;
            c = next;
        }
    }

    /** Puts a descriptor that is not in a queue any more here. */
    void putBackDescriptor(int descriptor) {
        if (descriptorCount == CAPACITY) {
            giveBack();
        }
        descriptors[descriptorCount++] = descriptor;
    }

    /** A descriptor from here or, when there is none here, from the memory; 0 when there is none at all. */
    int descriptor() {
        if (descriptorCount == 0) {
            return memory.descriptors().take(1, descriptors, 0) ? descriptors[0] : 0;
        }
        return descriptors[--descriptorCount];
    }

    /** Gives all back to the memory; returns whether there was anything. */
    boolean giveBack() {
        boolean any = (cellCount | descriptorCount) != 0;
        if (descriptorCount != 0) {
            memory.descriptors().give(descriptorCount, descriptors, 0);
            descriptorCount = 0;
        }
        if (cellCount != 0) {
            memory.cells().give(cellCount, cells, 0);
            cellCount = 0;
        }
        return any;
    }
}
