// SPDX-License-Identifier: GPL-2.0
/* /sys/class/misc/bp_imm<N>/: what the module has, and how it is. One value a file. */

#include <linux/device.h>
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
BP_IMM_VALUE(epoch, "%u", bp_imm_read32(device, BP_IMM_REG_EPOCH));
BP_IMM_VALUE(bad_accesses, "%u", bp_imm_read32(device, BP_IMM_REG_BAD_ACCESSES));

static ssize_t state_show(struct device *dev, struct device_attribute *attribute, char *buffer)
{
	struct bp_imm_device *device = bp_imm_of(dev);
	u32 status = bp_imm_read32(device, BP_IMM_REG_STATUS);

	if (PCI_POSSIBLE_ERROR(status))
		return sysfs_emit(buffer, "dead\n");
	if (status == BP_IMM_STATE_FAILED)
		return sysfs_emit(buffer, "failed: %s\n",
				  bp_imm_error_text(bp_imm_read32(device, BP_IMM_REG_ERROR)));
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

/* Counters of the module: a file each in statistics/. */
struct bp_imm_counter {
	struct device_attribute attribute;
	u32 offset;
};

static ssize_t bp_imm_counter_show(struct device *dev, struct device_attribute *attribute, char *buffer)
{
	struct bp_imm_counter *counter = container_of(attribute, struct bp_imm_counter, attribute);
	struct bp_imm_device *device = bp_imm_of(dev);

	return sysfs_emit(buffer, "%llu\n", bp_imm_read64(device, BP_IMM_STATISTICS + counter->offset));
}

#define BP_IMM_COUNTER(_name, _offset)							\
static struct bp_imm_counter bp_imm_counter_##_name = {					\
	.attribute = __ATTR(_name, 0444, bp_imm_counter_show, NULL),			\
	.offset = _offset,								\
}

BP_IMM_COUNTER(actions, BP_IMM_STAT_ACTIONS);
BP_IMM_COUNTER(puts, BP_IMM_STAT_PUTS);
BP_IMM_COUNTER(gets, BP_IMM_STAT_GETS);
BP_IMM_COUNTER(one_sided, BP_IMM_STAT_ONE_SIDED);
BP_IMM_COUNTER(atomics, BP_IMM_STAT_ATOMICS);
BP_IMM_COUNTER(payload_bytes, BP_IMM_STAT_PAYLOAD_BYTES);
BP_IMM_COUNTER(full, BP_IMM_STAT_FULL);
BP_IMM_COUNTER(empty, BP_IMM_STAT_EMPTY);
BP_IMM_COUNTER(denied, BP_IMM_STAT_DENIED);
BP_IMM_COUNTER(unreachable, BP_IMM_STAT_UNREACHABLE);
BP_IMM_COUNTER(aborted, BP_IMM_STAT_ABORTED);
BP_IMM_COUNTER(refused, BP_IMM_STAT_REFUSED);
BP_IMM_COUNTER(waits, BP_IMM_STAT_WAITS);
BP_IMM_COUNTER(timeouts, BP_IMM_STAT_TIMEOUTS);
BP_IMM_COUNTER(late_results, BP_IMM_STAT_LATE_RESULTS);
BP_IMM_COUNTER(bad_submits, BP_IMM_STAT_BAD_SUBMITS);
BP_IMM_COUNTER(ring_elements_in, BP_IMM_STAT_RING_ELEMENTS_IN);
BP_IMM_COUNTER(ring_elements_out, BP_IMM_STAT_RING_ELEMENTS_OUT);
BP_IMM_COUNTER(ring_denied, BP_IMM_STAT_RING_DENIED);
BP_IMM_COUNTER(ring_corrupt, BP_IMM_STAT_RING_CORRUPT);
BP_IMM_COUNTER(doorbells, BP_IMM_STAT_DOORBELLS);
BP_IMM_COUNTER(sleeps, BP_IMM_STAT_SLEEPS);
BP_IMM_COUNTER(lost_races, BP_IMM_STAT_LOST_RACES);
BP_IMM_COUNTER(events, BP_IMM_STAT_EVENTS);
BP_IMM_COUNTER(interrupts, BP_IMM_STAT_INTERRUPTS);
BP_IMM_COUNTER(interrupts_coalesced, BP_IMM_STAT_INTERRUPTS_COALESCED);
BP_IMM_COUNTER(contexts_opened, BP_IMM_STAT_CONTEXTS_OPENED);
BP_IMM_COUNTER(contexts_closed, BP_IMM_STAT_CONTEXTS_CLOSED);
BP_IMM_COUNTER(admin_commands, BP_IMM_STAT_ADMIN_COMMANDS);
BP_IMM_COUNTER(admin_refused, BP_IMM_STAT_ADMIN_REFUSED);
BP_IMM_COUNTER(bad_accesses, BP_IMM_STAT_BAD_ACCESSES);
BP_IMM_COUNTER(memory_faults, BP_IMM_STAT_MEMORY_FAULTS);
BP_IMM_COUNTER(resets, BP_IMM_STAT_RESETS);
BP_IMM_COUNTER(admin_interrupted, BP_IMM_STAT_ADMIN_INTERRUPTED);

static struct attribute *bp_imm_counters[] = {
	&bp_imm_counter_actions.attribute.attr,
	&bp_imm_counter_puts.attribute.attr,
	&bp_imm_counter_gets.attribute.attr,
	&bp_imm_counter_one_sided.attribute.attr,
	&bp_imm_counter_atomics.attribute.attr,
	&bp_imm_counter_payload_bytes.attribute.attr,
	&bp_imm_counter_full.attribute.attr,
	&bp_imm_counter_empty.attribute.attr,
	&bp_imm_counter_denied.attribute.attr,
	&bp_imm_counter_unreachable.attribute.attr,
	&bp_imm_counter_aborted.attribute.attr,
	&bp_imm_counter_refused.attribute.attr,
	&bp_imm_counter_waits.attribute.attr,
	&bp_imm_counter_timeouts.attribute.attr,
	&bp_imm_counter_late_results.attribute.attr,
	&bp_imm_counter_bad_submits.attribute.attr,
	&bp_imm_counter_ring_elements_in.attribute.attr,
	&bp_imm_counter_ring_elements_out.attribute.attr,
	&bp_imm_counter_ring_denied.attribute.attr,
	&bp_imm_counter_ring_corrupt.attribute.attr,
	&bp_imm_counter_doorbells.attribute.attr,
	&bp_imm_counter_sleeps.attribute.attr,
	&bp_imm_counter_lost_races.attribute.attr,
	&bp_imm_counter_events.attribute.attr,
	&bp_imm_counter_interrupts.attribute.attr,
	&bp_imm_counter_interrupts_coalesced.attribute.attr,
	&bp_imm_counter_contexts_opened.attribute.attr,
	&bp_imm_counter_contexts_closed.attribute.attr,
	&bp_imm_counter_admin_commands.attribute.attr,
	&bp_imm_counter_admin_refused.attribute.attr,
	&bp_imm_counter_bad_accesses.attribute.attr,
	&bp_imm_counter_memory_faults.attribute.attr,
	&bp_imm_counter_resets.attribute.attr,
	&bp_imm_counter_admin_interrupted.attribute.attr,
	NULL
};

static const struct attribute_group bp_imm_statistics = {
	.name = "statistics",
	.attrs = bp_imm_counters,
};

const struct attribute_group *bp_imm_groups[] = {
	&bp_imm_group,
	&bp_imm_statistics,
	NULL
};
