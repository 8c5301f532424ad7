// SPDX-License-Identifier: Apache-2.0
/* Rings of this process: made in its memory, consumed in place. */

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "internal.h"

_Static_assert(BP_RING_SHARED_CONSUMERS == BP_IMM_RING_SHARED_CONSUMERS, "BP_RING_SHARED_CONSUMERS");
_Static_assert(BP_RING_WRITE_ONLY == BP_IMM_RING_WRITE_ONLY, "BP_RING_WRITE_ONLY");
_Static_assert(BP_RING_READ_ONLY == BP_IMM_RING_READ_ONLY, "BP_RING_READ_ONLY");
_Static_assert(BP_ANY_RING == BP_IMM_ANY_RING, "BP_ANY_RING");

/* A ring that is empty looks at its context's state once in so many times: that read is slow. */
#define BP_LOOKS_PER_CHECK 64

static size_t ring_bytes(const struct bp_ring *ring)
{
	return BP_IMM_RING_HEADER + (size_t)ring->capacity;
}

static int announce(struct bp_ring *ring, const struct bp_access *access)
{
	struct bp_imm_ring_create request = {
		.bytes = ring->capacity,
		.flags = ring->flags,
		.memory = ring->memory->id,
		.ring = ring->id,
	};

	if (access) {
		request.key = access->key;
		request.nodes = (uintptr_t)access->nodes;
		request.node_count = access->nodes ? access->node_count : 0;
	}
	if (ioctl(ring->context->fd, BP_IMM_IOC_RING_CREATE, &request))
		return -errno;
	ring->id = request.ring;
	return 0;
}

/* Takes up the positions as the module has left them. */
void bp_ring_attach(struct bp_ring *ring)
{
	ring->elements = (const unsigned char *)ring->header + BP_IMM_RING_HEADER;
	ring->released = bp_load64(&ring->header->head);
	ring->next = ring->tail = ring->released;
	ring->taken = 0;
	ring->refused = bp_load64(&ring->header->refused);
	bp_store64(&ring->header->notify_event, UINT64_MAX);
	bp_store64(&ring->header->notify_elements, 0);
}

