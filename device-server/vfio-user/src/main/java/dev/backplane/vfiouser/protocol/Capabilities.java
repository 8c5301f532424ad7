// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;

/**
 * What one side of a connection can take, as it says in VERSION (specification, "Capabilities"). Immutable.
 *
 * @param maxMsgFds most descriptors with one message
 * @param maxDataXferSize most bytes of data in one message
 * @param maxDmaMaps most DMA windows at a time
 * @param pgsizes page sizes of DMA windows, or'ed
 * @param migrationPgsize page size of the dirty log, or 0 when the device cannot migrate
 * @param twinSocket whether commands of the server go over a socket of their own
 * @param twinFdIndex in the server's reply: which of the descriptors that came along is that socket; else -1
 * @param writeMultiple whether REGION_WRITE_MULTI may be sent
 */
public record Capabilities(
        int maxMsgFds,
        long maxDataXferSize,
        long maxDmaMaps,
        long pgsizes,
        long migrationPgsize,
        boolean twinSocket,
        int twinFdIndex,
        boolean writeMultiple) {
    /** What a side that says nothing is taken to mean. */
    public static final Capabilities DEFAULT = new Capabilities(
            Limits.DEFAULT_MSG_FDS,
            Limits.MAX_DATA_XFER_SIZE,
            Limits.DEFAULT_DMA_MAPS,
            Limits.PAGE,
            0,
            false,
            -1,
            false);

    private static final ObjectMapper JSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    /**
     * Reads the text that follows the version numbers. Unknown keys are ignored.
     *
     * @param data the payload after the version; empty when there are no capabilities
     * @throws CapabilitiesException when it is longer than {@link Limits#MAX_CAPABILITIES}, does not end with a zero
     *     byte, is no JSON object, or has a value of a wrong type or out of range
     */
    public static Capabilities parse(byte[] data) throws CapabilitiesException {
        if (data.length == 0) {
            return DEFAULT;
        }
        if (data.length > Limits.MAX_CAPABILITIES) {
            throw new CapabilitiesException("capabilities of " + data.length + " bytes");
        }
        if (data[data.length - 1] != 0) {
            throw new CapabilitiesException("capabilities do not end with a zero byte");
        }
        int end = 0;
        while (data[end] != 0) {
            end++;
        }
        if (end == 0) {
            return DEFAULT;
        }
        JsonNode top;
        try {
            top = JSON.readTree(new String(data, 0, end, StandardCharsets.UTF_8));
        } catch (JsonProcessingException e) {
            throw new CapabilitiesException("capabilities are no JSON", e);
        }
        JsonNode c = object(top, "version data");
        c = c.has("capabilities") ? object(c.get("capabilities"), "capabilities") : JSON.createObjectNode();
        long fds = integer(c, "max_msg_fds", DEFAULT.maxMsgFds, 0, Limits.HIGHEST_MSG_FDS);
        long xfer = integer(c, "max_data_xfer_size", DEFAULT.maxDataXferSize, 0, Long.MAX_VALUE);
        long maps = integer(c, "max_dma_maps", DEFAULT.maxDmaMaps, 0, Long.MAX_VALUE);
        long pgsizes = integer(c, "pgsizes", DEFAULT.pgsizes, 0, Long.MAX_VALUE);
        long pgsize = 0;
        if (c.has("migration")) {
            pgsize = integer(object(c.get("migration"), "migration"), "pgsize", Limits.PAGE, 1, Long.MAX_VALUE);
            if (Long.bitCount(pgsize) != 1) {
                throw new CapabilitiesException("migration.pgsize is " + pgsize + ", no power of two");
            }
        }
        boolean twin = false;
        long index = -1;
        if (c.has("twin_socket")) {
            JsonNode t = object(c.get("twin_socket"), "twin_socket");
            twin = bool(t, "supported");
            index = integer(t, "fd_index", -1, 0, Limits.HIGHEST_MSG_FDS);
        }
        return new Capabilities((int) fds, xfer, maps, pgsizes, pgsize, twin, (int) index, bool(c, "write_multiple"));
    }

    /** The text for VERSION, with its terminating zero byte. */
    public byte[] toBytes() {
        ObjectNode top = JSON.createObjectNode();
        ObjectNode c = top.putObject("capabilities");
        c.put("max_msg_fds", maxMsgFds);
        c.put("max_data_xfer_size", maxDataXferSize);
        c.put("max_dma_maps", maxDmaMaps);
        c.put("pgsizes", pgsizes);
        if (migrationPgsize != 0) {
            c.putObject("migration").put("pgsize", migrationPgsize);
        }
        if (twinSocket) {
            ObjectNode t = c.putObject("twin_socket").put("supported", true);
            if (twinFdIndex >= 0) {
                t.put("fd_index", twinFdIndex);
            }
        }
        if (writeMultiple) {
            c.put("write_multiple", true);
        }
        byte[] text = top.toString().getBytes(StandardCharsets.UTF_8);
        byte[] data = new byte[text.length + 1];
        System.arraycopy(text, 0, data, 0, text.length);
        return data;
    }

    private static JsonNode object(JsonNode node, String name) throws CapabilitiesException {
        if (!node.isObject()) {
            throw new CapabilitiesException(name + " is no object");
        }
        return node;
    }

    private static long integer(JsonNode in, String name, long absent, long min, long max)
            throws CapabilitiesException {
        JsonNode n = in.get(name);
        if (n == null) {
            return absent;
        }
        if (!n.isIntegralNumber() || !n.canConvertToLong() || n.longValue() < min || n.longValue() > max) {
            throw new CapabilitiesException(name + " is out of range or no integer");
        }
        return n.longValue();
    }

    private static boolean bool(JsonNode in, String name) throws CapabilitiesException {
        JsonNode n = in.get(name);
        if (n != null && !n.isBoolean()) {
            throw new CapabilitiesException(name + " is no boolean");
        }
        return n != null && n.booleanValue();
    }
}
