// SPDX-License-Identifier: GPL-2.0
/*
 * Adaptive moderation of receive interrupts: from the rates of frames and
 * interrupts the kernel's DIM library chooses one of its profiles for each
 * pair, and the pair's moderation registers get it.
 */

#include <linux/dim.h>

#include "bp_agg.h"

/**
 * bp_agg_dim_moderation() - what adaptive moderation has chosen for a pair
 * @pair: queue pair
 *
 * Return: usecs and frames.
 */
struct bp_agg_coalesce bp_agg_dim_moderation(const struct bp_agg_pair *pair)
{
	const struct dim *dim = &pair->rx.dim;
	struct dim_cq_moder chosen =
		net_dim_get_rx_moderation(dim->mode, dim->profile_ix);

	return (struct bp_agg_coalesce) {
		.usecs = chosen.usec,
		.frames = chosen.pkts,
	};
}

/* A register write leaves the guest, so it is not NAPI that does it. */
static void bp_agg_dim_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	struct bp_agg_pair *pair =
		bp_agg_rx_pair(container_of(dim, struct bp_agg_rx, dim));

	bp_agg_hw_moderate(pair);
	WRITE_ONCE(pair->adaptations, pair->adaptations + 1);
	dim->state = DIM_START_MEASURE;
}

/**
 * bp_agg_dim_init() - set up adaptive moderation of a pair
 * @pair: queue pair
 */
void bp_agg_dim_init(struct bp_agg_pair *pair)
{
	INIT_WORK(&pair->rx.dim.work, bp_agg_dim_work);
	pair->rx.dim.mode = DIM_CQ_PERIOD_MODE_START_FROM_EQE;
}

/**
 * bp_agg_dim_sample() - tell DIM how far the pair has come
 * @pair: queue pair, in NAPI
 */
void bp_agg_dim_sample(struct bp_agg_pair *pair)
{
	struct bp_agg_rx *rx = &pair->rx;
	struct dim_sample sample = {};

	dim_update_sample(READ_ONCE(pair->interrupts), rx->stats.packets,
			  rx->stats.bytes, &sample);
	bp_agg_net_dim(&rx->dim, &sample);
}

/**
 * bp_agg_dim_stop() - forget what was chosen for a pair
 * @pair: queue pair that NAPI does not sample: it is disabled, or moderation is
 *        not adaptive any more
 */
void bp_agg_dim_stop(struct bp_agg_pair *pair)
{
	struct dim *dim = &pair->rx.dim;

	cancel_work_sync(&dim->work);
	dim->profile_ix = 0;
	dim->state = DIM_START_MEASURE;
}

/**
 * bp_agg_set_adaptive() - turn adaptive moderation on or off
 * @priv: device; under rtnl
 * @on: whether moderation is adaptive from now on
 */
void bp_agg_set_adaptive(struct bp_agg *priv, bool on)
{
	u32 i;

	if (on == priv->adaptive)
		return;
	WRITE_ONCE(priv->adaptive, on);
	if (on || !test_bit(BP_AGG_UP, &priv->flags))
		return;
	for (i = 0; i < priv->pair_count; i++) {
		/* A poll that began before may still take a sample. */
		napi_synchronize(&priv->pairs[i].napi);
		bp_agg_dim_stop(&priv->pairs[i]);
	}
}
