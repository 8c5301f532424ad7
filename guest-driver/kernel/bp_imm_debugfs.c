// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/bp_imm/bp_imm<N>/: tables of contexts, memories and rings, one a line after a line of names
 * (read by bp-top).
 */

#include <linux/cred.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/user_namespace.h>

#include "bp_imm.h"

static struct dentry *bp_imm_debugfs_root;

static const char *bp_imm_state_name(enum bp_imm_state state)
{
	static const char *const names[] = { "init", "started", "zombie" };

	return names[state];
}

static int contexts_show(struct seq_file *seq, void *unused)
{
	struct bp_imm_device *device = seq->private;
	struct bp_imm_client *client;
	u32 pending;

	seq_puts(seq, "context generation state uid pid events pending command\n");
	mutex_lock(&device->clients_lock);
	list_for_each_entry(client, &device->clients, entry) {
		if (bp_imm_event_count(client, &pending))
			pending = 0;
		seq_printf(seq, "%u %u %s %u %d %u %u %s\n", client->id, client->generation,
			   bp_imm_state_name(client->state), from_kuid_munged(&init_user_ns, client->cred->uid),
			   client->pid, (u32)atomic_read(&client->events_seen), pending, client->comm);
	}
	mutex_unlock(&device->clients_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(contexts);

static int memories_show(struct seq_file *seq, void *unused)
{
	struct bp_imm_device *device = seq->private;
	struct bp_imm_client *client;
	struct bp_imm_memory *memory;
	unsigned long id;

	seq_puts(seq, "context memory bytes pages segments flags\n");
	mutex_lock(&device->clients_lock);
	list_for_each_entry(client, &device->clients, entry) {
		mutex_lock(&client->lock);
		xa_for_each(&client->memories, id, memory)
			seq_printf(seq, "%u %u %llu %lu %u %#x\n", client->id, memory->id, memory->bytes,
				   memory->page_count, memory->pages.nents, memory->flags);
		mutex_unlock(&client->lock);
	}
	mutex_unlock(&device->clients_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(memories);

static int rings_show(struct seq_file *seq, void *unused)
{
	struct bp_imm_device *device = seq->private;
	struct bp_imm_client *client;
	struct bp_imm_ring_info *ring;
	unsigned long id;

	seq_puts(seq, "ring context memory offset bytes flags\n");
	mutex_lock(&device->clients_lock);
	list_for_each_entry(client, &device->clients, entry) {
		mutex_lock(&client->lock);
		xa_for_each(&client->rings, id, ring)
			seq_printf(seq, "%u %u %u %llu %llu %#x\n", ring->id, client->id, ring->memory,
				   ring->offset, ring->bytes, ring->flags);
		mutex_unlock(&client->lock);
	}
	mutex_unlock(&device->clients_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rings);

void bp_imm_debugfs_add(struct bp_imm_device *device)
{
	device->debugfs = debugfs_create_dir(device->name, bp_imm_debugfs_root);
	debugfs_create_file("contexts", 0400, device->debugfs, device, &contexts_fops);
	debugfs_create_file("memories", 0400, device->debugfs, device, &memories_fops);
	debugfs_create_file("rings", 0400, device->debugfs, device, &rings_fops);
}

void bp_imm_debugfs_remove(struct bp_imm_device *device)
{
	debugfs_remove(device->debugfs);
}

void bp_imm_debugfs_init(void)
{
	bp_imm_debugfs_root = debugfs_create_dir(BP_IMM_NAME, NULL);
}

void bp_imm_debugfs_exit(void)
{
	debugfs_remove(bp_imm_debugfs_root);
}
