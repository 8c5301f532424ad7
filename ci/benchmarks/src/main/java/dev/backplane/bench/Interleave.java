// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

/** Runs variants in turn, A B A B, so that a machine that changes its speed changes it for all. */
final class Interleave {
    /** One run of one variant. */
    @FunctionalInterface
    interface Run<T> {
        /** {@code counted} is false in the first, warming round. */
        void run(T variant, boolean counted);
    }

    private Interleave() {}

    static <T> void rounds(Context context, T[] variants, Run<T> run) {
        for (int round = 0; round <= context.rounds(); round++) {
            for (T variant : variants) {
                context.say((round == 0 ? "warm-up" : "round " + round + " of " + context.rounds()) + ": " + variant);
                run.run(variant, round > 0);
            }
        }
    }
}
