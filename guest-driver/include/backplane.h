/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libbackplane: messaging between processes on nodes of a backplane, with no operating system in the way.
 *
 * A context is a page of registers of the inter-node messaging module, mapped into this process alone. Through it a
 * process puts elements into ring buffers in other nodes' memory (PUT), removes elements from them (GET), and reads,
 * writes and atomically changes memory that other processes have registered (one-sided).
 *
 * Results. Functions return 0 or a positive number, or a negative code: -errno, or one of enum bp_code for an action
 * that the module refused. bp_strerror() has a text for both.
 *
 * Threads. A context, and whatever was made from it, is used by one thread at a time; contexts are independent of each
 * other, so give each thread its own. bp_strerror() may be called by anybody.
 *
 * Processes. A context belongs to the process that opened it. A child of fork(2) inherits neither its pages nor the
 * right to use it; it opens its own. The file is closed by exec.
 *
 * No function allocates memory or enters the kernel unless it says so.
 */
#ifndef BACKPLANE_H
#define BACKPLANE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BP_PUBLIC __attribute__((visibility("default")))
#else
#define BP_PUBLIC
#endif

/* Most actions of a context that can be in flight. */
#define BP_SLOTS 8

/* Longest payload that need not lie in registered memory. All actions in flight together share this room. */
#define BP_INLINE_BYTES 3072

/* Codes of actions that ended without success. */
enum bp_code {
	BP_FULL = -1002, /* PUT: the ring has no room now */
	BP_EMPTY = -1003, /* GET: the ring has no element now */
	BP_DENIED = -1004, /* wrong key, node without access, or the wrong direction */
	BP_NO_SUCH_RING = -1005,
	BP_TOO_LONG = -1006, /* payload exceeds the ring's limit (PUT) or the room (GET); the result's length says it */
	BP_UNREACHABLE = -1007, /* no such node, or it is not running */
	BP_ABORTED = -1008, /* the context was closed or reset meanwhile */
	BP_BAD_COMMAND = -1009,
	BP_BAD_ADDRESS = -1010, /* payload outside of the memory */
	BP_RING_CORRUPT = -1011, /* the ring's owner broke it */
	BP_TIMED_OUT = -1012, /* still FULL or EMPTY after the wait */
	BP_NO_SUCH_MEMORY = -1013,
};

/**
 * bp_strerror - text for a code
 * @code: what a function returned
 *
 * Return: text, valid until the calling thread calls again
 */
BP_PUBLIC const char *bp_strerror(int code);

/* ---- contexts ---- */

struct bp_context;

/* How to wait for an action, and bp_ring_poll() for an element, when it takes longer than a few microseconds. */
#define BP_OPEN_YIELD 0 /* spin for a while, then let other threads run in between (sched_yield) */
#define BP_OPEN_SPIN 1 /* only spin */
#define BP_OPEN_SLEEP 2 /* spin for a short while, then sleep until the module's interrupt */

/**
 * bp_open - opens a context; enters the kernel
 * @context: result
 * @device: path of the character device; NULL for $BACKPLANE_DEVICE, or else /dev/bp_imm0
 * @flags: BP_OPEN_*
 *
 * Return: 0; -ENOENT: no such device; -EBUSY: all contexts are in use; -EDQUOT: this user has too many;
 *	-ENODEV: the module is gone; -ENOMEM, -EACCES, -EMFILE, …
 */
BP_PUBLIC int bp_open(struct bp_context **context, const char *device, unsigned int flags);

/**
 * bp_close - closes a context: its actions are aborted, its rings and memories withdrawn and freed; enters the kernel
 * @context: the context; NULL does nothing
 */
BP_PUBLIC void bp_close(struct bp_context *context);

/* Id of this node, from 1 on. */
BP_PUBLIC unsigned int bp_node(const struct bp_context *context);

/* Number of the context on its node: what others see as an element's source_context. */
BP_PUBLIC unsigned int bp_number(const struct bp_context *context);

/* File descriptor for poll(2) and epoll: readable when there is an event; see bp_ring_arm() and BP_NOTIFY. */
BP_PUBLIC int bp_fd(const struct bp_context *context);

