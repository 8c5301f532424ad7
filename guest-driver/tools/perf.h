/* SPDX-License-Identifier: Apache-2.0 */
/* bp-perf: what client and server agree on. */
#ifndef BP_PERF_H
#define BP_PERF_H

#include <stddef.h>
#include <stdint.h>

#include "backplane.h"
#include "latency.h"

#define PERF_MAX_SIZE (1024 * 1024)
#define PERF_CAPACITY (4 * 1024 * 1024)

/* Tag of the message that asks the server what it has; its payload is the id of the ring for the answer. */
#define PERF_TAG_QUERY UINT64_MAX

/* The answer. */
struct perf_places {
	uint32_t ring; /* consumed by the server */
	uint32_t shared_ring; /* for GET */
	uint32_t memory; /* bp_memory.remote, of PERF_MAX_SIZE bytes */
};

struct perf_options {
	struct bp_target target; /* the server's ring */
	const char *device;
	enum bp_command command;
	size_t size;
	uint64_t count; /* of each process */
	unsigned int batch; /* actions in flight */
	unsigned int flags; /* BP_OPEN_* */
};

/* What a measuring process found. */
struct perf_result {
	struct latency latency;
	double seconds;
	double us_per_tick;
};

void perf_serve(const struct perf_options *options);
void perf_measure(const struct perf_options *options, struct perf_result *result);

#endif /* BP_PERF_H */
