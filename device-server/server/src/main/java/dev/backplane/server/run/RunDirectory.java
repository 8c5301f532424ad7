// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The directory that holds a server's sockets. A lock on a file in it says that a server runs there; the kernel drops the
 * lock with the process, so it never has to be cleaned up.
 */
public final class RunDirectory implements AutoCloseable {
    /** Longest path of a Unix socket in bytes: sun_path of unix(7) without the final NUL. */
    public static final int MAX_SOCKET_PATH = 107;

    private static final String LOCK = "backplane.lock";

    private final Path directory;
    private final FileChannel lockFile;

    private RunDirectory(Path directory, FileChannel lockFile) {
        this.directory = directory;
        this.lockFile = lockFile;
    }

    /**
     * Makes the directory if need be (mode 0700) and takes it for this process.
     *
     * @throws StartException when it cannot be used, or another server has it
     */
    public static RunDirectory take(Path path) throws StartException {
        Path directory = path.toAbsolutePath().normalize();
        try {
            if (!Files.isDirectory(directory)) {
                Files.createDirectories(
                        directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            }
            FileChannel file = FileChannel.open(
                    directory.resolve(LOCK),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
            if (!lock(file)) {
                String owner = read(file);
                file.close();
                throw new StartException(
                        "run directory " + directory + " is in use by the device server with process id " + owner
                                + ": stop that one, or choose another --run-dir");
            }
            file.truncate(0)
                    .write(ByteBuffer.wrap(
                            Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII)));
            return new RunDirectory(directory, file);
        } catch (IOException e) {
            throw new StartException(
                    "cannot use run directory " + directory + " (" + reason(e)
                            + "): choose a directory that you can write to with --run-dir",
                    e);
        }
    }

    /** Path of a socket in the directory; it is free afterwards. A socket that nobody listens on is removed. */
    public Path socket(String name) throws StartException {
        Path socket = peer(name);
        if (!Files.exists(socket, LinkOption.NOFOLLOW_LINKS)) {
            return socket;
        }
        try {
            if (!isSocket(socket)) {
                throw new StartException(
                        socket + " exists and is not a socket: remove it, or choose another --run-dir");
            }
            if (isLive(socket)) {
                throw new StartException("another process listens on " + socket
                        + ": stop it, or choose another --run-dir (see 'ss -xlp')");
            }
            Files.delete(socket);
        } catch (IOException e) {
            throw new StartException("cannot replace " + socket + " (" + reason(e) + "): choose another --run-dir", e);
        }
        return socket;
    }

    /** Path of somebody else's socket, in the directory unless it is absolute; there or not. */
    public Path peer(String name) throws StartException {
        Path socket = directory.resolve(name);
        int bytes = socket.toString().getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_SOCKET_PATH) {
            throw new StartException("socket path " + socket + " has " + bytes + " bytes, the system allows "
                    + MAX_SOCKET_PATH + ": choose a --run-dir with a shorter path");
        }
        return socket;
    }

    /** The directory, absolute. */
    public Path path() {
        return directory;
    }

    /** Gives the directory up. The lock file stays: removing it could take it from under a server that starts just now. */
    @Override
    public void close() throws IOException {
        lockFile.close();
    }

    private static boolean lock(FileChannel file) throws IOException {
        try {
            return file.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false; // held by this very process
        }
    }

    private static boolean isSocket(Path path) throws IOException {
        int mode = (Integer) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        return (mode & 0170000) == 0140000; // S_IFMT, S_IFSOCK of inode(7)
    }

    private static boolean isLive(Path socket) {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return probe.connect(UnixDomainSocketAddress.of(socket));
        } catch (IOException refused) {
            return false;
        }
    }

    private static String read(FileChannel file) throws IOException {
        ByteBuffer pid = ByteBuffer.allocate(32);
        file.read(pid, 0);
        return new String(pid.array(), 0, pid.position(), StandardCharsets.US_ASCII).strip();
    }

    private static String reason(IOException e) {
        if (e instanceof AccessDeniedException) {
            return "permission denied";
        }
        return e instanceof FileSystemException f && f.getReason() != null ? f.getReason() : String.valueOf(e);
    }
}
