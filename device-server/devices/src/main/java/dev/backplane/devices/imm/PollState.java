// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import java.util.concurrent.atomic.AtomicBoolean;

/** What a context and the poller that looks after it have to say to each other. */
final class PollState {
    final GetPutContext context;
    final ContextPoller poller;

    /** Set by a doorbell, taken by the context's loop. */
    volatile boolean rung;
    /** Set by the poller: nothing was found for a while. Taken by the context's loop. */
    volatile boolean sleepWanted;
    /** Changed by the context's loop: the doorbell is wanted, and the poller forgets the context. */
    volatile boolean asleep = true;

    /** Whether it is in the poller's list of newcomers, of which {@link #next} is the link. */
    final AtomicBoolean newcomer = new AtomicBoolean();

    PollState next;

    // The poller's own.
    boolean listed;
    long latestWork;
    long sleptAt;
    long spin;

    PollState(GetPutContext context) {
        this.context = context;
        this.poller = context.module.fabric().poller(context);
        this.spin = context.module.fabric().config().spinMicros() * 1000L;
    }
}
