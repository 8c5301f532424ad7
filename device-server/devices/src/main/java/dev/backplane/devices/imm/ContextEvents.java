// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.memory.GuestRange;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The events of a context that its driver has not been told of yet. */
final class ContextEvents {
    private static final VarHandle PENDING;

    static {
        try {
            PENDING = MethodHandles.lookup().findVarHandle(ContextEvents.class, "pending", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MessagingModule module;
    private final int context;
    private final long record;
    private volatile int pending;
    private GuestRange word;

    /** @param record of the context in the module's block */
    ContextEvents(MessagingModule module, int context, long record) {
        this.module = module;
        this.context = context;
        this.record = record;
    }

    /** One more; any thread. The context's loop has to be woken after it. */
    void add() {
        PENDING.getAndAdd(this, 1);
    }

    boolean pending() {
        return pending != 0;
    }

    /** Tells the driver what there is; returns false if that has to be repeated. By the context's loop. */
    boolean raise(DeviceLink link) {
        ModuleBlock block = module.block();
        int n = (int) PENDING.getAndSet(this, 0);
        int total = block.getInt(record + ModuleBlock.CONTEXT_EVENTS) + n;
        block.setInt(record + ModuleBlock.CONTEXT_EVENTS, total);
        long at = block.getLong(ModuleBlock.EVENT_TABLE) + 4L * context;
        if (word == null || word.iova() != at) {
            word = new GuestRange(link.memory(), at, 4);
        }
        if (module.events().raise(link, context, word, total, n)) {
            return true;
        }
        // The word may have been written all the same: it goes on from there, so that no state saved now makes it go
        // back.
        PENDING.getAndAdd(this, 1);
        return false;
    }

    /** For the client's thread once no turn acts for a binding. */
    void reset() {
        pending = 0;
        word = null;
    }
}
