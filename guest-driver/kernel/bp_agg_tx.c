// SPDX-License-Identifier: GPL-2.0
/* Transmit: frames to descriptors, and completed descriptors back. */

#include <linux/dma-mapping.h>
#include <linux/if_vlan.h>
#include <linux/skbuff.h>
#include <net/ip6_checksum.h>

#include "bp_agg.h"

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

	/* Thresholds that every ring can reach, from 2 descriptors on. */
	tx->max_count = min3((u32)MAX_SKB_FRAGS + 1, priv->max_segments,
			     priv->tx_size);
	tx->wake_at = max(tx->max_count, priv->tx_size / 4);
	tx->queue = netdev_get_tx_queue(priv->dev, pair->index);
	return 0;

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
	bp_agg_ring_free(pair->priv, &pair->tx.ring);
	kvfree(pair->tx.slots);
	pair->tx.slots = NULL;
}

static struct bp_agg_tx_slot *bp_agg_tx_slot(struct bp_agg_tx *tx, u32 index)
{
	return &tx->slots[index & (tx->ring.size - 1)];
}

static u32 bp_agg_tx_space(const struct bp_agg_tx *tx)
{
	return tx->ring.size - (tx->ring.producer - tx->ring.consumer);
}

/* A frame's first slot is its linear part, the others are page fragments. */
static void bp_agg_tx_unmap(struct bp_agg_tx *tx, u32 index, u32 count)
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

	while (ring->consumer != ring->producer) {
		struct bp_agg_tx_slot *slot = bp_agg_tx_slot(tx, ring->consumer);
		u32 count = slot->count;

		bp_agg_tx_unmap(tx, ring->consumer, count);
		dev_kfree_skb_any(slot->skb);
		slot->skb = NULL;
		ring->consumer += count;
		u64_stats_update_begin(&tx->sync);
		tx->stats.dropped++;
		u64_stats_update_end(&tx->sync);
	}
	netdev_tx_reset_queue(tx->queue);
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
 * Frees the frames that the device has completed, and wakes the queue if that
 * made enough room. Under the queue's xmit lock. @budget as in NAPI; 0 means
 * any context.
 */
