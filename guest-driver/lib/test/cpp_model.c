// SPDX-License-Identifier: Apache-2.0
#include "cpp_model.h"

#include <string.h>

#include "check.h"
#include "model.h"

static struct model *model;
static struct model_ring *ring;
static uint32_t status;

static void answer(struct model *m, const struct bp_imm_action *action, struct bp_imm_completion *completion)
{
	(void)m;
	completion->status = status;
	completion->value = action->operand + action->tag;
}

struct bp_context *cpp_model_context(void)
{
	model = model_new(BP_OPEN_YIELD);
	model->handler = answer;
	return &model->context;
}

struct bp_ring *cpp_model_ring(void)
{
	ring = model_ring_new(model, 4096);
	return &ring->ring;
}

void cpp_model_status(unsigned int next)
{
	status = next;
}

void cpp_model_put(const char *payload, uint64_t tag)
{
	CHECK(model_put(ring, payload, (uint32_t)strlen(payload), tag));
}

unsigned int cpp_model_run(void)
{
	return model_run(model, BP_SLOTS);
}

void cpp_model_free(void)
{
	model_ring_free(ring);
	model_free(model);
}
