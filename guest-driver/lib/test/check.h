/* SPDX-License-Identifier: Apache-2.0 */
/* A test program: checks that print what they saw, and a time limit. */
#ifndef BP_CHECK_H
#define BP_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Seconds; SIGALRM ends a test that hangs. */
#define CHECK_LIMIT 60

#define CHECK(condition)                                                                         \
	do {                                                                                     \
		if (!(condition)) {                                                              \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                 \
		}                                                                                \
	} while (0)

#define CHECK_EQUAL(expected, actual)                                                            \
	do {                                                                                     \
		long long expected_ = (long long)(expected), actual_ = (long long)(actual);      \
		if (expected_ != actual_) {                                                      \
			fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__,     \
				#actual, actual_, expected_);                                    \
			abort();                                                                 \
		}                                                                                \
	} while (0)

#define RUN(test)                               \
	do {                                    \
		fprintf(stderr, "  %s\n", #test); \
		alarm(CHECK_LIMIT);             \
		test();                         \
	} while (0)

/* Numbers that look random, the same in each run. */
static inline unsigned int check_random(unsigned int *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

#endif /* BP_CHECK_H */
