// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A guest's serial console: always drained (a guest stalls on a full one), kept to a limit, searched for the signs of a
 * kernel's trouble. Any thread may wait for a pattern.
 */
public final class Console {
    /** Lines in which a kernel reports trouble that must not pass unnoticed in a test. */
    public static final Pattern TROUBLE = Pattern.compile("Kernel panic"
            + "|Oops:"
            + "|BUG: "
            + "|general protection fault"
            + "|WARNING: (?:CPU|possible|suspicious|at )"
            + "|rcu:.*stall"
            + "|INFO: task .* blocked for more than"
            + "|UBSAN: |KASAN: "
            + "|NETDEV WATCHDOG");

    private static final int KEPT_CHARS = 512 * 1024;
    private static final int TAIL_LINES = 80;

    private final StringBuilder text = new StringBuilder();
    private final Consumer<String> onTrouble;
    private long dropped;
    private boolean ended;
    private boolean quiet;
    private String cause;

    /** {@code onTrouble} gets the first line that matches {@link #TROUBLE}. */
    Console(Consumer<String> onTrouble) {
        this.onTrouble = onTrouble;
    }

    /** Reads {@code in} to its end on the calling thread. */
    void drain(InputStream in) {
        byte[] buffer = new byte[8192];
        try {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                append(new String(buffer, 0, n, StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            append("\n[console: " + e.getMessage() + "]\n");
        }
        synchronized (this) {
            ended = true;
            notifyAll();
        }
    }

    private void append(String chunk) {
        String trouble = null;
        synchronized (this) {
            int from = text.lastIndexOf("\n") + 1;
            text.append(chunk);
            Matcher m = TROUBLE.matcher(text);
            if (!quiet && m.find(Math.min(from, text.length()))) {
                int lineEnd = text.indexOf("\n", m.start());
                trouble = text.substring(text.lastIndexOf("\n", m.start()) + 1, lineEnd < 0 ? text.length() : lineEnd);
            }
            if (text.length() > 2 * KEPT_CHARS) {
                int cut = text.length() - KEPT_CHARS;
                text.delete(0, cut);
                dropped += cut;
            }
            notifyAll();
        }
        if (trouble != null) {
            onTrouble.accept(trouble.strip());
        }
    }

    /** Trouble is expected from here on, as in a test that makes a kernel panic. */
    public synchronized void expectTrouble() {
        quiet = true;
    }

    /** A position in the console's text, to wait for what comes after it. */
    public synchronized long mark() {
        return dropped + text.length();
    }

    /** Waits until the pattern is found anywhere on the console. */
    public String await(String pattern, Duration limit) {
        return await(pattern, 0, limit);
    }

    /**
     * Waits until the pattern is found after {@code mark}.
     *
     * @return the match
     * @throws GuestFailure when the time has passed or the console has ended
     */
    public synchronized String await(String pattern, long mark, Duration limit) {
        Pattern p = Pattern.compile(pattern, Pattern.MULTILINE);
        Monitor.await(this, () -> ended || cause != null || find(p, mark) != null, limit);
        String found = find(p, mark);
        if (found == null) {
            String why = cause != null ? cause : ended ? "the console ended" : "not within " + limit;
            throw new GuestFailure("waiting for /" + pattern + "/ on the console: " + why + "\n" + tail());
        }
        return found;
    }

    private String find(Pattern pattern, long mark) {
        Matcher m = pattern.matcher(text);
        return m.find((int) Math.min(Math.max(0, mark - dropped), text.length())) ? m.group() : null;
    }

    /** Ends all waiting, because the guest has failed. */
    synchronized void fail(String why) {
        cause = why;
        notifyAll();
    }

    /** Everything that was kept. */
    public synchronized String text() {
        return text.toString();
    }

    /** The last lines, indented, for a message. */
    public synchronized String tail() {
        ArrayDeque<String> last = new ArrayDeque<>();
        text.toString().lines().forEach(line -> {
            last.add(line.stripTrailing());
            if (last.size() > TAIL_LINES) {
                last.remove();
            }
        });
        return "  | " + String.join("\n  | ", last);
    }
}
