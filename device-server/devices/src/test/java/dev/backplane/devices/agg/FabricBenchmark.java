// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.fabric.FabricConfig;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;

/**
 * Frames through the device in one Java thread, from simulated guest to simulated guest: a program, not a test. The
 * drivers do nothing but step their indices, so that what is measured is the device. Time is the thread's CPU time.
 *
 * <p>Arguments: seconds for each measurement, 3 if there are none; then the size of a cell; then a size of
 * frames for one measurement only.
 */
final class FabricBenchmark {
    private static final int RING = 1024;
    private static final int BATCH = 256;

    private FabricBenchmark() {}

    public static void main(String[] args) {
        double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 3;
        int cell = args.length > 1
                ? Integer.parseInt(args[1])
                : FabricConfig.defaults().cellBytes();
        int[] sizes = args.length > 2 ? new int[] {Integer.parseInt(args[2])} : new int[] {64, 1514, 9014, 65_536};
        for (int bytes : sizes) {
            run(2, bytes, cell, seconds / 3); // warm up
            double rate = run(2, bytes, cell, seconds);
            double copy = memcpy(bytes, seconds / 3);
            System.out.printf(
                    Locale.ROOT,
                    "%6d bytes, 2 ports: %,12.0f frames/s %8.2f Gbit/s, %3.0f %% of two copies by memcpy%n",
                    bytes,
                    rate,
                    rate * bytes * 8e-9,
                    100 * rate / copy);
        }
        if (args.length > 2) {
            return;
        }
        for (int ports : new int[] {2, 16, 64, 256}) {
            double rate = run(ports, 64, cell, seconds);
            System.out.printf(
                    Locale.ROOT, "    64 bytes, %3d ports: %,12.0f frames/s, %5.1f ns each%n", ports, rate, 1e9 / rate);
        }
    }

    /** Frames a second from port to the next port, around all ports. */
    private static double run(int ports, int bytes, int cell, double seconds) {
        FabricConfig config = FabricConfig.defaults().withCellBytes(cell).withMaxPorts(Math.max(ports, 2));
        try (FabricFixture fabric = new FabricFixture(config)) {
            int ring = ports > 16 ? 256 : RING;
            int batch = Math.min(BATCH, ring / 2);
            batch = Math.min(batch, (1 << 20) / bytes);
            SimulatedNic[] nics = new SimulatedNic[ports];
            for (int i = 0; i < ports; i++) {
                // Buffers as drivers have them: in pages of their own, or two in a page.
                int stride = bytes <= 2048 ? 2048 : (bytes + 4095) & -4096;
                nics[i] = fabric.add(i + 1, ring, stride, stride).start();
            }
            for (int i = 0; i < ports; i++) {
                SimulatedNic to = nics[(i + 1) % ports];
                byte[] frame = Frames.udp(to.mac(), nics[i].mac(), 1000 + i, 2000, bytes - 42);
                for (int d = 0; d < ring; d++) {
                    nics[i].prepare(frame, bytes);
                    if (bytes > 9014) {
                        int flags = TransmitDescriptor.END_OF_FRAME | TransmitDescriptor.CHECKSUM;
                        long at = nics[i].tx.descriptor(d);
                        nics[i].guest.setShort(at + TransmitDescriptor.FLAGS, flags);
                        nics[i].guest.setShort(at + TransmitDescriptor.CSUM_START, 34);
                        nics[i].guest.setShort(at + TransmitDescriptor.CSUM_OFFSET, 6);
                        nics[i].guest.setShort(at + TransmitDescriptor.GSO_TYPE, TransmitDescriptor.GSO_UDP);
                        nics[i].guest.setShort(at + TransmitDescriptor.GSO_SIZE, 1400);
                        nics[i].guest.setShort(at + TransmitDescriptor.HEADER_LENGTH, 42);
                    } else if (bytes > 1514) {
                        nics[i].guest.write32(0, AggRegisters.MTU, 9000);
                    }
                }
                nics[i].tx.producer = 0;
            }
            long frames = 0;
            long start = cpuNanos();
            long end = start + (long) (seconds * 1e9);
            long now;
            do {
                for (int i = 0; i < ports; i++) {
                    SimulatedNic from = nics[i];
                    SimulatedNic to = nics[(i + 1) % ports];
                    from.tx.producer += batch;
                    from.tx.publish();
                    while (to.rx.completed() != to.rx.producer - ring + batch) {
                        Thread.onSpinWait(); // what a worker has taken over
                    }
                    to.rx.producer += batch;
                    to.rx.publish();
                    frames += batch;
                }
                now = cpuNanos();
            } while (now < end);
            if (Boolean.getBoolean("fabric")) {
                System.out.println(fabric);
                System.out.println(fabric.workers.counters());
            }
            return frames * 1e9 / (now - start);
        }
    }

    /** Time that this thread has run: what else goes on on the machine does not count. */
    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /** Pairs of copies of that size a second, through as much memory as the device goes through. */
    private static double memcpy(int bytes, double seconds) {
        try (Arena arena = Arena.ofShared()) {
            int slots = Math.max(1, Math.min(RING, (64 << 20) / bytes));
            MemorySegment[] memory = new MemorySegment[3];
            Arrays.setAll(memory, i -> arena.allocate((long) slots * bytes, 64));
            long copies = 0;
            long start = cpuNanos();
            long end = start + (long) (seconds * 1e9);
            long now;
            do {
                for (int i = 0; i < slots; i++) {
                    long at = (long) i * bytes;
                    MemorySegment.copy(memory[0], at, memory[1], at, bytes);
                    MemorySegment.copy(memory[1], at, memory[2], at, bytes);
                }
                copies += slots;
                now = cpuNanos();
            } while (now < end);
            return copies * 1e9 / (now - start);
        }
    }
}
