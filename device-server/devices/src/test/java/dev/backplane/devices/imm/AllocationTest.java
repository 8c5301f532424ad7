// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import static dev.backplane.devices.imm.TestFabric.KEY;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.backplane.devices.Node;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What actions and contexts cost the server's heap. */
@Timeout(60)
class AllocationTest {
    private static final int WARM_UP = 3000;
    private static final int BATCHES = 500;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Runs batches of eight actions of each kind on this thread, and counts what it allocated. */
    @Test
    void actionsAllocateNothing() {
        try (TestFabric net =
                new TestFabric(MessagingConfig.defaults().withSpinMicros(0).withModerationMicros(0))) {
            SimulatedDriver one = net.node(1);
            SimulatedDriver two = net.node(2);
            SimulatedProcess owner = two.open(0);
            SimulatedRing ring = two.ring(owner, 0, 4096, AdminCommand.RING_SHARED_CONSUMERS, KEY);
            two.registerPages(owner, 1, two.scattered(4), 0, 4 * 4096, 7, KEY).ok();
            SimulatedProcess p = one.open(0);
            one.register(p, 0, one.guest.allocate(16_384, 64), 16_384, 0, 0);
            p.put(2, ring.id, KEY).flags(Action.NOTIFY).room(64).run();
            p.get(2, ring.id, KEY).memory(0, 4000, 384).run();
            p.put(2, ring.id, KEY).memory(0, 4000, 384).run();
            p.get(2, ring.id, KEY).room(384).run();
            p.action(Action.CMD_WRITE, 2, 1, KEY).memory(0, 0, 9000).run();
            p.action(Action.CMD_READ, 2, 1, KEY).memory(0, 0, 9000).run();
            p.action(Action.CMD_FETCH_ADD, 2, 1, KEY).remote(8).operands(1, 0).run();
            p.put(2, 99, KEY).room(64).run();
            GetPutContext context = one.module.contexts().context(0);
            int submit = ContextPage.SLOTS;
            submit = run(context, p, submit, WARM_UP);
            long before = THREADS.getCurrentThreadAllocatedBytes();
            run(context, p, submit, BATCHES);
            long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
            assertTrue(bytes < BATCHES, bytes + " bytes for " + BATCHES * ContextPage.SLOTS + " actions");
        }
    }

    private static int run(GetPutContext context, SimulatedProcess p, int from, int batches) {
        int submit = from;
        for (int i = 0; i < batches; i++) {
            submit += ContextPage.SLOTS;
            p.storeQuietly(submit);
            context.wake();
            while (p.complete() != submit) {
                Thread.onSpinWait();
            }
        }
        return submit;
    }

    @Test
    void openContextCostsLessThanAKibibyteOfHeap() {
        int contexts = 4096;
        try (TestFabric net = new TestFabric(MessagingConfig.defaults().withContexts(contexts))) {
            // Once for what is only made once.
            net.node(1);
            long before = THREADS.getCurrentThreadAllocatedBytes();
            MessagingModule module = net.fabric.addNode(Node.of(2));
            long closed = THREADS.getCurrentThreadAllocatedBytes() - before;
            SimulatedDriver two = new SimulatedDriver(module);
            long bytes = 0;
            for (int n = 0; n < contexts; n++) {
                GetPutContext c = module.contexts().context(n);
                long start = THREADS.getCurrentThreadAllocatedBytes();
                module.contexts().open(c);
                bytes += THREADS.getCurrentThreadAllocatedBytes() - start;
            }
            two.close();
            long each = (closed + bytes) / contexts;
            assertTrue(each < 1024, each + " bytes for a context, " + closed / contexts + " before it is opened");
        }
    }
}
