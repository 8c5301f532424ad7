// SPDX-License-Identifier: Apache-2.0
/* What a messaging module has and has counted. */

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "sysfs.h"

static const char usage[] =
	"usage: bp-stat [--module NAME] [--all] [--json] [--interval S [--count N]]\n"
	"\n"
	"Prints what a messaging module has, and what it has counted.\n"
	"\n"
	"  --module NAME   which module (default bp_imm0)\n"
	"  --all           counters that are 0, too\n"
	"  --interval S    go on: print every S seconds how many a second were counted\n"
	"  --count N       ... N times (default: for ever)\n"
	"  --json          print a JSON object\n";

static const char *const attributes[] = {
	"state",    "node_id",  "contexts", "available_contexts", "rings",  "memories",
	"max_pages", "pinned_bytes", "epoch",    "interrupts",	       "features",
};

#define ATTRIBUTES (sizeof(attributes) / sizeof(attributes[0]))

struct options {
	const char *module;
	int64_t interval_us;
	uint64_t count;
	bool all, json;
};

static void parse(struct options *options, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "module", required_argument, NULL, 'm' },   { "all", no_argument, NULL, 'a' },
		{ "interval", required_argument, NULL, 'i' }, { "count", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },	      { "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (option) {
		case 'm':
			options->module = optarg;
			break;
		case 'a':
			options->all = true;
			break;
		case 'i':
			options->interval_us = cli_seconds("interval", optarg);
			break;
		case 'c':
			options->count = cli_number("count", optarg, 1, UINT32_MAX);
			break;
		case 'j':
			options->json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			exit(CLI_USAGE);
		}
	}
	if (optind < argc)
		cli_wrong("unexpected '%s'; see --help", argv[optind]);
}

static void print_json(const struct options *options)
{
	struct sysfs_counter counters[SYSFS_MAX_COUNTERS];
	size_t count = sysfs_counters(options->module, counters), i;
	char value[200];

	printf("{\"module\":\"%s\"", options->module);
	for (i = 0; i < ATTRIBUTES; i++) {
		sysfs_attribute(options->module, attributes[i], value, sizeof(value));
		if (value[strspn(value, "0123456789")])
			printf(",\"%s\":\"%s\"", attributes[i], value);
		else
			printf(",\"%s\":%s", attributes[i], value);
	}
	printf(",\"statistics\":{");
	for (i = 0; i < count; i++)
		printf("%s\"%s\":%llu", i ? "," : "", counters[i].name, (unsigned long long)counters[i].value);
	printf("}}\n");
}

static void print_text(const struct options *options)
{
	struct sysfs_counter counters[SYSFS_MAX_COUNTERS];
	size_t count = sysfs_counters(options->module, counters), i;
	char value[200];

	for (i = 0; i < ATTRIBUTES; i++) {
		sysfs_attribute(options->module, attributes[i], value, sizeof(value));
		printf("%-24s %s\n", attributes[i], value);
	}
	for (i = 0; i < count; i++)
		if (counters[i].value || options->all)
			printf("%-24s %llu\n", counters[i].name, (unsigned long long)counters[i].value);
}

static void print_rates(const struct options *options)
{
	struct timespec pause = { .tv_sec = options->interval_us / 1000000,
				  .tv_nsec = options->interval_us % 1000000 * 1000 };
	struct sysfs_counter before[SYSFS_MAX_COUNTERS], now[SYSFS_MAX_COUNTERS];
	size_t count = sysfs_counters(options->module, before), i;
	uint64_t round;

	for (round = 0; !options->count || round < options->count; round++) {
		nanosleep(&pause, NULL);
		if (sysfs_counters(options->module, now) != count)
			cli_fail("the counters have changed: the driver was loaded anew");
		for (i = 0; i < count; i++)
			if (now[i].value != before[i].value || options->all)
				printf("%s %.1f/s  ", now[i].name,
				       (double)(now[i].value - before[i].value) * 1e6 / (double)options->interval_us);
		printf("\n");
		if (fflush(stdout))
			cli_fail("standard output: %s", strerror(errno));
		memcpy(before, now, sizeof(before));
	}
}

int main(int argc, char **argv)
{
	struct options options = { .module = "bp_imm0" };

	cli_program = "bp-stat";
	parse(&options, argc, argv);
	if (options.interval_us)
		print_rates(&options);
	else if (options.json)
		print_json(&options);
	else
		print_text(&options);
	return 0;
}
