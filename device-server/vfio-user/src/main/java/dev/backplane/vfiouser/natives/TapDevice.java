// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.natives;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * A TAP interface of Linux (Documentation/networking/tuntap.rst): what is written here comes in at the interface, what the
 * host sends there is read here, one frame a call, each behind a {@code struct virtio_net_hdr}. No call waits. One thread
 * reads and writes; closing comes last.
 */
public final class TapDevice implements AutoCloseable {
    /** Bytes of {@code struct virtio_net_hdr} before each frame. */
    public static final int HEADER_BYTES = 10;
    /** Longest name of an interface: IFNAMSIZ without the final NUL. */
    public static final int MAX_NAME = 15;

    private static final int O_RDWR_NONBLOCK_CLOEXEC = 2 | 0x800 | 0x80000;

    // linux/if_tun.h
    private static final long TUNSETIFF = 0x4004_54caL;
    private static final long TUNSETOFFLOAD = 0x4004_54d0L;
    private static final long TUNSETVNETHDRSZ = 0x4004_54d8L;
    private static final long TUNSETCARRIER = 0x4004_54e2L;
    private static final short IFF_TAP_NO_PI_VNET_HDR = 0x0002 | 0x1000 | 0x4000;

    /** The host may send partial checksums: TUN_F_CSUM. */
    private static final int CHECKSUM = 0x01;
    /** And TCP yet to be segmented: TUN_F_TSO4, TUN_F_TSO6, TUN_F_TSO_ECN. */
    private static final int TCP = 0x0e;
    /** And UDP: TUN_F_USO4, TUN_F_USO6 (Linux 6.2). */
    private static final int UDP = 0x60;

    // linux/sockios.h, linux/if.h
    private static final long SIOCGIFFLAGS = 0x8913;
    private static final long SIOCSIFFLAGS = 0x8914;
    private static final long SIOCGIFMTU = 0x8921;
    private static final long SIOCSIFMTU = 0x8922;
    private static final short IFF_UP = 1;
    private static final int IFREQ_BYTES = 40;
    private static final int IFREQ_VALUE = 16;
    private static final int AF_INET = 2;
    private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;

    private final FileDescriptor fd;
    /** Any socket will do to ask for an interface's settings; of the namespace that the interface was made in. */
    private final FileDescriptor socket;

    private final String name;
    private final boolean udpSegmentation;

    private TapDevice(FileDescriptor fd, FileDescriptor socket, String name, boolean udpSegmentation) {
        this.fd = fd;
        this.socket = socket;
        this.name = name;
        this.udpSegmentation = udpSegmentation;
    }

    /**
     * Makes the interface, which is gone again when this is closed, or takes one that an administrator has made for us.
     *
     * @throws NativeException EPERM when we may not make interfaces and this one does not belong to us, EBUSY when somebody
     *     else has it, ENOENT when the system has no TAP
     */
    public static TapDevice open(String name) throws NativeException {
        if (name.isEmpty() || name.length() > MAX_NAME) {
            throw new IllegalArgumentException("an interface's name has 1 to " + MAX_NAME + " bytes: \"" + name + "\"");
        }
        try (Arena arena = Arena.ofConfined()) {
            FileDescriptor fd = FileDescriptor.own(NativeException.check(
                    "open(/dev/net/tun)",
                    Libc.open(arena.allocateFrom("/dev/net/tun").address(), O_RDWR_NONBLOCK_CLOEXEC)));
            FileDescriptor socket = null;
            try {
                MemorySegment request = request(arena, name);
                request.set(JAVA_SHORT, IFREQ_VALUE, IFF_TAP_NO_PI_VNET_HDR);
                NativeException.check("ioctl(TUNSETIFF)", Libc.ioctl(fd.value(), TUNSETIFF, request.address()));
                MemorySegment size = arena.allocateFrom(JAVA_INT, HEADER_BYTES);
                NativeException.check(
                        "ioctl(TUNSETVNETHDRSZ)", Libc.ioctl(fd.value(), TUNSETVNETHDRSZ, size.address()));
                boolean udp = Libc.ioctl(fd.value(), TUNSETOFFLOAD, CHECKSUM | TCP | UDP) >= 0;
                if (!udp) {
                    NativeException.check(
                            "ioctl(TUNSETOFFLOAD)", Libc.ioctl(fd.value(), TUNSETOFFLOAD, CHECKSUM | TCP));
                }
                socket = FileDescriptor.own(
                        NativeException.check("socket", Libc.socket(AF_INET, SOCK_DGRAM_CLOEXEC, 0)));
                return new TapDevice(fd, socket, name, udp);
            } catch (NativeException e) {
                fd.close();
                if (socket != null) {
                    socket.close();
                }
                throw e;
            }
        }
    }

    /** Its descriptor, for {@link Poll}. */
    public int descriptor() {
        return fd.value();
    }

    /** Whether the host segments UDP, and sends such frames. */
    public boolean udpSegmentation() {
        return udpSegmentation;
    }

    /** Reads a frame with its header to {@code address}; returns the bytes, or a negated error number. */
    public int read(long address, int bytes) {
        return (int) Libc.read(fd.value(), address, bytes);
    }

    /** Writes a frame with its header; returns the bytes, or a negated error number. */
    public int write(long address, int bytes) {
        return (int) Libc.write(fd.value(), address, bytes);
    }

    /** Whether the host has the interface up. */
    public boolean up() throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            return (ask(arena, "SIOCGIFFLAGS", SIOCGIFFLAGS).get(JAVA_SHORT, IFREQ_VALUE) & IFF_UP) != 0;
        }
    }

    /** Takes the interface up. Throws EPERM where only an administrator may. */
    public void bringUp() throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment request = ask(arena, "SIOCGIFFLAGS", SIOCGIFFLAGS);
            request.set(JAVA_SHORT, IFREQ_VALUE, (short) (request.get(JAVA_SHORT, IFREQ_VALUE) | IFF_UP));
            NativeException.check("ioctl(SIOCSIFFLAGS)", Libc.ioctl(socket.value(), SIOCSIFFLAGS, request.address()));
        }
    }

    /** The interface's MTU. */
    public int mtu() throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            return ask(arena, "SIOCGIFMTU", SIOCGIFMTU).get(JAVA_INT, IFREQ_VALUE);
        }
    }

    /** Sets the interface's MTU. Throws EPERM where only an administrator may. */
    public void setMtu(int mtu) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment request = request(arena, name);
            request.set(JAVA_INT, IFREQ_VALUE, mtu);
            NativeException.check("ioctl(SIOCSIFMTU)", Libc.ioctl(socket.value(), SIOCSIFMTU, request.address()));
        }
    }

    /** Shows the host that the interface's cable is in, or out. */
    public void setCarrier(boolean on) throws NativeException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocateFrom(JAVA_INT, on ? 1 : 0);
            NativeException.check("ioctl(TUNSETCARRIER)", Libc.ioctl(fd.value(), TUNSETCARRIER, value.address()));
        }
    }

    private MemorySegment ask(Arena arena, String what, long call) throws NativeException {
        MemorySegment request = request(arena, name);
        NativeException.check("ioctl(" + what + ")", Libc.ioctl(socket.value(), call, request.address()));
        return request;
    }

    private static MemorySegment request(Arena arena, String name) {
        MemorySegment request = arena.allocate(IFREQ_BYTES, 8);
        request.setString(0, name, StandardCharsets.US_ASCII);
        return request;
    }

    @Override
    public void close() {
        fd.close();
        socket.close();
    }
}
