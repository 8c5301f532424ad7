// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.protocol;

/** Capabilities that cannot be understood; answered with EINVAL. */
public final class CapabilitiesException extends Exception {
    private static final long serialVersionUID = 1L;

    CapabilitiesException(String message) {
        super(message);
    }

    CapabilitiesException(String message, Throwable cause) {
        super(message, cause);
    }
}
