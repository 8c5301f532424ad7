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
import org.junit.jupiter.api.Test;

class DescriptorTest {
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
                full.set(JAVA_LONG, 0, 0xffff_ffff_ffff_fffeL);
                assertEquals(8, Libc.write(blocking, full.address(), 8));
            }
            assertFalse(event.signal());
            assertEquals(0xffff_ffff_ffff_fffeL, event.read());
            assertTrue(event.signal());
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
