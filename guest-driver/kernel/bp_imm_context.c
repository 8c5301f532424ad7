// SPDX-License-Identifier: GPL-2.0
/*
 * An open file is one GET/PUT context, bound to the address space that opened it. The process maps the context's page
 * of registers and its doorbell page; from then on the operating system is out of the way.
 */

#include <linux/compat.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "bp_imm.h"

static unsigned int contexts_per_user = 64;
module_param(contexts_per_user, uint, 0644);
MODULE_PARM_DESC(contexts_per_user, "contexts that a user without CAP_SYS_RESOURCE may have open on a device");

/**
 * bp_imm_copy_nodes - copies a list of node ids from the process
 * @address: of the list
 * @count: ids in it
 *
 * Return: the list in the module's byte order, for kfree(); NULL if it is empty; or an error
 */
__le16 *bp_imm_copy_nodes(u64 address, u32 count)
{
	__le16 *nodes;
	u32 i;

	if (!count)
		return NULL;
	if (count > BP_IMM_MAX_NODES)
		return ERR_PTR(-EINVAL);
	nodes = memdup_user(u64_to_user_ptr(address), count * sizeof(*nodes));
	if (IS_ERR(nodes))
		return nodes;
	for (i = 0; i < count; i++)
		nodes[i] = cpu_to_le16(((__force u16 *)nodes)[i]);
	return nodes;
}

/* Caller holds the device's clients_lock. */
static bool bp_imm_user_may_open(struct bp_imm_device *device, kuid_t uid)
{
	struct bp_imm_client *client;
	unsigned int count = 0;

	list_for_each_entry(client, &device->clients, entry)
		count += uid_eq(client->cred->uid, uid);
	return count < READ_ONCE(contexts_per_user) || capable(CAP_SYS_RESOURCE);
}

static int bp_imm_client_tell(struct bp_imm_client *client, u16 opcode, u64 *result)
{
	const struct bp_imm_admin command = {
		.opcode = cpu_to_le16(opcode),
		.context = cpu_to_le32(client->id),
		.generation = cpu_to_le32(client->generation),
	};

	return bp_imm_admin(client->device, &command, NULL, result);
}

/* Takes a context of the module; it is STARTED then. Caller holds the device's clients_lock. */
static int bp_imm_client_start(struct bp_imm_client *client)
{
	struct bp_imm_device *device = client->device;
	u64 generation;
	int id, error;

	if (device->state != BP_IMM_STARTED)
		return -ENODEV;
	if (!bp_imm_user_may_open(device, client->cred->uid))
		return -EDQUOT;
	id = ida_alloc_max(&device->ids, device->context_count - 1, GFP_KERNEL);
	if (id < 0)
		return id == -ENOSPC ? -EBUSY : id;
	client->id = id;
	error = bp_imm_client_tell(client, BP_IMM_ADMIN_OP_CONTEXT_OPEN, &generation);
	if (error) {
		ida_free(&device->ids, id);
		return error;
	}
	client->generation = generation;
	list_add_tail(&client->entry, &device->clients);
	atomic_inc(&device->open_contexts);
	bp_imm_event_attach(client);
	bp_imm_health_watch(device);
	return 0;
}

/**
 * bp_imm_client_end - makes a context a ZOMBIE: closes it, gives its memories back, wakes its waiters
 * @client: the context
 * @tell: whether the module still knows the context; false after a reset, or if it is dead or gone
 *
 * Context: may sleep; takes the context's lock. Harmless if the context is not STARTED.
 */
void bp_imm_client_end(struct bp_imm_client *client, bool tell)
{
	struct bp_imm_device *device = client->device;
	struct bp_imm_vector *vector;
	int error = 0;
	bool safe;

	mutex_lock(&client->lock);
	if (client->state != BP_IMM_STARTED) {
		mutex_unlock(&client->lock);
		return;
	}
	/* Fault handlers that come after this map dead pages; the pages mapped before it are the caller's to zap. */
	vector = &device->vectors[bp_imm_vector_of(client->id)];
	down_write(&device->map_lock);
	spin_lock_irq(&vector->lock);
	client->state = BP_IMM_ZOMBIE;
	list_del(&client->vector_entry);
	spin_unlock_irq(&vector->lock);
	up_write(&device->map_lock);
	atomic_dec(&device->open_contexts);

	/* Actions end before the pages go that they use. */
	if (tell)
		error = bp_imm_client_tell(client, BP_IMM_ADMIN_OP_CONTEXT_CLOSE, NULL);
	safe = !error || error == -ENODEV;
	if (safe)
		ida_free(&device->ids, client->id);
	else
		dev_err(&device->pdev->dev, "context %u does not close (%d): its memory stays pinned\n",
			client->id, error);
	bp_imm_ring_free_all(client);
	bp_imm_memory_free_all(client, safe);
	wake_up_all(&client->wait);
	mutex_unlock(&client->lock);
}

