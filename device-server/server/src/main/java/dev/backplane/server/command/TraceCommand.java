// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

import dev.backplane.server.api.ApiClient;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code backplane trace}: the vfio-user messages of a node as they come. */
@Command(
        name = "trace",
        description = {
            "Show the vfio-user messages of a node until interrupted.",
            "With --pcapng they are written for Wireshark, whose dissector is vfio-user.lua (see the README)."
        },
        mixinStandardHelpOptions = true)
public final class TraceCommand implements Callable<Integer> {
    /** Whose messages. */
    enum Device {
        AGG,
        IMM
    }

    @Mixin
    private RunDirOption runDir;

    @Parameters(paramLabel = "NODE", description = "Name of the node.")
    private String node;

    @Option(names = "--device", paramLabel = "agg|imm", description = "Only the messages of one device.")
    private Device device;

    @Option(names = "--pcapng", paramLabel = "FILE", description = "Write a capture; - for standard output.")
    private Path file;

    @Override
    public Integer call() throws CommandException {
        String path = "/nodes/" + node + "/trace?format=" + (file == null ? "lines" : "pcapng")
                + (device == null ? "" : "&device=" + device.name().toLowerCase(Locale.ROOT));
        try (OutputStream out = open()) {
            new ApiClient(runDir.apiSocket()).stream(path, out);
            return 0;
        } catch (IOException e) {
            throw new CommandException(CommandException.FAILED, e.getMessage(), e);
        }
    }

    private OutputStream open() throws CommandException {
        if (file == null || file.toString().equals("-")) {
            return new StandardOutput(System.out);
        }
        try {
            return Files.newOutputStream(file);
        } catch (IOException e) {
            throw new CommandException(CommandException.USAGE, "cannot write " + file + ": " + e, e);
        }
    }

    /** Standard output, of which the end is not ours to close; a reader that goes ends the trace. */
    private static final class StandardOutput extends FilterOutputStream {
        private final PrintStream stream;

        StandardOutput(PrintStream stream) {
            super(stream);
            this.stream = stream;
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            stream.write(bytes, offset, length);
        }

        @Override
        public void flush() throws IOException {
            if (stream.checkError()) {
                throw new IOException("standard output is closed");
            }
        }

        @Override
        public void close() {
            stream.flush();
        }
    }
}
