// SPDX-License-Identifier: Apache-2.0
#include "netcheck.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "payload.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

/* Whole segments of a write; a half one follows. */
#define SEGMENTS 40

static unsigned char payload[NETCHECK_MAX];
static unsigned char expected[NETCHECK_MAX];

static size_t write_bytes(unsigned int segment)
{
	size_t bytes = SEGMENTS * (size_t)segment + segment / 2;

	if (bytes > 65507)
		cli_wrong("a segment has at most %d bytes", 65507 / (SEGMENTS + 1));
	return bytes;
}

/* For each size from --sizes on: one write, which the kernel or the receiver cuts into datagrams of that size. */
void netcheck_send_gso(const struct netcheck_options *options)
{
	struct netcheck_channel channel = netcheck_udp(options);
	unsigned int size;

	for (size = options->from; size <= options->to; size += options->step) {
		const size_t bytes = write_bytes(size);
		const int segment = (int)size;

		if (setsockopt(channel.data, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)))
			cli_fail("UDP_SEGMENT %d: %s", segment, strerror(errno));
		payload_fill(payload, bytes, size);
		netcheck_send(&channel, payload, bytes);
		netcheck_await(&channel, size);
	}
	printf("segments of %u to %u bytes sent\n", options->from, options->to);
}

/* Size of the datagrams in what was read, if they were several: the kernel says so. */
static size_t segment_of(struct msghdr *message, size_t got)
{
	struct cmsghdr *extra;
	int segment;

	for (extra = CMSG_FIRSTHDR(message); extra; extra = CMSG_NXTHDR(message, extra)) {
		if (extra->cmsg_level == SOL_UDP && extra->cmsg_type == UDP_GRO) {
			memcpy(&segment, CMSG_DATA(extra), sizeof(segment));
			return (size_t)segment;
		}
	}
	return got;
}

/* Reads a datagram, or several in one, to @to. */
static size_t read_some(struct netcheck_channel *channel, unsigned char *to, size_t room, unsigned int size)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} extra;
	struct sockaddr_in from;
	struct iovec part = { .iov_base = to, .iov_len = room };
	struct msghdr message = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &extra,
		.msg_controllen = sizeof(extra),
	};
	ssize_t got = recvmsg(channel->data, &message, 0);
	size_t segment;

	if (got <= 0)
		cli_fail("segments of %u bytes: no datagram arrived: %s", size, strerror(errno));
	((struct sockaddr_in *)&channel->control_peer)->sin_addr = from.sin_addr;
	netcheck_patience(channel->data, NETCHECK_LIMIT_S);
	if (message.msg_flags & MSG_TRUNC)
		cli_fail("segments of %u bytes: more arrived than was sent", size);
	segment = segment_of(&message, (size_t)got);
	if (segment != size && (size_t)got != size / 2)
		cli_fail("segments of %u bytes: one of %zu arrived", size, segment);
	return (size_t)got;
}

void netcheck_receive_gso(const struct netcheck_options *options)
{
	struct netcheck_channel channel = netcheck_udp(options);
	const int on = options->gro;
	uint64_t reads = 0, datagrams = 0;
	unsigned int size;

	if (setsockopt(channel.data, SOL_UDP, UDP_GRO, &on, sizeof(on)))
		cli_fail("UDP_GRO: %s", strerror(errno));
	netcheck_ready();
	for (size = options->from; size <= options->to; size += options->step) {
		const size_t bytes = write_bytes(size);
		size_t got = 0;

		for (; got < bytes; reads++)
			got += read_some(&channel, payload + got, bytes - got, size);
		payload_fill(expected, bytes, size);
		if (memcmp(payload, expected, bytes))
			cli_fail("segments of %u bytes: other bytes arrived than were sent", size);
		datagrams += SEGMENTS + (size > 1);
		netcheck_acknowledge(&channel, size);
	}
	printf("%llu datagrams intact in %llu reads\n", (unsigned long long)datagrams, (unsigned long long)reads);
}
