// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import dev.backplane.testkit.GuestImage;
import dev.backplane.testkit.GuestRunner;
import dev.backplane.testkit.LocalQemu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What connects the guests beside Backplane: switches and shared memory. Each is started if it can run here; of each that
 * cannot, the reason is kept.
 */
final class Peers implements AutoCloseable {
    /** Namespace with a bridge and a TAP device for each guest. */
    private static final String TAPS = """
            exec unshare --net sh -euc '
                ip link set lo up
                ip link add bridge type bridge
                ip link set bridge up
                for tap in tap1 tap2 vtap1 vtap2; do ip tuntap add "$tap" mode tap; ip link set "$tap" up; done
                ip link set tap1 master bridge
                ip link set tap2 master bridge
                ip link add vbridge type bridge
                ip link set vbridge up
                ip link set vtap1 master vbridge
                ip link set vtap2 master vbridge
                echo ready
                cat >/dev/null'
            """;

    /** $1: the peers' root, $2: the folder for the socket. */
    private static final String VDE = """
            "$1/usr/lib64/ld-linux-x86-64.so.2" --library-path "$1/usr/lib/x86_64-linux-gnu" "$1/usr/bin/vde_switch" \\
                --sock "$2/vde" --daemon --pidfile "$2/vde.pid" >&2
            i=0
            until [ -S "$2/vde/ctl" ] && [ -s "$2/vde.pid" ]; do
                if [ "$i" -ge 100 ]; then
                    echo "its socket does not appear" >&2
                    exit 1
                fi
                i=$((i + 1))
                sleep 0.1
            done
            echo ready
            cat >/dev/null
            kill "$(cat "$2/vde.pid")"
            """;

    private final Path directory;
    private final List<Helper> helpers = new ArrayList<>();
    private final EnumSet<Way> ways = EnumSet.of(Way.BACKPLANE);
    private final Map<Way, String> missing = new EnumMap<>(Way.class);
    private String namespace;
    private OvsDpdk ovs;

    /** Starts what can be started of the {@code wanted}; sockets are in {@code directory}, whose path is short. */
    Peers(Path directory, Context context, Set<Way> wanted) {
        this.directory = directory;
        List.of(Way.STREAM, Way.DGRAM).stream().filter(wanted::contains).forEach(ways::add);
        if (wanted.contains(Way.VDE) || wanted.contains(Way.OVS_DPDK)) {
            startSwitches(System.getenv("BACKPLANE_PEERS"), wanted);
        }
        if (wanted.contains(Way.TAP)) {
            startTaps();
        }
        missing.forEach((way, why) -> context.missing(way.label(), why));
    }

    private void startSwitches(String root, Set<Way> wanted) {
        if (root == null) {
            String why = "images and packages for it are missing: run it by ci/bench";
            missing.put(Way.VDE, why);
            missing.put(Way.OVS_DPDK, why);
            return;
        }
        start(Way.VDE, VDE, List.of(root, directory.toString()));
        if (!wanted.contains(Way.OVS_DPDK)) {
            missing.put(Way.OVS_DPDK, "its poller takes a core from whatever runs beside it: only with --ovs-dpdk");
            return;
        }
        try {
            ovs = OvsDpdk.start(root, directory);
            ways.add(Way.OVS_DPDK);
        } catch (IOException e) {
            missing.put(Way.OVS_DPDK, "it does not start: " + e.getMessage());
        }
    }

    private Helper start(Way way, String script, List<String> arguments) {
        try {
            Helper h = Helper.start(directory.resolve(way.name() + ".log"), script, arguments);
            helpers.add(h);
            ways.add(way);
            return h;
        } catch (IOException e) {
            missing.put(way, "it does not start: " + e.getMessage());
            return null;
        }
    }

    private void startTaps() {
        Helper taps = start(Way.TAP, TAPS, List.of());
        if (taps == null) {
            missing.put(Way.TAP_VHOST, missing.get(Way.TAP));
            return;
        }
        namespace = "/proc/" + taps.pid() + "/ns/net";
        if (Files.isWritable(Path.of("/dev/vhost-net"))) {
            ways.add(Way.TAP_VHOST);
        } else {
            missing.put(Way.TAP_VHOST, "this host has no /dev/vhost-net that may be opened");
        }
    }

    /** The ways that are there, Backplane first. */
    Way[] ways() {
        return ways.toArray(new Way[0]);
    }

    /** QEMU, in the namespace of the TAP devices if there is one. */
    GuestRunner runner() {
        if (namespace == null) {
            return new LocalQemu();
        }
        return (name, image, arguments, where) -> {
            Path script = directory.resolve("qemu-" + name);
            Files.writeString(
                    script, "#!/bin/sh\nexec nsenter --net=" + namespace + " '" + image.qemu() + "' \"$@\"\n");
            Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
            GuestImage inside = new GuestImage(
                    script, image.kernel(), image.initrds(), image.kernelArguments(), image.accelerator());
            return new LocalQemu().start(name, inside, arguments, where);
        };
    }

    /** QEMU's arguments for guest {@code id}, 1 or 2: a virtio-net device for each way, and ivshmem. */
    List<String> devices(int id) {
        List<String> all = new ArrayList<>();
        for (Way way : ways) {
            if (way == Way.OVS_DPDK) {
                all.addAll(OvsDpdk.devices(directory, id));
            } else if (way != Way.BACKPLANE) {
                all.addAll(List.of("-netdev", netdev(way, id)));
                all.addAll(List.of("-device", "virtio-net-pci,netdev=" + way.name() + ",mac=" + way.mac(id)));
            }
        }
        all.addAll(List.of(
                "-object",
                "memory-backend-file,id=plain,size=1M,share=on,mem-path=" + directory.resolve("plain"),
                "-device",
                "ivshmem-plain,memdev=plain"));
        return all;
    }

    private String netdev(Way way, int id) {
        String name = ",id=" + way.name();
        return switch (way) {
            case BACKPLANE, OVS_DPDK -> throw new IllegalArgumentException(way + " has a device of its own");
            case STREAM ->
                "stream" + name + ",addr.type=unix,addr.path=" + directory.resolve("stream")
                        + (id == 1 ? ",server=on" : ",server=off,reconnect-ms=100");
            case DGRAM ->
                "dgram" + name + ",local.type=unix,local.path=" + directory.resolve("dgram" + id)
                        + ",remote.type=unix,remote.path=" + directory.resolve("dgram" + (3 - id));
            case VDE -> "vde" + name + ",sock=" + directory.resolve("vde");
            case TAP -> "tap" + name + ",ifname=tap" + id + ",script=no,downscript=no,vhost=off";
            case TAP_VHOST -> "tap" + name + ",ifname=vtap" + id + ",script=no,downscript=no,vhost=on";
        };
    }

    @Override
    public void close() {
        if (ovs != null) {
            ovs.close();
        }
        helpers.reversed().forEach(Helper::close);
    }
}
