// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.api;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** The management interface of one server: listens on a Unix socket that only its owner may connect to. */
public final class ApiServer implements AutoCloseable {
    /** Largest body of a request, in bytes. */
    private static final int MAX_BODY = 64 * 1024;

    private final Path socket;
    private final Channel listener;
    private final ChannelGroup clients = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    /**
     * Listens. {@code group} runs all handlers of {@code router}; it stays the caller's.
     *
     * @param socket a path that does not exist
     * @throws IOException when the socket cannot be made
     */
    public ApiServer(Path socket, Router router, EventLoopGroup group) throws IOException {
        this.socket = socket;
        var bound = new ServerBootstrap()
                .group(group)
                .channel(EpollServerDomainSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        clients.add(channel);
                        channel.pipeline()
                                .addLast(new HttpServerCodec())
                                .addLast(new HttpObjectAggregator(MAX_BODY))
                                .addLast(new ApiHandler(router));
                    }
                })
                .bind(new DomainSocketAddress(socket.toFile()))
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException("cannot listen on " + socket, bound.cause());
        }
        listener = bound.channel();
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
    }

    /** Ends all connections and removes the socket. */
    @Override
    public void close() throws IOException {
        listener.close().awaitUninterruptibly();
        clients.close().awaitUninterruptibly();
        Files.deleteIfExists(socket);
    }
}
