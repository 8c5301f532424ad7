// SPDX-License-Identifier: Apache-2.0
/*
 * bp-stress: the consumer. Every element must be whole, its number in the ring the next one, and its number in its life
 * higher than the one before; a life that has ended, or whose context somebody else has now, never comes back; a producer
 * that ends says how many numbers it left out, and so many are missing.
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "payload.h"
#include "stress.h"

#define MAX_SOURCES 4096

/* What came from a context, since a process last took it. */
struct source {
	uint16_t node, context;
	bool ended;
	uint64_t life;
	uint64_t next;
	uint64_t missing;
};

struct tally {
	struct source sources[MAX_SOURCES];
	unsigned int source_count;
	uint64_t elements, bytes, lives, ended;
};

static struct source *source_of(struct tally *tally, const struct bp_element *element)
{
	struct source *source = tally->sources;
	unsigned int i;

	for (i = 0; i < tally->source_count; i++, source++)
		if (source->node == element->source_node && source->context == element->source_context)
			return source;
	if (i == MAX_SOURCES)
		cli_fail("more than %d contexts", MAX_SOURCES);
	tally->source_count++;
	source->node = element->source_node;
	source->context = element->source_context;
	source->ended = true;
	return source;
}

static void check(struct tally *tally, const struct bp_element *element)
{
	struct source *source = source_of(tally, element);
	static unsigned char *copy;
	static size_t room;
	struct stress_head head;
	uint32_t crc;

	if (element->sequence != tally->elements)
		cli_fail("element %llu of the ring came as number %llu", (unsigned long long)element->sequence,
			 (unsigned long long)tally->elements);
	if (element->length < sizeof(head))
		cli_fail("element %llu has %zu bytes", (unsigned long long)element->sequence, element->length);
	memcpy(&head, element->payload, sizeof(head));
	if (room < element->length) {
		room = 2 * element->length;
		copy = realloc(copy, room);
		if (!copy)
			cli_fail("out of memory");
	}
	memcpy(copy, element->payload, element->length);
	crc = head.crc;
	head.crc = 0;
	memcpy(copy, &head, sizeof(head));
	if (crc != payload_crc32(copy, element->length))
		cli_fail("element %llu of node %u context %u: wrong CRC", (unsigned long long)element->sequence,
			 source->node, source->context);
	if (source->ended || source->life != head.life) {
		/* Somebody new, who begins at the beginning; numbers may be missing only where a wait has ended. */
		source->life = head.life;
		source->ended = false;
		source->next = 0;
		source->missing = 0;
		tally->lives++;
	}
	if (head.number < source->next)
		cli_fail("node %u context %u: number %llu after %llu", source->node, source->context,
			 (unsigned long long)head.number, (unsigned long long)source->next - 1);
	source->missing += head.number - source->next;
	source->next = head.number + 1;
	if (head.last) {
		if (source->missing != head.skipped)
			cli_fail("node %u context %u: %llu elements are missing, not %llu", source->node,
				 source->context, (unsigned long long)source->missing, (unsigned long long)head.skipped);
		source->ended = true;
		tally->ended++;
	}
	tally->elements++;
	tally->bytes += element->length;
}

void stress_take(const struct stress_options *options)
{
	const struct bp_access access = { .key = options->target.key };
	struct tally *tally = calloc(1, sizeof(*tally));
	struct bp_element element;
	struct bp_context *context;
	struct bp_ring *ring;
	int code;

	if (!tally)
		cli_fail("out of memory");
	code = bp_open(&context, options->device, BP_OPEN_SLEEP);
	if (code)
		cli_fail_code("opening a context", code);
	code = bp_ring_create(context, options->target.ring, options->capacity, 0, &access, &ring);
	if (code)
		cli_fail_code("making the ring", code);
	fprintf(stderr, "bp-stress: ring %u of node %u is open\n", bp_ring_id(ring), bp_node(context));
	while (tally->ended < options->producers) {
		code = bp_ring_wait(ring, -1);
		if (code < 0)
			cli_fail_code("waiting for an element", code);
		/* Whoever waits for room gets it in small pieces, and the ring goes round in every way. */
		while ((code = bp_ring_next(ring, &element)) > 0) {
			check(tally, &element);
			if (tally->elements % 7 == 0)
				bp_ring_release(ring);
		}
		if (code < 0)
			cli_fail_code("taking an element", code);
		bp_ring_release(ring);
		if (options->pause_us && tally->elements % 16 == 0)
			usleep(options->pause_us);
	}
	/* All have ended: nothing may come any more. */
	if (bp_ring_next(ring, &element))
		cli_fail("an element after the last");
	printf("{\"elements\":%llu,\"bytes\":%llu,\"lives\":%llu,\"turns\":%llu}\n", (unsigned long long)tally->elements,
	       (unsigned long long)tally->bytes, (unsigned long long)tally->lives,
	       (unsigned long long)(tally->bytes / options->capacity));
	bp_close(context);
	free(tally);
}
