// SPDX-License-Identifier: GPL-2.0
/*
 * Events of contexts: interrupts, read(2), poll(2).
 *
 * The module counts events of context n in word n of the event table, then raises the interrupt of n's vector. A reader
 * queues itself, then looks at the word; the handler wakes whoever is queued. The module stores the word before it
 * raises the interrupt, and queueing is a full barrier before the reader's load, so that either the reader sees the
 * event or the handler sees the reader (partner: EventTable.raise() in the device server, package imm).
 */

#include <linux/io.h>

#include "bp_imm.h"

/* Its name before Linux 6.8. */
#ifndef PCI_IRQ_INTX
#define PCI_IRQ_INTX PCI_IRQ_LEGACY
#endif

/* Caller holds the vector's lock. */
static u32 bp_imm_event_now(struct bp_imm_client *client)
{
	return le32_to_cpu(READ_ONCE(client->device->events[client->id]));
}

/**
 * bp_imm_event_count - number of events that were not read yet
 * @client: the context
 * @count: result
 *
 * Return: 0, or -ENODEV if the context is gone
 */
int bp_imm_event_count(struct bp_imm_client *client, u32 *count)
{
	struct bp_imm_vector *vector = &client->device->vectors[bp_imm_vector_of(client->id)];
	int error = -ENODEV;
	unsigned long flags;

	spin_lock_irqsave(&vector->lock, flags);
	if (client->state == BP_IMM_STARTED) {
		*count = bp_imm_events_between(bp_imm_event_now(client),
					       atomic_read(&client->events_seen));
		error = 0;
	}
	spin_unlock_irqrestore(&vector->lock, flags);
	return error;
}

static int bp_imm_event_take(struct bp_imm_client *client, u32 *count)
{
	int seen, error;

	do {
		seen = atomic_read(&client->events_seen);
		error = bp_imm_event_count(client, count);
		if (error)
			return error;
	} while (*count && !atomic_try_cmpxchg(&client->events_seen, &seen, seen + *count));
	return 0;
}

static bool bp_imm_event_ready(struct bp_imm_client *client)
{
	u32 count;

	return bp_imm_event_count(client, &count) || count;
}

ssize_t bp_imm_read(struct file *file, char __user *buffer, size_t bytes, loff_t *offset)
{
	struct bp_imm_client *client = file->private_data;
	u64 value;
	u32 count;
	int error;

	if (bytes < sizeof(value))
		return -EINVAL;
	/* A child would take its parent's events. */
	if (current->mm != client->notifier.mm)
		return -EPERM;
	for (;;) {
		error = bp_imm_event_take(client, &count);
		if (error)
			return error;
		if (count)
			break;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		error = wait_event_interruptible(client->wait, bp_imm_event_ready(client));
		if (error)
			return error;
	}
	value = count;
	return copy_to_user(buffer, &value, sizeof(value)) ? -EFAULT : sizeof(value);
}

__poll_t bp_imm_poll(struct file *file, poll_table *table)
{
	struct bp_imm_client *client = file->private_data;
	u32 count;

	poll_wait(file, &client->wait, table);
	/* Pairs with the wake-up in bp_imm_event_wake(): see the head of this file. */
	smp_mb();
	if (bp_imm_event_count(client, &count))
		return EPOLLERR | EPOLLHUP;
	return count ? EPOLLIN | EPOLLRDNORM : 0;
}

/**
 * bp_imm_event_attach - has interrupts wake a context; it becomes STARTED here
 * @client: state INIT, with its number
 */
void bp_imm_event_attach(struct bp_imm_client *client)
{
	struct bp_imm_vector *vector = &client->device->vectors[bp_imm_vector_of(client->id)];

	spin_lock_irq(&vector->lock);
	atomic_set(&client->events_seen, bp_imm_event_now(client));
	list_add_tail(&client->vector_entry, &vector->clients);
	client->state = BP_IMM_STARTED;
	spin_unlock_irq(&vector->lock);
}

static void bp_imm_event_wake(struct bp_imm_vector *vector)
{
	struct bp_imm_client *client;

	spin_lock(&vector->lock);
	list_for_each_entry(client, &vector->clients, vector_entry) {
		if (bp_imm_event_now(client) == (u32)atomic_read(&client->events_seen))
			continue;
		wake_up_interruptible(&client->wait);
	}
	spin_unlock(&vector->lock);
}

static irqreturn_t bp_imm_context_irq(int irq, void *data)
{
	bp_imm_event_wake(data);
	return IRQ_HANDLED;
}

static irqreturn_t bp_imm_module_irq(int irq, void *data)
{
	struct bp_imm_device *device = data;
	u32 events = bp_imm_read32(device, BP_IMM_REG_EVENT_STATUS);
	unsigned int i;

	if (!events)
		return device->msix ? IRQ_HANDLED : IRQ_NONE;
	if (PCI_POSSIBLE_ERROR(events)) {
		bp_imm_health_ask(device);
		return IRQ_NONE;
	}
	/* Cleared before the table is looked at: an event that comes after this raises the interrupt again. */
	writel(events, device->registers + BP_IMM_REG_EVENT_STATUS);
	if (events & BP_IMM_EVENT_ERROR)
		bp_imm_health_ask(device);
	if (events & BP_IMM_EVENT_CONTEXT)
		for (i = 0; i < BP_IMM_CONTEXT_VECTORS; i++)
			bp_imm_event_wake(&device->vectors[i]);
	return IRQ_HANDLED;
}

/**
 * bp_imm_irq_request - sets up interrupts: MSI-X, or INTx where the kernel was told not to use MSI
 * @device: with its vectors initialised
 *
 * With INTx the client takes mapped pages away while an interrupt is pending, which makes every access slow.
 *
 * Return: 0 or a negative errno
 */
int bp_imm_irq_request(struct bp_imm_device *device)
{
	struct pci_dev *pdev = device->pdev;
	unsigned int count = 1 + BP_IMM_CONTEXT_VECTORS;
	unsigned int i;
	int error;

	error = pci_alloc_irq_vectors(pdev, count, count, PCI_IRQ_MSIX);
	device->msix = error > 0;
	if (!device->msix) {
		dev_warn(&pdev->dev, "no MSI-X: contexts will be slow\n");
		error = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_INTX);
		if (error < 0)
			return error;
		count = 1;
	}
	error = pci_request_irq(pdev, 0, bp_imm_module_irq, NULL, device, "%s-module", device->name);
	if (error)
		goto free_vectors;
	for (i = 1; i < count; i++) {
		error = pci_request_irq(pdev, i, bp_imm_context_irq, NULL, &device->vectors[i - 1],
					"%s-contexts-%u", device->name, i - 1);
		if (error)
			goto free_irqs;
	}
	return 0;

free_irqs:
	while (--i >= 1)
		pci_free_irq(pdev, i, &device->vectors[i - 1]);
	pci_free_irq(pdev, 0, device);
free_vectors:
	pci_free_irq_vectors(pdev);
	return error;
}

/**
 * bp_imm_irq_free - undoes bp_imm_irq_request()
 * @device: the device
 */
void bp_imm_irq_free(struct bp_imm_device *device)
{
	unsigned int i;

	if (device->msix)
		for (i = 1; i <= BP_IMM_CONTEXT_VECTORS; i++)
			pci_free_irq(device->pdev, i, &device->vectors[i - 1]);
	pci_free_irq(device->pdev, 0, device);
	pci_free_irq_vectors(device->pdev);
}
