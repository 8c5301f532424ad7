// SPDX-License-Identifier: Apache-2.0
/*
 * A netcat between rings: what one side reads from its standard input, the other writes to its standard output, both
 * ways. The connecting side tells the id of its own ring with its first element.
 */

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backplane.h"
#include "cli.h"
#include "options.h"

#define CAPACITY (1024 * 1024)
#define CHUNK 65536

/* What an element is; the tag says it. */
enum kind {
	KIND_DATA = 0,
	KIND_HELLO = 1, /* payload: id of the sender's ring */
	KIND_END = 2, /* the sender's input has ended */
};

static const char usage[] =
	"usage: bp-cat --listen --ring ID [options]\n"
	"       bp-cat --node N --ring ID [options]\n"
	"\n"
	"Copies standard input to the other side's standard output, both ways, until both inputs have ended.\n"
	"\n"
	"  --listen        make the ring, and wait for the other side\n"
	"  --node N        node of the side that listens\n"
	"  --ring ID       the listening side's ring\n"
	"  --key K         key of the ring (default 0)\n"
	"  --device PATH   character device (default $BACKPLANE_DEVICE, or else /dev/bp_imm0)\n";

struct pipe_end {
	struct bp_context *context;
	struct bp_ring *ring; /* our own */
	struct bp_target peer; /* node 0: not known yet */
	unsigned char *buffer; /* registered */
	const char *device;
	bool listen;
	bool input_open;
	bool peer_open;
};

static void parse(struct pipe_end *end, int argc, char **argv)
{
	bool have_ring = false;
	const struct option_row rows[] = {
		OPTION_FLAG_ROW("listen", &end->listen),
		OPTION_NODE_ROW(&end->peer.node),
		OPTION_RING_ROW(&end->peer.ring, &have_ring),
		OPTION_KEY_ROW(&end->peer.key),
		OPTION_DEVICE_ROW(&end->device),
		OPTION_END_ROW,
	};

	options_parse_all(argc, argv, usage, rows);
	if (!have_ring || end->listen == !!end->peer.node)
		cli_wrong("--ring, and one of --listen and --node are needed; see --help");
}

static void write_out(const void *payload, size_t length)
{
	const char *bytes = payload;
	ssize_t part;

	for (; length; length -= (size_t)part, bytes += part) {
		part = write(STDOUT_FILENO, bytes, length);
		if (part < 0)
			cli_fail("standard output: %s", strerror(errno));
	}
}

static void take(struct pipe_end *end, const struct bp_element *element)
{
	/* Once two have met, a third one is not heard. */
	if (end->peer.node && element->source_node != end->peer.node)
		return;
	switch (element->tag) {
	case KIND_HELLO:
		if (end->listen && !end->peer.node && element->length == sizeof(end->peer.ring)) {
			end->peer.node = element->source_node;
			memcpy(&end->peer.ring, element->payload, sizeof(end->peer.ring));
		}
		break;
	case KIND_DATA:
		write_out(element->payload, element->length);
		break;
	case KIND_END:
		end->peer_open = false;
		break;
	default:
		break;
	}
}

/* Takes what is in the ring, and arms it when it is empty. */
static void drain(struct pipe_end *end)
{
	struct bp_element element;
	int code;

	while ((code = bp_ring_arm(end->ring)) > 0) {
		code = bp_ring_next(end->ring, &element);
		if (code < 0)
			break;
		take(end, &element);
		bp_ring_release(end->ring);
	}
	if (code < 0)
		cli_fail_code("waiting for an element", code);
}

static void put(struct pipe_end *end, enum kind kind, const void *payload, size_t length)
{
	int code;

	/* A full ring is the other side's right; it may be full because ours is, so that one is emptied meanwhile. */
	while ((code = bp_put(end->context, &end->peer, payload, length, kind)) == BP_TIMED_OUT)
		drain(end);
	if (code)
		cli_fail("put to node %u, ring %u: %s", end->peer.node, end->peer.ring, bp_strerror(code));
}

static void start(struct pipe_end *end)
{
	const struct bp_access access = { .key = end->peer.key };
	const struct bp_memory *memory;
	uint32_t id;
	int code;

	code = bp_open(&end->context, end->device, BP_OPEN_SLEEP);
	if (code)
		cli_fail_code("opening a context", code);
	code = bp_ring_create(end->context, end->listen ? end->peer.ring : BP_ANY_RING, CAPACITY, 0, &access,
			      &end->ring);
	if (code)
		cli_fail_code("making the ring", code);
	end->buffer = malloc(CHUNK);
	if (!end->buffer)
		cli_fail("out of memory");
	code = bp_memory_register(end->context, end->buffer, CHUNK, 0, NULL, &memory);
	if (code)
		cli_fail_code("registering memory", code);
	end->peer.wait_us = 50000;
	end->input_open = end->peer_open = true;
	id = bp_ring_id(end->ring);
	if (end->listen)
		fprintf(stderr, "bp-cat: ring %u of node %u is open\n", id, bp_node(end->context));
	else
		put(end, KIND_HELLO, &id, sizeof(id));
}

static void read_in(struct pipe_end *end)
{
	ssize_t length = read(STDIN_FILENO, end->buffer, CHUNK);

	if (length < 0)
		cli_fail("standard input: %s", strerror(errno));
	end->input_open = length > 0;
	put(end, length ? KIND_DATA : KIND_END, end->buffer, (size_t)length);
}

int main(int argc, char **argv)
{
	struct pipe_end end = { 0 };
	struct pollfd poll_fds[2];

	cli_program = "bp-cat";
	parse(&end, argc, argv);
	start(&end);
	while (end.input_open || end.peer_open) {
		drain(&end);
		if (!end.input_open && !end.peer_open)
			break;
		poll_fds[0] = (struct pollfd){ .fd = bp_fd(end.context), .events = POLLIN };
		/* Nothing is read while there is nobody to send it to. */
		poll_fds[1] = (struct pollfd){ .fd = end.input_open && end.peer.node ? STDIN_FILENO : -1, .events = POLLIN };
		if (poll(poll_fds, 2, -1) < 0 && errno != EINTR)
			cli_fail("poll: %s", strerror(errno));
		if (poll_fds[0].revents && bp_events(end.context) < 0)
			cli_fail_code("waiting for an element", -ENODEV);
		if (poll_fds[1].revents)
			read_in(&end);
	}
	bp_close(end.context);
	free(end.buffer);
	return 0;
}
