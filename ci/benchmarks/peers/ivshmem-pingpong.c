/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round trips of 64 bytes between two guests over QEMU's ivshmem, what one would take without a device server:
 *
 *   ivshmem-pingpong server|client poll BDF COUNT
 *
 * Both sides spin on the shared memory, BAR 2 of the device at PCI address BDF. The client prints microseconds: median and
 * 99th percentile.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAYLOAD = 64, WARM_UP = 200 };

/* One direction: the payload, and the number of the message, stored last. */
struct mailbox {
	unsigned char payload[PAYLOAD];
	_Atomic uint32_t sequence;
	unsigned char pad[60];
};

struct shared {
	struct mailbox to_server, to_client;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *map_bar(const char *bdf, int bar, size_t bytes)
{
	char path[128];
	void *p;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource%d", bdf, bar);
	fd = open(path, O_RDWR | O_SYNC);
	if (fd < 0)
		die(path);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		die("mmap");
	close(fd);
	return p;
}

static void enable_memory(const char *bdf)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/enable", bdf);
	fd = open(path, O_WRONLY);
	if (fd >= 0) {
		if (write(fd, "1", 1) != 1)
			perror(path); /* it may be enabled already */
		close(fd);
	}
}

/* Waits until the mailbox holds message number @sequence. */
static void await(struct mailbox *box, uint32_t sequence)
{
	while (atomic_load_explicit(&box->sequence, memory_order_acquire) != sequence)
		;
}

static void store(struct mailbox *box, uint32_t sequence)
{
	memset(box->payload, (int)sequence, PAYLOAD);
	atomic_store_explicit(&box->sequence, sequence, memory_order_release);
}

static void check(const struct mailbox *box, uint32_t sequence)
{
	for (int i = 0; i < PAYLOAD; i++) {
		if (box->payload[i] != (unsigned char)sequence) {
			fprintf(stderr, "message %u arrived damaged\n", sequence);
			exit(1);
		}
	}
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void serve(struct shared *s, uint32_t count)
{
	memset(s, 0, sizeof(*s));
	puts("ready");
	fflush(stdout);
	for (uint32_t i = 1; i <= count + WARM_UP; i++) {
		await(&s->to_server, i);
		check(&s->to_server, i);
		store(&s->to_client, i);
	}
}

static void ask(struct shared *s, uint32_t count)
{
	double *us = calloc(count, sizeof(*us));

	if (!us)
		die("calloc");
	for (uint32_t i = 1; i <= count + WARM_UP; i++) {
		double begin = now_us();

		store(&s->to_server, i);
		await(&s->to_client, i);
		check(&s->to_client, i);
		if (i > WARM_UP)
			us[i - WARM_UP - 1] = now_us() - begin;
	}
	qsort(us, count, sizeof(*us), compare);
	printf("{\"p50\": %.3f, \"p99\": %.3f}\n", us[count / 2], us[count - 1 - count / 100]);
	free(us);
}

int main(int argc, char **argv)
{
	struct shared *s;
	uint32_t count;

	if (argc != 5) {
		fprintf(stderr, "usage: ivshmem-pingpong server|client poll BDF COUNT\n");
		return 2;
	}
	count = (uint32_t)strtoul(argv[4], NULL, 10);
	enable_memory(argv[3]);
	s = map_bar(argv[3], 2, sizeof(struct shared));
	if (strcmp(argv[1], "server") == 0)
		serve(s, count);
	else
		ask(s, count);
	return 0;
}
