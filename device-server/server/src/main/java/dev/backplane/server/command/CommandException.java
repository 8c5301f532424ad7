// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.command;

/** A command that did not work: what to tell the user, one line for each fault, and the exit code. */
public final class CommandException extends Exception {
    /** It did not work. */
    public static final int FAILED = 1;
    /** The command line, the topology or the run directory cannot be used. */
    public static final int USAGE = 2;

    private static final long serialVersionUID = 1L;

    private final int exitCode;

    CommandException(int exitCode, String message, Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    /** {@link #FAILED} or {@link #USAGE}. */
    public int exitCode() {
        return exitCode;
    }
}
