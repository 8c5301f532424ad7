// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What the module builds from the fields of an action and sends to the target (US 9,672,143, claim 1), and the answer.
 * Each binding has one and uses it again and again; it belongs to one thread at a time: the context's loop, or, between
 * {@link SerialTarget#serve} and {@link #finish}, the target's loop.
 *
 * <p>Whoever carries it out asks {@link #valid} inside a use of the initiator's memory, and touches request, page and
 * memory only then: closing, reset and stop make it invalid and then wait for the uses to end.
 *
 * <p>When one of the two guests does not share its memory, its payload goes by way of a buffer of its own ({@link
 * #staged}): the initiator's side fills or empties that, and the target's sees nothing else, so that neither waits for the
 * other's client. A target that may have to wait for its own client {@link #claimed claims} the request, and carries it
 * out outside of any use of the initiator's memory.
 */
final class Request {
    private static final VarHandle DONE;

    static {
        try {
            DONE = MethodHandles.lookup().findVarHandle(Request.class, "done", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Size of the buffer, and so the longest element that moves when memory is not shared. */
    static final int STAGED_BYTES = SerialTarget.STEP_BYTES;

    final Binding binding;

    private MemorySegment staging;

    /** Link of the one list that the request is in: a target's inbox, or a ring's wait list. */
    Request next;

    int command;
    int flags;
    int targetNode;
    int ring;
    long key;
    long tag;
    int length;
    int memoryId;
    long offset;
    long remoteOffset;
    long operand;
    long swap;

    /** Own registered memory with the payload, or null for the inline area. */
    RegisteredMemory memory;
    /** The target's memory that the first step of a one-sided action found; later steps go there or nowhere. */
    RegisteredMemory remote;
    /** Payload bytes moved so far, when it takes several turns. */
    long progress;
    /** Whether it has waited, so that it goes before those that come now. */
    boolean waiting;
    /** Whether payload goes by way of {@link #staging}. */
    boolean staged;
    /** How much of the payload came before what {@link #staging} has. */
    long stagedFrom;
    /** Whether a target carries it out now, and may have done so already; changed inside uses of the initiator's memory. */
    boolean claimed;
    /** When a wait ends, on the clock of the timers. */
    long deadline;

    int status;
    int resultLength;
    long resultValue;
    long resultTag;
    int resultSource;

    @SuppressWarnings("UnusedVariable") // accessed through DONE
    private boolean done;

    Request(Binding binding) {
        this.binding = binding;
    }

    /** Copies the action at {@code at} out of the page: each word is read once, and checked only afterwards. */
    void load(ContextPages pages, long at) {
        long head = pages.getLong(at + Action.COMMAND);
        command = (int) head & 0xff;
        flags = (int) (head >>> 8) & 0xff;
        targetNode = (int) (head >>> 16) & 0xffff;
        ring = (int) (head >>> 32);
        key = pages.getLong(at + Action.KEY);
        tag = pages.getLong(at + Action.TAG);
        long payload = pages.getLong(at + Action.LENGTH);
        length = (int) payload;
        memoryId = (int) (payload >>> 32);
        offset = pages.getLong(at + Action.OFFSET);
        remoteOffset = pages.getLong(at + Action.REMOTE_OFFSET);
        operand = pages.getLong(at + Action.OPERAND);
        swap = pages.getLong(at + Action.SWAP);
        clear();
    }

    private void clear() {
        memory = null;
        remote = null;
        progress = 0;
        waiting = false;
        staged = false;
        stagedFrom = 0;
        claimed = false;
        status = 0;
        resultLength = 0;
        resultValue = 0;
        resultTag = 0;
        resultSource = 0;
        done = false;
    }

    boolean inline() {
        return memoryId == Action.INLINE;
    }

    /** Whether it acts on a ring. */
    boolean ringed() {
        return command == Action.CMD_PUT || command == Action.CMD_GET;
    }

    /** Whether it acts on registered memory without a serialising point. */
    boolean oneSided() {
        return command == Action.CMD_WRITE || command == Action.CMD_READ;
    }

    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    /**
     * Checks what can be checked at the initiator, and finds the payload's place.
     *
     * @return 0, or the status to end with
     */
    int check() {
        if (command > Action.CMD_COMPARE_SWAP || (flags & ~(Action.WAIT | Action.NOTIFY)) != 0) {
            return Completion.BAD_COMMAND;
        }
        if (has(Action.WAIT) && !ringed()) {
            return Completion.BAD_COMMAND;
        }
        if (command == Action.CMD_NOP || command >= Action.CMD_FETCH_ADD) {
            return 0;
        }
        if (length < 0) {
            return Completion.BAD_ADDRESS;
        }
        if (inline()) {
            return offset >= 0 && offset <= ContextPage.INLINE_BYTES && length <= ContextPage.INLINE_BYTES - offset
                    ? 0
                    : Completion.BAD_ADDRESS;
        }
        memory = binding.memory(memoryId);
        if (memory == null) {
            return Completion.NO_SUCH_MEMORY;
        }
        return memory.contains(offset, length) ? 0 : Completion.BAD_ADDRESS;
    }

    /** Whether its binding still waits for it. */
    boolean valid() {
        return binding.awaits(this);
    }

    /** Whether its payload was in a memory that has been unregistered meanwhile. */
    boolean bereft() {
        return memory != null && !memory.registered();
    }

    /** The buffer of {@link #STAGED_BYTES} bytes that payload goes by. */
    MemorySegment staging() {
        if (staging == null) {
            staging = MemorySegment.ofArray(new byte[STAGED_BYTES]);
        }
        return staging;
    }

    /**
     * Has the payload of an action on a ring go by way of the buffer, if it does not yet; inside a use of the initiator's
     * memory, before anything was moved for good.
     *
     * @return 0, or the status to end with
     */
    int stage() {
        if (staged) {
            return 0;
        }
        progress = 0;
        if (command == Action.CMD_PUT) {
            if (length > STAGED_BYTES) {
                resultLength = STAGED_BYTES;
                return Completion.TOO_LONG;
            }
            Payload.stage(this, length);
        }
        staged = true;
        return 0;
    }

    /** Bytes that a GET has room for. */
    int room() {
        return staged ? Math.min(length, STAGED_BYTES) : length;
    }

    /** Sets the status to end with. Always true, for use as a result. */
    boolean finish(int endStatus) {
        status = endStatus;
        return true;
    }

    /** Tells the context's loop, which was not waiting for the caller, that it is finished: it takes over. */
    void answer() {
        DONE.setRelease(this, true);
    }

    /** Takes back {@link #answer}, for the next part of the same action; by the context's loop. */
    void reopen() {
        done = false;
    }

    boolean done() {
        return (boolean) DONE.getAcquire(this);
    }
}
