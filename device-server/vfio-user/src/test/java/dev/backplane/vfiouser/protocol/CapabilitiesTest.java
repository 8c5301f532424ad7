// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CapabilitiesTest {
    private static Capabilities parse(String text) throws CapabilitiesException {
        return Capabilities.parse((text + '\0').getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void nothingSaidMeansTheDefaults() throws CapabilitiesException {
        assertEquals(Capabilities.DEFAULT, Capabilities.parse(new byte[0]));
        assertEquals(Capabilities.DEFAULT, Capabilities.parse(new byte[1]));
        assertEquals(Capabilities.DEFAULT, parse("{}"));
        assertEquals(Capabilities.DEFAULT, parse("{\"capabilities\":{}}"));
        assertEquals(Capabilities.DEFAULT, parse("{\"capabilities\":{\"fly\":[1,{}]},\"more\":null}"));
    }

    @Test
    void qemusTextIsUnderstood() throws CapabilitiesException {
        Capabilities c = parse("{\"capabilities\": {\"max_msg_fds\": 16, \"max_data_xfer_size\": 1048576, \"pgsizes\":"
                + " 4096, \"max_dma_maps\": 65535, \"migration\": {\"pgsize\": 4096, \"max_bitmap_size\": 268435456},"
                + " \"write_multiple\": true}}");
        assertEquals(new Capabilities(16, 1 << 20, 65535, 4096, 4096, false, -1, true), c);
    }

    @Test
    void whatIsWrittenIsReadBack() throws CapabilitiesException {
        Capabilities c = new Capabilities(16, 1 << 20, 65535, 4096, 4096, true, 0, true);
        assertEquals(c, Capabilities.parse(c.toBytes()));
        assertEquals(Capabilities.DEFAULT, Capabilities.parse(Capabilities.DEFAULT.toBytes()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{",
                "\"",
                "[]",
                "null",
                "1",
                "{}x",
                "{\"capabilities\": \"23\"}",
                "{\"capabilities\": null}",
                "{\"capabilities\":{\"max_msg_fds\":\"foo\"}}",
                "{\"capabilities\":{\"max_msg_fds\":-1}}",
                "{\"capabilities\":{\"max_msg_fds\":1025}}",
                "{\"capabilities\":{\"max_msg_fds\":1.5}}",
                "{\"capabilities\":{\"max_msg_fds\":null}}",
                "{\"capabilities\":{\"max_data_xfer_size\":99999999999999999999}}",
                "{\"capabilities\":{\"migration\":\"23\"}}",
                "{\"capabilities\":{\"migration\":{\"pgsize\":\"foo\"}}}",
                "{\"capabilities\":{\"migration\":{\"pgsize\":4095}}}",
                "{\"capabilities\":{\"twin_socket\":true}}",
                "{\"capabilities\":{\"twin_socket\":{\"supported\":1}}}",
                "{\"capabilities\":{\"write_multiple\":\"yes\"}}"
            })
    void wrongTextIsRefused(String text) {
        assertThrows(CapabilitiesException.class, () -> parse(text));
    }

    @Test
    void unendingDeepAndHugeTextsAreRefused() {
        assertThrows(CapabilitiesException.class, () -> Capabilities.parse("{}".getBytes(StandardCharsets.UTF_8)));
        assertThrows(CapabilitiesException.class, () -> parse("[".repeat(10_000)));
        assertThrows(CapabilitiesException.class, () -> parse("{\"a\":\"" + "x".repeat(1 << 20) + "\"}"));
    }
}
