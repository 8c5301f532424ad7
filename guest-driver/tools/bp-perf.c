// SPDX-License-Identifier: Apache-2.0
/* Latency and rate of actions, by command, size, number in flight and number of processes. */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "options.h"
#include "perf.h"

#define MAX_PROCESSES 64
#define MAX_SIZES 32

static const char usage[] =
	"usage: bp-perf --server [options]\n"
	"       bp-perf --node N [options]\n"
	"\n"
	"Measures actions: time from start to end, and rate.\n"
	"\n"
	"  --server        be what is acted on, until killed\n"
	"  --node N        node of the server\n"
	"  --ring ID       the server's ring (default 41)\n"
	"  --op OP         put (default), get, write, read, fetch-add, compare-swap, nop\n"
	"  --size S[,S]…   bytes, to 1M; a line for each (default 64)\n"
	"  --count N       actions of each process (default 10000)\n"
	"  --batch B       actions in flight, 1 to 8 (default 1)\n"
	"  --processes P   processes at once, each with a context of its own (default 1)\n"
	"  --poll          wait awake, without any system call (default)\n"
	"  --yield         wait awake, but let other threads of this machine run now and then\n"
	"  --interrupt     sleep until an interrupt\n"
	"  --json          print a JSON object for each size\n"
	"  --device PATH   character device (default $BACKPLANE_DEVICE, or else /dev/bp_imm0)\n";

static const char *const names[] = {
	[BP_NOP] = "nop",     [BP_PUT] = "put",		      [BP_GET] = "get",
	[BP_WRITE] = "write", [BP_READ] = "read",	      [BP_FETCH_ADD] = "fetch-add",
	[BP_COMPARE_SWAP] = "compare-swap",
};

struct plan {
	struct perf_options options;
	size_t sizes[MAX_SIZES];
	unsigned int size_count;
	unsigned int processes;
	bool server, json;
};

static enum bp_command command_named(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return (enum bp_command)i;
	cli_wrong("--op: no '%s'; see --help", name);
}

static void parse_sizes(void *to, char *list)
{
	struct plan *plan = to;
	char *size;

	for (plan->size_count = 0; (size = strsep(&list, ",")); plan->size_count++) {
		if (plan->size_count == MAX_SIZES)
			cli_wrong("--size: more than %d sizes", MAX_SIZES);
		plan->sizes[plan->size_count] = cli_number("size", size, 0, PERF_MAX_SIZE);
	}
}

static void parse_op(void *to, char *name)
{
	*(enum bp_command *)to = command_named(name);
}

static void parse(struct plan *plan, int argc, char **argv)
{
	struct perf_options *options = &plan->options;
	const struct option_row rows[] = {
		OPTION_FLAG_ROW("server", &plan->server),
		OPTION_NODE_ROW(&options->target.node),
		OPTION_RING_ROW(&options->target.ring, NULL),
		OPTION_CALL_ROW("op", &options->command, parse_op),
		OPTION_CALL_ROW("size", plan, parse_sizes),
		OPTION_NUMBER_ROW("count", &options->count, 1, UINT32_MAX, NULL),
		OPTION_NUMBER_ROW("batch", &options->batch, 1, BP_SLOTS, NULL),
		OPTION_NUMBER_ROW("processes", &plan->processes, 1, MAX_PROCESSES, NULL),
		OPTION_VALUE_ROW("poll", &options->flags, BP_OPEN_SPIN),
		OPTION_VALUE_ROW("yield", &options->flags, BP_OPEN_YIELD),
		OPTION_VALUE_ROW("interrupt", &options->flags, BP_OPEN_SLEEP),
		OPTION_FLAG_ROW("json", &plan->json),
		OPTION_DEVICE_ROW(&options->device),
		OPTION_END_ROW,
	};

	options_parse_all(argc, argv, usage, rows);
	if (plan->server == !!options->target.node)
		cli_wrong("one of --server and --node is needed; see --help");
}

/* One process each; the results lie in memory that all share. */
static void run_processes(const struct plan *plan, struct perf_result *results)
{
	unsigned int i;
	pid_t child;
	int status;

	for (i = 0; i < plan->processes; i++) {
		child = fork();
		if (child < 0)
			cli_fail("fork: %s", strerror(errno));
		if (!child) {
			perf_measure(&plan->options, &results[i]);
			_exit(0);
		}
	}
	for (i = 0; i < plan->processes; i++)
		if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
			cli_fail("a measuring process failed");
}

static void report(const struct plan *plan, const struct perf_result *results)
{
	const struct perf_options *options = &plan->options;
	static struct latency all;
	double seconds = 0, rate;
	unsigned int i;

	memset(&all, 0, sizeof(all));
	for (i = 0; i < plan->processes; i++) {
		latency_merge(&all, &results[i].latency);
		if (results[i].seconds > seconds)
			seconds = results[i].seconds;
	}
	rate = (double)all.count / seconds;
	if (plan->json) {
		printf("{\"op\":\"%s\",\"size\":%zu,\"count\":%llu,\"batch\":%u,\"processes\":%u,\"seconds\":%.6f,"
		       "\"actions_per_s\":%.1f,\"mbyte_per_s\":%.2f,\"latency_us\":",
		       names[options->command], options->size, (unsigned long long)all.count, options->batch,
		       plan->processes, seconds, rate, rate * (double)options->size / 1e6);
		latency_json(&all, results[0].us_per_tick, stdout);
		printf("}\n");
	} else {
		printf("%-12s %7zu bytes  %9.0f/s  %8.1f MB/s  ", names[options->command], options->size, rate,
		       rate * (double)options->size / 1e6);
		latency_line(&all, results[0].us_per_tick, stdout);
		printf("\n");
	}
	if (fflush(stdout))
		cli_fail("standard output: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	struct plan plan = {
		.options = { .target = { .ring = 41, .wait_us = 1000000 },
			     .command = BP_PUT,
			     .count = 10000,
			     .batch = 1,
			     .flags = BP_OPEN_SPIN },
		.sizes = { 64 },
		.size_count = 1,
		.processes = 1,
	};
	struct perf_result *results;
	unsigned int i;

	cli_program = "bp-perf";
	parse(&plan, argc, argv);
	if (plan.server)
		perf_serve(&plan.options);
	results = mmap(NULL, plan.processes * sizeof(*results), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (results == MAP_FAILED)
		cli_fail("out of memory");
	for (i = 0; i < plan.size_count; i++) {
		plan.options.size = plan.options.command >= BP_FETCH_ADD ? 8 : plan.sizes[i];
		memset(results, 0, plan.processes * sizeof(*results));
		run_processes(&plan, results);
		report(&plan, results);
	}
	return 0;
}
