// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.vfiouser.client.ClientMemory;
import dev.backplane.vfiouser.client.VfioUserClient;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** A device behind a socket, as QEMU sees it; memory is a memfd that the server maps. */
final class SocketAccess implements SimulatedNode.Access {
    private final VfioUserClient client;
    private ClientMemory.Block block;

    SocketAccess(Path socket) throws IOException {
        client = VfioUserClient.connect(socket);
        // Memory space and bus master enable (PCIe 6.2, 7.5.1.1.3).
        client.write(VfioUserClient.CONFIG, 4, 2, 6);
    }

    @Override
    public MemorySegment memory(long iova, long bytes) throws IOException {
        block = ClientMemory.allocate(bytes);
        client.memory().map(iova, block);
        return block.memory();
    }

    @Override
    public int read(long offset) throws IOException {
        return client.readInt(0, offset);
    }

    @Override
    public void write(long offset, int width, long value) throws IOException {
        client.write(0, offset, width, value);
    }

    @Override
    public void ring(long offset) throws IOException {
        client.post(0, offset, 4, 1);
    }

    @Override
    public void close() {
        client.close();
        if (block != null) {
            block.close();
        }
    }
}
