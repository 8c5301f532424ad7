// SPDX-License-Identifier: Apache-2.0
#include "netcheck.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "payload.h"

/* Block n of the stream is the payload with seed n. */
#define BLOCK 65536

static unsigned char block[BLOCK];
static unsigned char expected[BLOCK];

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000) + time.tv_nsec / 1000;
}

static int connected(const char *address)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *found;
	char port[8];
	int file;

	if (!address)
		cli_wrong("--to is missing");
	snprintf(port, sizeof(port), "%d", NETCHECK_TCP_PORT);
	if (getaddrinfo(address, port, &hints, &found))
		cli_wrong("%s is not an address", address);
	file = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (file < 0 || connect(file, found->ai_addr, found->ai_addrlen))
		cli_fail("connecting to %s: %s", address, strerror(errno));
	freeaddrinfo(found);
	netcheck_patience(file, NETCHECK_LIMIT_S);
	return file;
}

/* A stream that takes nothing for NETCHECK_LIMIT_S stalls, and fails. */
static void send_block(int file, size_t length)
{
	size_t sent = 0;

	while (sent < length) {
		ssize_t some = send(file, block + sent, length - sent, MSG_NOSIGNAL);

		if (some < 0 && errno == EINTR)
			continue;
		if (some <= 0)
			cli_fail("the stream stalls: %s", strerror(errno));
		sent += (size_t)some;
	}
}

void netcheck_send_tcp(const struct netcheck_options *options)
{
	const int64_t end = now() + options->microseconds;
	int file = connected(options->address);
	uint64_t sent = 0, number, arrived;

	for (number = 0; options->microseconds ? now() < end : sent < options->bytes; number++) {
		size_t length = BLOCK;

		if (!options->microseconds && options->bytes - sent < length)
			length = (size_t)(options->bytes - sent);
		payload_fill(block, BLOCK, number);
		send_block(file, length);
		sent += length;
	}
	shutdown(file, SHUT_WR);
	if (recv(file, &arrived, sizeof(arrived), MSG_WAITALL) != sizeof(arrived))
		cli_fail("the receiver does not say what arrived");
	if (arrived != sent)
		cli_fail("%llu bytes were sent, %llu arrived", (unsigned long long)sent, (unsigned long long)arrived);
	printf("%llu bytes sent\n", (unsigned long long)sent);
}

static int accepted(void)
{
	const struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons(NETCHECK_TCP_PORT) };
	const int on = 1;
	int listening = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int file;

	if (listening < 0 || setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(listening, (const struct sockaddr *)&address, sizeof(address)) || listen(listening, 1))
		cli_fail("listening: %s", strerror(errno));
	netcheck_patience(listening, NETCHECK_START_S);
	netcheck_ready();
	file = accept(listening, NULL, NULL);
	if (file < 0)
		cli_fail("nobody connected: %s", strerror(errno));
	close(listening);
	netcheck_patience(file, NETCHECK_LIMIT_S);
	return file;
}

void netcheck_receive_tcp(void)
{
	int file = accepted();
	uint64_t arrived = 0;
	ssize_t got;

	do {
		got = recv(file, block, BLOCK, MSG_WAITALL);
		if (got < 0)
			cli_fail("the stream stalls after %llu bytes: %s", (unsigned long long)arrived, strerror(errno));
		payload_fill(expected, BLOCK, arrived / BLOCK);
		if (memcmp(block, expected, (size_t)got))
			cli_fail("wrong bytes behind the first %llu", (unsigned long long)arrived);
		arrived += (uint64_t)got;
	} while (got == BLOCK);
	if (send(file, &arrived, sizeof(arrived), MSG_NOSIGNAL) != sizeof(arrived))
		cli_fail("the sender has gone: %s", strerror(errno));
	printf("%llu bytes intact\n", (unsigned long long)arrived);
}
