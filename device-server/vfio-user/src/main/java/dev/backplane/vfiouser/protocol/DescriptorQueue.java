// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MessageSocket;

/**
 * Descriptors that have arrived, in order, each with the message that it belongs to, until somebody takes them or they
 * are closed. A read brings the descriptors of one message, and all messages but the last in the buffer are handled
 * before the next read: so at most two messages have descriptors here. Confined to one thread.
 */
final class DescriptorQueue {
    static final int CAPACITY = 2 * MessageSocket.MAX_FDS;

    private final int[] fds = new int[CAPACITY];
    private final long[] owners = new long[CAPACITY];
    private int head;
    private int tail;
    private int current;

    /** Adds a descriptor of the message that starts at position {@code owner} of the stream; false when full. */
    boolean add(int fd, long owner) {
        if (tail == CAPACITY) {
            if (head == 0) {
                return false;
            }
            System.arraycopy(fds, head, fds, 0, tail - head);
            System.arraycopy(owners, head, owners, 0, tail - head);
            tail -= head;
            head = 0;
        }
        fds[tail] = fd;
        owners[tail] = owner;
        tail++;
        return true;
    }

    /** The message at {@code owner} is complete: its descriptors are the current ones. */
    void makeCurrent(long owner) {
        current = 0;
        while (head + current < tail && owners[head + current] == owner) {
            current++;
        }
    }

    int current() {
        return current;
    }

    int peek() {
        if (current == 0) {
            throw new IllegalStateException("no descriptor left");
        }
        return fds[head];
    }

    int take() {
        int fd = peek();
        head++;
        current--;
        return fd;
    }

    void closeCurrent() {
        while (current > 0) {
            FileDescriptor.close(take());
        }
        if (head == tail) {
            head = 0;
            tail = 0;
        }
    }

    void closeAll() {
        current = tail - head;
        closeCurrent();
    }
}
