// SPDX-License-Identifier: GPL-2.0
/* The network device: up and down, addresses, MTU, features, statistics. */

#include <linux/crc32.h>
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>

#include "bp_agg.h"

#define BP_AGG_WATCHDOG	(10 * HZ)

/**
 * bp_agg_up() - bring the queues and the link up
 * @priv: device that is down; under rtnl
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_up(struct bp_agg *priv)
{
	u32 i;
	int err;

	if (!bp_agg_alive(priv))
		return -ENODEV;
	pci_set_master(priv->pdev);
	clear_bit(BP_AGG_BLOCKED, &priv->flags);
	priv->restart_pairs = 0;

	err = bp_agg_pairs_alloc(priv);
	if (err)
		return err;
	err = bp_agg_irqs_request(priv);
	if (err)
		goto free_pairs;
	for (i = 0; i < priv->pair_count; i++) {
		err = bp_agg_pair_start(&priv->pairs[i]);
		if (err)
			goto stop_pairs;
	}
	err = bp_agg_hw_enable(priv);
	if (err)
		goto stop_pairs;

	set_bit(BP_AGG_UP, &priv->flags);
	netif_tx_wake_all_queues(priv->dev);
	bp_agg_service_start(priv);
	return 0;

stop_pairs:
	while (i--)
		bp_agg_pair_stop(&priv->pairs[i]);
	bp_agg_irqs_free(priv);
free_pairs:
	bp_agg_pairs_free(priv);
	return err;
}

/**
 * bp_agg_down() - take link and queues down
 * @priv: device that is up; under rtnl
 */
void bp_agg_down(struct bp_agg *priv)
{
	u32 i;

	if (!test_and_clear_bit(BP_AGG_UP, &priv->flags))
		return;
	bp_agg_service_stop(priv);
	for (i = 0; i < priv->pair_count; i++)
		bp_agg_pair_rest(&priv->pairs[i]);
	bp_agg_hw_disable(priv);
	for (i = 0; i < priv->pair_count; i++)
		bp_agg_pair_stop(&priv->pairs[i]);
	bp_agg_irqs_free(priv);
	netif_carrier_off(priv->dev);
	bp_agg_pairs_free(priv);
}

/**
 * bp_agg_reconfigure() - restart a device that is up, after a change
 * @priv: device; under rtnl
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_reconfigure(struct bp_agg *priv)
{
	if (!netif_running(priv->dev))
		return 0;
	bp_agg_down(priv);
	return bp_agg_up(priv);
}

static int bp_agg_open(struct net_device *dev)
{
	struct bp_agg *priv = netdev_priv(dev);
	int err;

	err = netif_set_real_num_queues(dev, priv->pair_count,
					priv->pair_count);
	return err ?: bp_agg_up(priv);
}

static int bp_agg_stop(struct net_device *dev)
{
	bp_agg_down(netdev_priv(dev));
	return 0;
}

static u32 bp_agg_filter(const struct net_device *dev)
{
	u32 filter = 0;

	/* The device knows one address, the permanent one. */
	if (dev->flags & IFF_PROMISC || !netdev_uc_empty(dev) ||
	    !ether_addr_equal(dev->dev_addr, dev->perm_addr))
		filter |= BP_AGG_FILTER_PROMISCUOUS;
	if (dev->flags & IFF_ALLMULTI)
		filter |= BP_AGG_FILTER_ALL_MULTICAST;
	return filter;
}

static u64 bp_agg_multicast_filter(struct net_device *dev)
{
	struct netdev_hw_addr *group;
	u64 filter = 0;

	netdev_for_each_mc_addr(group, dev)
		filter |= BIT_ULL(ether_crc(ETH_ALEN, group->addr) >> 26);
	return filter;
}

static void bp_agg_set_rx_mode(struct net_device *dev)
{
	struct bp_agg *priv = netdev_priv(dev);
	u64 multicast = bp_agg_multicast_filter(dev);
	u32 filter = bp_agg_filter(dev);

	if (multicast != priv->multicast_filter)
		bp_agg_write64(priv, BP_AGG_REG_MULTICAST_FILTER, multicast);
	if (filter != priv->filter)
		bp_agg_write(priv, BP_AGG_REG_PACKET_FILTER, filter);
	priv->multicast_filter = multicast;
	priv->filter = filter;
}

static int bp_agg_set_mac_address(struct net_device *dev, void *addr)
{
	int err = eth_mac_addr(dev, addr);

	if (!err)
		bp_agg_set_rx_mode(dev);
	return err;
}

static int bp_agg_change_mtu(struct net_device *dev, int mtu)
{
	struct bp_agg *priv = netdev_priv(dev);

	if (priv->prog && mtu > bp_agg_xdp_max_mtu()) {
		netdev_err(dev, "MTU above %u with an XDP program\n",
			   bp_agg_xdp_max_mtu());
		return -EINVAL;
	}
	/* The device refuses longer frames: it must never know less than we. */
	if (mtu > dev->mtu)
		bp_agg_write(priv, BP_AGG_REG_MTU, mtu);
	WRITE_ONCE(dev->mtu, mtu);
	bp_agg_write(priv, BP_AGG_REG_MTU, mtu);
	return 0;
}

