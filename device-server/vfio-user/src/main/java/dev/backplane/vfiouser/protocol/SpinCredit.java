// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

/**
 * Whether it is worth looking for the next message again and again before going to sleep, judged by what came of it lately.
 * It is after several messages at short distances; it is not any more when it was for nothing a few times, such as when the
 * peer needs this very processor to send. Each time that ends so, it takes four times as many messages to try again.
 * Confined to one thread.
 */
final class SpinCredit {
    /** Messages at short distance in a row from which on spinning starts. */
    static final int NEAR_TO_START = 4;

    /** As {@link #NEAR_TO_START}, after spinning has been for nothing many times. */
    static final int MOST_TO_START = 4096;

    /** Spins for nothing, more than successful ones, after which it stops: at first, and when it has paid for long. */
    static final int FIRST = 2;

    static final int MOST = 8;

    private int near;
    private int toStart = NEAR_TO_START;
    private int credit;

    /** Whether to spin. */
    boolean worthwhile() {
        return credit > 0;
    }

    /** It did not spin. {@code soon} tells whether the message came so soon that spinning would have found it. */
    void slept(boolean soon) {
        if (!soon) {
            near = 0;
        } else if (++near >= toStart) {
            credit = FIRST;
        }
    }

    /** It did spin, and found a message or not. */
    void spun(boolean found) {
        if (found) {
            if (credit < MOST) {
                credit++;
            } else {
                toStart = NEAR_TO_START;
            }
        } else if (--credit == 0) {
            near = 0;
            toStart = Math.min(4 * toStart, MOST_TO_START);
        }
    }
}
