// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the arithmetic in bp_imm_limits.h. Built where the kernel has CONFIG_KUNIT, which Debian's kernels do
 * not have; lib/test/test_limits.c runs the same cases in user space.
 */

#include <linux/kconfig.h>
#include <linux/limits.h>

#include "bp_imm_limits.h"

#if IS_ENABLED(CONFIG_KUNIT)

#include <kunit/test.h>

#define BP_IMM_TEST(_name) static void bp_imm_test_##_name(struct kunit *test)
#define BP_IMM_EXPECT(_expected, _actual) KUNIT_EXPECT_EQ(test, (u64)(_actual), (u64)(_expected))

#include "bp_imm_limits_cases.h"

static struct kunit_case bp_imm_cases[] = {
	KUNIT_CASE(bp_imm_test_page_span),
	KUNIT_CASE(bp_imm_test_ring_fits),
	KUNIT_CASE(bp_imm_test_events_between),
	KUNIT_CASE(bp_imm_test_vector_of),
	{ }
};

static struct kunit_suite bp_imm_suite = {
	.name = "bp_imm_limits",
	.test_cases = bp_imm_cases,
};

kunit_test_suite(bp_imm_suite);

#endif
