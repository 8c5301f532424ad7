// SPDX-License-Identifier: Apache-2.0
// C++17 on libbackplane: the same functions, with owners that close what they hold, and exceptions for errors. What is no
// error is no exception: a ring without room or without an element. Header only; link with -lbackplane. backplane.h says
// what each function does, and about threads and processes.
#ifndef BACKPLANE_HPP
#define BACKPLANE_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "backplane.h"

namespace backplane {

// What a function returned that is an error: code() is -errno or one of bp_code.
class error : public std::runtime_error {
public:
	explicit error(int code) : std::runtime_error(bp_strerror(code)), code_(code) {}
	int code() const noexcept { return code_; }

private:
	int code_;
};

// Throws if a function failed; else its result.
inline int check(int code)
{
	if (code < 0)
		throw error(code);
	return code;
}

class context;

// Registered memory; withdrawn at its end, which must not come before that of the actions that use it, nor after that of
// its context.
class memory {
public:
	memory(memory &&other) noexcept : context_(other.context_), memory_(std::exchange(other.memory_, nullptr)) {}
	memory &operator=(memory &&other) noexcept
	{
		std::swap(context_, other.context_);
		std::swap(memory_, other.memory_);
		return *this;
	}
	~memory()
	{
		if (memory_)
			bp_memory_unregister(context_, memory_);
	}

	void *address() const noexcept { return memory_->address; }
	std::size_t size() const noexcept { return memory_->bytes; }
	std::uint32_t remote() const noexcept { return memory_->remote; }

private:
	friend class context;
	memory(bp_context *of, const bp_memory *registered) noexcept : context_(of), memory_(registered) {}

	bp_context *context_;
	const bp_memory *memory_;
};

// An element, in place: its payload is good until its ring's release().
struct element : bp_element {
	std::string_view bytes() const noexcept { return { static_cast<const char *>(payload), length }; }
};

// A ring of this process; destroyed at its end, which must not come after that of its context.
class ring {
public:
	explicit ring(bp_ring *owned) noexcept : ring_(owned) {}
	ring(ring &&other) noexcept : ring_(other.give()) {}
	ring &operator=(ring &&other) noexcept
	{
		std::swap(ring_, other.ring_);
		return *this;
	}
	~ring() { bp_ring_destroy(ring_); }

	bp_ring *get() const noexcept { return ring_; }
	// The C structure, which the caller destroys.
	bp_ring *give() noexcept { return std::exchange(ring_, nullptr); }

	std::uint32_t id() const noexcept { return bp_ring_id(ring_); }

	// The next element, if there is one.
	std::optional<element> next()
	{
		element e{};
		return check(bp_ring_next(ring_, &e)) ? std::optional<element>(e) : std::nullopt;
	}

	// The same, waiting awake for at most so long; negative: for ever.
	std::optional<element> poll(std::int64_t timeout_us)
	{
		element e{};
		return check(bp_ring_poll(ring_, &e, timeout_us)) ? std::optional<element>(e) : std::nullopt;
	}

	void release() noexcept { bp_ring_release(ring_); }
	bool arm(std::uint64_t elements = 1, std::uint64_t bytes = 0)
	{
		return check(bp_ring_arm_when(ring_, elements, bytes)) != 0;
	}
	bool wait(int timeout_ms = -1, std::uint64_t elements = 1, std::uint64_t bytes = 0)
	{
		return check(bp_ring_wait_when(ring_, elements, bytes, timeout_ms)) != 0;
	}

private:
	bp_ring *ring_;
};

class context {
public:
	explicit context(unsigned int flags = BP_OPEN_YIELD, const char *device = nullptr) : context_(nullptr)
	{
		check(bp_open(&context_, device, flags));
	}
	// Takes over what bp_open() has made.
	explicit context(bp_context *owned) noexcept : context_(owned) {}
	context(context &&other) noexcept : context_(other.give()) {}
	context &operator=(context &&other) noexcept
	{
		std::swap(context_, other.context_);
		return *this;
	}
	~context() { bp_close(context_); }

	bp_context *get() const noexcept { return context_; }
	// The C structure, which the caller closes.
	bp_context *give() noexcept { return std::exchange(context_, nullptr); }

	unsigned int node() const noexcept { return bp_node(context_); }
	unsigned int number() const noexcept { return bp_number(context_); }
	int fd() const noexcept { return bp_fd(context_); }
	int events() { return check(bp_events(context_)); }

	ring make_ring(std::size_t capacity, std::uint32_t id = BP_ANY_RING, unsigned int flags = 0,
		       const bp_access *access = nullptr)
	{
		bp_ring *made = nullptr;
		check(bp_ring_create(context_, id, capacity, flags, access, &made));
		return ring(made);
	}

	memory register_memory(void *address, std::size_t bytes, unsigned int flags = 0, const bp_access *access = nullptr)
	{
		const bp_memory *registered = nullptr;
		check(bp_memory_register(context_, address, bytes, flags, access, &registered));
		return memory(context_, registered);
	}

	// Whether the element is in the ring; false: the ring has no room.
	bool put(const bp_target &target, std::string_view payload, std::uint64_t tag = 0)
	{
		int code = bp_put(context_, &target, payload.data(), payload.size(), tag);
		return code != BP_FULL && code != BP_TIMED_OUT && check(code) == 0;
	}

	// What was removed from the ring; nothing: the ring has no element.
	std::optional<bp_result> get(const bp_target &target, void *buffer, std::size_t room)
	{
		bp_result result{};
		int code = bp_get(context_, &target, buffer, room, &result);
		if (code == BP_EMPTY || code == BP_TIMED_OUT)
			return std::nullopt;
		check(code);
		return result;
	}

	void write(const bp_remote &to, std::string_view data)
	{
		check(bp_write(context_, &to, data.data(), data.size()));
	}
	void read(const bp_remote &from, void *buffer, std::size_t length)
	{
		check(bp_read(context_, &from, buffer, length));
	}
	// Both return what the word held before.
	std::uint64_t fetch_add(const bp_remote &word, std::uint64_t addend)
	{
		std::uint64_t old = 0;
		check(bp_fetch_add(context_, &word, addend, &old));
		return old;
	}
	std::uint64_t compare_swap(const bp_remote &word, std::uint64_t expected, std::uint64_t desired)
	{
		std::uint64_t old = 0;
		check(bp_compare_swap(context_, &word, expected, desired, &old));
		return old;
	}

	// Whether a slot was free for the action.
	bool prepare(const bp_action &action)
	{
		int code = bp_prepare(context_, &action);
		return code != -EAGAIN && check(code) == 0;
	}
	void flush() noexcept { bp_flush(context_); }
	// The next result, if an action has ended.
	std::optional<bp_result> reap()
	{
		bp_result result{};
		return check(bp_reap(context_, &result, 1)) ? std::optional<bp_result>(result) : std::nullopt;
	}
	unsigned int in_flight() const noexcept { return bp_in_flight(context_); }
	bool wait(int timeout_ms = -1) { return check(bp_wait(context_, timeout_ms)) != 0; }

private:
	bp_context *context_;
};

} // namespace backplane

#endif // BACKPLANE_HPP
