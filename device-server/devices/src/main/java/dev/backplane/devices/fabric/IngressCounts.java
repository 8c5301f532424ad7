// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.fabric;

/** What one sender has counted in a turn, added to the counters at its end. Confined to the sender's loop. */
final class IngressCounts {
    private final PortCounters port;
    private final FabricCounters fabric;

    int frames;
    long bytes;
    int errors;
    int refused;
    int memoryWaits;
    int portWaits;
    int unicast;
    int flooded;
    int floodedToNobody;
    int noDestination;
    int copies;
    int mirrored;
    int macRefused;
    int snooped;

    IngressCounts(PortCounters port, FabricCounters fabric) {
        this.port = port;
        this.fabric = fabric;
    }

    void flush() {
        port.txFrames.add(frames);
        port.txBytes.add(bytes);
        port.txErrors.add(errors);
        port.txDropped.add(refused);
        port.txWaits.add(memoryWaits);
        port.txPortWaits.add(portWaits);
        fabric.unicast.add(unicast);
        fabric.flooded.add(flooded);
        fabric.floodedToNobody.add(floodedToNobody);
        fabric.noDestination.add(noDestination);
        fabric.copies.add(copies);
        fabric.mirrored.add(mirrored);
        fabric.refused.add(macRefused);
        fabric.snooped.add(snooped);
        frames = 0;
        bytes = 0;
        errors = 0;
        refused = 0;
        memoryWaits = 0;
        portWaits = 0;
        unicast = 0;
        flooded = 0;
        floodedToNobody = 0;
        noDestination = 0;
        copies = 0;
        mirrored = 0;
        macRefused = 0;
        snooped = 0;
    }
}
