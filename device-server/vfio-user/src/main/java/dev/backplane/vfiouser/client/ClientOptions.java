// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

/**
 * How a client behaves. The first four values are proposed to the server (vfio-user specification, VERSION).
 *
 * @param maxFds most descriptors that the client takes in one message
 * @param maxTransferBytes most data in one message
 * @param twinSocket whether to ask for a socket of its own for the server's commands
 * @param writeMultiple whether to tell that REGION_WRITE_MULTI may be used
 * @param timeoutMillis how long to wait for an answer
 * @param spinNanos how long to look for an answer before going to sleep: about the time of a register access where a core
 *     can be spared, 0 where many clients share few cores
 */
public record ClientOptions(
        int maxFds,
        int maxTransferBytes,
        boolean twinSocket,
        boolean writeMultiple,
        int timeoutMillis,
        long spinNanos) {
    /** One descriptor is what the specification assumes; a megabyte likewise. */
    public static final ClientOptions DEFAULT = new ClientOptions(8, 1 << 20, false, true, 10_000, 20_000);

    public ClientOptions {
        if (maxFds < 0 || maxTransferBytes < 1 || maxTransferBytes > 1 << 20) {
            throw new IllegalArgumentException("maxFds " + maxFds + ", maxTransferBytes " + maxTransferBytes);
        }
        if (timeoutMillis < 1 || spinNanos < 0) {
            throw new IllegalArgumentException("timeoutMillis " + timeoutMillis + ", spinNanos " + spinNanos);
        }
    }

    public ClientOptions withMaxFds(int maxFds) {
        return new ClientOptions(maxFds, maxTransferBytes, twinSocket, writeMultiple, timeoutMillis, spinNanos);
    }

    public ClientOptions withMaxTransferBytes(int bytes) {
        return new ClientOptions(maxFds, bytes, twinSocket, writeMultiple, timeoutMillis, spinNanos);
    }

    public ClientOptions withTwinSocket(boolean twinSocket) {
        return new ClientOptions(maxFds, maxTransferBytes, twinSocket, writeMultiple, timeoutMillis, spinNanos);
    }

    public ClientOptions withTimeoutMillis(int millis) {
        return new ClientOptions(maxFds, maxTransferBytes, twinSocket, writeMultiple, millis, spinNanos);
    }

    public ClientOptions withSpinNanos(long nanos) {
        return new ClientOptions(maxFds, maxTransferBytes, twinSocket, writeMultiple, timeoutMillis, nanos);
    }
}
