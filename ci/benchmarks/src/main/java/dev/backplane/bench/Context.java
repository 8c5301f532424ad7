// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.nio.file.Path;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** What the cases share: how much to measure, and the guests, which boot when the first case wants them. */
final class Context implements AutoCloseable {
    private final boolean quick;
    private final boolean peers;
    private final boolean ovsDpdk;
    private final Path libvfioUserServer;
    private final Path traces;
    private final Map<String, String> missing = new LinkedHashMap<>();
    private GuestPair guests;
    private boolean polling;

    Context(boolean quick, boolean peers, boolean ovsDpdk, Path libvfioUserServer, Path traces) {
        this.quick = quick;
        this.peers = peers;
        this.ovsDpdk = ovsDpdk;
        this.libvfioUserServer = libvfioUserServer;
        this.traces = traces;
    }

    /** Whether the user wants it over soon. */
    boolean quick() {
        return quick;
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

    /** Where to keep the trace of what is called so, or null. */
    Path trace(String name) {
        return traces == null ? null : traces.resolve(name.replace(' ', '-') + ".trace");
    }

    /** Two guests, each with all the network devices that are compared. */
    GuestPair guests() {
        return guests(false);
    }

    /** The same on a server with {@code --poll}; one pair runs at a time, since that server takes a core. */
    GuestPair guests(boolean poll) {
        if (guests != null && polling != poll) {
            guests.close();
            guests = null;
        }
        if (guests == null) {
            say(poll ? "booting two guests on a server that polls" : "booting two guests");
            Set<Way> all = EnumSet.allOf(Way.class);
            if (!ovsDpdk) {
                all.remove(Way.OVS_DPDK);
            }
            Set<Way> few = EnumSet.of(Way.BACKPLANE, Way.STREAM); // others would only take the core that it polls on
            Set<Way> none = EnumSet.of(Way.BACKPLANE);
            guests = poll
                    ? GuestPair.boot(this, peers ? few : none, "--poll")
                    : GuestPair.boot(this, peers ? all : none);
            polling = poll;
        }
        return guests;
    }

    /** Something went wrong with them, perhaps: the next case gets new ones. */
    void forgetGuests() {
        close();
        guests = null;
    }

    /** Notes that something is not compared, and why. */
    void missing(String what, String why) {
        if (missing.put(what, why) == null) {
            say("not compared: " + what + ": " + why);
        }
    }

    /** What was not compared, and why. */
    Map<String, String> missing() {
        return missing;
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