/**
 * bp_events - takes the events that made bp_fd() readable; enters the kernel
 * @context: the context
 *
 * Return: number of events, 0 if there are none; -ENODEV
 */
BP_PUBLIC int bp_events(struct bp_context *context);

/* ---- memory ---- */

/* Who else may use a memory or a ring. All-zeroes: every node of the partition, with key 0. */
struct bp_access {
	uint64_t key; /* what an action has to bring */
	const uint16_t *nodes; /* ids of the nodes that have access; NULL: all */
	unsigned int node_count; /* at most 256 */
};

/* What others may do with a memory; 0: only this context uses it. */
#define BP_REMOTE_READ 1
#define BP_REMOTE_WRITE 2
#define BP_REMOTE_ATOMIC 4

/* Registered memory; only to be read. */
struct bp_memory {
	void *address;
	size_t bytes;
	uint32_t id; /* number in its context */
	uint32_t remote; /* name for struct bp_remote on other nodes */
};

/**
 * bp_memory_register - makes memory of this process known to the module; pins it; enters the kernel, allocates
 * @context: the context that it is for
 * @address: first byte
 * @bytes: size
 * @flags: BP_REMOTE_*
 * @access: who else may use it; NULL as all-zeroes
 * @memory: result
 *
 * Payloads in registered memory are moved from and to their place without a copy by this library.
 *
 * Return: 0; -ENOMEM: more than RLIMIT_MEMLOCK; -EINVAL: empty or too large; -ENOSPC: too many memories;
 *	-EFAULT: not mapped, or read-only; -ENODEV
 */
BP_PUBLIC int bp_memory_register(struct bp_context *context, void *address, size_t bytes, unsigned int flags,
				 const struct bp_access *access, const struct bp_memory **memory);

/**
 * bp_memory_unregister - withdraws a memory and unpins it; enters the kernel
 * @context: the context that it was registered with
 * @memory: the memory; not to be used after success
 *
 * Return: 0; -EBUSY: actions in flight use it; -ENODEV: the context is gone, and with it the memory
 */
BP_PUBLIC int bp_memory_unregister(struct bp_context *context, const struct bp_memory *memory);

/* ---- rings ---- */

struct bp_ring;

#define BP_ANY_RING UINT32_MAX

#define BP_RING_SHARED_CONSUMERS 1 /* elements leave by GET only, from any node: a work queue */
#define BP_RING_WRITE_ONLY 2 /* others may PUT, not GET */
#define BP_RING_READ_ONLY 4 /* others may GET, not PUT */

/* An element, in place. */
struct bp_element {
	const void *payload; /* contiguous, 32-byte aligned; valid until bp_ring_release() */
	size_t length;
	uint64_t sequence; /* number in the ring, from 0 on */
	uint64_t tag; /* given with the PUT */
	uint16_t source_node;
	uint16_t source_context;
};

/**
 * bp_ring_create - makes a ring buffer that others can name; enters the kernel, allocates
 * @context: the context that it is for
 * @id: ring id on this node, or BP_ANY_RING
 * @capacity: bytes, a power of two from 4 KiB to 64 MiB; an element takes 32 more than its payload, rounded up to 32,
 *	and at most half of the capacity
 * @flags: BP_RING_*
 * @access: who else may use it; NULL as all-zeroes
 * @ring: result
 *
 * Return: 0; -EBUSY: the id is taken; -ENOSPC: no id is free; -EINVAL: capacity or id out of range; else as
 *	bp_memory_register()
 */
BP_PUBLIC int bp_ring_create(struct bp_context *context, uint32_t id, size_t capacity, unsigned int flags,
			     const struct bp_access *access, struct bp_ring **ring);

/**
 * bp_ring_destroy - closes a ring; what is in it is lost; enters the kernel
 * @ring: the ring; NULL does nothing
 */
BP_PUBLIC void bp_ring_destroy(struct bp_ring *ring);

/* Id of the ring on its node. */
BP_PUBLIC uint32_t bp_ring_id(const struct bp_ring *ring);

