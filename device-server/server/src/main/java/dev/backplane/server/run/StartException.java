// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

/** Why a server cannot start, in one line that says what to do. */
public final class StartException extends Exception {
    private static final long serialVersionUID = 1L;

    public StartException(String message) {
        super(message);
    }

    public StartException(String message, Throwable cause) {
        super(message, cause);
    }
}
