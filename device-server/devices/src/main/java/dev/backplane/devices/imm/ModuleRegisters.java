// SPDX-License-Identifier: Apache-2.0
package dev.backplane.devices.imm;

import dev.backplane.vfiouser.layout.Access;
import dev.backplane.vfiouser.layout.Field;

/**
 * BAR 0 of a module. A bad access is counted; it reads 0 and writes nothing. By the client's thread. No read has a side
 * effect.
 */
final class ModuleRegisters {
    private static final Field[] BY_WORD = new Field[ImmRegisters.LAYOUT.size() / 4];

    static {
        for (Field f : ImmRegisters.LAYOUT.fields()) {
            if (f.access() != Access.RESERVED) {
                for (int at = 0; at < f.type().bytes(); at += 4) {
                    BY_WORD[(f.offset() + at) / 4] = f;
                }
            }
        }
    }

    private static final long FEATURES = ImmRegisters.FEATURE_ONE_SIDED
            | ImmRegisters.FEATURE_ATOMICS
            | ImmRegisters.FEATURE_WAIT
            | ImmRegisters.FEATURE_LIFE;

    /** Alignment of addresses that the driver gives: the event table and the admin command. */
    private static final long ALIGNMENT = 64;

    private final MessagingModule module;
    private final ModuleBlock block;
    private final MessagingConfig config;

    ModuleRegisters(MessagingModule module) {
        this.module = module;
        this.block = module.block();
        this.config = module.fabric().config();
    }

    long read(long offset, int width) {
        if (offset >= ImmRegisters.STATISTICS) {
            return readStatistics(offset - ImmRegisters.STATISTICS, width);
        }
        Field f = field(offset, width);
        if (f == null || f.access() == Access.WO) {
            return f == null ? bad() : 0;
        }
        return part(value(f.offset()), offset - f.offset(), width);
    }

    private long readStatistics(long offset, int width) {
        if (offset >= ImmStatistics.LAYOUT.size() || width < 4) {
            return bad();
        }
        return part(module.tally().at((int) offset).get(), offset % 8, width);
    }

    private static long part(long value, long at, int width) {
        return width == 8 ? value : (value >>> (8 * at)) & 0xffff_ffffL;
    }

    /** The register that an access of that width may touch, or null. */
    private static Field field(long offset, int width) {
        if (offset >= ImmRegisters.LAYOUT.size() || (width != 4 && width != 8)) {
            return null;
        }
        Field f = BY_WORD[(int) offset / 4];
        return f == null || (width == 8 && (f.type().bytes() != 8 || offset != f.offset())) ? null : f;
    }

    private long value(int register) {
        if (register == ImmRegisters.MAGIC) {
            return ImmRegisters.MAGIC_VALUE;
        } else if (register == ImmRegisters.VERSION) {
            return ImmRegisters.VERSION_VALUE;
        } else if (register == ImmRegisters.FEATURES) {
            return FEATURES;
        } else if (register == ImmRegisters.DRIVER_FEATURES) {
            return block.getLong(ModuleBlock.DRIVER_FEATURES);
        } else if (register == ImmRegisters.CONTROL) {
            return module.state() == ModuleState.RUNNING ? ImmRegisters.CONTROL_ENABLE : 0;
        } else if (register == ImmRegisters.STATUS) {
            return module.state().value();
        } else if (register == ImmRegisters.ERROR) {
            return block.getInt(ModuleBlock.ERROR);
        } else if (register == ImmRegisters.EPOCH) {
            return block.getInt(ModuleBlock.EPOCH);
        } else if (register == ImmRegisters.NODE_ID) {
            return module.node().id();
        } else if (register == ImmRegisters.CONTEXT_COUNT) {
            return config.contexts();
        } else if (register == ImmRegisters.CONTEXT_STRIDE) {
            return config.stride();
        } else if (register == ImmRegisters.RING_COUNT) {
            return config.rings();
        } else if (register == ImmRegisters.MEMORY_COUNT) {
            return config.memories();
        } else if (register == ImmRegisters.MAX_PAGES) {
            return config.maxPages();
        } else if (register == ImmRegisters.EVENT_TABLE) {
            return block.getLong(ModuleBlock.EVENT_TABLE);
        } else if (register == ImmRegisters.EVENT_STATUS) {
            return block.getInt(ModuleBlock.EVENT_STATUS);
        } else if (register == ImmRegisters.SCRATCH) {
            return block.getInt(ModuleBlock.SCRATCH);
        } else if (register == ImmRegisters.ADMIN_COMMAND) {
            return block.getLong(ModuleBlock.ADMIN_COMMAND);
        } else if (register == ImmRegisters.ADMIN_STATUS) {
            return block.getIntAcquire(ModuleBlock.ADMIN_STATUS);
        } else if (register == ImmRegisters.ADMIN_RESULT) {
            return block.getLong(ModuleBlock.ADMIN_RESULT);
        } else {
            return module.tally().badAccesses.get();
        }
    }

    void write(long offset, int width, long value) {
        Field f = field(offset, width);
        if (f == null || f.access() == Access.RO) {
            bad();
            return;
        }
        long whole = value;
        if (f.type().bytes() == 8 && width == 4) {
            // A half of a 64-bit register: the other half stays.
            long at = 8 * (offset - f.offset());
            whole = (value(f.offset()) & ~(0xffff_ffffL << at)) | (value & 0xffff_ffffL) << at;
        }
        if (!set(f.offset(), whole)) {
            bad();
        }
    }

    /** Sets a register; returns whether the value, and the moment, is allowed. */
    private boolean set(int register, long value) {
        if (register == ImmRegisters.CONTROL) {
            return control(value);
        } else if (register == ImmRegisters.EVENT_STATUS) {
            module.clearEvents((int) value);
            return true;
        } else if (register == ImmRegisters.SCRATCH) {
            block.setInt(ModuleBlock.SCRATCH, (int) value);
            return true;
        } else if (register == ImmRegisters.ADMIN_COMMAND) {
            return address(ModuleBlock.ADMIN_COMMAND, value);
        } else if (register == ImmRegisters.ADMIN_DOORBELL) {
            return module.commands().begin();
        }
        // What is left is fixed while the module is enabled.
        if (module.state() != ModuleState.IDLE) {
            return false;
        }
        if (register == ImmRegisters.EVENT_TABLE) {
            return address(ModuleBlock.EVENT_TABLE, value);
        }
        if ((value & ~FEATURES) != 0) {
            return false;
        }
        block.setLong(ModuleBlock.DRIVER_FEATURES, value);
        return true;
    }

    private boolean address(int at, long value) {
        // The low half of a new address may come first, so only what it has itself is checked.
        if (value % ALIGNMENT != 0) {
            return false;
        }
        block.setLong(at, value);
        return true;
    }

    private boolean control(long value) {
        if ((value & ~(long) (ImmRegisters.CONTROL_ENABLE | ImmRegisters.CONTROL_RESET)) != 0) {
            return false;
        }
        boolean enable = (value & ImmRegisters.CONTROL_ENABLE) != 0;
        if ((value & ImmRegisters.CONTROL_RESET) != 0 || (!enable && module.state() == ModuleState.RUNNING)) {
            module.restart();
            return true;
        }
        return !enable || module.state() == ModuleState.RUNNING || module.enable();
    }

    private long bad() {
        module.tally().badAccesses.increment();
        return 0;
    }
}
