// SPDX-License-Identifier: Apache-2.0
/* What the driver lets a process do, and what it refuses. */

#define _GNU_SOURCE /* mremap */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "selftest.h"

/* More than a module may have. */
#define MANY 4100

#define NOBODY 65534

static long page_bytes(void)
{
	return sysconf(_SC_PAGESIZE);
}

static void a_context_page_says_who_it_is(void)
{
	int file = selftest_open_raw();
	const struct bp_imm_context *page = selftest_map(file, BP_IMM_MAP_CONTEXT);

	EXPECT_EQUAL(BP_IMM_CONTEXT_OPEN, page->state);
	EXPECT(page->node >= 1);
	EXPECT(page->generation >= 1);
	EXPECT_EQUAL(0, page->submit);
	EXPECT_EQUAL(0, page->complete);
}

static void a_context_comes_back_zeroed_with_a_new_generation(void)
{
	int file = selftest_open_raw(), again;
	struct bp_imm_context *page = selftest_map(file, BP_IMM_MAP_CONTEXT);
	uint32_t context = page->context, generation = page->generation;
	size_t i;

	memset(page->inline_data, 0x77, sizeof(page->inline_data));
	munmap(page, (size_t)page_bytes());
	close(file);
	again = selftest_open_raw();
	page = selftest_map(again, BP_IMM_MAP_CONTEXT);
	if (page->context != context)
		selftest_skip("somebody else took the context");
	EXPECT(page->generation != generation);
	for (i = 0; i < sizeof(page->inline_data); i++)
		EXPECT_EQUAL(0, page->inline_data[i]);
}

static void only_the_two_pages_can_be_mapped(void)
{
	int file = selftest_open_raw();
	const size_t page = (size_t)page_bytes();

	EXPECT_ERRNO(EINVAL, mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
	EXPECT_ERRNO(EINVAL, mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 2 * (off_t)page));
	EXPECT_ERRNO(EINVAL, mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0));
	EXPECT_ERRNO(EINVAL, mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0));
	EXPECT_ERRNO(EINVAL, mmap(NULL, page, PROT_READ, MAP_SHARED, file, (off_t)page << 20));
	EXPECT_ERRNO(EACCES, open(selftest_device, O_RDONLY));
	EXPECT_ERRNO(EACCES, open(selftest_device, O_WRONLY));
}

static void a_mapped_page_cannot_grow_or_execute(void)
{
	int file = selftest_open_raw();
	void *page = selftest_map(file, BP_IMM_MAP_CONTEXT);

	EXPECT_ERRNO(EFAULT, mremap(page, (size_t)page_bytes(), 2 * (size_t)page_bytes(), MREMAP_MAYMOVE));
	EXPECT_ERRNO(EACCES, mprotect(page, (size_t)page_bytes(), PROT_READ | PROT_EXEC));
}

