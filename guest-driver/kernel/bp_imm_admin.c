// SPDX-License-Identifier: GPL-2.0
/* Registers of the messaging module: identification, start and reset, privileged commands. */

#include <linux/delay.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/iopoll.h>

#include "bp_imm.h"

#define BP_IMM_FEATURES (BP_IMM_FEATURE_ONE_SIDED | BP_IMM_FEATURE_ATOMICS | BP_IMM_FEATURE_WAIT | BP_IMM_FEATURE_LIFE)

/* A module that is there takes microseconds; a host that is paused may take its time. */
#define BP_IMM_RESET_US (2 * USEC_PER_SEC)

/* A command for which the server has to ask its client, message by message, takes milliseconds. */
#define BP_IMM_ADMIN_POLL_US 100
#define BP_IMM_ADMIN_BUSY_US (10 * USEC_PER_SEC)

/**
 * bp_imm_read32 - reads a register
 * @device: the device
 * @offset: BP_IMM_REG_*
 *
 * Return: its value; all-ones, without an access, if the device server is known to have ended
 */
u32 bp_imm_read32(struct bp_imm_device *device, u32 offset)
{
	return bp_imm_dead(device) ? ~0U : readl(device->registers + offset);
}

/**
 * bp_imm_read64 - the same for a 64-bit register or counter
 * @device: the device
 * @offset: BP_IMM_REG_* or in BP_IMM_STATISTICS
 *
 * Return: its value, or all-ones
 */
u64 bp_imm_read64(struct bp_imm_device *device, u32 offset)
{
	return bp_imm_dead(device) ? ~0ULL : readq(device->registers + offset);
}

/**
 * bp_imm_error_text - what an error code of the module means, and what to do
 * @error: BP_IMM_ERROR_*
 *
 * Return: text for the log
 */
const char *bp_imm_error_text(u32 error)
{
	switch (error) {
	case BP_IMM_ERROR_NONE:
		return "no error";
	case BP_IMM_ERROR_NOT_MAPPED:
		return "the event table is not in guest memory";
	case BP_IMM_ERROR_NOT_SHARED:
		return "guest memory is not shared with the device server: use memory-backend-memfd,share=on";
	case BP_IMM_ERROR_BROKEN_MEMORY:
		return "guest memory was truncated on the host";
	case BP_IMM_ERROR_INTERNAL:
		return "fault of the device server, see its log";
	default:
		return "unknown error";
	}
}

/* Maps the life page, if the module has one: it lies after the last context page. */
static int bp_imm_find_life(struct bp_imm_device *device)
{
	resource_size_t offset = (resource_size_t)device->context_count * device->context_stride;
	struct bp_imm_life __iomem *life;

	if (!(readq(device->registers + BP_IMM_REG_FEATURES) & BP_IMM_FEATURE_LIFE))
		return 0;
	if (offset + sizeof(*life) > pci_resource_len(device->pdev, BP_IMM_CONTEXT_BAR)) {
		dev_err(&device->pdev->dev, "no room for the life page in the BAR of the contexts\n");
		return -EINVAL;
	}
	life = devm_ioremap(&device->pdev->dev, device->contexts_start + offset, sizeof(*life));
	if (!life)
		return -ENOMEM;
	/* 0: the server's kernel cannot tell. */
	if (readl(&life->server))
		device->life = life;
	return 0;
}

/**
 * bp_imm_identify - reads what the module is and has
 * @device: with its BARs known, state INIT
 *
 * Return: 0, -ENODEV for something that is no messaging module or a dead one, -EINVAL for values that cannot be,
 * -ENOMEM
 */
