// SPDX-License-Identifier: GPL-2.0
/*
 * Transmit: the ring, and completed descriptors back.
 *
 * Interrupts for completed frames are dear and seldom needed: whoever sends or
 * receives next takes the frames back on the way, and a timer bounds the time
 * until then. Only a queue that is stopped needs the interrupt at once. Nobody
 * waits for the memory of a short frame, since a copy of it is sent: it needs
 * no timer either, and the service takes it back at last.
 */

#include <linux/dma-mapping.h>
#include <linux/skbuff.h>

#include "bp_agg.h"

/* What the stack's queue limits are told to have completed. */
struct bp_agg_tx_done {
	u32 frames;
	u32 bytes;
};

/* Nobody has sent or received for a while: takes back what has completed. */
static enum hrtimer_restart bp_agg_tx_timer(struct hrtimer *timer)
{
	struct bp_agg_tx *tx = container_of(timer, struct bp_agg_tx, timer);
	struct bp_agg_ring *ring = &tx->ring;

	if (READ_ONCE(ring->published) != READ_ONCE(ring->consumer))
		bp_agg_pair_schedule(bp_agg_tx_pair(tx));
	return HRTIMER_NORESTART;
}

/**
 * bp_agg_tx_alloc() - allocate the transmit side of a pair
 * @pair: queue pair
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_tx_alloc(struct bp_agg_pair *pair)
{
	struct bp_agg *priv = pair->priv;
	struct bp_agg_tx *tx = &pair->tx;
	int err;

	tx->slots = kvcalloc(priv->tx_size, sizeof(*tx->slots), GFP_KERNEL);
	if (!tx->slots)
		return -ENOMEM;

	err = bp_agg_ring_alloc(priv, &tx->ring, pair->index, priv->tx_size,
				sizeof(struct bp_agg_tx_desc),
				sizeof(struct bp_agg_tx_comp));
	if (err)
		goto free_slots;

	tx->copy_count = min_t(u32, priv->tx_size, BP_AGG_TX_COPIES);
	tx->copies = dma_alloc_coherent(&priv->pdev->dev,
					tx->copy_count * BP_AGG_TX_COPYBREAK,
					&tx->copies_dma, GFP_KERNEL);
	if (!tx->copies) {
		err = -ENOMEM;
		goto free_ring;
	}

	/* Thresholds that every ring can reach, from 2 descriptors on. */
	tx->max_count = min3((u32)MAX_SKB_FRAGS + 1, priv->max_segments,
			     priv->tx_size);
	tx->wake_at = max(tx->max_count, priv->tx_size / 4);
	tx->queue = netdev_get_tx_queue(priv->dev, pair->index);
	bp_agg_timer_setup(&tx->timer, bp_agg_tx_timer);
	return 0;

free_ring:
	bp_agg_ring_free(priv, &tx->ring);
free_slots:
	kvfree(tx->slots);
	tx->slots = NULL;
	return err;
}

/**
 * bp_agg_tx_free() - free what bp_agg_tx_alloc() allocated
 * @pair: queue pair that the device does not use any more
 */
void bp_agg_tx_free(struct bp_agg_pair *pair)
{
	struct bp_agg_tx *tx = &pair->tx;

	if (!tx->slots)
		return;
	dma_free_coherent(&pair->priv->pdev->dev,
			  tx->copy_count * BP_AGG_TX_COPYBREAK, tx->copies,
			  tx->copies_dma);
	bp_agg_ring_free(pair->priv, &tx->ring);
	kvfree(tx->slots);
	tx->slots = NULL;
}

/**
 * bp_agg_tx_unmap() - take the buffers of a frame back from the device
 * @tx: transmit side
 * @index: the frame's first descriptor: its linear part
 * @count: descriptors; all but the first are page fragments
 */
