// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import dev.backplane.testkit.Guest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/** A guest's memory as a file that is held open from outside, so that it outlives QEMU. */
final class GuestMemory implements AutoCloseable {
    private static final int CHUNK = 1 << 20;

    private final FileChannel file;

    private GuestMemory(FileChannel file) {
        this.file = file;
    }

    /** Opens the memory file of a QEMU that runs on this host. */
    static GuestMemory open(Guest guest) throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + guest.pid() + "/fd"))) {
            List<Path> files = descriptors.filter(GuestMemory::isMemory).toList();
            if (files.size() != 1) {
                throw new IOException("not one memory file: " + files);
            }
            return new GuestMemory(FileChannel.open(files.getFirst()));
        }
    }

    private static boolean isMemory(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().contains("/memfd:memory-backend");
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    long bytes() throws IOException {
        return file.size();
    }

    /** SHA-256 of all of it. */
    String digest() throws IOException {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK);
            for (long at = 0; file.read(chunk.clear(), at) > 0; at += chunk.limit()) {
                digest.update(chunk.flip());
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
