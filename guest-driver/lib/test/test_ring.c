// SPDX-License-Identifier: Apache-2.0
/* Rings: what is put comes out, once, in order, across the wrap; a corrupt ring is an error. */

#include <errno.h>
#include <string.h>

#include "check.h"
#include "model.h"

#define CAPACITY 4096
#define LONGEST (CAPACITY / 2 - sizeof(struct bp_imm_element))

static void fill(unsigned char *payload, uint64_t number, uint32_t length)
{
	uint32_t i;

	for (i = 0; i < length; i++)
		payload[i] = (unsigned char)(number * 31 + i);
}

static void every_element_comes_once_in_order(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct model_ring *ring = model_ring_new(model, CAPACITY);
	unsigned char payload[CAPACITY];
	struct bp_element element;
	unsigned int random = 3, most;
	uint64_t put = 0, got = 0;
	uint32_t length;

	while (got < 100000) {
		for (most = check_random(&random) % 20; most; most--) {
			length = check_random(&random) % (put % 5 ? 120 : LONGEST + 1);
			fill(payload, put, length);
			if (!model_put(ring, payload, length, put * 2))
				break;
			put++;
		}
		for (most = check_random(&random) % 20; most && bp_ring_next(&ring->ring, &element); most--) {
			CHECK_EQUAL(got, element.sequence);
			CHECK_EQUAL(got * 2, element.tag);
			CHECK_EQUAL(3, element.source_node);
			CHECK_EQUAL(4, element.source_context);
			fill(payload, got, (uint32_t)element.length);
			CHECK(!memcmp(payload, element.payload, element.length));
			CHECK_EQUAL(0, (uintptr_t)element.payload % 32);
			got++;
		}
		if (check_random(&random) % 2)
			bp_ring_release(&ring->ring);
	}
	model_ring_free(ring);
	model_free(model);
}

static void room_is_kept_until_it_is_released(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct model_ring *ring = model_ring_new(model, CAPACITY);
	unsigned char payload[LONGEST] = { 0 };
	struct bp_element element;

	CHECK(model_put(ring, payload, 1000, 0));
	CHECK(model_put(ring, payload, 1000, 0));
	CHECK(model_put(ring, payload, 1000, 0));
	CHECK(!model_put(ring, payload, 1000, 0));
	CHECK_EQUAL(1, bp_ring_next(&ring->ring, &element));
	CHECK(!model_put(ring, payload, 1000, 0));
	bp_ring_release(&ring->ring);
	CHECK(model_put(ring, payload, 900, 0));
	model_ring_free(ring);
	model_free(model);
}

static void a_waiting_put_is_rung_for(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct model_ring *ring = model_ring_new(model, CAPACITY);
	struct bp_element element;

	CHECK(model_put(ring, "", 0, 0));
	CHECK_EQUAL(1, bp_ring_next(&ring->ring, &element));
	bp_ring_release(&ring->ring);
	CHECK_EQUAL(0, model->doorbell);
	CHECK(model_put(ring, "", 0, 0));
	CHECK_EQUAL(1, bp_ring_next(&ring->ring, &element));
	ring->header->space_wanted = 1;
	bp_ring_release(&ring->ring);
	CHECK_EQUAL(1, model->doorbell);
	/* No room was made: nothing to ring for. */
	model->doorbell = 0;
	bp_ring_release(&ring->ring);
	CHECK_EQUAL(0, model->doorbell);
	model_ring_free(ring);
	model_free(model);
}

static int next_after(void (*damage)(struct model_ring *ring))
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct model_ring *ring = model_ring_new(model, CAPACITY);
	struct bp_element element;
	int code;

	CHECK(model_put(ring, "payload", 7, 0));
	damage(ring);
	code = bp_ring_next(&ring->ring, &element);
	/* The error stays. */
	CHECK_EQUAL(code, bp_ring_next(&ring->ring, &element));
	model_ring_free(ring);
	model_free(model);
	return code;
}

static struct bp_imm_element *first(struct model_ring *ring)
{
	return (struct bp_imm_element *)(ring->header + 1);
}

static void no_commit(struct model_ring *ring)
{
	first(ring)->commit = 0;
}

static void crooked_commit(struct model_ring *ring)
{
	first(ring)->commit = 33;
}

static void long_commit(struct model_ring *ring)
{
	first(ring)->commit = CAPACITY + 32;
}

static void long_padding(struct model_ring *ring)
{
	first(ring)->commit = CAPACITY * 2 | BP_IMM_ELEMENT_PADDING;
}

