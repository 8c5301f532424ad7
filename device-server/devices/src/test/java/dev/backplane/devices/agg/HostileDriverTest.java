// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.sim.SimulatedGuest;
import dev.backplane.vfiouser.device.ResetKind;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A driver that does everything wrong hurts its own port only, is told why, and a reset recovers. */
@Timeout(60)
class HostileDriverTest {
    private final FabricFixture fabric = new FabricFixture();

    @AfterEach
    void close() {
        fabric.close();
    }

    @Test
    void aBadDescriptorInTheMiddleOfGoodOnesCompletesWithAnErrorAndTheRingGoesOn() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.nic(2);
        for (int i = 0; i < 50; i++) {
            a.prepare(Frames.frame(b.mac(), a.mac(), 60, i), 60);
        }
        a.guest.setLong(a.tx.descriptor(7) + TransmitDescriptor.ADDRESS, 0x1234);
        a.guest.setInt(a.tx.descriptor(8) + TransmitDescriptor.LENGTH, 0);
        a.guest.setInt(a.tx.descriptor(9) + TransmitDescriptor.LENGTH, -1);
        a.guest.setShort(a.tx.descriptor(10) + TransmitDescriptor.FLAGS, 0x8001);
        a.guest.setShort(a.tx.descriptor(11) + TransmitDescriptor.GSO_TYPE, 99);
        a.guest.setShort(a.tx.descriptor(12) + TransmitDescriptor.FLAGS, 1 | TransmitDescriptor.CHECKSUM);
        a.guest.setShort(a.tx.descriptor(12) + TransmitDescriptor.CSUM_START, 59);
        a.tx.publish();
        List<Integer> status = a.completions();
        assertEquals(50, status.size());
        assertEquals(
                List.of(
                        TransmitCompletion.BAD_ADDRESS,
                        TransmitCompletion.BAD_LENGTH,
                        TransmitCompletion.BAD_LENGTH,
                        TransmitCompletion.BAD_FLAGS,
                        TransmitCompletion.BAD_OFFLOAD,
                        TransmitCompletion.BAD_OFFLOAD),
                status.subList(7, 13));
        assertEquals(44, b.receive().size());
        assertEquals(6, a.count("tx_errors"));
        assertEquals(QueueRegisters.STATE_RUNNING, a.tx.state());
    }

    @Test
    void anImpossibleIndexStopsThatQueueWithACodeAndAResetRecovers() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.nic(2);
        a.tx.producer += a.tx.size + 1;
        a.tx.publish();
        assertEquals(QueueRegisters.STATE_STOPPED, a.tx.state());
        assertEquals(QueueRegisters.ERROR_BAD_INDEX, a.tx.error());
        assertEquals(1, a.guest.read32(0, AggRegisters.QUEUE_ERRORS));
        assertTrue(a.guest.interrupts().count(SimulatedNic.EVENT_VECTOR) > 0);
        a.guest.reset(ResetKind.FUNCTION_LEVEL);
        a.tx.clear();
        a.rx.clear();
        a.start();
        byte[] frame = Frames.frame(b.mac(), a.mac(), 60, 1);
        a.send(frame);
        assertArrayEquals(frame, b.receive().get(0).data());
    }

    @Test
    void moreSegmentsThanAllowedAreOneErrorUpToTheEndOfTheFrame() {
        SimulatedNic a = fabric.add(1, PortConfig.defaults(), 256, 2048).start();
        SimulatedNic b = fabric.nic(2);
        int[] parts = new int[100];
        Arrays.fill(parts, 10);
        a.prepare(Frames.frame(b.mac(), a.mac(), 1000, 1), parts);
        a.prepare(Frames.frame(b.mac(), a.mac(), 60, 2), 60);
        a.tx.publish();
        List<Integer> status = a.completions();
        assertEquals(101, status.size());
        assertTrue(status.subList(0, 100).stream().allMatch(s -> s == TransmitCompletion.TOO_MANY_SEGMENTS));
        assertEquals(1, b.receive().size());
    }

    @Test
    void aBadReceiveBufferIsGivenBackAndTheFrameTakesTheNext() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.add(2, PortConfig.defaults(), 64, 1024).start(0, 0);
        b.post(8);
        b.guest.setLong(b.rx.descriptor(1) + ReceiveDescriptor.ADDRESS, 0x1000);
        b.guest.setInt(b.rx.descriptor(4) + ReceiveDescriptor.LENGTH, 63);
        for (int i = 0; i < 2; i++) {
            byte[] frame = Frames.frame(b.mac(), a.mac(), 1500, i);
            a.send(frame);
        }
        List<SimulatedNic.Received> frames = b.take();
        assertEquals(2, frames.size());
        assertArrayEquals(Frames.frame(b.mac(), a.mac(), 1500, 1), frames.get(1).data());
        assertEquals(2, b.count("rx_errors"));
    }

    @Test
    void afterAResetAllRegistersAreAsInANewDeviceButTheEpoch() {
        SimulatedNic fresh = fabric.add(1, PortConfig.defaults(), 64, 2048);
        SimulatedNic used = fabric.add(2, PortConfig.defaults(), 64, 2048).start();
        used.guest.write32(0, AggRegisters.MTU, 9000);
        used.guest.write32(0, AggRegisters.SCRATCH, 77);
        used.tx.producer = 5000;
        used.tx.publish();
        used.guest.reset(ResetKind.BUS);
        for (int at = 0; at < VnicState.BYTES; at += 4) {
            if (at != AggRegisters.EPOCH && at != AggRegisters.MAC_HIGH && at != AggRegisters.NODE_ID) {
                assertEquals(
                        fresh.device.state().getInt(at),
                        used.device.state().getInt(at),
                        "at 0x" + Integer.toHexString(at));
            }
        }
        assertEquals(1, used.guest.read32(0, AggRegisters.EPOCH));
    }

    @Test
    void nothingIsWrittenToGuestMemoryAfterAReset() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.nic(2);
        a.send(Frames.frame(b.mac(), a.mac(), 60, 1));
        b.guest.reset(ResetKind.BUS);
        b.guest.ram().fill((byte) 0x5a);
        long interrupts = b.guest.interrupts().total();
        for (int i = 0; i < 32; i++) {
            a.send(Frames.frame(b.mac(), a.mac(), 60, i));
        }
        b.rx.ring();
        b.tx.ring();
        assertEquals(-1, b.guest.ram().mismatch(filled(b.guest)));
        assertEquals(interrupts, b.guest.interrupts().total());
    }

    private static MemorySegment filled(SimulatedGuest guest) {
        byte[] bytes = new byte[(int) guest.ram().byteSize()];
        Arrays.fill(bytes, (byte) 0x5a);
        return MemorySegment.ofArray(bytes);
    }

    @Test
    void everyRegisterAndDescriptorFuzzedHarmsNobodyElse() {
        SimulatedNic a = fabric.nic(1);
        SimulatedNic b = fabric.nic(2);
        SimulatedNic evil = fabric.nic(3);
        for (int seed = 0; seed < 400; seed++) {
            Random random = new Random(seed);
            fuzz(evil, random);
            b.receive();
            byte[] frame = Frames.frame(b.mac(), a.mac(), 60 + seed, seed);
            a.send(frame);
            List<SimulatedNic.Received> got = b.receive();
            assertArrayEquals(frame, got.get(got.size() - 1).data(), "seed " + seed + "; " + fabric);
            assertEquals(List.of(TransmitCompletion.OK), a.completions(), "seed " + seed);
            a.receive();
            if (seed % 4 == 3) {
                evil.guest.reset(ResetKind.BUS);
                evil.tx.clear();
                evil.rx.clear();
                evil.start();
            }
        }
    }

    private static void fuzz(SimulatedNic evil, Random random) {
        for (int i = 0; i < 20; i++) {
            long at = random.nextInt(3) == 0 ? random.nextInt(AggRegisters.BAR_BYTES) & ~7 : random.nextInt(0x600) & ~3;
            int width = at % 8 == 0 && random.nextBoolean() ? 8 : 4;
            evil.device.read(0, at, width);
            boolean reset = at == AggRegisters.CONTROL;
            evil.device.write(0, at, width, reset ? random.nextInt(2) : value(random));
        }
        for (SimulatedQueue q : new SimulatedQueue[] {evil.tx, evil.rx}) {
            for (int i = 0; i < 8; i++) {
                long word = q.descriptors + random.nextInt(q.size * 2) * 8L;
                evil.guest.setLong(word, value(random));
            }
            q.producer += random.nextInt(q.size + 2);
            evil.guest.setIntRelease(q.indices + QueueIndices.PRODUCER, q.producer);
            evil.guest.setInt(q.indices + QueueIndices.INTERRUPT_EVENT, random.nextInt());
            q.ring();
        }
    }

    private static long value(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(64);
            case 1 -> SimulatedGuest.RAM_BASE + random.nextInt(1 << 22);
            case 2 -> 1L << random.nextInt(64);
            default -> random.nextLong();
        };
    }
}
