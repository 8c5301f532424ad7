// SPDX-License-Identifier: Apache-2.0
/* Processes that come and go: fork, exec, death. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "selftest.h"

#define SIGNALLED 1000

/* How long the module and the driver may take to notice a death; only a failing test waits so long. */
#define PATIENCE_MS 10000

static void touch(volatile struct bp_imm_context *page)
{
	(void)page->state;
	_exit(0);
}

static void a_child_has_no_page_and_no_rights(void)
{
	int file = selftest_open_raw(), child;
	struct bp_imm_context *page = selftest_map(file, BP_IMM_MAP_CONTEXT);
	struct bp_imm_memory_register request = { .address = (uintptr_t)&file, .bytes = sizeof(file) };
	char events[8];

	EXPECT_EQUAL(BP_IMM_CONTEXT_OPEN, page->state);
	child = fork();
	if (!child)
		touch(page);
	EXPECT_EQUAL(SIGNALLED + SIGSEGV, selftest_join(child));
	child = fork();
	if (!child) {
		EXPECT_ERRNO(EPERM, mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, file, 0));
		EXPECT_ERRNO(EPERM, ioctl(file, BP_IMM_IOC_MEMORY_REGISTER, &request));
		EXPECT_ERRNO(EPERM, read(file, events, sizeof(events)));
		_exit(0);
	}
	EXPECT_EQUAL(0, selftest_join(child));
	/* The parent's context still works. */
	EXPECT_EQUAL(BP_IMM_CONTEXT_OPEN, page->state);
	EXPECT_EQUAL(0, ioctl(file, BP_IMM_IOC_MEMORY_REGISTER, &request));
}

/* The memory that the module writes to is the parent's after a fork, whoever writes to the page first. */
static void a_fork_does_not_take_registered_memory_away(void)
{
	struct bp_context *context = selftest_open();
	struct bp_ring *ring = selftest_ring(context, 4096, BP_RING_SHARED_CONSUMERS);
	struct bp_target target = selftest_target(context, ring);
	char *buffer = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct bp_memory *memory;
	int child, stop[2];
	char byte;

	EXPECT_EQUAL(0, pipe(stop));
	memset(buffer, 1, 8192);
	EXPECT_EQUAL(0, bp_memory_register(context, buffer, 8192, 0, NULL, &memory));
	child = fork();
	if (!child) {
		memset(buffer, 2, 8192);
		close(stop[1]);
		EXPECT_EQUAL(0, read(stop[0], &byte, 1));
		_exit(buffer[0] == 2 ? 0 : 1);
	}
	memset(buffer, 3, 8192);
	EXPECT_EQUAL(0, bp_put(context, &target, "abc", 3, 0));
	EXPECT_EQUAL(0, bp_get(context, &target, buffer, 8192, NULL));
	EXPECT(!memcmp(buffer, "abc", 3));
	close(stop[1]);
	EXPECT_EQUAL(0, selftest_join(child));
}

/* A process that makes a ring, writes its id into a pipe, and does what it is told then. */
static int ring_owner(int *id_pipe, void (*then)(struct bp_context *context))
{
	struct bp_context *context;
	struct bp_ring *ring;
	uint32_t id;
	int child = fork();

	if (child)
		return child;
	context = selftest_open();
	ring = selftest_ring(context, 4096, 0);
	id = bp_ring_id(ring);
	EXPECT_EQUAL(sizeof(id), write(id_pipe[1], &id, sizeof(id)));
	then(context);
	_exit(0);
}

static struct bp_target ring_from(const struct bp_context *context, const int *id_pipe)
{
	struct bp_target target = { .node = (uint16_t)bp_node(context) };

	EXPECT_EQUAL(sizeof(target.ring), read(id_pipe[0], &target.ring, sizeof(target.ring)));
	return target;
}

static int code_after_a_while(struct bp_context *context, const struct bp_target *target)
{
	int left, code;

	for (left = PATIENCE_MS; left > 0; left -= 10) {
		code = bp_put(context, target, "", 0, 0);
		if (code)
			return code;
		usleep(10000);
	}
	return 0;
}

static void stay(struct bp_context *context)
{
	(void)context;
	for (;;)
		pause();
}

