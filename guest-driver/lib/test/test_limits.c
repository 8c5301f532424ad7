// SPDX-License-Identifier: GPL-2.0
/* The driver's arithmetic (kernel/bp_imm_limits.h), with the cases that its KUnit suite has. */

#include <stdbool.h>
#include <stdint.h>

#include "check.h"

typedef uint32_t u32;
typedef uint64_t u64;

#include "../../kernel/bp_imm_limits.h"

#define BP_IMM_TEST(_name) static void _name(void)
#define BP_IMM_EXPECT(_expected, _actual) CHECK_EQUAL(_expected, _actual)

#include "../../kernel/bp_imm_limits_cases.h"

int main(void)
{
	RUN(page_span);
	RUN(ring_fits);
	RUN(events_between);
	RUN(vector_of);
	return 0;
}
