// SPDX-License-Identifier: Apache-2.0
/*
 * Rate of small datagrams with as few system calls as Linux offers: the sender hands over many in one write, to be
 * segmented (UDP_SEGMENT), the receiver gets several in one read (UDP_GRO). Programs that care, such as those that speak
 * QUIC, do the same.
 *
 *   udp-rate receive SECONDS          says "ready", then what it received: datagrams, seconds
 *   udp-rate send ADDRESS SIZE SECONDS
 */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT 7777
/* Datagrams of a write: no more than the kernel takes (UDP_MAX_SEGMENTS), nor than 64 KiB. */
#define BATCH 64
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#define UDP_GRO 104
#endif
#define SOL_UDP_LEVEL 17

static void fail(const char *what)
{
	fprintf(stderr, "udp-rate: error: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int udp_socket(int option, int value)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		fail("socket");
	if (setsockopt(fd, SOL_UDP_LEVEL, option, &value, sizeof(value)))
		fail(option == UDP_GRO ? "UDP_GRO" : "UDP_SEGMENT");
	return fd;
}

/* Datagrams in what was read: the size of each comes along if there are several. */
static unsigned long datagrams(struct msghdr *message, ssize_t got)
{
	struct cmsghdr *c;
	int size;

	for (c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != SOL_UDP_LEVEL || c->cmsg_type != UDP_GRO)
			continue;
		memcpy(&size, CMSG_DATA(c), sizeof(size));
		return ((unsigned long)got + (unsigned int)size - 1) / (unsigned int)size;
	}
	return 1;
}

static void receive(double seconds)
{
	static char data[65536];
	char control[CMSG_SPACE(sizeof(int))];
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct iovec iov = { .iov_base = data, .iov_len = sizeof(data) };
	struct pollfd waiting = { .events = POLLIN };
	unsigned long count = 0;
	double begin, end;
	int fd = udp_socket(UDP_GRO, 1);

	if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
		fail("bind");
	puts("ready");
	fflush(stdout);
	waiting.fd = fd;
	if (poll(&waiting, 1, 30000) != 1) {
		errno = ETIMEDOUT;
		fail("nothing was received");
	}
	begin = now();
	for (end = begin; end < begin + seconds; end = now()) {
		struct msghdr message = {
			.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
		};
		ssize_t got;

		if (poll(&waiting, 1, 2000) != 1)
			break;
		got = recvmsg(fd, &message, MSG_DONTWAIT);
		if (got < 0 && errno != EAGAIN)
			fail("recvmsg");
		if (got > 0)
			count += datagrams(&message, got);
	}
	printf("%lu %.6f\n", count, end - begin);
}

static void send_all(const char *to, int size, double seconds)
{
	static char data[65536];
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	double end;
	int fd;

	if (size < 1 || size * BATCH > 65000 || inet_pton(AF_INET, to, &address.sin_addr) != 1) {
		errno = EINVAL;
		fail("address or size");
	}
	fd = udp_socket(UDP_SEGMENT, size);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		fail("connect");
	end = now() + seconds;
	while (now() < end) {
		/* A refusal is the answer to an earlier datagram: the receiver has ended. */
		if (send(fd, data, (size_t)(size * BATCH), 0) < 0 && errno != ENOBUFS)
			break;
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "receive"))
		receive(atof(argv[2]));
	else if (argc == 5 && !strcmp(argv[1], "send"))
		send_all(argv[2], atoi(argv[3]), atof(argv[4]));
	else
		fprintf(stderr, "usage: udp-rate receive SECONDS | send ADDRESS SIZE SECONDS\n");
	return argc != 3 && argc != 5;
}
