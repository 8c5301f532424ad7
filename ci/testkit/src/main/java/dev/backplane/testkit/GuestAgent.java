// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Speaks with the agent that runs in the guest ({@code images/guest}) over the socket of its virtio-serial port: runs
 * several commands at once, passes their output on as it comes. One thread reads, any thread writes.
 */
final class GuestAgent implements AutoCloseable {
    private final String guest;
    private final SocketChannel channel;
    private final ConcurrentHashMap<Integer, Execution> running = new ConcurrentHashMap<>();
    private final AtomicInteger ids = new AtomicInteger();
    private final ByteBuffer in = ByteBuffer.allocate(64 * 1024).flip();
    private String kernel;
    private String failure;

    GuestAgent(String guest, Path socket) throws IOException {
        this.guest = guest;
        this.channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        this.channel.connect(UnixDomainSocketAddress.of(socket));
        Thread.ofPlatform().name("agent " + guest).daemon(true).start(this::read);
    }

    /** Waits until the guest has booted as far as its agent; returns its kernel's release. */
    synchronized String awaitReady(Duration limit) {
        boolean intime = Monitor.await(this, () -> kernel != null || failure != null, limit);
        if (!intime || failure != null) {
            throw new GuestFailure(guest + " did not boot: " + (failure != null ? failure : "not within " + limit));
        }
        return kernel;
    }

    /** Forgets that the guest is ready: it is about to boot again. */
    synchronized void rebooting() {
        kernel = null;
        running.values().forEach(e -> e.failed("the guest was rebooted"));
        running.clear();
    }

    Execution run(String script) {
        int id = ids.incrementAndGet();
        Execution e = new Execution(this, guest, id, script);
        synchronized (this) {
            if (failure != null) {
                throw new GuestFailure(guest + "# " + script + ": " + failure);
            }
            running.put(id, e);
        }
        byte[] body = script.getBytes(StandardCharsets.UTF_8);
        send("run " + id + " " + body.length + "\n", body);
        return e;
    }

    void kill(int id, int signal) {
        if (running.containsKey(id)) {
            send("kill " + id + " " + signal + "\n", new byte[0]);
        }
    }

    /** Ends everything that waits, because the guest has failed. */
    synchronized void fail(String why) {
        failure = why;
        notifyAll();
        running.values().forEach(e -> e.failed(why));
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private synchronized void send(String head, byte[] body) {
        ByteBuffer b = ByteBuffer.allocate(head.length() + body.length);
        b.put(head.getBytes(StandardCharsets.US_ASCII)).put(body).flip();
        try {
            while (b.hasRemaining()) {
                channel.write(b);
            }
        } catch (IOException e) {
            // As in read().
        }
    }

    private void read() {
        try {
            while (true) {
                dispatch(line().split(" "));
            }
        } catch (IOException e) {
            // QEMU has ended, or we have closed. Who watches QEMU knows why, and fails what waits here.
        } catch (RuntimeException e) {
            fail("the agent sent what is not its protocol: " + e);
        }
    }

    private void dispatch(String[] words) throws IOException {
        switch (words[0]) {
            case "ready" -> {
                synchronized (this) {
                    kernel = words[2];
                    notifyAll();
                }
            }
            case "out", "err" -> {
                byte[] bytes = bytes(Integer.parseInt(words[2]));
                Execution e = running.get(Integer.parseInt(words[1]));
                if (e != null) {
                    e.output(words[0].equals("err"), bytes);
                }
            }
            case "exit" -> {
                Execution e = running.remove(Integer.parseInt(words[1]));
                if (e != null) {
                    e.exited(Integer.parseInt(words[2]));
                }
            }
            case "error" -> {
                // A command may end just before it is killed.
                if (!words[1].equals("kill")) {
                    fail("the agent reports: " + String.join(" ", words));
                }
            }
            default -> throw new IllegalArgumentException(String.join(" ", words));
        }
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        while (true) {
            byte b = next();
            if (b == '\n') {
                return line.toString();
            }
            line.append((char) b);
        }
    }

    private byte[] bytes(int count) throws IOException {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = next();
        }
        return bytes;
    }

    private byte next() throws IOException {
        if (!in.hasRemaining()) {
            in.clear();
            int n = channel.read(in);
            in.flip();
            if (n <= 0) {
                throw new EOFException();
            }
        }
        return in.get();
    }
}
