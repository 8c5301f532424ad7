// SPDX-License-Identifier: GPL-2.0
/* Ring buffers in registered memory: what PUT appends to and GET removes from, at the module's hands alone. */

#include <linux/slab.h>
#include <linux/uaccess.h>

#include "bp_imm.h"

#define BP_IMM_RING_FLAGS (BP_IMM_RING_SHARED_CONSUMERS | BP_IMM_RING_WRITE_ONLY | BP_IMM_RING_READ_ONLY)

/* Caller holds the context's lock. */
static int bp_imm_ring_check(struct bp_imm_client *client, const struct bp_imm_ring_create *request)
{
	struct bp_imm_memory *memory;

	if (client->state != BP_IMM_STARTED)
		return -ENODEV;
	memory = xa_load(&client->memories, request->memory);
	if (!memory)
		return -ENOENT;
	/* The header's words must not straddle pages, which need not lie side by side. */
	if (offset_in_page(memory->address) || !bp_imm_ring_fits(request->offset, request->bytes, memory->bytes))
		return -EINVAL;
	if (request->ring != BP_IMM_ANY_RING && request->ring >= client->device->ring_count)
		return -EINVAL;
	return 0;
}

static int bp_imm_ring_untell(struct bp_imm_client *client, u32 id)
{
	const struct bp_imm_admin command = {
		.opcode = cpu_to_le16(BP_IMM_ADMIN_OP_RING_DESTROY),
		.context = cpu_to_le32(client->id),
		.generation = cpu_to_le32(client->generation),
		.ring = cpu_to_le32(id),
	};

	return bp_imm_admin(client->device, &command, NULL, NULL);
}

/* Caller holds the context's lock. */
static int bp_imm_ring_attach(struct bp_imm_client *client, const struct bp_imm_ring_create *request,
			      const __le16 *nodes, struct bp_imm_ring_info *ring)
{
	const struct bp_imm_admin command = {
		.opcode = cpu_to_le16(BP_IMM_ADMIN_OP_RING_CREATE),
		.flags = cpu_to_le16(request->flags),
		.context = cpu_to_le32(client->id),
		.generation = cpu_to_le32(client->generation),
		.memory = cpu_to_le32(request->memory),
		.bytes = cpu_to_le64(request->bytes),
		.key = cpu_to_le64(request->key),
		.node_count = cpu_to_le32(request->node_count),
		.ring = cpu_to_le32(request->ring),
		.ring_offset = cpu_to_le64(request->offset),
	};
	u64 id;
	int error;

	error = bp_imm_ring_check(client, request);
	if (error)
		return error;
	error = bp_imm_admin(client->device, &command, nodes, &id);
	if (error)
		return error;
	ring->id = id;
	ring->memory = request->memory;
	ring->offset = request->offset;
	ring->bytes = request->bytes;
	ring->flags = request->flags;
	error = xa_insert(&client->rings, ring->id, ring, GFP_KERNEL_ACCOUNT);
	if (error)
		bp_imm_ring_untell(client, ring->id);
	return error;
}

/* Caller holds the context's lock. */
static int bp_imm_ring_detach(struct bp_imm_client *client, u32 id)
{
	int error;

	if (client->state != BP_IMM_STARTED)
		return -ENODEV;
	if (!xa_load(&client->rings, id))
		return -ENOENT;
	error = bp_imm_ring_untell(client, id);
	if (error)
		return error;
	kfree(xa_erase(&client->rings, id));
	return 0;
}

/**
 * bp_imm_ring_free_all - forgets all rings of a context that has ended
 * @client: the context; caller holds its lock
 */
void bp_imm_ring_free_all(struct bp_imm_client *client)
{
	struct bp_imm_ring_info *ring;
	unsigned long id;

	xa_for_each(&client->rings, id, ring)
		kfree(xa_erase(&client->rings, id));
}

int bp_imm_ring_create(struct bp_imm_client *client, struct bp_imm_ring_create __user *argument)
{
	struct bp_imm_ring_create request;
	struct bp_imm_ring_info *ring;
	__le16 *nodes;
	int error;

	if (copy_from_user(&request, argument, sizeof(request)))
		return -EFAULT;
	if (request.flags & ~BP_IMM_RING_FLAGS)
		return -EINVAL;
	nodes = bp_imm_copy_nodes(request.nodes, request.node_count);
	if (IS_ERR(nodes))
		return PTR_ERR(nodes);
	ring = kzalloc(sizeof(*ring), GFP_KERNEL_ACCOUNT);
	if (!ring) {
		error = -ENOMEM;
		goto free_nodes;
	}
	mutex_lock(&client->lock);
	error = bp_imm_ring_attach(client, &request, nodes, ring);
	request.ring = ring->id;
	mutex_unlock(&client->lock);
	if (error) {
		kfree(ring);
		goto free_nodes;
	}
	if (put_user(request.ring, &argument->ring)) {
		error = -EFAULT;
		mutex_lock(&client->lock);
		bp_imm_ring_detach(client, request.ring);
		mutex_unlock(&client->lock);
	}
free_nodes:
	kfree(nodes);
	return error;
}

int bp_imm_ring_destroy(struct bp_imm_client *client, struct bp_imm_ring_destroy __user *argument)
{
	struct bp_imm_ring_destroy request;
	int error;

	if (copy_from_user(&request, argument, sizeof(request)))
		return -EFAULT;
	if (request.reserved)
		return -EINVAL;
	mutex_lock(&client->lock);
	error = bp_imm_ring_detach(client, request.ring);
	mutex_unlock(&client->lock);
	return error;
}
