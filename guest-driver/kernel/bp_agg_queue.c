// SPDX-License-Identifier: GPL-2.0
/* Queue pairs: memory, start and stop, polling. */

#include <linux/sched/clock.h>

#include "bp_agg.h"

/**
 * bp_agg_pairs_free() - free the rings of all pairs
 * @priv: device that is down
 */
void bp_agg_pairs_free(struct bp_agg *priv)
{
	u32 i;

	for (i = 0; i < priv->pair_count; i++) {
		bp_agg_rx_free(&priv->pairs[i]);
		bp_agg_tx_free(&priv->pairs[i]);
	}
}

/**
 * bp_agg_pairs_alloc() - allocate the rings of the pairs in use
 * @priv: device that is down
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_pairs_alloc(struct bp_agg *priv)
{
	u32 i;
	int err;

	for (i = 0; i < priv->pair_count; i++) {
		err = bp_agg_tx_alloc(&priv->pairs[i]);
		if (err)
			goto free_pairs;
		err = bp_agg_rx_alloc(&priv->pairs[i]);
		if (err)
			goto free_pairs;
	}
	return 0;

free_pairs:
	bp_agg_pairs_free(priv);
	return err;
}

/**
 * bp_agg_pair_start() - start a pair from empty rings
 * @pair: queue pair that is stopped
 *
 * The stack's queue is left as it is.
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_pair_start(struct bp_agg_pair *pair)
{
	struct bp_agg *priv = pair->priv;
	u32 vector = bp_agg_pair_vector(pair);
	int err;

	WRITE_ONCE(pair->resting, true);
	bp_agg_ring_clear(&pair->tx.ring);
	bp_agg_ring_clear(&pair->rx.ring);
	pair->waiting = false;
	err = bp_agg_rx_fill(&pair->rx, GFP_KERNEL);
	if (err) {
		netdev_err(priv->dev,
			   "no memory for %u receive buffers, try smaller rings (ethtool -G)\n",
			   priv->rx_size);
		goto empty_rx;
	}

	/* An interrupt finds NAPI enabled, or it would be lost. */
	napi_enable(&pair->napi);
	bp_agg_hw_moderate(pair);
	bp_agg_hw_queue_enable(priv, &pair->tx.ring, vector);
	bp_agg_hw_queue_enable(priv, &pair->rx.ring, vector);
	err = bp_agg_hw_pair_check(pair);
	if (err)
		goto stop;
	WRITE_ONCE(pair->resting, false);
	return 0;

stop:
	bp_agg_pair_stop(pair);
	return err;
empty_rx:
	bp_agg_rx_empty(&pair->rx);
	return err;
}

/**
 * bp_agg_pair_rest() - keep stack and NAPI off the rings
 * @pair: queue pair
 */
void bp_agg_pair_rest(struct bp_agg_pair *pair)
{
	__netif_tx_lock_bh(pair->tx.queue);
	WRITE_ONCE(pair->resting, true);
	netif_tx_stop_queue(pair->tx.queue);
	__netif_tx_unlock_bh(pair->tx.queue);
}

/**
 * bp_agg_pair_stop() - stop a pair and empty its rings
 * @pair: queue pair at rest
 *
 * When this returns the device does not touch the rings' memory: it said so,
 * or it was reset, or it may not use the bus any more.
 *
 * Return: 0, or a negative errno if more than this pair was stopped.
 */
int bp_agg_pair_stop(struct bp_agg_pair *pair)
{
	struct bp_agg *priv = pair->priv;
	int err;

	napi_disable(&pair->napi);
	bp_agg_share_stop(pair);
	bp_agg_dim_stop(pair);
	err = bp_agg_hw_pair_disable(pair);
	if (err == -EIO) {
		netdev_err(priv->dev, "pair %u does not stop, resetting\n",
			   pair->index);
		if (bp_agg_hw_reset(priv))
			pci_clear_master(priv->pdev);
	} else if (err) {
		pci_clear_master(priv->pdev);
	}
	bp_agg_tx_empty(&pair->tx);
	bp_agg_rx_empty(&pair->rx);
	return err;
}

/**
 * bp_agg_pair_schedule() - have a pair polled, without further interrupts
 * @pair: queue pair
 */
void bp_agg_pair_schedule(struct bp_agg_pair *pair)
{
	if (!napi_schedule_prep(&pair->napi))
		return;
	bp_agg_ring_disarm(&pair->tx.ring);
	bp_agg_ring_disarm(&pair->rx.ring);
	bp_agg_share_schedule(pair);
}

/* NAPI would go on at once; so it is told that all is done, and comes back. */
static int bp_agg_poll_next_turn(struct bp_agg_pair *pair, int budget)
{
	if (napi_complete_done(&pair->napi, budget - 1))
		bp_agg_pair_schedule(pair);
	return budget - 1;
}

/**
 * bp_agg_poll() - poll both sides of a pair
 * @napi: NAPI instance of the pair
 * @budget: most frames to receive; 0 from netpoll
 *
 * Return: frames received, @budget if NAPI has to go on; less if the next turn
 * is a worker's.
 */
int bp_agg_poll(struct napi_struct *napi, int budget)
{
	struct bp_agg_pair *pair = container_of(napi, struct bp_agg_pair, napi);
	u64 began = local_clock();
	bool done;
	int work = 0;

	if (!READ_ONCE(pair->resting)) {
		bp_agg_tx_poll(&pair->tx, budget);
		if (!budget)
			return 0;
		work = bp_agg_rx_poll(&pair->rx, budget);
		bp_agg_share_count(pair, began);
		if (work >= budget)
			return pair->taking_turns ?
				bp_agg_poll_next_turn(pair, budget) : budget;
		if (READ_ONCE(pair->priv->adaptive))
			bp_agg_dim_sample(pair);
	}
	if (!napi_complete_done(napi, work) || READ_ONCE(pair->resting))
		return work;

	/* Both hand over, whatever the first one finds. */
	done = bp_agg_rx_poll_done(&pair->rx);
	done &= bp_agg_tx_poll_done(&pair->tx);
	if (!done)
		bp_agg_pair_schedule(pair);
	return work;
}
