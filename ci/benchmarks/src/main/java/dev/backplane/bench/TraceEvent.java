// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

/**
 * Something that the host's kernel saw one of the traced processes do.
 *
 * @param process number of the process that it is about
 * @param thread of that process
 * @param detail {@link Kind#SEND}: the descriptor; {@link Kind#SIGNAL}: what stands for the descriptor, a number of the
 *     process's own; {@link Kind#WOKEN}: the thread that runs meanwhile and so wakes it, -1 if it is of another process;
 *     else 0
 * @param micros of the trace's clock
 */
record TraceEvent(Kind kind, int process, int thread, long detail, double micros) {
    /** What happened. */
    enum Kind {
        /** A process calls sendmsg or sendto. */
        SEND,
        /** A process has received bytes. */
        RECEIVED,
        /** A process signals an event descriptor, by io_submit or by a write of 8 bytes. */
        SIGNAL,
        /** A process has read an event descriptor that it has given to another one to be signalled. */
        TAKEN,
        /** A thread is made runnable. */
        WOKEN,
        /** A thread gets a processor. */
        RUNS
    }
}
