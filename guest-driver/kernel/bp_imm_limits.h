/* SPDX-License-Identifier: GPL-2.0 */
/* Arithmetic of memories, rings and events; pure, so that it is tested without a device (bp_imm_test.c). */
#ifndef BP_IMM_LIMITS_H
#define BP_IMM_LIMITS_H

#include <linux/types.h>
#include "backplane_layout.h"

/**
 * bp_imm_page_span - number of pages that a range of user memory touches
 * @address: first byte
 * @bytes: size
 * @page_shift: log2 of the page size
 * @max_pages: most pages allowed
 *
 * Return: the number of pages, or 0 if the range is empty, wraps or touches more than @max_pages
 */
static inline u64 bp_imm_page_span(u64 address, u64 bytes, unsigned int page_shift, u64 max_pages)
{
	u64 first, last;

	if (!bytes || address + (bytes - 1) < address)
		return 0;
	first = address >> page_shift;
	last = (address + (bytes - 1)) >> page_shift;
	return last - first < max_pages ? last - first + 1 : 0;
}

/**
 * bp_imm_ring_fits - whether a ring of a capacity can lie at an offset of a memory
 * @offset: of the ring's header
 * @capacity: bytes for elements
 * @memory_bytes: size of the memory
 *
 * The module checks the same again; the check here gives the process a clear error.
 *
 * Return: true if it can
 */
static inline bool bp_imm_ring_fits(u64 offset, u64 capacity, u64 memory_bytes)
{
	if (capacity < BP_IMM_RING_MIN_CAPACITY || capacity > BP_IMM_RING_MAX_CAPACITY)
		return false;
	if (capacity & (capacity - 1) || offset & (BP_IMM_RING_HEADER - 1))
		return false;
	return offset <= memory_bytes && memory_bytes - offset >= BP_IMM_RING_HEADER + capacity;
}

/**
 * bp_imm_events_between - number of events between two values of an event count, which wraps
 * @now: current count
 * @seen: count up to which events were taken
 *
 * Return: events not yet taken
 */
static inline u32 bp_imm_events_between(u32 now, u32 seen)
{
	return now - seen;
}

/**
 * bp_imm_vector_of - interrupt vector of a context, counted from the first context vector
 * @context: number of the context
 *
 * Return: 0 to BP_IMM_CONTEXT_VECTORS - 1; the MSI-X vector is one more, vector 0 is for the module's own events
 */
static inline u32 bp_imm_vector_of(u32 context)
{
	return context % BP_IMM_CONTEXT_VECTORS;
}

#endif /* BP_IMM_LIMITS_H */
