// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class DescriptorTest {
    /** The greatest count of an event descriptor. */
    private static final long FULL = 0xffff_ffff_ffff_fffeL;

    @Test
    void closingTwiceLeavesTheNextOwnerOfTheNumberAlone() throws NativeException {
        FileDescriptor first = MemoryFile.create("first", 4096);
        int number = first.value();
        first.close();
        FileDescriptor second =
                FileDescriptor.own(NativeException.check("dup", Libc.fcntl(0, 1030 /* F_DUPFD_CLOEXEC */, number)));
        assertEquals(number, second.value(), "the kernel gives out the lowest free number from there on");
        first.close();
        assertTrue(FileStatus.of(second.value()).inode() != 0);
        second.close();
        assertThrows(IllegalStateException.class, second::value);
    }

    @Test
    void duplicatesAreTheSameFileAndOthersAreNot() throws NativeException {
        try (FileDescriptor a = MemoryFile.create("a", 4096);
                FileDescriptor b = a.duplicate();
                FileDescriptor c = MemoryFile.create("a", 4096);
                EventFd event = EventFd.create()) {
            assertEquals(FileStatus.of(a.value()), FileStatus.of(b.value()));
            assertNotEquals(
                    FileStatus.of(a.value()).inode(), FileStatus.of(c.value()).inode());
            assertTrue(FileStatus.of(a.value()).regular());
            assertFalse(FileStatus.of(event.fd().value()).regular());
        }
    }

    @Test
    void mappingIsSharedAndASealedFileKeepsItsSize() throws NativeException {
        try (FileDescriptor fd = MemoryFile.create("bar", 8192);
                Arena arena = Arena.ofShared()) {
            MemorySegment one = MemoryFile.map(fd.value(), 0, 8192, true, arena);
            MemorySegment two = MemoryFile.map(fd.value(), 4096, 4096, false, arena);
            one.set(JAVA_INT, 4096 + 8, 0x1234);
            assertEquals(0x1234, two.get(JAVA_INT, 8));
            assertTrue(two.isReadOnly());
            assertEquals(
                    Errno.EPERM,
                    assertThrows(NativeException.class, () -> MemoryFile.resize(fd, 4096))
                            .errno());
        }
    }

    @Test
    void truncatedFileIsAnInternalErrorAndNotACrash() throws NativeException {
        try (FileDescriptor fd = MemoryFile.resizable("guest", 8192);
                Arena arena = Arena.ofShared()) {
            MemorySegment s = MemoryFile.map(fd.value(), 0, 8192, true, arena);
            s.set(JAVA_INT, 4096, 1);
            MemoryFile.resize(fd, 4096);
            assertThrows(InternalError.class, () -> s.get(JAVA_INT, 4096));
            assertEquals(0, s.get(JAVA_INT, 0));
        }
    }

    @Test
    void whatCannotBeMappedIsRefusedByName() throws NativeException {
        try (EventFd event = EventFd.create();
                Arena arena = Arena.ofConfined()) {
            int fd = event.fd().value();
            NativeException e = assertThrows(NativeException.class, () -> MemoryFile.map(fd, 0, 4096, true, arena));
            assertEquals("mmap failed: ENODEV", e.getMessage());
        }
    }

    @Test
    void signalsAddUpAndAreTaken() throws NativeException {
        try (EventFd event = EventFd.create()) {
            assertEquals(0, event.read());
            assertFalse(event.await(0));
            assertTrue(event.signal());
            assertTrue(event.signal());
            assertTrue(event.await(0));
            assertEquals(2, event.read());
        }
    }

    /** A peer's descriptor that blocks, its counter full: the peer's way to hang a server that simply writes. */
    @Test
    void signalOfAFullBlockingCounterReturns() throws NativeException {
        int blocking = NativeException.check("eventfd", Libc.eventfd(0, 0));
        try (EventFd event = EventFd.of(FileDescriptor.own(blocking))) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment full = arena.allocate(8, 8);
                full.set(JAVA_LONG, 0, FULL);
                assertEquals(8, Libc.write(blocking, full.address(), 8));
            }
            for (int i = 0; i < 1000; i++) {
                event.signal();
            }
            assertTrue(event.read() >>> 1 == Long.MAX_VALUE, "full");
            assertTrue(event.signal());
            assertEquals(1, event.read());
        }
    }

    /** Several threads at the last free count of a descriptor that blocks: who only looked before it wrote would wait. */
    @Test
    void nobodyWaitsForTheLastCount() throws Exception {
        int blocking = NativeException.check("eventfd", Libc.eventfd(0, 0));
        int threads = 4;
        try (EventFd event = EventFd.of(FileDescriptor.own(blocking));
                var pool = Executors.newFixedThreadPool(threads)) {
            for (int round = 0; round < 200; round++) {
                event.read();
                RawCalls.writeLong(blocking, FULL - 2000);
                CyclicBarrier start = new CyclicBarrier(threads);
                List<Future<?>> all = new ArrayList<>();
                for (int i = 0; i < threads; i++) {
                    all.add(pool.submit(() -> {
                        start.await();
                        for (int n = 0; n < 1000; n++) {
                            event.signal();
                        }
                        return null;
                    }));
                }
                for (Future<?> f : all) {
                    try {
                        f.get(20, TimeUnit.SECONDS);
                    } catch (TimeoutException e) {
                        event.read(); // lets the others go
                        throw new AssertionError("a signal waits, round " + round, e);
                    }
                }
            }
        }
    }

    @Test
    void manyThreadsSignalAndNothingIsLost() throws Exception {
        try (EventFd event = EventFd.create()) {
            Thread[] threads = new Thread[4];
            for (int i = 0; i < threads.length; i++) {
                threads[i] = Thread.ofPlatform().start(() -> {
                    for (int n = 0; n < 10_000; n++) {
                        assertTrue(event.signal());
                    }
                });
            }
            for (Thread t : threads) {
                t.join();
            }
            assertEquals(40_000, event.read());
        }
    }

    @Test
    void onlyEventDescriptorsAreTakenForSuch() throws NativeException {
        FileDescriptor[] pair = UnixSocket.pair();
        try (EventFd event = EventFd.create();
                FileDescriptor file = MemoryFile.create("f", 4096)) {
            assertTrue(EventFd.isEventFd(event.fd().value()));
            assertFalse(EventFd.isEventFd(file.value()));
            assertFalse(EventFd.isEventFd(pair[0].value()));
            assertFalse(EventFd.isEventFd(1_000_000));
        } finally {
            pair[0].close();
            pair[1].close();
        }
    }

    @Test
    void pollTellsWhichDescriptorIsReady() throws NativeException {
        try (EventFd a = EventFd.create();
                EventFd b = EventFd.create()) {
            assertEquals(0, Poll.readable(a.fd().value(), b.fd().value(), 0));
            b.signal();
            assertEquals(2, Poll.readable(a.fd().value(), b.fd().value(), -1));
            a.signal();
            assertEquals(3, Poll.readable(a.fd().value(), b.fd().value(), -1));
        }
    }
}
