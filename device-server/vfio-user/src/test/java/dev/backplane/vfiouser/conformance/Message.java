// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Builds a message byte by byte, right or wrong as a test wants it. */
public final class Message {
    private static int nextId = 0x100;

    private final ByteArrayOutputStream payload = new ByteArrayOutputStream();
    private final int command;
    private int id = nextId++ & 0xffff;
    private int flags;
    private int error;
    private long size = -1;

    private Message(int command) {
        this.command = command;
    }

    public static Message command(int command) {
        return new Message(command);
    }

    public static Message version(String json) {
        return command(Wire.VERSION)
                .u16(0)
                .u16(1)
                .bytes(json.getBytes(StandardCharsets.UTF_8))
                .u8(0);
    }

    public static Message dmaMap(int flags, long offset, long address, long size) {
        return command(Wire.DMA_MAP).u32(32).u32(flags).u64(offset).u64(address).u64(size);
    }

    public static Message dmaUnmap(int flags, long address, long size) {
        return command(Wire.DMA_UNMAP).u32(24).u32(flags).u64(address).u64(size);
    }

    public static Message getInfo() {
        return command(Wire.GET_INFO).u32(16).u32(0).u32(0).u32(0);
    }

    public static Message getRegionInfo(long argsz, int index) {
        return command(Wire.GET_REGION_INFO)
                .u32(argsz)
                .u32(0)
                .u32(index)
                .u32(0)
                .u64(0)
                .u64(0);
    }

    public static Message getRegionIoFds(long argsz, int index) {
        return command(Wire.GET_REGION_IO_FDS).u32(argsz).u32(0).u32(index).u32(0);
    }

    public static Message getIrqInfo(int index) {
        return command(Wire.GET_IRQ_INFO).u32(16).u32(0).u32(index).u32(0);
    }

    public static Message setIrqs(int flags, int index, int start, int count, byte... data) {
        return command(Wire.SET_IRQS)
                .u32(20 + data.length)
                .u32(flags)
                .u32(index)
                .u32(start)
                .u32(count)
                .bytes(data);
    }

    public static Message read(int region, long offset, long count) {
        return command(Wire.REGION_READ).u64(offset).u32(region).u32(count);
    }

    public static Message write(int region, long offset, byte... data) {
        return command(Wire.REGION_WRITE)
                .u64(offset)
                .u32(region)
                .u32(data.length)
                .bytes(data);
    }

    public static Message write32(int region, long offset, long value) {
        return command(Wire.REGION_WRITE).u64(offset).u32(region).u32(4).u32(value);
    }

    public static Message reset() {
        return command(Wire.RESET);
    }

    public static Message feature(long argsz, int flags) {
        return command(Wire.DEVICE_FEATURE).u32(argsz).u32(flags);
    }

    /** SET of the device's migration state. */
    public static Message deviceState(int state) {
        return feature(16, Wire.FEATURE_SET | Wire.FEATURE_DEVICE_STATE)
                .u32(state)
                .u32(-1);
    }

    /** The answer to a server's command: same id and command, flags Reply. */
    public static Message replyTo(Received request) {
        return command(request.command()).id(request.id()).flags(Wire.REPLY);
    }

    public Message id(int id) {
        this.id = id;
        return this;
    }

    public Message flags(int flags) {
        this.flags = flags;
        return this;
    }

    /** Sets No_reply. */
    public Message posted() {
        this.flags |= Wire.NO_REPLY;
        return this;
    }

    public Message error(int error) {
        this.error = error;
        return this;
    }

    /** Claims a size other than the true one. */
    public Message size(long size) {
        this.size = size;
        return this;
    }

    public Message u8(int v) {
        payload.write(v);
        return this;
    }

    public Message u16(int v) {
        return u8(v).u8(v >> 8);
    }

    public Message u32(long v) {
        return u16((int) v).u16((int) (v >> 16));
    }

    public Message u64(long v) {
        return u32(v).u32(v >> 32);
    }

    public Message bytes(byte... b) {
        payload.write(b, 0, b.length);
        return this;
    }

    public int id() {
        return id;
    }

    public int command() {
        return command;
    }

    /** Header and payload. */
    public byte[] toBytes() {
        byte[] body = payload.toByteArray();
        byte[] all = new byte[Wire.HEADER + body.length];
        put(all, 0, id, 2);
        put(all, 2, command, 2);
        put(all, 4, size < 0 ? all.length : size, 4);
        put(all, 8, flags, 4);
        put(all, 12, error, 4);
        System.arraycopy(body, 0, all, Wire.HEADER, body.length);
        return all;
    }

    private static void put(byte[] to, int at, long value, int width) {
        for (int i = 0; i < width; i++) {
            to[at + i] = (byte) (value >> (8 * i));
        }
    }
}
