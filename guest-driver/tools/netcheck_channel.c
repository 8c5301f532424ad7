// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE /* sched_setaffinity() */
#include "netcheck.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli.h"

/* IEEE 802: two types for experiments. */
#define TYPE_DATA 0x88b5
#define TYPE_CONTROL 0x88b6

#define BUFFER (32 << 20)

struct control {
	uint64_t number;
};

static int opened(int family, int type, int protocol)
{
	const int bytes = BUFFER;
	int file = socket(family, type | SOCK_CLOEXEC, protocol);

	if (file < 0)
		cli_fail("socket: %s", strerror(errno));
	if (setsockopt(file, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		cli_fail("SO_RCVBUFFORCE: %s", strerror(errno));
	netcheck_patience(file, NETCHECK_START_S);
	return file;
}

void netcheck_patience(int file, int seconds)
{
	const struct timeval limit = { .tv_sec = seconds };

	if (setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
	    setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)))
		cli_fail("SO_RCVTIMEO: %s", strerror(errno));
}

/* Tells whoever started this receiver that the sender can come. */
void netcheck_ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* Each processor sends by a queue of its own, and order is kept in a queue alone. */
static void stay(void)
{
	int processor = sched_getcpu();
	cpu_set_t only;

	CPU_ZERO(&only);
	if (processor >= 0)
		CPU_SET(processor, &only);
	if (processor < 0 || sched_setaffinity(0, sizeof(only), &only))
		cli_fail("sched_setaffinity: %s", strerror(errno));
}

static int bound(int family, int type, int protocol, const void *address, socklen_t length)
{
	int file = opened(family, type, protocol);

	stay();
	if (bind(file, address, length))
		cli_fail("bind: %s", strerror(errno));
	return file;
}

static int raw_socket(const char *interface, uint16_t type, unsigned int node, struct sockaddr_storage *peer)
{
	/* The address that the device server gives a node. */
	const unsigned char mac[] = { 0x02, 0xba, 0x5c, 0, (unsigned char)(node >> 8), (unsigned char)node };
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(type),
		.sll_ifindex = (int)if_nametoindex(interface),
		.sll_halen = sizeof(mac),
	};

	if (!address.sll_ifindex)
		cli_fail("no interface %s", interface);
	memcpy(address.sll_addr, mac, sizeof(mac));
	memcpy(peer, &address, sizeof(address));
	return bound(AF_PACKET, SOCK_DGRAM, htons(type), &address, sizeof(address));
}

/* Ethernet frames without IP. */
struct netcheck_channel netcheck_raw(const struct netcheck_options *options)
{
	struct netcheck_channel channel = { .peer_length = sizeof(struct sockaddr_ll) };

	if (!options->interface)
		cli_wrong("--interface is missing");
	channel.data = raw_socket(options->interface, TYPE_DATA, options->node, &channel.data_peer);
	channel.control = raw_socket(options->interface, TYPE_CONTROL, options->node, &channel.control_peer);
	return channel;
}

static int udp_socket(uint16_t port, const char *to, struct sockaddr_storage *peer)
{
	const int probe = IP_PMTUDISC_PROBE;
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	int file = bound(AF_INET, SOCK_DGRAM, 0, &address, sizeof(address));

	/* One datagram is one frame, however long. */
	if (setsockopt(file, IPPROTO_IP, IP_MTU_DISCOVER, &probe, sizeof(probe)))
		cli_fail("IP_MTU_DISCOVER: %s", strerror(errno));
	if (to && inet_pton(AF_INET, to, &address.sin_addr) != 1)
		cli_wrong("%s is not an IPv4 address", to);
	memcpy(peer, &address, sizeof(address));
	return file;
}

struct netcheck_channel netcheck_udp(const struct netcheck_options *options)
{
	struct netcheck_channel channel = { .peer_length = sizeof(struct sockaddr_in) };

	channel.data = udp_socket(NETCHECK_UDP_DATA, options->address, &channel.data_peer);
	channel.control = udp_socket(NETCHECK_UDP_CONTROL, options->address, &channel.control_peer);
	return channel;
}

static void send_to(int file, const void *payload, size_t length, const struct sockaddr_storage *peer,
		    socklen_t peer_length)
{
	ssize_t sent;

	do {
		sent = sendto(file, payload, length, 0, (const struct sockaddr *)peer, peer_length);
	} while (sent < 0 && (errno == ENOBUFS || errno == EINTR));
	if (sent != (ssize_t)length)
		cli_fail("sending %zu bytes: %s", length, strerror(errno));
}

void netcheck_send(const struct netcheck_channel *channel, const void *payload, size_t length)
{
	send_to(channel->data, payload, length, &channel->data_peer, channel->peer_length);
}

/* Puts the next payload at @payload, NETCHECK_MAX bytes; acknowledgements go to where it came from. */
size_t netcheck_receive(struct netcheck_channel *channel, void *payload)
{
	struct sockaddr_storage from;
	socklen_t length = sizeof(from);
	ssize_t got = recvfrom(channel->data, payload, NETCHECK_MAX, 0, (struct sockaddr *)&from, &length);

	if (got < 0)
		cli_fail("no frame arrived: %s", strerror(errno));
	netcheck_patience(channel->data, NETCHECK_LIMIT_S);
	if (from.ss_family == AF_INET)
		((struct sockaddr_in *)&channel->control_peer)->sin_addr = ((struct sockaddr_in *)&from)->sin_addr;
	return (size_t)got;
}

void netcheck_acknowledge(const struct netcheck_channel *channel, uint64_t number)
{
	const struct control control = { .number = number };

	send_to(channel->control, &control, sizeof(control), &channel->control_peer, channel->peer_length);
}

/* Waits until @number, or more, was acknowledged. */
void netcheck_await(struct netcheck_channel *channel, uint64_t number)
{
	/* A frame shorter than Ethernet's minimum may come with padding. */
	char frame[64];
	struct control control;

	while (channel->acknowledged < number) {
		ssize_t got = recv(channel->control, frame, sizeof(frame), 0);

		if (got < (ssize_t)sizeof(control))
			cli_fail("number %llu was not acknowledged: %s", (unsigned long long)number, strerror(errno));
		memcpy(&control, frame, sizeof(control));
		channel->acknowledged = control.number;
	}
	netcheck_patience(channel->control, NETCHECK_LIMIT_S);
}

void netcheck_set_mtu(const char *interface, unsigned int mtu)
{
	static int file = -1;
	struct ifreq request = { .ifr_mtu = (int)mtu };

	if (file < 0)
		file = opened(AF_INET, SOCK_DGRAM, 0);
	strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
	if (ioctl(file, SIOCSIFMTU, &request))
		cli_fail("MTU %u of %s: %s", mtu, interface, strerror(errno));
}
