/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of libbackplane share. */
#ifndef BP_INTERNAL_H
#define BP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "backplane.h"
#include "backplane_imm.h"
#include "backplane_layout.h"
#include "barrier.h"

/* Spins before a waiter does what was said at bp_open(); a spin is a load and a pause. */
#define BP_SPINS_BEFORE_YIELD 20000
#define BP_SPINS_BEFORE_SLEEP 200

/* Free room of the inline area, handed out and taken back in order. */
struct bp_inline {
	uint32_t start; /* of the oldest payload in use */
	uint32_t end; /* after the youngest one */
	uint32_t count; /* payloads in use */
};

/* What the library remembers of an action in a slot. */
struct bp_slot {
	uint64_t user;
	void *copy_to; /* GET, READ: where the payload goes from the inline area; NULL: it is there already */
	size_t room; /* at copy_to */
	uint32_t inline_start;
	uint32_t inline_bytes; /* 0: uses no inline room */
};

struct bp_registered {
	struct bp_memory memory;
	struct bp_registered *next;
};

/*
 * A context. Indices of actions run freely: [reaped, submitted) is in flight, [submitted, prepared) is filled in but not
 * started. An index's slot is index % BP_SLOTS.
 */
struct bp_context {
	volatile struct bp_imm_context *page;
	volatile uint32_t *doorbell;
	uint32_t prepared;
	uint32_t submitted;
	uint32_t reaped;
	uint32_t completed; /* as far as it was read */
	struct bp_inline inline_room;
	struct bp_slot slots[BP_SLOTS];
	struct bp_registered *memories;
	struct bp_ring *rings;
	unsigned int flags;
	int fd;
	int sleep_ms; /* longest sleep without a look at the context's state; negative: for ever */
	size_t page_bytes;
	uint32_t node;
	uint32_t number;
};

/*
 * A ring that this process owns. Positions are bytes and run freely: [released, next) is handed out,
 * [next, tail) is there.
 */
struct bp_ring {
	struct bp_context *context;
	volatile struct bp_imm_ring *header;
	const unsigned char *elements;
	uint64_t capacity;
	uint64_t released;
	uint64_t next;
	uint64_t tail; /* as far as it was read */
	uint64_t taken; /* elements handed out, ever */
	uint64_t refused; /* as in the header when room was made last */
	uint32_t empty_looks; /* since the context's state was last looked at */
	uint32_t id;
	unsigned int flags;
	const struct bp_memory *memory;
	struct bp_ring *link; /* next ring of the context */
};

/* context.c */
int bp_check_state(const struct bp_context *context);

/* action.c */
int bp_look(struct bp_context *context);

/* inline.c */
bool bp_inline_take(struct bp_inline *room, uint32_t bytes, uint32_t *start);
void bp_inline_give(struct bp_inline *room, uint32_t start, uint32_t bytes);

/* memory.c */
const struct bp_memory *bp_memory_of(const struct bp_context *context, const void *address, size_t bytes);
void bp_memory_drop(struct bp_context *context, const struct bp_memory *memory);
void bp_memory_forget_all(struct bp_context *context);

/* ring.c */
void bp_ring_attach(struct bp_ring *ring);
void bp_ring_forget(struct bp_ring *ring);

/* wait.c */
struct bp_waiter {
	int64_t timeout_us; /* negative: for ever */
	uint32_t spins;
	bool timed; /* whether the deadline is set */
	struct timespec deadline;
};

void bp_deadline(struct timespec *deadline, int64_t timeout_us);
int bp_spin(const struct bp_context *context, struct bp_waiter *waiter);
int bp_sleep(struct bp_context *context, const struct timespec *deadline);

/* error.c */
int bp_code_of(uint32_t status);

#endif /* BP_INTERNAL_H */
