// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;

/**
 * What the server answered to VERSION, with the specification's defaults where it says nothing.
 *
 * @param major protocol version, that which was proposed
 * @param minor protocol version, at most that which was proposed
 * @param maxFds most descriptors that the server takes in one message
 * @param maxTransferBytes most data in one message
 * @param maxWindows most windows at a time
 * @param writeMultiple whether REGION_WRITE_MULTI may be sent
 * @param twinFd index of the twin socket's descriptor in the reply, or -1
 */
public record ServerCapabilities(
        int major, int minor, int maxFds, long maxTransferBytes, int maxWindows, boolean writeMultiple, int twinFd) {
    /** What is proposed: the major version of all servers, and the minor that brought nothing a client must know. */
    static final int MAJOR = 0;

    static final int MINOR = 1;

    private static final ObjectMapper JSON = new ObjectMapper();

    /** The client's proposal as JSON, without the terminating zero. */
    static byte[] proposal(ClientOptions options) {
        ObjectNode capabilities = JSON.createObjectNode();
        capabilities.put("max_msg_fds", options.maxFds());
        capabilities.put("max_data_xfer_size", options.maxTransferBytes());
        capabilities.put("pgsizes", 4096);
        capabilities.put("write_multiple", options.writeMultiple());
        if (options.twinSocket()) {
            capabilities.putObject("twin_socket").put("supported", true);
        }
        ObjectNode all = JSON.createObjectNode();
        all.set("capabilities", capabilities);
        try {
            return JSON.writeValueAsBytes(all);
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }

    /** Reads the server's answer. */
    static ServerCapabilities parse(int major, int minor, byte[] json) throws IOException {
        if (major != MAJOR || minor > MINOR) {
            throw new IOException("the server speaks version " + major + "." + minor + " of the protocol");
        }
        JsonNode c =
                json.length == 0 ? JSON.createObjectNode() : JSON.readTree(json).path("capabilities");
        JsonNode twin = c.path("twin_socket");
        return new ServerCapabilities(
                major,
                minor,
                c.path("max_msg_fds").asInt(1),
                c.path("max_data_xfer_size").asLong(1 << 20),
                c.path("max_dma_maps").asInt(65_535),
                c.path("write_multiple").asBoolean(false),
                twin.path("supported").asBoolean(false) ? twin.path("fd_index").asInt(-1) : -1);
    }
}
