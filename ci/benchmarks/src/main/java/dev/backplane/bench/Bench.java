// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The program behind {@code ci/bench}. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Measures Backplane beside what a user would take instead, in turn, on this machine.")
final class Bench implements Callable<Integer> {
    private static final List<Case> CASES = List.of(
            new StartCase(),
            new IdleCase(),
            new RegisterCase(),
            new MicroCase(),
            new FabricCase(),
            new ScaleCase(),
            new TcpCase(),
            new PingCase(),
            new UdpCase(),
            new PutCase(),
            new WhereCase(),
            new PollCase());

    @Option(names = "--quick", description = "fewer rounds and shorter runs")
    private boolean quick;

    @Option(names = "--json", paramLabel = "FILE", description = "write the results as JSON")
    private Path json;

    @Option(names = "--html", paramLabel = "FILE", description = "write the results as a page with plots")
    private Path html;

    @Option(
            names = "--libvfio-user-server",
            paramLabel = "PROGRAM",
            description = "libvfio-user's samples/server, as the peer of the register case")
    private Path libvfioUserServer;

    @Option(
            names = "--keep-traces",
            paramLabel = "DIRECTORY",
            description = "keep the kernel's traces that the where case follows round trips through")
    private Path traces;

    @Option(names = "--no-peers", description = "Backplane alone, without what it is compared with")
    private boolean noPeers;

    @Option(names = "--ovs-dpdk", description = "compare with Open vSwitch with DPDK, too; it takes a core")
    private boolean ovsDpdk;

    @Option(names = "--list", description = "list the cases and end")
    private boolean list;

    @Parameters(paramLabel = "NAME", description = "cases to run; all when none is named")
    private List<String> names = new ArrayList<>();

    private Bench() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new Bench()).execute(args));
    }

    @Override
    public Integer call() throws IOException {
        if (list) {
            CASES.forEach(c -> System.out.printf("%-10s %s%n", c.name(), c.doc()));
            return 0;
        }
        for (String name : names) {
            if (CASES.stream().noneMatch(c -> c.name().equals(name))) {
                System.err.println("bench: no case " + name + "; --list shows them");
                return 2;
            }
        }
        Map<Case, List<Measure>> results = new LinkedHashMap<>();
        Map<String, String> missing;
        try (Context context = new Context(quick, !noPeers, ovsDpdk, libvfioUserServer, traces)) {
            for (Case c : CASES) {
                if (names.isEmpty() || names.contains(c.name())) {
                    context.say(c.name() + ": " + c.doc());
                    run(c, context, results);
                }
            }
            missing = context.missing();
        }
        Machine machine = Machine.here();
        System.out.print(TextReport.print(machine, results, missing));
        if (json != null) {
            Files.writeString(json, JsonReport.print(machine, results, missing));
        }
        if (html != null) {
            Files.writeString(html, HtmlReport.print(machine, results, missing));
        }
        return 0;
    }

    /** A case that fails costs only itself; what was measured before is not lost. */
    private static void run(Case c, Context context, Map<Case, List<Measure>> results) {
        try {
            results.put(c, c.run(context));
        } catch (RuntimeException e) {
            String reason = String.valueOf(e.getMessage());
            context.say(c.name() + " fails: " + reason);
            context.missing(
                    "case " + c.name(),
                    "it failed: " + reason.lines().findFirst().orElse(""));
            context.forgetGuests();
        }
    }
}
