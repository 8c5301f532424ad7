// SPDX-License-Identifier: Apache-2.0
#include "netcheck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "payload.h"

/* Size of the frame by which a sender says that it is there. */
#define HELLO 1

static unsigned char payload[NETCHECK_MAX];
static unsigned char expected[NETCHECK_MAX];

/* The next payload has to be @size bytes long, with the bytes that belong to that size. */
static void check(struct netcheck_channel *channel, unsigned int size)
{
	size_t got = netcheck_receive(channel, payload);
	size_t i;

	if (got != size)
		cli_fail("%zu bytes arrived instead of %u: a frame is lost, cut or doubled", got, size);
	payload_fill(expected, size, size);
	if (!memcmp(payload, expected, size))
		return;
	for (i = 0; payload[i] == expected[i]; i++)
		;
	cli_fail("frame of %u bytes: byte %zu is %#x instead of %#x", size, i, payload[i], expected[i]);
}

static void send_size(const struct netcheck_channel *channel, unsigned int size)
{
	payload_fill(payload, size, size);
	netcheck_send(channel, payload, size);
}

static void report(const char *what, const struct netcheck_options *options)
{
	printf("%u %s from %u to %u\n", (options->to - options->from) / options->step + 1, what, options->from,
	       options->to);
}

void netcheck_send_sizes(struct netcheck_channel channel, const struct netcheck_options *options)
{
	uint64_t number = 0;
	unsigned int size;

	for (size = options->from; size <= options->to; size += options->step) {
		if (number >= NETCHECK_WINDOW)
			netcheck_await(&channel, number - NETCHECK_WINDOW + 1);
		send_size(&channel, size);
		number++;
	}
	netcheck_await(&channel, number);
	report("frames sent", options);
}

void netcheck_receive_sizes(struct netcheck_channel channel, const struct netcheck_options *options)
{
	uint64_t number = 0;
	unsigned int size;

	netcheck_ready();
	for (size = options->from; size <= options->to; size += options->step) {
		check(&channel, size);
		number++;
		if (number % (NETCHECK_WINDOW / 2) == 0 || size + options->step > options->to)
			netcheck_acknowledge(&channel, number);
	}
	report("frames intact", options);
}

/* At each MTU, which both sides set, a frame that is just so long. */
void netcheck_send_mtus(const struct netcheck_options *options)
{
	struct netcheck_channel channel = netcheck_raw(options);
	unsigned int mtu;

	send_size(&channel, HELLO);
	for (mtu = options->from; mtu <= options->to; mtu += options->step) {
		netcheck_set_mtu(options->interface, mtu);
		netcheck_await(&channel, mtu);
		send_size(&channel, mtu);
	}
	netcheck_await(&channel, UINT64_MAX);
	report("MTUs sent", options);
}

void netcheck_receive_mtus(const struct netcheck_options *options)
{
	struct netcheck_channel channel = netcheck_raw(options);
	unsigned int mtu;

	netcheck_ready();
	check(&channel, HELLO);
	for (mtu = options->from; mtu <= options->to; mtu += options->step) {
		netcheck_set_mtu(options->interface, mtu);
		netcheck_acknowledge(&channel, mtu);
		check(&channel, mtu);
	}
	netcheck_acknowledge(&channel, UINT64_MAX);
	report("MTUs intact", options);
}

/* Somebody, an XDP program for instance, sends every frame back as it is. */
void netcheck_echo(const struct netcheck_options *options)
{
	struct netcheck_channel channel = netcheck_raw(options);
	unsigned int size, first, last;

	netcheck_patience(channel.data, NETCHECK_LIMIT_S);
	for (first = options->from; first <= options->to; first = last) {
		last = first;
		for (size = 0; size < NETCHECK_WINDOW && last <= options->to; size++) {
			send_size(&channel, last);
			last += options->step;
		}
		for (size = first; size < last; size += options->step)
			check(&channel, size);
	}
	report("frames came back", options);
}
