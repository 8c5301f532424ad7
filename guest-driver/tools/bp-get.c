// SPDX-License-Identifier: Apache-2.0
/* Takes elements out of a ring: one of its own, in place, or by GET one of another node. */

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backplane.h"
#include "cli.h"
#include "options.h"
#include "payload.h"

#define MAX_CAPACITY (64 * 1024 * 1024)

static const char usage[] =
	"usage: bp-get --ring ID --listen [options]\n"
	"       bp-get --node N --ring ID --remote [options]\n"
	"\n"
	"Takes elements out of a ring and prints their payloads. Exit status 0: so many as asked for came.\n"
	"\n"
	"  --listen        make the ring on this node, and consume it\n"
	"  --remote        remove elements of a ring of node N\n"
	"  --node N        node of the ring; with --listen: the only node that may put (default: all)\n"
	"  --ring ID       ring id\n"
	"  --key K         key of the ring (default 0)\n"
	"  --count N       elements to take (default 1); 0: for ever\n"
	"  --timeout S     give up when no element comes for S seconds (default: never)\n"
	"  --capacity B    bytes of the ring, a power of two (default 1M); with --remote: room for a payload\n"
	"  --shared        with --listen: only make the ring, for consumers with --remote; until the time-out\n"
	"  --poll          wait awake instead of for an interrupt\n"
	"  --out FILE      write payloads there, one after the other\n"
	"  --hex           print payloads in hexadecimal\n"
	"  --crc           print length and CRC-32 instead\n"
	"  --verbose       print source, sequence number and tag, too\n"
	"  --device PATH   character device (default $BACKPLANE_DEVICE, or else /dev/bp_imm0)\n";

struct options {
	struct bp_target target;
	const char *device;
	const char *out;
	size_t capacity;
	uint64_t count;
	int64_t timeout_us; /* negative: never */
	bool listen, remote, shared, poll, hex, crc, verbose;
	bool have_ring;
};

static FILE *out;

static void parse(struct options *options, int argc, char **argv)
{
	const struct option_row rows[] = {
		OPTION_FLAG_ROW("listen", &options->listen),
		OPTION_FLAG_ROW("remote", &options->remote),
		OPTION_NODE_ROW(&options->target.node),
		OPTION_RING_ROW(&options->target.ring, &options->have_ring),
		OPTION_KEY_ROW(&options->target.key),
		OPTION_NUMBER_ROW("count", &options->count, 0, UINT64_MAX, NULL),
		OPTION_SECONDS_ROW("timeout", &options->timeout_us),
		OPTION_NUMBER_ROW("capacity", &options->capacity, 4096, MAX_CAPACITY, NULL),
		OPTION_FLAG_ROW("shared", &options->shared),
		OPTION_FLAG_ROW("poll", &options->poll),
		OPTION_TEXT_ROW("out", &options->out),
		OPTION_FLAG_ROW("hex", &options->hex),
		OPTION_FLAG_ROW("crc", &options->crc),
		OPTION_FLAG_ROW("verbose", &options->verbose),
		OPTION_DEVICE_ROW(&options->device),
		OPTION_END_ROW,
	};

	options_parse_all(argc, argv, usage, rows);
	if (options->listen == options->remote)
		cli_wrong("one of --listen and --remote is needed; see --help");
	if (!options->have_ring)
		cli_wrong("--ring is needed; see --help");
	if (options->remote && !options->target.node)
		cli_wrong("--node is needed with --remote; see --help");
	if (options->capacity & (options->capacity - 1))
		cli_wrong("--capacity: %zu is no power of two", options->capacity);
}

static void print(const struct options *options, const void *payload, size_t length, const struct bp_element *element)
{
	const unsigned char *bytes = payload;
	size_t i;

	if (options->verbose)
		fprintf(stderr, "node %u context %u sequence %llu tag %llu length %zu\n", element->source_node,
			element->source_context, (unsigned long long)element->sequence,
			(unsigned long long)element->tag, length);
	if (options->crc) {
		printf("%zu bytes crc32 %08x\n", length, payload_crc32(payload, length));
	} else if (options->hex) {
		for (i = 0; i < length; i++)
			printf("%02x", bytes[i]);
		putchar('\n');
	} else if (!out) {
		fwrite(payload, 1, length, stdout);
		putchar('\n');
	}
	if (out)
		fwrite(payload, 1, length, out);
	if (fflush(stdout) || ferror(stdout))
		cli_fail("standard output: %s", strerror(errno));
	if (out && (fflush(out) || ferror(out)))
		cli_fail("%s: %s", options->out, strerror(errno));
}

