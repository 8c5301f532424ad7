// SPDX-License-Identifier: GPL-2.0
/*
 * What happens beside the data path: link changes, queues that stopped, a
 * device that is gone, interrupts that got lost.
 */

#include <linux/rtnetlink.h>

#include "bp_agg.h"

#define BP_AGG_SERVICE_PERIOD	(2 * HZ)
#define BP_AGG_RESTART_PERIOD	HZ	/* a fault that stays must not keep us busy */

/**
 * bp_agg_update_link() - bring the carrier in line with the device
 * @priv: device that is up
 */
void bp_agg_update_link(struct bp_agg *priv)
{
	u32 status;
	bool up;

	mutex_lock(&priv->link_lock);
	status = bp_agg_read(priv, BP_AGG_REG_STATUS);
	up = status != ~0U && status & BP_AGG_STATUS_LINK_UP &&
	     !test_bit(BP_AGG_BLOCKED, &priv->flags);
	if (up != netif_carrier_ok(priv->dev)) {
		if (up)
			netif_carrier_on(priv->dev);
		else
			netif_carrier_off(priv->dev);
		netdev_info(priv->dev, "link is %s\n", up ? "up" : "down");
	}
	mutex_unlock(&priv->link_lock);
}

/**
 * bp_agg_request_restart() - have a pair restarted
 * @pair: queue pair; any context
 */
void bp_agg_request_restart(struct bp_agg_pair *pair)
{
	struct bp_agg *priv = pair->priv;
	unsigned long earliest = priv->restarted_at + BP_AGG_RESTART_PERIOD;

	set_bit(pair->index, &priv->restart_pairs);
	schedule_delayed_work(&priv->restart, time_before(jiffies, earliest) ?
			      BP_AGG_RESTART_PERIOD : 0);
}

/**
 * bp_agg_protocol_error() - the device did what it must not do
 * @pair: queue pair; it rests until the restart
 * @what: what the device did
 */
void bp_agg_protocol_error(struct bp_agg_pair *pair, const char *what)
{
	if (pair->resting)
		return;
	WRITE_ONCE(pair->resting, true);
	if (net_ratelimit())
		netdev_err(pair->priv->dev, "pair %u: %s; restarting it\n",
			   pair->index, what);
	bp_agg_request_restart(pair);
}

/*
 * Reports a queue that the device has stopped. Returns false if starting it
 * again is of no use.
 */
static bool bp_agg_report_queue(struct bp_agg *priv, u32 block)
{
	u32 base = BP_AGG_QUEUES + block * BP_AGG_QUEUE_BYTES;
	u32 error = bp_agg_read(priv, base + BP_AGG_QUEUE_ERROR);

	priv->queue_errors++;
	netdev_err(priv->dev, "%s queue %u stopped at index %u: %s (error %u)\n",
		   block < BP_AGG_MAX_QUEUE_PAIRS ? "transmit" : "receive",
		   block % BP_AGG_MAX_QUEUE_PAIRS,
		   bp_agg_read(priv, base + BP_AGG_QUEUE_ERROR_INDEX),
		   bp_agg_hw_queue_error(error), error);
	return error != BP_AGG_QUEUE_ERROR_BAD_CONFIGURATION &&
	       error != BP_AGG_QUEUE_ERROR_NOT_SHARED;
}

/* Reads which queues the device has stopped, and has their pairs restarted. */
static void bp_agg_check_queues(struct bp_agg *priv)
{
	unsigned long stopped = bp_agg_read(priv, BP_AGG_REG_QUEUE_ERRORS);
	u32 block;

	if (stopped == ~0U || test_bit(BP_AGG_BLOCKED, &priv->flags))
		return;
	for_each_set_bit(block, &stopped, 2 * BP_AGG_MAX_QUEUE_PAIRS) {
		u32 pair = block % BP_AGG_MAX_QUEUE_PAIRS;

		if (pair >= priv->pair_count ||
		    test_bit(pair, &priv->restart_pairs))
			continue;
		if (bp_agg_report_queue(priv, block)) {
			bp_agg_request_restart(&priv->pairs[pair]);
		} else {
			set_bit(BP_AGG_BLOCKED, &priv->flags);
			bp_agg_update_link(priv);
		}
	}
}

/**
 * bp_agg_handle_events() - see what has changed
 * @priv: device that is up
 */
void bp_agg_handle_events(struct bp_agg *priv)
{
	bp_agg_update_link(priv);
	bp_agg_check_queues(priv);
}

