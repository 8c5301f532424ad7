// SPDX-License-Identifier: Apache-2.0
/* Actions of a process on rings and memory of its own node: the whole way through the module. */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "payload.h"
#include "selftest.h"

static void elements_of_all_sizes_arrive_in_order(void)
{
	struct bp_context *context = selftest_open();
	struct bp_ring *ring = selftest_ring(context, 65536, 0);
	struct bp_target target = selftest_target(context, ring);
	static unsigned char payload[32768];
	const struct bp_memory *memory;
	struct bp_element element;
	size_t length;
	uint64_t i;

	EXPECT_EQUAL(0, bp_memory_register(context, payload, sizeof(payload), 0, NULL, &memory));
	for (i = 0; i < 600; i++) {
		length = i < 300 ? i : i * 7919 % (32768 - 32 + 1);
		payload_fill(payload, length, i);
		EXPECT_EQUAL(0, bp_put(context, &target, payload, length, i * 5));
		EXPECT_EQUAL(1, bp_ring_poll(ring, &element, 10000000));
		EXPECT_EQUAL(i, element.sequence);
		EXPECT_EQUAL(i * 5, element.tag);
		EXPECT_EQUAL(length, element.length);
		EXPECT_EQUAL(bp_node(context), element.source_node);
		EXPECT_EQUAL(bp_number(context), element.source_context);
		EXPECT(!memcmp(payload, element.payload, length));
		bp_ring_release(ring);
	}
	EXPECT_EQUAL(0, bp_ring_next(ring, &element));
}

static void a_full_ring_is_full_until_there_is_room(void)
{
	struct bp_context *context = selftest_open();
	struct bp_ring *ring = selftest_ring(context, 4096, 0);
	struct bp_target target = selftest_target(context, ring);
	struct bp_element element;
	static char payload[1000];
	int count = 0, code;

	while (!(code = bp_put(context, &target, payload, sizeof(payload), 0)))
		count++;
	EXPECT_EQUAL(BP_FULL, code);
	EXPECT_EQUAL(3, count);
	target.wait_us = 20000;
	EXPECT_EQUAL(BP_TIMED_OUT, bp_put(context, &target, payload, sizeof(payload), 0));
	EXPECT_EQUAL(1, bp_ring_next(ring, &element));
	EXPECT_EQUAL(1, bp_ring_next(ring, &element));
	bp_ring_release(ring);
	target.wait_us = 0;
	EXPECT_EQUAL(0, bp_put(context, &target, payload, sizeof(payload), 0));
}

static void a_put_that_waits_gets_the_room_that_is_made(void)
{
	struct bp_context *context = selftest_open(), *consumer = selftest_open();
	struct bp_ring *ring = selftest_ring(consumer, 4096, 0);
	struct bp_target target = selftest_target(consumer, ring);
	struct bp_action action = {
		.command = BP_PUT,
		.node = target.node,
		.place = target.ring,
		.wait_us = 30000000,
		.tag = 99,
	};
	struct bp_element element;
	struct bp_result result;
	static char payload[1000];
	int code;

	while (!bp_put(context, &target, payload, sizeof(payload), 0))
		;
	action.buffer = payload;
	action.length = sizeof(payload);
	EXPECT_EQUAL(0, bp_submit(context, &action));
	EXPECT_EQUAL(0, bp_reap(context, &result, 1));
	do {
		code = bp_ring_poll(ring, &element, 20000000);
		EXPECT_EQUAL(1, code);
		bp_ring_release(ring);
	} while (element.tag != 99);
	while (!(code = bp_reap(context, &result, 1)))
		;
	EXPECT_EQUAL(1, code);
	EXPECT_EQUAL(0, result.code);
}