static void tail_beyond_the_ring(struct model_ring *ring)
{
	ring->header->tail = CAPACITY + 32;
}

static void crooked_tail(struct model_ring *ring)
{
	ring->header->tail = 7;
}

static void impossible_positions_are_an_error(void)
{
	CHECK_EQUAL(-EPROTO, next_after(no_commit));
	CHECK_EQUAL(-EPROTO, next_after(crooked_commit));
	CHECK_EQUAL(-EPROTO, next_after(long_commit));
	CHECK_EQUAL(-EPROTO, next_after(long_padding));
	CHECK_EQUAL(-EPROTO, next_after(tail_beyond_the_ring));
	CHECK_EQUAL(-EPROTO, next_after(crooked_tail));
}

static void a_length_beyond_the_element_is_an_error(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct model_ring *ring = model_ring_new(model, CAPACITY);
	struct bp_element element;

	CHECK(model_put(ring, "payload", 7, 0));
	first(ring)->length = 33;
	CHECK_EQUAL(-EPROTO, bp_ring_next(&ring->ring, &element));
	model_ring_free(ring);
	model_free(model);
}

static void a_closed_ring_says_so_once_it_is_empty(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct model_ring *ring = model_ring_new(model, CAPACITY);
	struct bp_element element;

	CHECK(model_put(ring, "", 0, 0));
	ring->header->state = BP_IMM_RING_STATE_CORRUPT;
	CHECK_EQUAL(1, bp_ring_next(&ring->ring, &element));
	CHECK_EQUAL(BP_RING_CORRUPT, bp_ring_next(&ring->ring, &element));
	ring->header->state = BP_IMM_RING_STATE_CLOSED;
	CHECK_EQUAL(BP_NO_SUCH_RING, bp_ring_next(&ring->ring, &element));
	model_ring_free(ring);
	model_free(model);
}

static void a_dead_module_is_noticed_by_polling(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct model_ring *ring = model_ring_new(model, CAPACITY);
	struct bp_element element;

	CHECK_EQUAL(0, bp_ring_poll(&ring->ring, &element, 1000));
	model->page->state = BP_IMM_CONTEXT_DEAD;
	CHECK_EQUAL(-ENODEV, bp_ring_poll(&ring->ring, &element, -1));
	CHECK_EQUAL(-ENODEV, bp_ring_wait(&ring->ring, -1));
	model_ring_free(ring);
	model_free(model);
}

static void waits_end_after_their_time(void)
{
	struct model *model = model_new(BP_OPEN_SLEEP);
	struct model_ring *ring = model_ring_new(model, CAPACITY);
	struct bp_element element;

	CHECK_EQUAL(0, bp_ring_poll(&ring->ring, &element, 0));
	CHECK_EQUAL(0, bp_ring_poll(&ring->ring, &element, 5000));
	CHECK_EQUAL(0, bp_ring_wait(&ring->ring, 0));
	CHECK_EQUAL(0, bp_ring_wait(&ring->ring, 5));
	CHECK_EQUAL(0, bp_wait(&model->context, 5));
	/* An event that is not this ring's does not end the wait. */
	model_event(model);
	CHECK_EQUAL(0, bp_ring_wait(&ring->ring, 5));
	CHECK(model_put(ring, "", 0, 0));
	CHECK_EQUAL(1, bp_ring_wait(&ring->ring, -1));
	model_ring_free(ring);
	model_free(model);
}

static int ready_when(struct model_ring *ring, uint64_t elements, uint64_t bytes)
{
	return bp_ring_wait_when(&ring->ring, elements, bytes, 0);
}

