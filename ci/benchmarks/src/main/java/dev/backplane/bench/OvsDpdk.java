// SPDX-License-Identifier: Apache-2.0
package dev.backplane.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Open vSwitch with DPDK between two vhost-user netdevs, without huge pages. Its poller spins on a core for as long as it
 * runs, and slows whatever is measured beside it.
 */
final class OvsDpdk implements AutoCloseable {
    /** $1: the peers' root, $2: the folder for sockets. In namespaces of its own, so that nothing is left. */
    private static final String SCRIPT = """
            exec unshare --mount --net sh -euc '
                mount --rbind /dev "$1/dev"
                mount --rbind /proc "$1/proc"
                mount --rbind /sys "$1/sys"
                for scratch in tmp run var/run; do mount -t tmpfs none "$1/$scratch"; done
                mount --bind "$2" "$1/home"
                exec chroot "$1" /bin/sh -euc "$3"' sh "$1" "$2" '
                    export OVS_RUNDIR=/run/openvswitch OVS_DBDIR=/tmp OVS_LOGDIR=/tmp
                    mkdir -p /run/openvswitch
                    cd /tmp
                    ovsdb-tool create conf.db /usr/share/openvswitch/vswitch.ovsschema >&2
                    ovsdb-server conf.db --remote=punix:/run/openvswitch/db.sock --pidfile=/home/ovsdb.pid --detach \\
                        --log-file=/tmp/ovsdb.log >&2
                    ovs-vsctl --no-wait init >&2
                    ovs-vsctl --no-wait set Open_vSwitch . other_config:dpdk-init=true \\
                        "other_config:dpdk-extra=--legacy-mem --no-huge --no-pci -m 256" >&2
                    /usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk --pidfile=/home/vswitchd.pid --detach \\
                        --log-file=/tmp/vswitchd.log >/dev/null 2>/tmp/errors || { tail -n 1 /tmp/errors >&2; exit 1; }
                    ovs-vsctl --timeout=20 add-br br0 -- set bridge br0 datapath_type=netdev >&2
                    for n in 1 2; do
                        ovs-vsctl --timeout=20 add-port br0 "v$n" -- set Interface "v$n" type=dpdkvhostuserclient \\
                            options:vhost-server-path="/home/ovs$n" 2>/tmp/errors >&2
                        if grep -q Error /tmp/errors; then
                            tail -n 3 /tmp/vswitchd.log >&2
                            exit 1
                        fi
                    done
                    echo ready
                    cat >/dev/null
                    kill "$(cat /home/vswitchd.pid)" "$(cat /home/ovsdb.pid)"'
            """;

    private final Helper helper;

    private OvsDpdk(Helper helper) {
        this.helper = helper;
    }

    /** Starts it; it connects with the guests when they come. */
    static OvsDpdk start(String root, Path directory) throws IOException {
        Helper helper = Helper.start(directory.resolve("ovs.log"), SCRIPT, List.of(root, directory.toString()));
        return new OvsDpdk(helper);
    }

    /** QEMU's arguments for guest {@code id}. */
    static List<String> devices(Path directory, int id) {
        return List.of(
                "-chardev", "socket,id=ovs,path=" + directory.resolve("ovs" + id) + ",server=on",
                "-netdev", "vhost-user,id=" + Way.OVS_DPDK.name() + ",chardev=ovs",
                "-device", "virtio-net-pci,netdev=" + Way.OVS_DPDK.name() + ",mac=" + Way.OVS_DPDK.mac(id));
    }

    @Override
    public void close() {
        helper.close();
    }
}
