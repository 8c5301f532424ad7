// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.uplink;

import dev.backplane.devices.uplink.FarSide;
import dev.backplane.devices.uplink.UplinkPort;
import dev.backplane.vfiouser.counter.CounterGroup;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An uplink whose far side is a Unix socket with the framing of QEMU's {@code stream} netdev: passt, another QEMU, another
 * device server. There is one connection at a time, and the link is up while there is one. As a client it connects anew
 * when the connection ends, after pauses that double up to a limit; as a server it waits for the next client.
 */
public final class StreamUplink implements Uplink, FarSide {
    /**
     * States.
     *
     * <pre>
     *   from        to          when
     *   WAITING     CONNECTED   a client was accepted, or the server has accepted us
     *   CONNECTED   WAITING     the connection has ended
     *   any         CLOSED      the uplink is closed
     * </pre>
     */
    enum State {
        WAITING,
        CONNECTED,
        CLOSED
    }

    private static final Logger LOG = LoggerFactory.getLogger(StreamUplink.class);

    /** Bytes that are read in one go. */
    private static final int READ_BYTES = 64 * 1024;

    private static final int FIRST_PAUSE_MILLIS = 50;

    /** Not writable from the first byte that waits to the last: so a run's buffer is free again when the channel is. */
    private static final WriteBufferWaterMark OUT = new WriteBufferWaterMark(1, 1);

    private final UplinkPort port;
    private final StreamOptions options;
    private final EventLoop loop;
    private final StreamCounters counters = new StreamCounters();

    private volatile State state = State.WAITING;
    private volatile StreamConnection connection;
    private Channel listener;
    private int pause = FIRST_PAUSE_MILLIS;
    private boolean failureTold;

    private StreamUplink(UplinkPort port, StreamOptions options, EventLoop loop) {
        this.port = port;
        this.options = options;
        this.loop = loop;
    }

    /**
     * Begins to listen, or to connect.
     *
     * @param loop its thread; others may use it, too
     * @throws IOException when the socket cannot be made
     */
    public static StreamUplink open(UplinkPort port, StreamOptions options, EventLoop loop) throws IOException {
        StreamUplink uplink = new StreamUplink(port, options, loop);
        port.attach(uplink);
        if (options.listens()) {
            uplink.listen();
        } else {
            loop.execute(uplink::connect);
        }
        return uplink;
    }

    private void listen() throws IOException {
        ChannelFuture bound = new ServerBootstrap()
                .group(loop)
                .channel(EpollServerDomainSocketChannel.class)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, OUT)
                .childOption(ChannelOption.RECVBUF_ALLOCATOR, receiveAllocator())
                .childHandler(initializer())
                .bind(new DomainSocketAddress(options.path().toFile()))
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException("cannot listen on " + options.path(), bound.cause());
        }
        listener = bound.channel();
        Files.setPosixFilePermissions(options.path(), PosixFilePermissions.fromString("rw-------"));
    }

    private void connect() {
        if (state == State.CLOSED) {
            return;
        }
        new Bootstrap()
                .group(loop)
                .channel(EpollDomainSocketChannel.class)
                .option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, OUT)
                .option(ChannelOption.RECVBUF_ALLOCATOR, receiveAllocator())
                .handler(initializer())
                .connect(new DomainSocketAddress(options.path().toFile()))
                .addListener(result -> {
                    if (!result.isSuccess()) {
                        counters.failures.increment();
                        if (!failureTold) {
                            failureTold = true;
                            LOG.info(
                                    "uplink {}: nobody listens on {} yet ({}); trying again",
                                    port.name(),
                                    options.path(),
                                    reason(result.cause()));
                        }
                        retry();
                    }
                });
    }

    private static String reason(Throwable cause) {
        return cause.getCause() == null ? cause.getMessage() : cause.getCause().getMessage();
    }

    private void retry() {
        loop.schedule(this::connect, pause, TimeUnit.MILLISECONDS);
        pause = Math.min(2 * pause, options.reconnectMillis());
    }

    private static FixedRecvByteBufAllocator receiveAllocator() {
        FixedRecvByteBufAllocator allocator = new FixedRecvByteBufAllocator(READ_BYTES);
        allocator.maxMessagesPerRead(1);
        return allocator;
    }

    private ChannelInitializer<Channel> initializer() {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                if (connection != null || state == State.CLOSED) {
                    counters.refused.increment();
                    LOG.warn("uplink {}: a second client was refused; one is connected", port.name());
                    channel.close();
                    return;
                }
                StreamConnection c = new StreamConnection(StreamUplink.this);
                connection = c;
                channel.pipeline().addLast(c);
                channel.closeFuture().addListener(_ -> forget(c));
            }
        };
    }

    /** A connection has gone, whether or not it had ever been made. */
    @SuppressWarnings("ReferenceEquality")
    private void forget(StreamConnection c) {
        if (connection == c) {
            connection = null;
        }
    }

    // ---- from the connection, on the event loop ----

    StreamCounters count() {
        return counters;
    }

    void connected(StreamConnection c) {
        counters.connects.increment();
        pause = Math.min(FIRST_PAUSE_MILLIS, options.reconnectMillis());
        failureTold = false;
        state = State.CONNECTED;
        LOG.info("uplink {}: connected, {}", port.name(), options.path());
        port.abandon();
        port.setCarrier(true);
    }

    void disconnected(StreamConnection c) {
        port.setCarrier(false);
        port.abandon();
        String fault = c.fault();
        if (fault == null) {
            LOG.info("uplink {}: the peer has closed the connection", port.name());
        } else {
            LOG.warn("uplink {}: the connection is closed: {}", port.name(), fault);
        }
        if (state == State.CLOSED) {
            return;
        }
        state = State.WAITING;
        forget(c);
        if (!options.listens()) {
            retry();
        }
    }

    // ---- from the fabric, any thread ----

    @Override
    public void framesReady() {
        StreamConnection c = connection;
        if (c != null) {
            c.framesReady();
        }
    }

    @Override
    public void roomAgain() {
        StreamConnection c = connection;
        if (c != null) {
            c.roomAgain();
        }
    }

    // ---- for the management side ----

    @Override
    public UplinkPort port() {
        return port;
    }

    @Override
    public String kind() {
        return "stream";
    }

    @Override
    public String endpoint() {
        return options.path().toString();
    }

    @Override
    public String state() {
        return switch (state) {
            case WAITING -> options.listens() ? "listening" : "connecting";
            case CONNECTED -> "connected";
            case CLOSED -> "closed";
        };
    }

    @Override
    public CounterGroup counters() {
        return counters.group();
    }

    @Override
    public void close() {
        loop.submit(() -> {
                    state = State.CLOSED;
                    StreamConnection c = connection;
                    if (c != null) {
                        c.close();
                    }
                })
                .awaitUninterruptibly();
        if (listener != null) {
            listener.close().awaitUninterruptibly();
            try {
                Files.deleteIfExists(options.path());
            } catch (IOException e) {
                LOG.warn("uplink {}: cannot remove {}", port.name(), options.path(), e);
            }
        }
    }
}
