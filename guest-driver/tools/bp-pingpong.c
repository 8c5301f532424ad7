// SPDX-License-Identifier: Apache-2.0
/*
 * A message there and back between two processes. The client makes a ring and puts messages into the server's; their tag
 * is the id of the client's ring, where the server puts each message back.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backplane.h"
#include "cli.h"
#include "latency.h"
#include "options.h"
#include "payload.h"
#include "ticks.h"

#define CAPACITY (1024 * 1024)
#define MAX_SIZE (256 * 1024)
#define WARM_UP 100

/* Tag of the message that ends the server. */
#define TAG_END UINT64_MAX

static const char usage[] =
	"usage: bp-pingpong --server [options]\n"
	"       bp-pingpong --client --node N [options]\n"
	"\n"
	"Sends a message to a server and back, over and over, and says how long that takes.\n"
	"\n"
	"  --server        answer until a client ends\n"
	"  --client        measure\n"
	"  --node N        the server's node; for the server: the only node whose clients it answers (default: all)\n"
	"  --ring ID       the server's ring (default 40)\n"
	"  --size S        bytes of a message, to 256K (default 64)\n"
	"  --count N       messages of a client (default 10000), not counting 100 to warm up\n"
	"  --poll          wait awake, without any system call (default)\n"
	"  --yield         wait awake, but let other threads of this machine run now and then\n"
	"  --interrupt     sleep until an interrupt\n"
	"  --timeout S     give up when nothing comes for S seconds (default 10; server: never)\n"
	"  --json          print the result as JSON\n"
	"  --device PATH   character device (default $BACKPLANE_DEVICE, or else /dev/bp_imm0)\n";

struct options {
	struct bp_target target;
	const char *device;
	size_t size;
	uint64_t count;
	int64_t timeout_us;
	unsigned int flags; /* BP_OPEN_* */
	bool server, client, json;
};

struct party {
	const struct options *options;
	struct bp_context *context;
	struct bp_ring *ring;
};

static void parse(struct options *options, int argc, char **argv)
{
	const struct option_row rows[] = {
		OPTION_FLAG_ROW("server", &options->server),
		OPTION_FLAG_ROW("client", &options->client),
		OPTION_NODE_ROW(&options->target.node),
		OPTION_RING_ROW(&options->target.ring, NULL),
		OPTION_NUMBER_ROW("size", &options->size, 0, MAX_SIZE, NULL),
		OPTION_NUMBER_ROW("count", &options->count, 1, UINT32_MAX, NULL),
		OPTION_VALUE_ROW("poll", &options->flags, BP_OPEN_SPIN),
		OPTION_VALUE_ROW("yield", &options->flags, BP_OPEN_YIELD),
		OPTION_VALUE_ROW("interrupt", &options->flags, BP_OPEN_SLEEP),
		OPTION_SECONDS_ROW("timeout", &options->timeout_us),
		OPTION_FLAG_ROW("json", &options->json),
		OPTION_DEVICE_ROW(&options->device),
		OPTION_END_ROW,
	};

	options_parse_all(argc, argv, usage, rows);
	if (options->server == options->client)
		cli_wrong("one of --server and --client is needed; see --help");
	if (options->client && !options->target.node)
		cli_wrong("--node is needed with --client; see --help");
	if (!options->timeout_us)
		options->timeout_us = options->server ? -1 : 10000000;
}

static void open_party(struct party *party, uint32_t ring, const struct bp_access *access)
{
	int code;

	code = bp_open(&party->context, party->options->device, party->options->flags);
	if (code)
		cli_fail_code("opening a context", code);
	code = bp_ring_create(party->context, ring, CAPACITY, 0, access, &party->ring);
	if (code)
		cli_fail_code("making a ring", code);
}

/* Payloads over BP_INLINE_BYTES are put from registered memory. */
static unsigned char *message_buffer(const struct party *party, size_t bytes)
{
	const struct bp_memory *memory;
	unsigned char *buffer = calloc(1, bytes + 1);
	int code;

	if (!buffer)
		cli_fail("out of memory");
	if (bytes <= BP_INLINE_BYTES)
		return buffer;
	code = bp_memory_register(party->context, buffer, bytes, 0, NULL, &memory);
	if (code)
		cli_fail_code("registering the message", code);
	return buffer;
}

static void receive(const struct party *party, struct bp_element *element)
{
	int code = bp_ring_poll(party->ring, element, party->options->timeout_us);

	if (code < 0)
		cli_fail_code("waiting for a message", code);
	if (!code)
		cli_fail("no message came for %g s", (double)party->options->timeout_us / 1e6);
}

