// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

/**
 * One context at a moment, for people and tools.
 *
 * @param number of the context
 * @param state {@code closed}, {@code open}, {@code error} or {@code dead}
 * @param generation of the binding to its process; 0 if it never had one
 * @param actions actions completed by this binding
 * @param failures of these, how many did not end OK
 * @param events events since the module was reset
 * @param waiting whether an action is under way at a target
 * @param polled whether the module looks at the page by itself; else the process has to ring its doorbell
 * @param memories registered memories
 * @param rings rings that it owns
 */
public record ContextView(
        int number,
        String state,
        int generation,
        long actions,
        long failures,
        int events,
        boolean waiting,
        boolean polled,
        int memories,
        int rings) {}
