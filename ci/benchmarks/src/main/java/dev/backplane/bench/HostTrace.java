// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What some processes do, as this host's kernel sees it: their system calls on sockets and event descriptors, and when
 * their threads are woken and run. In a trace instance of its own (tracefs), which nobody else's tracing disturbs; the
 * programs that are traced know nothing of it.
 */
final class HostTrace implements AutoCloseable {
    private static final Path TRACING = Path.of("/sys/kernel/tracing");
    private static final List<String> EVENTS = List.of(
            "syscalls/sys_enter_sendmsg",
            "syscalls/sys_enter_sendto",
            "syscalls/sys_exit_recvmsg",
            "syscalls/sys_enter_io_submit",
            "syscalls/sys_enter_write",
            "syscalls/sys_enter_read",
            "syscalls/sys_exit_read",
            "sched/sched_waking",
            "sched/sched_switch");
    private static final Pattern LOST = Pattern.compile("(?m)^(?:overrun|dropped events): ([1-9]\\d*)$");

    private final Path instance;
    private final Map<Integer, Integer> processes = new HashMap<>();
    private final List<Set<Integer>> interrupts = new ArrayList<>();

    /** Why there can be no trace here, or null. */
    static String obstacle() {
        return Files.isWritable(TRACING.resolve("instances"))
                ? null
                : "it needs the kernel's tracefs at " + TRACING + ", and root";
    }

    /**
     * Starts to trace; the processes are numbered in this order, the server last.
     *
     * @param server signals the others' interrupts
     */
    HostTrace(List<Long> guests, long server) throws IOException {
        instance = Files.createDirectory(
                TRACING.resolve("instances/backplane-" + ProcessHandle.current().pid()));
        try {
            for (long guest : guests) {
                addThreads(guest);
                interrupts.add(InterruptDescriptors.of(guest, server));
            }
            addThreads(server);
            interrupts.add(Set.of());
            set("trace_clock", "mono");
            set("buffer_size_kb", "32768");
            set(
                    "set_event_pid",
                    String.join(
                            " ",
                            processes.keySet().stream().map(String::valueOf).toList()));
            for (String event : EVENTS) {
                set("events/" + event + "/enable", "1");
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private void addThreads(long pid) throws IOException {
        int number = interrupts.size();
        try (Stream<Path> tasks = Files.list(Path.of("/proc/" + pid + "/task"))) {
            tasks.forEach(
                    task -> processes.put(Integer.valueOf(task.getFileName().toString()), number));
        }
    }

    /**
     * Stops, and returns what happened, in order of time.
     *
     * @param keep where to put a copy of the trace as the kernel prints it, or null
     * @throws IOException also when the kernel has lost a part of it
     */
    List<TraceEvent> stop(Path keep) throws IOException {
        set("tracing_on", "0");
        List<String> lines = Files.readAllLines(instance.resolve("trace"), StandardCharsets.ISO_8859_1);
        if (keep != null) {
            Files.write(keep, lines, StandardCharsets.ISO_8859_1);
        }
        checkComplete();
        return new TraceLines(processes, interrupts).read(lines);
    }

    private void checkComplete() throws IOException {
        try (Stream<Path> processors = Files.list(instance.resolve("per_cpu"))) {
            for (Path processor : processors.toList()) {
                Matcher lost = LOST.matcher(Files.readString(processor.resolve("stats")));
                if (lost.find()) {
                    throw new IOException("the kernel has lost " + lost.group(1) + " events of the trace");
                }
            }
        }
    }

    private void set(String file, String value) throws IOException {
        try {
            Files.writeString(instance.resolve(file), value + "\n");
        } catch (IOException e) {
            throw new IOException("tracefs refuses " + value + " for " + file + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void close() throws IOException {
        for (String event : EVENTS) {
            set("events/" + event + "/enable", "0");
        }
        Files.delete(instance); // a directory of tracefs goes with all that is in it
    }
}
