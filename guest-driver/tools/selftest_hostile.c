// SPDX-License-Identifier: Apache-2.0
/* A process that writes nonsense where it may write: nobody but itself is hurt, and it is told. */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "payload.h"
#include "selftest.h"

/* Somebody well-behaved: a context with a ring, whose traffic must not suffer. */
struct bystander {
	struct bp_context *context;
	struct bp_ring *ring;
	struct bp_target target;
	uint64_t count;
};

static struct bystander bystander_new(void)
{
	struct bystander bystander;

	bystander.context = selftest_open();
	bystander.ring = selftest_ring(bystander.context, 4096, 0);
	bystander.target = selftest_target(bystander.context, bystander.ring);
	bystander.count = 0;
	return bystander;
}

static void bystander_works(struct bystander *bystander)
{
	struct bp_element element;

	EXPECT_EQUAL(0, bp_put(bystander->context, &bystander->target, &bystander->count, 8, 0));
	EXPECT_EQUAL(1, bp_ring_poll(bystander->ring, &element, 10000000));
	EXPECT_EQUAL(bystander->count, element.sequence);
	EXPECT_EQUAL(bystander->count, *(const uint64_t *)element.payload);
	bp_ring_release(bystander->ring);
	bystander->count++;
}

static void ring_doorbell(int file)
{
	*(volatile uint32_t *)selftest_map(file, BP_IMM_MAP_DOORBELL) = 1;
}

static void an_impossible_submit_stops_the_context(void)
{
	struct bystander bystander = bystander_new();
	int file = selftest_open_raw(), i;
	volatile struct bp_imm_context *page = selftest_map(file, BP_IMM_MAP_CONTEXT);

	page->submit = 1000;
	ring_doorbell(file);
	for (i = 0; i < 1000 && page->state == BP_IMM_CONTEXT_OPEN; i++)
		usleep(10000);
	EXPECT_EQUAL(BP_IMM_CONTEXT_ERROR, page->state);
	bystander_works(&bystander);
	/* It starts anew with a new context. */
	close(file);
	bystander_works(&bystander);
}

static void random_pages_hurt_nobody(void)
{
	struct bystander bystander = bystander_new();
	volatile uint64_t *words;
	uint64_t random[512];
	int file, turn, i;

	for (turn = 0; turn < 100; turn++) {
		file = selftest_open_raw();
		words = (volatile uint64_t *)selftest_map(file, BP_IMM_MAP_CONTEXT);
		payload_fill(random, sizeof(random), (uint64_t)turn);
		for (i = 1; i < 512; i++)
			words[i] = random[i];
		/* All sorts of indices, most of them possible. */
		words[0] = turn % 10 ? (uint64_t)(turn % 9) : random[0];
		ring_doorbell(file);
		bystander_works(&bystander);
		munmap((void *)words, (size_t)sysconf(_SC_PAGESIZE));
		close(file);
	}
}

/* Each field of an action at its extremes: always a status, never silence. */
static void every_wrong_field_ends_in_a_status(void)
{
	static const uint64_t extremes[] = { 0, 1, 7, 0xff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
					     0x100000000, UINT64_MAX / 2, UINT64_MAX - 8, UINT64_MAX };
	struct bystander bystander = bystander_new();
	int file = selftest_open_raw();
	volatile struct bp_imm_context *page = selftest_map(file, BP_IMM_MAP_CONTEXT);
	volatile struct bp_imm_action *slots = (volatile struct bp_imm_action *)page->actions;
	volatile struct bp_imm_completion *ends = (volatile struct bp_imm_completion *)page->completions;
	const size_t count = sizeof(extremes) / sizeof(extremes[0]);
	struct bp_imm_action action;
	uint32_t index = 0, command;
	size_t i, field;

	for (command = 0; command < 10; command++) {
		for (field = 0; field < 8; field++) {
			for (i = 0; i < count; i++) {
				action = (struct bp_imm_action){ .command = (uint8_t)command,
								 .target_node = bystander.target.node,
								 .ring = UINT32_MAX,
								 .memory = BP_IMM_INLINE,
								 .length = 8 };
				memcpy((char *)&action + field * 8, &extremes[i], 8);
				/* The command itself stays what it is, and nothing waits for long. */
				action.command = (uint8_t)command;
				action.flags &= (uint8_t)~BP_IMM_ACTION_WAIT;
				memcpy((void *)&slots[index % BP_IMM_SLOTS], &action, sizeof(action));
				__atomic_thread_fence(__ATOMIC_SEQ_CST);
				page->submit = ++index;
				ring_doorbell(file);
				while (page->complete != index)
					EXPECT_EQUAL(BP_IMM_CONTEXT_OPEN, page->state);
				EXPECT_EQUAL(index - 1, ends[(index - 1) % BP_IMM_SLOTS].index);
				EXPECT(ends[(index - 1) % BP_IMM_SLOTS].status >= BP_IMM_STATUS_OK);
				EXPECT(ends[(index - 1) % BP_IMM_SLOTS].status <= BP_IMM_STATUS_NO_SUCH_MEMORY);
			}
		}
		bystander_works(&bystander);
	}
}

