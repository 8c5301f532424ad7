// SPDX-License-Identifier: GPL-2.0
/*
 * A pair's share of its processor.
 *
 * Polling in an interrupt's wake goes before all processes. A guest that gets
 * more small frames than it can read would spend its time on receiving them,
 * and then throw them away at the full sockets of processes that it does not
 * let run. So a pair that has polled for most of a while goes on in a worker,
 * which takes turns with processes as the scheduler sees fit, until it needs
 * less again. What comes meanwhile waits in the ring, and behind that in the
 * device, which makes the senders wait.
 */

#include <linux/sched/clock.h>

#include "bp_agg.h"

#define BP_AGG_SHARE_WINDOW	(4 * NSEC_PER_MSEC)

static void bp_agg_share_turn(struct work_struct *work)
{
	struct bp_agg_pair *pair = container_of(work, struct bp_agg_pair, turn);

	local_bh_disable();
	__napi_schedule(&pair->napi);
	local_bh_enable();	/* polls now */
}

/**
 * bp_agg_share_init() - set up what a pair needs to take turns
 * @pair: queue pair
 */
void bp_agg_share_init(struct bp_agg_pair *pair)
{
	INIT_WORK(&pair->turn, bp_agg_share_turn);
}

/**
 * bp_agg_share_schedule() - have a pair polled: at once, or when it is its turn
 * @pair: queue pair for which napi_schedule_prep() has just returned true
 */
void bp_agg_share_schedule(struct bp_agg_pair *pair)
{
	if (!READ_ONCE(pair->taking_turns)) {
		__napi_schedule(&pair->napi);
		return;
	}
	pair->turns++;
	queue_work(pair->priv->workers, &pair->turn);
}

/**
 * bp_agg_share_count() - account for a poll
 * @pair: queue pair, in NAPI
 * @began: local_clock() at the beginning of the poll
 *
 * More than half of the time is too much, less than a quarter is not.
 */
void bp_agg_share_count(struct bp_agg_pair *pair, u64 began)
{
	u64 now = local_clock();
	u64 window = now - pair->window_at;

	pair->polled += now - began;
	if (window < BP_AGG_SHARE_WINDOW)
		return;
	if (pair->polled > window / 2)
		WRITE_ONCE(pair->taking_turns, true);
	else if (pair->polled < window / 4)
		WRITE_ONCE(pair->taking_turns, false);
	pair->window_at = now;
	pair->polled = 0;
}

/**
 * bp_agg_share_stop() - forget what a pair has had
 * @pair: queue pair whose NAPI instance is disabled
 */
void bp_agg_share_stop(struct bp_agg_pair *pair)
{
	cancel_work_sync(&pair->turn);
	pair->taking_turns = false;
}