/* The address space that opened the context ends (exit, exec): so does the context, whoever else holds the file. */
static void bp_imm_mm_release(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	bp_imm_client_end(container_of(notifier, struct bp_imm_client, notifier), true);
}

static const struct mmu_notifier_ops bp_imm_mmu_ops = {
	.release = bp_imm_mm_release,
};

static void bp_imm_client_free(struct bp_imm_client *client)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(client->dead_pages); i++)
		if (client->dead_pages[i])
			__free_page(client->dead_pages[i]);
	xa_destroy(&client->memories);
	xa_destroy(&client->rings);
	put_cred(client->cred);
	bp_imm_device_put(client->device);
	kfree(client);
}

static int bp_imm_open(struct inode *inode, struct file *file)
{
	struct bp_imm_device *device = container_of(file->private_data, struct bp_imm_device, misc);
	struct bp_imm_client *client;
	int error;

	if ((file->f_mode & (FMODE_READ | FMODE_WRITE)) != (FMODE_READ | FMODE_WRITE))
		return -EACCES;
	client = kzalloc(sizeof(*client), GFP_KERNEL_ACCOUNT);
	if (!client)
		return -ENOMEM;
	/* misc_open() keeps the device registered until this returns. */
	kref_get(&device->ref);
	client->device = device;
	client->mapping = file->f_mapping;
	client->cred = get_current_cred();
	client->pid = task_tgid_nr(current);
	get_task_comm(client->comm, current);
	mutex_init(&client->lock);
	init_waitqueue_head(&client->wait);
	xa_init_flags(&client->memories, XA_FLAGS_ALLOC);
	xa_init(&client->rings);
	client->notifier.ops = &bp_imm_mmu_ops;
	error = mmu_notifier_register(&client->notifier, current->mm);
	if (error)
		goto free_context;

	mutex_lock(&device->clients_lock);
	error = bp_imm_client_start(client);
	mutex_unlock(&device->clients_lock);
	if (error)
		goto unregister_notifier;
	file->private_data = client;
	return nonseekable_open(inode, file);

unregister_notifier:
	mmu_notifier_unregister(&client->notifier, client->notifier.mm);
free_context:
	bp_imm_client_free(client);
	return error;
}

static int bp_imm_release(struct inode *inode, struct file *file)
{
	struct bp_imm_client *client = file->private_data;
	struct bp_imm_device *device = client->device;

	/* No mapping is left here, each holds the file. */
	bp_imm_client_end(client, true);
	mutex_lock(&device->clients_lock);
	list_del(&client->entry);
	mutex_unlock(&device->clients_lock);
	mmu_notifier_unregister(&client->notifier, client->notifier.mm);
	bp_imm_client_free(client);
	return 0;
}

static long bp_imm_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct bp_imm_client *client = file->private_data;
	void __user *pointer = (void __user *)argument;

	if (current->mm != client->notifier.mm)
		return -EPERM;
	switch (command) {
	case BP_IMM_IOC_MEMORY_REGISTER:
		return bp_imm_memory_register(client, pointer);
	case BP_IMM_IOC_MEMORY_UNREGISTER:
		return bp_imm_memory_unregister(client, pointer);
	case BP_IMM_IOC_RING_CREATE:
		return bp_imm_ring_create(client, pointer);
	case BP_IMM_IOC_RING_DESTROY:
		return bp_imm_ring_destroy(client, pointer);
	default:
		return -ENOTTY;
	}
}

const struct file_operations bp_imm_fops = {
	.owner = THIS_MODULE,
	.open = bp_imm_open,
	.release = bp_imm_release,
	.read = bp_imm_read,
	.poll = bp_imm_poll,
	.mmap = bp_imm_mmap,
	.unlocked_ioctl = bp_imm_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
