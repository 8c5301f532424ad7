// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

/** A guest panicked, oopsed, ended or fell silent. The message says which, and carries the end of its console. */
public final class GuestFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public GuestFailure(String message) {
        super(message);
    }

    public GuestFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