/**
 * bp_ring_next - hands out the next element of a ring, in place
 * @ring: the ring; not one with shared consumers
 * @element: result
 *
 * May be called repeatedly before bp_ring_release().
 *
 * Return: 1; 0: there is none now; BP_RING_CORRUPT, BP_NO_SUCH_RING: the module has closed it; -ENODEV;
 *	-EINVAL: shared consumers
 */
BP_PUBLIC int bp_ring_next(struct bp_ring *ring, struct bp_element *element);

/**
 * bp_ring_release - gives the room of all elements that were handed out back to producers
 * @ring: the ring
 *
 * Enters no kernel; if a PUT is waiting for room it rings the doorbell.
 */
BP_PUBLIC void bp_ring_release(struct bp_ring *ring);

/**
 * bp_ring_poll - waits for an element, awake, as said at bp_open()
 * @ring: the ring
 * @element: result
 * @timeout_us: longest wait; negative: for ever
 *
 * Return: as bp_ring_next(); 0 after @timeout_us
 */
BP_PUBLIC int bp_ring_poll(struct bp_ring *ring, struct bp_element *element, int64_t timeout_us);

/**
 * bp_ring_arm - asks for an event when the next element arrives, for one's own poll(2) or epoll
 * @ring: the ring
 *
 * Return: 1: there is an element already, do not sleep; 0: armed; negative as bp_ring_next()
 */
BP_PUBLIC int bp_ring_arm(struct bp_ring *ring);

/**
 * bp_ring_arm_when - asks for an event when there is more than one element to take
 * @ring: the ring
 * @elements: that many elements to take; 0: whatever their number
 * @bytes: or that many bytes in the ring, as bp_ring_create() counts them; 0: whatever their size
 *
 * Counted from what bp_ring_next() has handed out. A ring that is too full for the next PUT is an event, too, whatever was
 * asked for; elements that stay below both measures are not: sleep with a time-out. With both 0 as bp_ring_arm().
 *
 * Return: 1: it is so already, do not sleep; 0: armed; negative as bp_ring_next()
 */
BP_PUBLIC int bp_ring_arm_when(struct bp_ring *ring, uint64_t elements, uint64_t bytes);

/**
 * bp_ring_wait_when - sleeps until there is more than one element to take; enters the kernel if there is not
 * @ring: the ring
 * @elements: as for bp_ring_arm_when()
 * @bytes: as for bp_ring_arm_when()
 * @timeout_ms: longest wait; negative: for ever
 *
 * Return: 1; 0 after @timeout_ms: bp_ring_next() hands out what there is; -EINTR: a signal; negative as bp_ring_next()
 */
BP_PUBLIC int bp_ring_wait_when(struct bp_ring *ring, uint64_t elements, uint64_t bytes, int timeout_ms);

/**
 * bp_ring_wait - sleeps until a ring has an element; enters the kernel if it has none
 * @ring: the ring
 * @timeout_ms: longest wait; negative: for ever
 *
 * Return: 1; 0 after @timeout_ms; -EINTR: a signal; negative as bp_ring_next()
 */
BP_PUBLIC int bp_ring_wait(struct bp_ring *ring, int timeout_ms);

/* ---- one action at a time ---- */

/* A ring somewhere. */
struct bp_target {
	uint16_t node;
	uint32_t ring;
	uint64_t key;
	uint32_t wait_us; /* how long the module waits before it answers FULL or EMPTY; 0: not at all */
};

/* Place in a memory somewhere. */
struct bp_remote {
	uint16_t node;
	uint32_t memory; /* bp_memory.remote there */
	uint64_t key;
	uint64_t offset; /* atomics: a multiple of 8 */
};

/* How an action ended. */
struct bp_result {
	int code; /* 0 or negative */
	size_t length; /* bytes moved; BP_TOO_LONG: bytes needed (GET) or allowed (PUT) */
	uint64_t value; /* PUT, GET: the element's sequence number; atomics: old value */
	uint64_t tag; /* GET */
	uint64_t user; /* as given with the action */
	uint16_t source_node; /* GET */
	uint16_t source_context; /* GET */
};

/*
 * The functions below carry out one action and wait for its end. They return 0, a code, -EBUSY if actions are in flight
 * (bp_submit()), -EMSGSIZE for a payload over BP_INLINE_BYTES outside of registered memory, or -ENODEV.
 */

