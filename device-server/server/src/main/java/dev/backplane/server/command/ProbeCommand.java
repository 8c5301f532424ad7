// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import dev.backplane.vfiouser.client.Probe;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code backplane probe}: a device without a virtual machine. */
@Command(
        name = "probe",
        description = {
            "Show a vfio-user device: identity, BARs, capabilities, interrupts, configuration space.",
            "The device must have no client. 'lspci -vvv -F FILE' reads what is printed."
        },
        mixinStandardHelpOptions = true)
public final class ProbeCommand implements Callable<Integer> {
    @Parameters(paramLabel = "SOCKET", description = "The device's socket.")
    private Path socket;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws CommandException {
        if (!Files.exists(socket)) {
            throw new CommandException(CommandException.FAILED, "there is no socket " + socket, null);
        }
        PrintWriter out = spec.commandLine().getOut();
        try {
            out.print(Probe.describe(socket));
            out.flush();
            return 0;
        } catch (IOException e) {
            throw new CommandException(
                    CommandException.FAILED,
                    "cannot probe " + socket + " (" + e.getMessage() + "): is a device server listening, and has the"
                            + " device no other client?",
                    e);
        }
    }
}