int bp_imm_identify(struct bp_imm_device *device)
{
	struct device *dev = &device->pdev->dev;
	u64 bytes = min(pci_resource_len(device->pdev, BP_IMM_CONTEXT_BAR),
			pci_resource_len(device->pdev, BP_IMM_DOORBELL_BAR));
	u32 magic = bp_imm_read32(device, BP_IMM_REG_MAGIC);
	u32 version = bp_imm_read32(device, BP_IMM_REG_VERSION);

	if (magic != BP_IMM_MAGIC) {
		dev_err(dev, "magic is %#x: the device server is gone, or this is no messaging module\n", magic);
		return -ENODEV;
	}
	if (version >> 16 != BP_IMM_VERSION >> 16) {
		dev_err(dev, "interface version %u.%u, this driver needs %u: update it\n", version >> 16,
			version & 0xffff, BP_IMM_VERSION >> 16);
		return -ENODEV;
	}
	device->node_id = bp_imm_read32(device, BP_IMM_REG_NODE_ID);
	device->context_count = bp_imm_read32(device, BP_IMM_REG_CONTEXT_COUNT);
	device->context_stride = bp_imm_read32(device, BP_IMM_REG_CONTEXT_STRIDE);
	device->ring_count = bp_imm_read32(device, BP_IMM_REG_RING_COUNT);
	device->memory_count = bp_imm_read32(device, BP_IMM_REG_MEMORY_COUNT);
	device->max_pages = bp_imm_read32(device, BP_IMM_REG_MAX_PAGES);
	if (!device->context_count || !device->memory_count || !device->max_pages ||
	    (u64)device->context_count * device->context_stride > bytes) {
		dev_err(dev, "%u contexts of %u bytes do not fit into BARs of %llu bytes\n",
			device->context_count, device->context_stride, bytes);
		return -EINVAL;
	}
	/* A page that is mapped must hold one context and nothing of the next. */
	if (device->context_stride % PAGE_SIZE || device->contexts_start % PAGE_SIZE ||
	    device->doorbells_start % PAGE_SIZE) {
		dev_err(dev, "context stride of %u bytes is not a multiple of this kernel's page size, %lu\n",
			device->context_stride, PAGE_SIZE);
		return -EINVAL;
	}
	return bp_imm_find_life(device);
}

/**
 * bp_imm_reset - puts the module into its initial state; when it returns 0, nothing touches guest memory any more
 * @device: the device
 *
 * Return: 0, -ENODEV if the module is dead, -ETIMEDOUT if it does not finish
 */
int bp_imm_reset(struct bp_imm_device *device)
{
	u32 control;
	int error;

	if (bp_imm_dead(device))
		return -ENODEV;
	writel(BP_IMM_CONTROL_RESET, device->registers + BP_IMM_REG_CONTROL);
	error = read_poll_timeout(bp_imm_read32, control,
				  PCI_POSSIBLE_ERROR(control) || !(control & BP_IMM_CONTROL_RESET),
				  USEC_PER_MSEC, BP_IMM_RESET_US, false, device, BP_IMM_REG_CONTROL);
	return !error && PCI_POSSIBLE_ERROR(control) ? -ENODEV : error;
}

/**
 * bp_imm_start - enables a module that was reset
 * @device: with event table and command block allocated
 *
 * Return: 0, -ENODEV, or -EIO if the module refuses
 */
int bp_imm_start(struct bp_imm_device *device)
{
	void __iomem *registers = device->registers;
	u32 status;

	memset(device->events, 0, device->events_bytes);
	device->features = readq(registers + BP_IMM_REG_FEATURES) & BP_IMM_FEATURES;
	writeq(device->features, registers + BP_IMM_REG_DRIVER_FEATURES);
	writeq(device->events_dma, registers + BP_IMM_REG_EVENT_TABLE);
	writeq(device->admin_dma, registers + BP_IMM_REG_ADMIN_COMMAND);
	writel(BP_IMM_CONTROL_ENABLE, registers + BP_IMM_REG_CONTROL);
	status = bp_imm_read32(device, BP_IMM_REG_STATUS);
	if (status == BP_IMM_STATE_RUNNING)
		return 0;
	if (PCI_POSSIBLE_ERROR(status))
		return -ENODEV;
	dev_err(&device->pdev->dev, "the module does not start: %s\n",
		bp_imm_error_text(bp_imm_read32(device, BP_IMM_REG_ERROR)));
	return -EIO;
}

