// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The management interface over its real socket, with routes made for the test. */
@Timeout(30)
class ApiServerTest {
    record Greeting(String theName, List<Integer> someNumbers) {}

    @TempDir
    private Path temp;

    private final CountDownLatch streamClosed = new CountDownLatch(1);
    private final AtomicReference<Response.Sink> sink = new AtomicReference<>();
    private final CountDownLatch streamStarted = new CountDownLatch(1);
    private EventLoopGroup group;
    private ApiServer server;
    private Path socket;
    private ApiClient client;

    @BeforeEach
    void listen() throws IOException {
        socket = temp.resolve("api.sock");
        group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        Router router = new Router()
                .add(
                        "GET",
                        "/greet/{name}",
                        "greets",
                        r -> Response.json(new Greeting(r.path().get("name"), List.of(1, 2))))
                .add("PUT", "/echo", "echoes", r -> Response.json(Map.of("body", r.body())))
                .add(
                        "GET",
                        "/text",
                        "a text",
                        r -> new Response.Text(
                                "text/plain", "plain " + r.query().get("q") + "\n"))
                .add("GET", "/refuse", "refuses", r -> {
                    throw new Router.RequestException(409, "not now");
                })
                .add("GET", "/fail", "fails", r -> {
                    throw new IllegalStateException("a fault made for this test");
                })
                .add(
                        "GET",
                        "/stream",
                        "never ends",
                        r -> new Response.Stream("text/plain", s -> {
                            sink.set(s);
                            streamStarted.countDown();
                            return streamClosed::countDown;
                        }));
        server = new ApiServer(socket, router, group);
        client = new ApiClient(socket);
    }

    @AfterEach
    void end() throws Exception {
        server.close();
        group.shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.SECONDS).await();
    }

    @Test
    void onlyTheOwnerMayConnect() throws IOException {
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)));
    }

    @Test
    void recordsBecomeJsonWithSnakeCase() throws IOException {
        JsonNode answer = client.get("/greet/anna");
        assertEquals("{\"the_name\":\"anna\",\"some_numbers\":[1,2]}", answer.toString());
    }

    @Test
    void bodiesAndQueriesArrive() throws IOException {
        assertEquals(
                "{\"a\":1}", client.put("/echo", Map.of("a", 1)).path("body").asText());
        assertEquals("plain x y\n", client.text("/text?q=x%20y"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/nothing", "/greet", "/greet/a/b", "//", "/greet/a/"})
    void aPathThatIsNotThereIsToldByName(String path) {
        String message = assertThrows(ApiClient.RefusedException.class, () -> client.get(path))
                .getMessage();
        assertTrue(message.contains("there is no"), message);
    }

    @Test
    void refusalsCarryTheHandlersWords() {
        assertEquals(
                "not now",
                assertThrows(ApiClient.RefusedException.class, () -> client.get("/refuse"))
                        .getMessage());
        assertEquals(
                "/echo allows PUT, not GET",
                assertThrows(ApiClient.RefusedException.class, () -> client.get("/echo"))
                        .getMessage());
    }

    @Test
    void aFaultEndsOneRequestOnly() throws IOException {
        String message = assertThrows(ApiClient.RefusedException.class, () -> client.get("/fail"))
                .getMessage();
        assertTrue(message.contains("see its log"), message);
        assertEquals("plain 1\n", client.text("/text?q=1"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "garbage\r\n\r\n",
                "GET\r\n\r\n",
                "PUT /echo HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
                "PUT /echo HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
                "GET /text?q=%zz HTTP/1.1\r\n\r\n",
            })
    void whatIsNotHttpHurtsNobodyElse(String bytes) throws IOException {
        try (SocketChannel raw = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            raw.connect(UnixDomainSocketAddress.of(socket));
            raw.write(ByteBuffer.wrap(bytes.getBytes(StandardCharsets.ISO_8859_1)));
            ByteBuffer answer = ByteBuffer.allocate(4096);
            raw.read(answer);
            String text = new String(answer.array(), 0, answer.position(), StandardCharsets.ISO_8859_1);
            assertTrue(text.isEmpty() || text.startsWith("HTTP/1.1 4"), text);
        }
        assertEquals("plain 1\n", client.text("/text?q=1"));
    }

    @Test
    void aStreamFlowsAndIsClosedWhenTheReaderGoes() throws Exception {
        CountDownLatch got = new CountDownLatch(1);
        OutputStream out = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                got.countDown();
                throw new IOException("the reader goes");
            }
        };
        Thread reader =
                Thread.ofPlatform().start(() -> assertThrows(IOException.class, () -> client.stream("/stream", out)));
        streamStarted.await();
        assertTrue(sink.get().offer("line\n".getBytes(StandardCharsets.UTF_8)));
        got.await();
        reader.join();
        streamClosed.await();
    }

    @Test
    void aReaderThatDoesNotReadIsNotBufferedWithoutEnd() throws Exception {
        try (SocketChannel raw = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            raw.connect(UnixDomainSocketAddress.of(socket));
            raw.write(ByteBuffer.wrap("GET /stream HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
            streamStarted.await();
            byte[] piece = new byte[64 * 1024];
            int taken = 0;
            while (sink.get().offer(piece)) {
                taken++;
                assertTrue(taken < 1000, "a reader that does not read made the server hold 64 MB");
            }
        }
        streamClosed.await();
    }

    @Test
    void closeRemovesTheSocket() throws IOException {
        server.close();
        assertFalse(Files.exists(socket));
        String message =
                assertThrows(IOException.class, () -> client.get("/text")).getMessage();
        assertTrue(message.contains("no device server listens on " + socket), message);
    }
}
