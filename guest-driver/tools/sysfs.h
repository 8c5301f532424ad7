/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver shows of a messaging module in sysfs. */
#ifndef BP_SYSFS_H
#define BP_SYSFS_H

#include <stddef.h>
#include <stdint.h>

#define SYSFS_MAX_COUNTERS 64

struct sysfs_counter {
	char name[40];
	uint64_t value;
};

/* Reads an attribute of module "bp_imm0" into a buffer, without its newline; or exits. */
void sysfs_attribute(const char *module, const char *name, char *buffer, size_t bytes);

/* Reads all counters, by name; returns how many; or exits. */
size_t sysfs_counters(const char *module, struct sysfs_counter *counters);

#endif /* BP_SYSFS_H */
