// SPDX-License-Identifier: Apache-2.0
/* bp-stress: a producer. Elements of random sizes, one to eight in flight, some that wait and some that try again. */

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "payload.h"
#include "stress.h"

#define WAIT_US 10000000

/* So much of a page's inline area belongs to each slot. */
#define INLINE_SIZE (BP_INLINE_BYTES / BP_SLOTS)

struct producer {
	const struct stress_options *options;
	struct bp_context *context;
	unsigned char *room; /* registered, a place for each slot */
	unsigned char plain[BP_SLOTS][INLINE_SIZE]; /* not registered */
	const void *payloads[BP_SLOTS];
	uint64_t life;
	uint64_t number;
	uint64_t skipped;
	uint64_t random;
};

static uint64_t draw(struct producer *producer, uint64_t below)
{
	payload_fill(&producer->random, sizeof(producer->random), producer->random + 1);
	return producer->random % below;
}

/* Makes an element in the place of slot @slot; returns its length. */
static size_t make(struct producer *producer, unsigned int slot, uint32_t last)
{
	unsigned char *place;
	struct stress_head head = { .life = producer->life, .number = producer->number++, .last = last };
	/* Most are short. */
	size_t most = draw(producer, 8) ? 512 : producer->options->size;
	size_t length = sizeof(head) + draw(producer, most - sizeof(head) + 1);

	place = length <= INLINE_SIZE && draw(producer, 2) ? producer->plain[slot] :
							     producer->room + (size_t)slot * producer->options->size;
	producer->payloads[slot] = place;
	if (last)
		head.skipped = producer->skipped;
	payload_fill(place + sizeof(head), length - sizeof(head), producer->random);
	memcpy(place, &head, sizeof(head));
	head.crc = payload_crc32(place, length);
	memcpy(place, &head, sizeof(head));
	return length;
}

static void submit(struct producer *producer, unsigned int slot, size_t length, uint32_t wait_us)
{
	const struct bp_target *target = &producer->options->target;
	struct bp_action action = {
		.command = BP_PUT,
		.node = target->node,
		.place = target->ring,
		.key = target->key,
		.wait_us = wait_us,
		.tag = producer->number,
		.buffer = (void *)producer->payloads[slot],
		.length = length,
	};
	int code = bp_prepare(producer->context, &action);

	if (code)
		cli_fail_code("preparing a put", code);
}

static int await_result(struct producer *producer)
{
	struct bp_result result;
	int count;

	while (!(count = bp_reap(producer->context, &result, 1)))
		sched_yield();
	if (count < 0)
		cli_fail_code("waiting for a put", count);
	return result.code;
}

/* One element, alone in flight: it is tried again until it is in, which disturbs no order. */
static void put_alone(struct producer *producer, uint32_t last)
{
	size_t length = make(producer, 0, last);
	int code;

	do {
		submit(producer, 0, length, draw(producer, 2) ? WAIT_US / 100 : 0);
		bp_flush(producer->context);
		code = await_result(producer);
	} while (code == BP_FULL || code == BP_TIMED_OUT);
	if (code)
		cli_fail_code("put", code);
}

/* Several at once: one whose wait ended is left out, since those behind it may be in. */
static void put_batch(struct producer *producer, unsigned int batch)
{
	unsigned int i;
	int code;

	for (i = 0; i < batch; i++)
		submit(producer, i, make(producer, i, 0), WAIT_US);
	bp_flush(producer->context);
	for (i = 0; i < batch; i++) {
		code = await_result(producer);
		if (code == BP_TIMED_OUT)
			producer->skipped++;
		else if (code)
			cli_fail_code("put", code);
	}
}

void stress_put(const struct stress_options *options)
{
	struct producer producer = { .options = options };
	const struct bp_memory *memory;
	struct timespec now;
	time_t end;
	int code;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + (time_t)options->seconds;
	/* A process id is used again only when the kernel has gone round; the clock tells those two apart. */
	producer.life = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec << 22 ^ (uint64_t)getpid();
	producer.random = options->seed ^ producer.life;
	code = bp_open(&producer.context, options->device, BP_OPEN_YIELD);
	if (code)
		cli_fail_code("opening a context", code);
	producer.room = aligned_alloc(4096, (size_t)options->size * BP_SLOTS);
	if (!producer.room)
		cli_fail("out of memory");
	code = bp_memory_register(producer.context, producer.room, (size_t)options->size * BP_SLOTS, 0, NULL, &memory);
	if (code)
		cli_fail_code("registering payloads", code);
	while (!options->count || producer.number < options->count) {
		if (draw(&producer, 4))
			put_batch(&producer, 2 + (unsigned int)draw(&producer, BP_SLOTS - 1));
		else
			put_alone(&producer, 0);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (options->seconds && now.tv_sec >= end)
			break;
	}
	put_alone(&producer, 1);
	bp_close(producer.context);
	free(producer.room);
}
