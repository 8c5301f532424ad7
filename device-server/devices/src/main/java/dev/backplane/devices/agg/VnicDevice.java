// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.agg;

import dev.backplane.devices.Node;
import dev.backplane.devices.fabric.FabricCore;
import dev.backplane.devices.fabric.ForwardingDomain;
import dev.backplane.devices.fabric.PortConfig;
import dev.backplane.devices.layout.PciIds;
import dev.backplane.devices.loop.Timers;
import dev.backplane.devices.loop.Workers;
import dev.backplane.vfiouser.counter.CounterGroup;
import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.device.IoEvent;
import dev.backplane.vfiouser.device.IoEventDevice;
import dev.backplane.vfiouser.device.Migratable;
import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.pci.Bar;
import dev.backplane.vfiouser.pci.PciFunction;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The aggregation device as one guest sees it: a vNIC. This class is its life: attaching, enabling, resetting. What its
 * registers do is in {@link VnicRegisters}, which queues work in {@link VnicQueues}, its transmit side in {@link
 * TransmitQueue}, its receive side in {@link VnicPort}.
 */
public final class VnicDevice implements IoEventDevice, Migratable {
    /** What the device offers. */
    static final long FEATURES = AggRegisters.FEATURE_CHECKSUM
            | AggRegisters.FEATURE_TSO4
            | AggRegisters.FEATURE_TSO6
            | AggRegisters.FEATURE_UDP_SEGMENTATION
            | AggRegisters.FEATURE_VLAN
            | AggRegisters.FEATURE_MULTI_QUEUE
            | AggRegisters.FEATURE_MODERATION;

    /** Base class 02h, sub-class 00h: Ethernet controller (PCI Code and ID Assignment Specification). */
    private static final int CLASS_ETHERNET = 0x02_0000;

    private static final PciFunction FUNCTION = new PciFunction(
            PciIds.VENDOR,
            PciIds.AGGREGATION_DEVICE,
            PciIds.VENDOR,
            PciIds.AGGREGATION_DEVICE,
            1,
            CLASS_ETHERNET,
            List.of(Bar.registers(0, AggRegisters.BAR_BYTES)),
            true,
            new PciFunction.Msix(AggRegisters.VECTORS, 0, AggRegisters.MSIX_TABLE, AggRegisters.MSIX_PBA));

    /** Doorbells, a pair of queues after the other: a client that takes few descriptors gets those of the first pairs. */
    private static final List<IoEvent> IO_EVENTS = IntStream.range(0, AggRegisters.MAX_QUEUE_PAIRS)
            .boxed()
            .flatMap(pair -> IntStream.of(pair, AggRegisters.MAX_QUEUE_PAIRS + pair)
                    .mapToObj(q ->
                            IoEvent.doorbell(0, AggRegisters.DOORBELLS + (long) q * AggRegisters.DOORBELL_STRIDE, 4)))
            .toList();

    private final Node node;
    private final FabricCore core;
    private final ForwardingDomain domain;
    private final VnicState state = new VnicState();
    private final VnicCounters counters = new VnicCounters();
    private final VnicEvents events;
    private final VnicRegisters registers;
    private final VnicPort port;
    private final VnicQueues queues;

    private volatile DeviceLink link;
    private volatile boolean adminUp;
    private volatile boolean linkUp;

    private volatile VnicSettings settings;

    /** Between {@link #stop} and {@link #resume}: no queue is active, no frame moves out, no event is raised. */
    private volatile boolean stopped;

    @SuppressWarnings("this-escape") // the parts only keep the reference
    VnicDevice(Node node, PortConfig config, FabricCore core, ForwardingDomain domain, int portIndex) {
        this.node = node;
        this.core = core;
        this.domain = domain;
        this.adminUp = config.adminUp();
        this.events = new VnicEvents(this);
        this.registers = new VnicRegisters(this);
        this.port = new VnicPort(core, portIndex, config, this);
        this.queues = new VnicQueues(this, core, domain, port);
        powerOn(0);
    }

    // ---- PciDevice ----

    @Override
    public PciFunction function() {
        return FUNCTION;
    }

    @Override
    public List<IoEvent> ioEvents() {
        return IO_EVENTS;
    }

    @Override
    public void attach(DeviceLink to) {
        link = to;
    }

    @Override
    public long read(int bar, long offset, int width) {
        return registers.read(offset, width);
    }

    @Override
    public void write(int bar, long offset, int width, long value) {
        registers.write(offset, width, value);
    }

    @Override
    public void reset(ResetKind kind) {
        counters.resets.increment();
        quiesce();
        powerOn(state.getInt(AggRegisters.EPOCH) + 1);
    }

    @Override
    public void detach() {
        quiesce();
        powerOn(state.getInt(AggRegisters.EPOCH) + 1);
        counters.forgetBefore();
        link = null;
    }

    // ---- Migratable ----

    /**
     * Frames for this guest that are in rendezvous memory, and those that come while it is stopped, wait there as for a
     * guest that does not drain. When it goes on here they are delivered; when it leaves, having been resumed elsewhere,
     * they are dropped and counted.
     */
    @Override
    public void stop() {
        synchronized (this) {
            stopped = true;
        }
        queues.deactivateAll();
        queues.wakeAll(); // what transmit queues had been granted goes back
    }

