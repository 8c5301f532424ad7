// SPDX-License-Identifier: GPL-2.0
/*
 * Registers. Every access leaves the guest, so none is on the data path.
 * Writes may be posted; a read returns after all earlier writes took effect.
 */

#include <linux/etherdevice.h>
#include <linux/iopoll.h>

#include "bp_agg.h"

#define BP_AGG_ALL_ONES		0xffffffffU
#define BP_AGG_POLL_US		1000
#define BP_AGG_TIMEOUT_US	1000000

/* Every feature that this driver can use. */
#define BP_AGG_DRIVER_FEATURES \
	(BP_AGG_FEATURE_CHECKSUM | BP_AGG_FEATURE_TSO4 | BP_AGG_FEATURE_TSO6 | \
	 BP_AGG_FEATURE_UDP_SEGMENTATION | BP_AGG_FEATURE_VLAN | \
	 BP_AGG_FEATURE_MULTI_QUEUE | BP_AGG_FEATURE_MODERATION)

static u32 bp_agg_block(u32 block)
{
	return BP_AGG_QUEUES + block * BP_AGG_QUEUE_BYTES;
}

/**
 * bp_agg_alive() - find out whether the device still answers
 * @priv: device
 *
 * A device that is gone reads all-ones. That is reported once.
 *
 * Return: false once the device is gone.
 */
bool bp_agg_alive(struct bp_agg *priv)
{
	if (test_bit(BP_AGG_DEAD, &priv->flags))
		return false;
	if (readl(priv->bar + BP_AGG_REG_MAGIC) == BP_AGG_MAGIC)
		return true;
	if (!test_and_set_bit(BP_AGG_DEAD, &priv->flags)) {
		netdev_err(priv->dev,
			   "device is gone: its registers do not answer\n");
		netif_carrier_off(priv->dev);
	}
	return false;
}

/**
 * bp_agg_read() - read a register
 * @priv: device
 * @offset: offset in BAR 0
 *
 * Return: the value; all-ones from a device that is gone.
 */
u32 bp_agg_read(struct bp_agg *priv, u32 offset)
{
	u32 value = readl(priv->bar + offset);

	if (unlikely(value == BP_AGG_ALL_ONES))
		bp_agg_alive(priv);
	return value;
}

/**
 * bp_agg_read64() - read a register of 64 bits
 * @priv: device
 * @offset: offset in BAR 0
 *
 * Return: the value; all-ones from a device that is gone.
 */
u64 bp_agg_read64(struct bp_agg *priv, u32 offset)
{
	return readq(priv->bar + offset);
}

/**
 * bp_agg_write() - write a register
 * @priv: device
 * @offset: offset in BAR 0
 * @value: value
 */
void bp_agg_write(struct bp_agg *priv, u32 offset, u32 value)
{
	writel(value, priv->bar + offset);
}

/**
 * bp_agg_write64() - write a register of 64 bits
 * @priv: device
 * @offset: offset in BAR 0
 * @value: value
 */
void bp_agg_write64(struct bp_agg *priv, u32 offset, u64 value)
{
	writeq(value, priv->bar + offset);
}

static void bp_agg_read_mac(struct bp_agg *priv)
{
	u32 low = bp_agg_read(priv, BP_AGG_REG_MAC_LOW);
	u32 high = bp_agg_read(priv, BP_AGG_REG_MAC_HIGH);
	u8 mac[ETH_ALEN] = {
		low, low >> 8, low >> 16, low >> 24, high, high >> 8
	};

	if (is_valid_ether_addr(mac)) {
		eth_hw_addr_set(priv->dev, mac);
		return;
	}
	eth_hw_addr_random(priv->dev);
	dev_warn(&priv->pdev->dev, "MAC address %pM is invalid, using %pM\n",
		 mac, priv->dev->dev_addr);
}

