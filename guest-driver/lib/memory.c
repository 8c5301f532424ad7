// SPDX-License-Identifier: Apache-2.0
/* Memory of the process that the module knows. */

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "internal.h"

_Static_assert(BP_REMOTE_READ == BP_IMM_MEMORY_REMOTE_READ, "BP_REMOTE_READ");
_Static_assert(BP_REMOTE_WRITE == BP_IMM_MEMORY_REMOTE_WRITE, "BP_REMOTE_WRITE");
_Static_assert(BP_REMOTE_ATOMIC == BP_IMM_MEMORY_REMOTE_ATOMIC, "BP_REMOTE_ATOMIC");

int bp_memory_register(struct bp_context *context, void *address, size_t bytes, unsigned int flags,
		       const struct bp_access *access, const struct bp_memory **result)
{
	struct bp_imm_memory_register request = {
		.address = (uintptr_t)address,
		.bytes = bytes,
		.flags = flags,
	};
	struct bp_registered *registered;
	int error;

	if (access) {
		request.key = access->key;
		request.nodes = (uintptr_t)access->nodes;
		request.node_count = access->nodes ? access->node_count : 0;
	}
	registered = malloc(sizeof(*registered));
	if (!registered)
		return -ENOMEM;
	if (ioctl(context->fd, BP_IMM_IOC_MEMORY_REGISTER, &request)) {
		error = -errno;
		free(registered);
		return error;
	}
	registered->memory.address = address;
	registered->memory.bytes = bytes;
	registered->memory.id = request.memory;
	registered->memory.remote = context->number << 16 | request.memory;
	registered->next = context->memories;
	context->memories = registered;
	*result = &registered->memory;
	return 0;
}

static void forget(struct bp_context *context, const struct bp_memory *memory)
{
	struct bp_registered **link = &context->memories, *registered;

	while (&(*link)->memory != memory)
		link = &(*link)->next;
	registered = *link;
	*link = registered->next;
	free(registered);
}

static int withdraw(const struct bp_context *context, const struct bp_memory *memory)
{
	struct bp_imm_memory_unregister request = { .memory = memory->id };

	return ioctl(context->fd, BP_IMM_IOC_MEMORY_UNREGISTER, &request) ? -errno : 0;
}

int bp_memory_unregister(struct bp_context *context, const struct bp_memory *memory)
{
	int error;

	if (bp_in_flight(context))
		return -EBUSY;
	error = withdraw(context, memory);
	if (error && error != -ENODEV)
		return error;
	forget(context, memory);
	return 0;
}

/* Withdraws a memory come what may: actions in flight that use it end with BP_NO_SUCH_MEMORY. */
void bp_memory_drop(struct bp_context *context, const struct bp_memory *memory)
{
	withdraw(context, memory);
	forget(context, memory);
}

/* The memory that a payload lies in, or NULL. */
const struct bp_memory *bp_memory_of(const struct bp_context *context, const void *address, size_t bytes)
{
	const struct bp_registered *registered;
	uintptr_t offset;

	for (registered = context->memories; registered; registered = registered->next) {
		offset = (uintptr_t)address - (uintptr_t)registered->memory.address;
		if (offset <= registered->memory.bytes && bytes <= registered->memory.bytes - offset)
			return &registered->memory;
	}
	return NULL;
}

/* After the file was closed. */
void bp_memory_forget_all(struct bp_context *context)
{
	struct bp_registered *registered;

	while ((registered = context->memories)) {
		context->memories = registered->next;
		free(registered);
	}
}
