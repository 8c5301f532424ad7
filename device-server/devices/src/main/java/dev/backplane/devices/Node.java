// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices;

import java.util.regex.Pattern;

/**
 * A node of the interconnect: a guest, or a host process that joins as one. It keeps its id and address for life.
 *
 * @param id 1 to {@link #MAX_ID}; 0 means "no node" in registers and completions
 * @param name what people call it: a letter or digit, then letters, digits, dots and dashes, 63 at most
 * @param mac permanent Ethernet address, of one station
 * @param partition name of the set of nodes that it may talk to
 */
public record Node(int id, String name, MacAddress mac, String partition) {
    /** Largest id. */
    public static final int MAX_ID = 4096;
    /** The partition of nodes for which none is named. */
    public static final String DEFAULT_PARTITION = "default";

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.-]{0,62}");

    public Node {
        if (id < 1 || id > MAX_ID) {
            throw new IllegalArgumentException("a node's id is 1 to " + MAX_ID + ", not " + id);
        }
        requireName("a node", name);
        requireName("a partition", partition);
        if (mac.group() || mac.bits() == 0) {
            throw new IllegalArgumentException("node " + name + ": " + mac + " is not the address of one station");
        }
    }

    /** The node of that id with default name, address and partition. */
    public static Node of(int id) {
        return new Node(id, "node" + id, MacAddress.ofNode(id), DEFAULT_PARTITION);
    }

    /** Throws {@link IllegalArgumentException} when {@code name} cannot be the name of {@code what}, such as "a node". */
    public static void requireName(String what, String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(what + "'s name is a letter or digit, then letters, digits,"
                    + " dots and dashes, at most 63: \"" + name + "\"");
        }
    }
}
