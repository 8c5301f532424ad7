// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.devices.agg.TransmitCompletion;
import dev.backplane.server.api.ApiClient;
import dev.backplane.server.guest.RemoteNic;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many nodes on one server, with the heap that is promised to be enough. */
@Timeout(180)
class ScaleTest {
    private static final int NODES = 64;

    @TempDir
    private Path temp;

    @Test
    void sixtyFourNodesFitAHeapOf64MiB() throws Exception {
        String[] arguments = {
            "serve",
            "--nodes",
            Integer.toString(NODES),
            "--run-dir",
            temp.resolve("run").toString()
        };
        List<RemoteNic> nics = new ArrayList<>();
        try (ServerProcess server = ServerProcess.start(temp.resolve("log"), "-Xmx64m", arguments)) {
            JsonNode ready = server.ready();
            for (JsonNode node : ready.path("nodes")) {
                nics.add(new RemoteNic(Path.of(node.path("agg").asText())));
            }
            byte[] frame = new byte[60];
            Arrays.fill(frame, 0, 6, (byte) 0xff); // to all
            frame[6] = 2; // from an address of its own
            frame[12] = (byte) 0x88;
            frame[13] = (byte) 0xb5;
            assertEquals(TransmitCompletion.OK, nics.getFirst().send(frame));
            for (RemoteNic nic : nics.subList(1, NODES)) {
                assertArrayEquals(frame, nic.receive());
            }
            ApiClient api = new ApiClient(Path.of(ready.path("api").asText()));
            assertEquals(NODES, api.get("/nodes").path("nodes").size());
            // The last reader has the data; that the place is free again it announces right after.
            RemoteNic.awaitTrue(
                    "the frame's place to be free",
                    () -> api.get("/memory").path("allocated_bytes").asLong() == 0);
            server.signal("TERM");
            assertEquals(0, server.awaitExit(), server.log());
            assertEquals(
                    0, server.log().lines().filter(l -> l.contains("ERROR")).count(), server.log());
        } finally {
            nics.forEach(RemoteNic::close);
        }
    }
}