static void each_refusal_has_its_code(void)
{
	struct bp_context *context = selftest_open();
	struct bp_ring *ring = selftest_ring(context, 8192, 0), *guarded;
	struct bp_target target = selftest_target(context, ring), wrong;
	const struct bp_access access = { .key = 1234 };
	static char payload[5000];
	const struct bp_memory *memory;

	EXPECT_EQUAL(0, bp_memory_register(context, payload, sizeof(payload), 0, NULL, &memory));
	EXPECT_EQUAL(BP_TOO_LONG, bp_put(context, &target, payload, 4096 - 32 + 1, 0));
	EXPECT_EQUAL(0, bp_put(context, &target, payload, 4096 - 32, 0));
	wrong = target;
	wrong.key = 1;
	EXPECT_EQUAL(BP_DENIED, bp_put(context, &wrong, "", 0, 0));
	wrong = target;
	wrong.node = 4096;
	EXPECT_EQUAL(BP_UNREACHABLE, bp_put(context, &wrong, "", 0, 0));
	wrong = target;
	wrong.ring = UINT32_MAX - 7;
	EXPECT_EQUAL(BP_NO_SUCH_RING, bp_put(context, &wrong, "", 0, 0));
	EXPECT_EQUAL(0, bp_ring_create(context, BP_ANY_RING, 4096, 0, &access, &guarded));
	wrong = selftest_target(context, guarded);
	EXPECT_EQUAL(BP_DENIED, bp_put(context, &wrong, "", 0, 0));
	wrong.key = 1234;
	EXPECT_EQUAL(0, bp_put(context, &wrong, "", 0, 0));
	bp_ring_destroy(guarded);
	EXPECT_EQUAL(BP_NO_SUCH_RING, bp_put(context, &wrong, "", 0, 0));
}

static void a_list_of_nodes_shuts_others_out(void)
{
	struct bp_context *context = selftest_open();
	const uint16_t others[] = { 4000, 4001 };
	uint16_t with_me[] = { 4000, 0 };
	const struct bp_access closed = { .nodes = others, .node_count = 2 };
	const struct bp_access open = { .nodes = with_me, .node_count = 2 };
	struct bp_target target;
	struct bp_ring *ring;

	with_me[1] = (uint16_t)bp_node(context);
	EXPECT_EQUAL(0, bp_ring_create(context, BP_ANY_RING, 4096, 0, &open, &ring));
	target = selftest_target(context, ring);
	EXPECT_EQUAL(0, bp_put(context, &target, "", 0, 0));
	EXPECT_EQUAL(0, bp_ring_create(context, BP_ANY_RING, 4096, 0, &closed, &ring));
	target = selftest_target(context, ring);
	/* Whether the list is also for the owner's own node is the module's business; others are tested with two nodes. */
	bp_put(context, &target, "", 0, 0);
}

static void get_removes_each_element_once(void)
{
	struct bp_context *context = selftest_open();
	struct bp_ring *ring = selftest_ring(context, 4096, BP_RING_SHARED_CONSUMERS);
	struct bp_target target = selftest_target(context, ring);
	struct bp_result result;
	unsigned char buffer[100];
	uint64_t i;

	EXPECT_EQUAL(BP_EMPTY, bp_get(context, &target, buffer, sizeof(buffer), NULL));
	target.wait_us = 20000;
	EXPECT_EQUAL(BP_TIMED_OUT, bp_get(context, &target, buffer, sizeof(buffer), NULL));
	for (i = 0; i < 300; i++) {
		EXPECT_EQUAL(0, bp_put(context, &target, &i, sizeof(i), i + 7));
		EXPECT_EQUAL(0, bp_get(context, &target, buffer, sizeof(buffer), &result));
		EXPECT_EQUAL(sizeof(i), result.length);
		EXPECT(!memcmp(buffer, &i, sizeof(i)));
		EXPECT_EQUAL(i, result.value);
		EXPECT_EQUAL(i + 7, result.tag);
		EXPECT_EQUAL(bp_node(context), result.source_node);
	}
	target.wait_us = 0;
	EXPECT_EQUAL(BP_EMPTY, bp_get(context, &target, buffer, sizeof(buffer), NULL));
	/* What does not fit stays, and its length is told. */
	EXPECT_EQUAL(0, bp_put(context, &target, "twelve bytes", 12, 0));
	EXPECT_EQUAL(BP_TOO_LONG, bp_get(context, &target, buffer, 11, &result));
	EXPECT_EQUAL(12, result.length);
	EXPECT_EQUAL(0, bp_get(context, &target, buffer, 12, &result));
}

