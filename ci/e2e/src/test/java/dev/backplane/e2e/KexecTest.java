// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import dev.backplane.testkit.GuestImage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A kernel starts another one, without a reset of the machine, while the guest is flooded. */
@Timeout(300)
class KexecTest {
    private static final Duration LONG = Duration.ofMinutes(3);
    private static final int MEGABYTES = 640;

    @RegisterExtension
    static final Cluster CLUSTER = Cluster.of(2).withGuests(MEGABYTES, 1).withDevices(KexecTest::disks);

    /** The next kernel and its initial RAM file systems come as disks vda, vdb, … of node 2. */
    private static List<String> disks(int node) {
        List<String> arguments = new ArrayList<>();
        if (node == 2) {
            GuestImage image = GuestImage.fromEnvironment();
            arguments.addAll(disk(image.withCompressedKernel().kernel()));
            image.initrds().forEach(file -> arguments.addAll(disk(file)));
        }
        return arguments;
    }

    private static List<String> disk(Path file) {
        String id = "disk-" + file.getFileName().toString().replace('.', '-');
        return List.of(
                "-drive", "if=none,readonly=on,format=raw,id=" + id + ",file=" + file,
                "-device", "virtio-blk-pci,drive=" + id);
    }

    /** The next kernel does not load the drivers at first: whatever a device writes then, it writes for the old kernel. */
    @Test
    void nextKernelFindsDevicesThatLeaveItsMemoryAlone() {
        Guest g = CLUSTER.node(2);
        g.exec(
                        "modprobe virtio_blk && cat /dev/vda > /tmp/kernel && cat /dev/vd[b-z] > /tmp/initrd"
                                + " && kexec -s -l /tmp/kernel --initrd=/tmp/initrd"
                                + " --command-line=\"$(cat /proc/cmdline) bp.load=no\" && rm /tmp/kernel /tmp/initrd",
                        LONG)
                .ok();
        g.start("exec bp-get --listen --ring 23 --count 0 > /dev/null").awaitOutput("ring 23", LONG);
        String put = "bp-put --node 2 --ring 23 --size 1000 --count ";
        assertDevices("running", true);
        try (Flood flood = Flood.start(CLUSTER, 1, 2)) {
            flood.awaitMore(20);
            CLUSTER.node(1).exec(put + "20").ok();
            Execution puts = CLUSTER.node(1).start("exec " + put + "1000000000");
            g.rebootBy("kexec -e");
            assertNotEquals(0, puts.await(LONG).exitCode(), "the old kernel's ring is gone");
            // Nobody but the old kernel can have stopped them: the next one has no driver for them yet.
            assertDevices("idle", false);

            Execution guard = g.start("exec bp-netcheck guard");
            guard.awaitOutput("guarding", LONG);
            flood.awaitMore(300);
            CLUSTER.node(1)
                    .exec("for i in 1 2 3 4 5 6 7 8; do ! " + put + "1 || exit 1; done")
                    .ok();
            guard.kill(15);
            String out = guard.await(LONG).ok().out();
            assertTrue(out.contains("pages unchanged"), out);
            assertDevices("idle", false);
        }
        g.exec("modprobe -a bp_agg bp_imm && bp-net", LONG).ok();
        // A boot by kexec has no firmware in between: the kernel's clock begins anew, the machine's devices do not.
        assertEquals("", g.exec("dmesg -r | grep -E '^<[0-3]>' || true").ok().out());
        CLUSTER.node(1).exec("ping -c 3 -i 0.2 -W 5 " + Cluster.address(2)).ok();
        String out = Netcheck.between(CLUSTER, 1, 2).tcp(Cluster.address(2), "--bytes 4M");
        assertTrue(out.contains("4194304 bytes intact"), out);
    }

    /** What the device server knows of the second guest's devices: the vNIC's state, and whether they may use its memory. */
    private static void assertDevices(String vnic, boolean busMaster) {
        JsonNode node = CLUSTER.server().api().get("/nodes/node2");
        assertEquals(vnic, node.path("port").path("vnic").asText(), node.toString());
        for (String device : List.of("agg", "imm")) {
            assertEquals(busMaster, node.path(device).path("bus_master").asBoolean(!busMaster), node.toString());
        }
    }
}
