// SPDX-License-Identifier: GPL-2.0
/* ethtool: settings, counters, registers. */

#include <linux/ethtool.h>
#include <linux/rtnetlink.h>

#include "bp_agg.h"

#define BP_AGG_MAX_USECS	1000000

/* A counter's name, and its place in a structure or in the registers. */
struct bp_agg_counter {
	char name[ETH_GSTRING_LEN];
	u32 offset;
};

#define BP_AGG_TX(field) { #field, offsetof(struct bp_agg_tx_stats, field) }
static const struct bp_agg_counter bp_agg_tx_counters[] = {
	BP_AGG_TX(packets),
	BP_AGG_TX(bytes),
	BP_AGG_TX(dropped),
	BP_AGG_TX(errors),
	BP_AGG_TX(stops),
	BP_AGG_TX(linearized),
	BP_AGG_TX(copied),
	BP_AGG_TX(xdp),
	BP_AGG_TX(doorbells),
	BP_AGG_TX(doorbells_saved),
	BP_AGG_TX(lost_races),
};

#define BP_AGG_RX(field) { #field, offsetof(struct bp_agg_rx_stats, field) }
static const struct bp_agg_counter bp_agg_rx_counters[] = {
	BP_AGG_RX(packets),
	BP_AGG_RX(bytes),
	BP_AGG_RX(dropped),
	BP_AGG_RX(errors),
	BP_AGG_RX(partial),
	BP_AGG_RX(segmented),
	BP_AGG_RX(copied),
	BP_AGG_RX(xdp_drops),
	BP_AGG_RX(xdp_sends),
	BP_AGG_RX(refill_failures),
	BP_AGG_RX(doorbells),
	BP_AGG_RX(doorbells_saved),
	BP_AGG_RX(lost_races),
};

#define BP_AGG_DRIVER(field) { #field, offsetof(struct bp_agg, field) }
static const struct bp_agg_counter bp_agg_driver_counters[] = {
	BP_AGG_DRIVER(queue_errors),
	BP_AGG_DRIVER(restarts),
	BP_AGG_DRIVER(timeouts),
	BP_AGG_DRIVER(lost_interrupts),
};

#define BP_AGG_DEVICE(name, reg) { "dev_" name, BP_AGG_STAT_##reg }
static const struct bp_agg_counter bp_agg_device_counters[] = {
	BP_AGG_DEVICE("tx_frames", TX_FRAMES),
	BP_AGG_DEVICE("tx_bytes", TX_BYTES),
	BP_AGG_DEVICE("tx_errors", TX_ERRORS),
	BP_AGG_DEVICE("tx_dropped", TX_DROPPED),
	BP_AGG_DEVICE("tx_waits", TX_WAITS),
	BP_AGG_DEVICE("tx_doorbells", TX_DOORBELLS),
	BP_AGG_DEVICE("rx_frames", RX_FRAMES),
	BP_AGG_DEVICE("rx_bytes", RX_BYTES),
	BP_AGG_DEVICE("rx_errors", RX_ERRORS),
	BP_AGG_DEVICE("rx_dropped_stuck", RX_DROPPED_STUCK),
	BP_AGG_DEVICE("rx_dropped_down", RX_DROPPED_DOWN),
	BP_AGG_DEVICE("rx_dropped_too_long", RX_DROPPED_TOO_LONG),
	BP_AGG_DEVICE("rx_waits", RX_WAITS),
	BP_AGG_DEVICE("rx_doorbells", RX_DOORBELLS),
	BP_AGG_DEVICE("interrupts", INTERRUPTS),
	BP_AGG_DEVICE("interrupts_suppressed", INTERRUPTS_SUPPRESSED),
	BP_AGG_DEVICE("bad_accesses", BAD_ACCESSES),
	BP_AGG_DEVICE("resets", RESETS),
	BP_AGG_DEVICE("tx_port_waits", TX_PORT_WAITS),
	BP_AGG_DEVICE("rx_dropped_flooded", RX_DROPPED_FLOODED),
	BP_AGG_DEVICE("rx_dropped_malformed", RX_DROPPED_MALFORMED),
	BP_AGG_DEVICE("rx_segmented", RX_SEGMENTED),
	BP_AGG_DEVICE("rx_checksummed", RX_CHECKSUMMED),
	BP_AGG_DEVICE("interrupts_moderated", INTERRUPTS_MODERATED),
	BP_AGG_DEVICE("queue_errors", QUEUE_ERRORS),
	BP_AGG_DEVICE("stuck", STUCK),
};

static_assert(ARRAY_SIZE(bp_agg_device_counters) <= BP_AGG_STAT_BYTES / 8);

