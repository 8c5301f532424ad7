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
            "syscalls/sys_exit_recvmsg",
            "syscalls/sys_exit_read",
            "sched/sched_waking",
            "sched/sched_switch");
    private static final Pattern LINE =
            Pattern.compile("^\\s*.+-(\\d+)\\s+\\[\\d+\\]\\s+\\S+\\s+([0-9.]+): (\\w+)(.*)$");
    private static final Pattern WOKEN = Pattern.compile(" pid=(\\d+)");
    private static final Pattern NEXT = Pattern.compile(" next_pid=(\\d+)");
    private static final Pattern RESULT = Pattern.compile("-> 0x([0-9a-f]+)");

    /** What happened. */
    enum Kind {
        /** A process calls sendmsg. */
        SEND,
        /** A process has received bytes. */
        RECEIVED,
        /** A process has read 8 bytes, an event descriptor's counter. */
        SIGNALLED,
        /** A thread is made runnable. */
        WOKEN,
        /** A thread gets a processor. */
        RUNS
    }

    /**
     * One event.
     *
     * @param process number of the process that it is about
     * @param thread of that process
     * @param by number of the process that runs meanwhile, which is the one that wakes the thread; -1: another one
     */
    record Event(Kind kind, int process, int thread, int by, double micros) {}

    private final Path instance;
    private final Map<Integer, Integer> processes = new HashMap<>();

    /** Why there can be no trace here, or null. */
    static String obstacle() {
        return Files.isWritable(TRACING.resolve("instances"))
                ? null
                : "it needs the kernel's tracefs at " + TRACING + ", and root";
    }

    /** Starts to trace; the processes are numbered from 0 in this order. */
    HostTrace(long... pids) throws IOException {
        instance = Files.createDirectory(
                TRACING.resolve("instances/backplane-" + ProcessHandle.current().pid()));
        try {
            List<String> threads = new ArrayList<>();
            for (int i = 0; i < pids.length; i++) {
                try (Stream<Path> tasks = Files.list(Path.of("/proc/" + pids[i] + "/task"))) {
                    for (Path task : tasks.toList()) {
                        threads.add(task.getFileName().toString());
                        processes.put(Integer.valueOf(task.getFileName().toString()), i);
                    }
                }
            }
            set("trace_clock", "mono");
            set("buffer_size_kb", "32768");
            set("set_event_pid", String.join(" ", threads));
            for (String event : EVENTS) {
                set("events/" + event + "/enable", "1");
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Stops, and returns what happened, in order of time. */
    List<Event> stop() throws IOException {
        set("tracing_on", "0");
        List<Event> all = new ArrayList<>();
        try (Stream<String> lines = Files.lines(instance.resolve("trace"), StandardCharsets.ISO_8859_1)) {
            lines.forEach(line -> {
                Event e = parse(line);
                if (e != null) {
                    all.add(e);
                }
            });
        }
        return all;
    }

    private Event parse(String line) {
        Matcher m = LINE.matcher(line);
        if (!m.matches()) {
            return null;
        }
        int thread = Integer.parseInt(m.group(1));
        double micros = Double.parseDouble(m.group(2)) * 1e6;
        String rest = m.group(4);
        return switch (m.group(3)) {
            case "sys_sendmsg" -> event(Kind.SEND, thread, thread, micros);
            case "sys_recvmsg" -> result(rest) > 0 ? event(Kind.RECEIVED, thread, thread, micros) : null;
            case "sys_read" -> result(rest) == 8 ? event(Kind.SIGNALLED, thread, thread, micros) : null;
            case "sched_waking" -> event(Kind.WOKEN, number(WOKEN, rest), thread, micros);
            case "sched_switch" -> event(Kind.RUNS, number(NEXT, rest), thread, micros);
            default -> null;
        };
    }

    private Event event(Kind kind, int thread, int current, double micros) {
        Integer process = processes.get(thread);
        return process == null ? null : new Event(kind, process, thread, processes.getOrDefault(current, -1), micros);
    }

    private static int number(Pattern pattern, String text) {
        Matcher m = pattern.matcher(text);
        return m.find() ? Integer.parseInt(m.group(1)) : -1;
    }

    private static long result(String text) {
        Matcher m = RESULT.matcher(text);
        return m.find() ? Long.parseUnsignedLong(m.group(1), 16) : -1;
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
