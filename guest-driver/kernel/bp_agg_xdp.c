// SPDX-License-Identifier: GPL-2.0
/*
 * XDP: a program that decides about each frame before the stack sees it.
 *
 * With a program no offload is negotiated, so that it sees whole packets, and
 * each buffer has the room before and after it that XDP wants.
 */

#include <linux/bpf_trace.h>
#include <linux/filter.h>
#include <linux/if_vlan.h>

#include "bp_agg.h"

/**
 * bp_agg_xdp_max_mtu() - largest MTU with a program
 *
 * Return: the MTU in bytes.
 */
u32 bp_agg_xdp_max_mtu(void)
{
	return BP_AGG_XDP_BUFFER - ETH_HLEN - VLAN_HLEN;
}

/**
 * bp_agg_xdp_register() - make a receive ring known to XDP
 * @rx: receive side, with its pool
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_xdp_register(struct bp_agg_rx *rx)
{
	struct bp_agg_pair *pair = bp_agg_rx_pair(rx);
	int err;

	err = xdp_rxq_info_reg(&rx->xdp_rxq, pair->priv->dev, pair->index,
			       pair->napi.napi_id);
	if (err)
		return err;
	err = xdp_rxq_info_reg_mem_model(&rx->xdp_rxq, MEM_TYPE_PAGE_POOL,
					 rx->pool);
	if (err)
		xdp_rxq_info_unreg(&rx->xdp_rxq);
	return err;
}

/**
 * bp_agg_xdp_unregister() - undo bp_agg_xdp_register(), if it was done
 * @rx: receive side
 */
void bp_agg_xdp_unregister(struct bp_agg_rx *rx)
{
	if (xdp_rxq_info_is_reg(&rx->xdp_rxq))
		xdp_rxq_info_unreg(&rx->xdp_rxq);
}

static void bp_agg_xdp_count(struct bp_agg_rx *rx, u64 *counter)
{
	u64_stats_update_begin(&rx->sync);
	(*counter)++;
	u64_stats_update_end(&rx->sync);
}

static struct sk_buff *bp_agg_xdp_pass(struct bp_agg_rx *rx,
				       const struct xdp_buff *xdp)
{
	struct sk_buff *skb = napi_build_skb(xdp->data_hard_start, PAGE_SIZE);
	u32 meta = xdp->data - xdp->data_meta;

	if (!skb) {
		page_pool_recycle_direct(rx->pool,
					 virt_to_page(xdp->data_hard_start));
		bp_agg_xdp_count(rx, &rx->stats.dropped);
		return NULL;
	}
	skb_mark_for_recycle(skb);
	skb_reserve(skb, xdp->data - xdp->data_hard_start);
	skb_put(skb, xdp->data_end - xdp->data);
	if (meta)
		skb_metadata_set(skb, meta);
	skb->dev = bp_agg_rx_pair(rx)->priv->dev;
	return skb;
}

static bool bp_agg_xdp_send(struct bp_agg_rx *rx, struct xdp_buff *xdp,
			    struct page *page)
{
	struct bp_agg_tx *tx = &bp_agg_rx_pair(rx)->tx;
	struct xdp_frame *xdpf = xdp_convert_buff_to_frame(xdp);
	bool sent;

	if (!xdpf)
		return false;
	__netif_tx_lock(tx->queue, smp_processor_id());
	sent = bp_agg_tx_xdp(tx, xdpf, page);
	if (sent)
		txq_trans_cond_update(tx->queue);
	__netif_tx_unlock(tx->queue);
	rx->xdp_sent |= sent;
	return sent;
}

/**
 * bp_agg_xdp_run() - let the program decide about a frame
 * @rx: receive side, in NAPI
 * @prog: program
 * @page: the frame, out of the ring
 * @length: bytes of the frame
 *
 * Return: the frame if it is for the stack, else NULL: it is taken care of.
 */
struct sk_buff *bp_agg_xdp_run(struct bp_agg_rx *rx, struct bpf_prog *prog,
			       struct page *page, u32 length)
{
	struct net_device *dev = bp_agg_rx_pair(rx)->priv->dev;
	struct xdp_buff xdp;
	u32 action;

	xdp_init_buff(&xdp, PAGE_SIZE, &rx->xdp_rxq);
	xdp_prepare_buff(&xdp, page_address(page), rx->headroom, length, true);
	action = bpf_prog_run_xdp(prog, &xdp);
	switch (action) {
	case XDP_PASS:
		return bp_agg_xdp_pass(rx, &xdp);
	case XDP_TX:
		if (!bp_agg_xdp_send(rx, &xdp, page))
			goto error;
		bp_agg_xdp_count(rx, &rx->stats.xdp_sends);
		return NULL;
	case XDP_REDIRECT:
		if (xdp_do_redirect(dev, &xdp, prog))
			goto error;
		rx->xdp_redirected = true;
		bp_agg_xdp_count(rx, &rx->stats.xdp_sends);
		return NULL;
	case XDP_DROP:
		break;
	default:
		bpf_warn_invalid_xdp_action(dev, prog, action);
		fallthrough;
	case XDP_ABORTED:
error:
		trace_xdp_exception(dev, prog, action);
		break;
	}
	bp_agg_xdp_count(rx, &rx->stats.xdp_drops);
	page_pool_recycle_direct(rx->pool, page);
	return NULL;
}

/**
 * bp_agg_xdp_flush() - let go what the program has sent in this poll
 * @rx: receive side, in NAPI
 */
void bp_agg_xdp_flush(struct bp_agg_rx *rx)
{
	struct bp_agg_tx *tx = &bp_agg_rx_pair(rx)->tx;

	if (rx->xdp_redirected)
		xdp_do_flush();
	rx->xdp_redirected = false;
	if (!rx->xdp_sent)
		return;
	rx->xdp_sent = false;
	__netif_tx_lock(tx->queue, smp_processor_id());
	if (!bp_agg_rx_pair(rx)->resting)
		bp_agg_tx_finish(tx);
	__netif_tx_unlock(tx->queue);
}

static int bp_agg_xdp_setup(struct bp_agg *priv, struct netdev_bpf *bpf)
{
	struct net_device *dev = priv->dev;
	struct bpf_prog *old = priv->prog;
	int err = 0;

	if (bpf->prog && dev->mtu > bp_agg_xdp_max_mtu()) {
		NL_SET_ERR_MSG_MOD(bpf->extack, "MTU is too large for XDP");
		return -EINVAL;
	}

	WRITE_ONCE(priv->prog, bpf->prog);
	if (!old != !bpf->prog) {
		if (bpf->prog)
			netdev_update_features(dev);
		err = bp_agg_reconfigure(priv);
		if (err) {
			WRITE_ONCE(priv->prog, old);
			if (bp_agg_reconfigure(priv))
				netdev_err(dev, "device does not restart\n");
		}
		netdev_update_features(dev);
	}
	if (!err && old)
		bpf_prog_put(old);
	return err;
}

/**
 * bp_agg_bpf() - set up XDP
 * @dev: network device; under rtnl
 * @bpf: what to do
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_bpf(struct net_device *dev, struct netdev_bpf *bpf)
{
	if (bpf->command != XDP_SETUP_PROG)
		return -EINVAL;
	return bp_agg_xdp_setup(netdev_priv(dev), bpf);
}
