// SPDX-License-Identifier: Apache-2.0
/* A measuring process of bp-perf. */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "payload.h"
#include "perf.h"
#include "ticks.h"

/* How long the server may take to come up, and to answer. */
#define PATIENCE_US 10000000
#define WARM_UP 100

struct measurement {
	const struct perf_options *options;
	struct bp_context *context;
	struct perf_places places;
	unsigned char *buffer; /* registered; one place of size bytes for each action in flight */
	uint64_t started[BP_SLOTS]; /* ticks, by submission modulo BP_SLOTS */
	struct latency *latency;
};

static void ask(struct measurement *m)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	const struct perf_options *options = m->options;
	struct bp_element element;
	struct bp_ring *ring;
	int64_t left = PATIENCE_US;
	uint32_t id;
	int code;

	code = bp_ring_create(m->context, BP_ANY_RING, 4096, 0, NULL, &ring);
	if (code)
		cli_fail_code("making a ring", code);
	id = bp_ring_id(ring);
	while ((code = bp_put(m->context, &options->target, &id, sizeof(id), PERF_TAG_QUERY)) && left > 0) {
		if (code != BP_NO_SUCH_RING && code != BP_UNREACHABLE && code != BP_TIMED_OUT)
			break;
		nanosleep(&pause, NULL);
		left -= pause.tv_nsec / 1000;
	}
	if (code)
		cli_fail("put to node %u, ring %u: %s", options->target.node, options->target.ring, bp_strerror(code));
	code = bp_ring_poll(ring, &element, PATIENCE_US);
	if (code < 0)
		cli_fail_code("waiting for the server", code);
	if (!code || element.length != sizeof(m->places))
		cli_fail("the server does not answer: is bp-perf --server running on node %u?", options->target.node);
	memcpy(&m->places, element.payload, sizeof(m->places));
	bp_ring_destroy(ring);
}

static struct bp_action action_of(const struct measurement *m, uint64_t number)
{
	const struct perf_options *options = m->options;
	struct bp_action action = {
		.command = options->command,
		.flags = options->flags == BP_OPEN_SLEEP ? BP_NOTIFY : 0,
		.node = options->target.node,
		.key = options->target.key,
		.buffer = m->buffer + number % BP_SLOTS * options->size,
		.length = options->size,
		.wait_us = 1000000,
		.tag = number,
		.user = number,
	};

	switch (options->command) {
	case BP_PUT:
		action.place = m->places.ring;
		break;
	case BP_GET:
		action.place = m->places.shared_ring;
		break;
	default:
		action.place = m->places.memory;
		action.operand = 1;
		break;
	}
	return action;
}

/* What a GET will find: as many elements as it will take. */
static void feed(struct measurement *m, uint64_t count)
{
	struct bp_target target = { .node = m->options->target.node, .ring = m->places.shared_ring, .wait_us = 1000000 };
	int code;

	for (; count; count--) {
		code = bp_put(m->context, &target, m->buffer, m->options->size, count);
		if (code)
			cli_fail_code("putting what is to be got", code);
	}
}

static uint64_t reap(struct measurement *m, bool wait)
{
	struct bp_result results[BP_SLOTS];
	uint64_t now;
	int count, i;

	if (wait && m->options->flags == BP_OPEN_SLEEP)
		bp_wait(m->context, 1000);
	count = bp_reap(m->context, results, BP_SLOTS);
	if (count < 0)
		cli_fail_code("waiting for an action", count);
	now = ticks_now();
	for (i = 0; i < count; i++) {
		if (results[i].code)
			cli_fail_code("an action", results[i].code);
		if (m->latency)
			latency_add(m->latency, now - m->started[results[i].user % BP_SLOTS]);
	}
	return (uint64_t)count;
}

static void run(struct measurement *m, uint64_t count)
{
	const unsigned int batch = m->options->batch;
	uint64_t submitted = 0, reaped = 0;
	struct bp_action action;
	int code;

	while (reaped < count) {
		while (submitted < count && submitted - reaped < batch) {
			action = action_of(m, submitted);
			code = bp_prepare(m->context, &action);
			if (code == -EAGAIN)
				break;
			if (code)
				cli_fail_code("an action", code);
			m->started[submitted++ % BP_SLOTS] = ticks_now();
		}
		bp_flush(m->context);
		reaped += reap(m, true);
	}
}

/* GETs come in portions that the shared ring has room for; only they are timed. */
static double run_gets(struct measurement *m)
{
	uint64_t portion = PERF_CAPACITY / 4 / (m->options->size + 64) + 1, left = m->options->count;
	struct ticks_mark begin, end;
	double seconds = 0;

	for (; left; left -= portion) {
		if (portion > left)
			portion = left;
		feed(m, portion);
		begin = ticks_mark();
		run(m, portion);
		end = ticks_mark();
		seconds += ticks_seconds_between(&begin, &end);
	}
	return seconds;
}

void perf_measure(const struct perf_options *options, struct perf_result *result)
{
	struct measurement m = { .options = options };
	const struct bp_memory *memory;
	struct ticks_mark begin, end;
	size_t bytes = options->size * BP_SLOTS + 8;
	int code;

	code = bp_open(&m.context, options->device, options->flags);
	if (code)
		cli_fail_code("opening a context", code);
	m.buffer = malloc(bytes);
	if (!m.buffer)
		cli_fail("out of memory");
	payload_fill(m.buffer, bytes, bp_number(m.context));
	code = bp_memory_register(m.context, m.buffer, bytes, 0, NULL, &memory);
	if (code)
		cli_fail_code("registering memory", code);
	ask(&m);
	if (options->command == BP_GET)
		feed(&m, WARM_UP);
	run(&m, WARM_UP);
	m.latency = &result->latency;
	begin = ticks_mark();
	if (options->command == BP_GET)
		result->seconds = run_gets(&m);
	else
		run(&m, options->count);
	end = ticks_mark();
	if (options->command != BP_GET)
		result->seconds = ticks_seconds_between(&begin, &end);
	result->us_per_tick = ticks_us_per_tick(&begin, &end);
	bp_close(m.context);
	free(m.buffer);
}
