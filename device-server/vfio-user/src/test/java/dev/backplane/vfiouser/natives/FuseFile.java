// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;

/**
 * A file that this process serves itself (FUSE): it can be opened, has a size, and answers nothing more. Who looks at it
 * with the wrong call, or touches a page of it, waits until it is closed here.
 */
@SuppressWarnings("restricted")
public final class FuseFile implements AutoCloseable {
    /** Its size in bytes. */
    public static final int BYTES = 1 << 20;

    private static final int IN_HEADER = 40;
    private static final int OUT_HEADER = 16;
    private static final int GETATTR = 3;
    private static final int OPEN = 14;
    private static final int RELEASE = 18;
    private static final int FLUSH = 25;
    private static final int INIT = 26;
    private static final int REGULAR = 0100644;
    private static final int MNT_DETACH = 2;

    private final Path path;
    private final FileChannel device;
    private final FileChannel opened;
    private volatile boolean silent;

    private FuseFile(Path path) throws IOException {
        this.path = path;
        this.device = FileChannel.open(Path.of("/dev/fuse"), StandardOpenOption.READ, StandardOpenOption.WRITE);
        boolean mounted = false;
        try {
            mount(path, "fd=" + number("/dev/fuse") + ",rootmode=100644,user_id=0,group_id=0,allow_other");
            mounted = true;
            Thread.ofPlatform().name("FUSE").daemon().start(this::serve);
            opened = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
            if (opened.size() != BYTES) {
                throw new IOException("size " + opened.size());
            }
            silent = true;
        } catch (IOException e) {
            device.close();
            if (mounted) {
                unmount();
            }
            throw e;
        }
    }

    /** Serves a file at {@code path}, which exists; null where that is not allowed. */
    public static FuseFile serve(Path path) {
        try {
            return new FuseFile(path);
        } catch (IOException e) {
            System.out.println("no FUSE here: " + e);
            return null;
        }
    }

    /** A descriptor of the file. */
    public int fd() throws IOException {
        return number(path.toRealPath().toString());
    }

    private static int number(String file) throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(p -> leadsTo(p, file))
                    .mapToInt(p -> Integer.parseInt(p.getFileName().toString()))
                    .findFirst()
                    .orElseThrow(() -> new IOException("no descriptor of " + file));
        }
    }

    private static boolean leadsTo(Path fd, String file) {
        try {
            return Files.readSymbolicLink(fd).toString().equals(file);
        } catch (IOException e) {
            return false;
        }
    }

    private void serve() {
        ByteBuffer in = ByteBuffer.allocateDirect(1 << 18).order(ByteOrder.nativeOrder());
        try {
            while (device.read(in.clear()) >= IN_HEADER) {
                int command = in.getInt(4);
                long unique = in.getLong(8);
                switch (command) {
                    case INIT -> answer(unique, 64, out -> out.putInt(7).putInt(31));
                    case OPEN -> answer(unique, 16, out -> {});
                    case FLUSH, RELEASE -> answer(unique, 0, out -> {});
                    case GETATTR -> {
                        if (!silent) {
                            answer(unique, 104, FuseFile::attributes);
                        }
                    }
                    default -> {} // whoever asks waits
                }
            }
        } catch (IOException e) {
            // unmounted
        }
    }

    private static void attributes(ByteBuffer out) {
        out.putLong(1_000_000).putLong(0); // good for so many seconds
        out.putLong(1).putLong(BYTES).position(OUT_HEADER + 76);
        out.putInt(REGULAR).putInt(1);
    }

    private void answer(long unique, int bytes, java.util.function.Consumer<ByteBuffer> body) throws IOException {
        ByteBuffer out = ByteBuffer.allocateDirect(OUT_HEADER + bytes).order(ByteOrder.nativeOrder());
        out.putInt(OUT_HEADER + bytes).putInt(0).putLong(unique);
        body.accept(out);
        device.write(out.position(0).limit(OUT_HEADER + bytes));
    }

    private static void mount(Path at, String options) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            int r = (int) Linker.nativeLinker()
                    .downcallHandle(
                            Linker.nativeLinker().defaultLookup().find("mount").orElseThrow(),
                            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG))
                    .invokeExact(
                            text(arena, "test"),
                            text(arena, at.toString()),
                            text(arena, "fuse"),
                            0L,
                            text(arena, options));
            if (r != 0) {
                throw new IOException("mount is not allowed");
            }
        } catch (IOException e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    private void unmount() {
        try (Arena arena = Arena.ofConfined()) {
            int r = (int) Linker.nativeLinker()
                    .downcallHandle(
                            Linker.nativeLinker()
                                    .defaultLookup()
                                    .find("umount2")
                                    .orElseThrow(),
                            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT))
                    .invokeExact(text(arena, path.toString()), MNT_DETACH);
            if (r != 0) {
                throw new AssertionError("umount2 of " + path);
            }
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    private static long text(Arena arena, String text) {
        MemorySegment s = arena.allocateFrom(text);
        return s.address();
    }

    /** Ends it: whoever waits gets an error. */
    @Override
    public void close() throws IOException {
        unmount();
        opened.close();
        device.close();
    }
}
