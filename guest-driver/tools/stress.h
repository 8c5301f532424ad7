/* SPDX-License-Identifier: Apache-2.0 */
/* bp-stress: what its parts agree on. */
#ifndef BP_STRESS_H
#define BP_STRESS_H

#include <stdint.h>

#include "backplane.h"

/* Begins the payload of every element. */
struct stress_head {
	uint64_t life; /* of the producing process, unlike that of any other */
	uint64_t number; /* in that life, rising; what the module refused for good is left out */
	uint64_t skipped; /* in the last element: how many were left out */
	uint32_t last; /* 1: the producer ends with this element */
	uint32_t crc; /* of the whole payload, with this field 0 */
};

struct stress_options {
	struct bp_target target;
	const char *device;
	uint64_t count; /* elements of a producer; 0: until killed */
	uint64_t seconds; /* or so long; 0: no limit */
	uint64_t seed;
	uint64_t producers; /* that end with a last element */
	uint32_t pause_us; /* of the consumer, now and then, so that the ring is full */
	uint32_t size; /* most bytes of a payload */
	uint32_t capacity;
	uint32_t contexts;
};

void stress_put(const struct stress_options *options);
void stress_take(const struct stress_options *options);
void stress_idle(const struct stress_options *options);

#endif /* BP_STRESS_H */