/**
 * bp_agg_hw_identify() - check that this is a device we know, read its limits
 * @priv: device
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_hw_identify(struct bp_agg *priv)
{
	struct device *dev = &priv->pdev->dev;
	u32 magic = readl(priv->bar + BP_AGG_REG_MAGIC);
	u32 version, pairs;

	if (magic != BP_AGG_MAGIC)
		return dev_err_probe(dev, -ENODEV, "magic is %#x, not %#x: %s\n",
				     magic, BP_AGG_MAGIC,
				     magic == BP_AGG_ALL_ONES ?
				     "is the device server running?" :
				     "not an aggregation device");
	version = bp_agg_read(priv, BP_AGG_REG_VERSION);
	if (version >> 16 != BP_AGG_VERSION >> 16)
		return dev_err_probe(dev, -ENODEV,
				     "device has interface version %u.%u, this driver needs %u.x\n",
				     version >> 16, version & 0xffff,
				     BP_AGG_VERSION >> 16);

	priv->offered = bp_agg_read64(priv, BP_AGG_REG_FEATURES) &
			BP_AGG_DRIVER_FEATURES;
	priv->min_ring = bp_agg_read(priv, BP_AGG_REG_MIN_RING_SIZE);
	priv->max_ring = bp_agg_read(priv, BP_AGG_REG_MAX_RING_SIZE);
	priv->max_segments = bp_agg_read(priv, BP_AGG_REG_MAX_SEGMENTS);
	pairs = bp_agg_read(priv, BP_AGG_REG_MAX_QUEUE_PAIRS);
	if (!pairs || pairs > BP_AGG_MAX_QUEUE_PAIRS || !priv->max_segments ||
	    !priv->min_ring || priv->max_ring < BP_AGG_MIN_RX_RING)
		return dev_err_probe(dev, -ENODEV,
				     "impossible limits: %u queue pairs, %u segments, rings of %u to %u\n",
				     pairs, priv->max_segments, priv->min_ring,
				     priv->max_ring);
	priv->max_pairs = 1;
	if (priv->offered & BP_AGG_FEATURE_MULTI_QUEUE)
		priv->max_pairs = pairs;

	priv->dev->min_mtu = ETH_MIN_MTU;
	priv->dev->max_mtu = bp_agg_read(priv, BP_AGG_REG_MAX_MTU);
	priv->dev->mtu = min_t(u32, ETH_DATA_LEN, priv->dev->max_mtu);
	bp_agg_read_mac(priv);
	return 0;
}

/**
 * bp_agg_hw_reset() - reset the device
 * @priv: device
 *
 * Afterwards the device does not touch memory until it is configured anew.
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_hw_reset(struct bp_agg *priv)
{
	u32 control;
	int err;

	bp_agg_write(priv, BP_AGG_REG_CONTROL, BP_AGG_CONTROL_RESET);
	/* A reset is complete when the write has taken effect, as a rule. */
	err = read_poll_timeout(bp_agg_read, control,
				control == BP_AGG_ALL_ONES ||
				!(control & BP_AGG_CONTROL_RESET),
				BP_AGG_POLL_US, BP_AGG_TIMEOUT_US, false,
				priv, BP_AGG_REG_CONTROL);
	if (!err && control == BP_AGG_ALL_ONES)
		err = -ENODEV;
	if (err)
		dev_err(&priv->pdev->dev, "device does not reset (%d)\n", err);
	return err;
}

/* The features in use: an XDP program wants to see whole packets. */
static u64 bp_agg_hw_features(const struct bp_agg *priv)
{
	if (!priv->prog)
		return priv->offered;
	return priv->offered &
	       (BP_AGG_FEATURE_MULTI_QUEUE | BP_AGG_FEATURE_MODERATION);
}

/**
 * bp_agg_hw_queue_enable() - configure and start a queue
 * @priv: device
 * @ring: the queue's ring, cleared
 * @vector: vector that it interrupts by
 *
 * Whether it started is seen by bp_agg_hw_pair_check().
 */
void bp_agg_hw_queue_enable(struct bp_agg *priv, struct bp_agg_ring *ring,
			    u32 vector)
{
	u32 block = bp_agg_block(ring->block);

	bp_agg_write64(priv, block + BP_AGG_QUEUE_DESCRIPTORS,
		       ring->descriptors_dma);
	bp_agg_write64(priv, block + BP_AGG_QUEUE_COMPLETIONS,
		       ring->completions_dma);
	bp_agg_write64(priv, block + BP_AGG_QUEUE_INDICES,
		       ring->indices_dma);
	bp_agg_write(priv, block + BP_AGG_QUEUE_SIZE, ring->size);
	bp_agg_write(priv, block + BP_AGG_QUEUE_VECTOR, vector);
	bp_agg_write(priv, block + BP_AGG_QUEUE_CONTROL, BP_AGG_QUEUE_ENABLE);
}

static int bp_agg_hw_queue_check(struct bp_agg *priv,
				 const struct bp_agg_ring *ring)
{
	u32 block = bp_agg_block(ring->block);
	u32 state = bp_agg_read(priv, block + BP_AGG_QUEUE_STATE);
	u32 error;

	if (state == BP_AGG_QUEUE_STATE_RUNNING)
		return 0;
	if (state == BP_AGG_ALL_ONES)
		return -ENODEV;
	error = bp_agg_read(priv, block + BP_AGG_QUEUE_ERROR);
	netdev_err(priv->dev, "queue %u does not start: %s (error %u)\n",
		   ring->block, bp_agg_hw_queue_error(error), error);
	return -EIO;
}

/**
 * bp_agg_hw_pair_check() - see whether the queues of a pair run
 * @pair: queue pair that was enabled
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_hw_pair_check(struct bp_agg_pair *pair)
{
	int err = bp_agg_hw_queue_check(pair->priv, &pair->tx.ring);

	return err ?: bp_agg_hw_queue_check(pair->priv, &pair->rx.ring);
}

/**
 * bp_agg_hw_pair_disable() - stop the queues of a pair
 * @pair: queue pair
 *
 * Return: 0 once the device does not touch the rings any more, or a negative
 * errno.
 */
