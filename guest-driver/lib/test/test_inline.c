// SPDX-License-Identifier: Apache-2.0
/* Inline room: never handed out twice, never lost. */

#include <string.h>

#include "check.h"
#include "model.h"

static void payloads_never_overlap(void)
{
	struct {
		uint32_t start, bytes;
	} used[BP_SLOTS];
	unsigned char owner[BP_IMM_INLINE_BYTES] = { 0 };
	struct bp_inline room = { 0 };
	unsigned int random = 7, first = 0, count = 0, turn, taken = 0, i;
	uint32_t bytes, start;

	for (turn = 0; turn < 200000; turn++) {
		bytes = 1 + check_random(&random) % (turn % 3 ? 700 : BP_IMM_INLINE_BYTES);
		if (count < BP_SLOTS && bp_inline_take(&room, bytes, &start)) {
			CHECK(start + bytes <= BP_IMM_INLINE_BYTES);
			for (i = start; i < start + bytes; i++) {
				CHECK_EQUAL(0, owner[i]);
				owner[i] = 1;
			}
			used[(first + count) % BP_SLOTS].start = start;
			used[(first + count) % BP_SLOTS].bytes = bytes;
			count++;
			taken++;
		} else if (count) {
			bp_inline_give(&room, used[first].start, used[first].bytes);
			memset(owner + used[first].start, 0, used[first].bytes);
			first = (first + 1) % BP_SLOTS;
			count--;
		} else {
			CHECK(!"an empty area must have room");
		}
		CHECK_EQUAL(count, room.count);
	}
	CHECK(taken > 1000);
}

static void the_whole_area_can_be_taken_at_once(void)
{
	struct bp_inline room = { 0 };
	uint32_t start;

	CHECK(bp_inline_take(&room, 10, &start));
	CHECK(!bp_inline_take(&room, BP_IMM_INLINE_BYTES, &start));
	bp_inline_give(&room, start, 10);
	CHECK(bp_inline_take(&room, BP_IMM_INLINE_BYTES, &start));
	CHECK_EQUAL(0, start);
	CHECK(!bp_inline_take(&room, 1, &start));
}

int main(void)
{
	RUN(payloads_never_overlap);
	RUN(the_whole_area_can_be_taken_at_once);
	return 0;
}