static void a_wait_for_more_ends_when_there_is_more(void)
{
	struct model *model = model_new(BP_OPEN_SLEEP);
	struct model_ring *ring = model_ring_new(model, CAPACITY);
	struct bp_element element;

	CHECK_EQUAL(0, ready_when(ring, 3, 0));
	CHECK(model_put(ring, "", 0, 0));
	CHECK_EQUAL(1, ready_when(ring, 0, 0));
	CHECK_EQUAL(1, ready_when(ring, 1, 0));
	CHECK(model_put(ring, "", 0, 0));
	CHECK_EQUAL(0, ready_when(ring, 3, 0));
	CHECK_EQUAL(0, ready_when(ring, 0, 65));
	CHECK_EQUAL(1, ready_when(ring, 0, 64));
	CHECK_EQUAL(1, ready_when(ring, 3, 64));
	CHECK_EQUAL(0, bp_events(&model->context));
	CHECK_EQUAL(0, ready_when(ring, 3, 0));
	CHECK(model_put(ring, "", 0, 0));
	CHECK_EQUAL(1, bp_events(&model->context));
	CHECK_EQUAL(1, ready_when(ring, 3, 0));
	/* What was handed out does not count, released or not. */
	CHECK_EQUAL(1, bp_ring_next(&ring->ring, &element));
	CHECK_EQUAL(0, ready_when(ring, 3, 0));
	CHECK_EQUAL(1, ready_when(ring, 2, 0));
	/* More than a ring can hold is what it can hold. */
	CHECK_EQUAL(0, ready_when(ring, 0, UINT64_MAX));
	while (ring->tail - ring->ring.next < CAPACITY / 2)
		CHECK(model_put(ring, "", 0, 0));
	CHECK_EQUAL(1, ready_when(ring, 0, UINT64_MAX));
	model_ring_free(ring);
	model_free(model);
}

/* The module stores tail first: a consumer that is awake takes the element before it is counted. */
static void what_was_taken_before_it_was_counted_is_no_element(void)
{
	struct model *model = model_new(BP_OPEN_SLEEP);
	struct model_ring *ring = model_ring_new(model, CAPACITY);
	struct bp_element element;

	CHECK(model_put(ring, "", 0, 0));
	ring->header->elements--;
	CHECK_EQUAL(1, bp_ring_next(&ring->ring, &element));
	CHECK_EQUAL(0, ready_when(ring, 1, 0));
	CHECK_EQUAL(0, ready_when(ring, UINT64_MAX, 0));
	CHECK_EQUAL(0, bp_ring_wait(&ring->ring, 0));
	ring->header->elements++;
	CHECK_EQUAL(0, ready_when(ring, 1, 0));
	CHECK(model_put(ring, "", 0, 0));
	CHECK_EQUAL(1, ready_when(ring, 1, 0));
	model_ring_free(ring);
	model_free(model);
}

static void a_ring_too_full_for_more_ends_the_wait(void)
{
	struct model *model = model_new(BP_OPEN_SLEEP);
	struct model_ring *ring = model_ring_new(model, CAPACITY);
	unsigned char payload[LONGEST] = { 0 };
	struct bp_element element;

	CHECK(model_put(ring, payload, 1000, 0));
	CHECK(model_put(ring, payload, 1000, 0));
	CHECK(model_put(ring, payload, 1000, 0));
	CHECK_EQUAL(0, ready_when(ring, 4, 0));
	CHECK(!model_put(ring, payload, 1000, 0));
	CHECK_EQUAL(1, bp_events(&model->context));
	CHECK_EQUAL(1, ready_when(ring, 4, 0));
	/* Once room was made, who was refused may come. */
	CHECK_EQUAL(1, bp_ring_next(&ring->ring, &element));
	bp_ring_release(&ring->ring);
	CHECK_EQUAL(0, ready_when(ring, 4, 0));
	ring->header->space_wanted = 1;
	CHECK_EQUAL(1, ready_when(ring, 4, 0));
	model_ring_free(ring);
	model_free(model);
}

static void others_consume_a_shared_ring(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct model_ring *ring = model_ring_new(model, CAPACITY);
	struct bp_element element;

	ring->ring.flags = BP_RING_SHARED_CONSUMERS;
	CHECK(model_put(ring, "", 0, 0));
	CHECK_EQUAL(-EINVAL, bp_ring_next(&ring->ring, &element));
	CHECK_EQUAL(-EINVAL, bp_ring_arm(&ring->ring));
	model_ring_free(ring);
	model_free(model);
}

int main(void)
{
	RUN(every_element_comes_once_in_order);
	RUN(room_is_kept_until_it_is_released);
	RUN(a_waiting_put_is_rung_for);
	RUN(impossible_positions_are_an_error);
	RUN(a_length_beyond_the_element_is_an_error);
	RUN(a_closed_ring_says_so_once_it_is_empty);
	RUN(a_dead_module_is_noticed_by_polling);
	RUN(waits_end_after_their_time);
	RUN(a_wait_for_more_ends_when_there_is_more);
	RUN(what_was_taken_before_it_was_counted_is_no_element);
	RUN(a_ring_too_full_for_more_ends_the_wait);
	RUN(others_consume_a_shared_ring);
	return 0;
}
