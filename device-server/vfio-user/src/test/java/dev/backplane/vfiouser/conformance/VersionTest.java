// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** VERSION: what is agreed on, and every way to ask for it wrongly (field cases: libvfio-user#96, #368, #781). */
final class VersionTest extends ConformanceTest {
    @Test
    void theReplyNamesTheVersionAndItsCapabilities() throws IOException {
        Received r = connect().ok(Message.version("{\"capabilities\":{\"max_msg_fds\":16,\"write_multiple\":true}}"));
        assertEquals(0, r.u16(0), "major: the one proposed");
        assertTrue(r.u16(2) <= 1, "minor: at most the one proposed");
        JsonNode caps = capabilities(r);
        assertTrue(caps.path("max_msg_fds").asInt() >= 1, "max_msg_fds");
        assertTrue(caps.path("max_data_xfer_size").asLong() >= 4096, "max_data_xfer_size");
        assertEquals(65_535, caps.path("max_dma_maps").asInt(65_535), "max_dma_maps");
        assertTrue((caps.path("pgsizes").asLong(4096) & 4096) != 0, "pages of 4 KiB");
        assertTrue(caps.path("twin_socket").path("supported").isMissingNode(), "twin socket, which was not asked for");
        assertEquals(0, r.fds().length);
    }