static void bp_agg_tx_timeout(struct net_device *dev, unsigned int queue)
{
	struct bp_agg *priv = netdev_priv(dev);
	struct bp_agg_ring *ring = &priv->pairs[queue].tx.ring;

	priv->timeouts++;
	netdev_warn(dev, "transmit queue %u is stuck: consumer %u, completed %u, published %u\n",
		    queue, ring->consumer, bp_agg_ring_completed(ring),
		    ring->published);
	bp_agg_request_restart(&priv->pairs[queue]);
}

static void bp_agg_add_tx(struct bp_agg_tx *tx, struct rtnl_link_stats64 *sum)
{
	u64 packets, bytes, dropped, errors;
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&tx->sync);
		packets = tx->stats.packets;
		bytes = tx->stats.bytes;
		dropped = tx->stats.dropped;
		errors = tx->stats.errors;
	} while (u64_stats_fetch_retry(&tx->sync, start));

	sum->tx_packets += packets;
	sum->tx_bytes += bytes;
	sum->tx_dropped += dropped;
	sum->tx_errors += errors;
}

static void bp_agg_add_rx(struct bp_agg_rx *rx, struct rtnl_link_stats64 *sum)
{
	u64 packets, bytes, dropped, errors;
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&rx->sync);
		packets = rx->stats.packets;
		bytes = rx->stats.bytes;
		dropped = rx->stats.dropped;
		errors = rx->stats.errors;
	} while (u64_stats_fetch_retry(&rx->sync, start));

	sum->rx_packets += packets;
	sum->rx_bytes += bytes;
	sum->rx_dropped += dropped;
	sum->rx_errors += errors;
}

static void bp_agg_get_stats64(struct net_device *dev,
			       struct rtnl_link_stats64 *sum)
{
	struct bp_agg *priv = netdev_priv(dev);
	u32 i;

	for (i = 0; i < priv->max_pairs; i++) {
		bp_agg_add_tx(&priv->pairs[i].tx, sum);
		bp_agg_add_rx(&priv->pairs[i].rx, sum);
	}
}

static netdev_features_t bp_agg_fix_features(struct net_device *dev,
					     netdev_features_t features)
{
	struct bp_agg *priv = netdev_priv(dev);

	/* A ring that cannot hold a frame's fragments gets whole frames. */
	if (priv->tx_size < MAX_SKB_FRAGS + 1)
		features &= ~NETIF_F_SG;
	/* An XDP program sees whole packets, so no offload may be negotiated. */
	if (priv->prog)
		features &= ~(NETIF_F_HW_CSUM | NETIF_F_GSO_UDP_L4 |
			      NETIF_F_HW_VLAN_CTAG_TX);
	return features;
}

const struct net_device_ops bp_agg_netdev_ops = {
	.ndo_open = bp_agg_open,
	.ndo_stop = bp_agg_stop,
	.ndo_start_xmit = bp_agg_start_xmit,
	.ndo_set_rx_mode = bp_agg_set_rx_mode,
	.ndo_set_mac_address = bp_agg_set_mac_address,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_change_mtu = bp_agg_change_mtu,
	.ndo_tx_timeout = bp_agg_tx_timeout,
	.ndo_get_stats64 = bp_agg_get_stats64,
	.ndo_fix_features = bp_agg_fix_features,
	.ndo_bpf = bp_agg_bpf,
};

/* What the device lets through becomes a feature of the network device. */
static netdev_features_t bp_agg_features(const struct bp_agg *priv)
{
	netdev_features_t features = NETIF_F_SG | NETIF_F_HIGHDMA;

	if (!(priv->offered & BP_AGG_FEATURE_CHECKSUM))
		return features;
	features |= NETIF_F_HW_CSUM;
	if (priv->offered & BP_AGG_FEATURE_TSO4)
		features |= NETIF_F_TSO;
	if (priv->offered & BP_AGG_FEATURE_TSO6)
		features |= NETIF_F_TSO6;
	if (priv->offered & BP_AGG_FEATURE_UDP_SEGMENTATION)
		features |= NETIF_F_GSO_UDP_L4;
	return features;
}

/**
 * bp_agg_netdev_init() - set up the network device
 * @priv: device that was identified
 */
void bp_agg_netdev_init(struct bp_agg *priv)
{
	struct net_device *dev = priv->dev;
	netdev_features_t vlan = 0;

	if (priv->offered & BP_AGG_FEATURE_VLAN)
		vlan = NETIF_F_HW_VLAN_CTAG_TX | NETIF_F_HW_VLAN_CTAG_RX;

	dev->netdev_ops = &bp_agg_netdev_ops;
	dev->ethtool_ops = &bp_agg_ethtool_ops;
	dev->watchdog_timeo = BP_AGG_WATCHDOG;
	dev->vlan_features = bp_agg_features(priv);
	dev->hw_features = dev->vlan_features | NETIF_F_RXHASH |
			   (vlan & NETIF_F_HW_VLAN_CTAG_TX);
	dev->features = dev->hw_features | vlan;
	if (priv->offered & BP_AGG_FEATURE_CHECKSUM)
		dev->features |= NETIF_F_RXCSUM;
	bp_agg_set_xdp_features(dev);
}
