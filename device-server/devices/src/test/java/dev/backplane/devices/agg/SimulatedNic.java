// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.MacAddress;
import dev.backplane.devices.sim.SimulatedGuest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A guest with a vNIC, and its driver: transmit and receive rings, buffers, frames. */
final class SimulatedNic implements AutoCloseable {
    static final int EVENT_VECTOR = 0;
    static final int TX_VECTOR = 1;
    static final int RX_VECTOR = 2;

    /** Room for the largest frame. */
    private static final int LARGEST = 65_600;

    private static final long ALL_FEATURES = VnicDevice.FEATURES;

    VnicDevice device;
    final SimulatedGuest guest;
    final int bufferBytes;
    private final int txBytes;
    final SimulatedQueue tx;
    final SimulatedQueue rx;
    private final long txBuffers;
    private final long rxBuffers;
    private int rxPosted;

    /** A frame as the driver got it. */
    @SuppressWarnings("ArrayRecordComponent")
    record Received(
            byte[] data,
            int flags,
            int vlanTci,
            int gsoType,
            int gsoSize,
            int csumStart,
            int buffers,
            int source,
            int hash) {}

    /** Attaches a guest whose rings have {@code size} descriptors and buffers of {@code bufferBytes}; not enabled. */
    SimulatedNic(VnicDevice device, int size, int bufferBytes) {
        this(device, size, bufferBytes, LARGEST);
    }

    /** The same with transmit buffers that are {@code txBytes} apart. */
    SimulatedNic(VnicDevice device, int size, int bufferBytes, int txBytes) {
        this.device = device;
        this.bufferBytes = bufferBytes;
        this.txBytes = txBytes;
        this.guest = new SimulatedGuest((long) size * (bufferBytes + txBytes + 128) + (1 << 20)).attach(device);
        this.tx = new SimulatedQueue(guest, 0, size);
        this.rx = new SimulatedQueue(guest, AggRegisters.MAX_QUEUE_PAIRS, size);
        this.txBuffers = guest.allocate((long) size * txBytes);
        this.rxBuffers = guest.allocate((long) size * bufferBytes);
    }

    /** Enables queues and device, with all receive buffers posted. */
    SimulatedNic start() {
        return start(ALL_FEATURES, tx.size);
    }

    SimulatedNic start(long features, int buffers) {
        guest.write64(0, AggRegisters.DRIVER_FEATURES, features);
        guest.write32(0, AggRegisters.EVENT_VECTOR, EVENT_VECTOR);
        guest.write32(0, AggRegisters.PACKET_FILTER, AggRegisters.FILTER_ALL_MULTICAST);
        tx.enable(TX_VECTOR);
        rx.enable(RX_VECTOR);
        post(buffers);
        guest.write32(0, AggRegisters.CONTROL, AggRegisters.CONTROL_ENABLE);
        return this;
    }

    /** The guest, with its memory as it is, goes over to another device; it does not touch the device before. */
    void moveTo(VnicDevice other) {
        guest.detach();
        device = other;
        guest.attach(other);
    }

    MacAddress mac() {
        return device.node().mac();
    }

    /** Makes {@code n} more receive buffers available, without a doorbell if the device wants none. */
    void post(int n) {
        for (int i = 0; i < n; i++) {
            long at = rx.descriptor(rx.producer);
            guest.setLong(at + ReceiveDescriptor.ADDRESS, rxBuffer(rx.producer));
            guest.setInt(at + ReceiveDescriptor.LENGTH, bufferBytes);
            rx.producer++;
        }
        rxPosted += n;
        rx.publish();
    }

    long rxBuffer(int index) {
        return rxBuffers + (long) (index & rx.size - 1) * bufferBytes;
    }

    long txBuffer(int index) {
        return txBuffers + (long) (index & tx.size - 1) * txBytes;
    }

    /** Puts a frame into the ring, in parts of these lengths, without making it available. */
    void prepare(byte[] frame, int... parts) {
        int done = 0;
        int first = tx.producer;
        for (int i = 0; i < parts.length; i++) {
            byte[] part = Arrays.copyOfRange(frame, done, done + parts[i]);
            done += parts[i];
            long buffer = txBuffer(tx.producer);
            guest.put(buffer, part);
            long at = tx.descriptor(tx.producer);
            guest.at(at, TransmitDescriptor.BYTES).fill((byte) 0);
            guest.setLong(at + TransmitDescriptor.ADDRESS, buffer);
            guest.setInt(at + TransmitDescriptor.LENGTH, parts[i]);
            guest.setShort(at + TransmitDescriptor.FLAGS, i == parts.length - 1 ? TransmitDescriptor.END_OF_FRAME : 0);
            tx.producer++;
        }
        assert first != tx.producer;
    }

    /** Sends a frame from one buffer. */
    void send(byte[] frame) {
        prepare(frame, frame.length);
        tx.publish();
    }

    /** Takes transmit completions; returns their status. */
    List<Integer> completions() {
        List<Integer> all = new ArrayList<>();
        int end = tx.completed();
        for (; tx.consumed != end; tx.consumed++) {
            all.add(guest.getInt(tx.completion(tx.consumed) + TransmitCompletion.STATUS));
        }
        return all;
    }

    /** Takes all received frames, and posts their buffers again. */
    List<Received> receive() {
        List<Received> all = take();
        post(rx.consumed + rxTarget() - rx.producer);
        return all;
    }

    private int rxTarget() {
        return Math.min(rxPosted, rx.size);
    }

    /** Takes all received frames. */
    List<Received> take() {
        List<Received> all = new ArrayList<>();
        int end = rx.completed();
        while (rx.consumed != end) {
            long first = rx.completion(rx.consumed);
            int buffers = guest.getShort(first + ReceiveCompletion.BUFFERS);
            int length = guest.getInt(first + ReceiveCompletion.FRAME_LENGTH);
            if (guest.getShort(first + ReceiveCompletion.STATUS) != ReceiveCompletion.STATUS_OK) {
                rx.consumed++;
                continue;
            }
            byte[] data = new byte[length];
            int done = 0;
            for (int i = 0; i < buffers; i++) {
                long at = rx.completion(rx.consumed);
                int n = guest.getInt(at + ReceiveCompletion.LENGTH);
                System.arraycopy(guest.get(rxBuffer(rx.consumed), n), 0, data, done, n);
                done += n;
                boolean last = (guest.getShort(at + ReceiveCompletion.FLAGS) & ReceiveCompletion.END_OF_FRAME) != 0;
                if (last != (i == buffers - 1)) {
                    throw new AssertionError("end of frame at buffer " + i + " of " + buffers);
                }
                rx.consumed++;
            }
            if (done != length) {
                throw new AssertionError("frame of " + length + " bytes in buffers of " + done);
            }
            all.add(new Received(
                    data,
                    guest.getShort(first + ReceiveCompletion.FLAGS),
                    guest.getShort(first + ReceiveCompletion.VLAN_TCI),
                    guest.getShort(first + ReceiveCompletion.GSO_TYPE),
                    guest.getShort(first + ReceiveCompletion.GSO_SIZE),
                    guest.getShort(first + ReceiveCompletion.CSUM_START),
                    buffers,
                    guest.getShort(first + ReceiveCompletion.SOURCE_NODE),
                    guest.getInt(first + ReceiveCompletion.FLOW_HASH)));
        }
        return all;
    }

    /** A counter of the device. */
    long count(String name) {
        return device.counters().get(name);
    }

    @Override
    public void close() {
        guest.close();
    }
}
