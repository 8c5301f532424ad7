// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

/** A command that runs in a guest. Any thread may wait for it. */
public final class Execution {
    private final GuestAgent agent;
    private final String guest;
    private final int id;
    private final String command;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private Integer exitCode;
    private String failure;

    Execution(GuestAgent agent, String guest, int id, String command) {
        this.agent = agent;
        this.guest = guest;
        this.id = id;
        this.command = command;
    }

    synchronized void output(boolean error, byte[] bytes) {
        (error ? err : out).writeBytes(bytes);
        notifyAll();
    }

    synchronized void exited(int code) {
        exitCode = code;
        notifyAll();
    }

    synchronized void failed(String why) {
        if (exitCode == null && failure == null) {
            failure = why;
            notifyAll();
        }
    }

    /** Sends the command's process group a signal. */
    public void kill(int signal) {
        agent.kill(id, signal);
    }

    /** Standard output so far. */
    public synchronized String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    /** Standard error so far. */
    public synchronized String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    /** Whether the command has ended. */
    public synchronized boolean ended() {
        return exitCode != null;
    }

    /** Waits until the pattern appears on standard output or standard error. */
    public synchronized void awaitOutput(String pattern, Duration limit) {
        Pattern p = Pattern.compile(pattern, Pattern.MULTILINE);
        await(
                () -> exitCode != null
                        || p.matcher(out()).find()
                        || p.matcher(err()).find(),
                limit,
                "/" + pattern + "/");
        if (!p.matcher(out()).find() && !p.matcher(err()).find()) {
            throw new AssertionError("ended without /" + pattern + "/: " + result());
        }
    }

    /** Waits for the end; a command that takes longer than {@code limit} is killed and fails the test. */
    public synchronized ExecResult await(Duration limit) {
        await(() -> exitCode != null, limit, "its end");
        return result();
    }

    private void await(BooleanSupplier done, Duration limit, String what) {
        boolean intime = false;
        try {
            intime = Monitor.await(this, () -> failure != null || done.getAsBoolean(), limit);
        } finally {
            if (!intime) {
                agent.kill(id, 9);
            }
        }
        if (!intime || failure != null) {
            String why = failure != null ? failure : what + " did not come within " + limit;
            throw new GuestFailure(guest + "# " + command + ": " + why + "\n" + out() + err());
        }
    }

    private ExecResult result() {
        return new ExecResult(guest, command, exitCode, out(), err());
    }
}
