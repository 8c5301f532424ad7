// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Captures, read back block by block, and by tshark with our dissector where it is installed. */
class PcapngFormatTest {
    private static final PcapngFormat FORMAT = new PcapngFormat(List.of("node1.agg", "node1.imm"));

    @TempDir
    private Path temp;

    private static byte[] message(int id, int command, int flags, int errno, byte[] body) {
        return ByteBuffer.allocate(16 + body.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort((short) id)
                .putShort((short) command)
                .putInt(16 + body.length)
                .putInt(flags)
                .putInt(errno)
                .put(body)
                .array();
    }

    private static ByteBuffer body(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void everyBlockHasItsLengthOnBothEnds() {
        for (int size = 0; size < 9; size++) {
            byte[] head = FORMAT.head();
            byte[] packet = FORMAT.message(
                    new TracedMessage("node1.imm", 1_000_000_007L, false, 3, new byte[16 + size], 5000), size);
            ByteBuffer all = ByteBuffer.allocate(head.length + packet.length).order(ByteOrder.LITTLE_ENDIAN);
            all.put(head).put(packet).flip();
            int blocks = 0;
            while (all.hasRemaining()) {
                int start = all.position();
                int length = all.getInt(start + 4);
                assertEquals(0, length % 4);
                assertEquals(length, all.getInt(start + length - 4));
                all.position(start + length);
                blocks++;
            }
            assertEquals(4, blocks);
        }
    }

    @Test
    void aCutMessageKeepsItsLength() {
        byte[] kept = new byte[TracedMessage.MAX_BYTES];
        ByteBuffer packet = ByteBuffer.wrap(
                        FORMAT.message(new TracedMessage("node1.agg", 0, true, 0, kept, 100_000), 0))
                .order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(PcapngFormat.PSEUDO_HEADER + TracedMessage.MAX_BYTES, packet.getInt(20));
        assertEquals(PcapngFormat.PSEUDO_HEADER + 100_000, packet.getInt(24));
    }

    @Test
    void tsharkReadsIt() throws Exception {
        assumeTrue(
                Files.isExecutable(Path.of("/usr/bin/tshark")),
                "tshark is not installed: the Wireshark dissector is not tested");
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        file.write(FORMAT.head());
        String json = "{\"capabilities\":{\"max_msg_fds\":16}}\0";
        byte[] version = body(4 + json.length())
                .putShort((short) 0)
                .putShort((short) 1)
                .put(json.getBytes(StandardCharsets.UTF_8))
                .array();
        add(file, 1, false, 0, message(1, 1, 0, 0, version));
        byte[] map = body(32).putInt(32)
                .putInt(3)
                .putLong(0x1000)
                .putLong(0x8000_0000L)
                .putLong(0x20_0000)
                .array();
        add(file, 2, false, 1, message(2, 2, 0, 0, map));
        byte[] read = body(16).putLong(0x10).putInt(0).putInt(4).array();
        add(file, 3, false, 0, message(3, 9, 0, 0, read));
        byte[] reply =
                body(20).putLong(0x10).putInt(0).putInt(4).putInt(0x47474142).array();
        add(file, 4, true, 0, message(3, 9, 1, 0, reply));
        byte[] write =
                body(18).putLong(4).putInt(7).putInt(2).putShort((short) 6).array();
        add(file, 5, false, 0, message(4, 10, 0x10, 0, write));
        add(file, 6, true, 0, message(5, 99, 0x21, 22, new byte[0]));
        byte[] irqs =
                body(20).putInt(20).putInt(0x24).putInt(2).putInt(4).putInt(5).array();
        add(file, 7, false, 5, message(6, 8, 0, 0, irqs));
        // Every command, empty and with nonsense: the dissector must not fail on any.
        for (int command = 0; command < 20; command++) {
            for (int size = 0; size < 40; size += 3) {
                add(file, 8, size % 2 == 0, 0, message(7, command, size & 1, 0, new byte[size]));
            }
        }
        Path capture = temp.resolve("test.pcapng");
        Files.write(capture, file.toByteArray());

        List<String> lines = tshark(capture);
        assertEquals("client\tserver\tVERSION id=1 0.1 {\"capabilities\":{\"max_msg_fds\":16}}", lines.get(0));
        assertEquals("client\tserver\tDMA_MAP id=2 address=0x80000000 size=0x200000 offset=0x1000 fds=1", lines.get(1));
        assertEquals("client\tserver\tREGION_READ id=3 BAR0+0x10 count=4", lines.get(2));
        assertEquals("server\tclient\tREGION_READ reply id=3 BAR0+0x10 count=4 value=0x47474142", lines.get(3));
        assertEquals("client\tserver\tREGION_WRITE posted id=4 config+0x4 count=2 value=0x6", lines.get(4));
        assertEquals("server\tclient\tcommand 99 reply id=5 errno=22", lines.get(5));
        assertEquals("client\tserver\tDEVICE_SET_IRQS id=6 MSI-X flags=0x24 start=4 count=5 fds=5", lines.get(6));
        assertEquals(7 + 20 * 14, lines.size());
        lines.forEach(line -> assertTrue(!line.contains("Lua Error") && !line.contains("Malformed"), line));
    }

    private static void add(ByteArrayOutputStream file, int second, boolean fromServer, int fds, byte[] message) {
        file.writeBytes(FORMAT.message(
                new TracedMessage("node1.agg", second * 1_000_000_000L, !fromServer, fds, message, message.length), 0));
    }

    private List<String> tshark(Path capture) throws Exception {
        Path out = temp.resolve("out");
        Process p = new ProcessBuilder(
                        "tshark",
                        "-X",
                        "lua_script:"
                                + Path.of("src/main/wireshark/vfio-user.lua").toAbsolutePath(),
                        "-r",
                        capture.toString(),
                        "-T",
                        "fields",
                        "-e",
                        "_ws.col.Source",
                        "-e",
                        "_ws.col.Destination",
                        "-e",
                        "_ws.col.Info")
                .redirectErrorStream(false)
                .redirectError(temp.resolve("err").toFile())
                .redirectOutput(out.toFile())
                .start();
        assertTrue(p.waitFor(50, TimeUnit.SECONDS), "tshark did not end");
        String errors = Files.readString(temp.resolve("err"));
        assertEquals(0, p.exitValue(), errors);
        assertTrue(!errors.contains("Lua: Error"), errors);
        return Files.readAllLines(out);
    }
}
