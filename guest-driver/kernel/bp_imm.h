/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Driver of the inter-node messaging module (US 9,672,143): one open file is one GET/PUT context.
 *
 *   bp_imm_main.c     PCI device, reset, removal, suspend
 *   bp_imm_admin.c    registers, start and stop, privileged commands
 *   bp_imm_health.c   finds out that the module failed or died
 *   bp_imm_context.c  open, ioctl, release
 *   bp_imm_map.c      mmap, page faults
 *   bp_imm_memory.c   pinned memory of a context
 *   bp_imm_ring.c     ring buffers in such memory
 *   bp_imm_event.c    interrupts, read, poll
 *   bp_imm_sysfs.c, bp_imm_debugfs.c
 *
 * Order of locks: bp_imm_device.clients_lock, bp_imm_client.lock, then one of admin_lock, map_lock, bp_imm_vector.lock.
 * None of them is held while user memory is touched or pinned.
 */
#ifndef BP_IMM_H
#define BP_IMM_H

#include <linux/atomic.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/poll.h>
#include <linux/rwsem.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "backplane_imm.h"
#include "backplane_layout.h"
#include "bp_imm_limits.h"

#define BP_IMM_NAME "bp_imm"

/**
 * enum bp_imm_state - states of a device and of a context
 * @BP_IMM_INIT: being set up; a device goes back here while it is reset
 * @BP_IMM_STARTED: works
 * @BP_IMM_ZOMBIE: the hardware behind it is gone, what is left waits for its users to close. A context never leaves
 *	this state; a device leaves it through bp_imm_start() if it was not removed.
 *
 * Device: INIT -> STARTED <-> ZOMBIE. Context: INIT -> STARTED -> ZOMBIE.
 */
enum bp_imm_state {
	BP_IMM_INIT,
	BP_IMM_STARTED,
	BP_IMM_ZOMBIE,
};

/**
 * struct bp_imm_vector - the contexts that share an interrupt
 * @lock: guards @clients and the state of the contexts on it
 * @clients: started contexts, by bp_imm_client.vector_entry
 */
struct bp_imm_vector {
	spinlock_t lock; /* see above */
	struct list_head clients;
};

/**
 * struct bp_imm_device - a messaging module; lives until it is removed and the last file on it is closed
 * @ref: one for the driver, one for each open file
 * @pdev: the PCI device; not to be touched once the state is ZOMBIE
 * @misc: the character device
 * @index: N of /dev/bp_imm<N>
 * @msix: whether every vector has an interrupt of its own; else all share INTx
 * @state: written under @clients_lock; a started context implies a started device
 * @held: reset or removal is under way: not to be started by anybody else; under @clients_lock
 * @registers: BAR 0
 * @life: tells that the device server has ended, or NULL: only the registers can
 * @contexts_start: bus address of the context pages, seen from the processor
 * @doorbells_start: the same of the doorbell pages
 * @features: BP_IMM_FEATURE_* in use
 * @node_id: id of this node
 * @context_count: contexts of the module
 * @context_stride: bytes between two context pages
 * @ring_count: ring ids of this node
 * @memory_count: memories of a context
 * @max_pages: pages of a memory
 * @events: event count of each context, written by the module
 * @events_dma: its bus address
 * @events_bytes: its size
 * @admin_lock: one command at a time
 * @admin_late: the latest command was given up while the module was busy with it; under admin_lock
 * @admin: the command, followed by room for a list of nodes
 * @admin_dma: its bus address
 * @clients_lock: guards @clients
 * @clients: open files, by bp_imm_client.entry
 * @ids: numbers of the contexts in use
 * @open_contexts: how many are STARTED
 * @pinned_pages: pages of registered memory
 * @map_lock: orders page faults with the end of a context
 * @vectors: see there
 * @health: watches the hardware while there are contexts
 * @suspect: somebody has reason to think that the module failed: the next check asks its registers
 * @recover_after: jiffies before which no new attempt to recover is made
 * @debugfs: directory of this device
 */
struct bp_imm_device {
	struct kref ref;
	struct pci_dev *pdev;
	struct miscdevice misc;
	char name[24];
	int index;
	bool msix;
	enum bp_imm_state state;
	bool held;

	void __iomem *registers;
	struct bp_imm_life __iomem *life;
	phys_addr_t contexts_start;
	phys_addr_t doorbells_start;
	u64 features;
	u32 node_id;
	u32 context_count;
	u32 context_stride;
	u32 ring_count;
	u32 memory_count;
	u32 max_pages;

	__le32 *events;
	dma_addr_t events_dma;
	size_t events_bytes;

	struct mutex admin_lock; /* see above */
	bool admin_late;
	struct bp_imm_admin *admin;
	dma_addr_t admin_dma;

	struct mutex clients_lock; /* see above */
	struct list_head clients;
	struct ida ids;
	atomic_t open_contexts;
	atomic64_t pinned_pages;

	struct rw_semaphore map_lock;
	struct bp_imm_vector vectors[BP_IMM_CONTEXT_VECTORS];

	struct delayed_work health;
	atomic_t suspect;
	unsigned long recover_after;
	struct dentry *debugfs;
};

