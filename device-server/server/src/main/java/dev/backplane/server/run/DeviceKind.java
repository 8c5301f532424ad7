// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

/** The two devices of a node. */
public enum DeviceKind {
    /** The aggregation device. */
    AGG("agg"),
    /** The inter-node messaging module. */
    IMM("imm");

    private final String label;

    DeviceKind(String label) {
        this.label = label;
    }

    /** Short name, in sockets, metrics and JSON. */
    public String label() {
        return label;
    }

    /** The name of the device's socket in the run directory. */
    String socketName(String node) {
        return node + "." + label + ".sock";
    }
}
