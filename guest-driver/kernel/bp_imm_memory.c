// SPDX-License-Identifier: GPL-2.0
/* Memory of a process that the module may use: pinned, given bus addresses, told to the module as a list of pages. */

#include <linux/cred.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "bp_imm.h"

#define BP_IMM_MEMORY_FLAGS \
	(BP_IMM_MEMORY_REMOTE_READ | BP_IMM_MEMORY_REMOTE_WRITE | BP_IMM_MEMORY_REMOTE_ATOMIC)

/* Pages pinned in one go; a signal is looked for in between. */
#define BP_IMM_PIN_BATCH 512

/* All pages that a user has pinned, through whatever driver, count against RLIMIT_MEMLOCK. */
static int bp_imm_charge(struct bp_imm_client *client, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	long old = atomic_long_read(&client->cred->user->locked_vm);

	do {
		if (!capable(CAP_IPC_LOCK) && (pages > limit || old > (long)(limit - pages)))
			return -ENOMEM;
	} while (!atomic_long_try_cmpxchg(&client->cred->user->locked_vm, &old, old + pages));
	atomic64_add(pages, &client->notifier.mm->pinned_vm);
	atomic64_add(pages, &client->device->pinned_pages);
	return 0;
}

static void bp_imm_uncharge(struct bp_imm_client *client, unsigned long pages)
{
	atomic_long_sub(pages, &client->cred->user->locked_vm);
	atomic64_sub(pages, &client->notifier.mm->pinned_vm);
	atomic64_sub(pages, &client->device->pinned_pages);
}

static int bp_imm_pin(struct bp_imm_memory *memory)
{
	unsigned long start = memory->address & PAGE_MASK, pinned = 0;
	struct page **pages;
	int count, error;

	pages = kvcalloc(memory->page_count, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return -ENOMEM;
	while (pinned < memory->page_count) {
		/* Long-term and writable: pages leave movable zones, and fork(2) gives a copy to the child. */
		count = pin_user_pages_fast(start + pinned * PAGE_SIZE,
					    min(memory->page_count - pinned, BP_IMM_PIN_BATCH + 0UL),
					    FOLL_WRITE | FOLL_LONGTERM, pages + pinned);
		error = count < 0 ? count : signal_pending(current) ? -EINTR : 0;
		pinned += max(count, 0);
		if (error || !count) {
			error = error ?: -EFAULT;
			goto unpin;
		}
	}
	error = sg_alloc_table_from_pages(&memory->pages, pages, memory->page_count, 0,
					  memory->page_count << PAGE_SHIFT, GFP_KERNEL_ACCOUNT);
	if (error)
		goto unpin;
	kvfree(pages);
	return 0;

unpin:
	unpin_user_pages(pages, pinned);
	kvfree(pages);
	return error;
}

static void bp_imm_unpin(struct bp_imm_memory *memory)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(&memory->pages, sg, i)
		unpin_user_page_range_dirty_lock(sg_page(sg), DIV_ROUND_UP(sg->length, PAGE_SIZE), true);
	sg_free_table(&memory->pages);
}

/*
 * Gives a memory back. Where it is not certain that the module lets go of the pages (not @safe), they stay pinned for
 * ever: better lost than written to in the hands of their next owner.
 */
static void bp_imm_memory_free(struct bp_imm_client *client, struct bp_imm_memory *memory, bool safe)
{
	if (safe) {
		dma_unmap_sgtable(&client->device->pdev->dev, &memory->pages, DMA_BIDIRECTIONAL, 0);
		bp_imm_unpin(memory);
		bp_imm_uncharge(client, memory->page_count);
	}
	kfree(memory);
}

/**
 * bp_imm_memory_free_all - gives back all memories of a context that has ended
 * @client: the context; caller holds its lock
 * @safe: whether the module is known not to use the pages any more
 */
void bp_imm_memory_free_all(struct bp_imm_client *client, bool safe)
{
	struct bp_imm_memory *memory;
	unsigned long id;

	xa_for_each(&client->memories, id, memory) {
		xa_erase(&client->memories, id);
		bp_imm_memory_free(client, memory, safe);
	}
}

static struct bp_imm_memory *bp_imm_memory_new(struct bp_imm_client *client,
					       const struct bp_imm_memory_register *request)
{
	struct bp_imm_memory *memory;
	u64 pages;
	int error;

	pages = bp_imm_page_span(request->address, request->bytes, PAGE_SHIFT, client->device->max_pages);
	if (!pages)
		return ERR_PTR(-EINVAL);
	memory = kzalloc(sizeof(*memory), GFP_KERNEL_ACCOUNT);
	if (!memory)
		return ERR_PTR(-ENOMEM);
	memory->address = request->address;
	memory->bytes = request->bytes;
	memory->flags = request->flags;
	memory->page_count = pages;
	error = bp_imm_charge(client, pages);
	if (error)
		goto free;
	error = bp_imm_pin(memory);
	if (error)
		goto uncharge;
	return memory;

uncharge:
	bp_imm_uncharge(client, pages);
free:
	kfree(memory);
	return ERR_PTR(error);
}

