// SPDX-License-Identifier: GPL-2.0
/* Receive: the ring, and empty buffers to the device. */

#include <linux/dma-mapping.h>

#include "bp_agg.h"

static struct page_pool *bp_agg_rx_pool(struct bp_agg_pair *pair)
{
	struct bp_agg *priv = pair->priv;
	struct page_pool_params params = {
		.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV,
		.pool_size = priv->rx_size,
		.nid = dev_to_node(&priv->pdev->dev),
		.dev = &priv->pdev->dev,
		.dma_dir = priv->prog ? DMA_BIDIRECTIONAL : DMA_FROM_DEVICE,
		.max_len = pair->rx.buffer,
		.offset = pair->rx.headroom,
	};

	bp_agg_pool_set_napi(&params, &pair->napi);
	return page_pool_create(&params);
}

/* Polls again after a refill failed: the ring may be empty, without a frame
 * that could cause an interrupt.
 */
static void bp_agg_rx_refill_work(struct work_struct *work)
{
	struct bp_agg_rx *rx = container_of(to_delayed_work(work),
					    struct bp_agg_rx, refill);

	local_bh_disable();
	napi_schedule(&bp_agg_rx_pair(rx)->napi);
	local_bh_enable();
}

/**
 * bp_agg_rx_alloc() - allocate the receive side of a pair, without buffers
 * @pair: queue pair
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_rx_alloc(struct bp_agg_pair *pair)
{
	struct bp_agg *priv = pair->priv;
	struct bp_agg_rx *rx = &pair->rx;
	int err;

	INIT_DELAYED_WORK(&rx->refill, bp_agg_rx_refill_work);
	rx->headroom = priv->prog ? XDP_PACKET_HEADROOM : 0;
	rx->buffer = priv->prog ? BP_AGG_XDP_BUFFER : BP_AGG_RX_BUFFER;
	rx->pages = kvcalloc(priv->rx_size, sizeof(*rx->pages), GFP_KERNEL);
	if (!rx->pages)
		return -ENOMEM;

	rx->pool = bp_agg_rx_pool(pair);
	if (IS_ERR(rx->pool)) {
		err = PTR_ERR(rx->pool);
		goto free_pages;
	}

	if (priv->prog) {
		err = bp_agg_xdp_register(rx);
		if (err)
			goto destroy_pool;
	}

	err = bp_agg_ring_alloc(priv, &rx->ring,
				BP_AGG_MAX_QUEUE_PAIRS + pair->index,
				priv->rx_size, sizeof(struct bp_agg_rx_desc),
				sizeof(struct bp_agg_rx_comp));
	if (err)
		goto unregister_xdp;
	return 0;

unregister_xdp:
	bp_agg_xdp_unregister(rx);
destroy_pool:
	page_pool_destroy(rx->pool);
free_pages:
	kvfree(rx->pages);
	rx->pages = NULL;
	return err;
}

/**
 * bp_agg_rx_free() - free what bp_agg_rx_alloc() allocated
 * @pair: queue pair that the device does not use any more
 */
void bp_agg_rx_free(struct bp_agg_pair *pair)
{
	struct bp_agg_rx *rx = &pair->rx;

	if (!rx->pages)
		return;
	bp_agg_ring_free(pair->priv, &rx->ring);
	bp_agg_xdp_unregister(rx);
	page_pool_destroy(rx->pool);
	kvfree(rx->pages);
	rx->pages = NULL;
}

/**
 * bp_agg_rx_empty() - take all buffers back
 * @rx: receive side of a pair that neither NAPI nor device use
 */
void bp_agg_rx_empty(struct bp_agg_rx *rx)
{
	struct bp_agg_ring *ring = &rx->ring;

	cancel_delayed_work_sync(&rx->refill);
	for (; ring->consumer != ring->producer; ring->consumer++) {
		struct page **page = bp_agg_rx_page(rx, ring->consumer);

		page_pool_put_full_page(rx->pool, *page, false);
		*page = NULL;
	}
}

/**
 * bp_agg_rx_fill() - give the device a buffer for each free descriptor
 * @rx: receive side
 * @gfp: how to allocate
 *
 * Return: 0 or -ENOMEM, with the buffers that could be had made available.
 */
int bp_agg_rx_fill(struct bp_agg_rx *rx, gfp_t gfp)
{
	struct bp_agg_ring *ring = &rx->ring;
	struct bp_agg_rx_desc *descs = ring->descriptors;
	int err = 0;

	while (ring->producer - ring->consumer < ring->size) {
		struct bp_agg_rx_desc *desc;
		struct page *page;

		page = page_pool_alloc_pages(rx->pool, gfp | __GFP_NOWARN);
		if (!page) {
			err = -ENOMEM;
			break;
		}
		desc = &descs[ring->producer & (ring->size - 1)];
		desc->address = cpu_to_le64(page_pool_get_dma_addr(page) +
					    rx->headroom);
		desc->length = cpu_to_le32(rx->buffer);
		*bp_agg_rx_page(rx, ring->producer) = page;
		ring->producer++;
	}
	if (ring->producer != ring->published) {
		bool rung = bp_agg_ring_publish(ring);

		u64_stats_update_begin(&rx->sync);
		if (rung)
			rx->stats.doorbells++;
		else
			rx->stats.doorbells_saved++;
		u64_stats_update_end(&rx->sync);
	}
	return err;
}

static void bp_agg_rx_refill(struct bp_agg_rx *rx)
{
	struct bp_agg_ring *ring = &rx->ring;
	u32 free = ring->size - (ring->producer - ring->consumer);

	if (free < BP_AGG_RX_BATCH)
		return;
	if (!bp_agg_rx_fill(rx, GFP_ATOMIC))
		return;
	u64_stats_update_begin(&rx->sync);
	rx->stats.refill_failures++;
	u64_stats_update_end(&rx->sync);
	schedule_delayed_work(&rx->refill, msecs_to_jiffies(20));
}

/**
 * bp_agg_rx_poll() - hand received frames to the stack, and refill the ring
 * @rx: receive side
 * @budget: most frames
 *
 * Return: number of frames handled.
 */
int bp_agg_rx_poll(struct bp_agg_rx *rx, int budget)
{
	struct bp_agg_ring *ring = &rx->ring;
	u32 completed = ring->consumer;
	int work = 0;

	while (work < budget) {
		if (ring->consumer == completed) {
			completed = bp_agg_ring_completed(ring);
			if (ring->consumer == completed)
				break;
		}
		if (completed - ring->consumer >
		    ring->published - ring->consumer) {
			bp_agg_protocol_error(bp_agg_rx_pair(rx),
					      "more buffers completed than given");
			return work;
		}
		if (!bp_agg_rx_frame(rx, completed - ring->consumer)) {
			bp_agg_protocol_error(bp_agg_rx_pair(rx),
					      "impossible receive completion");
			return work;
		}
		work++;
	}
	bp_agg_xdp_flush(rx);
	bp_agg_rx_refill(rx);
	return work;
}

/**
 * bp_agg_rx_poll_done() - hand over from polling to the interrupt
 * @rx: receive side whose NAPI instance has just completed
 *
 * Return: false if there is something to poll for now.
 */
bool bp_agg_rx_poll_done(struct bp_agg_rx *rx)
{
	struct bp_agg_ring *ring = &rx->ring;
	u32 seen = READ_ONCE(ring->consumer);

	if (bp_agg_ring_arm(ring, seen) == seen)
		return true;
	u64_stats_update_begin(&rx->sync);
	rx->stats.lost_races++;
	u64_stats_update_end(&rx->sync);
	return false;
}