int bp_ring_create(struct bp_context *context, uint32_t id, size_t capacity, unsigned int flags,
		   const struct bp_access *access, struct bp_ring **result)
{
	struct bp_ring *ring;
	void *memory;
	int error;

	if (capacity < BP_IMM_RING_MIN_CAPACITY || capacity > BP_IMM_RING_MAX_CAPACITY || capacity & (capacity - 1))
		return -EINVAL;
	ring = calloc(1, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	ring->context = context;
	ring->capacity = capacity;
	ring->flags = flags;
	ring->id = id;
	memory = mmap(NULL, ring_bytes(ring), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		error = -errno;
		goto free_ring;
	}
	/* A child has no use for it, and copying what is pinned is expensive. */
	madvise(memory, ring_bytes(ring), MADV_DONTFORK);
	error = bp_memory_register(context, memory, ring_bytes(ring), 0, NULL, &ring->memory);
	if (error)
		goto unmap;
	ring->header = memory;
	error = announce(ring, access);
	if (error)
		goto unregister;
	bp_ring_attach(ring);
	ring->link = context->rings;
	context->rings = ring;
	*result = ring;
	return 0;

unregister:
	bp_memory_drop(context, ring->memory);
unmap:
	munmap(memory, ring_bytes(ring));
free_ring:
	free(ring);
	return error;
}

/* Frees a ring that the module does not know any more; its registration is the context's. */
void bp_ring_forget(struct bp_ring *ring)
{
	struct bp_ring **link = &ring->context->rings;

	while (*link != ring)
		link = &(*link)->link;
	*link = ring->link;
	munmap((void *)ring->header, ring_bytes(ring));
	free(ring);
}

void bp_ring_destroy(struct bp_ring *ring)
{
	struct bp_imm_ring_destroy request = { 0 };

	if (!ring)
		return;
	request.ring = ring->id;
	ioctl(ring->context->fd, BP_IMM_IOC_RING_DESTROY, &request);
	bp_memory_drop(ring->context, ring->memory);
	bp_ring_forget(ring);
}

uint32_t bp_ring_id(const struct bp_ring *ring)
{
	return ring->id;
}

/* Why an empty ring is empty: 0: because nothing came. */
static int check_ring(struct bp_ring *ring)
{
	switch (bp_load32(&ring->header->state)) {
	case BP_IMM_RING_STATE_OPEN:
		break;
	case BP_IMM_RING_STATE_CORRUPT:
		return BP_RING_CORRUPT;
	default:
		return bp_check_state(ring->context) ? -ENODEV : BP_NO_SUCH_RING;
	}
	if (++ring->empty_looks % BP_LOOKS_PER_CHECK)
		return 0;
	return bp_check_state(ring->context);
}

/* Reads how far the ring goes: 0, or negative. */
static int refresh(struct bp_ring *ring)
{
	/*
	 * Race: an element must not be read before the position that says it is there. Partner: the release of tail in
	 * RingBuffer.commit() (device server, package imm).
	 */
	uint64_t tail = bp_load64(&ring->header->tail);

	if (tail - ring->next > ring->capacity || tail % BP_IMM_ELEMENT_ALIGN)
		return -EPROTO;
	ring->tail = tail;
	return 0;
}

/* Whether there is an element: 1, 0, or negative. */
static int look(struct bp_ring *ring)
{
	int error;

	if (ring->flags & BP_RING_SHARED_CONSUMERS)
		return -EINVAL;
	if (ring->next != ring->tail)
		return 1;
	error = refresh(ring);
	if (error)
		return error;
	return ring->next == ring->tail ? check_ring(ring) : 1;
}

int bp_ring_next(struct bp_ring *ring, struct bp_element *element)
{
	const struct bp_imm_element *head;
	uint64_t place, left;
	uint32_t commit, bytes;
	int ready;

	for (;;) {
		ready = look(ring);
		if (ready <= 0)
			return ready;
		place = ring->next & (ring->capacity - 1);
		left = ring->capacity - place;
		if (left > ring->tail - ring->next)
			left = ring->tail - ring->next;
		head = (const struct bp_imm_element *)(ring->elements + place);
		commit = bp_load32(&head->commit);
		bytes = commit & ~BP_IMM_ELEMENT_PADDING;
		if (!bytes || bytes % BP_IMM_ELEMENT_ALIGN || bytes > left)
			return -EPROTO;
		ring->next += bytes;
		if (!(commit & BP_IMM_ELEMENT_PADDING))
			break;
	}
	if (head->length > bytes - sizeof(*head))
		return -EPROTO;
	ring->taken++;
	element->payload = head + 1;
	element->length = head->length;
	element->sequence = head->sequence;
	element->tag = head->tag;
	element->source_node = head->source_node;
	element->source_context = head->source_context;
	return 1;
}

void bp_ring_release(struct bp_ring *ring)
{
	if (ring->released == ring->next)
		return;
	ring->released = ring->next;
	/* Who was refused so far may try again now. */
	ring->refused = bp_load64(&ring->header->refused);
	/*
	 * Race: the module must not overwrite an element before it was read: release. Partner: the acquire of head in
	 * RingBuffer.commit() (device server, package imm).
	 */
	bp_store64(&ring->header->head, ring->next);
	/*
	 * Race: a PUT finds the ring full and goes waiting while room is made here. The module stores space_wanted, then,
	 * after a full fence, looks at head once more; here head is stored, then, after a full fence, space_wanted is
	 * looked at: at least one of the two sees the other. Partner: RingBuffer.wantSpace() (device server, package imm).
	 */
	bp_full_fence();
	if (bp_load32(&ring->header->space_wanted))
		*ring->context->doorbell = 1;
}

/* Whether so much is there, or the ring is too full for more to come: 1, 0, or negative. */
static int look_when(struct bp_ring *ring, uint64_t elements, uint64_t bytes)
{
	/*
	 * Race: tail is stored before the count, and an element was taken by its tail before it was counted: then there is
	 * nothing left, not 2^64 - 1 elements. Loaded before tail, which so covers all that were counted. Partner:
	 * RingBuffer.commit() (device server, package imm).
	 */
	const int64_t left = (int64_t)(bp_load64(&ring->header->elements) - ring->taken);
	int ready = look(ring);

	if (ready > 0)
		ready = refresh(ring);
	if (ready < 0)
		return ready;
	if (elements && left > 0 && (uint64_t)left >= elements)
		return 1;
	if (bytes && ring->tail - ring->next >= bytes)
		return 1;
	/* Only what is taken makes room: so whoever waits for more takes what there is. */
	return ring->next != ring->tail &&
	       (bp_load32(&ring->header->space_wanted) || bp_load64(&ring->header->refused) != ring->refused);
}

int bp_ring_arm_when(struct bp_ring *ring, uint64_t elements, uint64_t bytes)
{
	int ready;

	if (!elements && !bytes)
		elements = 1;
	/* A ring never holds more. */
	if (bytes > ring->capacity / 2)
		bytes = ring->capacity / 2;
	ready = look_when(ring, elements, bytes);
	if (ready)
		return ready;
	/*
	 * Race: the element that completes the number, or the PUT that finds no room, comes while this process goes to
	 * sleep. Here the wishes are stored, then, after a full fence, the ring is looked at once more; the module stores
	 * tail, or space_wanted, then, after a full fence, looks at the wishes: at least one of the two sees the other.
	 * Partners: RingBuffer.commit() and RingBuffer.wantSpace() (device server, package imm).
	 */
	bp_store64(&ring->header->notify_elements, elements ? ring->taken + elements : 0);
	bp_store64(&ring->header->notify_event, bytes ? ring->next + bytes - 1 : UINT64_MAX);
	bp_full_fence();
	return look_when(ring, elements, bytes);
}

int bp_ring_arm(struct bp_ring *ring)
{
	return bp_ring_arm_when(ring, 1, 0);
}
