// SPDX-License-Identifier: Apache-2.0
package dev.backplane.e2e;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.backplane.testkit.Cluster;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a guest's kernel makes of the two devices. */
@Timeout(240)
class DeviceVisibilityTest {
    @RegisterExtension
    static final Cluster CLUSTER = Clusters.THREE;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void bothDevicesAreBoundToTheirDrivers(int node) {
        String pci = CLUSTER.node(node).exec("lspci -k -d ba5c:").ok().out();
        assertTrue(pci.contains("Kernel driver in use: bp_agg"), pci);
        assertTrue(pci.contains("Kernel driver in use: bp_imm"), pci);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ba5c:8672", "ba5c:2143"})
    void capabilitiesAreThoseOfAPciExpressEndpoint(String id) {
        String pci = CLUSTER.node(1).exec("lspci -vv -d " + id).ok().out();
        assertTrue(pci.contains("Express") && pci.contains("Endpoint"), pci);
        assertTrue(pci.contains("MSI-X: Enable+"), pci);
        assertTrue(pci.contains("Power Management"), pci);
        assertTrue(pci.contains("FLReset+"), pci);
        assertTrue(pci.contains("BusMaster+"), pci);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void interfaceHasTheNodesAddressAndCarrier(int node) {
        String name = Guests.netdev(CLUSTER.node(node));
        String sys = "/sys/class/net/" + name + "/";
        assertEquals(
                "1",
                CLUSTER.node(node).exec("cat " + sys + "carrier").ok().out().strip());
        assertEquals(
                "02:ba:5c:00:00:0" + node,
                CLUSTER.node(node).exec("cat " + sys + "address").ok().out().strip());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void kernelLogIsFreeOfErrors(int node) {
        assertEquals(
                "",
                CLUSTER.node(node)
                        .exec("dmesg -r | grep -E '^<[0-3]>' || true")
                        .ok()
                        .out());
    }
}
