// SPDX-License-Identifier: Apache-2.0
/* Opening and closing contexts. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define BP_DEFAULT_DEVICE "/dev/bp_imm0"

/* A waiter that sleeps looks at the context's state this often, should there be no event when the module dies. */
#define BP_SLEEP_MS 1000

/* Whether the module still works on the context's behalf: 0, or -ENODEV. */
int bp_check_state(const struct bp_context *context)
{
	return bp_load32(&context->page->state) == BP_IMM_CONTEXT_OPEN ? 0 : -ENODEV;
}

static void *map_page(const struct bp_context *context, unsigned int which)
{
	return mmap(NULL, context->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, context->fd,
		    (off_t)(which * context->page_bytes));
}

static int map(struct bp_context *context)
{
	void *page = map_page(context, BP_IMM_MAP_CONTEXT);
	void *doorbell;
	int error;

	if (page == MAP_FAILED)
		return -errno;
	doorbell = map_page(context, BP_IMM_MAP_DOORBELL);
	if (doorbell == MAP_FAILED) {
		error = -errno;
		munmap(page, context->page_bytes);
		return error;
	}
	context->page = page;
	context->doorbell = doorbell;
	return 0;
}

int bp_open(struct bp_context **result, const char *device, unsigned int flags)
{
	struct bp_context *context;
	int error;

	if (flags > BP_OPEN_SLEEP)
		return -EINVAL;
	if (!device)
		device = getenv("BACKPLANE_DEVICE");
	if (!device)
		device = BP_DEFAULT_DEVICE;
	context = calloc(1, sizeof(*context));
	if (!context)
		return -ENOMEM;
	context->flags = flags;
	context->sleep_ms = BP_SLEEP_MS;
	context->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	context->fd = open(device, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (context->fd < 0) {
		error = -errno;
		goto free_context;
	}
	error = map(context);
	if (error)
		goto close_file;
	context->node = bp_load32(&context->page->node);
	context->number = bp_load32(&context->page->context);
	context->prepared = bp_load32(&context->page->submit);
	context->submitted = context->reaped = context->completed = context->prepared;
	error = bp_check_state(context);
	if (error)
		goto unmap;
	*result = context;
	return 0;

unmap:
	munmap((void *)context->page, context->page_bytes);
	munmap((void *)context->doorbell, context->page_bytes);
close_file:
	close(context->fd);
free_context:
	free(context);
	return error;
}

void bp_close(struct bp_context *context)
{
	if (!context)
		return;
	munmap((void *)context->page, context->page_bytes);
	munmap((void *)context->doorbell, context->page_bytes);
	/* The driver withdraws rings and memories before it unpins them; only then is the rings' memory freed. */
	close(context->fd);
	while (context->rings)
		bp_ring_forget(context->rings);
	bp_memory_forget_all(context);
	free(context);
}

unsigned int bp_node(const struct bp_context *context)
{
	return context->node;
}

unsigned int bp_number(const struct bp_context *context)
{
	return context->number;
}

int bp_fd(const struct bp_context *context)
{
	return context->fd;
}
