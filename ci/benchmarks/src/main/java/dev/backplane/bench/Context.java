// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.nio.file.Path;

/** What the cases share: how much to measure, and the guests, which boot when the first case wants them. */
final class Context implements AutoCloseable {
    private final boolean quick;
    private final Path libvfioUserServer;
    private GuestPair guests;

    Context(boolean quick, Path libvfioUserServer) {
        this.quick = quick;
        this.libvfioUserServer = libvfioUserServer;
    }

    /** Rounds of A B A B …. */
    int rounds() {
        return quick ? 3 : 7;
    }

    /** Seconds of one run of a throughput measurement. */
    int seconds() {
        return quick ? 3 : 8;
    }

    /** {@code quickly} or {@code otherwise}. */
    int choose(int quickly, int otherwise) {
        return quick ? quickly : otherwise;
    }

    /** libvfio-user's sample server, or null. */
    Path libvfioUserServer() {
        return libvfioUserServer;
    }

    /** Two guests, each with all the network devices that are compared. */
    GuestPair guests() {
        if (guests == null) {
            say("booting two guests");
            guests = GuestPair.boot();
        }
        return guests;
    }

    void say(String text) {
        System.err.println("bench: " + text);
    }

    @Override
    public void close() {
        if (guests != null) {
            guests.close();
        }
    }
}
