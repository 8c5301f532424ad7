// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.bench.TraceEvent.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Makes events of the lines of a kernel's trace, in their order. */
final class TraceLines {
    private static final Pattern LINE =
            Pattern.compile("^\\s*.+-(\\d+)\\s+\\[\\d+\\]\\s+\\S+\\s+([0-9.]+): (\\w+)(.*)$");
    private static final Pattern WOKEN = Pattern.compile(" pid=(\\d+)");
    private static final Pattern NEXT = Pattern.compile(" next_pid=(\\d+)");
    private static final Pattern RESULT = Pattern.compile("-> 0x([0-9a-f]+)");
    private static final Pattern DESCRIPTOR = Pattern.compile("\\(fd: (?:0x)?([0-9a-f]+)");
    private static final Pattern REQUEST = Pattern.compile("iocbpp: (?:0x)?([0-9a-f]+)");
    private static final Pattern COUNT = Pattern.compile("count: (?:0x)?([0-9a-f]+)");

    private final Map<Integer, Integer> processes;
    private final List<Set<Integer>> interrupts;

    /** The descriptor that a thread has begun to read. */
    private final Map<Integer, Long> reading = new HashMap<>();

    /**
     * @param processes number of the process of each thread that counts
     * @param interrupts descriptors of each process that are interrupts
     */
    TraceLines(Map<Integer, Integer> processes, List<Set<Integer>> interrupts) {
        this.processes = processes;
        this.interrupts = interrupts;
    }

    List<TraceEvent> read(Iterable<String> lines) {
        List<TraceEvent> all = new ArrayList<>();
        for (String line : lines) {
            TraceEvent e = parse(line);
            if (e != null) {
                all.add(e);
            }
        }
        return all;
    }

    private TraceEvent parse(String line) {
        Matcher m = LINE.matcher(line);
        if (!m.matches()) {
            return null;
        }
        int thread = Integer.parseInt(m.group(1));
        double micros = Double.parseDouble(m.group(2)) * 1e6;
        String rest = m.group(4);
        return switch (m.group(3)) {
            case "sys_sendmsg", "sys_sendto" -> event(Kind.SEND, thread, hex(DESCRIPTOR, rest), micros);
            case "sys_recvmsg" -> hex(RESULT, rest) > 0 ? event(Kind.RECEIVED, thread, 0, micros) : null;
            case "sys_io_submit" -> event(Kind.SIGNAL, thread, hex(REQUEST, rest), micros);
            case "sys_write" ->
                hex(COUNT, rest) == Long.BYTES ? event(Kind.SIGNAL, thread, hex(DESCRIPTOR, rest), micros) : null;
            case "sys_read" -> read(thread, rest, micros);
            case "sched_waking" -> woken(decimal(WOKEN, rest), thread, micros);
            case "sched_switch" -> event(Kind.RUNS, decimal(NEXT, rest), 0, micros);
            default -> null;
        };
    }

    /** Of a read there are two lines: the first has the descriptor, the second the result. */
    private TraceEvent read(int thread, String rest, double micros) {
        if (rest.startsWith("(")) {
            reading.put(thread, hex(DESCRIPTOR, rest));
            return null;
        }
        Long descriptor = reading.remove(thread);
        Integer process = processes.get(thread);
        boolean taken = process != null
                && descriptor != null
                && hex(RESULT, rest) == Long.BYTES
                && interrupts.get(process).contains(descriptor.intValue());
        return taken ? new TraceEvent(Kind.TAKEN, process, thread, 0, micros) : null;
    }

    private TraceEvent woken(int thread, int current, double micros) {
        return event(Kind.WOKEN, thread, processes.containsKey(current) ? current : -1, micros);
    }

    private TraceEvent event(Kind kind, int thread, long detail, double micros) {
        Integer process = processes.get(thread);
        return process == null ? null : new TraceEvent(kind, process, thread, detail, micros);
    }

    private static int decimal(Pattern pattern, String text) {
        Matcher m = pattern.matcher(text);
        return m.find() ? Integer.parseInt(m.group(1)) : -1;
    }

    /** Negative for none, and for a result that is an error. */
    private static long hex(Pattern pattern, String text) {
        Matcher m = pattern.matcher(text);
        return m.find() ? Long.parseUnsignedLong(m.group(1), 16) : -1;
    }
}
