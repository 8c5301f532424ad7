// SPDX-License-Identifier: Apache-2.0
package dev.backplane.server.uplink;

import dev.backplane.devices.fabric.FabricConfig;
import dev.backplane.devices.uplink.FrameRing;
import dev.backplane.devices.uplink.UplinkPort;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection of a stream uplink. All of it runs on the uplink's event loop, which is the far side's thread.
 *
 * <p>Out: frames are gathered from the ring into one buffer of its own, and written in one go; the next run is gathered
 * when the peer has taken this one. In: bytes are read only when the last ones are in the ring, so a peer that sends
 * more than the fabric takes is stopped by its own socket.
 */
final class StreamConnection extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(StreamConnection.class);

    /** Bytes of a run: at least the largest frame, and many small ones. */
    private static final int RUN_BYTES = 128 * 1024;

    private static final int PREFIX = 4;
    /** Runs before others on the event loop get their turn. */
    private static final int RUNS = 8;

    private final StreamUplink uplink;
    private final UplinkPort port;
    private final FrameRing ring;
    private final FrameDecoder decoder;
    private final ByteBuf run = Unpooled.directBuffer(RUN_BYTES, RUN_BYTES);
    private final MemorySegment runMemory = MemorySegment.ofBuffer(run.nioBuffer(0, RUN_BYTES));
    private final Runnable pumpTask = this::pump;
    private final Runnable resumeTask = this::resume;

    private volatile ChannelHandlerContext context;
    private boolean writing;
    /** Bytes that wait for room in the ring. */
    private ByteBuf waiting;

    private String fault;

    StreamConnection(StreamUplink uplink) {
        this.uplink = uplink;
        this.port = uplink.port();
        this.ring = port.outgoing();
        this.decoder = new FrameDecoder(port);
        assert RUN_BYTES >= FabricConfig.MAX_FRAME + PREFIX;
    }

    /** Ends the connection. */
    void close() {
        if (context != null) {
            context.close();
        }
    }

    /** Why it ended; null when the peer closed it. */
    String fault() {
        return fault;
    }

    // ---- from the fabric, any thread ----

    void framesReady() {
        execute(pumpTask);
    }

    void roomAgain() {
        execute(resumeTask);
    }

    private void execute(Runnable task) {
        ChannelHandlerContext c = context;
        if (c != null) {
            try {
                c.executor().execute(task);
            } catch (RejectedExecutionException e) {
                // The server ends; what is in the ring stays there.
                LOG.debug("uplink {}: its event loop has ended", port.name());
            }
        }
    }

    // ---- on the event loop ----

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    @Override
    public void channelActive(ChannelHandlerContext active) {
        uplink.connected(this);
        pump();
        active.read();
    }

    @Override
    public void channelInactive(ChannelHandlerContext inactive) {
        uplink.disconnected(this);
        if (waiting != null) {
            waiting.release();
            waiting = null;
        }
        run.release();
    }

    @Override
    public void channelRead(ChannelHandlerContext from, Object message) {
        ByteBuf in = (ByteBuf) message;
        if (take(in)) {
            in.release();
        } else {
            waiting = in;
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext from) {
        if (waiting == null && from.channel().isActive()) {
            from.read();
        }
    }

    /** Decodes; returns false when the rest has to wait for room. */
    private boolean take(ByteBuf in) {
        return switch (decoder.decode(in)) {
            case DONE -> true;
            case NO_ROOM -> {
                port.countWait();
                yield false;
            }
            case BAD_LENGTH -> {
                uplink.count().badLengths.increment();
                fault = "it announced a frame of " + decoder.length() + " bytes, the most are " + FabricConfig.MAX_FRAME
                        + ": does it speak the protocol of QEMU's stream netdev?";
                context.close();
                yield true;
            }
        };
    }

    private void resume() {
        if (waiting == null || !context.channel().isActive()) {
            return;
        }
        ByteBuf in = waiting;
        if (take(in)) {
            waiting = null;
            in.release();
            context.read();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext changed) {
        if (writing && changed.channel().isWritable()) {
            writing = false;
            pump();
        }
    }

    /** Writes frames until there are none, or the peer takes no more. */
    private void pump() {
        if (writing || !context.channel().isActive()) {
            return;
        }
        for (int i = 0; i < RUNS; i++) {
            gather();
            if (!run.isReadable()) {
                if (ring.sleep()) {
                    return;
                }
                continue;
            }
            uplink.count().batches.increment();
            // Everything of the run is on its way, or the channel is not writable until it is (StreamUplink.OUT).
            context.writeAndFlush(run.retain(), context.voidPromise());
            if (!context.channel().isActive()) {
                return;
            }
            if (!context.channel().isWritable()) {
                uplink.count().writeWaits.increment();
                writing = true;
                return;
            }
        }
        context.executor().execute(pumpTask);
    }

    private void gather() {
        run.clear();
        for (long at = ring.first(); at != FrameRing.NONE; at = ring.first()) {
            int length = ring.length(at);
            int to = run.writerIndex();
            if (to + PREFIX + length > RUN_BYTES) {
                break;
            }
            run.writeInt(length);
            MemorySegment.copy(ring.memory(), at + FrameRing.HEADER, runMemory, to + PREFIX, length);
            run.writerIndex(to + PREFIX + length);
            ring.remove();
        }
        if (run.isReadable() && ring.release()) {
            port.sent();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext at, Throwable cause) {
        if (cause instanceof IOException) {
            fault = cause.getMessage();
        } else {
            LOG.error("uplink {}: internal fault", port.name(), cause);
            fault = "internal fault";
        }
        at.close();
    }
}
