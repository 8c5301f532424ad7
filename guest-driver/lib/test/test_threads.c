// SPDX-License-Identifier: Apache-2.0
/* The module as a thread of its own: no submission, element, wake-up or doorbell is lost. */

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "check.h"
#include "model.h"

#define ACTIONS 100000
#define ELEMENTS 100000
#define CAPACITY 4096

/* Works while there is work, then sleeps until the doorbell, as the device server does. */
static void *sleepy_module(void *argument)
{
	struct model *model = argument;

	while (model->done != ACTIONS) {
		if (model_run(model, BP_SLOTS))
			continue;
		__atomic_store_n(&model->page->doorbell_wanted, 1, __ATOMIC_RELEASE);
		/* Partner of the full fence in bp_flush(). */
		bp_full_fence();
		if (!model_run(model, BP_SLOTS))
			while (!__atomic_load_n(&model->doorbell, __ATOMIC_ACQUIRE))
				sched_yield();
		__atomic_store_n(&model->page->doorbell_wanted, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&model->doorbell, 0, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void negate(struct model *model, const struct bp_imm_action *action, struct bp_imm_completion *completion)
{
	uint64_t value;

	memcpy(&value, model_inline(model, action), sizeof(value));
	completion->value = ~value;
}

static void run_batches(unsigned int flags)
{
	struct model *model = model_new(flags);
	struct bp_result results[BP_SLOTS];
	uint64_t submitted = 0, reaped = 0;
	unsigned int random = 11, batch;
	struct bp_action action = { .command = BP_PUT, .length = sizeof(submitted), .buffer = &submitted };
	pthread_t thread;
	int count, i;

	model->handler = negate;
	action.flags = flags == BP_OPEN_SLEEP ? BP_NOTIFY : 0;
	CHECK_EQUAL(0, pthread_create(&thread, NULL, sleepy_module, model));
	while (reaped < ACTIONS) {
		for (batch = check_random(&random) % BP_SLOTS + 1; batch && submitted < ACTIONS; batch--) {
			if (bp_prepare(&model->context, &action))
				break;
			submitted++;
		}
		bp_flush(&model->context);
		if (flags == BP_OPEN_SLEEP)
			CHECK_EQUAL(1, bp_wait(&model->context, -1));
		count = bp_reap(&model->context, results, BP_SLOTS);
		CHECK(count >= 0);
		for (i = 0; i < count; i++, reaped++) {
			CHECK_EQUAL(0, results[i].code);
			CHECK_EQUAL(~reaped, results[i].value);
		}
		if (!count)
			sched_yield();
	}
	CHECK_EQUAL(0, pthread_join(thread, NULL));
	model_free(model);
}

static void a_module_that_falls_asleep_loses_no_action(void)
{
	run_batches(BP_OPEN_YIELD);
}

static void a_process_that_falls_asleep_misses_no_end(void)
{
	run_batches(BP_OPEN_SLEEP);
}

static void *producer(void *argument)
{
	struct model_ring *ring = argument;
	unsigned char payload[300];
	unsigned int random = 5;
	uint64_t i;

	for (i = 0; i < ELEMENTS; i++) {
		memset(payload, (int)i, sizeof(payload));
		while (!model_put(ring, payload, check_random(&random) % sizeof(payload), i))
			sched_yield();
		/* Now and then the consumer has the time to fall asleep. */
		if (!(check_random(&random) % 16))
			sched_yield();
	}
	return NULL;
}

static void consume(int (*wait)(struct bp_ring *ring, struct bp_element *element), unsigned int flags)
{
	struct model *model = model_new(flags);
	struct model_ring *ring = model_ring_new(model, CAPACITY);
	struct bp_element element;
	pthread_t thread;
	uint64_t i;
	size_t byte;

	CHECK_EQUAL(0, pthread_create(&thread, NULL, producer, ring));
	for (i = 0; i < ELEMENTS; i++) {
		CHECK_EQUAL(1, wait(&ring->ring, &element));
		CHECK_EQUAL(i, element.sequence);
		for (byte = 0; byte < element.length; byte++)
			CHECK_EQUAL((unsigned char)i, ((const unsigned char *)element.payload)[byte]);
		bp_ring_release(&ring->ring);
	}
	CHECK_EQUAL(0, bp_ring_next(&ring->ring, &element));
	CHECK_EQUAL(0, pthread_join(thread, NULL));
	model_ring_free(ring);
	model_free(model);
}

static int poll_for_ever(struct bp_ring *ring, struct bp_element *element)
{
	return bp_ring_poll(ring, element, -1);
}

static int sleep_for_ever(struct bp_ring *ring, struct bp_element *element)
{
	int ready = bp_ring_wait(ring, -1);

	return ready > 0 ? bp_ring_next(ring, element) : ready;
}

static int sleep_for_several(struct bp_ring *ring, struct bp_element *element)
{
	int ready = bp_ring_next(ring, element);

	/* The last elements stay below the number: then a time-out hands them out. */
	if (!ready) {
		ready = bp_ring_wait_when(ring, 7, 2000, 20);
		ready = ready < 0 ? ready : bp_ring_next(ring, element);
	}
	return ready ? ready : sleep_for_ever(ring, element);
}

static void a_consumer_that_sleeps_for_several_misses_no_element(void)
{
	consume(sleep_for_several, BP_OPEN_SLEEP);
}

static void a_consumer_that_polls_gets_every_element(void)
{
	consume(poll_for_ever, BP_OPEN_YIELD);
}

static void a_consumer_that_sleeps_misses_no_element(void)
{
	consume(sleep_for_ever, BP_OPEN_SLEEP);
}

int main(void)
{
	RUN(a_module_that_falls_asleep_loses_no_action);
	RUN(a_process_that_falls_asleep_misses_no_end);
	RUN(a_consumer_that_polls_gets_every_element);
	RUN(a_consumer_that_sleeps_misses_no_element);
	RUN(a_consumer_that_sleeps_for_several_misses_no_element);
	return 0;
}
