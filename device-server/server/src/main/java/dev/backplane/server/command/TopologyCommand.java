// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import dev.backplane.server.topology.Topology;
import dev.backplane.server.topology.TopologyException;
import dev.backplane.server.topology.TopologyFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code backplane topology}: what a topology file may say, or whether one is good. */
@Command(
        name = "topology",
        description = "Check a topology file and show what it amounts to; without a file, list the keys.",
        mixinStandardHelpOptions = true)
public final class TopologyCommand implements Callable<Integer> {
    @Parameters(paramLabel = "FILE", arity = "0..1", description = "The file to check.")
    private Path file;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws CommandException {
        PrintWriter out = spec.commandLine().getOut();
        if (file == null) {
            TopologyFile.documentation().forEach((section, keys) -> {
                Table table = new Table(section, "");
                keys.forEach(table::row);
                table.print(out);
                out.println();
            });
            return 0;
        }
        try {
            Topology topology = TopologyFile.read(file);
            topology.summary(Integer.MAX_VALUE).forEach(out::println);
            return 0;
        } catch (TopologyException e) {
            throw new CommandException(CommandException.USAGE, e.getMessage(), e);
        }
    }
}
