// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.api;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A blocking client of the management interface: one request on one connection. HTTP is Netty's; the socket is the JDK's,
 * which needs no event loop for this.
 */
public final class ApiClient {
    /** The server refused a request; the message is its own. */
    public static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1L;

        RefusedException(String message) {
            super(message);
        }
    }

    private final Path socket;

    /** {@code socket} is the server's {@code backplane.sock}. */
    public ApiClient(Path socket) {
        this.socket = socket;
    }

    /**
     * Gets a JSON value.
     *
     * @throws RefusedException when the server answers with an error
     * @throws IOException when no server listens, or it ends
     */
    public JsonNode get(String path) throws IOException {
        return Json.MAPPER.readTree(request(HttpMethod.GET, path, new byte[0]));
    }

    /** Gets a text, otherwise as {@link #get}. */
    public String text(String path) throws IOException {
        return new String(request(HttpMethod.GET, path, new byte[0]), StandardCharsets.UTF_8);
    }

    /** Puts a value and gets the answer, otherwise as {@link #get}. */
    public JsonNode put(String path, Object value) throws IOException {
        return Json.MAPPER.readTree(request(HttpMethod.PUT, path, Json.MAPPER.writeValueAsBytes(value)));
    }

    /** Copies a stream to {@code out}, flushed piece by piece, until the server ends. Otherwise as {@link #get}. */
    public void stream(String path, OutputStream out) throws IOException {
        exchange(HttpMethod.GET, path, new byte[0], out);
    }

    private byte[] request(HttpMethod method, String path, byte[] body) throws IOException {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        exchange(method, path, body, answer);
        return answer.toByteArray();
    }

    private void exchange(HttpMethod method, String path, byte[] body, OutputStream out) throws IOException {
        EmbeddedChannel http = new EmbeddedChannel(new HttpClientCodec());
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            connect(channel);
            var request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, method, path, Unpooled.wrappedBuffer(body));
            request.headers()
                    .set(HttpHeaderNames.HOST, "backplane")
                    .set(HttpHeaderNames.CONTENT_LENGTH, body.length)
                    .set(HttpHeaderNames.CONNECTION, "close");
            http.writeOutbound(request);
            for (ByteBuf part = http.readOutbound(); part != null; part = http.readOutbound()) {
                for (ByteBuffer bytes = part.nioBuffer(); bytes.hasRemaining(); ) {
                    channel.write(bytes);
                }
                part.release();
            }
            new Receiver(http, channel).receive(out);
        } finally {
            http.finishAndReleaseAll();
        }
    }

    private void connect(SocketChannel channel) throws IOException {
        try {
            channel.connect(UnixDomainSocketAddress.of(socket));
        } catch (SocketException e) {
            throw new IOException(
                    "no device server listens on " + socket + " (" + e.getMessage()
                            + "): start one with 'backplane serve', or give its --run-dir",
                    e);
        }
    }

    private record Receiver(EmbeddedChannel http, SocketChannel channel) {
        void receive(OutputStream out) throws IOException {
            ByteBuffer bytes = ByteBuffer.allocate(16 * 1024);
            ByteArrayOutputStream refusal = null;
            while (channel.read(bytes) >= 0) {
                http.writeInbound(Unpooled.copiedBuffer(bytes.flip()));
                bytes.clear();
                for (Object part = http.readInbound(); part != null; part = http.readInbound()) {
                    if (part instanceof HttpResponse head && head.status().code() != 200) {
                        refusal = new ByteArrayOutputStream();
                    }
                    if (part instanceof HttpContent content) {
                        OutputStream to = refusal == null ? out : refusal;
                        content.content().readBytes(to, content.content().readableBytes());
                        to.flush();
                    }
                    boolean last = part instanceof LastHttpContent;
                    ReferenceCountUtil.release(part);
                    if (last && refusal != null) {
                        JsonNode error = Json.MAPPER.readTree(refusal.toByteArray());
                        throw new RefusedException(error.path("error").asText("the server refused the request"));
                    }
                    if (last) {
                        return;
                    }
                }
            }
            throw new IOException("the device server closed the connection");
        }
    }
}
