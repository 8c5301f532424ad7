/* SPDX-License-Identifier: Apache-2.0 */
/* Distribution of times, in ticks: a histogram of buckets that are at most 1/32 of their value wide. */
#ifndef BP_LATENCY_H
#define BP_LATENCY_H

#include <stdint.h>
#include <stdio.h>

#define LATENCY_STEPS 32
#define LATENCY_BUCKETS (LATENCY_STEPS * 60)

struct latency {
	uint64_t count;
	uint64_t sum;
	uint64_t minimum;
	uint64_t maximum;
	uint64_t buckets[LATENCY_BUCKETS];
};

void latency_add(struct latency *latency, uint64_t ticks);

/* Adds what another one has counted. */
void latency_merge(struct latency *into, const struct latency *from);

/* Ticks that a fraction (0 to 1) of all times does not exceed, within the width of a bucket. */
uint64_t latency_at(const struct latency *latency, double fraction);

/* {"min":…,"mean":…,"p50":…,"p90":…,"p99":…,"p999":…,"max":…} in microseconds. */
void latency_json(const struct latency *latency, double us_per_tick, FILE *file);

/* The same as a line for people. */
void latency_line(const struct latency *latency, double us_per_tick, FILE *file);

#endif /* BP_LATENCY_H */
