// SPDX-License-Identifier: Apache-2.0
/* backplane.hpp: owners, exceptions, and what is none. */

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <type_traits>

#include "../../include/backplane.hpp"
#include "../../include/backplane_layout.h"
#include "check.h"
#include "cpp_model.h"

static_assert(!std::is_copy_constructible_v<backplane::context> && std::is_move_constructible_v<backplane::context>);
static_assert(!std::is_copy_constructible_v<backplane::ring> && std::is_move_constructible_v<backplane::ring>);
static_assert(!std::is_copy_constructible_v<backplane::memory> && std::is_move_constructible_v<backplane::memory>);

static void a_device_that_is_not_there_is_an_exception(void)
{
	try {
		backplane::context context(BP_OPEN_YIELD, "/no/such/device");
		CHECK(!"opened");
	} catch (const backplane::error &e) {
		CHECK_EQUAL(-ENOENT, e.code());
		CHECK(std::string(e.what()) == bp_strerror(-ENOENT));
	}
}

/* Runs the module on another thread while the body waits for its actions. */
template <typename Body> static void with_module(Body body)
{
	std::atomic<bool> stop{ false };
	std::thread module([&] {
		while (!stop)
			cpp_model_run();
	});
	body();
	stop = true;
	module.join();
}

static void actions_say_what_became_of_them(void)
{
	backplane::context context(cpp_model_context());
	backplane::ring ring(cpp_model_ring());
	const bp_target target = { 1, 2, 3, 0 };
	char room[8];

	with_module([&] {
		cpp_model_status(BP_IMM_STATUS_OK);
		CHECK(context.put(target, "hello", 5));
		CHECK(context.get(target, room, sizeof(room)).has_value());
		CHECK_EQUAL(7, context.fetch_add({ 1, 2, 3, 8 }, 7));
		cpp_model_status(BP_IMM_STATUS_FULL);
		CHECK(!context.put(target, "hello"));
		cpp_model_status(BP_IMM_STATUS_EMPTY);
		CHECK(!context.get(target, room, sizeof(room)).has_value());
		cpp_model_status(BP_IMM_STATUS_DENIED);
		try {
			context.put(target, "hello");
			CHECK(!"denied");
		} catch (const backplane::error &e) {
			CHECK_EQUAL(BP_DENIED, e.code());
		}
	});
	cpp_model_status(BP_IMM_STATUS_OK);
	bp_action action{};
	action.command = BP_PUT;
	action.buffer = room;
	action.length = sizeof(room);
	unsigned int prepared = 0;
	while (context.prepare(action))
		prepared++;
	CHECK_EQUAL(BP_SLOTS, prepared);
	CHECK_EQUAL(BP_SLOTS, context.in_flight());
	CHECK(!context.reap());
	context.flush();
	CHECK_EQUAL(BP_SLOTS, cpp_model_run());
	while (context.reap())
		prepared--;
	CHECK_EQUAL(0, prepared);
	/* The model's, not the library's, to free. */
	backplane::context moved(std::move(context));
	CHECK(!context.get());
	ring.give();
	moved.give();
	cpp_model_free();
}

static void elements_come_out_of_a_ring(void)
{
	backplane::context context(cpp_model_context());
	backplane::ring first(cpp_model_ring());
	backplane::ring ring(std::move(first));

	CHECK(!ring.next());
	CHECK(!ring.poll(0));
	CHECK(!ring.arm(2));
	CHECK(!ring.wait(0));
	cpp_model_put("one", 1);
	CHECK(ring.wait(0));
	CHECK(!ring.wait(0, 2));
	cpp_model_put("two", 2);
	CHECK(ring.wait(-1, 2));
	auto element = ring.poll(-1);
	CHECK(element && element->bytes() == "one" && element->tag == 1);
	element = ring.next();
	CHECK(element && element->bytes() == "two" && element->sequence == 1);
	ring.release();
	CHECK(!ring.next());
	ring.give();
	context.give();
	cpp_model_free();
}

int main(void)
{
	RUN(a_device_that_is_not_there_is_an_exception);
	RUN(actions_say_what_became_of_them);
	RUN(elements_come_out_of_a_ring);
	return 0;
}
