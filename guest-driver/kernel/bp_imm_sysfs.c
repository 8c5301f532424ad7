// SPDX-License-Identifier: GPL-2.0
/* /sys/class/misc/bp_imm<N>/: what the module has, and how it is. One value a file. */

#include <linux/device.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/sysfs.h>

#include "bp_imm.h"

static struct bp_imm_device *bp_imm_of(struct device *dev)
{
	return container_of(dev_get_drvdata(dev), struct bp_imm_device, misc);
}

#define BP_IMM_VALUE(_name, _format, _value)						\
static ssize_t _name##_show(struct device *dev, struct device_attribute *attribute,	\
			    char *buffer)						\
{											\
	struct bp_imm_device *device = bp_imm_of(dev);					\
											\
	return sysfs_emit(buffer, _format "\n", _value);				\
}											\
static DEVICE_ATTR_RO(_name)

BP_IMM_VALUE(node_id, "%u", device->node_id);
BP_IMM_VALUE(contexts, "%u", device->context_count);
BP_IMM_VALUE(available_contexts, "%u", device->context_count - atomic_read(&device->open_contexts));
BP_IMM_VALUE(context_stride, "%u", device->context_stride);
BP_IMM_VALUE(rings, "%u", device->ring_count);
BP_IMM_VALUE(memories, "%u", device->memory_count);
BP_IMM_VALUE(max_pages, "%u", device->max_pages);
BP_IMM_VALUE(features, "%#llx", device->features);
BP_IMM_VALUE(pinned_bytes, "%llu", (u64)atomic64_read(&device->pinned_pages) << PAGE_SHIFT);
BP_IMM_VALUE(interrupts, "%s", device->msix ? "msix" : "intx");
BP_IMM_VALUE(epoch, "%u", readl(device->registers + BP_IMM_REG_EPOCH));
BP_IMM_VALUE(bad_accesses, "%u", readl(device->registers + BP_IMM_REG_BAD_ACCESSES));

static ssize_t state_show(struct device *dev, struct device_attribute *attribute, char *buffer)
{
	struct bp_imm_device *device = bp_imm_of(dev);
	u32 status = readl(device->registers + BP_IMM_REG_STATUS);

	if (PCI_POSSIBLE_ERROR(status))
		return sysfs_emit(buffer, "dead\n");
	if (status == BP_IMM_STATE_FAILED)
		return sysfs_emit(buffer, "failed: %s\n",
				  bp_imm_error_text(readl(device->registers + BP_IMM_REG_ERROR)));
	return sysfs_emit(buffer, "%s\n", status == BP_IMM_STATE_RUNNING ? "running" : "idle");
}
static DEVICE_ATTR_RO(state);

static struct attribute *bp_imm_attributes[] = {
	&dev_attr_node_id.attr,
	&dev_attr_contexts.attr,
	&dev_attr_available_contexts.attr,
	&dev_attr_context_stride.attr,
	&dev_attr_rings.attr,
	&dev_attr_memories.attr,
	&dev_attr_max_pages.attr,
	&dev_attr_features.attr,
	&dev_attr_pinned_bytes.attr,
	&dev_attr_interrupts.attr,
	&dev_attr_epoch.attr,
	&dev_attr_bad_accesses.attr,
	&dev_attr_state.attr,
	NULL
};

static const struct attribute_group bp_imm_group = {
	.attrs = bp_imm_attributes,
};

const struct attribute_group *bp_imm_groups[] = {
	&bp_imm_group,
	NULL
};
