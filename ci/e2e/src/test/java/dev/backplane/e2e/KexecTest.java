// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
            arguments.addAll(disk(image.kernel().resolveSibling("vmlinuz")));
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

    @Test
    void nextKernelFindsDevicesThatLeaveItsMemoryAlone() {
        Guest g = CLUSTER.node(2);
        g.exec(
                        "modprobe virtio_blk && cat /dev/vda > /tmp/kernel && cat /dev/vd[b-z] > /tmp/initrd"
                                + " && kexec -s -l /tmp/kernel --initrd=/tmp/initrd --reuse-cmdline && rm /tmp/kernel /tmp/initrd",
                        LONG)
                .ok();
        Execution flood = CLUSTER.node(1).start("ping -q -f -s 1400 -w 200 " + Cluster.address(2));
        g.exec("ping -q -c 20 -i 0.01 " + Cluster.address(1)).ok();
        g.rebootBy("kexec -e");
        flood.kill(2);
        flood.await(LONG);
        // A boot by kexec has no firmware in between: the kernel's clock begins anew, the machine's devices do not.
        assertEquals("", g.exec("dmesg -r | grep -E '^<[0-3]>' || true").ok().out());
        CLUSTER.node(1).exec("ping -c 3 -i 0.2 -W 5 " + Cluster.address(2)).ok();
        String out = Netcheck.between(CLUSTER, 1, 2).tcp(Cluster.address(2), "--bytes 4M");
        assertTrue(out.contains("4194304 bytes intact"), out);
    }
}
