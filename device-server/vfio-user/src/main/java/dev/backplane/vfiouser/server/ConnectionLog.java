// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log lines of one connection: few, whatever the client does. Each kind of complaint comes once for a connection;
 * the counters tell how often it was.
 */
final class ConnectionLog {
    private static final Logger LOG = LoggerFactory.getLogger(VfioUserServer.class);

    private final String name;
    private final int pid;
    private boolean connected;
    private boolean refusedOnce;
    private boolean failedOnce;
    private boolean notSharedOnce;
    private boolean sharesMemory;

    ConnectionLog(String name, int pid) {
        this.name = name;
        this.pid = pid;
    }

    void connected(int major, int minor, String capabilities) {
        connected = true;
        LOG.info("{}: client {} connected, version {}.{} {}", name, pid, major, minor, capabilities);
    }

    /** A request that cannot be granted, in words that help. */
    void refused(String why) {
        if (!refusedOnce) {
            refusedOnce = true;
            LOG.warn("{}: client {}: {}", name, pid, why);
        }
    }

    /** The device model threw: a fault of ours, so with its stack. */
    void deviceFailed(String command, Throwable t) {
        if (!failedOnce) {
            failedOnce = true;
            LOG.error("{}: the device failed at {}; further failures are only counted", name, command, t);
        }
    }

    void mapped(long address, long bytes, boolean writable, boolean shared) {
        if (LOG.isDebugEnabled()) {
            LOG.debug(
                    "{}: window 0x{} of 0x{} bytes{}{}",
                    name,
                    Long.toHexString(address),
                    Long.toHexString(bytes),
                    writable ? "" : ", read-only",
                    shared ? "" : ", not shared");
        }
        // Read-only windows without a file are ROMs, and once memory is shared the others are BARs of devices.
        if (shared) {
            sharesMemory = true;
        } else if (writable && !sharesMemory) {
            notShared();
        }
    }

    private void notShared() {
        if (!notSharedOnce) {
            notSharedOnce = true;
            LOG.warn(
                    "{}: guest memory is not shared, so every access takes a message and is slow; start QEMU with"
                            + " -object memory-backend-memfd,id=mem,size=SIZE,share=on -machine memory-backend=mem",
                    name);
        }
    }

    void twinFailed(String why) {
        LOG.warn("{}: client {}: commands of ours go over the common socket: {}", name, pid, why);
    }

    /** The client has gone in an orderly way. */
    void left() {
        if (connected) {
            LOG.info("{}: client {} disconnected", name, pid);
        }
    }

    /** The connection was ended because it could not be trusted any more. */
    void closed(String why) {
        LOG.warn("{}: client {}: connection closed: {}", name, pid, why);
    }
}
