// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.conformance;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;

/**
 * A client that does everything wrong, as a random generator tells it: bad and good messages, lies about sizes, pieces,
 * too many descriptors of all kinds, files that shrink while they are mapped, and leaving in the middle. The same seed
 * does the same.
 */
public final class Hostile {
    private static final long[] VALUES = {
        0,
        1,
        2,
        3,
        4,
        7,
        8,
        15,
        16,
        31,
        32,
        33,
        63,
        64,
        255,
        256,
        0xfff,
        0x1000,
        0x1001,
        0xffff,
        0x10000,
        0x100000,
        0x100001,
        0x7fffffffL,
        0x80000000L,
        0xffffffffL,
        0x100000000L,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        -1,
        -4,
        -4096
    };

    private final Random random;
    private final Path socket;
    private final int[] descriptors;
    private final int file;
    private RawPeer peer;
    private long messages;
    private long connections;

    /** @param socket whom to torment */
    public Hostile(Path socket, long seed) {
        this.socket = socket;
        this.random = new Random(seed);
        int[] pair = Fds.socketPair();
        this.file = Fds.memfd(0x10000);
        this.descriptors = new int[] {Fds.eventfd(), Fds.eventfd(), file, Fds.memfd(0x3000), pair[0], pair[1]};
    }

    /** Messages sent so far. */
    public long messages() {
        return messages;
    }

    /** Connections made so far. */
    public long connections() {
        return connections;
    }

    /** Does one thing. */
    public void step() {
        if (peer == null) {
            peer = RawPeer.connect(socket);
            connections++;
            if (random.nextInt(10) > 0 && !send(Message.version("{\"capabilities\":{\"max_msg_fds\":8}}"))) {
                return;
            }
        }
        switch (random.nextInt(40)) {
            case 0 -> leave();
            case 1 -> {
                bytes(random.nextInt(64));
                if (random.nextBoolean()) {
                    leave();
                }
            }
            case 2 -> Fds.truncate(file, random.nextInt(3) * 0x8000L);
            case 3 -> inPieces(message());
            case 4 -> send(message().size(any()));
            default -> send(message());
        }
        if (peer != null && random.nextInt(4) > 0 && !peer.drain()) {
            leave();
        }
    }

    private boolean send(Message m) {
        messages++;
        if (!peer.trySend(m.toBytes(), fds())) {
            leave();
            return false;
        }
        return true;
    }

    private void bytes(int n) {
        byte[] b = new byte[n];
        random.nextBytes(b);
        if (n > 0 && !peer.trySend(b, fds())) {
            leave();
        }
    }

    private void inPieces(Message m) {
        messages++;
        byte[] all = m.toBytes();
        int at = 0;
        while (at < all.length) {
            int n = Math.min(1 + random.nextInt(24), all.length - at);
            if (!peer.trySend(Arrays.copyOfRange(all, at, at + n), fds())) {
                leave();
                return;
            }
            at += n;
            if (random.nextInt(30) == 0) {
                leave();
                return;
            }
        }
    }

    private void leave() {
        if (peer != null) {
            peer.close();
            peer = null;
        }
    }

    private int[] fds() {
        int kind = random.nextInt(12);
        int n = kind < 8 ? 0 : kind < 11 ? 1 + random.nextInt(3) : 1 + random.nextInt(60);
        int[] fds = new int[n];
        for (int i = 0; i < n; i++) {
            fds[i] = descriptors[random.nextInt(descriptors.length)];
        }
        return fds;
    }

    private Message message() {
        Message m = switch (random.nextInt(14)) {
            case 0 -> Message.dmaMap(random.nextInt(4), page(), page(), page());
            case 1 -> Message.dmaUnmap(random.nextInt(3), page(), page());
            case 2 -> Message.getRegionInfo(any(), random.nextInt(10));
            case 3 ->
                Message.setIrqs(
                        1 << random.nextInt(3) | 8 << random.nextInt(3),
                        random.nextInt(6),
                        random.nextInt(4),
                        random.nextInt(4));
            case 4 -> Message.read(random.nextInt(10), any(), random.nextInt(5000));
            case 5 -> Message.read(Wire.CONFIG_REGION, random.nextInt(4200), random.nextInt(300));
            case 6 ->
                Message.write(
                        random.nextBoolean() ? Wire.CONFIG_REGION : random.nextInt(10),
                        random.nextInt(4200),
                        new byte[random.nextInt(64)]);
            case 7 -> Message.reset();
            case 8 -> Message.deviceState(random.nextInt(9));
            case 9 -> Message.command(Wire.MIG_DATA_WRITE).u32(any()).u32(any()).bytes(new byte[random.nextInt(300)]);
            case 10 -> Message.command(Wire.MIG_DATA_READ).u32(any()).u32(random.nextInt(5000));
            case 11 -> Message.feature(any(), (int) any()).u64(any()).u64(any()).u64(any());
            default -> garbage();
        };
        if (random.nextInt(6) == 0) {
            m.posted();
        }
        if (random.nextInt(30) == 0) {
            m.flags(random.nextInt());
        }
        return m;
    }

    private Message garbage() {
        Message m = Message.command(random.nextInt(5) == 0 ? random.nextInt(0x10000) : random.nextInt(20));
        for (int i = random.nextInt(12); i > 0; i--) {
            if (random.nextBoolean()) {
                m.u32(any());
            } else {
                m.u64(any());
            }
        }
        return m;
    }

    private long any() {
        return random.nextInt(8) == 0 ? random.nextLong() : VALUES[random.nextInt(VALUES.length)];
    }

    private long page() {
        return random.nextInt(4) == 0 ? any() : random.nextInt(16) * 0x1000L;
    }

    /** Leaves and closes what it had. */
    public void close() {
        leave();
        for (int fd : descriptors) {
            Fds.close(fd);
        }
    }
}
