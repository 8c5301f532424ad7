// SPDX-License-Identifier: GPL-2.0
/* Receive: filled buffers to frames for the stack. */

#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/skbuff.h>
#include <linux/virtio_net.h>

#include "bp_agg.h"

/**
 * struct bp_agg_rx_frame - a received frame, as checked
 * @comp: completion of its first buffer
 * @count: number of its buffers
 * @length: bytes of the frame
 * @lengths: bytes in each buffer
 */
struct bp_agg_rx_frame {
	struct bp_agg_rx_comp comp;
	u32 count;
	u32 length;
	u32 lengths[MAX_SKB_FRAGS];
};

/* A copy, since the device could change the original at any time. */
static struct bp_agg_rx_comp bp_agg_rx_completion(const struct bp_agg_rx *rx,
						  u32 index)
{
	const struct bp_agg_rx_comp *comps = rx->ring.completions;
	struct bp_agg_rx_comp comp = comps[index & (rx->ring.size - 1)];

	barrier();
	return comp;
}

/* Gives the next @count buffers back to the pool, unused. */
static void bp_agg_rx_skip(struct bp_agg_rx *rx, u32 count)
{
	struct bp_agg_ring *ring = &rx->ring;

	while (count--) {
		struct page **page = bp_agg_rx_page(rx, ring->consumer);

		page_pool_recycle_direct(rx->pool, *page);
		*page = NULL;
		WRITE_ONCE(ring->consumer, ring->consumer + 1);
	}
}

/* Takes the next buffer out of the ring for the CPU to read @length bytes. */
static struct page *bp_agg_rx_take(struct bp_agg_rx *rx, u32 length)
{
	struct bp_agg_ring *ring = &rx->ring;
	struct page **slot = bp_agg_rx_page(rx, ring->consumer);
	struct page *page = *slot;

	dma_sync_single_for_cpu(&bp_agg_rx_pair(rx)->priv->pdev->dev,
				page_pool_get_dma_addr(page) + rx->headroom,
				length, page_pool_get_dma_dir(rx->pool));
	*slot = NULL;
	WRITE_ONCE(ring->consumer, ring->consumer + 1);
	return page;
}

/*
 * Reads the completions of the next frame, each once, and checks them against
 * each other. Returns false if they are impossible.
 */
static bool bp_agg_rx_inspect(const struct bp_agg_rx *rx, u32 available,
			      struct bp_agg_rx_frame *frame)
{
	struct bp_agg_rx_comp comp = frame->comp;
	u32 sum = 0;
	u32 i;

	frame->count = le16_to_cpu(comp.buffers);
	frame->length = le32_to_cpu(comp.frame_length);
	if (!frame->count || frame->count > available ||
	    frame->count > MAX_SKB_FRAGS)
		return false;
	if (frame->length < BP_AGG_MIN_FRAME ||
	    frame->length > BP_AGG_MAX_FRAME)
		return false;

	for (i = 0; i < frame->count; i++) {
		bool last = i == frame->count - 1;
		u32 length;

		if (i)
			comp = bp_agg_rx_completion(rx, rx->ring.consumer + i);
		length = le32_to_cpu(comp.length);
		if (!length || length > rx->buffer)
			return false;
		if (last != !!(le16_to_cpu(comp.flags) & BP_AGG_RX_END_OF_FRAME))
			return false;
		frame->lengths[i] = length;
		sum += length;
	}
	return sum == frame->length && frame->lengths[0] >= ETH_HLEN;
}

/* A short frame, in its first buffer alone, is copied: that is cheaper than
 * a page of its own, and does not count as one against the socket.
 */
static struct sk_buff *bp_agg_rx_copy(struct bp_agg_rx *rx, u32 length)
{
	struct sk_buff *skb = napi_alloc_skb(&bp_agg_rx_pair(rx)->napi, length);
	struct page *page;

	if (!skb)
		return NULL;
	page = bp_agg_rx_take(rx, length);
	skb_put_data(skb, page_address(page) + rx->headroom, length);
	page_pool_recycle_direct(rx->pool, page);
	u64_stats_update_begin(&rx->sync);
	rx->stats.copied++;
	u64_stats_update_end(&rx->sync);
	return skb;
}

/* Bytes of headers of a frame whose first buffer is @page. */
static u32 bp_agg_rx_header(struct bp_agg_rx *rx, const struct page *page,
			    u32 length)
{
	return eth_get_headlen(bp_agg_rx_pair(rx)->priv->dev,
			       page_address(page) + rx->headroom,
			       min_t(u32, length, BP_AGG_RX_HEADER));
}

/* Builds a frame from its buffers: headers are copied, the rest stays. */
static struct sk_buff *bp_agg_rx_build(struct bp_agg_rx *rx,
				       const struct bp_agg_rx_frame *frame)
{
	struct sk_buff *skb = napi_alloc_skb(&bp_agg_rx_pair(rx)->napi,
					     BP_AGG_RX_HEADER);
	u32 header = 0;
	u32 offset;
	u32 i;

	if (!skb)
		return NULL;
	skb_mark_for_recycle(skb);
	for (i = 0; i < frame->count; i++) {
		u32 length = frame->lengths[i];
		struct page *page = bp_agg_rx_take(rx, length);

		if (!i) {
			header = bp_agg_rx_header(rx, page, length);
			skb_put_data(skb, page_address(page) + rx->headroom,
				     header);
			if (header == length) {
				page_pool_recycle_direct(rx->pool, page);
				continue;
			}
		}
		offset = i ? 0 : header;
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page,
				rx->headroom + offset, length - offset,
				PAGE_SIZE);
	}
	return skb;
}

