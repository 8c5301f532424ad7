// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.pci.Bar;

/**
 * What all messaging modules of a server have in common.
 *
 * @param contexts GET/PUT contexts of a node, 1 to {@link #MAX_CONTEXTS}
 * @param stride bytes between two context pages: {@link #SMALL_STRIDE}, or {@link #LARGE_STRIDE} for 64 KiB pages
 * @param rings ring ids of a node, 1 to {@link #MAX_RINGS}
 * @param memories registered memories of one context, 1 to {@link #MAX_MEMORIES}
 * @param maxPages pages of one registered memory, 1 to {@link #MAX_PAGES}
 * @param spinMicros how long a context without work is polled before the module sleeps on it, 0 to {@link #MAX_SPIN};
 *     a start value: each context adapts its own
 * @param moderationMicros shortest time between two interrupts of one vector, 0 to {@link #MAX_MODERATION}; 0: none
 * @param pollers threads that poll contexts, 1 to {@link #MAX_POLLERS}
 * @param dedicated whether the pollers never sleep while a context is open: a core for each, no doorbell needed
 */
public record MessagingConfig(
        int contexts,
        int stride,
        int rings,
        int memories,
        int maxPages,
        int spinMicros,
        int moderationMicros,
        int pollers,
        boolean dedicated) {
    public static final int MAX_CONTEXTS = 4096;
    public static final int SMALL_STRIDE = 4096;
    public static final int LARGE_STRIDE = 65_536;
    public static final int MAX_RINGS = 65_536;
    public static final int MAX_MEMORIES = 1024;
    /** 64 MiB of 4 KiB pages, a ring header, and one page because the memory may begin inside its first page. */
    public static final int MAX_PAGES = (RingHeader.MAX_CAPACITY + RingHeader.BYTES) / Bar.PAGE + 1;

    public static final int MAX_SPIN = 10_000;
    public static final int MAX_MODERATION = 10_000;
    public static final int MAX_POLLERS = 64;

    public MessagingConfig {
        require("contexts", contexts, 1, MAX_CONTEXTS);
        if (stride != SMALL_STRIDE && stride != LARGE_STRIDE) {
            throw new IllegalArgumentException(
                    "messaging: stride is " + SMALL_STRIDE + " or " + LARGE_STRIDE + ", not " + stride);
        }
        require("rings", rings, 1, MAX_RINGS);
        require("memories", memories, 1, MAX_MEMORIES);
        require("max_pages", maxPages, 1, MAX_PAGES);
        require("spin_micros", spinMicros, 0, MAX_SPIN);
        require("moderation_micros", moderationMicros, 0, MAX_MODERATION);
        require("pollers", pollers, 1, MAX_POLLERS);
    }

    /** 256 contexts, 1024 rings, 50 µs of spinning, one poller. */
    public static MessagingConfig defaults() {
        return new MessagingConfig(256, SMALL_STRIDE, 1024, 64, MAX_PAGES, 50, 20, 1, false);
    }

    /** This configuration with another number of contexts. */
    public MessagingConfig withContexts(int number) {
        return new MessagingConfig(
                number, stride, rings, memories, maxPages, spinMicros, moderationMicros, pollers, dedicated);
    }

    /** This configuration with another stride. */
    public MessagingConfig withStride(int bytes) {
        return new MessagingConfig(
                contexts, bytes, rings, memories, maxPages, spinMicros, moderationMicros, pollers, dedicated);
    }

    /** This configuration with another number of rings. */
    public MessagingConfig withRings(int number) {
        return new MessagingConfig(
                contexts, stride, number, memories, maxPages, spinMicros, moderationMicros, pollers, dedicated);
    }

    /** This configuration with another time of spinning. */
    public MessagingConfig withSpinMicros(int micros) {
        return new MessagingConfig(
                contexts, stride, rings, memories, maxPages, micros, moderationMicros, pollers, dedicated);
    }

    /** This configuration with another moderation of interrupts. */
    public MessagingConfig withModerationMicros(int micros) {
        return new MessagingConfig(contexts, stride, rings, memories, maxPages, spinMicros, micros, pollers, dedicated);
    }

    /** This configuration with that many pollers, which sleep or never do. */
    public MessagingConfig withPollers(int number, boolean neverSleep) {
        return new MessagingConfig(
                contexts, stride, rings, memories, maxPages, spinMicros, moderationMicros, number, neverSleep);
    }

    /** Bytes of the doorbell BAR: a BAR's size is a power of two. */
    long doorbellBytes() {
        return Long.highestOneBit(lifeOffset() * 2 - 1);
    }

    /** Bytes of the context BAR: the context pages, then the life page. */
    long contextBytes() {
        return Long.highestOneBit((lifeOffset() + stride) * 2 - 1);
    }

    /** Where {@link LifePage} is in the context BAR. */
    long lifeOffset() {
        return (long) contexts * stride;
    }

    private static void require(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException("messaging: " + name + " is " + min + " to " + max + ", not " + value);
        }
    }
}