/* Appends an element to a ring. */
BP_PUBLIC int bp_put(struct bp_context *context, const struct bp_target *target, const void *payload, size_t length,
		     uint64_t tag);

/* Removes the first element of a ring; at most @room bytes go to @buffer. @result may be NULL. */
BP_PUBLIC int bp_get(struct bp_context *context, const struct bp_target *target, void *buffer, size_t room,
		     struct bp_result *result);

/* Copies into another process's memory. */
BP_PUBLIC int bp_write(struct bp_context *context, const struct bp_remote *to, const void *data, size_t length);

/* Copies from another process's memory. */
BP_PUBLIC int bp_read(struct bp_context *context, const struct bp_remote *from, void *buffer, size_t length);

/* Adds to a 64-bit word of another process's memory; @old may be NULL. */
BP_PUBLIC int bp_fetch_add(struct bp_context *context, const struct bp_remote *word, uint64_t addend, uint64_t *old);

/* Stores @desired in such a word if it holds @expected; @old, what it held, may be NULL. */
BP_PUBLIC int bp_compare_swap(struct bp_context *context, const struct bp_remote *word, uint64_t expected,
			      uint64_t desired, uint64_t *old);

/* ---- many actions in flight ---- */

enum bp_command {
	BP_NOP = 0,
	BP_PUT = 1,
	BP_GET = 2,
	BP_WRITE = 3,
	BP_READ = 4,
	BP_FETCH_ADD = 5,
	BP_COMPARE_SWAP = 6,
};

#define BP_NOTIFY 2 /* an event when the action ends */

/* An action; fields that its command does not use are ignored. */
struct bp_action {
	enum bp_command command;
	unsigned int flags; /* BP_NOTIFY or 0 */
	uint16_t node;
	uint32_t place; /* PUT, GET: ring id; else bp_memory.remote */
	uint32_t wait_us; /* PUT, GET: as in struct bp_target */
	uint64_t key;
	uint64_t tag; /* PUT */
	void *buffer; /* payload, or room for it; in use until the action ended. Not written to by PUT and WRITE */
	size_t length;
	uint64_t remote_offset; /* WRITE, READ, atomics */
	uint64_t operand; /* FETCH_ADD: addend; COMPARE_SWAP: expected */
	uint64_t swap; /* COMPARE_SWAP: desired */
	uint64_t user; /* handed back with the result */
};

/**
 * bp_prepare - fills an action slot, without starting the action
 * @context: the context
 * @action: the action
 *
 * Return: 0; -EAGAIN: no slot or no inline room is free, flush and reap first; -EMSGSIZE: more than BP_INLINE_BYTES
 *	outside of registered memory; -EINVAL: no such command
 */
BP_PUBLIC int bp_prepare(struct bp_context *context, const struct bp_action *action);

/**
 * bp_flush - starts the actions that were prepared; they are carried out in order
 * @context: the context
 */
BP_PUBLIC void bp_flush(struct bp_context *context);

/* bp_prepare(), then bp_flush(). */
BP_PUBLIC int bp_submit(struct bp_context *context, const struct bp_action *action);

/**
 * bp_reap - takes the results of actions that have ended, in the order of their submission
 * @context: the context
 * @results: room for @count
 * @count: most results
 *
 * Return: number of results; 0: none has ended since; -ENODEV: the context is gone, and all actions with it
 */
BP_PUBLIC int bp_reap(struct bp_context *context, struct bp_result *results, unsigned int count);

/* Number of actions that were prepared or started, and not reaped. */
BP_PUBLIC unsigned int bp_in_flight(const struct bp_context *context);

/**
 * bp_wait - sleeps until an action has ended that was given BP_NOTIFY; enters the kernel if none has
 * @context: the context
 * @timeout_ms: longest wait; negative: for ever
 *
 * Return: 1; 0 after @timeout_ms, or if nothing is in flight; -EINTR: a signal; -ENODEV
 */
BP_PUBLIC int bp_wait(struct bp_context *context, int timeout_ms);

#ifdef __cplusplus
}
#endif

#endif /* BACKPLANE_H */
