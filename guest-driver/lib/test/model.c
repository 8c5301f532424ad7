// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "check.h"

struct model *model_new(unsigned int flags)
{
	struct model *model = calloc(1, sizeof(*model));

	CHECK(model);
	model->page = aligned_alloc(4096, sizeof(*model->page));
	CHECK(model->page);
	memset(model->page, 0, sizeof(*model->page));
	model->page->state = BP_IMM_CONTEXT_OPEN;
	model->context.page = model->page;
	model->context.doorbell = &model->doorbell;
	model->context.flags = flags;
	/* A lost wake-up hangs, instead of being late. */
	model->context.sleep_ms = -1;
	model->context.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	CHECK(model->context.fd >= 0);
	return model;
}

void model_free(struct model *model)
{
	close(model->context.fd);
	free(model->page);
	free(model);
}

unsigned char *model_inline(struct model *model, const struct bp_imm_action *action)
{
	CHECK_EQUAL(BP_IMM_INLINE, action->memory);
	CHECK(action->offset + action->length <= BP_IMM_INLINE_BYTES);
	return model->page->inline_data + action->offset;
}

static void carry_out(struct model *model, uint32_t index)
{
	const struct bp_imm_action *actions = (const struct bp_imm_action *)model->page->actions;
	struct bp_imm_completion *completions = (struct bp_imm_completion *)model->page->completions;
	struct bp_imm_action action = actions[index % BP_IMM_SLOTS];
	struct bp_imm_completion completion = {
		.status = BP_IMM_STATUS_OK,
		.length = action.length,
		.index = index,
	};

	if (model->handler)
		model->handler(model, &action, &completion);
	completions[index % BP_IMM_SLOTS] = completion;
	__atomic_store_n(&model->page->complete, index + 1, __ATOMIC_RELEASE);
	if (action.flags & BP_IMM_ACTION_NOTIFY)
		model_event(model);
}

uint32_t model_run(struct model *model, uint32_t count)
{
	uint32_t submit = __atomic_load_n(&model->page->submit, __ATOMIC_ACQUIRE);
	uint32_t ran = 0;

	CHECK(submit - model->done <= BP_IMM_SLOTS);
	for (; ran < count && model->done != submit; ran++)
		carry_out(model, model->done++);
	return ran;
}

void model_event(struct model *model)
{
	const uint64_t one = 1;

	CHECK_EQUAL(sizeof(one), write(model->context.fd, &one, sizeof(one)));
}

struct model_ring *model_ring_new(struct model *model, size_t capacity)
{
	struct model_ring *ring = calloc(1, sizeof(*ring));

	CHECK(ring);
	ring->header = aligned_alloc(4096, BP_IMM_RING_HEADER + capacity);
	CHECK(ring->header);
	/* The module clears what it needs to; everything else may hold anything. */
	memset(ring->header, 0xa5, BP_IMM_RING_HEADER + capacity);
	memset(ring->header, 0, sizeof(*ring->header));
	ring->header->capacity = capacity;
	ring->header->state = BP_IMM_RING_STATE_OPEN;
	ring->header->notify_event = UINT64_MAX;
	ring->ring.context = &model->context;
	ring->ring.header = ring->header;
	ring->ring.capacity = capacity;
	bp_ring_attach(&ring->ring);
	return ring;
}

void model_ring_free(struct model_ring *ring)
{
	free(ring->header);
	free(ring);
}

static struct bp_imm_element *element_at(struct model_ring *ring, uint64_t position)
{
	return (struct bp_imm_element *)((unsigned char *)(ring->header + 1) + position % ring->header->capacity);
}

static void publish(struct model_ring *ring, uint64_t tail)
{
	struct model *model = (struct model *)((char *)ring->ring.context - offsetof(struct model, context));
	uint64_t old = ring->tail, event;

	__atomic_store_n(&ring->header->tail, tail, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->header->elements, ring->sequence, __ATOMIC_RELEASE);
	ring->tail = tail;
	/* Partner of the full fence in bp_ring_arm_when(). */
	bp_full_fence();
	event = __atomic_load_n(&ring->header->notify_event, __ATOMIC_ACQUIRE);
	if (event - old < tail - old ||
	    __atomic_load_n(&ring->header->notify_elements, __ATOMIC_ACQUIRE) == ring->sequence)
		model_event(model);
}

/* A PUT found no room: its partner is bp_ring_arm_when(), too. */
static void refuse(struct model_ring *ring)
{
	struct model *model = (struct model *)((char *)ring->ring.context - offsetof(struct model, context));

	__atomic_store_n(&ring->header->refused, ring->header->refused + 1, __ATOMIC_RELEASE);
	bp_full_fence();
	if (__atomic_load_n(&ring->header->notify_event, __ATOMIC_ACQUIRE) != UINT64_MAX ||
	    __atomic_load_n(&ring->header->notify_elements, __ATOMIC_ACQUIRE))
		model_event(model);
}

bool model_put(struct model_ring *ring, const void *payload, uint32_t length, uint64_t tag)
{
	const uint64_t capacity = ring->header->capacity;
	uint64_t head = __atomic_load_n(&ring->header->head, __ATOMIC_ACQUIRE);
	uint64_t left = capacity - ring->tail % capacity;
	uint64_t bytes = (sizeof(struct bp_imm_element) + length + BP_IMM_ELEMENT_ALIGN - 1) &
			 ~(uint64_t)(BP_IMM_ELEMENT_ALIGN - 1);
	uint64_t padding = bytes > left ? left : 0;
	struct bp_imm_element *element = element_at(ring, ring->tail);

	CHECK(bytes <= capacity / 2);
	CHECK(ring->tail - head <= capacity);
	if (ring->tail - head + padding + bytes + BP_IMM_ELEMENT_ALIGN > capacity) {
		refuse(ring);
		return false;
	}
	if (padding) {
		__atomic_store_n(&element->commit, (uint32_t)padding | BP_IMM_ELEMENT_PADDING, __ATOMIC_RELEASE);
		element = element_at(ring, ring->tail + padding);
	}
	element->length = length;
	element->source_node = 3;
	element->source_context = 4;
	element->sequence = ring->sequence++;
	element->tag = tag;
	if (length)
		memcpy(element + 1, payload, length);
	__atomic_store_n(&element->commit, (uint32_t)bytes, __ATOMIC_RELEASE);
	publish(ring, ring->tail + padding + bytes);
	return true;
}