static void bp_agg_tx_clean(struct bp_agg_tx *tx, int budget)
{
	struct bp_agg_ring *ring = &tx->ring;
	const struct bp_agg_tx_comp *comps = ring->completions;
	u32 completed = bp_agg_ring_completed(ring);
	u32 frames = 0, bytes = 0;

	if (unlikely(bp_agg_tx_pair(tx)->resting))
		return;
	if (completed - ring->consumer > ring->published - ring->consumer) {
		bp_agg_protocol_error(bp_agg_tx_pair(tx),
				      "more descriptors completed than sent");
		return;
	}

	while (ring->consumer != completed) {
		u32 index = ring->consumer;
		struct bp_agg_tx_slot *slot = bp_agg_tx_slot(tx, index);
		u32 count = slot->count;
		struct sk_buff *skb = slot->skb;

		if (completed - index < count) {
			bp_agg_protocol_error(bp_agg_tx_pair(tx),
					      "part of a frame completed");
			break;
		}
		bp_agg_tx_count(tx, le32_to_cpu(comps[index & (ring->size - 1)].status),
				skb->len);
		bp_agg_tx_unmap(tx, index, count);
		frames++;
		bytes += skb->len;
		slot->skb = NULL;
		napi_consume_skb(skb, budget);
		WRITE_ONCE(ring->consumer, index + count);
	}

	if (!frames)
		return;
	netdev_tx_completed_queue(tx->queue, frames, bytes);
	if (netif_tx_queue_stopped(tx->queue) &&
	    bp_agg_tx_space(tx) >= tx->wake_at)
		netif_tx_wake_queue(tx->queue);
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

/*
 * Wants an interrupt when three quarters of what is under way have completed:
 * early enough for the sockets that wait for it, late enough to spare most
 * interrupts. Under the queue's xmit lock. Returns true if that was too late.
 */
static bool bp_agg_tx_arm_locked(struct bp_agg_tx *tx)
{
	struct bp_agg_ring *ring = &tx->ring;
	u32 pending = ring->published - ring->consumer;
	u32 event = ring->consumer + pending * 3 / 4;
	u32 completed;

	if (!pending)
		return false;
	completed = bp_agg_ring_arm(ring, event);
	return completed - ring->consumer > event - ring->consumer;
}

/**
 * bp_agg_tx_arm() - want an interrupt for what is under way
 * @tx: transmit side whose NAPI instance has just completed
 *
 * Return: true if there is work already: poll again.
 */
bool bp_agg_tx_arm(struct bp_agg_tx *tx)
{
	struct bp_agg_ring *ring = &tx->ring;
	bool again;

	/* Nothing under way: whoever sends next arms, since NAPI is complete.
	 * Partner: the check of napi_is_scheduled() in bp_agg_tx_finish().
	 */
	if (READ_ONCE(ring->published) == READ_ONCE(ring->consumer))
		return false;

	__netif_tx_lock(tx->queue, smp_processor_id());
	again = bp_agg_tx_arm_locked(tx);
	if (again) {
		u64_stats_update_begin(&tx->sync);
		tx->stats.lost_races++;
		u64_stats_update_end(&tx->sync);
	}
	__netif_tx_unlock(tx->queue);
	return again;
}

/* Publishes what was queued and sees to it that its completion is noticed. */
static void bp_agg_tx_finish(struct bp_agg_tx *tx)
{
	struct bp_agg_pair *pair = bp_agg_tx_pair(tx);
	bool rung = bp_agg_ring_publish(&tx->ring);

	u64_stats_update_begin(&tx->sync);
	if (rung)
		tx->stats.doorbells++;
	else
		tx->stats.doorbells_saved++;
	u64_stats_update_end(&tx->sync);

	/* Race: NAPI completes while we send. We store producer, then look
	 * whether NAPI is scheduled; it completes, then looks whether something
	 * is under way. The barrier in bp_agg_ring_publish() and the atomic
	 * operation of napi_complete_done() let at least one of us arm.
	 */
	if (napi_is_scheduled(&pair->napi))
		return;
	while (bp_agg_tx_arm_locked(tx) && !pair->resting)
		bp_agg_tx_clean(tx, 0);
}

static bool bp_agg_tx_describe_gso(const struct sk_buff *skb,
				   struct bp_agg_tx_desc *desc)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	unsigned int headers;
	u16 type;

	if (info->gso_type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6)) {
		type = info->gso_type & SKB_GSO_TCPV4 ? BP_AGG_GSO_TCPV4 :
							BP_AGG_GSO_TCPV6;
		headers = skb_tcp_all_headers(skb);
	} else if (info->gso_type & SKB_GSO_UDP_L4) {
		type = BP_AGG_GSO_UDP;
		headers = skb_transport_offset(skb) + sizeof(struct udphdr);
	} else {
		return false;
	}
	desc->gso_type = cpu_to_le16(type);
	desc->gso_size = cpu_to_le16(info->gso_size);
	desc->header_length = cpu_to_le16(headers);
	return true;
}

/* Fills the offload fields and flags of a frame's first descriptor. */
static bool bp_agg_tx_describe(const struct sk_buff *skb,
			       struct bp_agg_tx_desc *desc)
{
	u16 flags = 0;

	if (skb->ip_summed == CHECKSUM_PARTIAL) {
		flags |= BP_AGG_TX_CHECKSUM;
		desc->csum_start = cpu_to_le16(skb_checksum_start_offset(skb));
		desc->csum_offset = cpu_to_le16(skb->csum_offset);
	}
	if (skb_vlan_tag_present(skb)) {
		flags |= BP_AGG_TX_VLAN;
		desc->vlan_tci = cpu_to_le16(skb_vlan_tag_get(skb));
	}
	desc->flags = cpu_to_le16(flags);
	return !skb_is_gso(skb) || bp_agg_tx_describe_gso(skb, desc);
}

static void bp_agg_tx_store(struct bp_agg_tx *tx, u32 index, dma_addr_t dma,
			    u32 length)
{
	struct bp_agg_tx_desc *descs = tx->ring.descriptors;
	struct bp_agg_tx_desc *desc = &descs[index & (tx->ring.size - 1)];
	struct bp_agg_tx_slot *slot = bp_agg_tx_slot(tx, index);

	desc->address = cpu_to_le64(dma);
	desc->length = cpu_to_le32(length);
	slot->dma = dma;
	slot->length = length;
}

