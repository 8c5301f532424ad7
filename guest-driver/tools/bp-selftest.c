// SPDX-License-Identifier: Apache-2.0
/* Runs the tests of driver and module; prints a line for each, as TAP. */

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "options.h"
#include "selftest.h"

/* Seconds for one test. */
#define LIMIT 60

#define EXIT_SKIP 77
#define SIGNALLED 1000

static const char usage[] =
	"usage: bp-selftest [--list] [--device PATH] [PATTERN...]\n"
	"\n"
	"Tests the driver bp_imm and the messaging module of this node, as root. Prints a line for each test (TAP).\n"
	"Exit status 0: none failed.\n"
	"\n"
	"  PATTERN         run the tests whose name matches, as in a shell (default: all)\n"
	"  --list          print the names\n"
	"  --device PATH   character device (default $BACKPLANE_DEVICE, or else /dev/bp_imm0)\n";

const char *selftest_device = "/dev/bp_imm0";

static const struct selftest *const groups[] = {
	selftest_driver,
	selftest_process,
	selftest_actions,
	selftest_hostile,
};

void selftest_fail(const char *file, int line, const char *format, ...)
{
	va_list arguments;

	printf("# %s:%d: ", file, line);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

void selftest_skip(const char *reason)
{
	printf("# skipped: %s\n", reason);
	fflush(stdout);
	_exit(EXIT_SKIP);
}

struct bp_context *selftest_open(void)
{
	struct bp_context *context = NULL;

	EXPECT_EQUAL(0, bp_open(&context, selftest_device, BP_OPEN_YIELD));
	return context;
}

struct bp_ring *selftest_ring(struct bp_context *context, size_t capacity, unsigned int flags)
{
	struct bp_ring *ring = NULL;

	EXPECT_EQUAL(0, bp_ring_create(context, BP_ANY_RING, capacity, flags, NULL, &ring));
	return ring;
}

int selftest_open_raw(void)
{
	int file = open(selftest_device, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	EXPECT(file >= 0);
	return file;
}

struct bp_imm_context *selftest_map(int file, unsigned int which)
{
	const long page = sysconf(_SC_PAGESIZE);
	void *address = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_SHARED, file, page * (long)which);

	EXPECT(address != MAP_FAILED);
	return address;
}

int selftest_join(int child)
{
	int status;

	EXPECT_EQUAL(child, waitpid(child, &status, 0));
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

struct bp_target selftest_target(const struct bp_context *context, const struct bp_ring *ring)
{
	return (struct bp_target){ .node = (uint16_t)bp_node(context), .ring = bp_ring_id(ring) };
}

static bool wanted(const char *name, char **patterns)
{
	if (!*patterns)
		return true;
	for (; *patterns; patterns++)
		if (!fnmatch(*patterns, name, 0))
			return true;
	return false;
}

/* Runs a test in a child: whatever it does to its memory and files ends with it. */
static bool passes(const struct selftest *test, int number)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child < 0)
		cli_fail("fork: %s", strerror(errno));
	if (!child) {
		alarm(LIMIT);
		test->run();
		fflush(stdout);
		_exit(0);
	}
	status = selftest_join(child);
	if (status > SIGNALLED)
		printf("# ended by signal %d (%s)\n", status - SIGNALLED, strsignal(status - SIGNALLED));
	printf("%sok %d %s%s\n", status && status != EXIT_SKIP ? "not " : "", number, test->name,
	       status == EXIT_SKIP ? " # SKIP" : "");
	return !status || status == EXIT_SKIP;
}

int main(int argc, char **argv)
{
	bool list = false;
	const struct option_row rows[] = {
		OPTION_FLAG_ROW("list", &list),
		OPTION_DEVICE_ROW(&selftest_device),
		OPTION_END_ROW,
	};
	const struct selftest *test;
	int number = 0, failed = 0, first;
	size_t i;

	cli_program = "bp-selftest";
	if (getenv("BACKPLANE_DEVICE"))
		selftest_device = getenv("BACKPLANE_DEVICE");
	first = options_parse(argc, argv, usage, rows);
	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		for (test = groups[i]; test->name; test++) {
			if (!wanted(test->name, argv + first))
				continue;
			if (list)
				printf("%s\n", test->name);
			else
				failed += !passes(test, ++number);
		}
	}
	if (!list)
		printf("1..%d\n", number);
	if (!list && !number)
		cli_fail("no test of that name");
	return failed ? 1 : 0;
}