static void serve(struct party *party)
{
	uint16_t node = party->options->target.node;
	const struct bp_access access = { .nodes = node ? &node : NULL, .node_count = 1 };
	struct bp_target back = { .wait_us = 100000 };
	struct bp_element element;
	unsigned char *buffer;
	int code;

	open_party(party, party->options->target.ring, &access);
	buffer = message_buffer(party, MAX_SIZE);
	fprintf(stderr, "bp-pingpong: ring %u of node %u is open\n", bp_ring_id(party->ring), bp_node(party->context));
	for (;;) {
		receive(party, &element);
		if (element.tag == TAG_END)
			break;
		if (element.length > MAX_SIZE)
			cli_fail("a message of %zu bytes came", element.length);
		memcpy(buffer, element.payload, element.length);
		back.node = element.source_node;
		back.ring = (uint32_t)element.tag;
		bp_ring_release(party->ring);
		code = bp_put(party->context, &back, buffer, element.length, element.sequence);
		if (code)
			fprintf(stderr, "bp-pingpong: answering node %u: %s\n", back.node, bp_strerror(code));
	}
	bp_close(party->context);
	free(buffer);
}

static void turn(const struct party *party, const unsigned char *message)
{
	const struct options *options = party->options;
	struct bp_element element;
	int code;

	code = bp_put(party->context, &options->target, message, options->size, bp_ring_id(party->ring));
	if (code)
		cli_fail("put to node %u, ring %u: %s", options->target.node, options->target.ring, bp_strerror(code));
	receive(party, &element);
	if (element.length != options->size || memcmp(element.payload, message, options->size))
		cli_fail("message %llu came back changed", (unsigned long long)element.sequence);
	bp_ring_release(party->ring);
}

/* The server may still be starting. */
static void await_server(const struct party *party)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	const struct bp_target *target = &party->options->target;
	int64_t left = party->options->timeout_us;
	struct bp_element element;
	int code;

	for (;;) {
		code = bp_put(party->context, target, "", 0, bp_ring_id(party->ring));
		if ((code != BP_NO_SUCH_RING && code != BP_UNREACHABLE) || left <= 0)
			break;
		nanosleep(&pause, NULL);
		left -= pause.tv_nsec / 1000;
	}
	if (code)
		cli_fail("put to node %u, ring %u: %s", target->node, target->ring, bp_strerror(code));
	receive(party, &element);
	bp_ring_release(party->ring);
}

static void report(const struct party *party, const struct latency *latency, double us_per_tick, double seconds)
{
	const struct options *options = party->options;
	static const char *const modes[] = {
		[BP_OPEN_SPIN] = "poll",
		[BP_OPEN_YIELD] = "yield",
		[BP_OPEN_SLEEP] = "interrupt",
	};
	const char *mode = modes[options->flags];
	double rate = (double)options->count / seconds;

	if (options->json) {
		printf("{\"node\":%u,\"size\":%zu,\"count\":%llu,\"mode\":\"%s\",\"seconds\":%.6f,"
		       "\"round_trips_per_s\":%.1f,\"round_trip_us\":",
		       options->target.node, options->size, (unsigned long long)options->count, mode, seconds, rate);
		latency_json(latency, us_per_tick, stdout);
		printf("}\n");
		return;
	}
	printf("%llu round trips of %zu bytes to node %u (%s): ", (unsigned long long)options->count, options->size,
	       options->target.node, mode);
	latency_line(latency, us_per_tick, stdout);
	printf(", %.0f/s\n", rate);
}

static void measure(struct party *party)
{
	const struct options *options = party->options;
	static struct latency latency;
	struct ticks_mark begin, end;
	unsigned char *message;
	uint64_t i, start;

	open_party(party, BP_ANY_RING, NULL);
	message = message_buffer(party, options->size);
	payload_fill(message, options->size, bp_number(party->context) + 1);
	await_server(party);
	for (i = 0; i < WARM_UP; i++)
		turn(party, message);
	begin = ticks_mark();
	for (i = 0; i < options->count; i++) {
		start = ticks_now();
		turn(party, message);
		latency_add(&latency, ticks_now() - start);
	}
	end = ticks_mark();
	bp_put(party->context, &options->target, "", 0, TAG_END);
	report(party, &latency, ticks_us_per_tick(&begin, &end), ticks_seconds_between(&begin, &end));
	bp_close(party->context);
	free(message);
}

int main(int argc, char **argv)
{
	struct options options = { .target = { .ring = 40, .wait_us = 100000 }, .size = 64, .count = 10000, .flags = BP_OPEN_SPIN };
	struct party party = { .options = &options };

	cli_program = "bp-pingpong";
	parse(&options, argc, argv);
	if (options.server)
		serve(&party);
	else
		measure(&party);
	if (fflush(stdout))
		cli_fail("standard output: %s", strerror(errno));
	return 0;
}
