// SPDX-License-Identifier: Apache-2.0
package dev.backplane.vfiouser.server;

import dev.backplane.vfiouser.interrupt.InterruptController;
import dev.backplane.vfiouser.interrupt.InterruptController.Kind;
import dev.backplane.vfiouser.natives.Errno;
import dev.backplane.vfiouser.natives.EventFd;
import dev.backplane.vfiouser.protocol.IrqMessages;
import dev.backplane.vfiouser.protocol.MessageReader;
import dev.backplane.vfiouser.protocol.Region;

/**
 * DEVICE_SET_IRQS, all combinations of data and action that VFIO has. Two stand out: TRIGGER with NONE and a count of 0
 * takes all eventfds of the kind away, TRIGGER with EVENTFD but without descriptors those of the range.
 */
final class SetIrqsHandler implements CommandHandler {
    private static final int FIXED = IrqMessages.SET.size();

    @Override
    public int handle(Session s) {
        MessageReader in = s.in();
        if (in.bodyBytes() < FIXED || Integer.compareUnsigned(in.u32(IrqMessages.SET_ARGSZ), FIXED) < 0) {
            return -Errno.EINVAL;
        }
        int flags = in.u32(IrqMessages.SET_FLAGS);
        int index = in.u32(IrqMessages.SET_INDEX);
        int start = in.u32(IrqMessages.SET_START);
        int count = in.u32(IrqMessages.SET_COUNT);
        int data = flags & IrqMessages.DATA_MASK;
        int action = flags & IrqMessages.ACTIONS_MASK;
        if (flags != (data | action)
                || Integer.bitCount(data) != 1
                || Integer.bitCount(action) != 1
                || index < 0
                || index >= Region.IRQ_COUNT
                || (in.fds() != 0 && data != IrqMessages.DATA_EVENTFD)) {
            return -Errno.EINVAL;
        }
        InterruptController interrupts = s.device().controller();
        Kind kind = InfoHandlers.kind(index);
        int vectors = kind == null ? 0 : interrupts.count(kind);
        if (count == 0) {
            boolean disable = start == 0 && action == IrqMessages.ACTION_TRIGGER && data == IrqMessages.DATA_NONE;
            if (disable && kind != null) {
                interrupts.unwire(kind);
                forgetUnmask(s, kind);
            }
            return disable ? 0 : -Errno.EINVAL;
        }
        if (start < 0 || count < 0 || count > vectors || start > vectors - count) {
            return -Errno.EINVAL;
        }
        boolean maskable = kind == Kind.INTX || kind == Kind.MSIX;
        if (action != IrqMessages.ACTION_TRIGGER && !maskable) {
            return -Errno.EINVAL;
        }
        return switch (data) {
            case IrqMessages.DATA_NONE -> {
                for (int v = start; v < start + count; v++) {
                    act(interrupts, kind, v, action);
                }
                yield 0;
            }
            case IrqMessages.DATA_BOOL -> {
                if (in.bodyBytes() - FIXED != count) {
                    yield -Errno.EINVAL;
                }
                for (int i = 0; i < count; i++) {
                    if (in.u8(IrqMessages.SET_DATA + i) != 0) {
                        act(interrupts, kind, start + i, action);
                    }
                }
                yield 0;
            }
            default -> wire(s, kind, start, count, action);
        };
    }

    private static void act(InterruptController interrupts, Kind kind, int vector, int action) {
        switch (action) {
            case IrqMessages.ACTION_MASK -> interrupts.mask(kind, vector);
            case IrqMessages.ACTION_UNMASK -> interrupts.unmask(kind, vector);
            default -> interrupts.trigger(kind, vector);
        }
    }

    /**
     * Gives a range eventfds, or takes them away. Besides those to trigger there is one by which the client unmasks the
     * pin, as in the kernel's VFIO, where KVM signals it when the guest has ended the interrupt. Other eventfds for masks
     * the kernel refuses, and so are they here.
     */
    private static int wire(Session s, Kind kind, int start, int count, int action) {
        MessageReader in = s.in();
        boolean unmask = action == IrqMessages.ACTION_UNMASK && kind == Kind.INTX;
        if ((action != IrqMessages.ACTION_TRIGGER && !unmask) || (in.fds() != 0 && in.fds() != count)) {
            return -Errno.EINVAL;
        }
        EventFd[] fds = new EventFd[count];
        if (in.fds() != 0) {
            for (int i = 0; i < count; i++) {
                if (!EventFd.isEventFd(in.peekFd())) {
                    closeAll(fds, i);
                    return -Errno.EINVAL;
                }
                fds[i] = EventFd.of(in.takeFd());
            }
        }
        if (unmask) {
            s.unmaskBy(fds[0]);
            return 0;
        }
        s.device().controller().wire(kind, start, fds);
        if (fds[0] == null) {
            forgetUnmask(s, kind);
        }
        return 0;
    }

    /** A pin that is not wired has nothing to unmask (as vfio_intx_disable of the kernel). */
    private static void forgetUnmask(Session s, Kind kind) {
        if (kind == Kind.INTX) {
            s.unmaskBy(null);
        }
    }

    private static void closeAll(EventFd[] fds, int count) {
        for (int i = 0; i < count; i++) {
            fds[i].close();
        }
    }
}
