// SPDX-License-Identifier: Apache-2.0
/* Room of the context page's inline area: payloads are contiguous, and end in the order in which they began. */

#include "internal.h"

/* Payloads begin at multiples of this, so that two of them do not share a cache line. */
#define BP_INLINE_ALIGN 64

static uint32_t rounded(uint32_t bytes)
{
	return (bytes + BP_INLINE_ALIGN - 1) & ~(uint32_t)(BP_INLINE_ALIGN - 1);
}

/* Takes room for 1 to BP_INLINE_BYTES bytes; false if there is none in one piece. */
bool bp_inline_take(struct bp_inline *room, uint32_t bytes, uint32_t *start)
{
	uint32_t need = rounded(bytes);
	bool wrapped = room->count && room->end <= room->start;

	if (!room->count)
		*start = room->start = 0;
	else if (!wrapped && need <= BP_IMM_INLINE_BYTES - room->end)
		*start = room->end;
	else if (!wrapped && need <= room->start)
		*start = 0;
	else if (wrapped && need <= room->start - room->end)
		*start = room->end;
	else
		return false;
	room->end = *start + need;
	room->count++;
	return true;
}

/* Gives the oldest payload's room back; the next oldest begins after it, or at the start of the area. */
void bp_inline_give(struct bp_inline *room, uint32_t start, uint32_t bytes)
{
	room->count--;
	room->start = start + rounded(bytes);
}
