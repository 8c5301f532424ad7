// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

/**
 * One ring at a moment, for people and tools.
 *
 * @param id of the ring
 * @param state {@code open} or {@code corrupt}
 * @param context its owner
 * @param capacity bytes for elements
 * @param used bytes between head and tail, as far as the module knows: the owner's head is only read when room runs out
 * @param shared whether elements leave by GET only
 * @param put elements put so far
 * @param got elements removed by GET so far
 * @param refused actions that ended FULL, EMPTY, DENIED or TOO_LONG here
 * @param waiting whether actions wait for room or for an element
 */
public record RingView(
        int id,
        String state,
        int context,
        long capacity,
        long used,
        boolean shared,
        long put,
        long got,
        long refused,
        boolean waiting) {}
