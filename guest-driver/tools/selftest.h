/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the driver and the messaging module on the machine they run on; each runs in a process of its own. */
#ifndef BP_SELFTEST_H
#define BP_SELFTEST_H

#include <stddef.h>
#include <stdint.h>

#include "backplane.h"
#include "backplane_imm.h"
#include "backplane_layout.h"

struct selftest {
	const char *name;
	void (*run)(void);
};

extern const struct selftest selftest_driver[];
extern const struct selftest selftest_process[];
extern const struct selftest selftest_actions[];
extern const struct selftest selftest_hostile[];

/* Device under test. */
extern const char *selftest_device;

_Noreturn void selftest_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Ends the test, as not applicable. */
_Noreturn void selftest_skip(const char *reason);

#define EXPECT(condition)                                                            \
	do {                                                                         \
		if (!(condition))                                                    \
			selftest_fail(__FILE__, __LINE__, "not true: %s", #condition); \
	} while (0)

#define EXPECT_EQUAL(expected, actual)                                                               \
	do {                                                                                         \
		long long expected_ = (long long)(expected), actual_ = (long long)(actual);          \
		if (expected_ != actual_)                                                            \
			selftest_fail(__FILE__, __LINE__, "%s is %lld, not %lld", #actual, actual_,  \
				      expected_);                                                    \
	} while (0)

/* A system call that fails with an errno. */
#define EXPECT_ERRNO(expected, call)                                                                  \
	do {                                                                                          \
		errno = 0;                                                                            \
		if ((long)(call) != -1 || errno != (expected))                                        \
			selftest_fail(__FILE__, __LINE__, "%s: %s, not %s", #call, strerror(errno),   \
				      strerror(expected));                                            \
	} while (0)

struct bp_context *selftest_open(void);
struct bp_ring *selftest_ring(struct bp_context *context, size_t capacity, unsigned int flags);

/* The device's file and the context page, without the library. */
int selftest_open_raw(void);
struct bp_imm_context *selftest_map(int file, unsigned int which);

/* Result of waitpid for a child: its exit status, or 1000 plus the signal that ended it. */
int selftest_join(int child);

/* Target for a ring of this node. */
struct bp_target selftest_target(const struct bp_context *context, const struct bp_ring *ring);

#endif /* BP_SELFTEST_H */
