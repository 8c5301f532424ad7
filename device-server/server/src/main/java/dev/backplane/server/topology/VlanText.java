// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.topology;

import dev.backplane.devices.fabric.VlanPolicy;
import java.util.BitSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How the VLANs of a port are written: see {@link ValueType#VLANS}. */
final class VlanText {
    private static final Pattern FORM = Pattern.compile("all|access ([0-9]{1,4})"
            + "|trunk ([0-9]{1,4}(?:-[0-9]{1,4})?(?:,[0-9]{1,4}(?:-[0-9]{1,4})?)*)(?: native ([0-9]{1,4}))?");

    private VlanText() {}

    /** Throws {@link IllegalArgumentException} for what has another form or ids outside 1 to 4094. */
    static VlanPolicy parse(String text) {
        Matcher m = FORM.matcher(text);
        if (!m.matches()) {
            throw new IllegalArgumentException();
        }
        if (m.group(1) != null) {
            return VlanPolicy.access(Integer.parseInt(m.group(1)));
        }
        if (m.group(2) == null) {
            return VlanPolicy.all();
        }
        BitSet vlans = new BitSet();
        for (String range : m.group(2).split(",", -1)) {
            String[] ends = range.split("-", -1);
            int first = Integer.parseInt(ends[0]);
            int last = Integer.parseInt(ends[ends.length - 1]);
            if (first > last) {
                throw new IllegalArgumentException();
            }
            vlans.set(first, last + 1);
        }
        return VlanPolicy.trunk(m.group(3) == null ? 1 : Integer.parseInt(m.group(3)), vlans);
    }
}