/*
 * Maps a frame and writes its descriptors from ring.producer on, without
 * making them available. Returns their number, or 0 if the frame cannot be
 * sent.
 */
static u32 bp_agg_tx_map(struct bp_agg_tx *tx, struct sk_buff *skb)
{
	struct device *dev = &bp_agg_tx_pair(tx)->priv->pdev->dev;
	const struct skb_shared_info *info = skb_shinfo(skb);
	struct bp_agg_tx_desc *descs = tx->ring.descriptors;
	u32 mask = tx->ring.size - 1;
	u32 first = tx->ring.producer;
	struct bp_agg_tx_desc head = {};
	u32 count = 0;
	dma_addr_t dma;
	u32 length;

	if (!bp_agg_tx_describe(skb, &head))
		return 0;
	length = skb_headlen(skb);
	dma = dma_map_single(dev, skb->data, length, DMA_TO_DEVICE);
	if (dma_mapping_error(dev, dma))
		return 0;
	descs[first & mask] = head;
	bp_agg_tx_store(tx, first, dma, length);

	for (count = 1; count <= info->nr_frags; count++) {
		const skb_frag_t *frag = &info->frags[count - 1];

		length = skb_frag_size(frag);
		dma = skb_frag_dma_map(dev, frag, 0, length, DMA_TO_DEVICE);
		if (dma_mapping_error(dev, dma))
			goto unmap;
		descs[(first + count) & mask].flags = 0;
		bp_agg_tx_store(tx, first + count, dma, length);
	}
	descs[(first + count - 1) & mask].flags |=
		cpu_to_le16(BP_AGG_TX_END_OF_FRAME);
	return count;

unmap:
	bp_agg_tx_unmap(tx, first, count);
	return 0;
}

/**
 * bp_agg_start_xmit() - send a frame
 * @skb: frame
 * @dev: network device
 *
 * Return: NETDEV_TX_OK, or NETDEV_TX_BUSY if the ring is full.
 */
netdev_tx_t bp_agg_start_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct bp_agg *priv = netdev_priv(dev);
	struct bp_agg_pair *pair = &priv->pairs[skb_get_queue_mapping(skb)];
	struct bp_agg_tx *tx = &pair->tx;
	struct bp_agg_ring *ring = &tx->ring;
	bool more = netdev_xmit_more();
	u32 count;

	if (unlikely(pair->resting))
		goto drop;
	bp_agg_tx_clean(tx, 0);

	if (unlikely(skb_shinfo(skb)->nr_frags >= tx->max_count)) {
		if (skb_linearize(skb))
			goto drop;
		u64_stats_update_begin(&tx->sync);
		tx->stats.linearized++;
		u64_stats_update_end(&tx->sync);
	}
	if (unlikely(skb->len < BP_AGG_MIN_FRAME ||
		     skb->len > BP_AGG_MAX_FRAME))
		goto drop;
	if (unlikely(bp_agg_tx_space(tx) <= skb_shinfo(skb)->nr_frags)) {
		netif_tx_stop_queue(tx->queue);
		bp_agg_tx_finish(tx);
		return NETDEV_TX_BUSY;
	}

	count = bp_agg_tx_map(tx, skb);
	if (!count)
		goto drop;

	/* All bookkeeping before the device can see the frame: it may complete
	 * at once.
	 */
	bp_agg_tx_slot(tx, ring->producer)->skb = skb;
	bp_agg_tx_slot(tx, ring->producer)->count = count;
	ring->producer += count;
	skb_tx_timestamp(skb);
	if (bp_agg_tx_space(tx) < tx->max_count) {
		netif_tx_stop_queue(tx->queue);
		u64_stats_update_begin(&tx->sync);
		tx->stats.stops++;
		u64_stats_update_end(&tx->sync);
	}
	if (__netdev_tx_sent_queue(tx->queue, skb->len, more))
		bp_agg_tx_finish(tx);
	return NETDEV_TX_OK;

drop:
	dev_kfree_skb_any(skb);
	u64_stats_update_begin(&tx->sync);
	tx->stats.dropped++;
	u64_stats_update_end(&tx->sync);
	if (!more && ring->published != ring->producer && !pair->resting)
		bp_agg_tx_finish(tx);
	return NETDEV_TX_OK;
}
