// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import dev.backplane.vfiouser.protocol.Header;
import dev.backplane.vfiouser.protocol.Limits;
import dev.backplane.vfiouser.protocol.RegionMessages;
import dev.backplane.vfiouser.protocol.SpinBudget;

/**
 * How a client behaves. Immutable. The first four values are proposed to the server.
 *
 * @param maxFds most descriptors that the client takes in one message
 * @param maxTransferBytes most data in one message, up to {@link Limits#MAX_DATA_XFER_SIZE}
 * @param twinSocket whether to ask for a socket of its own for the server's commands
 * @param writeMultiple whether to tell that REGION_WRITE_MULTI may be used
 * @param timeoutMillis how long to wait for an answer
 * @param spin how many clients that share the object may look for an answer before they go to sleep: worth a core where
 *     one can be spared, worthless where many clients share few
 */
public record ClientOptions(
        int maxFds,
        int maxTransferBytes,
        boolean twinSocket,
        boolean writeMultiple,
        int timeoutMillis,
        SpinBudget spin) {
    /** Nothing special: no twin, no spinning, 10 seconds. */
    public static final ClientOptions DEFAULT =
            new ClientOptions(8, Limits.MAX_DATA_XFER_SIZE, false, true, 10_000, new SpinBudget(0));

    public ClientOptions {
        if (maxFds < 0 || maxTransferBytes < 1 || maxTransferBytes > Limits.MAX_DATA_XFER_SIZE) {
            throw new IllegalArgumentException("maxFds " + maxFds + ", maxTransferBytes " + maxTransferBytes);
        }
        if (timeoutMillis < 1) {
            throw new IllegalArgumentException("timeoutMillis " + timeoutMillis);
        }
    }

    public ClientOptions withMaxFds(int count) {
        return new ClientOptions(count, maxTransferBytes, twinSocket, writeMultiple, timeoutMillis, spin);
    }

    public ClientOptions withMaxTransferBytes(int bytes) {
        return new ClientOptions(maxFds, bytes, twinSocket, writeMultiple, timeoutMillis, spin);
    }

    public ClientOptions withTwinSocket(boolean ask) {
        return new ClientOptions(maxFds, maxTransferBytes, ask, writeMultiple, timeoutMillis, spin);
    }

    public ClientOptions withTimeoutMillis(int millis) {
        return new ClientOptions(maxFds, maxTransferBytes, twinSocket, writeMultiple, millis, spin);
    }

    public ClientOptions withSpin(SpinBudget budget) {
        return new ClientOptions(maxFds, maxTransferBytes, twinSocket, writeMultiple, timeoutMillis, budget);
    }

    /** The largest message that a server may send: any reply to a read of the most data, or capabilities. */
    int maxMessage() {
        return Header.BYTES + RegionMessages.DATA + Math.max(maxTransferBytes, 1 << 16);
    }
}
