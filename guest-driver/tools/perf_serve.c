// SPDX-License-Identifier: Apache-2.0
/* The server of bp-perf: a ring that it empties, one for GET, and a memory. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "perf.h"

static void answer(struct bp_context *context, const struct bp_element *query, const struct perf_places *places)
{
	struct bp_target back = { .node = query->source_node, .wait_us = 100000 };
	int code;

	if (query->length != sizeof(back.ring))
		return;
	memcpy(&back.ring, query->payload, sizeof(back.ring));
	code = bp_put(context, &back, places, sizeof(*places), 0);
	if (code)
		fprintf(stderr, "bp-perf: answering node %u: %s\n", back.node, bp_strerror(code));
}

void perf_serve(const struct perf_options *options)
{
	struct bp_context *context;
	struct bp_ring *ring, *shared;
	struct bp_element element;
	struct perf_places places;
	const struct bp_memory *memory;
	void *window = calloc(1, PERF_MAX_SIZE);
	int code;

	if (!window)
		cli_fail("out of memory");
	code = bp_open(&context, options->device, options->flags);
	if (code)
		cli_fail_code("opening a context", code);
	code = bp_ring_create(context, options->target.ring, PERF_CAPACITY, 0, NULL, &ring);
	if (code)
		cli_fail_code("making the ring", code);
	code = bp_ring_create(context, BP_ANY_RING, PERF_CAPACITY, BP_RING_SHARED_CONSUMERS, NULL, &shared);
	if (code)
		cli_fail_code("making the ring for GET", code);
	code = bp_memory_register(context, window, PERF_MAX_SIZE, BP_REMOTE_READ | BP_REMOTE_WRITE | BP_REMOTE_ATOMIC,
				  NULL, &memory);
	if (code)
		cli_fail_code("registering memory", code);
	places = (struct perf_places){ bp_ring_id(ring), bp_ring_id(shared), memory->remote };
	fprintf(stderr, "bp-perf: ring %u of node %u is open\n", places.ring, bp_node(context));
	for (;;) {
		code = bp_ring_poll(ring, &element, -1);
		if (code < 0)
			cli_fail_code("waiting for an element", code);
		if (code && element.tag == PERF_TAG_QUERY)
			answer(context, &element, &places);
		bp_ring_release(ring);
	}
}
