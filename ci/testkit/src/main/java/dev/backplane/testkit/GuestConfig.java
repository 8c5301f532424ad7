// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import java.util.ArrayList;
import java.util.List;

/**
 * What a guest is made of.
 *
 * @param name unique among the guests of a test
 * @param megabytes memory, in MiB
 * @param cpus virtual processors
 * @param append additions to the kernel's command line
 * @param devices additional QEMU arguments
 */
public record GuestConfig(String name, int megabytes, int cpus, List<String> append, List<String> devices) {
    /** Memory of a guest that was not said otherwise. */
    public static final int DEFAULT_MEGABYTES = 256;

    public GuestConfig {
        append = List.copyOf(append);
        devices = List.copyOf(devices);
    }

    public static GuestConfig named(String name) {
        return new GuestConfig(name, DEFAULT_MEGABYTES, 1, List.of(), List.of());
    }

    public GuestConfig withMegabytes(int mib) {
        return new GuestConfig(name, mib, cpus, append, devices);
    }

    public GuestConfig withCpus(int count) {
        return new GuestConfig(name, megabytes, count, append, devices);
    }

    public GuestConfig withAppend(String... words) {
        return new GuestConfig(name, megabytes, cpus, plus(append, List.of(words)), devices);
    }

    public GuestConfig withDevices(List<String> arguments) {
        return new GuestConfig(name, megabytes, cpus, append, plus(devices, arguments));
    }

    private static List<String> plus(List<String> a, List<String> b) {
        List<String> all = new ArrayList<>(a);
        all.addAll(b);
        return all;
    }
}