/* Of each pair: both directions, interrupts, their moderation, turns. */
#define BP_AGG_PAIR_COUNTERS (ARRAY_SIZE(bp_agg_tx_counters) + \
			      ARRAY_SIZE(bp_agg_rx_counters) + 3)

static void bp_agg_get_drvinfo(struct net_device *dev,
			       struct ethtool_drvinfo *info)
{
	struct bp_agg *priv = netdev_priv(dev);
	u32 version = bp_agg_read(priv, BP_AGG_REG_VERSION);

	strscpy(info->driver, KBUILD_MODNAME, sizeof(info->driver));
	strscpy(info->bus_info, pci_name(priv->pdev), sizeof(info->bus_info));
	snprintf(info->fw_version, sizeof(info->fw_version), "%u.%u node %u",
		 version >> 16, version & 0xffff,
		 bp_agg_read(priv, BP_AGG_REG_NODE_ID));
}

static int bp_agg_get_sset_count(struct net_device *dev, int set)
{
	struct bp_agg *priv = netdev_priv(dev);

	switch (set) {
	case ETH_SS_STATS:
		return ARRAY_SIZE(bp_agg_driver_counters) +
		       ARRAY_SIZE(bp_agg_device_counters) +
		       priv->max_pairs * BP_AGG_PAIR_COUNTERS;
	case ETH_SS_TEST:
		return bp_agg_self_test_count();
	default:
		return -EOPNOTSUPP;
	}
}

static void bp_agg_pair_strings(u32 pair, u8 **data)
{
	u32 i;

	ethtool_sprintf(data, "pair%u_interrupts", pair);
	ethtool_sprintf(data, "pair%u_adaptations", pair);
	ethtool_sprintf(data, "pair%u_turns", pair);
	for (i = 0; i < ARRAY_SIZE(bp_agg_tx_counters); i++)
		ethtool_sprintf(data, "tx%u_%s", pair,
				bp_agg_tx_counters[i].name);
	for (i = 0; i < ARRAY_SIZE(bp_agg_rx_counters); i++)
		ethtool_sprintf(data, "rx%u_%s", pair,
				bp_agg_rx_counters[i].name);
}

static void bp_agg_get_strings(struct net_device *dev, u32 set, u8 *data)
{
	struct bp_agg *priv = netdev_priv(dev);
	u32 i;

	if (set == ETH_SS_TEST)
		bp_agg_self_test_strings(data);
	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(bp_agg_driver_counters); i++)
		ethtool_puts(&data, bp_agg_driver_counters[i].name);
	for (i = 0; i < ARRAY_SIZE(bp_agg_device_counters); i++)
		ethtool_puts(&data, bp_agg_device_counters[i].name);
	for (i = 0; i < priv->max_pairs; i++)
		bp_agg_pair_strings(i, &data);
}

/* Copies counters out of @stats; the result is consistent. */
static u64 *bp_agg_copy(u64 *data, const void *stats,
			const struct u64_stats_sync *sync,
			const struct bp_agg_counter *counters, u32 count)
{
	unsigned int start;
	u32 i;

	do {
		start = u64_stats_fetch_begin(sync);
		for (i = 0; i < count; i++)
			data[i] = *(u64 *)(stats + counters[i].offset);
	} while (u64_stats_fetch_retry(sync, start));
	return data + count;
}

static void bp_agg_get_ethtool_stats(struct net_device *dev,
				     struct ethtool_stats *stats, u64 *data)
{
	struct bp_agg *priv = netdev_priv(dev);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bp_agg_driver_counters); i++)
		*data++ = *(u64 *)((void *)priv +
				   bp_agg_driver_counters[i].offset);
	for (i = 0; i < ARRAY_SIZE(bp_agg_device_counters); i++)
		*data++ = bp_agg_read64(priv, BP_AGG_STATISTICS +
					bp_agg_device_counters[i].offset);
	for (i = 0; i < priv->max_pairs; i++) {
		struct bp_agg_pair *pair = &priv->pairs[i];

		if (i < priv->pair_count && test_bit(BP_AGG_UP, &priv->flags))
			bp_agg_tx_settle(&pair->tx);
		*data++ = READ_ONCE(pair->interrupts);
		*data++ = READ_ONCE(pair->adaptations);
		*data++ = READ_ONCE(pair->turns);
		data = bp_agg_copy(data, &pair->tx.stats, &pair->tx.sync,
				   bp_agg_tx_counters,
				   ARRAY_SIZE(bp_agg_tx_counters));
		data = bp_agg_copy(data, &pair->rx.stats, &pair->rx.sync,
				   bp_agg_rx_counters,
				   ARRAY_SIZE(bp_agg_rx_counters));
	}
}

