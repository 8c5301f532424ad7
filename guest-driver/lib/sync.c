// SPDX-License-Identifier: Apache-2.0
/* One action at a time. */

#include <errno.h>

#include "internal.h"

/* Carries an action out and waits for its end, however long: the driver ends a context whose module is gone. */
static int carry_out(struct bp_context *context, struct bp_action *action, struct bp_result *result)
{
	struct bp_waiter waiter = { .timeout_us = -1 };
	int ready;

	if (bp_in_flight(context))
		return -EBUSY;
	if (context->flags == BP_OPEN_SLEEP)
		action->flags |= BP_NOTIFY;
	ready = bp_submit(context, action);
	if (ready)
		return ready;
	for (;;) {
		ready = bp_reap(context, result, 1);
		if (ready)
			return ready < 0 ? ready : result->code;
		if (bp_spin(context, &waiter) > 0) {
			ready = bp_wait(context, -1);
			/* A signal does not end an action; the caller learns of it when the action ended. */
			if (ready < 0 && ready != -EINTR)
				return ready;
		}
	}
}

int bp_put(struct bp_context *context, const struct bp_target *target, const void *payload, size_t length, uint64_t tag)
{
	struct bp_action action = {
		.command = BP_PUT,
		.node = target->node,
		.place = target->ring,
		.wait_us = target->wait_us,
		.key = target->key,
		.tag = tag,
		.buffer = (void *)payload,
		.length = length,
	};
	struct bp_result result;

	return carry_out(context, &action, &result);
}

int bp_get(struct bp_context *context, const struct bp_target *target, void *buffer, size_t room,
	   struct bp_result *result)
{
	struct bp_action action = {
		.command = BP_GET,
		.node = target->node,
		.place = target->ring,
		.wait_us = target->wait_us,
		.key = target->key,
		.buffer = buffer,
		.length = room,
	};
	struct bp_result unused;

	return carry_out(context, &action, result ? result : &unused);
}

static int one_sided(struct bp_context *context, const struct bp_remote *remote, struct bp_action *action, uint64_t *old)
{
	struct bp_result result;
	int code;

	action->node = remote->node;
	action->place = remote->memory;
	action->key = remote->key;
	action->remote_offset = remote->offset;
	code = carry_out(context, action, &result);
	if (!code && old)
		*old = result.value;
	return code;
}

int bp_write(struct bp_context *context, const struct bp_remote *to, const void *data, size_t length)
{
	struct bp_action action = { .command = BP_WRITE, .buffer = (void *)data, .length = length };

	return one_sided(context, to, &action, NULL);
}

int bp_read(struct bp_context *context, const struct bp_remote *from, void *buffer, size_t length)
{
	struct bp_action action = { .command = BP_READ, .buffer = buffer, .length = length };

	return one_sided(context, from, &action, NULL);
}

int bp_fetch_add(struct bp_context *context, const struct bp_remote *word, uint64_t addend, uint64_t *old)
{
	struct bp_action action = { .command = BP_FETCH_ADD, .operand = addend };

	return one_sided(context, word, &action, old);
}

int bp_compare_swap(struct bp_context *context, const struct bp_remote *word, uint64_t expected, uint64_t desired,
		    uint64_t *old)
{
	struct bp_action action = { .command = BP_COMPARE_SWAP, .operand = expected, .swap = desired };

	return one_sided(context, word, &action, old);
}