static void a_corrupt_head_closes_the_ring_alone(void)
{
	struct bystander bystander = bystander_new();
	struct bp_context *context = selftest_open();
	const struct bp_memory *memory;
	struct bp_imm_ring_create request = { .bytes = 4096, .ring = BP_IMM_ANY_RING };
	struct bp_target target = bystander.target;
	volatile struct bp_imm_ring *header;
	int code, i;

	header = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT_EQUAL(0, bp_memory_register(context, (void *)header, 8192, 0, NULL, &memory));
	request.memory = memory->id;
	EXPECT_EQUAL(0, ioctl(bp_fd(context), BP_IMM_IOC_RING_CREATE, &request));
	target.ring = request.ring;
	EXPECT_EQUAL(0, bp_put(context, &target, "x", 1, 0));
	header->head = UINT64_MAX / 3;
	for (i = 0; i < 1000; i++) {
		code = bp_put(context, &target, "x", 1, 0);
		if (code)
			break;
	}
	EXPECT_EQUAL(BP_RING_CORRUPT, code);
	EXPECT_EQUAL(BP_IMM_RING_STATE_CORRUPT, header->state);
	bystander_works(&bystander);
}

static void a_scribbled_ring_with_shared_consumers_is_closed(void)
{
	struct bystander bystander = bystander_new();
	struct bp_context *context = selftest_open();
	const struct bp_memory *memory;
	struct bp_imm_ring_create request = { .bytes = 4096, .flags = BP_IMM_RING_SHARED_CONSUMERS };
	struct bp_target target = bystander.target;
	unsigned char *bytes;
	char buffer[64];
	int turn, code;

	bytes = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT_EQUAL(0, bp_memory_register(context, bytes, 8192, 0, NULL, &memory));
	request.memory = memory->id;
	for (turn = 0; turn < 50; turn++) {
		request.ring = BP_IMM_ANY_RING;
		EXPECT_EQUAL(0, ioctl(bp_fd(context), BP_IMM_IOC_RING_CREATE, &request));
		target.ring = request.ring;
		for (code = 0; !code;)
			code = bp_put(context, &target, "element", 7, 0);
		EXPECT_EQUAL(BP_FULL, code);
		payload_fill(bytes, 8192, (uint64_t)turn);
		for (code = 0; !code;)
			code = bp_get(context, &target, buffer, sizeof(buffer), NULL);
		EXPECT(code == BP_RING_CORRUPT || code == BP_TOO_LONG || code == BP_EMPTY);
		bystander_works(&bystander);
		EXPECT_EQUAL(0, ioctl(bp_fd(context), BP_IMM_IOC_RING_DESTROY,
				      &(struct bp_imm_ring_destroy){ .ring = request.ring }));
	}
}

#define TEST(_name) { "hostile." #_name, _name }

const struct selftest selftest_hostile[] = {
	TEST(an_impossible_submit_stops_the_context),
	TEST(random_pages_hurt_nobody),
	TEST(every_wrong_field_ends_in_a_status),
	TEST(a_corrupt_head_closes_the_ring_alone),
	TEST(a_scribbled_ring_with_shared_consumers_is_closed),
	{ NULL, NULL },
};
