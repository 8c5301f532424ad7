/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of the messaging module, as far as a process sees it: a context page, and a ring that is appended to. Plain
 * memory, so that tests run anywhere; an eventfd stands for the device's file.
 */
#ifndef BP_MODEL_H
#define BP_MODEL_H

#include "../internal.h"

struct model {
	struct bp_context context; /* what the library works on */
	struct bp_imm_context *page;
	uint32_t doorbell;
	uint32_t done; /* actions carried out */
	/* How an action ends; the model has set status OK, length and index. */
	void (*handler)(struct model *model, const struct bp_imm_action *action, struct bp_imm_completion *completion);
	void *data; /* the handler's */
};

struct model_ring {
	struct bp_ring ring; /* what the library works on */
	struct bp_imm_ring *header;
	uint64_t tail;
	uint64_t sequence;
};

struct model *model_new(unsigned int flags);
void model_free(struct model *model);

/* Carries out at most count actions; returns how many. */
uint32_t model_run(struct model *model, uint32_t count);

/* The payload area of an inline action. */
unsigned char *model_inline(struct model *model, const struct bp_imm_action *action);

/* An event of the context. */
void model_event(struct model *model);

struct model_ring *model_ring_new(struct model *model, size_t capacity);
void model_ring_free(struct model_ring *ring);

/* Appends an element, notifies; false if the ring has no room. */
bool model_put(struct model_ring *ring, const void *payload, uint32_t length, uint64_t tag);

#endif /* BP_MODEL_H */
