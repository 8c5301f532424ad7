// SPDX-License-Identifier: GPL-2.0
/* Rings in coherent memory: allocation, publication, wake-ups both ways. */

#include <linux/dma-mapping.h>

#include "bp_agg.h"

/**
 * bp_agg_ring_alloc() - allocate the shared memory of a ring
 * @priv: device
 * @ring: ring to set up
 * @block: number of its register block
 * @size: descriptors, a power of two
 * @descriptor_bytes: size of a descriptor
 * @completion_bytes: size of a completion
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_ring_alloc(struct bp_agg *priv, struct bp_agg_ring *ring, u32 block,
		      u32 size, u16 descriptor_bytes, u16 completion_bytes)
{
	struct device *dev = &priv->pdev->dev;

	memset(ring, 0, sizeof(*ring));
	ring->block = block;
	ring->size = size;
	ring->doorbell = priv->bar + BP_AGG_DOORBELLS +
			 block * BP_AGG_DOORBELL_STRIDE;
	ring->descriptor_bytes = descriptor_bytes;
	ring->completion_bytes = completion_bytes;

	ring->descriptors = dma_alloc_coherent(dev, size * descriptor_bytes,
					       &ring->descriptors_dma,
					       GFP_KERNEL);
	if (!ring->descriptors)
		return -ENOMEM;

	ring->completions = dma_alloc_coherent(dev, size * completion_bytes,
					       &ring->completions_dma,
					       GFP_KERNEL);
	if (!ring->completions)
		goto free_descriptors;

	ring->indices = dma_alloc_coherent(dev, sizeof(*ring->indices),
					   &ring->indices_dma, GFP_KERNEL);
	if (!ring->indices)
		goto free_completions;

	return 0;

free_completions:
	dma_free_coherent(dev, size * completion_bytes, ring->completions,
			  ring->completions_dma);
free_descriptors:
	dma_free_coherent(dev, size * descriptor_bytes, ring->descriptors,
			  ring->descriptors_dma);
	ring->descriptors = NULL;
	return -ENOMEM;
}

/**
 * bp_agg_ring_free() - free the shared memory of a ring
 * @priv: device, which does not use the ring any more
 * @ring: the ring; nothing happens if it was not allocated
 */
void bp_agg_ring_free(struct bp_agg *priv, struct bp_agg_ring *ring)
{
	struct device *dev = &priv->pdev->dev;

	if (!ring->descriptors)
		return;

	dma_free_coherent(dev, sizeof(*ring->indices), ring->indices,
			  ring->indices_dma);
	dma_free_coherent(dev, ring->size * ring->completion_bytes,
			  ring->completions, ring->completions_dma);
	dma_free_coherent(dev, ring->size * ring->descriptor_bytes,
			  ring->descriptors, ring->descriptors_dma);
	ring->descriptors = NULL;
}

/**
 * bp_agg_ring_clear() - return a ring to its state after allocation
 * @ring: ring of a disabled queue
 *
 * When a queue is enabled, device and driver both start at index 0.
 */
void bp_agg_ring_clear(struct bp_agg_ring *ring)
{
	memset(ring->descriptors, 0, ring->size * ring->descriptor_bytes);
	memset(ring->completions, 0, ring->size * ring->completion_bytes);
	memset(ring->indices, 0, sizeof(*ring->indices));
	ring->producer = 0;
	ring->published = 0;
	ring->consumer = 0;
}

/* True if an index that went from @old to @now has passed @event. */
static bool bp_agg_passed(u32 event, u32 now, u32 old)
{
	return now - event - 1 < now - old;
}

/**
 * bp_agg_ring_publish() - make the descriptors up to @ring.producer available
 * @ring: ring
 *
 * Return: true if the device had to be woken by the doorbell.
 */
bool bp_agg_ring_publish(struct bp_agg_ring *ring)
{
	u32 old = ring->published;
	u32 now = ring->producer;
	u32 event;

	/* Descriptors become visible before the index that hands them over.
	 * Partner: the acquire in Ring.producer() of the device.
	 */
	dma_wmb();
	WRITE_ONCE(ring->indices->producer, cpu_to_le32(now));
	ring->published = now;

	/* Race: the device goes to sleep while we publish. It stores
	 * doorbell_event, then loads producer once more; we store producer,
	 * then load doorbell_event. With a full barrier on both sides at
	 * least one of us sees the other. Partner: Ring.wantDoorbell().
	 */
	dma_mb();
	event = le32_to_cpu(READ_ONCE(ring->indices->doorbell_event));
	if (!bp_agg_passed(event, now, old))
		return false;

	writel(0, ring->doorbell);
	return true;
}

/**
 * bp_agg_ring_completed() - how far the device has come
 * @ring: ring
 *
 * The value is the device's word: the caller checks it.
 *
 * Return: one past the last completed descriptor.
 */
u32 bp_agg_ring_completed(const struct bp_agg_ring *ring)
{
	u32 completed = le32_to_cpu(READ_ONCE(ring->indices->completed));

	/* Completions and data are read after the index that hands them over.
	 * Partner: the release in Ring.completed() of the device.
	 */
	dma_rmb();
	return completed;
}

/**
 * bp_agg_ring_want() - want an interrupt once the device passes @event
 * @ring: ring
 * @event: index
 *
 * If the device passes it right now, the interrupt may not come.
 */
void bp_agg_ring_want(struct bp_agg_ring *ring, u32 event)
{
	WRITE_ONCE(ring->indices->interrupt_event, cpu_to_le32(event));
}

/**
 * bp_agg_ring_disarm() - want no interrupt
 * @ring: ring
 *
 * An event index that lies behind is never passed. The device may just be
 * signalling by the old value; that interrupt finds nothing to do.
 */
void bp_agg_ring_disarm(struct bp_agg_ring *ring)
{
	bp_agg_ring_want(ring, READ_ONCE(ring->consumer) - 1);
}

/**
 * bp_agg_ring_arm() - want an interrupt once the device passes @event, for sure
 * @ring: ring
 * @event: index
 *
 * Return: how far the device had come afterwards. If that is beyond @event
 * the interrupt may never come, and the caller has to poll again.
 */
u32 bp_agg_ring_arm(struct bp_agg_ring *ring, u32 event)
{
	bp_agg_ring_want(ring, event);

	/* Race: the device completes while we arm. It stores completed, then
	 * loads interrupt_event; we store interrupt_event, then load completed.
	 * With a full barrier on both sides at least one of us sees the other.
	 * Partner: Ring.wantsInterrupt() of the device.
	 */
	dma_mb();
	return bp_agg_ring_completed(ring);
}