    @Test
    void withoutJsonTheDefaultsHold() {
        RawPeer p = connect();
        Received r = p.ok(Message.command(Wire.VERSION).u16(0).u16(0));
        assertEquals(0, r.u16(2), "minor 0 was proposed");
        p.nothingPending();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "{\"capabilities\":{}}",
                "  {\"capabilities\": {\"max_msg_fds\": 1} }  ",
                "{\"capabilities\":{\"max_msg_fds\":8,\"max_data_xfer_size\":4096}}",
                "{\"capabilities\":{\"no_such_key\":[1,{\"a\":null}],\"max_msg_fds\":8},\"other\":7}",
                "{\"capabilities\":{\"migration\":{\"pgsize\":4096}}}",
                "{\"capabilities\":{\"twin_socket\":{\"supported\":false}}}",
                "{\"capabilities\":{\"twin_socket\":{}}}",
                "{\"capabilities\":{\"pgsizes\":4096,\"max_dma_maps\":65535,\"write_multiple\":false}}",
                "{\"name\":\"caf\u00e9 \ud83d\ude80\"}"
            })
    void acceptsWhatTheSpecificationAllows(String json) {
        RawPeer p = connect();
        p.ok(Message.version(json));
        p.nothingPending();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{",
                "\"",
                "}",
                "[]",
                "7",
                "{\"capabilities\":\"23\"}",
                "{\"capabilities\":[]}",
                "{\"capabilities\":{\"max_msg_fds\":\"foo\"}}",
                "{\"capabilities\":{\"max_msg_fds\":-1}}",
                "{\"capabilities\":{\"max_msg_fds\":1.5}}",
                "{\"capabilities\":{\"max_msg_fds\":null}}",
                "{\"capabilities\":{\"max_msg_fds\":99999999999999999999}}",
                "{\"capabilities\":{\"max_data_xfer_size\":\"foo\"}}",
                "{\"capabilities\":{\"max_data_xfer_size\":-1}}",
                "{\"capabilities\":{\"max_data_xfer_size\":true}}",
                "{\"capabilities\":{\"migration\":\"23\"}}",
                "{\"capabilities\":{\"migration\":{\"pgsize\":\"foo\"}}}",
                "{\"capabilities\":{\"migration\":{\"pgsize\":4095}}}",
                "{\"capabilities\":{\"twin_socket\":true}}",
                "{\"capabilities\":{\"twin_socket\":{\"supported\":\"yes\"}}}",
                "{\"capabilities\":{}} trailing",
                "{\"capabilities\":{\"max_msg_fds\":8,}}"
            })
    void refusesBadCapabilities(String json) {
        refused(Message.version(json));
    }

    @Test
    void refusesPagesOfAnotherSizeForTheDirtyLog() {
        assumeTrue(system.migratable(), "the device cannot migrate");
        refused(Message.version("{\"capabilities\":{\"migration\":{\"pgsize\":8192}}}"));
    }

    @Test
    void refusesAMissingNul() {
        refused(Message.command(Wire.VERSION).u16(0).u16(1).bytes("{}".getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void bytesThatAreNotUtf8AreAnswered() {
        RawPeer p = connect();
        Received r = p.call(Message.command(Wire.VERSION)
                .u16(0)
                .u16(1)
                .bytes("{\"a\":\"".getBytes(StandardCharsets.UTF_8))
                .u8(0xff)
                .u8(0xc0)
                .bytes("\"}".getBytes(StandardCharsets.UTF_8))
                .u8(0));
        assertTrue(r.flags() == Wire.REPLY || r.error() == Wire.EINVAL);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void refusesAShortPayload(int bytes) {
        refused(Message.command(Wire.VERSION).bytes(new byte[bytes]));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 999, 0xffff})
    void refusesAnotherMajor(int major) {
        refused(Message.command(Wire.VERSION).u16(major).u16(0).u8('{').u8('}').u8(0));
    }

    @Test
    void answersItsOwnMinorToAHigherOne() {
        Received r = connect().ok(Message.command(Wire.VERSION).u16(0).u16(0xffff));
        assertTrue(r.u16(2) < 0xffff, "minor " + r.u16(2));
    }

    @Test
    void refusesDescriptors() {
        int fd = eventfd();
        int before = Fds.count();
        RawPeer p = connect();
        p.fails(Wire.EINVAL, Message.version("{}"), fd);
        assertEquals(0, p.readToEnd().length, "bytes after the refusal");
        p.close();
        assertEquals(before, Fds.awaitCount(before), "open descriptors");
    }

    @Test
    void refusesAMegabyteOfJson() {
        char[] filler = new char[(1 << 20) - 200];
        Arrays.fill(filler, 'x');
        refused(Message.version("{\"capabilities\":{\"a\":\"" + new String(filler) + "\"}}"));
    }

    @Test
    void refusesDeepJson() {
        refused(Message.version("[".repeat(2000)));
    }

    @ParameterizedTest
    @ValueSource(ints = {Wire.GET_INFO, Wire.REGION_READ, Wire.RESET, Wire.DMA_MAP, 0, 999})
    void refusesAnyOtherFirstCommand(int command) {
        refused(Message.command(command).bytes(new byte[32]));
    }

    @Test
    void aSecondVersionIsRefusedAndTheConnectionGoesOn() {
        RawPeer p = peer();
        p.fails(Wire.EINVAL, Message.version("{}"));
        p.nothingPending();
    }

    @Test
    void aTwinSocketComesWhenAskedFor() throws IOException {
        RawPeer p = connect();
        Received r =
                p.ok(Message.version("{\"capabilities\":{\"max_msg_fds\":8,\"twin_socket\":{\"supported\":true}}}"));
        JsonNode twin = capabilities(r).path("twin_socket");
        if (twin.path("supported").asBoolean(false)) {
            assertEquals(1, r.fds().length, "one descriptor: the client's end");
            assertEquals(0, twin.path("fd_index").asInt(-1));
        } else {
            assertEquals(0, r.fds().length);
        }
        p.nothingPending();
    }

    @Test
    void noTwinSocketForAClientThatTakesNoDescriptors() {
        RawPeer p = connect();
        Received r =
                p.call(Message.version("{\"capabilities\":{\"max_msg_fds\":0,\"twin_socket\":{\"supported\":true}}}"));
        assertEquals(0, r.fds().length);
    }

    @Test
    void eachConnectionNegotiatesAfresh() {
        for (int i = 0; i < 3; i++) {
            RawPeer p = peer();
            p.nothingPending();
            p.close();
        }
    }

    /** The command is answered with EINVAL, the connection closed, and the next client served. */
    private void refused(Message message) {
        RawPeer p = connect();
        p.send(message);
        p.answerFails(Wire.EINVAL, message);
        assertArrayEquals(new byte[0], p.readToEnd(), "bytes after the refusal");
        assertFalse(p.transcript().isEmpty());
        p.close();
        peer().nothingPending();
    }

    private static JsonNode capabilities(Received r) throws IOException {
        byte[] payload = r.payload();
        assertEquals(0, payload[payload.length - 1], "JSON ends with NUL");
        JsonNode json = new ObjectMapper().readTree(new String(payload, 4, payload.length - 5, StandardCharsets.UTF_8));
        return json.path("capabilities");
    }
}
