// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.device.IoEvent;
import dev.backplane.vfiouser.device.IoEventDevice;
import dev.backplane.vfiouser.device.Migratable;
import dev.backplane.vfiouser.device.PciDevice;
import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.interrupt.InterruptController;
import dev.backplane.vfiouser.interrupt.Interrupts;
import dev.backplane.vfiouser.memory.GuestMemory;
import dev.backplane.vfiouser.natives.DeathMark;
import dev.backplane.vfiouser.natives.NativeException;
import dev.backplane.vfiouser.pci.Bar;
import dev.backplane.vfiouser.pci.ConfigSpace;
import dev.backplane.vfiouser.pci.MsixTable;
import dev.backplane.vfiouser.pci.PciFunction;
import dev.backplane.vfiouser.protocol.Region;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A device together with all that the library provides around it: configuration space, MSI-X structures, interrupts,
 * BARs, guest memory. It outlives connections; what a client leaves behind is gone when {@link #release} returns.
 * Confined to the client's thread, but for {@link DeviceLink}.
 */
final class ServedDevice implements DeviceLink, ConfigSpace.Listener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ServedDevice.class);

    private final PciDevice device;
    private final PciFunction function;
    private final ConfigSpace config;
    private final InterruptController interrupts;
    private final MsixTable msixTable;
    private final List<IoEvent> ioEvents;
    private final BarRegion[] bars = new BarRegion[Region.BAR5 + 1];
    private final GuestMemory memory = new GuestMemory();
    private boolean busMaster;
    private DeathMark deathMark;

    ServedDevice(PciDevice device, String name) throws NativeException {
        this.device = device;
        this.function = device.function();
        this.config = new ConfigSpace(function, this);
        PciFunction.Msix msix = function.msix();
        this.interrupts = new InterruptController(msix == null ? 0 : msix.vectors(), function.pin());
        this.msixTable = msix == null ? null : new MsixTable(msix.vectors(), interrupts::tableMask);
        this.ioEvents = device instanceof IoEventDevice d ? List.copyOf(d.ioEvents()) : List.of();
        try {
            for (Bar b : function.bars()) {
                MappedBar mapped = b.mapped().isEmpty() ? null : new MappedBar(name, b);
                MsixTable table = msix != null && msix.bar() == b.index() ? msixTable : null;
                bars[b.index()] = new BarRegion(device, b, mapped, msix, table, interrupts);
            }
            ioEvents.forEach(this::require);
        } catch (NativeException | IllegalArgumentException e) {
            close();
            throw e;
        }
    }

    private void require(IoEvent e) {
        BarRegion bar = bar(e.bar());
        if (bar == null || e.offset() > bar.bytes() - e.width() || !bar.reachesDevice(e.offset())) {
            throw new IllegalArgumentException(e + " is no register of the device");
        }
    }

    PciFunction function() {
        return function;
    }

    ConfigSpace config() {
        return config;
    }

    InterruptController controller() {
        return interrupts;
    }

    /** The MSI-X table, or null. */
    MsixTable msixTable() {
        return msixTable;
    }

    /** The device if its state can be saved, or null. */
    Migratable migratable() {
        return device instanceof Migratable m ? m : null;
    }

    /** The registers of a region that can be written to by event descriptors. */
    List<IoEvent> ioEvents(int region) {
        return ioEvents.stream().filter(e -> e.bar() == region).toList();
    }

    /** The BAR of that region index, or null. */
    BarRegion bar(int region) {
        return region >= Region.BAR0 && region <= Region.BAR5 ? bars[region] : null;
    }

    /** Size of a region in bytes; 0 for one that does not exist. */
    long regionBytes(int region) {
        if (region == Region.CONFIG) {
            return ConfigSpace.BYTES;
        }
        BarRegion bar = bar(region);
        return bar == null ? 0 : bar.bytes();
    }

    void attach() {
        device.attach(this);
    }

    void detach() {
        device.detach();
    }

    /** Releases all that the client gave, whether the device was attached or not; it has been detached if so. */
    void release() {
        interrupts.disconnect();
        memory.transport(null);
        memory.unmapAll();
        memory.stopDirtyLog();
        resetSurroundings();
    }

    void reset(ResetKind kind) {
        device.reset(kind);
        resetSurroundings();
    }

    private void resetSurroundings() {
        interrupts.reset();
        if (msixTable != null) {
            msixTable.reset();
        }
        config.reset();
        controlChanged();
    }

    @Override
    public void controlChanged() {
        boolean now = config.busMaster();
        interrupts.control(now, config.msixMasked(), config.intxDisabled());
        if (busMaster && !now) {
            // Who asked before may still be at it: the write is answered when nobody is.
            memory.awaitUses();
        }
        busMaster = now;
    }

    @Override
    public void functionLevelReset() {
        reset(ResetKind.FUNCTION_LEVEL);
    }

    /** Reads configuration space; the range is checked. */
    void readConfig(int offset, int count, MemorySegment to, long at) {
        config.intxStatus(interrupts.pinAsserted());
        config.read(offset, to, at, count);
    }

    @Override
    public GuestMemory memory() {
        return memory;
    }

    @Override
    public Interrupts interrupts() {
        return interrupts;
    }

    @Override
    public boolean busMaster() {
        return config.busMaster();
    }

    @Override
    public MemorySegment mappedBar(int bar) {
        BarRegion region = bar(bar);
        if (region == null || region.mapped() == null) {
            throw new IllegalArgumentException("BAR " + bar + " has no mapped area");
        }
        return region.mapped().memory();
    }

    @Override
    public void markDeath(int bar, long offset) {
        if (deathMark == null) {
            try {
                deathMark = DeathMark.on(mappedBar(bar).asSlice(offset, Integer.BYTES));
            } catch (NativeException e) {
                LOG.warn("drivers will find out late when this server ends: {}", e.getMessage());
            }
        }
    }

    /** Frees the BARs' memory. */
    @Override
    public void close() {
        if (deathMark != null) {
            deathMark.close();
        }
        for (BarRegion b : bars) {
            if (b != null && b.mapped() != null) {
                b.mapped().close();
            }
        }
    }
}