void bp_agg_tx_unmap(struct bp_agg_tx *tx, u32 index, u32 count)
{
	struct device *dev = &bp_agg_tx_pair(tx)->priv->pdev->dev;
	struct bp_agg_tx_slot *slot = bp_agg_tx_slot(tx, index);
	u32 i;

	dma_unmap_single(dev, slot->dma, slot->length, DMA_TO_DEVICE);
	for (i = 1; i < count; i++) {
		slot = bp_agg_tx_slot(tx, index + i);
		dma_unmap_page(dev, slot->dma, slot->length, DMA_TO_DEVICE);
	}
}

/**
 * bp_agg_tx_empty() - drop all frames that the ring holds
 * @tx: transmit side of a pair that neither stack nor device use
 */
void bp_agg_tx_empty(struct bp_agg_tx *tx)
{
	struct bp_agg_ring *ring = &tx->ring;

	hrtimer_cancel(&tx->timer);
	while (ring->consumer != ring->producer) {
		struct bp_agg_tx_slot *slot = bp_agg_tx_slot(tx, ring->consumer);
		u32 count = slot->count;

		if (slot->skb) {
			bp_agg_tx_unmap(tx, ring->consumer, count);
			dev_kfree_skb_any(slot->skb);
		} else if (slot->xdpf) {
			xdp_return_frame(slot->xdpf);
		}
		ring->consumer += count;
		u64_stats_update_begin(&tx->sync);
		tx->stats.dropped++;
		u64_stats_update_end(&tx->sync);
	}
	tx->held = 0;
	netdev_tx_reset_queue(tx->queue);
}

/*
 * Frees a completed frame. Returns its bytes, and adds those of the stack's
 * frames to what the queue limits are told.
 */
static u32 bp_agg_tx_release(struct bp_agg_tx *tx, u32 index, int budget,
			     struct bp_agg_tx_done *done)
{
	struct bp_agg_tx_slot *slot = bp_agg_tx_slot(tx, index);
	struct sk_buff *skb = slot->skb;
	u32 length = slot->length;

	if (slot->xdpf) {
		/* Its page stays mapped, by its pool. */
		xdp_return_frame(slot->xdpf);
		tx->held--;
		return length;
	}
	if (skb) {
		length = skb->len;
		bp_agg_tx_unmap(tx, index, slot->count);
		napi_consume_skb(skb, budget);
		tx->held--;
	}
	done->frames++;
	done->bytes += length;
	return length;
}

static void bp_agg_tx_count(struct bp_agg_tx *tx, u32 status, u32 bytes)
{
	u64_stats_update_begin(&tx->sync);
	switch (status) {
	case BP_AGG_TX_STATUS_OK:
		tx->stats.packets++;
		tx->stats.bytes += bytes;
		break;
	case BP_AGG_TX_STATUS_LINK_DOWN:
	case BP_AGG_TX_STATUS_DROPPED:
		tx->stats.dropped++;
		break;
	default:
		tx->stats.errors++;
		break;
	}
	u64_stats_update_end(&tx->sync);
}

/*
 * Wants an interrupt when half of what is under way has completed. Returns
 * false if that is so already.
 */
static bool bp_agg_tx_arm(struct bp_agg_tx *tx)
{
	struct bp_agg_ring *ring = &tx->ring;
	u32 event = ring->consumer + (ring->published - ring->consumer) / 2;

	if (bp_agg_ring_arm(ring, event) - ring->consumer <=
	    event - ring->consumer)
		return true;
	u64_stats_update_begin(&tx->sync);
	tx->stats.lost_races++;
	u64_stats_update_end(&tx->sync);
	return false;
}

/**
 * bp_agg_tx_watch() - see to it that completions will be noticed
 * @tx: transmit side, under its queue's xmit lock
 *
 * Return: false if there is something to take back now.
 */
