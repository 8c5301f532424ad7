// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** QEMU's monitor (QMP): one command at a time, events kept until somebody waits for them. */
public final class Qmp implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** QEMU answers once it has read kernel and image, which takes long where the disk is cold and slow. */
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final SocketChannel channel;
    private final List<JsonNode> events = new ArrayList<>();
    private JsonNode answer;
    private boolean ended;

    Qmp(String guest, Path socket) throws IOException {
        channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.connect(UnixDomainSocketAddress.of(socket));
        Thread.ofPlatform().name("qmp " + guest).daemon(true).start(this::read);
        execute("qmp_capabilities");
    }

    /** Carries a command without arguments out. */
    public JsonNode execute(String command) {
        return execute(command, JSON.createObjectNode());
    }

    /** Carries a command out; returns what it returned. Throws {@link GuestFailure} with QEMU's own words. */
    public synchronized JsonNode execute(String command, ObjectNode arguments) {
        ObjectNode request = JSON.createObjectNode().put("execute", command);
        request.set("arguments", arguments);
        answer = null;
        try {
            ByteBuffer b = ByteBuffer.wrap((request + "\n").getBytes(StandardCharsets.UTF_8));
            while (b.hasRemaining()) {
                channel.write(b);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        await(() -> answer != null, LIMIT, command);
        if (answer.has("error")) {
            throw new GuestFailure(
                    "QMP " + command + ": " + answer.path("error").path("desc").asText());
        }
        return answer.path("return");
    }

    /** Waits for an event of that name and takes it. */
    public synchronized JsonNode awaitEvent(String name, Duration limit) {
        await(() -> events.stream().anyMatch(e -> e.path("event").asText().equals(name)), limit, name);
        JsonNode event = events.stream()
                .filter(e -> e.path("event").asText().equals(name))
                .findFirst()
                .orElseThrow();
        events.remove(event);
        return event;
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void await(BooleanSupplier condition, Duration limit, String what) {
        boolean intime = Monitor.await(this, () -> ended || condition.getAsBoolean(), limit);
        if (!intime || !condition.getAsBoolean()) {
            throw new GuestFailure("QMP " + what + ": " + (ended ? "QEMU is gone" : "not within " + limit));
        }
    }

    private void read() {
        try (BufferedReader in = new BufferedReader(Channels.newReader(channel, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                JsonNode message = JSON.readTree(line);
                synchronized (this) {
                    if (message.has("event")) {
                        events.add(message);
                    } else if (!message.has("QMP")) {
                        answer = message;
                    }
                    notifyAll();
                }
            }
        } catch (IOException e) {
            // QEMU has ended, or we have closed: said below.
        }
        synchronized (this) {
            ended = true;
            notifyAll();
        }
    }
}