/* Control registers, then the register blocks of all queues. */
static int bp_agg_get_regs_len(struct net_device *dev)
{
	return BP_AGG_REG_BYTES +
	       2 * BP_AGG_MAX_QUEUE_PAIRS * BP_AGG_QUEUE_BYTES;
}

static void bp_agg_get_regs(struct net_device *dev, struct ethtool_regs *regs,
			    void *data)
{
	struct bp_agg *priv = netdev_priv(dev);
	u32 queues = 2 * BP_AGG_MAX_QUEUE_PAIRS * BP_AGG_QUEUE_BYTES;
	u32 *out = data;
	u32 i;

	regs->version = BP_AGG_VERSION;
	for (i = 0; i < BP_AGG_REG_BYTES; i += sizeof(u32))
		*out++ = bp_agg_read(priv, i);
	for (i = 0; i < queues; i += sizeof(u32))
		*out++ = bp_agg_read(priv, BP_AGG_QUEUES + i);
}

static int bp_agg_get_link_ksettings(struct net_device *dev,
				     struct ethtool_link_ksettings *settings)
{
	struct bp_agg *priv = netdev_priv(dev);

	ethtool_link_ksettings_zero_link_mode(settings, supported);
	ethtool_link_ksettings_zero_link_mode(settings, advertising);
	settings->base.port = PORT_OTHER;
	settings->base.autoneg = AUTONEG_DISABLE;
	settings->base.speed = SPEED_UNKNOWN;
	settings->base.duplex = DUPLEX_UNKNOWN;
	if (netif_carrier_ok(dev)) {
		settings->base.speed = bp_agg_read(priv, BP_AGG_REG_LINK_SPEED);
		settings->base.duplex = DUPLEX_FULL;
	}
	return 0;
}

static void bp_agg_get_ringparam(struct net_device *dev,
				 struct ethtool_ringparam *ring,
				 struct kernel_ethtool_ringparam *kernel_ring,
				 struct netlink_ext_ack *extack)
{
	struct bp_agg *priv = netdev_priv(dev);

	ring->rx_max_pending = priv->max_ring;
	ring->tx_max_pending = priv->max_ring;
	ring->rx_pending = priv->rx_size;
	ring->tx_pending = priv->tx_size;
}

static int bp_agg_set_ringparam(struct net_device *dev,
				struct ethtool_ringparam *ring,
				struct kernel_ethtool_ringparam *kernel_ring,
				struct netlink_ext_ack *extack)
{
	struct bp_agg *priv = netdev_priv(dev);
	u32 old_tx = priv->tx_size, old_rx = priv->rx_size;
	int err;

	if (!is_power_of_2(ring->tx_pending) ||
	    !is_power_of_2(ring->rx_pending)) {
		NL_SET_ERR_MSG_MOD(extack, "ring size is not a power of 2");
		return -EINVAL;
	}
	if (ring->tx_pending < priv->min_ring ||
	    ring->rx_pending < max_t(u32, priv->min_ring, BP_AGG_MIN_RX_RING)) {
		NL_SET_ERR_MSG_MOD(extack, "ring is too small");
		return -EINVAL;
	}

	priv->tx_size = ring->tx_pending;
	priv->rx_size = ring->rx_pending;
	err = bp_agg_reconfigure(priv);
	if (err) {
		priv->tx_size = old_tx;
		priv->rx_size = old_rx;
		if (bp_agg_reconfigure(priv))
			netdev_err(dev, "old rings do not come back either\n");
	}
	netdev_update_features(dev);
	return err;
}

static void bp_agg_get_channels(struct net_device *dev,
				struct ethtool_channels *channels)
{
	struct bp_agg *priv = netdev_priv(dev);

	channels->max_combined = priv->max_pairs;
	channels->combined_count = priv->pair_count;
}

static int bp_agg_set_channels(struct net_device *dev,
			       struct ethtool_channels *channels)
{
	struct bp_agg *priv = netdev_priv(dev);
	u32 old = priv->pair_count;
	u32 count = channels->combined_count;
	bool running = netif_running(dev);
	int err;

	if (count == old)
		return 0;
	if (running)
		bp_agg_down(priv);
	err = netif_set_real_num_queues(dev, count, count);
	if (!err)
		priv->pair_count = count;
	if (running && bp_agg_up(priv)) {
		priv->pair_count = old;
		netif_set_real_num_queues(dev, old, old);
		err = bp_agg_up(priv);
	}
	return err;
}

