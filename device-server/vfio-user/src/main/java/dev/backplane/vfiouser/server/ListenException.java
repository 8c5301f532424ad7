// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import java.io.IOException;

/** A socket that cannot be listened on; the message says why, and what to do. */
public final class ListenException extends IOException {
    private static final long serialVersionUID = 1L;

    ListenException(String message) {
        super(message);
    }

    ListenException(String message, Throwable cause) {
        super(message, cause);
    }
}
