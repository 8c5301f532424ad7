// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.memory.GuestCursor;
import dev.backplane.vfiouser.memory.GuestMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * One generation of a context: what it is from CONTEXT_OPEN to the end of that process's use. Whatever is on its way for
 * it refers to this object, so nothing old can ever reach the process that has the context next.
 */
final class Binding {
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Binding.class, "state", ContextState.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final RegisteredMemory[] NO_MEMORIES = {};
    private static final Ring[] NO_RINGS = {};

    final GetPutContext context;
    final int generation;
    final GuestMemory guest;

    /** For the process's own registered memory; belongs to whoever has the request. */
    final GuestCursor local = new GuestCursor();
    /** For a target's memory in a one-sided action; belongs to the context's loop. */
    final GuestCursor remote = new GuestCursor();

    private volatile ContextState state = ContextState.OPEN;
    private volatile Request request = new Request(this);
    /** By id, with holes; replaced as a whole by the client's thread. */
    private volatile RegisteredMemory[] memories = NO_MEMORIES;
    /** The rings that it owns; replaced as a whole by the client's thread. */
    private volatile Ring[] rings = NO_RINGS;

    Binding(GetPutContext context, int generation, GuestMemory guest) {
        this.context = context;
        this.generation = generation;
        this.guest = guest;
    }

    ContextState state() {
        return state;
    }

    boolean open() {
        return state == ContextState.OPEN;
    }

    /** Moves on, unless it is in a state that does not lead there. Any thread. */
    boolean become(ContextState next) {
        ContextState now;
        do {
            now = state;
            if (!now.leadsTo(next)) {
                return false;
            }
        } while (!STATE.compareAndSet(this, now, next));
        return true;
    }

    /** The request in use; the context's loop, or the client's thread while the module is stopped. */
    Request request() {
        return request;
    }

    /** Gives up the request, which somebody may still hold, and makes another; while the module is stopped. */
    void replaceRequest() {
        request = new Request(this);
    }

    /** Whether {@code r} is still this binding's, and may act. */
    boolean awaits(Request r) {
        return r == request && state == ContextState.OPEN && context.module.live();
    }

    /** The registered memory of that id, which is a process's and hostile, or null. */
    RegisteredMemory memory(int id) {
        RegisteredMemory[] all = memories;
        return id >= 0 && id < all.length ? all[id] : null;
    }

    /** All slots of registered memories, with holes. */
    RegisteredMemory[] memories() {
        return memories;
    }

    void put(RegisteredMemory memory) {
        RegisteredMemory[] all = memories;
        RegisteredMemory[] copy = Arrays.copyOf(all, Math.max(all.length, memory.id + 1));
        copy[memory.id] = memory;
        memories = copy;
    }

    void remove(RegisteredMemory memory) {
        RegisteredMemory[] copy = memories.clone();
        copy[memory.id] = null;
        memories = copy;
    }

    Ring[] rings() {
        return rings;
    }

    void put(Ring ring) {
        Ring[] copy = Arrays.copyOf(rings, rings.length + 1);
        copy[copy.length - 1] = ring;
        rings = copy;
    }

    void remove(Ring ring) {
        rings = Arrays.stream(rings).filter(r -> r != ring).toArray(Ring[]::new);
    }
}
