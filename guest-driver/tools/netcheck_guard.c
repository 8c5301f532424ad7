// SPDX-License-Identifier: Apache-2.0
/* Memory that nobody may write to: a device that was not stopped in time, for instance. */
#include "netcheck.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "cli.h"
#include "payload.h"

/* The pattern of each page is the payload of its number. */
#define PAGE 4096

/* Parts of all free memory that are left to the rest of the system. */
#define LEFT 6

static unsigned char expected[PAGE];

static void ended(int signal)
{
	(void)signal;
}

static void check_page(const unsigned char *page, size_t number)
{
	size_t i;

	payload_fill(expected, PAGE, number);
	if (!memcmp(page, expected, PAGE))
		return;
	for (i = 0; page[i] == expected[i]; i++)
		;
	cli_fail("page %zu: byte %zu became %#x: somebody has written to memory that is not theirs", number, i, page[i]);
}

/* Takes most of the free memory, with what a driver has just freed in it, and looks at its end whether it is unchanged. */
void netcheck_guard(void)
{
	const struct sigaction quiet = { .sa_handler = ended };
	sigset_t blocked, before;
	struct sysinfo info;
	unsigned char *memory;
	size_t pages, i;

	if (sysinfo(&info))
		cli_fail("sysinfo: %s", strerror(errno));
	pages = info.freeram * info.mem_unit / PAGE * (LEFT - 1) / LEFT;
	memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		cli_fail("%zu pages: %s", pages, strerror(errno));
	for (i = 0; i < pages; i++)
		payload_fill(memory + i * PAGE, PAGE, i);

	/* The signal may come as soon as we have said that we are there. */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	sigaction(SIGTERM, &quiet, NULL);
	puts("guarding");
	fflush(stdout);
	sigsuspend(&before);

	for (i = 0; i < pages; i++)
		check_page(memory + i * PAGE, i);
	printf("%zu pages unchanged\n", pages);
}
