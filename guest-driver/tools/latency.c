// SPDX-License-Identifier: Apache-2.0
#include "latency.h"

static unsigned int bucket_of(uint64_t ticks)
{
	unsigned int shift = 0;

	while (ticks >> shift >= 2 * LATENCY_STEPS)
		shift++;
	return shift * LATENCY_STEPS + (unsigned int)(ticks >> shift);
}

/* Largest value of a bucket. */
static uint64_t bucket_end(unsigned int bucket)
{
	unsigned int shift = bucket < 2 * LATENCY_STEPS ? 0 : bucket / LATENCY_STEPS - 1;

	return (((uint64_t)bucket - (uint64_t)shift * LATENCY_STEPS + 1) << shift) - 1;
}

void latency_add(struct latency *latency, uint64_t ticks)
{
	unsigned int bucket = bucket_of(ticks);

	latency->buckets[bucket < LATENCY_BUCKETS ? bucket : LATENCY_BUCKETS - 1]++;
	if (!latency->count || ticks < latency->minimum)
		latency->minimum = ticks;
	if (ticks > latency->maximum)
		latency->maximum = ticks;
	latency->sum += ticks;
	latency->count++;
}

uint64_t latency_at(const struct latency *latency, double fraction)
{
	uint64_t below = 0, wanted = (uint64_t)(fraction * (double)latency->count);
	unsigned int bucket;

	for (bucket = 0; bucket < LATENCY_BUCKETS; bucket++) {
		below += latency->buckets[bucket];
		if (below && below >= wanted)
			break;
	}
	if (bucket_end(bucket) > latency->maximum)
		return latency->maximum;
	return bucket_end(bucket);
}

static double mean(const struct latency *latency)
{
	return latency->count ? (double)latency->sum / (double)latency->count : 0;
}

void latency_json(const struct latency *latency, double us_per_tick, FILE *file)
{
	fprintf(file,
		"{\"min\":%.3f,\"mean\":%.3f,\"p50\":%.3f,\"p90\":%.3f,\"p99\":%.3f,\"p999\":%.3f,\"max\":%.3f}",
		(double)latency->minimum * us_per_tick, mean(latency) * us_per_tick,
		(double)latency_at(latency, 0.5) * us_per_tick, (double)latency_at(latency, 0.9) * us_per_tick,
		(double)latency_at(latency, 0.99) * us_per_tick, (double)latency_at(latency, 0.999) * us_per_tick,
		(double)latency->maximum * us_per_tick);
}

void latency_line(const struct latency *latency, double us_per_tick, FILE *file)
{
	fprintf(file, "min %.1f  median %.1f  mean %.1f  99%% %.1f  max %.1f us", (double)latency->minimum * us_per_tick,
		(double)latency_at(latency, 0.5) * us_per_tick, mean(latency) * us_per_tick,
		(double)latency_at(latency, 0.99) * us_per_tick, (double)latency->maximum * us_per_tick);
}

void latency_merge(struct latency *into, const struct latency *from)
{
	unsigned int bucket;

	if (!from->count)
		return;
	if (!into->count || from->minimum < into->minimum)
		into->minimum = from->minimum;
	if (from->maximum > into->maximum)
		into->maximum = from->maximum;
	into->count += from->count;
	into->sum += from->sum;
	for (bucket = 0; bucket < LATENCY_BUCKETS; bucket++)
		into->buckets[bucket] += from->buckets[bucket];
}