bool bp_agg_tx_watch(struct bp_agg_tx *tx)
{
	const struct bp_agg_coalesce *coalesce =
		&bp_agg_tx_pair(tx)->priv->tx_coalesce;
	struct bp_agg_ring *ring = &tx->ring;

	if (ring->published == ring->consumer)
		return true;
	if (netif_xmit_stopped(tx->queue) || !coalesce->usecs)
		return bp_agg_tx_arm(tx);
	if (!tx->held) {
		bp_agg_ring_disarm(ring);
		return true;
	}

	/* No hurry, so no race to be lost either: the timer will come. */
	bp_agg_ring_want(ring, ring->consumer + coalesce->frames - 1);
	if (!hrtimer_is_queued(&tx->timer))
		hrtimer_start(&tx->timer,
			      ns_to_ktime(coalesce->usecs * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_PINNED_SOFT);
	return true;
}

/**
 * bp_agg_tx_clean() - free the frames that the device has completed
 * @tx: transmit side, under its queue's xmit lock
 * @budget: NAPI's budget, 0 in any other context
 *
 * A queue that was stopped is woken if that made enough room.
 */
void bp_agg_tx_clean(struct bp_agg_tx *tx, int budget)
{
	struct bp_agg_ring *ring = &tx->ring;
	const struct bp_agg_tx_comp *comps = ring->completions;
	u32 completed = bp_agg_ring_completed(ring);
	struct bp_agg_tx_done done = {};

	if (unlikely(bp_agg_tx_pair(tx)->resting))
		return;
	if (completed - ring->consumer > ring->published - ring->consumer) {
		bp_agg_protocol_error(bp_agg_tx_pair(tx),
				      "more descriptors completed than sent");
		return;
	}

	while (ring->consumer != completed) {
		u32 index = ring->consumer;
		u32 count = bp_agg_tx_slot(tx, index)->count;
		u32 status, length;

		if (completed - index < count) {
			bp_agg_protocol_error(bp_agg_tx_pair(tx),
					      "part of a frame completed");
			break;
		}
		status = le32_to_cpu(comps[index & (ring->size - 1)].status);
		length = bp_agg_tx_release(tx, index, budget, &done);
		bp_agg_tx_count(tx, status, length);
		WRITE_ONCE(ring->consumer, index + count);
	}

	if (done.frames)
		netdev_tx_completed_queue(tx->queue, done.frames, done.bytes);
	if (netif_tx_queue_stopped(tx->queue) &&
	    bp_agg_tx_space(tx) >= tx->wake_at)
		netif_tx_wake_queue(tx->queue);
}

/**
 * bp_agg_tx_settle() - count what the device has completed, now
 * @tx: transmit side of a device that is up, and stays so meanwhile
 *
 * Nothing wakes us for the completion of a copy.
 */
void bp_agg_tx_settle(struct bp_agg_tx *tx)
{
	__netif_tx_lock_bh(tx->queue);
	bp_agg_tx_clean(tx, 0);
	__netif_tx_unlock_bh(tx->queue);
}

/**
 * bp_agg_tx_poll() - free what the device has completed
 * @tx: transmit side
 * @budget: NAPI's budget
 */
void bp_agg_tx_poll(struct bp_agg_tx *tx, int budget)
{
	struct bp_agg_ring *ring = &tx->ring;

	if (bp_agg_ring_completed(ring) == READ_ONCE(ring->consumer))
		return;

	__netif_tx_lock(tx->queue, smp_processor_id());
	bp_agg_tx_clean(tx, budget);
	__netif_tx_unlock(tx->queue);
}

/**
 * bp_agg_tx_poll_done() - hand over from polling to interrupt and timer
 * @tx: transmit side whose NAPI instance has just completed
 *
 * Return: false if there is something to poll for now.
 */
bool bp_agg_tx_poll_done(struct bp_agg_tx *tx)
{
	struct bp_agg_ring *ring = &tx->ring;
	bool done;

	/* Nothing under way: whoever sends next watches, since NAPI is
	 * complete. Partner: the check of NAPI in bp_agg_tx_finish().
	 */
	if (READ_ONCE(ring->published) == READ_ONCE(ring->consumer))
		return true;

	__netif_tx_lock(tx->queue, smp_processor_id());
	done = bp_agg_tx_watch(tx);
	__netif_tx_unlock(tx->queue);
	return done;
}