static void a_killed_process_leaves_no_ring(void)
{
	struct bp_context *context = selftest_open();
	struct bp_target target;
	int id_pipe[2], child;

	EXPECT_EQUAL(0, pipe(id_pipe));
	child = ring_owner(id_pipe, stay);
	target = ring_from(context, id_pipe);
	EXPECT_EQUAL(0, bp_put(context, &target, "", 0, 0));
	kill(child, SIGKILL);
	EXPECT_EQUAL(SIGNALLED + SIGKILL, selftest_join(child));
	EXPECT_EQUAL(BP_NO_SUCH_RING, code_after_a_while(context, &target));
}

static void leave_a_child_behind(struct bp_context *context)
{
	if (!fork())
		stay(context);
}

static void a_child_that_holds_the_file_does_not_keep_the_context(void)
{
	struct bp_context *context = selftest_open();
	struct bp_target target;
	int id_pipe[2], child;

	EXPECT_EQUAL(0, setpgid(0, 0));
	EXPECT_EQUAL(0, pipe(id_pipe));
	child = ring_owner(id_pipe, leave_a_child_behind);
	target = ring_from(context, id_pipe);
	EXPECT_EQUAL(0, selftest_join(child));
	EXPECT_EQUAL(BP_NO_SUCH_RING, code_after_a_while(context, &target));
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
}

static void become_another_program(struct bp_context *context)
{
	char *const arguments[] = { "sleep", "30", NULL };

	fcntl(bp_fd(context), F_SETFD, 0);
	execvp(arguments[0], arguments);
}

static void exec_ends_the_context(void)
{
	struct bp_context *context = selftest_open();
	struct bp_target target;
	int id_pipe[2], child;

	EXPECT_EQUAL(0, pipe(id_pipe));
	child = ring_owner(id_pipe, become_another_program);
	target = ring_from(context, id_pipe);
	EXPECT_EQUAL(BP_NO_SUCH_RING, code_after_a_while(context, &target));
	kill(child, SIGKILL);
	selftest_join(child);
}

/* Fills a ring, and has as many actions in flight that wait for room as there are slots. */
static void fill_slots(const struct bp_target *target)
{
	struct bp_context *context = selftest_open();
	struct bp_action action = {
		.command = BP_PUT,
		.node = target->node,
		.place = target->ring,
		.wait_us = 60000000,
		.buffer = "sixteen bytes...",
		.length = 16,
	};
	int i;

	while (!bp_put(context, target, "fill", 4, 0))
		;
	for (i = 0; i < BP_SLOTS; i++)
		EXPECT_EQUAL(0, bp_submit(context, &action));
}

static void a_process_killed_with_all_slots_in_flight_hurts_nobody(void)
{
	struct bp_context *context = selftest_open();
	struct bp_ring *ring = selftest_ring(context, 4096, 0);
	struct bp_target target = selftest_target(context, ring);
	struct bp_element element;
	int ready[2], child, count = 0;
	char byte = 0;

	EXPECT_EQUAL(0, pipe(ready));
	child = fork();
	if (!child) {
		fill_slots(&target);
		EXPECT_EQUAL(1, write(ready[1], &byte, 1));
		stay(NULL);
	}
	EXPECT_EQUAL(1, read(ready[0], &byte, 1));
	/* As long as the child's, of which none may have come to the ring yet: what is shorter might fit. */
	EXPECT_EQUAL(BP_FULL, bp_put(context, &target, "sixteen bytes...", 16, 0));
	kill(child, SIGKILL);
	EXPECT_EQUAL(SIGNALLED + SIGKILL, selftest_join(child));
	/* What was waiting is not delivered: neither now nor when there is room. */
	while (bp_ring_next(ring, &element) > 0) {
		EXPECT_EQUAL(4, element.length);
		count++;
	}
	EXPECT(count > 0);
	bp_ring_release(ring);
	EXPECT_EQUAL(0, bp_put(context, &target, "mine", 4, 5));
	EXPECT_EQUAL(1, bp_ring_next(ring, &element));
	EXPECT_EQUAL(5, element.tag);
	EXPECT_EQUAL(0, bp_ring_next(ring, &element));
}

#define TEST(_name) { "process." #_name, _name }

const struct selftest selftest_process[] = {
	TEST(a_child_has_no_page_and_no_rights),
	TEST(a_fork_does_not_take_registered_memory_away),
	TEST(a_killed_process_leaves_no_ring),
	TEST(a_child_that_holds_the_file_does_not_keep_the_context),
	TEST(exec_ends_the_context),
	TEST(a_process_killed_with_all_slots_in_flight_hurts_nobody),
	{ NULL, NULL },
};
