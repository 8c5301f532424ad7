// SPDX-License-Identifier: Apache-2.0
/* Waiting: awake, giving way to other threads, or asleep until an event. */

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include "internal.h"

/* The clock is read once in so many spins: it may be a system call. */
#define BP_SPINS_PER_CLOCK 512

void bp_deadline(struct timespec *deadline, int64_t timeout_us)
{
	clock_gettime(CLOCK_MONOTONIC, deadline);
	deadline->tv_sec += (time_t)(timeout_us / 1000000);
	deadline->tv_nsec += (long)(timeout_us % 1000000) * 1000;
	if (deadline->tv_nsec >= 1000000000) {
		deadline->tv_sec++;
		deadline->tv_nsec -= 1000000000;
	}
}

/* Milliseconds until a deadline, rounded up; 0 once it has passed. */
static int64_t left_ms(const struct timespec *deadline)
{
	struct timespec now;
	int64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (int64_t)(deadline->tv_sec - now.tv_sec) * 1000000000 + (deadline->tv_nsec - now.tv_nsec);
	return ns > 0 ? (ns + 999999) / 1000000 : 0;
}

/* One turn of a loop that waits awake: 0: look again; 1: sleep now, as the context is to; -ETIMEDOUT. */
int bp_spin(const struct bp_context *context, struct bp_waiter *waiter)
{
	waiter->spins++;
	if (context->flags == BP_OPEN_SLEEP && waiter->spins > BP_SPINS_BEFORE_SLEEP)
		return 1;
	if (context->flags == BP_OPEN_YIELD && waiter->spins > BP_SPINS_BEFORE_YIELD)
		sched_yield();
	else
		bp_pause();
	if (waiter->timeout_us < 0 || waiter->spins % BP_SPINS_PER_CLOCK)
		return 0;
	if (!waiter->timed) {
		waiter->timed = true;
		bp_deadline(&waiter->deadline, waiter->timeout_us);
	}
	return left_ms(&waiter->deadline) ? 0 : -ETIMEDOUT;
}

int bp_events(struct bp_context *context)
{
	uint64_t count;

	if (read(context->fd, &count, sizeof(count)) == sizeof(count))
		return count > INT32_MAX ? INT32_MAX : (int)count;
	return errno == EAGAIN || errno == EINTR ? 0 : -ENODEV;
}

/* Sleeps until an event, or a while: 0: look again; -ETIMEDOUT: the deadline has passed; -EINTR; -ENODEV. */
int bp_sleep(struct bp_context *context, const struct timespec *deadline)
{
	struct pollfd poll_fd = { .fd = context->fd, .events = POLLIN };
	int64_t timeout = context->sleep_ms, left;
	int ready;

	if (deadline) {
		left = left_ms(deadline);
		if (!left)
			return -ETIMEDOUT;
		if (timeout < 0 || left < timeout)
			timeout = left;
	}
	ready = poll(&poll_fd, 1, (int)timeout);
	if (ready < 0)
		return -errno;
	if (!ready)
		return 0;
	/* Before the caller looks again: an event that comes after its look makes the descriptor readable anew. */
	ready = bp_events(context);
	return ready < 0 ? ready : 0;
}

static const struct timespec *deadline_of(int timeout_ms, struct timespec *deadline)
{
	if (timeout_ms < 0)
		return NULL;
	bp_deadline(deadline, (int64_t)timeout_ms * 1000);
	return deadline;
}

int bp_wait(struct bp_context *context, int timeout_ms)
{
	struct timespec deadline;
	const struct timespec *until = NULL;
	bool first = true;
	int ready, error;

	for (;;) {
		ready = bp_look(context);
		if (ready || context->submitted == context->reaped)
			return ready;
		if (first)
			until = deadline_of(timeout_ms, &deadline);
		first = false;
		error = bp_sleep(context, until);
		if (error)
			return error == -ETIMEDOUT ? bp_look(context) : error;
	}
}

int bp_ring_wait_when(struct bp_ring *ring, uint64_t elements, uint64_t bytes, int timeout_ms)
{
	struct timespec deadline;
	const struct timespec *until = NULL;
	bool first = true;
	int ready, error;

	for (;;) {
		ready = bp_ring_arm_when(ring, elements, bytes);
		if (ready)
			return ready;
		if (first)
			until = deadline_of(timeout_ms, &deadline);
		first = false;
		error = bp_check_state(ring->context);
		if (error)
			return error;
		error = bp_sleep(ring->context, until);
		if (error)
			return error == -ETIMEDOUT ? bp_ring_arm_when(ring, elements, bytes) : error;
	}
}

int bp_ring_wait(struct bp_ring *ring, int timeout_ms)
{
	return bp_ring_wait_when(ring, 1, 0, timeout_ms);
}

static int sleep_for_ring(struct bp_ring *ring, int64_t timeout_us)
{
	int64_t timeout_ms = timeout_us < 0 ? -1 : (timeout_us + 999) / 1000;

	return bp_ring_wait(ring, timeout_ms > INT32_MAX ? INT32_MAX : (int)timeout_ms);
}

int bp_ring_poll(struct bp_ring *ring, struct bp_element *element, int64_t timeout_us)
{
	struct bp_waiter waiter = { .timeout_us = timeout_us };
	int ready;

	for (;;) {
		ready = bp_ring_next(ring, element);
		if (ready || !timeout_us)
			return ready;
		ready = bp_spin(ring->context, &waiter);
		if (ready > 0) {
			ready = sleep_for_ring(ring, timeout_us);
			return ready > 0 ? bp_ring_next(ring, element) : ready;
		}
		if (ready < 0)
			return bp_ring_next(ring, element);
	}
}
