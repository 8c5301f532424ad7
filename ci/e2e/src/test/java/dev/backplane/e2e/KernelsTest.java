// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.testkit.Cluster;
import dev.backplane.testkit.Execution;
import dev.backplane.testkit.Guest;
import dev.backplane.testkit.GuestImage;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Guests with the kernels of Debian 12, of Debian 13 and of its backports, side by side on one device server. */
@Timeout(240)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class KernelsTest {
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final List<String> RELEASES = List.of("bookworm", "trixie", "backports");

    @RegisterExtension
    static final Cluster CLUSTER =
            Cluster.of(RELEASES.size()).withImages(id -> GuestImage.ofRelease(RELEASES.get(id - 1)));

    @Test
    @Order(1)
    void kernelsDifferAndBothDriversAreBoundInEach() {
        List<String> kernels =
                nodes().mapToObj(id -> out(id, "uname -r").strip()).distinct().toList();
        assertEquals(RELEASES.size(), kernels.size(), kernels.toString());
        assertTrue(kernels.getFirst().startsWith("6.1."), kernels.toString());
        nodes().forEach(id -> {
            String pci = out(id, "lspci -k -d ba5c:");
            assertTrue(pci.contains("Kernel driver in use: bp_agg"), pci);
            assertTrue(pci.contains("Kernel driver in use: bp_imm"), pci);
        });
    }

    @Test
    @Order(2)
    void pingAndTcpBetweenEachTwoKernels() {
        exchangeFrames();
    }

    private static void exchangeFrames() {
        for (int[] pair : new int[][] {{1, 2}, {2, 3}, {3, 1}}) {
            out(pair[0], "ping -c 3 -i 0.2 -s 1400 -W 5 " + Cluster.address(pair[1]));
            Tcp.transfer(CLUSTER, pair[0], pair[1], 2_000_000);
        }
    }

    @Test
    @Order(3)
    void messagesBetweenEachTwoKernels() {
        for (int[] pair : new int[][] {{1, 2}, {2, 3}, {3, 1}}) {
            Execution owner =
                    CLUSTER.node(pair[1]).start("bp-get --listen --count 1 --timeout 60 --ring " + (40 + pair[0]));
            owner.awaitOutput("ring " + (40 + pair[0]), LONG);
            out(pair[0], "bp-put --data hello --node " + pair[1] + " --ring " + (40 + pair[0]));
            assertTrue(owner.await(LONG).ok().out().contains("hello"), owner.out());
        }
    }

    @Test
    @Order(4)
    void ethtoolAndSelfTest() {
        nodes().forEach(id -> {
            String name = Guests.netdev(CLUSTER.node(id));
            for (String option : List.of("-i", "-S", "-g", "-l", "-c", "-k", "-d")) {
                out(id, "ethtool " + option + " " + name);
            }
            String test = out(id, "ethtool -t " + name + " offline");
            assertTrue(test.contains("PASS"), test);
        });
    }

    @Test
    @Order(5)
    void driversUnloadAndComeBack() {
        nodes().forEach(id -> {
            Guest g = CLUSTER.node(id);
            g.exec("rmmod bp_agg bp_imm && modprobe bp_agg && modprobe bp_imm && bp-net", LONG)
                    .ok();
        });
        exchangeFrames();
    }

    @Test
    @Order(6)
    void kernelLogsAreFreeOfErrors() {
        nodes().forEach(id -> assertEquals("", out(id, "dmesg -r | grep -E '^<[0-3]>' || true")));
    }

    private static IntStream nodes() {
        return IntStream.rangeClosed(1, RELEASES.size());
    }

    private static String out(int node, String script) {
        return CLUSTER.node(node).exec(script, LONG).ok().out();
    }
}