static void pages_outlive_their_file_and_move(void)
{
	int file = selftest_open_raw();
	struct bp_imm_context *page = selftest_map(file, BP_IMM_MAP_CONTEXT), *moved;
	const size_t bytes = (size_t)page_bytes();
	void *place = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	close(file);
	EXPECT_EQUAL(BP_IMM_CONTEXT_OPEN, page->state);
	moved = mremap(page, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	EXPECT(moved == place);
	EXPECT_EQUAL(BP_IMM_CONTEXT_OPEN, moved->state);
}

static void unknown_calls_and_fields_are_refused(void)
{
	int file = selftest_open_raw();
	static char memory[8192];
	struct bp_imm_memory_register request = { .address = (uintptr_t)memory, .bytes = sizeof(memory) };
	struct bp_imm_memory_unregister gone = { .memory = 63 };
	struct bp_imm_ring_destroy ring = { .ring = 1 };

	EXPECT_ERRNO(ENOTTY, ioctl(file, _IO(BP_IMM_IOCTL, 99)));
	EXPECT_ERRNO(EFAULT, ioctl(file, BP_IMM_IOC_MEMORY_REGISTER, 8));
	request.reserved = 1;
	EXPECT_ERRNO(EINVAL, ioctl(file, BP_IMM_IOC_MEMORY_REGISTER, &request));
	request.reserved = 0;
	request.flags = 0x100;
	EXPECT_ERRNO(EINVAL, ioctl(file, BP_IMM_IOC_MEMORY_REGISTER, &request));
	request.flags = 0;
	request.node_count = BP_IMM_MAX_NODES + 1;
	EXPECT_ERRNO(EINVAL, ioctl(file, BP_IMM_IOC_MEMORY_REGISTER, &request));
	request.node_count = 4;
	request.nodes = 8;
	EXPECT_ERRNO(EFAULT, ioctl(file, BP_IMM_IOC_MEMORY_REGISTER, &request));
	EXPECT_ERRNO(ENOENT, ioctl(file, BP_IMM_IOC_MEMORY_UNREGISTER, &gone));
	EXPECT_ERRNO(ENOENT, ioctl(file, BP_IMM_IOC_RING_DESTROY, &ring));
	EXPECT_ERRNO(EINVAL, read(file, memory, 7));
	EXPECT_ERRNO(EAGAIN, read(file, memory, 8));
}

static void memory_that_is_none_is_refused(void)
{
	struct bp_context *context = selftest_open();
	const struct bp_memory *memory;
	const size_t page = (size_t)page_bytes();
	char *hole = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *constant = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(hole + page, page);
	EXPECT_EQUAL(-EINVAL, bp_memory_register(context, hole, 0, 0, NULL, &memory));
	EXPECT_EQUAL(-EFAULT, bp_memory_register(context, hole, 3 * page, 0, NULL, &memory));
	EXPECT_EQUAL(-EFAULT, bp_memory_register(context, constant, page, 0, NULL, &memory));
	EXPECT_EQUAL(-EINVAL, bp_memory_register(context, (void *)-4096L, 8192, 0, NULL, &memory));
	EXPECT_EQUAL(-EINVAL, bp_memory_register(context, hole, (size_t)1 << 40, 0, NULL, &memory));
	EXPECT_EQUAL(0, bp_memory_register(context, hole, page, 0, NULL, &memory));
	EXPECT_EQUAL(0, bp_memory_unregister(context, memory));
}

static void memories_of_a_context_are_limited_and_come_back(void)
{
	struct bp_context *context = selftest_open();
	static char bytes[MANY];
	const struct bp_memory *memories[MANY];
	int count, code = 0, i;

	for (count = 0; count < MANY && !code; count += !code)
		code = bp_memory_register(context, bytes, sizeof(bytes), 0, NULL, &memories[count]);
	EXPECT_EQUAL(-ENOSPC, code);
	for (i = 0; i < count; i++)
		EXPECT_EQUAL(0, bp_memory_unregister(context, memories[i]));
	EXPECT_EQUAL(0, bp_memory_register(context, bytes, sizeof(bytes), 0, NULL, &memories[0]));
}

static void pinned_memory_counts_against_the_limit(void)
{
	const struct rlimit limit = { 16 * 4096, 16 * 4096 };
	struct bp_context *context;
	const struct bp_memory *first, *second;
	const size_t bytes = 12 * (size_t)page_bytes();
	char *memory = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT_EQUAL(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	EXPECT_EQUAL(0, setgid(NOBODY));
	EXPECT_EQUAL(0, setuid(NOBODY));
	context = selftest_open();
	EXPECT_EQUAL(0, bp_memory_register(context, memory, bytes, 0, NULL, &first));
	EXPECT_EQUAL(-ENOMEM, bp_memory_register(context, memory + bytes, bytes, 0, NULL, &second));
	EXPECT_EQUAL(0, bp_memory_unregister(context, first));
	EXPECT_EQUAL(0, bp_memory_register(context, memory + bytes, bytes, 0, NULL, &second));
}

static void contexts_are_limited_and_come_back(void)
{
	const struct rlimit limit = { MANY + 100, MANY + 100 };
	int files[MANY], count, i;

	setrlimit(RLIMIT_NOFILE, &limit);
	for (count = 0; count < MANY; count++) {
		files[count] = open(selftest_device, O_RDWR | O_CLOEXEC);
		if (files[count] < 0)
			break;
	}
	EXPECT_EQUAL(EBUSY, errno);
	EXPECT(count > 0);
	for (i = 0; i < count; i++)
		close(files[i]);
	selftest_open();
}

static void contexts_of_a_user_are_limited(void)
{
	int file = 0, count;

	EXPECT_EQUAL(0, setgid(NOBODY));
	EXPECT_EQUAL(0, setuid(NOBODY));
	for (count = 0; count < MANY && file >= 0; count += file >= 0)
		file = open(selftest_device, O_RDWR | O_CLOEXEC);
	EXPECT_EQUAL(EDQUOT, errno);
	EXPECT(count > 0);
}

static void rings_that_cannot_be_are_refused(void)
{
	struct bp_context *context = selftest_open(), *other = selftest_open();
	struct bp_imm_ring_create request = { .bytes = 4096, .ring = BP_IMM_ANY_RING };
	struct bp_imm_ring_destroy destroy = { 0 };
	const struct bp_memory *memory;
	struct bp_ring *ring, *again;
	char *bytes = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT_EQUAL(-EINVAL, bp_ring_create(context, BP_ANY_RING, 5000, 0, NULL, &ring));
	EXPECT_EQUAL(-EINVAL, bp_ring_create(context, BP_ANY_RING, 2048, 0, NULL, &ring));
	EXPECT_EQUAL(-EINVAL, bp_ring_create(context, BP_ANY_RING, 128 << 20, 0, NULL, &ring));
	EXPECT_EQUAL(-EINVAL, bp_ring_create(context, BP_ANY_RING, 4096, 0x80, NULL, &ring));
	EXPECT_EQUAL(-EINVAL, bp_ring_create(context, BP_ANY_RING - 1, 4096, 0, NULL, &ring));
	ring = selftest_ring(context, 4096, 0);
	EXPECT_EQUAL(-EBUSY, bp_ring_create(other, bp_ring_id(ring), 4096, 0, NULL, &again));
	/* Another context's ring is not its own. */
	destroy.ring = bp_ring_id(ring);
	EXPECT_ERRNO(ENOENT, ioctl(bp_fd(other), BP_IMM_IOC_RING_DESTROY, &destroy));
	/* No such memory, no room in it, crooked offset. */
	request.memory = 60;
	EXPECT_ERRNO(ENOENT, ioctl(bp_fd(context), BP_IMM_IOC_RING_CREATE, &request));
	EXPECT_EQUAL(0, bp_memory_register(context, bytes, 16384, 0, NULL, &memory));
	request.memory = memory->id;
	request.bytes = 16384;
	EXPECT_ERRNO(EINVAL, ioctl(bp_fd(context), BP_IMM_IOC_RING_CREATE, &request));
	request.bytes = 4096;
	request.offset = 64;
	EXPECT_ERRNO(EINVAL, ioctl(bp_fd(context), BP_IMM_IOC_RING_CREATE, &request));
	request.offset = 4096;
	EXPECT_EQUAL(0, ioctl(bp_fd(context), BP_IMM_IOC_RING_CREATE, &request));
	EXPECT_EQUAL(-EBUSY, bp_memory_unregister(context, memory));
}

static void the_descriptor_is_readable_only_with_events(void)
{
	struct bp_context *context = selftest_open();
	struct bp_ring *ring = selftest_ring(context, 4096, 0);
	struct bp_target target = selftest_target(context, ring);
	struct pollfd poll_fd = { .fd = bp_fd(context), .events = POLLIN };
	struct bp_element element;

	EXPECT_EQUAL(0, poll(&poll_fd, 1, 0));
	EXPECT_EQUAL(0, bp_ring_arm(ring));
	EXPECT_EQUAL(0, bp_put(context, &target, "x", 1, 0));
	EXPECT_EQUAL(1, poll(&poll_fd, 1, 10000));
	EXPECT_EQUAL(POLLIN, poll_fd.revents);
	EXPECT_EQUAL(1, bp_events(context));
	EXPECT_EQUAL(0, poll(&poll_fd, 1, 0));
	/* Not armed again: no further event. */
	EXPECT_EQUAL(0, bp_put(context, &target, "x", 1, 0));
	EXPECT_EQUAL(0, poll(&poll_fd, 1, 50));
	EXPECT_EQUAL(1, bp_ring_next(ring, &element));
	EXPECT_EQUAL(1, bp_ring_arm(ring));
}

#define TEST(_name) { "driver." #_name, _name }

const struct selftest selftest_driver[] = {
	TEST(a_context_page_says_who_it_is),
	TEST(a_context_comes_back_zeroed_with_a_new_generation),
	TEST(only_the_two_pages_can_be_mapped),
	TEST(a_mapped_page_cannot_grow_or_execute),
	TEST(pages_outlive_their_file_and_move),
	TEST(unknown_calls_and_fields_are_refused),
	TEST(memory_that_is_none_is_refused),
	TEST(memories_of_a_context_are_limited_and_come_back),
	TEST(pinned_memory_counts_against_the_limit),
	TEST(contexts_are_limited_and_come_back),
	TEST(contexts_of_a_user_are_limited),
	TEST(rings_that_cannot_be_are_refused),
	TEST(the_descriptor_is_readable_only_with_events),
	{ NULL, NULL },
};
