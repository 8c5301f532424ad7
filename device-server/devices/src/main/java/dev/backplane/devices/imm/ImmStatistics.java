// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.vfiouser.layout.Access.RO;

import dev.backplane.vfiouser.layout.Struct;

/** The statistics block in BAR 0: what the module counted since the server started. The counters have these names too. */
public final class ImmStatistics {
    public static final Struct LAYOUT = Struct.registers(
                    "bp_imm_stat", "Statistics, 64 bits each, at BP_IMM_STATISTICS; they survive a reset.")
            .u64("actions", RO, "Actions of this node that were completed, whatever their status.")
            .u64("puts", RO, "Elements that this node's contexts have put.")
            .u64("gets", RO, "Elements that this node's contexts have got.")
            .u64("one_sided", RO, "READ and WRITE actions that were done.")
            .u64("atomics", RO, "FETCH_ADD and COMPARE_SWAP actions that were done.")
            .u64("payload_bytes", RO, "Payload bytes that this node's actions have moved.")
            .u64("full", RO, "Actions that ended FULL.")
            .u64("empty", RO, "Actions that ended EMPTY.")
            .u64("denied", RO, "Actions that ended DENIED.")
            .u64("unreachable", RO, "Actions that ended UNREACHABLE.")
            .u64("aborted", RO, "Actions that ended ABORTED.")
            .u64("refused", RO, "Actions that ended with another error.")
            .u64("waits", RO, "Actions that had to wait for room or for an element.")
            .u64("timeouts", RO, "Waits that ended TIMED_OUT.")
            .u64("late_results", RO, "Results for a context that had been closed or reset meanwhile: dropped.")
            .u64("bad_submits", RO, "Contexts stopped because their submit was impossible.")
            .u64("ring_elements_in", RO, "Elements appended to this node's rings.")
            .u64("ring_elements_out", RO, "Elements removed from this node's rings by GET.")
            .u64("ring_denied", RO, "Actions on this node's rings and memories that were denied.")
            .u64("ring_corrupt", RO, "Rings closed because their owner broke them.")
            .u64("doorbells", RO, "Doorbells of contexts.")
            .u64("sleeps", RO, "Times that a context without work was no longer polled.")
            .u64("lost_races", RO, "Times that work arrived while the module was going to sleep on a context.")
            .u64("events", RO, "Events of contexts, counted in the event table.")
            .u64("interrupts", RO, "Interrupts signalled.")
            .u64("interrupts_coalesced", RO, "Events that needed no interrupt of their own.")
            .u64("contexts_opened", RO, "Contexts opened.")
            .u64("contexts_closed", RO, "Contexts closed.")
            .u64("admin_commands", RO, "Commands of the driver.")
            .u64("admin_refused", RO, "Commands of the driver that were refused.")
            .u64("bad_accesses", RO, "Register accesses that were refused.")
            .u64("memory_faults", RO, "Accesses to guest memory that failed.")
            .u64("resets", RO, "Resets of the module.")
            .u64("admin_interrupted", RO, "Commands of the driver that a stop or reset of the module had to wait for.")
            .size(34 * 8);

    private ImmStatistics() {}
}
