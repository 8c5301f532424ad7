// SPDX-License-Identifier: Apache-2.0
/* Contexts, rings and rates of a messaging module, over and over. */

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "sysfs.h"

static const char usage[] =
	"usage: bp-top [--module NAME] [--interval S] [--count N]\n"
	"\n"
	"Shows rates of a messaging module, its contexts, memories and rings, as root.\n"
	"\n"
	"  --module NAME   which module (default bp_imm0)\n"
	"  --interval S    seconds between two pictures (default 2)\n"
	"  --count N       pictures (default: for ever)\n";

static const char *const rates[] = { "actions",	   "puts",   "gets",	   "one_sided", "atomics", "payload_bytes",
				     "doorbells", "sleeps", "interrupts", "waits",	 "full",    "empty" };

#define RATES (sizeof(rates) / sizeof(rates[0]))

struct options {
	const char *module;
	int64_t interval_us;
	uint64_t count;
};

static void parse(struct options *options, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "module", required_argument, NULL, 'm' }, { "interval", required_argument, NULL, 'i' },
		{ "count", required_argument, NULL, 'c' },  { "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (option) {
		case 'm':
			options->module = optarg;
			break;
		case 'i':
			options->interval_us = cli_seconds("interval", optarg);
			break;
		case 'c':
			options->count = cli_number("count", optarg, 1, UINT32_MAX);
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
	if (!options->interval_us)
		cli_wrong("--interval: 0 is too short");
}

/* A table of the driver: a line of names, then a line for each; printed in columns. */
static void print_table(const struct options *options, const char *name)
{
	char path[200], line[256], *rest, *word;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/bp_imm/%s/%s", options->module, name);
	file = fopen(path, "re");
	if (!file)
		cli_fail("%s: %s; is debugfs mounted, and are you root?", path, strerror(errno));
	printf("\n");
	while (fgets(line, sizeof(line), file)) {
		rest = line;
		while ((word = strsep(&rest, " \n")))
			if (*word)
				printf("%-12s", word);
		printf("\n");
	}
	fclose(file);
}

static uint64_t value_of(const struct sysfs_counter *counters, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(counters[i].name, name))
			return counters[i].value;
	return 0;
}

static void print_picture(const struct options *options, const struct sysfs_counter *before,
			  const struct sysfs_counter *now, size_t count)
{
	char state[200], node[40], available[40];
	size_t i;

	sysfs_attribute(options->module, "state", state, sizeof(state));
	sysfs_attribute(options->module, "node_id", node, sizeof(node));
	sysfs_attribute(options->module, "available_contexts", available, sizeof(available));
	if (isatty(STDOUT_FILENO))
		printf("\033[H\033[J");
	printf("%s, node %s: %s, %s contexts free\n", options->module, node, state, available);
	for (i = 0; i < RATES; i++)
		printf("%s%s %.0f/s", i % 6 ? "  " : "\n", rates[i],
		       (double)(value_of(now, count, rates[i]) - value_of(before, count, rates[i])) * 1e6 /
			       (double)options->interval_us);
	printf("\n");
	print_table(options, "contexts");
	print_table(options, "memories");
	print_table(options, "rings");
	if (fflush(stdout))
		cli_fail("standard output: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	struct options options = { .module = "bp_imm0", .interval_us = 2000000 };
	struct sysfs_counter before[SYSFS_MAX_COUNTERS], now[SYSFS_MAX_COUNTERS];
	struct timespec pause;
	uint64_t picture;
	size_t count;

	cli_program = "bp-top";
	parse(&options, argc, argv);
	pause = (struct timespec){ .tv_sec = options.interval_us / 1000000,
				   .tv_nsec = options.interval_us % 1000000 * 1000 };
	sysfs_counters(options.module, before);
	for (picture = 0; !options.count || picture < options.count; picture++) {
		nanosleep(&pause, NULL);
		count = sysfs_counters(options.module, now);
		print_picture(&options, before, now, count);
		memcpy(before, now, sizeof(before));
	}
	return 0;
}
