// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.trace;

import dev.backplane.vfiouser.protocol.Command;
import dev.backplane.vfiouser.protocol.Header;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;

/**
 * One line for each message: time, socket, direction ({@code >} from the client, {@code <} from the server), what it is,
 * message id, and its fields by name.
 */
final class TextFormat implements TraceFormat {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss.SSSSSS", Locale.ROOT).withZone(ZoneId.systemDefault());

    private final List<String> sockets;

    /** A trace of the sockets of these names. */
    TextFormat(List<String> sockets) {
        this.sockets = List.copyOf(sockets);
    }

    @Override
    public byte[] head() {
        return ("# watching " + String.join(", ", sockets) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public byte[] message(TracedMessage m, long dropped) {
        StringBuilder line = new StringBuilder(160);
        if (dropped > 0) {
            start(line, m.nanos(), m.socket()).append("! ").append(dropped).append(" messages left out\n");
        }
        start(line, m.nanos(), m.socket()).append(m.fromClient() ? "> " : "< ").append(Command.name(m.command()));
        if (m.isReply()) {
            line.append(" reply");
        } else if ((m.flags() & Header.NO_REPLY) != 0) {
            line.append(" posted");
        }
        line.append(" id=").append(m.id());
        if ((m.flags() & Header.ERROR_FLAG) != 0) {
            line.append(" errno=").append(m.error());
        } else {
            MessageText.append(line, m);
        }
        if (m.fds() > 0) {
            line.append(" fds=").append(m.fds());
        }
        return line.append('\n').toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public byte[] connection(String socket, long nanos, boolean open) {
        return start(new StringBuilder(), nanos, socket)
                .append(open ? "* client connected\n" : "* client gone\n")
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    private static StringBuilder start(StringBuilder line, long nanos, String socket) {
        Instant time = Instant.ofEpochSecond(nanos / 1_000_000_000L, nanos % 1_000_000_000L);
        TIME.formatTo(time, line);
        return line.append(' ').append(socket).append(' ');
    }
}
