// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.natives.UnixSocket;
import dev.backplane.vfiouser.protocol.Capabilities;
import dev.backplane.vfiouser.protocol.CapabilitiesException;
import dev.backplane.vfiouser.protocol.DeviceMessages;
import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.Limits;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** VERSION: agrees on version and capabilities; the first message of a connection, and only the first. */
final class VersionHandler implements CommandHandler {
    private static final int CAPABILITIES = DeviceMessages.VERSION.size();

    @Override
    public int handle(Session s) {
        MessageReader in = s.in();
        if (s.client() != null || in.fds() != 0 || in.bodyBytes() < CAPABILITIES) {
            return -Errno.EINVAL;
        }
        int major = in.u16(DeviceMessages.VERSION_MAJOR);
        int minor = in.u16(DeviceMessages.VERSION_MINOR);
        if (major != DeviceMessages.MAJOR) {
            s.log()
                    .refused("the client speaks version " + major + "." + minor + ", we speak " + DeviceMessages.MAJOR
                            + "." + DeviceMessages.MINOR);
            return -Errno.EINVAL;
        }
        byte[] text = capabilitiesText(in);
        Capabilities client;
        try {
            client = Capabilities.parse(text);
        } catch (CapabilitiesException e) {
            s.log().refused(e.getMessage());
            return -Errno.EINVAL;
        }
        if (s.device().migratable() != null
                && client.migrationPgsize() != 0
                && client.migrationPgsize() != Limits.PAGE) {
            s.log().refused("the client wants a dirty log of pages of " + client.migrationPgsize() + " bytes");
            return -Errno.EINVAL;
        }
        boolean twin = client.twinSocket() && client.maxMsgFds() > 0 && openTwin(s);
        Capabilities ours = new Capabilities(
                Limits.MAX_MSG_FDS,
                Limits.MAX_DATA_XFER_SIZE,
                GuestMemory.MAX_WINDOWS,
                Limits.PAGE,
                s.device().migratable() != null ? Limits.PAGE : 0,
                twin,
                twin ? 0 : -1,
                client.writeMultiple());
        s.dma().peer(minor, client);
        s.negotiated(client);
        s.log().connected(major, minor, new String(text, 0, Math.max(0, text.length - 1), StandardCharsets.UTF_8));

        byte[] reply = ours.toBytes();
        int bytes = CAPABILITIES + reply.length;
        MemorySegment out = s.out().begin(bytes);
        out.set(Wire.U16, Header.BYTES + DeviceMessages.VERSION_MAJOR, (short) DeviceMessages.MAJOR);
        out.set(Wire.U16, Header.BYTES + DeviceMessages.VERSION_MINOR, (short) Math.min(minor, DeviceMessages.MINOR));
        MemorySegment.copy(reply, 0, out, ValueLayout.JAVA_BYTE, Header.BYTES + (long) CAPABILITIES, reply.length);
        return bytes;
    }

    private static byte[] capabilitiesText(MessageReader in) {
        // One byte more than allowed is enough to be refused: a peer's claim never decides how much is taken.
        int n = Math.min(in.bodyBytes() - CAPABILITIES, Limits.MAX_CAPABILITIES + 1);
        byte[] text = new byte[n];
        MemorySegment.copy(in.memory(), ValueLayout.JAVA_BYTE, in.bodyStart() + (long) CAPABILITIES, text, 0, n);
        return text;
    }

    /** Makes the socket for our own commands; without one they go over the common socket. */
    private static boolean openTwin(Session s) {
        try {
            FileDescriptor[] pair = UnixSocket.pair();
            s.replyWith(pair[1].value());
            s.afterReply(pair[1]::close);
            s.dma().useTwin(pair[0]);
            return true;
        } catch (NativeException e) {
            s.log().twinFailed(e.getMessage());
            return false;
        }
    }
}
