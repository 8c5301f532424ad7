// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.backplane.vfiouser.device.ResetKind;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A vNIC's registers and rings under any driver; two other guests exchange a frame after each. */
final class VnicFuzzTest {
    private static FabricFixture fabric;
    private static SimulatedNic a;
    private static SimulatedNic b;
    private static SimulatedNic evil;
    private static int number;

    @BeforeAll
    static void start() {
        fabric = new FabricFixture();
        a = fabric.nic(1);
        b = fabric.nic(2);
        evil = fabric.nic(3);
    }

    @AfterAll
    static void end() {
        fabric.close();
    }

    @FuzzTest
    void hurtsNobodyElse(FuzzedDataProvider data) {
        evil.guest.reset(ResetKind.BUS);
        evil.tx.clear();
        evil.rx.clear();
        evil.start();
        while (data.remainingBytes() > 0) {
            SimulatedQueue q = data.consumeBoolean() ? evil.tx : evil.rx;
            switch (data.consumeInt(0, 6)) {
                case 0 -> write(data, data.consumeInt(0, AggRegisters.BAR_BYTES - 8));
                case 1 -> write(data, data.consumeInt(0, 0x700));
                case 2 -> write(data, (int) q.register(data.consumeInt(0, QueueRegisters.BYTES - 8)));
                case 3 -> evil.guest.setLong(q.descriptors + 8L * data.consumeInt(0, 2 * q.size - 1), word(data));
                case 4 ->
                    evil.guest.setInt(
                            q.indices + 4L * data.consumeInt(0, QueueIndices.BYTES / 4 - 1), data.consumeInt());
                case 5 -> {
                    q.producer += data.consumeInt(0, q.size + 1);
                    evil.guest.setIntRelease(q.indices + QueueIndices.PRODUCER, q.producer);
                    q.ring();
                }
                default -> q.ring();
            }
        }
        bystandersWork();
    }

    private static void write(FuzzedDataProvider data, int at) {
        int width = 1 << data.consumeInt(0, 3);
        long offset = at & -width;
        evil.device.read(0, offset, width);
        evil.device.write(0, offset, width, word(data));
    }

    private static long word(FuzzedDataProvider data) {
        return switch (data.consumeInt(0, 3)) {
            case 0 -> data.consumeInt(0, 64);
            case 1 -> evil.tx.descriptors + data.consumeInt(-64, 1 << 20);
            case 2 -> data.consumeInt();
            default -> data.consumeLong();
        };
    }

    private static void bystandersWork() {
        b.receive(); // what was flooded
        a.receive();
        a.completions();
        byte[] frame = Frames.frame(b.mac(), a.mac(), 60 + number % 1000, number++);
        a.send(frame);
        List<SimulatedNic.Received> got = b.receive();
        if (got.isEmpty() || !Arrays.equals(frame, got.getLast().data())) {
            throw new AssertionError("the bystanders' frame did not arrive; " + fabric);
        }
        if (fabric.workers.counters().get("failures") != 0) {
            throw new AssertionError("a turn ended in an exception; " + fabric);
        }
    }
}