/**
 * struct bp_imm_client - an open file
 * @device: holds a reference
 * @entry: in bp_imm_device.clients
 * @vector_entry: in bp_imm_vector.clients
 * @id: number of the context
 * @generation: of this binding, as CONTEXT_OPEN gave it
 * @state: written under @lock, bp_imm_device.map_lock and bp_imm_vector.lock; read under any of them
 * @lock: guards @memories and @rings
 * @memories: struct bp_imm_memory by id
 * @rings: struct bp_imm_ring_info by ring id
 * @mapping: of the file, to take the pages away
 * @dead_pages: what the process sees in place of the device's pages once the context is a ZOMBIE
 * @notifier: ends the context with the address space that opened it; its mm is that address space
 * @cred: of who opened it: user whose pinned pages and contexts are counted
 * @pid: thread group that opened it, in the initial namespace
 * @comm: its name
 * @wait: readers and pollers
 * @events_seen: event count up to which read(2) has taken events
 */
struct bp_imm_client {
	struct bp_imm_device *device;
	struct list_head entry;
	struct list_head vector_entry;
	u32 id;
	u32 generation;
	enum bp_imm_state state;
	struct mutex lock; /* see above */
	struct xarray memories;
	struct xarray rings;
	struct address_space *mapping;
	struct page *dead_pages[2];
	struct mmu_notifier notifier;
	const struct cred *cred;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	wait_queue_head_t wait;
	atomic_t events_seen;
};

/**
 * struct bp_imm_memory - memory of a process that the module may use
 * @id: number of it in its context
 * @address: in the process
 * @bytes: size
 * @flags: BP_IMM_MEMORY_*
 * @page_count: pinned pages
 * @pages: the same pages with their bus addresses
 */
struct bp_imm_memory {
	u32 id;
	u64 address;
	u64 bytes;
	u32 flags;
	unsigned long page_count;
	struct sg_table pages;
};

/**
 * struct bp_imm_ring_info - a ring of a context, for its checks and for debugfs
 * @id: ring id
 * @memory: the memory it lies in
 * @offset: of its header there
 * @bytes: capacity
 * @flags: BP_IMM_RING_*
 */
struct bp_imm_ring_info {
	u32 id;
	u32 memory;
	u64 offset;
	u64 bytes;
	u32 flags;
};

/* bp_imm_main.c */
void bp_imm_device_put(struct bp_imm_device *device);
void bp_imm_stop(struct bp_imm_device *device);
int bp_imm_restart(struct bp_imm_device *device);

/* bp_imm_admin.c */
int bp_imm_identify(struct bp_imm_device *device);
int bp_imm_start(struct bp_imm_device *device);
int bp_imm_reset(struct bp_imm_device *device);
int bp_imm_admin(struct bp_imm_device *device, const struct bp_imm_admin *command,
		 const __le16 *nodes, u64 *result);
const char *bp_imm_error_text(u32 error);

/* bp_imm_health.c */
void bp_imm_health_check(struct work_struct *work);
void bp_imm_health_watch(struct bp_imm_device *device);
void bp_imm_health_ask(struct bp_imm_device *device);
bool bp_imm_dead(struct bp_imm_device *device);
u32 bp_imm_read32(struct bp_imm_device *device, u32 offset);
u64 bp_imm_read64(struct bp_imm_device *device, u32 offset);

/* bp_imm_context.c */
extern const struct file_operations bp_imm_fops;
void bp_imm_client_end(struct bp_imm_client *client, bool tell);
__le16 *bp_imm_copy_nodes(u64 address, u32 count);

/* bp_imm_map.c */
extern bool bp_imm_write_combining;
int bp_imm_mmap(struct file *file, struct vm_area_struct *vma);

/* bp_imm_memory.c */
int bp_imm_memory_register(struct bp_imm_client *client,
			   struct bp_imm_memory_register __user *argument);
int bp_imm_memory_unregister(struct bp_imm_client *client,
			     struct bp_imm_memory_unregister __user *argument);
void bp_imm_memory_free_all(struct bp_imm_client *client, bool safe);

/* bp_imm_ring.c */
int bp_imm_ring_create(struct bp_imm_client *client, struct bp_imm_ring_create __user *argument);
int bp_imm_ring_destroy(struct bp_imm_client *client,
			struct bp_imm_ring_destroy __user *argument);
void bp_imm_ring_free_all(struct bp_imm_client *client);

/* bp_imm_event.c */
int bp_imm_irq_request(struct bp_imm_device *device);
void bp_imm_irq_free(struct bp_imm_device *device);
void bp_imm_event_attach(struct bp_imm_client *client);
int bp_imm_event_count(struct bp_imm_client *client, u32 *count);
ssize_t bp_imm_read(struct file *file, char __user *buffer, size_t bytes, loff_t *offset);
__poll_t bp_imm_poll(struct file *file, poll_table *table);

/* bp_imm_sysfs.c */
extern const struct attribute_group *bp_imm_groups[];

/* bp_imm_debugfs.c */
void bp_imm_debugfs_init(void);
void bp_imm_debugfs_exit(void);
void bp_imm_debugfs_add(struct bp_imm_device *device);
void bp_imm_debugfs_remove(struct bp_imm_device *device);

#endif /* BP_IMM_H */
