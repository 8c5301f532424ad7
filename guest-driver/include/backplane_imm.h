/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note OR Apache-2.0) */
/*
 * Character devices /dev/bp_imm<N> of the inter-node messaging module: the calls that mapped pages and sysfs cannot
 * serve. An open file is one GET/PUT context, bound to the address space that opened it; open it O_RDWR | O_CLOEXEC.
 *
 *   mmap      page BP_IMM_MAP_CONTEXT: struct bp_imm_context; page BP_IMM_MAP_DOORBELL: any store rings the doorbell.
 *             One page each, MAP_SHARED, by the opener's address space only; a child of fork(2) does not have them.
 *   read      8 bytes: the number of events since the last read, as a u64, like an eventfd. Waits for one
 *             unless O_NONBLOCK is set.
 *   poll      POLLIN: there are events. POLLERR | POLLHUP: the context is gone.
 *   close     ends the context: its actions are aborted, its rings and memories withdrawn.
 *
 * When the device is removed, reset or dead, both pages turn into private pages of plain memory, of which the context
 * page says BP_IMM_CONTEXT_DEAD in its state; read and ioctl then fail with ENODEV.
 */
#ifndef BACKPLANE_IMM_H
#define BACKPLANE_IMM_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Pages to map, as multiples of the page size. */
#define BP_IMM_MAP_CONTEXT 0
#define BP_IMM_MAP_DOORBELL 1

/* Most nodes in a list of nodes. */
#define BP_IMM_MAX_NODES 256

/**
 * struct bp_imm_memory_register - makes memory of the process known to the module, and pins it
 * @address: first byte; need not be page-aligned
 * @bytes: size, from 1 on
 * @key: what an action from elsewhere has to bring
 * @nodes: address of @node_count node ids (__u16) that have access
 * @node_count: 0 for every node of the partition
 * @flags: BP_IMM_MEMORY_REMOTE_*, 0 for use by this context alone
 * @memory: result: id of the memory, for struct bp_imm_action
 * @reserved: zero
 */
struct bp_imm_memory_register {
	__u64 address;
	__u64 bytes;
	__u64 key;
	__u64 nodes;
	__u32 node_count;
	__u32 flags;
	__u32 memory;
	__u32 reserved;
};

/**
 * struct bp_imm_memory_unregister - withdraws a memory; nothing touches its pages any more when the call returns
 * @memory: its id
 * @reserved: zero
 */
struct bp_imm_memory_unregister {
	__u32 memory;
	__u32 reserved;
};

/**
 * struct bp_imm_ring_create - opens a ring buffer in a registered memory
 * @offset: of struct bp_imm_ring in the memory, a multiple of 4096
 * @bytes: capacity, a power of two; BP_IMM_RING_HEADER + @bytes must lie within the memory
 * @key: what PUT and GET have to bring
 * @nodes: address of @node_count node ids (__u16) that have access
 * @node_count: 0 for every node of the partition
 * @flags: BP_IMM_RING_*
 * @memory: id of the memory
 * @ring: wanted ring id, or BP_IMM_ANY_RING; result: the ring's id
 */
struct bp_imm_ring_create {
	__u64 offset;
	__u64 bytes;
	__u64 key;
	__u64 nodes;
	__u32 node_count;
	__u32 flags;
	__u32 memory;
	__u32 ring;
};

/**
 * struct bp_imm_ring_destroy - closes a ring buffer of this context
 * @ring: its id
 * @reserved: zero
 */
struct bp_imm_ring_destroy {
	__u32 ring;
	__u32 reserved;
};

#define BP_IMM_IOCTL 0xbb
#define BP_IMM_IOC_MEMORY_REGISTER _IOWR(BP_IMM_IOCTL, 1, struct bp_imm_memory_register)
#define BP_IMM_IOC_MEMORY_UNREGISTER _IOW(BP_IMM_IOCTL, 2, struct bp_imm_memory_unregister)
#define BP_IMM_IOC_RING_CREATE _IOWR(BP_IMM_IOCTL, 3, struct bp_imm_ring_create)
#define BP_IMM_IOC_RING_DESTROY _IOW(BP_IMM_IOCTL, 4, struct bp_imm_ring_destroy)

#endif /* BACKPLANE_IMM_H */