static int bp_agg_get_coalesce(struct net_device *dev,
			       struct ethtool_coalesce *coalesce,
			       struct kernel_ethtool_coalesce *kernel_coalesce,
			       struct netlink_ext_ack *extack)
{
	struct bp_agg *priv = netdev_priv(dev);

	coalesce->use_adaptive_rx_coalesce = priv->adaptive;
	coalesce->rx_coalesce_usecs = priv->rx_coalesce.usecs;
	coalesce->rx_max_coalesced_frames = priv->rx_coalesce.frames;
	coalesce->tx_coalesce_usecs = priv->tx_coalesce.usecs;
	coalesce->tx_max_coalesced_frames = priv->tx_coalesce.frames;
	return 0;
}

static int bp_agg_set_coalesce(struct net_device *dev,
			       struct ethtool_coalesce *coalesce,
			       struct kernel_ethtool_coalesce *kernel_coalesce,
			       struct netlink_ext_ack *extack)
{
	struct bp_agg *priv = netdev_priv(dev);

	bool moderates = priv->offered & BP_AGG_FEATURE_MODERATION;

	if (!moderates && (coalesce->use_adaptive_rx_coalesce ||
			   coalesce->rx_coalesce_usecs ||
			   coalesce->rx_max_coalesced_frames)) {
		NL_SET_ERR_MSG_MOD(extack, "device does not moderate interrupts");
		return -EOPNOTSUPP;
	}
	if (!coalesce->tx_max_coalesced_frames ||
	    coalesce->rx_coalesce_usecs > BP_AGG_MAX_USECS ||
	    coalesce->tx_coalesce_usecs > BP_AGG_MAX_USECS) {
		NL_SET_ERR_MSG_MOD(extack, "tx-frames is 0, or a delay is over 1 s");
		return -EINVAL;
	}
	priv->rx_coalesce.usecs = coalesce->rx_coalesce_usecs;
	priv->rx_coalesce.frames = coalesce->rx_max_coalesced_frames;
	priv->tx_coalesce.usecs = coalesce->tx_coalesce_usecs;
	priv->tx_coalesce.frames = coalesce->tx_max_coalesced_frames;
	bp_agg_set_adaptive(priv, coalesce->use_adaptive_rx_coalesce);
	if (test_bit(BP_AGG_UP, &priv->flags))
		bp_agg_hw_moderate_all(priv);
	return 0;
}

static int bp_agg_get_tunable(struct net_device *dev,
			      const struct ethtool_tunable *tunable, void *data)
{
	struct bp_agg *priv = netdev_priv(dev);

	switch (tunable->id) {
	case ETHTOOL_RX_COPYBREAK:
		*(u32 *)data = priv->rx_copybreak;
		return 0;
	case ETHTOOL_TX_COPYBREAK:
		*(u32 *)data = priv->tx_copybreak;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int bp_agg_set_tunable(struct net_device *dev,
			      const struct ethtool_tunable *tunable,
			      const void *data)
{
	struct bp_agg *priv = netdev_priv(dev);
	u32 value = *(const u32 *)data;

	switch (tunable->id) {
	case ETHTOOL_RX_COPYBREAK:
		if (value > BP_AGG_RX_BUFFER)
			return -EINVAL;
		WRITE_ONCE(priv->rx_copybreak, value);
		return 0;
	case ETHTOOL_TX_COPYBREAK:
		if (value > BP_AGG_TX_COPYBREAK)
			return -EINVAL;
		WRITE_ONCE(priv->tx_copybreak, value);
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

const struct ethtool_ops bp_agg_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_USECS |
				     ETHTOOL_COALESCE_MAX_FRAMES |
				     ETHTOOL_COALESCE_USE_ADAPTIVE_RX,
	.get_drvinfo = bp_agg_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = bp_agg_get_link_ksettings,
	.get_sset_count = bp_agg_get_sset_count,
	.get_strings = bp_agg_get_strings,
	.get_ethtool_stats = bp_agg_get_ethtool_stats,
	.get_regs_len = bp_agg_get_regs_len,
	.get_regs = bp_agg_get_regs,
	.get_ringparam = bp_agg_get_ringparam,
	.set_ringparam = bp_agg_set_ringparam,
	.get_channels = bp_agg_get_channels,
	.set_channels = bp_agg_set_channels,
	.get_coalesce = bp_agg_get_coalesce,
	.set_coalesce = bp_agg_set_coalesce,
	.get_tunable = bp_agg_get_tunable,
	.set_tunable = bp_agg_set_tunable,
	.self_test = bp_agg_self_test,
	.get_ts_info = ethtool_op_get_ts_info,
};
