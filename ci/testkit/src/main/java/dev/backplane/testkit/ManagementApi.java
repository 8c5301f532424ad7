// SPDX-License-Identifier: Apache-2.0
package dev.backplane.testkit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The device server's management API: HTTP on a Unix socket. */
public final class ManagementApi implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int LIMIT_SECONDS = 10;
    private static final int MAX_ANSWER = 16 << 20;

    private final Path socket;
    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

    /** Nothing is connected before the first request. */
    public ManagementApi(Path socket) {
        this.socket = socket;
    }

    /** GETs a resource that is JSON. Throws {@link GuestFailure} when the server does not answer with 200. */
    public JsonNode get(String path) {
        return json(path, text(HttpMethod.GET, path, ""));
    }

    /** PUTs JSON; returns the answer's JSON. */
    public JsonNode put(String path, String body) {
        return json(path, text(HttpMethod.PUT, path, body));
    }

    /** GETs a resource as text. */
    public String text(String path) {
        return text(HttpMethod.GET, path, "");
    }

    private static JsonNode json(String path, String text) {
        try {
            return JSON.readTree(text);
        } catch (IOException e) {
            throw new GuestFailure("the management API answers " + path + " with what is not JSON: " + text, e);
        }
    }

    private String text(HttpMethod method, String path, String body) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        Channel channel = null;
        try {
            channel = new Bootstrap()
                    .group(group)
                    .channel(NioDomainSocketChannel.class)
                    .handler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            ch.pipeline()
                                    .addLast(new HttpClientCodec(), new HttpObjectAggregator(MAX_ANSWER))
                                    .addLast(new Answer(answer));
                        }
                    })
                    .connect(UnixDomainSocketAddress.of(socket))
                    .sync()
                    .channel();
            var request = new DefaultFullHttpRequest(
                    HttpVersion.HTTP_1_1, method, path, Unpooled.copiedBuffer(body, StandardCharsets.UTF_8));
            request.headers()
                    .set(HttpHeaderNames.HOST, "localhost")
                    .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE)
                    .set(HttpHeaderNames.CONTENT_LENGTH, request.content().readableBytes());
            channel.writeAndFlush(request);
            return answer.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new GuestFailure("management API, " + method + " " + path + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new GuestFailure("interrupted while waiting for the management API", e);
        } finally {
            if (channel != null) {
                channel.close();
            }
        }
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    private static final class Answer extends SimpleChannelInboundHandler<FullHttpResponse> {
        private final CompletableFuture<String> answer;

        Answer(CompletableFuture<String> answer) {
            this.answer = answer;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse response) {
            String text = response.content().toString(StandardCharsets.UTF_8);
            if (response.status().code() / 100 == 2) {
                answer.complete(text);
            } else {
                answer.completeExceptionally(new IOException(response.status() + ": " + text));
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            answer.completeExceptionally(new IOException("closed without an answer"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            answer.completeExceptionally(cause);
        }
    }
}
