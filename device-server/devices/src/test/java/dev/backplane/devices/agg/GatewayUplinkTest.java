// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.backplane.devices.MacAddress;
import dev.backplane.devices.uplink.UplinkConfig;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several stations behind a gateway that was made for one, and answers for every address. */
@Timeout(60)
class GatewayUplinkTest {
    private static final int GATEWAY_IP = 0x0a4d_00fe;
    private static final MacAddress GATEWAY = new MacAddress(0x9a55_9a55_9a55L);
    private static final int REQUEST = 1;
    private static final int REPLY = 2;

    private final FabricFixture fabric = new FabricFixture();
    private final SimulatedNic a = fabric.nic(1);
    private final SimulatedNic b = fabric.nic(2);
    private final SimulatedFarSide passt = new SimulatedFarSide(
            fabric.fabric.addUplink(UplinkConfig.named("outside").withGateway(GATEWAY_IP)));

    @AfterEach
    void close() {
        fabric.close();
    }

    private static int ip(int node) {
        return 0x0a4d_0000 + node;
    }

    private static byte[] arp(MacAddress to, MacAddress from, int operation, int sender, int target) {
        ByteBuffer f = ByteBuffer.allocate(42);
        Frames.mac(f, to);
        Frames.mac(f, from);
        f.putShort((short) 0x0806).putShort((short) 1).putShort((short) 0x0800).putShort((short) 0x0604);
        f.putShort((short) operation);
        Frames.mac(f, from);
        f.putInt(sender);
        Frames.mac(f, to);
        return f.putInt(target).array();
    }

    private static byte[] ipv4(MacAddress to, MacAddress from, int source, int destination) {
        byte[] f = Frames.udp(to, from, 1, 2, 20);
        ByteBuffer.wrap(f).putInt(26, source).putInt(30, destination);
        return f;
    }

    private static MacAddress destination(byte[] frame) {
        return new MacAddress(ByteBuffer.wrap(frame).getLong(0) >>> 16);
    }

    private SimulatedNic.Received next(SimulatedNic nic) {
        fabric.await("a frame", () -> nic.rx.completed() != nic.rx.consumed);
        return nic.receive().getFirst();
    }

    @Test
    void onlyQuestionsForTheGatewayGoThere() {
        a.send(arp(MacAddress.BROADCAST, a.mac(), REQUEST, ip(1), ip(2)));
        next(b);
        byte[] question = arp(MacAddress.BROADCAST, a.mac(), REQUEST, ip(1), GATEWAY_IP);
        a.send(question);
        assertArrayEquals(question, passt.receive(1, fabric).getFirst());
        a.send(Frames.frame(MacAddress.BROADCAST, a.mac(), 60, 1));
        fabric.await("what it does not know to be dropped", () -> passt.count("rx_dropped_filtered") == 2);
        assertEquals(List.of(), passt.receive());
    }

    @Test
    void answersGoToWhoeverUsesTheAddressWhoeverSpokeLast() {
        a.send(arp(MacAddress.BROADCAST, a.mac(), REQUEST, ip(1), GATEWAY_IP));
        next(b);
        b.send(arp(MacAddress.BROADCAST, b.mac(), REQUEST, ip(2), GATEWAY_IP));
        next(a);
        passt.receive(2, fabric);
        // All of it is addressed to b, the last that it heard.
        passt.send(arp(b.mac(), GATEWAY, REPLY, GATEWAY_IP, ip(1)));
        assertEquals(a.mac(), destination(next(a).data()));
        passt.send(ipv4(b.mac(), GATEWAY, 0x0808_0808, ip(1)));
        byte[] received = next(a).data();
        byte[] expected = ipv4(a.mac(), GATEWAY, 0x0808_0808, ip(1));
        assertArrayEquals(expected, received);
        passt.send(ipv4(b.mac(), GATEWAY, 0x0808_0808, ip(2)));
        assertEquals(b.mac(), destination(next(b).data()));
        // An address that nobody has used: as it was addressed.
        passt.send(ipv4(b.mac(), GATEWAY, 0x0808_0808, ip(77)));
        assertEquals(b.mac(), destination(next(b).data()));
    }

    @Test
    void itCannotAnswerForOthers() {
        passt.send(arp(a.mac(), GATEWAY, REPLY, ip(2), ip(1)));
        byte[] cut = Arrays.copyOf(arp(a.mac(), GATEWAY, REPLY, GATEWAY_IP, ip(1)), 41);
        passt.send(cut);
        passt.send(Arrays.copyOf(cut, 20));
        fabric.await("them to be dropped", () -> passt.count("tx_dropped") == 3);
        assertEquals(List.of(), a.receive());
    }
}
