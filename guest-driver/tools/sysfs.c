// SPDX-License-Identifier: Apache-2.0
#include "sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define ROOT "/sys/class/misc"

void sysfs_attribute(const char *module, const char *name, char *buffer, size_t bytes)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), ROOT "/%s/%s", module, name);
	file = fopen(path, "re");
	if (!file || !fgets(buffer, (int)bytes, file))
		cli_fail("%s: %s; is the driver bp_imm loaded?", path, strerror(errno));
	buffer[strcspn(buffer, "\n")] = '\0';
	fclose(file);
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct sysfs_counter *)left)->name, ((const struct sysfs_counter *)right)->name);
}

size_t sysfs_counters(const char *module, struct sysfs_counter *counters)
{
	char path[200], value[40], name[80];
	struct dirent *entry;
	size_t count = 0;
	DIR *directory;

	snprintf(path, sizeof(path), ROOT "/%s/statistics", module);
	directory = opendir(path);
	if (!directory)
		cli_fail("%s: %s; is the driver bp_imm loaded?", path, strerror(errno));
	while ((entry = readdir(directory)) && count < SYSFS_MAX_COUNTERS) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(counters[0].name))
			continue;
		snprintf(counters[count].name, sizeof(counters[0].name), "%.39s", entry->d_name);
		snprintf(name, sizeof(name), "statistics/%.60s", entry->d_name);
		sysfs_attribute(module, name, value, sizeof(value));
		counters[count++].value = strtoull(value, NULL, 10);
	}
	closedir(directory);
	qsort(counters, count, sizeof(*counters), by_name);
	return count;
}
