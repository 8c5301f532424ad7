// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.MessageWriter;
import java.lang.foreign.MemorySegment;

/** Where a device's messages are traced to, if at all. Any thread may switch. */
final class TraceSwitch {
    private volatile MessageTrace trace;

    void set(MessageTrace to) {
        trace = to;
    }

    void received(MessageReader in) {
        MessageTrace t = trace;
        if (t != null) {
            t.message(true, in.memory(), in.messageStart(), Header.BYTES + in.bodyBytes(), in.fds());
        }
    }

    void sending(MessageWriter out, int id, int command, int flags, int error, int bodyBytes, int fds) {
        MessageTrace t = trace;
        if (t != null) {
            MemorySegment m = out.begin(bodyBytes);
            Header.write(m, id, command, Header.BYTES + bodyBytes, flags, error);
            t.message(false, m, 0, Header.BYTES + bodyBytes, fds);
        }
    }

    void connection(boolean open) {
        MessageTrace t = trace;
        if (t != null) {
            t.connection(open);
        }
    }
}
