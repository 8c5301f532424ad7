// SPDX-License-Identifier: Apache-2.0
/* Actions, one and many: what stands in the page, in what order results come, what bad pages do. */

#include <errno.h>
#include <string.h>

#include "check.h"
#include "model.h"

static void add_offset(struct model *model, const struct bp_imm_action *action, struct bp_imm_completion *completion)
{
	(void)model;
	completion->value = action->tag + 1000;
}

static struct bp_action put_of(uint64_t number, void *payload, size_t length)
{
	return (struct bp_action){
		.command = BP_PUT,
		.node = 2,
		.place = 7,
		.key = 99,
		.tag = number,
		.buffer = payload,
		.length = length,
		.user = number * 3,
	};
}

static void fields_of_a_put_reach_the_page(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct bp_action action = put_of(5, "payload", 7);
	const struct bp_imm_action *slot = (const struct bp_imm_action *)model->page->actions;

	action.wait_us = 250;
	action.flags = BP_NOTIFY;
	CHECK_EQUAL(0, bp_prepare(&model->context, &action));
	CHECK_EQUAL(0, model->page->submit);
	bp_flush(&model->context);
	CHECK_EQUAL(1, model->page->submit);
	CHECK_EQUAL(BP_IMM_CMD_PUT, slot->command);
	CHECK_EQUAL(BP_IMM_ACTION_WAIT | BP_IMM_ACTION_NOTIFY, slot->flags);
	CHECK_EQUAL(2, slot->target_node);
	CHECK_EQUAL(7, slot->ring);
	CHECK_EQUAL(99, slot->key);
	CHECK_EQUAL(5, slot->tag);
	CHECK_EQUAL(250, slot->operand);
	CHECK(!memcmp(model_inline(model, slot), "payload", 7));
	model_free(model);
}

static void fields_of_an_atomic_reach_the_page(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	const struct bp_imm_action *slot = (const struct bp_imm_action *)model->page->actions;
	struct bp_action action = {
		.command = BP_COMPARE_SWAP,
		.place = 3 << 16 | 2,
		.remote_offset = 64,
		.operand = 11,
		.swap = 12,
		.wait_us = 5,
	};

	CHECK_EQUAL(0, bp_submit(&model->context, &action));
	CHECK_EQUAL(0, slot->flags);
	CHECK_EQUAL(0, slot->length);
	CHECK_EQUAL(3 << 16 | 2, slot->ring);
	CHECK_EQUAL(64, slot->remote_offset);
	CHECK_EQUAL(11, slot->operand);
	CHECK_EQUAL(12, slot->swap);
	model_free(model);
}

static void results_come_in_order_whatever_the_batches(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct bp_result results[BP_SLOTS];
	unsigned int random = 1;
	uint64_t submitted = 0, reaped = 0;
	struct bp_action action;
	int count, i;

	model->handler = add_offset;
	/* Near the end of the index's range, so that it wraps. */
	model->page->submit = model->page->complete = model->done = 0u - 500;
	model->context.prepared = model->context.submitted = model->context.reaped = model->context.completed =
		model->done;
	while (reaped < 5000) {
		for (count = (int)(check_random(&random) % 10); count; count--) {
			action = put_of(submitted, "x", 1);
			if (bp_prepare(&model->context, &action)) {
				CHECK_EQUAL(BP_SLOTS, bp_in_flight(&model->context));
				break;
			}
			submitted++;
		}
		bp_flush(&model->context);
		model_run(model, check_random(&random) % 10);
		count = bp_reap(&model->context, results, 1 + check_random(&random) % BP_SLOTS);
		CHECK(count >= 0);
		for (i = 0; i < count; i++, reaped++) {
			CHECK_EQUAL(0, results[i].code);
			CHECK_EQUAL(reaped * 3, results[i].user);
			CHECK_EQUAL(reaped + 1000, results[i].value);
		}
		CHECK_EQUAL(submitted - reaped, bp_in_flight(&model->context));
	}
	model_free(model);
}

static void fill_reply(struct model *model, const struct bp_imm_action *action, struct bp_imm_completion *completion)
{
	if (action->command == BP_IMM_CMD_GET) {
		memset(model_inline(model, action), 0x5a, action->length);
		completion->length = action->length / 2;
		completion->source_node = 8;
		completion->source_context = 9;
		completion->tag = 77;
	}
}

static void a_get_copies_what_came_and_no_more(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	unsigned char buffer[100] = { 0 };
	struct bp_action action = { .command = BP_GET, .buffer = buffer, .length = sizeof(buffer) };
	struct bp_result result;

	model->handler = fill_reply;
	CHECK_EQUAL(0, bp_submit(&model->context, &action));
	CHECK_EQUAL(0, bp_reap(&model->context, &result, 1));
	model_run(model, 1);
	CHECK_EQUAL(1, bp_reap(&model->context, &result, 1));
	CHECK_EQUAL(0, result.code);
	CHECK_EQUAL(50, result.length);
	CHECK_EQUAL(8, result.source_node);
	CHECK_EQUAL(9, result.source_context);
	CHECK_EQUAL(77, result.tag);
	CHECK_EQUAL(0x5a, buffer[49]);
	CHECK_EQUAL(0, buffer[50]);
	model_free(model);
}

