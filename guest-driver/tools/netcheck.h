/* SPDX-License-Identifier: Apache-2.0 */
/* bp-netcheck: what its parts share. */
#ifndef BP_NETCHECK_H
#define BP_NETCHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* A payload can be as long as the largest MTU. */
#define NETCHECK_MAX 65536

/* Who waits longer than this for the other side has lost a frame. */
#define NETCHECK_LIMIT_S 30

/* The receiver, which is there first, waits so long for the first frame. */
#define NETCHECK_START_S 120

/* Frames on the way that were not acknowledged. */
#define NETCHECK_WINDOW 16

#define NETCHECK_UDP_DATA 7001
#define NETCHECK_UDP_CONTROL 7002
#define NETCHECK_TCP_PORT 7003

struct netcheck_options {
	const char *interface;
	const char *address; /* of the receiver, for UDP and TCP */
	unsigned int node; /* receiver of frames without IP */
	unsigned int from, to, step; /* payload sizes, or MTUs */
	uint64_t bytes;
	int64_t microseconds; /* 0: until bytes are sent */
	bool gro;
};

/* Two sockets to one peer: numbered payloads one way, acknowledgements the other. */
struct netcheck_channel {
	int data, control;
	struct sockaddr_storage data_peer, control_peer;
	socklen_t peer_length;
	uint64_t acknowledged;
};

/* netcheck_channel.c; what fails ends the program. */
struct netcheck_channel netcheck_raw(const struct netcheck_options *options);
struct netcheck_channel netcheck_udp(const struct netcheck_options *options);
void netcheck_patience(int file, int seconds);
void netcheck_ready(void);
void netcheck_send(const struct netcheck_channel *channel, const void *payload, size_t length);
size_t netcheck_receive(struct netcheck_channel *channel, void *payload);
void netcheck_acknowledge(const struct netcheck_channel *channel, uint64_t number);
void netcheck_await(struct netcheck_channel *channel, uint64_t number);
void netcheck_set_mtu(const char *interface, unsigned int mtu);

/* netcheck_frames.c: payloads of every size. */
void netcheck_send_sizes(struct netcheck_channel channel, const struct netcheck_options *options);
void netcheck_receive_sizes(struct netcheck_channel channel, const struct netcheck_options *options);
void netcheck_send_mtus(const struct netcheck_options *options);
void netcheck_receive_mtus(const struct netcheck_options *options);
void netcheck_echo(const struct netcheck_options *options);

/* netcheck_gso.c: UDP in segments. */
void netcheck_send_gso(const struct netcheck_options *options);
void netcheck_receive_gso(const struct netcheck_options *options);

/* netcheck_tcp.c: a stream. */
void netcheck_send_tcp(const struct netcheck_options *options);
void netcheck_receive_tcp(void);

/* netcheck_xdp.c: a program on the interface, until a signal ends this one. */
void netcheck_xdp(const struct netcheck_options *options, const char *action);

/* netcheck_guard.c: memory that stays as it is. */
void netcheck_guard(void);

#endif /* BP_NETCHECK_H */
