/* SPDX-License-Identifier: Apache-2.0 */
/* A clock for every message: reading it is no system call, whatever the machine's clock source is. */
#ifndef BP_TICKS_H
#define BP_TICKS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t ticks_now(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

/* Both clocks at one moment; two of them tell how long a tick is. */
struct ticks_mark {
	uint64_t ticks;
	struct timespec time;
};

static inline struct ticks_mark ticks_mark(void)
{
	struct ticks_mark mark;

	mark.ticks = ticks_now();
	clock_gettime(CLOCK_MONOTONIC, &mark.time);
	return mark;
}

static inline double ticks_seconds_between(const struct ticks_mark *from, const struct ticks_mark *to)
{
	return (double)(to->time.tv_sec - from->time.tv_sec) + (double)(to->time.tv_nsec - from->time.tv_nsec) * 1e-9;
}

static inline double ticks_us_per_tick(const struct ticks_mark *from, const struct ticks_mark *to)
{
	return ticks_seconds_between(from, to) * 1e6 / (double)(to->ticks - from->ticks);
}

#endif /* BP_TICKS_H */