/*
 * Sets what the device says about checksum and segmentation. It comes from
 * another guest: the kernel's own check for frames of that kind, made for
 * virtio, looks at all of it.
 */
static bool bp_agg_rx_offload(struct bp_agg_rx *rx, struct sk_buff *skb,
			      const struct bp_agg_rx_comp *comp)
{
	u16 flags = le16_to_cpu(comp->flags);
	u16 gso_type = le16_to_cpu(comp->gso_type);
	struct virtio_net_hdr hdr = {};

	if (gso_type == BP_AGG_GSO_NONE && flags & BP_AGG_RX_CHECKSUM_VALID) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		return true;
	}
	if (!(flags & BP_AGG_RX_CHECKSUM_PARTIAL))
		return gso_type == BP_AGG_GSO_NONE;

	hdr.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	hdr.csum_start = (__force __virtio16)comp->csum_start;
	hdr.csum_offset = (__force __virtio16)comp->csum_offset;
	hdr.gso_size = (__force __virtio16)comp->gso_size;
	switch (gso_type) {
	case BP_AGG_GSO_NONE:
		break;
	case BP_AGG_GSO_TCPV4:
		hdr.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
		break;
	case BP_AGG_GSO_TCPV6:
		hdr.gso_type = VIRTIO_NET_HDR_GSO_TCPV6;
		break;
#ifdef VIRTIO_NET_HDR_GSO_UDP_L4
	case BP_AGG_GSO_UDP:
		hdr.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4;
		break;
#endif
	default:
		return false;
	}
	if (virtio_net_hdr_to_skb(skb, &hdr, true))
		return false;

	u64_stats_update_begin(&rx->sync);
	rx->stats.partial++;
	if (gso_type != BP_AGG_GSO_NONE)
		rx->stats.segmented++;
	u64_stats_update_end(&rx->sync);
	return true;
}

static void bp_agg_rx_error(struct bp_agg_rx *rx)
{
	u64_stats_update_begin(&rx->sync);
	rx->stats.errors++;
	u64_stats_update_end(&rx->sync);
}

static void bp_agg_rx_deliver(struct bp_agg_rx *rx, struct sk_buff *skb,
			      const struct bp_agg_rx_comp *comp)
{
	struct bp_agg_pair *pair = bp_agg_rx_pair(rx);
	struct net_device *dev = pair->priv->dev;
	u32 length = skb->len;

	if (!bp_agg_rx_offload(rx, skb, comp)) {
		bp_agg_rx_error(rx);
		dev_kfree_skb_any(skb);
		return;
	}
	skb->protocol = eth_type_trans(skb, dev);
	skb_record_rx_queue(skb, pair->index);
	if (comp->flow_hash && dev->features & NETIF_F_RXHASH)
		skb_set_hash(skb, le32_to_cpu(comp->flow_hash),
			     PKT_HASH_TYPE_L4);
	if (le16_to_cpu(comp->flags) & BP_AGG_RX_VLAN)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q),
				       le16_to_cpu(comp->vlan_tci));

	u64_stats_update_begin(&rx->sync);
	rx->stats.packets++;
	rx->stats.bytes += length;
	u64_stats_update_end(&rx->sync);
	napi_gro_receive(&pair->napi, skb);
}

static void bp_agg_rx_drop(struct bp_agg_rx *rx, u32 count)
{
	u64_stats_update_begin(&rx->sync);
	rx->stats.dropped++;
	u64_stats_update_end(&rx->sync);
	bp_agg_rx_skip(rx, count);
}

/* With an XDP program every frame fits one buffer, see bp_agg_change_mtu(). */
static void bp_agg_rx_xdp(struct bp_agg_rx *rx, struct bpf_prog *prog,
			  const struct bp_agg_rx_frame *frame)
{
	struct sk_buff *skb;
	struct page *page;

	if (frame->count != 1) {
		bp_agg_rx_drop(rx, frame->count);
		return;
	}
	page = bp_agg_rx_take(rx, frame->length);
	skb = bp_agg_xdp_run(rx, prog, page, frame->length);
	if (skb)
		bp_agg_rx_deliver(rx, skb, &frame->comp);
}

/**
 * bp_agg_rx_frame() - hand the next frame to the stack
 * @rx: receive side
 * @available: completed buffers, at least 1
 *
 * Return: false if the device broke the protocol.
 */
bool bp_agg_rx_frame(struct bp_agg_rx *rx, u32 available)
{
	struct bp_agg_rx_frame frame;
	struct bpf_prog *prog;
	struct sk_buff *skb;

	frame.comp = bp_agg_rx_completion(rx, rx->ring.consumer);
	if (le16_to_cpu(frame.comp.status) != BP_AGG_RX_STATUS_OK) {
		bp_agg_rx_error(rx);
		bp_agg_rx_skip(rx, 1);
		return true;
	}
	if (!bp_agg_rx_inspect(rx, available, &frame)) {
		bp_agg_rx_error(rx);
		return false;
	}

	prog = READ_ONCE(bp_agg_rx_pair(rx)->priv->prog);
	if (prog && rx->headroom) {
		bp_agg_rx_xdp(rx, prog, &frame);
		return true;
	}
	if (frame.count == 1 &&
	    frame.length <= bp_agg_rx_pair(rx)->priv->rx_copybreak)
		skb = bp_agg_rx_copy(rx, frame.length);
	else
		skb = bp_agg_rx_build(rx, &frame);
	if (!skb) {
		bp_agg_rx_drop(rx, frame.count);
		return true;
	}
	bp_agg_rx_deliver(rx, skb, &frame.comp);
	return true;
}
