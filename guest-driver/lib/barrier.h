/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordered accesses to memory that the messaging module shares: context pages, mapped write-combining or uncached, and
 * rings, ordinary memory. Each use says which race it closes and who the partner is.
 */
#ifndef BP_BARRIER_H
#define BP_BARRIER_H

#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the layouts are little-endian, and so must be the machine"
#endif

static inline uint32_t bp_load32(const volatile void *word)
{
	return __atomic_load_n((const volatile uint32_t *)word, __ATOMIC_ACQUIRE);
}

static inline uint64_t bp_load64(const volatile void *word)
{
	return __atomic_load_n((const volatile uint64_t *)word, __ATOMIC_ACQUIRE);
}

static inline void bp_store32(volatile void *word, uint32_t value)
{
	__atomic_store_n((volatile uint32_t *)word, value, __ATOMIC_RELEASE);
}

static inline void bp_store64(volatile void *word, uint64_t value)
{
	__atomic_store_n((volatile uint64_t *)word, value, __ATOMIC_RELEASE);
}

/* Stores before it become visible before stores after it; also those to write-combining memory, which release does not
 * order.
 */
static inline void bp_store_fence(void)
{
#if defined(__x86_64__)
	__asm__ volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb oshst" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Loads before it are done before loads after it; also those from write-combining memory. */
static inline void bp_load_fence(void)
{
#if defined(__x86_64__)
	__asm__ volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb oshld" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Stores before it are visible before loads after it are done; flushes write-combining buffers. */
static inline void bp_full_fence(void)
{
#if defined(__x86_64__)
	__asm__ volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb osh" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* In a loop that waits: leaves the core's resources to its sibling. */
static inline void bp_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

#endif /* BP_BARRIER_H */
