// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.run;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import java.util.concurrent.TimeUnit;

/** Event loops of Netty, one thread each: the management interface has one, the stream uplinks have one. */
public final class EventLoops {
    static {
        // Netty looks for these in the JVM's management, among the network's interfaces and in a secure random
        // generator,
        // which takes a fifth of a server's start. They only tell channels apart, in one process.
        preset("io.netty.processId", Long.toString(ProcessHandle.current().pid() & 0x3f_ffff));
        preset("io.netty.machineId", "02:00:00:00:00:00:00:01");
        preset("io.netty.initialSeedUniquifier", Long.toString(System.nanoTime()));
    }

    private static final IoHandlerFactory EPOLL = EpollIoHandler.newFactory();

    private EventLoops() {}

    private static void preset(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }

    /** A loop of its own, to be shut down by {@link #end}. */
    static EventLoopGroup one() {
        return new MultiThreadIoEventLoopGroup(1, EPOLL);
    }

    /** Ends a loop; returns when it has ended. */
    static void end(EventLoopGroup group) throws InterruptedException {
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
    }

    /** Makes a listening channel and gives it up: what is slow about the first is over then. */
    public static void rehearse() throws InterruptedException {
        EventLoopGroup group = one();
        try {
            new ServerBootstrap()
                    .group(group)
                    .channel(EpollServerDomainSocketChannel.class)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {}
                    })
                    .register()
                    .await()
                    .channel()
                    .close()
                    .await();
        } finally {
            end(group);
        }
    }
}