int bp_agg_hw_pair_disable(struct bp_agg_pair *pair)
{
	struct bp_agg *priv = pair->priv;
	u32 tx = bp_agg_block(pair->tx.ring.block);
	u32 rx = bp_agg_block(pair->rx.ring.block);

	bp_agg_write(priv, tx + BP_AGG_QUEUE_CONTROL, 0);
	bp_agg_write(priv, rx + BP_AGG_QUEUE_CONTROL, 0);
	if (bp_agg_read(priv, tx + BP_AGG_QUEUE_STATE) ==
	    BP_AGG_QUEUE_STATE_DISABLED &&
	    bp_agg_read(priv, rx + BP_AGG_QUEUE_STATE) ==
	    BP_AGG_QUEUE_STATE_DISABLED)
		return 0;
	return bp_agg_alive(priv) ? -EIO : -ENODEV;
}

/**
 * bp_agg_hw_moderate() - set the moderation of a pair's receive interrupts
 * @pair: queue pair
 */
void bp_agg_hw_moderate(struct bp_agg_pair *pair)
{
	struct bp_agg *priv = pair->priv;
	u32 rx = bp_agg_block(pair->rx.ring.block);
	struct bp_agg_coalesce coalesce = priv->rx_coalesce;

	if (!(priv->offered & BP_AGG_FEATURE_MODERATION))
		return;
	if (READ_ONCE(priv->adaptive))
		coalesce = bp_agg_dim_moderation(pair);
	bp_agg_write(priv, rx + BP_AGG_QUEUE_MODERATION_USECS, coalesce.usecs);
	bp_agg_write(priv, rx + BP_AGG_QUEUE_MODERATION_FRAMES,
		     coalesce.frames);
}

/**
 * bp_agg_hw_moderate_all() - set the moderation of all receive interrupts
 * @priv: device that is up
 */
void bp_agg_hw_moderate_all(struct bp_agg *priv)
{
	u32 i;

	for (i = 0; i < priv->pair_count; i++)
		bp_agg_hw_moderate(&priv->pairs[i]);
}

/**
 * bp_agg_hw_enable() - configure what is not a queue, and enable the device
 * @priv: device whose queues are enabled already
 *
 * Return: 0 or a negative errno.
 */
int bp_agg_hw_enable(struct bp_agg *priv)
{
	u32 status;

	bp_agg_write64(priv, BP_AGG_REG_DRIVER_FEATURES,
		       bp_agg_hw_features(priv));
	bp_agg_write(priv, BP_AGG_REG_MTU, priv->dev->mtu);
	bp_agg_write(priv, BP_AGG_REG_QUEUE_PAIRS, priv->pair_count);
	bp_agg_write(priv, BP_AGG_REG_EVENT_VECTOR, bp_agg_event_vector(priv));
	bp_agg_write(priv, BP_AGG_REG_PACKET_FILTER, priv->filter);
	bp_agg_write64(priv, BP_AGG_REG_MULTICAST_FILTER,
		       priv->multicast_filter);
	bp_agg_write(priv, BP_AGG_REG_CONTROL, BP_AGG_CONTROL_ENABLE);

	status = bp_agg_read(priv, BP_AGG_REG_STATUS);
	if (status == BP_AGG_ALL_ONES)
		return -ENODEV;
	if ((status & BP_AGG_STATUS_STATE_MASK) == BP_AGG_STATE_RUNNING)
		return 0;
	netdev_err(priv->dev, "device does not start: status %#x, error %u\n",
		   status, bp_agg_read(priv, BP_AGG_REG_ERROR));
	return -EIO;
}

/**
 * bp_agg_hw_disable() - take the device off the network
 * @priv: device
 */
void bp_agg_hw_disable(struct bp_agg *priv)
{
	bp_agg_write(priv, BP_AGG_REG_CONTROL, 0);
	bp_agg_write(priv, BP_AGG_REG_EVENT_VECTOR, BP_AGG_NO_VECTOR);
}

/**
 * bp_agg_hw_queue_error() - text of a queue's error
 * @code: BP_AGG_QUEUE_ERROR_*
 *
 * Return: the text, with what to do where there is something to do.
 */
const char *bp_agg_hw_queue_error(u32 code)
{
	switch (code) {
	case BP_AGG_QUEUE_ERROR_NONE:
		return "no error";
	case BP_AGG_QUEUE_ERROR_BAD_CONFIGURATION:
		return "size or alignment is not allowed";
	case BP_AGG_QUEUE_ERROR_BAD_INDEX:
		return "producer index is more than a ring ahead";
	case BP_AGG_QUEUE_ERROR_NOT_MAPPED:
		return "ring or indices are not in memory that the device sees";
	case BP_AGG_QUEUE_ERROR_NOT_SHARED:
		return "memory is not shared with the device server, start QEMU with a memory backend with share=on";
	case BP_AGG_QUEUE_ERROR_BROKEN_MEMORY:
		return "memory was truncated";
	case BP_AGG_QUEUE_ERROR_INTERNAL:
		return "fault of the device server, see its log";
	default:
		return "unknown error";
	}
}