/* The module copies the list while it carries out the command. */
static int bp_imm_memory_tell(struct bp_imm_client *client, struct bp_imm_memory *memory,
			      const struct bp_imm_memory_register *request, const __le16 *nodes)
{
	struct device *dev = &client->device->pdev->dev;
	size_t bytes = memory->page_count * sizeof(__le64);
	struct bp_imm_admin command = {
		.opcode = cpu_to_le16(BP_IMM_ADMIN_OP_MEMORY_REGISTER),
		.flags = cpu_to_le16(request->flags),
		.context = cpu_to_le32(client->id),
		.generation = cpu_to_le32(client->generation),
		.memory = cpu_to_le32(memory->id),
		.page_count = cpu_to_le32(memory->page_count),
		.page_shift = cpu_to_le32(PAGE_SHIFT),
		.first_offset = cpu_to_le64(offset_in_page(request->address)),
		.bytes = cpu_to_le64(request->bytes),
		.key = cpu_to_le64(request->key),
		.node_count = cpu_to_le32(request->node_count),
	};
	struct sg_dma_page_iter iter;
	dma_addr_t list_dma;
	unsigned long i = 0;
	__le64 *list;
	int error;

	list = dma_alloc_coherent(dev, bytes, &list_dma, GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	for_each_sgtable_dma_page(&memory->pages, &iter, 0)
		list[i++] = cpu_to_le64(sg_page_iter_dma_address(&iter));
	command.pages = cpu_to_le64(list_dma);
	error = bp_imm_admin(client->device, &command, nodes, NULL);
	dma_free_coherent(dev, bytes, list, list_dma);
	return error;
}

static int bp_imm_memory_untell(struct bp_imm_client *client, u32 id)
{
	const struct bp_imm_admin command = {
		.opcode = cpu_to_le16(BP_IMM_ADMIN_OP_MEMORY_UNREGISTER),
		.context = cpu_to_le32(client->id),
		.generation = cpu_to_le32(client->generation),
		.memory = cpu_to_le32(id),
	};

	return bp_imm_admin(client->device, &command, NULL, NULL);
}

/* Caller holds the context's lock; on an error the memory is still the caller's, pinned but without bus addresses. */
static int bp_imm_memory_attach(struct bp_imm_client *client, struct bp_imm_memory *memory,
				const struct bp_imm_memory_register *request, const __le16 *nodes)
{
	struct device *dev = &client->device->pdev->dev;
	int error;

	if (client->state != BP_IMM_STARTED)
		return -ENODEV;
	error = xa_alloc(&client->memories, &memory->id, memory,
			 XA_LIMIT(0, client->device->memory_count - 1), GFP_KERNEL_ACCOUNT);
	if (error)
		return error == -EBUSY ? -ENOSPC : error;
	error = dma_map_sgtable(dev, &memory->pages, DMA_BIDIRECTIONAL, 0);
	if (error)
		goto erase;
	error = bp_imm_memory_tell(client, memory, request, nodes);
	if (error)
		goto unmap;
	return 0;

unmap:
	dma_unmap_sgtable(dev, &memory->pages, DMA_BIDIRECTIONAL, 0);
erase:
	xa_erase(&client->memories, memory->id);
	return error;
}

/* Caller holds the context's lock. */
static int bp_imm_memory_detach(struct bp_imm_client *client, u32 id)
{
	struct bp_imm_memory *memory;
	int error;

	if (client->state != BP_IMM_STARTED)
		return -ENODEV;
	memory = xa_load(&client->memories, id);
	if (!memory)
		return -ENOENT;
	error = bp_imm_memory_untell(client, id);
	if (error)
		return error;
	xa_erase(&client->memories, id);
	bp_imm_memory_free(client, memory, true);
	return 0;
}

int bp_imm_memory_register(struct bp_imm_client *client, struct bp_imm_memory_register __user *argument)
{
	struct bp_imm_memory_register request;
	struct bp_imm_memory *memory;
	__le16 *nodes;
	int error;

	if (copy_from_user(&request, argument, sizeof(request)))
		return -EFAULT;
	if (request.reserved || request.flags & ~BP_IMM_MEMORY_FLAGS)
		return -EINVAL;
	nodes = bp_imm_copy_nodes(request.nodes, request.node_count);
	if (IS_ERR(nodes))
		return PTR_ERR(nodes);
	memory = bp_imm_memory_new(client, &request);
	if (IS_ERR(memory)) {
		error = PTR_ERR(memory);
		goto free_nodes;
	}
	mutex_lock(&client->lock);
	error = bp_imm_memory_attach(client, memory, &request, nodes);
	request.memory = memory->id;
	mutex_unlock(&client->lock);
	if (error) {
		bp_imm_unpin(memory);
		bp_imm_uncharge(client, memory->page_count);
		kfree(memory);
		goto free_nodes;
	}
	if (put_user(request.memory, &argument->memory)) {
		error = -EFAULT;
		mutex_lock(&client->lock);
		bp_imm_memory_detach(client, request.memory);
		mutex_unlock(&client->lock);
	}
free_nodes:
	kfree(nodes);
	return error;
}

int bp_imm_memory_unregister(struct bp_imm_client *client, struct bp_imm_memory_unregister __user *argument)
{
	struct bp_imm_memory_unregister request;
	int error;

	if (copy_from_user(&request, argument, sizeof(request)))
		return -EFAULT;
	if (request.reserved)
		return -EINVAL;
	mutex_lock(&client->lock);
	error = bp_imm_memory_detach(client, request.memory);
	mutex_unlock(&client->lock);
	return error;
}
