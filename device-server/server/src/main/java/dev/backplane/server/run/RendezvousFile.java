// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import dev.backplane.vfiouser.memory.RawAccess;
import dev.backplane.vfiouser.natives.FileDescriptor;
import dev.backplane.vfiouser.natives.MemoryFile;
import dev.backplane.vfiouser.natives.NativeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rendezvous memory as a file in memory: outside of the heap, and without cost until frames touch it. It goes when nobody
 * refers to it any more: loops, on whatever thread, access it unchecked ({@link RawAccess}), and one may be running when
 * the fabric has ended already.
 */
final class RendezvousFile {
    private static final Logger LOG = LoggerFactory.getLogger(RendezvousFile.class);
    private static final String NAME = "backplane rendezvous memory";

    private final MemorySegment segment;
    private final boolean huge;

    private RendezvousFile(MemorySegment segment, boolean huge) {
        this.segment = segment;
        this.huge = huge;
    }

    /** Allocates {@code bytes}, zeroed; of huge pages if asked for and there. */
    static RendezvousFile allocate(long bytes, boolean hugePages) throws StartException {
        Arena arena = Arena.ofAuto();
        if (hugePages) {
            try (FileDescriptor fd = MemoryFile.createHuge(NAME, bytes)) {
                return new RendezvousFile(MemoryFile.mapHuge(fd.value(), bytes, arena), true);
            } catch (NativeException e) {
                LOG.warn(
                        "no huge pages for rendezvous memory of {} bytes ({}): ordinary pages are used; /proc/sys/vm/"
                                + "nr_hugepages says how many there are",
                        bytes,
                        e.getMessage());
            }
        }
        try (FileDescriptor fd = MemoryFile.create(NAME, bytes)) {
            return new RendezvousFile(MemoryFile.map(fd.value(), 0, bytes, true, arena), false);
        } catch (NativeException e) {
            throw new StartException(
                    "cannot allocate rendezvous memory of " + bytes + " bytes (" + e.getMessage()
                            + "): choose a smaller fabric.rendezvous_memory",
                    e);
        }
    }

    /** The memory; for any thread. */
    MemorySegment segment() {
        return segment;
    }

    /** Whether it is of huge pages. */
    boolean huge() {
        return huge;
    }
}
