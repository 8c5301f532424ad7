// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The smallest steps by themselves, with JMH: time, and heap allocated, for each operation. */
final class MicroCase implements Case {
    private static final String ALLOCATED = "gc.alloc.rate.norm";

    @Override
    public String name() {
        return "micro";
    }

    @Override
    public String doc() {
        return "single operations (JMH): message decode, window lookup, copy, ring, switch lookup, allocator; their heap";
    }

    @Override
    public List<Measure> run(Context context) {
        Measure time = new Measure("operation", "ns", false).independent();
        Measure heap = new Measure("heap for an operation", "bytes", false).independent();
        Options options = new OptionsBuilder()
                .include("Benchmarks\\.")
                .mode(Mode.AverageTime)
                .timeUnit(java.util.concurrent.TimeUnit.NANOSECONDS)
                .forks(1)
                // Until its method handles are compiled a call into the kernel takes a hundred times as long, and
                // allocates.
                // With -Xbatch that is a matter of how many calls were made, not of when a compiler's thread gets a
                // processor, for which no time of warming up is long enough on a busy machine.
                .jvmArgs("--enable-native-access=ALL-UNNAMED", "-Xmx512m", "-Xbatch")
                .warmupIterations(5)
                .warmupTime(TimeValue.milliseconds(context.choose(500, 2000)))
                .measurementIterations(context.rounds())
                .measurementTime(TimeValue.milliseconds(context.choose(300, 1000)))
                .addProfiler(GCProfiler.class)
                .verbosity(VerboseMode.SILENT)
                .shouldFailOnError(true)
                .build();
        try {
            for (RunResult r : new Runner(options).run()) {
                collect(r, time, heap);
            }
        } catch (RunnerException e) {
            throw new IllegalStateException("JMH failed", e);
        }
        return List.of(time, heap);
    }

    private static void collect(RunResult run, Measure time, Measure heap) {
        String name = label(run);
        for (BenchmarkResult fork : run.getBenchmarkResults()) {
            for (IterationResult iteration : fork.getIterationResults()) {
                time.add(name, iteration.getPrimaryResult().getScore());
                Result<?> bytes = iteration.getSecondaryResults().get(ALLOCATED);
                if (bytes != null) {
                    heap.add(name, bytes.getScore());
                }
            }
        }
    }

    private static String label(RunResult run) {
        String full = run.getParams().getBenchmark();
        Collection<String> keys = run.getParams().getParamsKeys();
        Map<String, String> values = new TreeMap<>();
        keys.forEach(k -> values.put(k, run.getParams().getParam(k)));
        List<String> words = new ArrayList<>();
        words.add(full.substring(full.lastIndexOf('.') + 1));
        values.forEach((k, v) -> words.add(v + " " + k));
        return String.join(", ", words);
    }
}
