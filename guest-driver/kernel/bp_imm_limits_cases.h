/* SPDX-License-Identifier: GPL-2.0 */
/* Cases for bp_imm_limits.h; BP_IMM_TEST and BP_IMM_EXPECT come from who includes this: KUnit or a program. */

BP_IMM_TEST(page_span)
{
	BP_IMM_EXPECT(1, bp_imm_page_span(0, 1, 12, 10));
	BP_IMM_EXPECT(1, bp_imm_page_span(4095, 1, 12, 10));
	BP_IMM_EXPECT(2, bp_imm_page_span(4095, 2, 12, 10));
	BP_IMM_EXPECT(1, bp_imm_page_span(8192, 4096, 12, 10));
	BP_IMM_EXPECT(2, bp_imm_page_span(8192, 4097, 12, 10));
	BP_IMM_EXPECT(10, bp_imm_page_span(8192, 40960, 12, 10));
	/* too many, none, wrapping */
	BP_IMM_EXPECT(0, bp_imm_page_span(8192, 40961, 12, 10));
	BP_IMM_EXPECT(0, bp_imm_page_span(8192, 0, 12, 10));
	BP_IMM_EXPECT(0, bp_imm_page_span(8192, ~0ULL, 12, ~0ULL));
	BP_IMM_EXPECT(0, bp_imm_page_span(~0ULL, 2, 12, 10));
	/* the last page there is */
	BP_IMM_EXPECT(1, bp_imm_page_span(~0ULL, 1, 12, 10));
	BP_IMM_EXPECT(1, bp_imm_page_span(~0ULL - 4095, 4096, 12, 10));
	BP_IMM_EXPECT(1ULL << 52, bp_imm_page_span(0, ~0ULL, 12, ~0ULL));
}

BP_IMM_TEST(ring_fits)
{
	const u64 header = BP_IMM_RING_HEADER, smallest = BP_IMM_RING_MIN_CAPACITY;
	const u64 largest = BP_IMM_RING_MAX_CAPACITY;

	BP_IMM_EXPECT(true, bp_imm_ring_fits(0, smallest, header + smallest));
	BP_IMM_EXPECT(false, bp_imm_ring_fits(0, smallest, header + smallest - 1));
	BP_IMM_EXPECT(true, bp_imm_ring_fits(4096, smallest, 4096 + header + smallest));
	BP_IMM_EXPECT(false, bp_imm_ring_fits(4096, smallest, 4095 + header + smallest));
	BP_IMM_EXPECT(false, bp_imm_ring_fits(64, smallest, 1 << 20));
	BP_IMM_EXPECT(true, bp_imm_ring_fits(0, largest, header + largest));
	BP_IMM_EXPECT(false, bp_imm_ring_fits(0, 2 * largest, ~0ULL));
	BP_IMM_EXPECT(false, bp_imm_ring_fits(0, smallest / 2, ~0ULL));
	BP_IMM_EXPECT(false, bp_imm_ring_fits(0, smallest + 4096 * 2, ~0ULL));
	BP_IMM_EXPECT(false, bp_imm_ring_fits(0, 0, ~0ULL));
	/* sums that would wrap */
	BP_IMM_EXPECT(false, bp_imm_ring_fits(~0ULL - 4095, smallest, 1 << 20));
	BP_IMM_EXPECT(false, bp_imm_ring_fits(0, ~0ULL, 1 << 20));
	BP_IMM_EXPECT(false, bp_imm_ring_fits(0, 1ULL << 63, ~0ULL));
}

BP_IMM_TEST(events_between)
{
	BP_IMM_EXPECT(0, bp_imm_events_between(5, 5));
	BP_IMM_EXPECT(3, bp_imm_events_between(8, 5));
	BP_IMM_EXPECT(3, bp_imm_events_between(1, ~0U - 1));
	BP_IMM_EXPECT(~0U, bp_imm_events_between(4, 5));
}

BP_IMM_TEST(vector_of)
{
	BP_IMM_EXPECT(0, bp_imm_vector_of(0));
	BP_IMM_EXPECT(BP_IMM_CONTEXT_VECTORS - 1, bp_imm_vector_of(BP_IMM_CONTEXT_VECTORS - 1));
	BP_IMM_EXPECT(0, bp_imm_vector_of(BP_IMM_CONTEXT_VECTORS));
	BP_IMM_EXPECT(5, bp_imm_vector_of(16 * BP_IMM_CONTEXT_VECTORS + 5));
}
