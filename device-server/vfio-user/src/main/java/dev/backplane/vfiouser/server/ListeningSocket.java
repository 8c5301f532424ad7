// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.natives.UnixSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;

/**
 * A listening Unix socket at a path: for its owner only, instead of one that a dead server has left behind, but never
 * instead of a live one.
 */
final class ListeningSocket implements AutoCloseable {
    private static final int BACKLOG = 4;

    private final Path path;
    private final FileDescriptor fd;
    private final Object key;

    private ListeningSocket(Path path, FileDescriptor fd, Object key) {
        this.path = path;
        this.fd = fd;
        this.key = key;
    }

    static ListeningSocket open(Path path) throws ListenException {
        int bytes = UnixSocket.pathBytes(path);
        if (bytes > UnixSocket.MAX_PATH_BYTES) {
            throw new ListenException("socket path " + path + " has " + bytes + " bytes, and a Unix socket's may have "
                    + UnixSocket.MAX_PATH_BYTES + ": choose a directory with a shorter path");
        }
        removeStale(path);
        FileDescriptor fd = null;
        try {
            fd = UnixSocket.bind(path);
            // Nobody can connect before it listens, so nobody does with wider permissions.
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
            Object key = fileKey(path);
            UnixSocket.listen(fd, BACKLOG);
            return new ListeningSocket(path, fd, key);
        } catch (IOException e) {
            if (fd != null) {
                fd.close();
            }
            throw new ListenException("cannot listen on " + path + ": " + reason(e), e);
        }
    }

    private static String reason(IOException e) {
        return e instanceof NativeException n && n.errno() == Errno.ENOENT
                ? "the directory does not exist"
                : e.getMessage();
    }

    private static void removeStale(Path path) throws ListenException {
        try {
            BasicFileAttributes a = Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            if (!a.isOther()) {
                throw new ListenException(path + " exists and is not a socket: remove it, or choose another path");
            }
        } catch (IOException e) {
            if (e instanceof ListenException l) {
                throw l;
            }
            return; // nothing there, or bind will say what is wrong
        }
        try (FileDescriptor _ = UnixSocket.connect(path)) {
            throw new ListenException("another server is listening on " + path + ": stop it, or choose another path");
        } catch (NativeException e) {
            if (e.errno() != Errno.ECONNREFUSED) {
                throw new ListenException("another server may be listening on " + path + ": " + e.getMessage(), e);
            }
        }
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new ListenException("the socket " + path + " of a dead server cannot be removed: " + e, e);
        }
    }

    private static Object fileKey(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .fileKey();
    }

    /** Waits for a client; see {@link UnixSocket#accept}. */
    FileDescriptor accept() throws NativeException {
        return UnixSocket.accept(fd);
    }

    /** Wakes who waits in {@link #accept}. */
    void shutdown() {
        UnixSocket.shutdown(fd);
    }

    /** Closes the socket and removes its name, unless another server has put its own there meanwhile. */
    @Override
    public void close() {
        fd.close();
        try {
            if (Objects.equals(key, fileKey(path))) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            // The name is gone already.
        }
    }
}