static int next_element(const struct options *options, struct bp_ring *ring, struct bp_element *element)
{
	int code;

	if (options->poll)
		return bp_ring_poll(ring, element, options->timeout_us);
	code = bp_ring_wait(ring, options->timeout_us < 0 ? -1 : (int)((options->timeout_us + 999) / 1000));
	return code > 0 ? bp_ring_next(ring, element) : code;
}

/* Others consume; the ring lives as long as this process. */
static void stay(const struct options *options, const struct bp_context *context)
{
	struct pollfd poll_fd = { .fd = bp_fd(context) };

	if (poll(&poll_fd, 1, options->timeout_us < 0 ? -1 : (int)(options->timeout_us / 1000)) > 0)
		cli_fail_code("keeping the ring", -ENODEV);
}

static void consume_own(const struct options *options, struct bp_context *context)
{
	uint16_t node = options->target.node;
	struct bp_access access = {
		.key = options->target.key,
		.nodes = node ? &node : NULL,
		.node_count = 1,
	};
	unsigned int flags = options->shared ? BP_RING_SHARED_CONSUMERS : 0;
	struct bp_element element;
	struct bp_ring *ring;
	uint64_t taken;
	int code;

	code = bp_ring_create(context, options->target.ring, options->capacity, flags, &access, &ring);
	if (code)
		cli_fail_code("making the ring", code);
	fprintf(stderr, "bp-get: ring %u of node %u is open\n", bp_ring_id(ring), bp_node(context));
	if (options->shared) {
		stay(options, context);
		return;
	}
	for (taken = 0; !options->count || taken < options->count; taken++) {
		code = next_element(options, ring, &element);
		if (code < 0)
			cli_fail_code("waiting for an element", code);
		if (!code)
			cli_fail("no element within %g s; %llu came", (double)options->timeout_us / 1e6,
				 (unsigned long long)taken);
		print(options, element.payload, element.length, &element);
		bp_ring_release(ring);
	}
}

static void consume_remote(const struct options *options, struct bp_context *context)
{
	struct bp_target target = options->target;
	const struct bp_memory *memory;
	struct bp_element element;
	struct bp_result result;
	int64_t left;
	uint64_t taken;
	void *buffer;
	int code;

	buffer = calloc(1, options->capacity);
	if (!buffer)
		cli_fail("out of memory");
	code = bp_memory_register(context, buffer, options->capacity, 0, NULL, &memory);
	if (code)
		cli_fail_code("registering room for payloads", code);
	for (taken = 0; !options->count || taken < options->count; taken++) {
		left = options->timeout_us;
		do {
			target.wait_us = left < 0 || left > 1000000 ? 1000000 : (uint32_t)left;
			code = bp_get(context, &target, buffer, options->capacity, &result);
			left -= left < 0 ? 0 : target.wait_us;
		} while ((code == BP_TIMED_OUT || code == BP_EMPTY) && left);
		if (code)
			cli_fail("get from node %u, ring %u: %s", target.node, target.ring, bp_strerror(code));
		element = (struct bp_element){ .sequence = result.value,
					       .tag = result.tag,
					       .source_node = result.source_node,
					       .source_context = result.source_context };
		print(options, buffer, result.length, &element);
	}
	bp_memory_unregister(context, memory);
	free(buffer);
}

int main(int argc, char **argv)
{
	struct options options = { .count = 1, .timeout_us = -1, .capacity = 1024 * 1024 };
	struct bp_context *context;
	int code;

	cli_program = "bp-get";
	parse(&options, argc, argv);
	if (options.out) {
		out = fopen(options.out, "we");
		if (!out)
			cli_fail("%s: %s", options.out, strerror(errno));
	}
	code = bp_open(&context, options.device, options.poll ? BP_OPEN_YIELD : BP_OPEN_SLEEP);
	if (code)
		cli_fail_code("opening a context", code);
	if (options.listen)
		consume_own(&options, context);
	else
		consume_remote(&options, context);
	bp_close(context);
	if (out && fclose(out))
		cli_fail("%s: %s", options.out, strerror(errno));
	return 0;
}