static void one_sided_accesses_stay_within_their_memory(void)
{
	struct bp_context *context = selftest_open(), *owner = selftest_open();
	static unsigned char memory[10000], image[5000], back[5000];
	const struct bp_access access = { .key = 5 };
	const struct bp_memory *window, *source, *private;
	struct bp_remote remote = { .node = (uint16_t)bp_node(owner), .key = 5 };

	EXPECT_EQUAL(0, bp_memory_register(owner, memory, sizeof(memory), BP_REMOTE_READ | BP_REMOTE_WRITE, &access,
					   &window));
	EXPECT_EQUAL(0, bp_memory_register(owner, memory, sizeof(memory), 0, &access, &private));
	EXPECT_EQUAL(0, bp_memory_register(context, image, sizeof(image), 0, NULL, &source));
	remote.memory = window->remote;
	payload_fill(image, sizeof(image), 3);
	remote.offset = 4999;
	EXPECT_EQUAL(0, bp_write(context, &remote, image, sizeof(image)));
	EXPECT(!memcmp(memory + 4999, image, sizeof(image)));
	EXPECT_EQUAL(0, memory[4998]);
	EXPECT_EQUAL(0, memory[9999]);
	EXPECT_EQUAL(0, bp_read(context, &remote, back, 3000));
	EXPECT(!memcmp(back, image, 3000));
	remote.offset = 5001;
	EXPECT_EQUAL(BP_BAD_ADDRESS, bp_write(context, &remote, image, sizeof(image)));
	remote.offset = UINT64_MAX;
	EXPECT_EQUAL(BP_BAD_ADDRESS, bp_write(context, &remote, image, 8));
	remote.offset = 0;
	remote.key = 6;
	EXPECT_EQUAL(BP_DENIED, bp_write(context, &remote, image, 8));
	remote.key = 5;
	EXPECT_EQUAL(BP_DENIED, bp_fetch_add(context, &remote, 1, NULL));
	remote.memory = private->remote;
	EXPECT_EQUAL(BP_DENIED, bp_read(context, &remote, back, 8));
	remote.memory += 20;
	EXPECT_EQUAL(BP_NO_SUCH_MEMORY, bp_read(context, &remote, back, 8));
}

static void atomics_return_the_old_value(void)
{
	struct bp_context *context = selftest_open();
	static uint64_t words[8];
	const struct bp_memory *memory;
	struct bp_remote remote = { .node = (uint16_t)bp_node(context) };
	uint64_t old;

	words[2] = 40;
	EXPECT_EQUAL(0, bp_memory_register(context, words, sizeof(words), BP_REMOTE_ATOMIC, NULL, &memory));
	remote.memory = memory->remote;
	remote.offset = 16;
	EXPECT_EQUAL(0, bp_fetch_add(context, &remote, 2, &old));
	EXPECT_EQUAL(40, old);
	EXPECT_EQUAL(42, words[2]);
	EXPECT_EQUAL(0, bp_compare_swap(context, &remote, 41, 100, &old));
	EXPECT_EQUAL(42, old);
	EXPECT_EQUAL(42, words[2]);
	EXPECT_EQUAL(0, bp_compare_swap(context, &remote, 42, 100, &old));
	EXPECT_EQUAL(42, old);
	EXPECT_EQUAL(100, words[2]);
	EXPECT_EQUAL(0, bp_fetch_add(context, &remote, UINT64_MAX, &old));
	EXPECT_EQUAL(99, words[2]);
	EXPECT_EQUAL(0, words[1]);
	EXPECT_EQUAL(0, words[3]);
	remote.offset = 4;
	EXPECT_EQUAL(BP_BAD_ADDRESS, bp_fetch_add(context, &remote, 1, &old));
	remote.offset = sizeof(words);
	EXPECT_EQUAL(BP_BAD_ADDRESS, bp_fetch_add(context, &remote, 1, &old));
}

