// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.uplink;

import dev.backplane.devices.uplink.UplinkPort;
import dev.backplane.vfiouser.counter.CounterGroup;

/** A far side that is being served. Any thread may call. */
public interface Uplink extends AutoCloseable {
    /** Its port in the switch fabric. */
    UplinkPort port();

    /** What it is: {@code stream} or {@code tap}. */
    String kind();

    /** Where it is: the path of a socket, the name of an interface. */
    String endpoint();

    /** What it is doing, in one word or two. */
    String state();

    /** What it counts beyond what its port counts. */
    CounterGroup counters();

    /** Takes the link down and ends. */
    @Override
    void close();
}
