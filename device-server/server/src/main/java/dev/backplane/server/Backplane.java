// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server;

import dev.backplane.server.command.CommandException;
import dev.backplane.server.command.ConfigCommand;
import dev.backplane.server.command.CountersCommand;
import dev.backplane.server.command.MacsCommand;
import dev.backplane.server.command.MemoryCommand;
import dev.backplane.server.command.NodesCommand;
import dev.backplane.server.command.PortCommand;
import dev.backplane.server.command.ProbeCommand;
import dev.backplane.server.command.QemuArgsCommand;
import dev.backplane.server.command.RingsCommand;
import dev.backplane.server.command.ServeCommand;
import dev.backplane.server.command.ThreadsCommand;
import dev.backplane.server.command.TopologyCommand;
import dev.backplane.server.command.TraceCommand;
import dev.backplane.server.command.UplinksCommand;
import dev.backplane.server.command.VersionProvider;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * The program's entry.
 *
 * <p>Exit codes: 0 done; 1 it did not work (no server, no such node, …); 2 the command line, the topology or the run
 * directory cannot be used. With 1 and 2 there is one line on standard error for each fault.
 */
@Command(
        name = "backplane",
        description = "A server interconnect in software: PCIe devices for QEMU guests over vfio-user.",
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class,
        synopsisSubcommandLabel = "COMMAND")
public final class Backplane {
    private static final List<String> COMMANDS = List.of(
            "serve",
            "qemu-args",
            "nodes",
            "uplinks",
            "counters",
            "port",
            "macs",
            "memory",
            "rings",
            "probe",
            "config",
            "threads",
            "trace",
            "topology");

    private Backplane() {}

    /** A command's class. One at a time: to read the annotations of all would take half of a server's start. */
    private static Class<?> command(String name) {
        return switch (name) {
            case "serve" -> ServeCommand.class;
            case "qemu-args" -> QemuArgsCommand.class;
            case "nodes" -> NodesCommand.class;
            case "uplinks" -> UplinksCommand.class;
            case "counters" -> CountersCommand.class;
            case "port" -> PortCommand.class;
            case "macs" -> MacsCommand.class;
            case "memory" -> MemoryCommand.class;
            case "rings" -> RingsCommand.class;
            case "probe" -> ProbeCommand.class;
            case "config" -> ConfigCommand.class;
            case "threads" -> ThreadsCommand.class;
            case "trace" -> TraceCommand.class;
            case "topology" -> TopologyCommand.class;
            default -> throw new IllegalArgumentException("no command " + name);
        };
    }

    private static CommandLine commandLine(String... args) {
        CommandLine all = new CommandLine(new Backplane());
        boolean one = args.length > 0 && COMMANDS.contains(args[0]);
        for (String name : one ? List.of(args[0]) : COMMANDS) {
            all.addSubcommand(command(name));
        }
        return all;
    }

    public static void main(String[] args) {
        if (args.length > 0 && args[0].equals("serve")) {
            HeadStart.begin();
        }
        System.exit(run(writer(System.out), writer(System.err), args));
    }

    private static PrintWriter writer(PrintStream stream) {
        return new PrintWriter(stream, true, StandardCharsets.UTF_8);
    }

    /** Runs one command line and returns its exit code. */
    public static int run(PrintWriter out, PrintWriter err, String... args) {
        return commandLine(args)
                .setOut(out)
                .setErr(err)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler((e, arguments) -> {
                    String name = e.getCommandLine().getCommandSpec().qualifiedName();
                    err.println(name + ": " + e.getMessage() + "; see '" + name + " --help'");
                    return CommandException.USAGE;
                })
                .setExecutionExceptionHandler((e, command, parsed) -> {
                    if (e instanceof CommandException failure) {
                        failure.getMessage().lines().forEach(line -> err.println("backplane: " + line));
                        return failure.exitCode();
                    }
                    err.println("backplane: internal fault, please report it:");
                    e.printStackTrace(err);
                    return CommandException.FAILED;
                })
                .execute(args);
    }
}