static void a_batch_keeps_its_order(void)
{
	struct bp_context *context = selftest_open();
	struct bp_ring *ring = selftest_ring(context, 65536, 0);
	struct bp_action action = { .command = BP_PUT, .node = (uint16_t)bp_node(context), .place = bp_ring_id(ring) };
	struct bp_result results[BP_SLOTS];
	uint64_t put = 0, reaped = 0, taken = 0;
	struct bp_element element;
	int count, i;

	action.buffer = &put;
	action.length = sizeof(put);
	while (taken < 2000) {
		while (put < 2000) {
			action.user = action.tag = put;
			if (bp_prepare(context, &action))
				break;
			put++;
		}
		bp_flush(context);
		count = bp_reap(context, results, BP_SLOTS);
		EXPECT(count >= 0);
		for (i = 0; i < count; i++, reaped++) {
			EXPECT_EQUAL(0, results[i].code);
			EXPECT_EQUAL(reaped, results[i].user);
			EXPECT_EQUAL(reaped, results[i].value);
		}
		while (bp_ring_next(ring, &element) > 0) {
			EXPECT_EQUAL(taken, element.tag);
			EXPECT_EQUAL(taken, *(const uint64_t *)element.payload);
			taken++;
		}
		bp_ring_release(ring);
	}
	/* The last results may still be to come. */
	while (reaped < put) {
		count = bp_reap(context, results, BP_SLOTS);
		EXPECT(count >= 0);
		reaped += (uint64_t)count;
	}
}

static void sleeping_for_completions_and_elements_works(void)
{
	struct bp_context *context = NULL;
	struct bp_ring *ring;
	struct bp_target target;
	struct bp_element element;
	uint64_t i;

	EXPECT_EQUAL(0, bp_open(&context, selftest_device, BP_OPEN_SLEEP));
	ring = selftest_ring(context, 4096, 0);
	target = selftest_target(context, ring);
	for (i = 0; i < 200; i++) {
		EXPECT_EQUAL(0, bp_put(context, &target, &i, sizeof(i), i));
		EXPECT_EQUAL(1, bp_ring_wait(ring, 10000));
		EXPECT_EQUAL(1, bp_ring_next(ring, &element));
		EXPECT_EQUAL(i, element.tag);
		bp_ring_release(ring);
	}
	EXPECT_EQUAL(0, bp_ring_wait(ring, 20));
}

static void several_elements_or_a_full_ring_are_one_event(void)
{
	struct bp_context *context = selftest_open();
	struct bp_ring *ring = selftest_ring(context, 4096, 0);
	struct bp_target target = selftest_target(context, ring);
	struct pollfd poll_fd = { .fd = bp_fd(context), .events = POLLIN };
	struct bp_element element;
	uint64_t i;
	int turn;

	for (turn = 0; turn < 20; turn++) {
		EXPECT_EQUAL(0, bp_ring_arm_when(ring, 3, 0));
		for (i = 0; i < 3; i++) {
			EXPECT_EQUAL(0, bp_events(context));
			EXPECT_EQUAL(0, bp_put(context, &target, &i, sizeof(i), i));
		}
		EXPECT_EQUAL(1, poll(&poll_fd, 1, 10000));
		EXPECT_EQUAL(1, bp_events(context));
		EXPECT_EQUAL(1, bp_ring_wait_when(ring, 3, 0, -1));
		EXPECT_EQUAL(0, bp_ring_wait_when(ring, 4, 0, 1));
		/* Whoever waits for more than there is room for is told by the first PUT that finds none. */
		EXPECT_EQUAL(0, bp_ring_arm_when(ring, 100000, 0));
		while (!bp_put(context, &target, &i, sizeof(i), i))
			;
		EXPECT_EQUAL(1, poll(&poll_fd, 1, 10000));
		EXPECT_EQUAL(1, bp_events(context));
		EXPECT_EQUAL(1, bp_ring_wait_when(ring, 100000, 0, -1));
		while (bp_ring_next(ring, &element) > 0)
			;
		bp_ring_release(ring);
	}
}

#define TEST(_name) { "action." #_name, _name }

const struct selftest selftest_actions[] = {
	TEST(elements_of_all_sizes_arrive_in_order),
	TEST(a_full_ring_is_full_until_there_is_room),
	TEST(a_put_that_waits_gets_the_room_that_is_made),
	TEST(each_refusal_has_its_code),
	TEST(a_list_of_nodes_shuts_others_out),
	TEST(get_removes_each_element_once),
	TEST(one_sided_accesses_stay_within_their_memory),
	TEST(atomics_return_the_old_value),
	TEST(a_batch_keeps_its_order),
	TEST(sleeping_for_completions_and_elements_works),
	TEST(several_elements_or_a_full_ring_are_one_event),
	{ NULL, NULL },
};
