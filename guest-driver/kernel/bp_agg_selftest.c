// SPDX-License-Identifier: GPL-2.0
/* ethtool -t: what can be tried without a partner. */

#include <linux/ethtool.h>

#include "bp_agg.h"

/* Registers hold what is written; the device still speaks our version. */
static u64 bp_agg_test_registers(struct bp_agg *priv)
{
	static const u32 patterns[] = { 0, 0x5a5a5a5a, 0xa5a5a5a5, 0xfffffffe };
	u64 faults = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		bp_agg_write(priv, BP_AGG_REG_SCRATCH, patterns[i]);
		faults += bp_agg_read(priv, BP_AGG_REG_SCRATCH) != patterns[i];
	}
	faults += bp_agg_read(priv, BP_AGG_REG_MAGIC) != BP_AGG_MAGIC;
	faults += bp_agg_read(priv, BP_AGG_REG_VERSION) >> 16 !=
		  BP_AGG_VERSION >> 16;
	return faults;
}

/* No queue has stopped, and every index is where it can be. */
static u64 bp_agg_test_queues(struct bp_agg *priv)
{
	u64 faults = 0;
	u32 i;

	if (!test_bit(BP_AGG_UP, &priv->flags))
		return 0;
	faults += hweight32(bp_agg_read(priv, BP_AGG_REG_QUEUE_ERRORS));
	for (i = 0; i < priv->pair_count; i++) {
		struct bp_agg_pair *pair = &priv->pairs[i];

		faults += pair->resting;
		faults += bp_agg_ring_completed(&pair->rx.ring) -
			  pair->rx.ring.consumer > pair->rx.ring.size;
	}
	return faults;
}

static u64 bp_agg_test_link(struct bp_agg *priv)
{
	return !netif_carrier_ok(priv->dev);
}

/* Reset and restart: the link goes down for a moment. */
static u64 bp_agg_test_reset(struct bp_agg *priv)
{
	bool up = netif_running(priv->dev);
	u32 epoch = bp_agg_read(priv, BP_AGG_REG_EPOCH);
	u64 faults = 0;

	if (up)
		bp_agg_down(priv);
	faults += bp_agg_hw_reset(priv) != 0;
	faults += bp_agg_read(priv, BP_AGG_REG_EPOCH) != epoch + 1;
	if (up)
		faults += bp_agg_up(priv) != 0;
	return faults;
}

static const struct {
	const char *name;
	bool offline;
	u64 (*run)(struct bp_agg *priv);
} bp_agg_tests[] = {
	{ "registers (online)", false, bp_agg_test_registers },
	{ "queues    (online)", false, bp_agg_test_queues },
	{ "reset    (offline)", true, bp_agg_test_reset },
	{ "link      (online)", false, bp_agg_test_link },
};

/**
 * bp_agg_self_test_count() - number of self-tests
 *
 * Return: the number.
 */
int bp_agg_self_test_count(void)
{
	return ARRAY_SIZE(bp_agg_tests);
}

/**
 * bp_agg_self_test_strings() - names of the self-tests
 * @data: room for them, ETH_GSTRING_LEN each
 */
void bp_agg_self_test_strings(u8 *data)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bp_agg_tests); i++)
		ethtool_puts(&data, bp_agg_tests[i].name);
}

/**
 * bp_agg_self_test() - run the self-tests
 * @dev: network device
 * @test: which, and whether one failed
 * @results: number of faults of each
 */
void bp_agg_self_test(struct net_device *dev, struct ethtool_test *test,
		      u64 *results)
{
	struct bp_agg *priv = netdev_priv(dev);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bp_agg_tests); i++) {
		results[i] = 0;
		if (bp_agg_tests[i].offline &&
		    !(test->flags & ETH_TEST_FL_OFFLINE))
			continue;
		results[i] = bp_agg_tests[i].run(priv);
		if (results[i])
			test->flags |= ETH_TEST_FL_FAILED;
	}
}
