// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

/**
 * How a command in a guest ended.
 *
 * @param guest the guest's name
 * @param command the command
 * @param exitCode its exit code; 128 + n when signal n ended it
 * @param out its standard output
 * @param err its standard error
 */
public record ExecResult(String guest, String command, int exitCode, String out, String err) {
    /** This result, if the command succeeded; else {@link AssertionError} with all that it printed. */
    public ExecResult ok() {
        if (exitCode != 0) {
            throw new AssertionError(this);
        }
        return this;
    }

    @Override
    public String toString() {
        return guest + "# " + command + "\n" + out + err + "[exit " + exitCode + "]";
    }
}