    @Override
    public void resume() {
        synchronized (this) {
            stopped = false;
        }
        if (status() == VnicStatus.RUNNING) {
            queues.activateAll();
        }
        DeviceLink guest = link;
        if (guest != null) {
            events.resume(guest);
        }
        updateLink();
        queues.wakeAll();
    }

    @Override
    public long stateBytes() {
        return VnicImage.BYTES;
    }

    @Override
    public void save(MemorySegment out) {
        VnicImage.save(this, out);
    }

    @Override
    public void restore(MemorySegment in) {
        quiesce();
        powerOn(state.getInt(AggRegisters.EPOCH) + 1);
        synchronized (this) {
            VnicImage.restore(this, in);
        }
        updateSettings();
        domain.expectMembers(port, core.seconds());
    }

    // ---- for the management side, any thread ----

    public Node node() {
        return node;
    }

    /** The vNIC's counters; those of the statistics block and more. */
    public CounterGroup counters() {
        return counters.group();
    }

    /** Holds the link down from the server's side, or lets it come up. */
    public void setAdminUp(boolean up) {
        adminUp = up;
        updateLink();
    }

    public boolean adminUp() {
        return adminUp;
    }

    public boolean linkUp() {
        return linkUp;
    }

    public VnicStatus status() {
        return VnicStatus.of(state.getInt(AggRegisters.STATUS));
    }

    // ---- for the parts ----

    VnicState state() {
        return state;
    }

    VnicCounters count() {
        return counters;
    }

    VnicEvents events() {
        return events;
    }

    VnicPort port() {
        return port;
    }

    VnicQueues queues() {
        return queues;
    }

    Workers workers() {
        return core.workers();
    }

    Timers timers() {
        return core.timers();
    }

    /** The guest, or null. */
    DeviceLink link() {
        return link;
    }

    VnicSettings settings() {
        return settings;
    }

    boolean stopped() {
        return stopped;
    }

    /** A queue's loop has found that the guest's memory is broken. Any thread. */
    void fail(int error) {
        synchronized (this) {
            if (status() != VnicStatus.RUNNING) {
                return;
            }
            state.setInt(AggRegisters.ERROR, error);
            setStatus(VnicStatus.FAILED);
        }
        updateLink();
    }

    // ---- register writes, on the client's thread ----

    /** A write to the control register. */
    void control(int value) {
        if ((value & AggRegisters.CONTROL_RESET) != 0) {
            reset(ResetKind.FUNCTION_LEVEL);
            return;
        }
        boolean enable = (value & AggRegisters.CONTROL_ENABLE) != 0;
        VnicStatus status = status();
        if (enable && status == VnicStatus.IDLE) {
            state.setInt(AggRegisters.CONTROL, AggRegisters.CONTROL_ENABLE);
            setStatus(VnicStatus.RUNNING);
            updateSettings();
            queues.activateAll();
            updateLink();
            queues.wakeAll();
        } else if (!enable && status == VnicStatus.RUNNING) {
            state.setInt(AggRegisters.CONTROL, 0);
            setStatus(VnicStatus.IDLE);
            quiesce();
        }
    }

    /** A register that data paths have a copy of may have changed. */
    void updateSettings() {
        settings = VnicSettings.of(state);
    }

    /**
     * Ends all that goes on: when this returns, no loop touches guest memory or signals on behalf of what was before, and
     * the link is down.
     */
    private void quiesce() {
        queues.deactivateAll();
        setLink(false, false);
        queues.wakeAll(); // what was waiting, or queued for this port, goes back to rendezvous memory
    }

    /** All registers as after power-on, but for the epoch. */
    private void powerOn(int epoch) {
        DeviceLink guest = link;
        synchronized (this) {
            state.clear();
            state.setInt(AggRegisters.EPOCH, epoch);
            state.setLong(AggRegisters.FEATURES, FEATURES);
            long mac = node.mac().bits();
            state.setInt(AggRegisters.MAC_LOW, Integer.reverseBytes((int) (mac >>> 16)));
            state.setInt(AggRegisters.MAC_HIGH, Short.reverseBytes((short) mac) & 0xffff);
            state.setInt(AggRegisters.NODE_ID, node.id());
            state.setInt(AggRegisters.LINK_SPEED, port.config().speedMbit());
        }
        updateSettings();
        queues.goFast();
        if (guest != null) {
            guest.interrupts().pin(false);
        }
    }

    private synchronized void setStatus(VnicStatus next) {
        if (!status().mayBecome(next)) {
            throw new IllegalStateException(this + ": " + status() + " cannot become " + next);
        }
        state.setInt(AggRegisters.STATUS, next.code());
    }

    private void updateLink() {
        setLink(adminUp && status() == VnicStatus.RUNNING, true);
    }

    private void setLink(boolean up, boolean tell) {
        synchronized (this) {
            if ((tell && stopped) || !port.setLink(up)) {
                return;
            }
            linkUp = up;
            int status = status().code() | (up ? AggRegisters.STATUS_LINK_UP : 0);
            state.setInt(AggRegisters.STATUS, status);
        }
        // Without the lock: the loops that run now may be anybody's.
        port.wake();
        if (tell) {
            events.raise(AggRegisters.EVENT_LINK);
        }
    }

    @Override
    public String toString() {
        return node.name() + ".agg";
    }
}
