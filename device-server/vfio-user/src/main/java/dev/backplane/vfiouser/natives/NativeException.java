// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import java.io.IOException;

/** A system call that failed: names the call and the error. */
public final class NativeException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    NativeException(String call, int errno) {
        super(call + " failed: " + Errno.name(errno));
        this.errno = errno;
    }

    /** The error number, positive. */
    public int errno() {
        return errno;
    }

    /** Returns {@code result}, or throws when it is a negated error number. */
    static int check(String call, int result) throws NativeException {
        if (result < 0) {
            throw new NativeException(call, -result);
        }
        return result;
    }
}
