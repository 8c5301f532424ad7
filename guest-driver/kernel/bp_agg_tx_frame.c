// SPDX-License-Identifier: GPL-2.0
/* Transmit: frames from the stack to descriptors. */

#include <linux/dma-mapping.h>
#include <linux/if_vlan.h>
#include <linux/skbuff.h>
#include <net/ip6_checksum.h>

#include "bp_agg.h"

/**
 * bp_agg_tx_finish() - publish what was queued, and await its completion
 * @tx: transmit side, under its queue's xmit lock
 */
void bp_agg_tx_finish(struct bp_agg_tx *tx)
{
	struct bp_agg_pair *pair = bp_agg_tx_pair(tx);
	bool rung = bp_agg_ring_publish(&tx->ring);

	u64_stats_update_begin(&tx->sync);
	if (rung)
		tx->stats.doorbells++;
	else
		tx->stats.doorbells_saved++;
	u64_stats_update_end(&tx->sync);

	/* Race: NAPI completes while we send. We store published, then look
	 * whether NAPI is scheduled; it completes, then looks whether something
	 * is under way. The barrier in bp_agg_ring_publish() and the atomic
	 * operation in napi_complete_done() let at least one of us watch.
	 * Partner: bp_agg_tx_poll_done().
	 */
	if (napi_is_scheduled(&pair->napi))
		return;
	while (!bp_agg_tx_watch(tx) && !pair->resting)
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

/*
 * Writes the descriptor of a copy of a short frame, as bp_agg_tx_map() does for
 * the frame itself. Returns 0 if the frame is not one for a copy.
 */
static u32 bp_agg_tx_copy(struct bp_agg_tx *tx, const struct sk_buff *skb)
{
	struct bp_agg_tx_desc *descs = tx->ring.descriptors;
	u32 index = tx->ring.producer;
	u32 offset = (index & (tx->copy_count - 1)) * BP_AGG_TX_COPYBREAK;
	struct bp_agg_tx_desc head = {};

	if (skb->len > READ_ONCE(bp_agg_tx_pair(tx)->priv->tx_copybreak) ||
	    skb_is_nonlinear(skb) || skb_is_gso(skb))
		return 0;
	/* One copy for each of the latest descriptors. */
	if (index - tx->ring.consumer >= tx->copy_count)
		return 0;
	if (!bp_agg_tx_describe(skb, &head))
		return 0;
	skb_copy_from_linear_data(skb, tx->copies + offset, skb->len);
	head.flags |= cpu_to_le16(BP_AGG_TX_END_OF_FRAME);
	descs[index & (tx->ring.size - 1)] = head;
	bp_agg_tx_store(tx, index, tx->copies_dma + offset, skb->len);
	return 1;
}

/* Puts a frame into the ring. Returns false if it cannot be sent. */
static bool bp_agg_tx_queue(struct bp_agg_tx *tx, struct sk_buff *skb)
{
	struct bp_agg_tx_slot *slot = bp_agg_tx_slot(tx, tx->ring.producer);
	bool copied;

	slot->count = bp_agg_tx_copy(tx, skb);
	copied = slot->count;
	if (!copied)
		slot->count = bp_agg_tx_map(tx, skb);
	if (!slot->count)
		return false;

	/* All bookkeeping before the device can see the frame: it may complete
	 * at once.
	 */
	slot->skb = copied ? NULL : skb;
	slot->xdpf = NULL;
	tx->ring.producer += slot->count;
	skb_tx_timestamp(skb);
	if (!copied) {
		tx->held++;
		return true;
	}
	dev_consume_skb_any(skb);
	u64_stats_update_begin(&tx->sync);
	tx->stats.copied++;
	u64_stats_update_end(&tx->sync);
	return true;
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
	u32 length;

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

	/* A frame that was copied is freed at once. */
	length = skb->len;
	if (!bp_agg_tx_queue(tx, skb))
		goto drop;
	if (bp_agg_tx_space(tx) < tx->max_count) {
		netif_tx_stop_queue(tx->queue);
		u64_stats_update_begin(&tx->sync);
		tx->stats.stops++;
		u64_stats_update_end(&tx->sync);
	}
	if (__netdev_tx_sent_queue(tx->queue, length, more))
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

/**
 * bp_agg_tx_xdp() - queue a frame that an XDP program sends back
 * @tx: transmit side, under its queue's xmit lock
 * @xdpf: frame, in @page
 * @page: page of the pair's own pool, which keeps it mapped
 *
 * Return: false if the frame cannot be sent.
 */
bool bp_agg_tx_xdp(struct bp_agg_tx *tx, struct xdp_frame *xdpf,
		   struct page *page)
{
	struct device *dev = &bp_agg_tx_pair(tx)->priv->pdev->dev;
	struct bp_agg_tx_desc *descs = tx->ring.descriptors;
	u32 index = tx->ring.producer;
	struct bp_agg_tx_desc head = {
		.flags = cpu_to_le16(BP_AGG_TX_END_OF_FRAME),
	};
	dma_addr_t dma;

	if (bp_agg_tx_pair(tx)->resting || xdpf->len < BP_AGG_MIN_FRAME)
		return false;
	bp_agg_tx_clean(tx, 0);
	if (!bp_agg_tx_space(tx))
		return false;

	dma = page_pool_get_dma_addr(page) + (xdpf->data - page_address(page));
	dma_sync_single_for_device(dev, dma, xdpf->len, DMA_BIDIRECTIONAL);
	descs[index & (tx->ring.size - 1)] = head;
	bp_agg_tx_store(tx, index, dma, xdpf->len);
	bp_agg_tx_slot(tx, index)->skb = NULL;
	bp_agg_tx_slot(tx, index)->xdpf = xdpf;
	bp_agg_tx_slot(tx, index)->count = 1;
	tx->ring.producer++;
	tx->held++;
	u64_stats_update_begin(&tx->sync);
	tx->stats.xdp++;
	u64_stats_update_end(&tx->sync);
	return true;
}
