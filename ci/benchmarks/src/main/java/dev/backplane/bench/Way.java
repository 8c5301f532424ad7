// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

/** A way for frames from guest to guest. */
enum Way {
    BACKPLANE("backplane", 77),
    STREAM("virtio-net, stream", 78),
    DGRAM("virtio-net, dgram", 79),
    VDE("virtio-net, vde_switch", 80),
    TAP("virtio-net, TAP", 81),
    TAP_VHOST("virtio-net, TAP, vhost", 82),
    OVS_DPDK("virtio-net, Open vSwitch with DPDK", 83);

    private final String label;
    private final int network;

    Way(String label, int network) {
        this.label = label;
        this.network = network;
    }

    String label() {
        return label;
    }

    /** The address of guest {@code id}, 1 or 2. */
    String address(int id) {
        return "10." + network + ".0." + id;
    }

    /** The MAC address of a guest's virtio-net device. */
    String mac(int id) {
        return "02:00:00:00:" + network + ":0" + id;
    }

    @Override
    public String toString() {
        return label;
    }
}
