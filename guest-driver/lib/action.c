// SPDX-License-Identifier: Apache-2.0
/* Actions: slots of the context page are filled in, published, and their completions taken. */

#include <errno.h>
#include <string.h>

#include "internal.h"

_Static_assert(BP_SLOTS == BP_IMM_SLOTS, "BP_SLOTS");
_Static_assert(BP_INLINE_BYTES == BP_IMM_INLINE_BYTES, "BP_INLINE_BYTES");
_Static_assert(BP_NOP == BP_IMM_CMD_NOP, "BP_NOP");
_Static_assert(BP_PUT == BP_IMM_CMD_PUT, "BP_PUT");
_Static_assert(BP_GET == BP_IMM_CMD_GET, "BP_GET");
_Static_assert(BP_WRITE == BP_IMM_CMD_WRITE, "BP_WRITE");
_Static_assert(BP_READ == BP_IMM_CMD_READ, "BP_READ");
_Static_assert(BP_FETCH_ADD == BP_IMM_CMD_FETCH_ADD, "BP_FETCH_ADD");
_Static_assert(BP_COMPARE_SWAP == BP_IMM_CMD_COMPARE_SWAP, "BP_COMPARE_SWAP");
_Static_assert(BP_NOTIFY == BP_IMM_ACTION_NOTIFY, "BP_NOTIFY");

/* A payload this short is copied even from registered memory: one access of the module fewer to look up. */
#define BP_ALWAYS_INLINE 192

static volatile struct bp_imm_action *action_slot(struct bp_context *context, uint32_t index)
{
	return (volatile struct bp_imm_action *)context->page->actions + index % BP_SLOTS;
}

static volatile struct bp_imm_completion *completion_slot(struct bp_context *context, uint32_t index)
{
	return (volatile struct bp_imm_completion *)context->page->completions + index % BP_SLOTS;
}

static unsigned char *inline_data(struct bp_context *context, uint32_t start)
{
	return (unsigned char *)context->page->inline_data + start;
}

/* Decides where the payload lies for the module, and copies it there if it has to be. */
static int place_payload(struct bp_context *context, const struct bp_action *action, struct bp_imm_action *fields,
			 struct bp_slot *slot)
{
	bool outgoing = action->command == BP_PUT || action->command == BP_WRITE;
	const struct bp_memory *memory = NULL;
	uint32_t start, length;

	if (action->length > UINT32_MAX)
		return -EMSGSIZE;
	length = (uint32_t)action->length;
	fields->length = length;
	fields->memory = BP_IMM_INLINE;
	if (!length)
		return 0;
	if (!outgoing || length > BP_ALWAYS_INLINE)
		memory = bp_memory_of(context, action->buffer, length);
	if (memory) {
		fields->memory = memory->id;
		fields->offset = (uintptr_t)action->buffer - (uintptr_t)memory->address;
		return 0;
	}
	if (length > BP_IMM_INLINE_BYTES)
		return -EMSGSIZE;
	if (!bp_inline_take(&context->inline_room, length, &start))
		return -EAGAIN;
	fields->offset = start;
	slot->inline_start = start;
	slot->inline_bytes = length;
	if (outgoing) {
		memcpy(inline_data(context, start), action->buffer, length);
	} else {
		slot->copy_to = action->buffer;
		slot->room = length;
	}
	return 0;
}

