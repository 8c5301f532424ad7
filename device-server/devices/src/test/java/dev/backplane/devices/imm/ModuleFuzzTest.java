// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.backplane.vfiouser.device.ResetKind;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A messaging module's registers, commands, pages and rings under any driver and process; others put and get after each. */
final class ModuleFuzzTest {
    private static final int CONTEXTS = 3;

    private static TestFabric net;
    private static SimulatedDriver evil;
    private static SimulatedProcess bystander;
    private static SimulatedRing ring;
    private static long memory;
    private static long tag;

    @BeforeAll
    static void start() {
        net = new TestFabric();
        SimulatedDriver one = net.node(1);
        SimulatedDriver two = net.node(2);
        evil = net.node(3);
        memory = evil.guest.allocate(1 << 16, 4096);
        ring = two.ring(two.open(0), 0, 65_536, 0, KEY);
        bystander = one.open(1);
    }

    @AfterAll
    static void end() {
        net.close();
    }

    @FuzzTest
    void hurtsNobodyElse(FuzzedDataProvider data) {
        evil.guest.reset(ResetKind.BUS);
        evil.enable();
        for (int i = 0; i < CONTEXTS; i++) {
            evil.open(i);
        }
        MemorySegment pages = evil.guest.mappedBar(ImmRegisters.CONTEXT_BAR);
        int stride = net.fabric.config().stride();
        while (data.remainingBytes() > 0) {
            int context = data.consumeInt(0, CONTEXTS - 1);
            long page = (long) context * stride;
            switch (data.consumeInt(0, 6)) {
                case 0 -> access(data, 0, data.consumeInt(0, 0x120));
                case 1 -> access(data, data.consumeBoolean() ? 0 : 2, data.consumeInt(0, ImmRegisters.BAR_BYTES - 8));
                case 2 -> command(data, context);
                case 3 ->
                    pages.set(
                            ValueLayout.JAVA_INT,
                            page + 4L * data.consumeInt(0, ContextPage.BYTES / 4 - 1),
                            data.consumeInt());
                case 4 -> action(data, pages, page);
                case 5 -> evil.guest.setLong(memory + 8L * data.consumeInt(0, 8191), word(data));
                default -> evil.guest.write32(2, page, 1);
            }
        }
        bystandersWork();
    }

    private static void access(FuzzedDataProvider data, int bar, int at) {
        int width = 1 << data.consumeInt(0, 3);
        evil.module.read(bar, at & -width, width);
        evil.module.write(bar, at & -width, width, word(data));
    }

    private static long word(FuzzedDataProvider data) {
        return switch (data.consumeInt(0, 3)) {
            case 0 -> data.consumeInt(0, 64);
            case 1 -> memory + data.consumeInt(-64, 1 << 17);
            case 2 -> KEY;
            default -> data.consumeLong();
        };
    }

    private static void command(FuzzedDataProvider data, int context) {
        SimulatedDriver.Command c = evil.command(data.consumeInt(0, 12)).u32(AdminCommand.CONTEXT, context);
        int fields = data.consumeInt(0, 8);
        for (int i = 0; i < fields; i++) {
            int at = data.consumeInt(0, AdminCommand.BYTES / 8 - 1) * 8;
            c.u64(at, word(data));
        }
        c.status();
    }

    private static void action(FuzzedDataProvider data, MemorySegment pages, long page) {
        long at = page + ContextPage.ACTIONS + (long) data.consumeInt(0, ContextPage.SLOTS - 1) * Action.BYTES;
        for (int word = 0; word < Action.BYTES; word += 8) {
            pages.set(ValueLayout.JAVA_LONG_UNALIGNED, at + word, word(data));
        }
        pages.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + Action.TARGET_NODE, (short) data.consumeInt(0, 4));
        pages.set(ValueLayout.JAVA_INT, page + ContextPage.SUBMIT, data.consumeInt(0, 16));
    }

    private static void bystandersWork() {
        tag++;
        SimulatedProcess.Result r =
                bystander.put(2, ring.id, KEY).tag(tag).inline(new byte[64]).run();
        if (r.status() != Completion.OK) {
            throw new AssertionError("the bystander's PUT ended with " + r);
        }
        SimulatedRing.Element e;
        do {
            e = ring.poll(); // what the other has put, with the key in hand
            if (e == null) {
                throw new AssertionError("the bystander's element " + tag + " is not there");
            }
        } while (e.context() != bystander.context || e.tag() != tag);
        if (net.workers.counters().get("failures") != 0) {
            throw new AssertionError("a turn ended in an exception");
        }
    }
}