/* Restarts a pair. Returns an error if the whole device has to be restarted. */
static int bp_agg_restart_pair(struct bp_agg_pair *pair)
{
	struct bp_agg *priv = pair->priv;
	int err;

	bp_agg_pair_rest(pair);
	err = bp_agg_pair_stop(pair) ?: bp_agg_pair_start(pair);
	priv->restarts++;
	if (err) {
		/* A pair at rest has its NAPI instance enabled. */
		napi_enable(&pair->napi);
		return err;
	}
	netif_tx_wake_queue(pair->tx.queue);
	return 0;
}

static int bp_agg_restart_pairs(struct bp_agg *priv)
{
	int err = 0;
	u32 i;

	for (i = 0; i < priv->pair_count && !err; i++) {
		if (test_and_clear_bit(i, &priv->restart_pairs))
			err = bp_agg_restart_pair(&priv->pairs[i]);
	}
	return err;
}

static void bp_agg_restart_device(struct bp_agg *priv)
{
	bp_agg_down(priv);
	if (bp_agg_hw_reset(priv) || bp_agg_up(priv))
		netdev_err(priv->dev, "device does not restart\n");
}

/* True if the device itself has failed: nothing less than a reset helps. */
static bool bp_agg_failed(struct bp_agg *priv)
{
	u32 status = bp_agg_read(priv, BP_AGG_REG_STATUS);

	return (status & BP_AGG_STATUS_STATE_MASK) == BP_AGG_STATE_FAILED;
}

static void bp_agg_restart_work(struct work_struct *work)
{
	struct bp_agg *priv = container_of(to_delayed_work(work), struct bp_agg,
					   restart);

	rtnl_lock();
	if (!test_bit(BP_AGG_UP, &priv->flags) || !bp_agg_alive(priv))
		goto unlock;

	priv->restarted_at = jiffies;
	if (bp_agg_failed(priv)) {
		netdev_err(priv->dev, "device failed (error %u), resetting\n",
			   bp_agg_read(priv, BP_AGG_REG_ERROR));
		bp_agg_restart_device(priv);
	} else if (bp_agg_restart_pairs(priv)) {
		bp_agg_restart_device(priv);
	}
unlock:
	rtnl_unlock();
}

/*
 * Finds frames that nobody has fetched since the last time: an interrupt got
 * lost. Polling again also arms the interrupt again. Copies that were sent are
 * taken back here at the latest.
 */
static void bp_agg_check_stall(struct bp_agg_pair *pair)
{
	struct bp_agg_ring *rx = &pair->rx.ring;
	u32 consumer = READ_ONCE(rx->consumer);
	bool waiting = bp_agg_ring_completed(rx) != consumer;

	if (waiting && pair->waiting && consumer == pair->waiting_at &&
	    !napi_is_scheduled(&pair->napi)) {
		pair->priv->lost_interrupts++;
		local_bh_disable();
		bp_agg_pair_schedule(pair);
		local_bh_enable();
	}
	pair->waiting = waiting;
	pair->waiting_at = consumer;
	bp_agg_tx_settle(&pair->tx);
}

static void bp_agg_service_work(struct work_struct *work)
{
	struct bp_agg *priv = container_of(to_delayed_work(work), struct bp_agg,
					   service);
	u32 i;

	if (!bp_agg_alive(priv))
		return;
	bp_agg_update_link(priv);
	for (i = 0; i < priv->pair_count; i++)
		bp_agg_check_stall(&priv->pairs[i]);
	schedule_delayed_work(&priv->service,
			      round_jiffies_relative(BP_AGG_SERVICE_PERIOD));
}

/**
 * bp_agg_service_init() - set up what the service needs
 * @priv: device
 */
void bp_agg_service_init(struct bp_agg *priv)
{
	mutex_init(&priv->link_lock);
	INIT_DELAYED_WORK(&priv->restart, bp_agg_restart_work);
	priv->restarted_at = jiffies - BP_AGG_RESTART_PERIOD;
	INIT_DELAYED_WORK(&priv->service, bp_agg_service_work);
}

/**
 * bp_agg_service_start() - look after the device from now on
 * @priv: device that is up
 */
void bp_agg_service_start(struct bp_agg *priv)
{
	bp_agg_update_link(priv);
	schedule_delayed_work(&priv->service,
			      round_jiffies_relative(BP_AGG_SERVICE_PERIOD));
}

/**
 * bp_agg_service_stop() - stop looking after the device
 * @priv: device
 *
 * A restart may still be scheduled: it finds the device down.
 */
void bp_agg_service_stop(struct bp_agg *priv)
{
	cancel_delayed_work_sync(&priv->service);
}
