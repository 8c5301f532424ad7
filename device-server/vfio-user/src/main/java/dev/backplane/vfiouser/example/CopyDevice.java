// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.example;

import dev.backplane.vfiouser.device.DeviceLink;
import dev.backplane.vfiouser.device.PciDevice;
import dev.backplane.vfiouser.device.ResetKind;
import dev.backplane.vfiouser.memory.GuestMemoryFault;
import dev.backplane.vfiouser.pci.Bar;
import dev.backplane.vfiouser.pci.PciFunction;
import dev.backplane.vfiouser.pci.PciFunction.Msix;
import dev.backplane.vfiouser.server.ServerOptions;
import dev.backplane.vfiouser.server.VfioUserServer;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A PCI device that copies guest memory. Registers in BAR 0, 8 bytes each: 0x00 source, 0x08 target, 0x10 number of
 * bytes, up to 65,536; writing starts the copy. 0x18 status: 0 idle, 1 copying, 2 done, 3 failed. MSI-X vector 0 tells
 * the end.
 */
public final class CopyDevice implements PciDevice {
    private static final PciFunction FUNCTION = new PciFunction(
            0x1234,
            0xc0b1,
            0x1234,
            1,
            1,
            0x088000,
            List.of(Bar.registers(0, 0x4000)),
            false,
            new Msix(1, 0, 0x2000, 0x3000));

    private final long[] registers = new long[3];
    private final MemorySegment buffer = MemorySegment.ofArray(new byte[1 << 16]);
    private volatile long status;
    private DeviceLink link;
    private CompletableFuture<Void> copying = CompletableFuture.completedFuture(null);

    @Override
    public PciFunction function() {
        return FUNCTION;
    }

    @Override
    public void attach(DeviceLink to) {
        link = to;
    }

    @Override
    public long read(int bar, long offset, int width) {
        return width != 8 || offset > 0x18 ? 0 : offset == 0x18 ? status : registers[(int) offset / 8];
    }

    @Override
    public void write(int bar, long offset, int width, long value) {
        if (width == 8 && offset <= 0x10 && status != 1) {
            registers[(int) offset / 8] = value;
            if (offset == 0x10 && link.busMaster()) {
                status = 1;
                copying = CompletableFuture.runAsync(this::copy);
            }
        }
    }

    private void copy() { // not on the thread of write(), which must not wait for the guest
        int token = link.memory().enter();
        try {
            link.memory().read(registers[0], buffer, 0, registers[2]);
            link.memory().write(registers[1], buffer, 0, registers[2]);
            status = 2;
        } catch (GuestMemoryFault | IndexOutOfBoundsException e) {
            status = 3;
        } finally {
            link.memory().exit(token);
        }
        link.interrupts().signal(0);
    }

    @Override
    public void reset(ResetKind kind) {
        copying.join(); // nothing of before may touch memory afterwards
        Arrays.fill(registers, 0);
        status = 0;
    }

    @Override
    public void detach() {
        reset(ResetKind.BUS);
    }

    /** Serves one on the socket that the argument names. */
    public static void main(String[] args) throws Exception {
        try (VfioUserServer _ =
                VfioUserServer.listen(new CopyDevice(), Path.of(args[0]), ServerOptions.named("copy"))) {
            Thread.currentThread().join();
        }
    }
}