static int bp_imm_admin_error(struct bp_imm_device *device, u32 status)
{
	switch (status) {
	case BP_IMM_ADMIN_OK:
		return 0;
	case BP_IMM_ADMIN_BAD_COMMAND:
		return -EOPNOTSUPP;
	case BP_IMM_ADMIN_BAD_CONTEXT:
	case BP_IMM_ADMIN_STALE:
	case BP_IMM_ADMIN_NOT_ENABLED:
		return -ENODEV;
	case BP_IMM_ADMIN_BAD_MEMORY:
	case BP_IMM_ADMIN_BAD_RING:
		return -ENOENT;
	case BP_IMM_ADMIN_BAD_ADDRESS:
		return -EFAULT;
	case BP_IMM_ADMIN_IN_USE:
		return -EBUSY;
	case BP_IMM_ADMIN_NO_SPACE:
		return -ENOSPC;
	case BP_IMM_ADMIN_BAD_VALUE:
		return -EINVAL;
	default:
		/* All-ones is a dead module, anything else one of a newer version, a broken or a stuck one. */
		bp_imm_health_ask(device);
		return PCI_POSSIBLE_ERROR(status) ? -ENODEV : -EIO;
	}
}

/* Waits until the module has carried out the latest command. Returns BP_IMM_ADMIN_BUSY if it does not get that far. */
static u32 bp_imm_admin_status(struct bp_imm_device *device)
{
	u32 status;

	device->admin_late = read_poll_timeout(bp_imm_read32, status, status != BP_IMM_ADMIN_BUSY,
					       BP_IMM_ADMIN_POLL_US, BP_IMM_ADMIN_BUSY_US, false, device,
					       BP_IMM_REG_ADMIN_STATUS);
	return status;
}

/**
 * bp_imm_admin - has the module carry out a privileged command
 * @device: the device, started
 * @command: the command; its field nodes is filled in here
 * @nodes: list of command->node_count nodes
 * @result: result of the command, or NULL
 *
 * Context: may sleep; takes admin_lock
 * Return: 0 or a negative errno
 */
int bp_imm_admin(struct bp_imm_device *device, const struct bp_imm_admin *command,
		 const __le16 *nodes, u64 *result)
{
	u32 count = le32_to_cpu(command->node_count);
	u64 value;
	u32 status;

	if (bp_imm_dead(device)) {
		bp_imm_health_ask(device);
		return -ENODEV;
	}
	mutex_lock(&device->admin_lock);
	/* A command that was given up may still be read, and its status would be taken for that of this one. */
	if (device->admin_late && bp_imm_admin_status(device) == BP_IMM_ADMIN_BUSY) {
		mutex_unlock(&device->admin_lock);
		return bp_imm_admin_error(device, BP_IMM_ADMIN_BUSY);
	}
	*device->admin = *command;
	if (count) {
		memcpy(device->admin + 1, nodes, count * sizeof(*nodes));
		device->admin->nodes = cpu_to_le64(device->admin_dma + sizeof(*device->admin));
	}
	/*
	 * The command before the doorbell: writel() has that barrier. The module carries the command out before the
	 * doorbell write completes, and the reads below cannot pass that write (AdminCommand.java). Only if guest
	 * memory is not shared with the device server it takes longer, as the server has to ask for the command.
	 */
	writel(1, device->registers + BP_IMM_REG_ADMIN_DOORBELL);
	status = bp_imm_admin_status(device);
	value = bp_imm_read64(device, BP_IMM_REG_ADMIN_RESULT);
	mutex_unlock(&device->admin_lock);
	if (result)
		*result = value;
	return bp_imm_admin_error(device, status);
}
