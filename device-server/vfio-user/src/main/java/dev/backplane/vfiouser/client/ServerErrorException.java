// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.client;

import dev.backplane.vfiouser.natives.Errno;
import java.io.IOException;

/** The server answered a command with an error. The connection is as good as before. */
public final class ServerErrorException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    ServerErrorException(String command, int errno) {
        super(command + " was refused: " + Errno.name(errno));
        this.errno = errno;
    }

    /** The error number of the reply; 0 when the server gave none. */
    public int errno() {
        return errno;
    }
}