static void long_payloads_need_registered_memory(void)
{
	static unsigned char payload[2 * BP_INLINE_BYTES];
	struct model *model = model_new(BP_OPEN_SPIN);
	const struct bp_imm_action *slots = (const struct bp_imm_action *)model->page->actions;
	struct bp_registered registered = { .memory = { .address = payload, .bytes = sizeof(payload), .id = 6 } };
	struct bp_action action = put_of(0, payload + 10, BP_INLINE_BYTES + 1);

	CHECK_EQUAL(-EMSGSIZE, bp_submit(&model->context, &action));
	CHECK_EQUAL(0, bp_in_flight(&model->context));
	model->context.memories = &registered;
	CHECK_EQUAL(0, bp_submit(&model->context, &action));
	CHECK_EQUAL(6, slots[0].memory);
	CHECK_EQUAL(10, slots[0].offset);
	action.length = sizeof(payload);
	CHECK_EQUAL(-EMSGSIZE, bp_submit(&model->context, &action));
	model_free(model);
}

static void inline_room_that_is_used_up_is_said_so(void)
{
	static unsigned char payload[BP_INLINE_BYTES];
	struct model *model = model_new(BP_OPEN_SPIN);
	struct bp_action action = put_of(0, payload, BP_INLINE_BYTES);
	struct bp_result result;

	CHECK_EQUAL(0, bp_submit(&model->context, &action));
	CHECK_EQUAL(-EAGAIN, bp_submit(&model->context, &action));
	model_run(model, 1);
	CHECK_EQUAL(1, bp_reap(&model->context, &result, 1));
	CHECK_EQUAL(0, bp_submit(&model->context, &action));
	model_free(model);
}

static void the_doorbell_is_rung_only_if_wanted(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct bp_action action = { .command = BP_NOP };

	CHECK_EQUAL(0, bp_submit(&model->context, &action));
	CHECK_EQUAL(0, model->doorbell);
	model->page->doorbell_wanted = 1;
	CHECK_EQUAL(0, bp_submit(&model->context, &action));
	CHECK_EQUAL(1, model->doorbell);
	/* Nothing new: nothing to ring for. */
	model->doorbell = 0;
	bp_flush(&model->context);
	CHECK_EQUAL(0, model->doorbell);
	model_free(model);
}

static void a_dead_context_is_an_error_not_a_hang(void)
{
	static const uint32_t states[] = { BP_IMM_CONTEXT_CLOSED, BP_IMM_CONTEXT_ERROR, BP_IMM_CONTEXT_DEAD };
	struct bp_action action = { .command = BP_NOP };
	struct bp_result result;
	struct model *model;
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		model = model_new(BP_OPEN_SPIN);
		CHECK_EQUAL(0, bp_submit(&model->context, &action));
		model_run(model, 1);
		CHECK_EQUAL(1, bp_reap(&model->context, &result, 1));
		CHECK_EQUAL(0, bp_submit(&model->context, &action));
		/* The driver puts the dead page in place of the device's. */
		memset(model->page, 0, sizeof(*model->page));
		model->page->state = states[i];
		CHECK_EQUAL(-ENODEV, bp_reap(&model->context, &result, 1));
		CHECK_EQUAL(-ENODEV, bp_put(&(struct bp_context){ .page = model->page,
								  .doorbell = &model->doorbell },
					    &(struct bp_target){ .node = 1 }, "", 0, 0));
		model_free(model);
	}
}

static void impossible_answers_are_an_error(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct bp_action action = { .command = BP_NOP };
	struct bp_result result;

	CHECK_EQUAL(0, bp_submit(&model->context, &action));
	model->page->complete = 5;
	CHECK_EQUAL(-EPROTO, bp_reap(&model->context, &result, 1));
	/* Completion of another action. */
	model->page->complete = 1;
	((struct bp_imm_completion *)model->page->completions)->index = 8;
	((struct bp_imm_completion *)model->page->completions)->status = BP_IMM_STATUS_OK;
	CHECK_EQUAL(1, bp_reap(&model->context, &result, 1));
	CHECK_EQUAL(-EPROTO, result.code);
	model_free(model);
}

static void a_call_alone_does_not_mix_with_actions_in_flight(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct bp_action action = { .command = BP_NOP };

	CHECK_EQUAL(0, bp_submit(&model->context, &action));
	CHECK_EQUAL(-EBUSY, bp_put(&model->context, &(struct bp_target){ .node = 1 }, "", 0, 0));
	model_free(model);
}

static void wrong_commands_are_refused(void)
{
	struct model *model = model_new(BP_OPEN_SPIN);
	struct bp_action action = { .command = (enum bp_command)7 };

	CHECK_EQUAL(-EINVAL, bp_submit(&model->context, &action));
	CHECK_EQUAL(0, bp_in_flight(&model->context));
	model_free(model);
}

int main(void)
{
	RUN(fields_of_a_put_reach_the_page);
	RUN(fields_of_an_atomic_reach_the_page);
	RUN(results_come_in_order_whatever_the_batches);
	RUN(a_get_copies_what_came_and_no_more);
	RUN(long_payloads_need_registered_memory);
	RUN(inline_room_that_is_used_up_is_said_so);
	RUN(the_doorbell_is_rung_only_if_wanted);
	RUN(a_dead_context_is_an_error_not_a_hang);
	RUN(impossible_answers_are_an_error);
	RUN(a_call_alone_does_not_mix_with_actions_in_flight);
	RUN(wrong_commands_are_refused);
	return 0;
}