int bp_prepare(struct bp_context *context, const struct bp_action *action)
{
	struct bp_slot *slot = &context->slots[context->prepared % BP_SLOTS];
	struct bp_imm_action fields = { 0 };
	int error;

	if (context->prepared - context->reaped == BP_SLOTS)
		return -EAGAIN;
	memset(slot, 0, sizeof(*slot));
	slot->user = action->user;
	fields.command = (uint8_t)action->command;
	fields.flags = action->flags & BP_NOTIFY;
	fields.target_node = action->node;
	fields.ring = action->place;
	fields.key = action->key;
	switch (action->command) {
	case BP_PUT:
	case BP_GET:
		fields.tag = action->tag;
		if (action->wait_us) {
			fields.flags |= BP_IMM_ACTION_WAIT;
			fields.operand = action->wait_us;
		}
		break;
	case BP_WRITE:
	case BP_READ:
		fields.remote_offset = action->remote_offset;
		break;
	case BP_FETCH_ADD:
	case BP_COMPARE_SWAP:
		fields.remote_offset = action->remote_offset;
		fields.operand = action->operand;
		fields.swap = action->swap;
		break;
	case BP_NOP:
		break;
	default:
		return -EINVAL;
	}
	if (action->command >= BP_PUT && action->command <= BP_READ) {
		error = place_payload(context, action, &fields, slot);
		if (error)
			return error;
	}
	memcpy((void *)action_slot(context, context->prepared), &fields, sizeof(fields));
	context->prepared++;
	return 0;
}

void bp_flush(struct bp_context *context)
{
	if (context->submitted == context->prepared)
		return;
	context->submitted = context->prepared;
	/*
	 * Race: the module must not see submit before the slots and payloads it stands for. They were stored to
	 * write-combining memory, where stores overtake each other: a store fence, then the store with release.
	 * Partner: the acquire in ContextPages.submit() (device server, package imm).
	 */
	bp_store_fence();
	bp_store32(&context->page->submit, context->submitted);
	/*
	 * Race: the module goes to sleep while an action is submitted. It stores doorbell_wanted, then, after a full
	 * fence, looks at submit once more; here submit is stored, then, after a full fence, doorbell_wanted is looked
	 * at: at least one of the two sees the other. Partner: GetPutContext.sleep() (device server, package imm).
	 */
	bp_full_fence();
	if (bp_load32(&context->page->doorbell_wanted))
		*context->doorbell = 1;
}

int bp_submit(struct bp_context *context, const struct bp_action *action)
{
	int error = bp_prepare(context, action);

	if (!error)
		bp_flush(context);
	return error;
}

static void take_completion(struct bp_context *context, uint32_t index, struct bp_result *result)
{
	struct bp_slot *slot = &context->slots[index % BP_SLOTS];
	struct bp_imm_completion completion;

	memcpy(&completion, (void *)completion_slot(context, index), sizeof(completion));
	result->code = completion.index == index ? bp_code_of(completion.status) : -EPROTO;
	result->length = completion.length;
	result->value = completion.value;
	result->tag = completion.tag;
	result->user = slot->user;
	result->source_node = completion.source_node;
	result->source_context = completion.source_context;
	if (!result->code && slot->copy_to) {
		if (completion.length <= slot->room)
			memcpy(slot->copy_to, inline_data(context, slot->inline_start), completion.length);
		else
			result->code = -EPROTO;
	}
	if (slot->inline_bytes)
		bp_inline_give(&context->inline_room, slot->inline_start, slot->inline_bytes);
}

/* Looks how far the module has come: 1: there are completions to take; 0: none; negative: the context is gone. */
int bp_look(struct bp_context *context)
{
	if (context->completed != context->reaped)
		return 1;
	if (context->reaped == context->submitted)
		return 0;
	/*
	 * Race: completions and payloads must not be read before the index that says they are there. Partner: the
	 * release in ContextPages.complete() (device server, package imm); the load fence is for write-combining
	 * memory, where loads overtake an acquire.
	 */
	context->completed = bp_load32(&context->page->complete);
	bp_load_fence();
	if (context->completed == context->reaped)
		return bp_check_state(context);
	if (context->completed - context->reaped <= context->submitted - context->reaped)
		return 1;
	/* The dead page of a context that has ended, or a module that is mad. */
	context->completed = context->reaped;
	return bp_check_state(context) ? -ENODEV : -EPROTO;
}

int bp_reap(struct bp_context *context, struct bp_result *results, unsigned int count)
{
	unsigned int taken = 0;
	int ready = bp_look(context);

	if (ready < 0)
		return ready;
	while (taken < count && context->reaped != context->completed)
		take_completion(context, context->reaped++, &results[taken++]);
	return (int)taken;
}

unsigned int bp_in_flight(const struct bp_context *context)
{
	return context->prepared - context->reaped;
}
