// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.devices.loop.SlowLane;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The contexts of a module and the rings of their processes. Any thread looks things up; everything else comes from the
 * client's thread, or, one at a time with it, from whoever carries out the driver's commands.
 *
 * <p>Ending something has one form: say so where the loops ask, wait until the uses of the guest's memory have ended,
 * then clear what is left.
 */
final class ContextTable {
    private final MessagingModule module;
    private final ModuleBlock block;
    private final GetPutContext[] contexts;
    private final AtomicReferenceArray<Ring> rings;

    ContextTable(MessagingModule module) {
        MessagingConfig config = module.fabric().config();
        this.module = module;
        this.block = module.block();
        this.rings = new AtomicReferenceArray<>(config.rings());
        this.contexts = new GetPutContext[config.contexts()];
        for (int n = 0; n < contexts.length; n++) {
            contexts[n] = new GetPutContext(module, n);
        }
    }

    /** Has the turns of all contexts and rings run on a lane, or with null wherever they are woken. */
    void runOn(SlowLane lane) {
        for (GetPutContext c : contexts) {
            c.runOn(lane);
        }
        for (int id = 0; id < rings.length(); id++) {
            Ring ring = rings.get(id);
            if (ring != null) {
                ring.runOn(lane);
            }
        }
    }

    int size() {
        return contexts.length;
    }

    /** The context of that number, which may be hostile, or null. */
    GetPutContext context(int n) {
        return n >= 0 && n < contexts.length ? contexts[n] : null;
    }

    /** The ring of that id, which may be hostile, or null. */
    Ring ring(int id) {
        return id >= 0 && id < rings.length() ? rings.get(id) : null;
    }

    /** A ring id that is not in use, or -1. */
    int freeRing() {
        for (int id = 0; id < rings.length(); id++) {
            if (rings.get(id) == null) {
                return id;
            }
        }
        return -1;
    }

    Binding open(GetPutContext context) {
        module.tally().contextsOpened.increment();
        return context.open();
    }

    /** Ends a binding: when it returns, nothing touches its page or its memories any more, and its rings are gone. */
    void close(Binding b) {
        GetPutContext c = b.context;
        b.become(ContextState.CLOSED);
        c.unbind();
        withdraw(b, Completion.NO_SUCH_RING);
        c.leaveTarget();
        module.guest().awaitUses();
        c.forget();
        for (Ring ring : b.rings()) {
            block.clearRing(ring.id);
        }
        block.setInt(block.context(c.number) + ModuleBlock.CONTEXT_STATE, ContextState.CLOSED.value());
        module.pages().clear(c.number);
        module.tally().contextsClosed.increment();
    }

    private void withdraw(Binding b, int status) {
        for (Ring ring : b.rings()) {
            rings.set(ring.id, null);
            ring.withdraw(status);
        }
        for (RegisteredMemory memory : b.memories()) {
            if (memory != null) {
                memory.unregister();
            }
        }
    }

    /** Adds a ring whose record is filled in, and writes its header. */
    void createRing(Binding b, int id, RegisteredMemory memory, NodeSet nodes) {
        Ring ring = new Ring(module, b, id, memory, nodes);
        ring.open();
        adopt(ring);
    }

    /** Adds a ring whose header is as the device left it. */
    void adopt(Ring ring) {
        ring.binding.put(ring);
        rings.set(ring.id, ring);
    }

    /** Ends a ring: when it returns, nothing touches its memory any more. */
    void destroyRing(Ring ring) {
        rings.set(ring.id, null);
        ring.binding.remove(ring);
        ring.withdraw(Completion.NO_SUCH_RING);
        module.guest().awaitUses();
        ring.writeClosed();
        block.clearRing(ring.id);
    }

    /** First half of a reset: nothing begins any more for what is bound now; who waits at its rings gets UNREACHABLE. */
    void kill() {
        for (GetPutContext c : contexts) {
            Binding b = c.binding();
            if (b != null) {
                b.become(ContextState.DEAD);
                c.unbind();
                withdraw(b, Completion.UNREACHABLE);
                c.leaveTarget();
            }
        }
    }

    /** Second half of a reset, once the uses have ended: processes see that their context is dead. */
    void bury() {
        for (GetPutContext c : contexts) {
            if (block.getInt(block.context(c.number) + ModuleBlock.CONTEXT_STATE) != ContextState.CLOSED.value()) {
                module.pages().state(c.number, ContextState.DEAD);
            }
            c.forget();
        }
    }

    /** The module has failed: processes see that their context is dead, and who waits at its rings gets UNREACHABLE. */
    void fail() {
        for (GetPutContext c : contexts) {
            Binding b = c.binding();
            if (b != null && b.become(ContextState.DEAD)) {
                module.pages().state(c.number, ContextState.DEAD);
                for (Ring ring : b.rings()) {
                    ring.withdraw(Completion.UNREACHABLE);
                }
            }
        }
    }

    /** While the module is stopped: who waits at its rings gets UNREACHABLE. */
    void wakeRings() {
        for (int id = 0; id < rings.length(); id++) {
            Ring ring = rings.get(id);
            if (ring != null) {
                ring.wake();
            }
        }
    }

    /** While the module is stopped: results that have come are reported, and what is not done is done anew later. */
    void settle() {
        for (GetPutContext c : contexts) {
            c.settle();
            c.leaveTarget();
            c.forgetRequest();
        }
    }

    /** Looks at every context once, as if its doorbell had rung. */
    void resume() {
        for (GetPutContext c : contexts) {
            if (c.binding() != null) {
                c.doorbell();
            }
        }
    }

    List<ContextView> contextViews() {
        List<ContextView> views = new ArrayList<>();
        for (GetPutContext c : contexts) {
            Binding b = c.binding();
            if (b != null) {
                views.add(c.view(b));
            }
        }
        return views;
    }

    List<RingView> ringViews() {
        List<RingView> views = new ArrayList<>();
        for (int id = 0; id < rings.length(); id++) {
            Ring ring = rings.get(id);
            if (ring != null) {
                views.add(ring.view());
            }
        }
        return views;
    }

    static String text(Enum<?> state) {
        return state.name().toLowerCase(Locale.ROOT);
    }
}
