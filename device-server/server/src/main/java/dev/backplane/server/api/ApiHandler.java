// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns HTTP requests into calls of the {@link Router}. One for each connection, confined to its event loop. */
final class ApiHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
    private static final Logger LOG = LoggerFactory.getLogger(ApiHandler.class);

    private final Router router;
    private AutoCloseable stream;

    ApiHandler(Router router) {
        this.router = router;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
        if (!request.decoderResult().isSuccess()) {
            send(ctx, false, Response.error(400, "not an HTTP request"));
            return;
        }
        boolean keepAlive = HttpUtil.isKeepAlive(request);
        try {
            QueryStringDecoder uri = new QueryStringDecoder(request.uri());
            Response response = router.route(
                    request.method().name(),
                    uri.path(),
                    last(uri.parameters()),
                    request.content().toString(StandardCharsets.UTF_8));
            send(ctx, keepAlive, response);
        } catch (IllegalArgumentException e) {
            send(ctx, keepAlive, Response.error(400, String.valueOf(e.getMessage())));
        } catch (RuntimeException e) {
            LOG.error("{} {} failed", request.method(), request.uri(), e);
            send(ctx, keepAlive, Response.error(500, "fault of the device server, see its log: " + e));
        }
    }

    private void send(ChannelHandlerContext ctx, boolean keepAlive, Response response) {
        switch (response) {
            case Response.Json json -> send(ctx, keepAlive, json.status(), "application/json", bytes(json.body()));
            case Response.Text text ->
                send(ctx, keepAlive, 200, text.contentType(), text.body().getBytes(StandardCharsets.UTF_8));
            case Response.Stream open -> startStream(ctx, open);
        }
    }

    private void send(ChannelHandlerContext ctx, boolean keepAlive, int status, String contentType, byte[] body) {
        var full = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), Unpooled.wrappedBuffer(body));
        full.headers().set(HttpHeaderNames.CONTENT_TYPE, contentType).set(HttpHeaderNames.CONTENT_LENGTH, body.length);
        HttpUtil.setKeepAlive(full, keepAlive);
        var sent = ctx.writeAndFlush(full);
        if (!keepAlive) {
            sent.addListener(ChannelFutureListener.CLOSE);
        }
    }

    private void startStream(ChannelHandlerContext ctx, Response.Stream open) {
        var head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
        head.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, open.contentType())
                .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
        var _ = ctx.writeAndFlush(head);
        Channel channel = ctx.channel();
        stream = open.source().start(piece -> {
            // A reader that stops reading must not make the server hold its pieces: beyond the channel's high-water
            // mark
            // they are refused, and the source counts them.
            if (!channel.isWritable()) {
                return false;
            }
            var _ = channel.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(piece)));
            return true;
        });
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        if (stream != null) {
            stream.close();
            stream = null;
        }
        super.channelInactive(ctx);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (!(cause instanceof IOException)) {
            LOG.warn("management connection ends: {}", cause.toString());
        }
        var _ = ctx.close();
    }

    private static byte[] bytes(Object body) {
        try {
            return Json.MAPPER.writeValueAsBytes(body);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write " + body.getClass() + " as JSON", e);
        }
    }

    private static Map<String, String> last(Map<String, List<String>> parameters) {
        Map<String, String> last = new HashMap<>();
        parameters.forEach((name, values) -> last.put(name, values.getLast()));
        return last;
    }
}
