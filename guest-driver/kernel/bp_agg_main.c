// SPDX-License-Identifier: GPL-2.0
/* The PCI driver: probe, remove, power management, resets from outside. */

#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include "bp_agg.h"

#define BP_AGG_BAR	0

static int bp_agg_pairs_init(struct bp_agg *priv)
{
	u32 i;

	priv->pairs = kvcalloc(priv->max_pairs, sizeof(*priv->pairs),
			       GFP_KERNEL);
	if (!priv->pairs)
		return -ENOMEM;
	for (i = 0; i < priv->max_pairs; i++) {
		struct bp_agg_pair *pair = &priv->pairs[i];

		pair->priv = priv;
		pair->index = i;
		u64_stats_init(&pair->tx.sync);
		u64_stats_init(&pair->rx.sync);
		bp_agg_dim_init(pair);
		bp_agg_share_init(pair);
		netif_napi_add(priv->dev, &pair->napi, bp_agg_poll);
	}
	return 0;
}

static void bp_agg_pairs_exit(struct bp_agg *priv)
{
	u32 i;

	for (i = 0; i < priv->max_pairs; i++)
		netif_napi_del(&priv->pairs[i].napi);
	kvfree(priv->pairs);
}

static void bp_agg_set_defaults(struct bp_agg *priv)
{
	priv->pair_count = min(priv->max_pairs, num_online_cpus());
	priv->tx_size = clamp_t(u32, BP_AGG_DEFAULT_RING, priv->min_ring,
				priv->max_ring);
	priv->rx_size = clamp_t(u32, BP_AGG_DEFAULT_RING, priv->min_ring,
				priv->max_ring);
	priv->tx_coalesce.usecs = BP_AGG_TX_USECS;
	priv->tx_coalesce.frames = BP_AGG_TX_FRAMES;
	priv->rx_copybreak = BP_AGG_RX_COPYBREAK;
	priv->tx_copybreak = BP_AGG_TX_COPYBREAK;
}

static int bp_agg_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct net_device *dev;
	struct bp_agg *priv;
	int err;

	dev = alloc_etherdev_mqs(sizeof(*priv), BP_AGG_MAX_QUEUE_PAIRS,
				 BP_AGG_MAX_QUEUE_PAIRS);
	if (!dev)
		return -ENOMEM;
	SET_NETDEV_DEV(dev, &pdev->dev);
	pci_set_drvdata(pdev, dev);
	priv = netdev_priv(dev);
	priv->dev = dev;
	priv->pdev = pdev;

	err = pci_enable_device_mem(pdev);
	if (err)
		goto free_netdev;
	err = pci_request_mem_regions(pdev, KBUILD_MODNAME);
	if (err)
		goto disable_device;
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		goto release_regions;
	priv->bar = pci_ioremap_bar(pdev, BP_AGG_BAR);
	if (!priv->bar) {
		err = -ENOMEM;
		goto release_regions;
	}

	/* A kernel before us may have left the device at work. */
	err = bp_agg_hw_identify(priv) ?: bp_agg_hw_reset(priv);
	if (err)
		goto unmap_bar;
	err = bp_agg_vectors_alloc(priv);
	if (err)
		goto unmap_bar;
	err = bp_agg_pairs_init(priv);
	if (err)
		goto free_vectors;
	priv->workers = alloc_workqueue("bp_agg-%s", WQ_UNBOUND, 0,
					pci_name(pdev));
	if (!priv->workers) {
		err = -ENOMEM;
		goto exit_pairs;
	}

	bp_agg_set_defaults(priv);
	bp_agg_service_init(priv);
	bp_agg_netdev_init(priv);
	netif_carrier_off(dev);
	err = register_netdev(dev);
	if (err)
		goto destroy_workers;

	netdev_info(dev, "node %u, address %pM, %u queue pair(s), %s\n",
		    bp_agg_read(priv, BP_AGG_REG_NODE_ID), dev->dev_addr,
		    priv->max_pairs, priv->msix ? "MSI-X" : "INTx");
	return 0;

destroy_workers:
	destroy_workqueue(priv->workers);
exit_pairs:
	bp_agg_pairs_exit(priv);
free_vectors:
	pci_free_irq_vectors(pdev);
unmap_bar:
	iounmap(priv->bar);
release_regions:
	pci_release_mem_regions(pdev);
disable_device:
	pci_disable_device(pdev);
free_netdev:
	free_netdev(dev);
	return err;
}

static void bp_agg_remove(struct pci_dev *pdev)
{
	struct net_device *dev = pci_get_drvdata(pdev);
	struct bp_agg *priv = netdev_priv(dev);

	unregister_netdev(dev);
	cancel_delayed_work_sync(&priv->restart);
	if (bp_agg_alive(priv))
		bp_agg_hw_reset(priv);
	pci_clear_master(pdev);
	destroy_workqueue(priv->workers);
	bp_agg_pairs_exit(priv);
	pci_free_irq_vectors(pdev);
	iounmap(priv->bar);
	pci_release_mem_regions(pdev);
	pci_disable_device(pdev);
	free_netdev(dev);
}

/* Takes the device out of use, whatever it was doing. Under rtnl. */
static void bp_agg_quiesce(struct bp_agg *priv)
{
	netif_device_detach(priv->dev);
	if (netif_running(priv->dev))
		bp_agg_down(priv);
}

/* Puts the device to use again, after it was reset. Under rtnl. */
static int bp_agg_revive(struct bp_agg *priv)
{
	int err = 0;

	clear_bit(BP_AGG_DEAD, &priv->flags);
	if (!bp_agg_alive(priv))
		return -ENODEV;
	if (netif_running(priv->dev))
		err = bp_agg_up(priv);
	if (!err)
		netif_device_attach(priv->dev);
	return err;
}

/* The next kernel (kexec) must find a device that does not touch memory. */
static void bp_agg_shutdown(struct pci_dev *pdev)
{
	struct net_device *dev = pci_get_drvdata(pdev);
	struct bp_agg *priv = netdev_priv(dev);

	rtnl_lock();
	bp_agg_quiesce(priv);
	rtnl_unlock();
	if (bp_agg_alive(priv))
		bp_agg_hw_reset(priv);
	pci_clear_master(pdev);
}

static int bp_agg_suspend(struct device *device)
{
	struct bp_agg *priv = netdev_priv(dev_get_drvdata(device));

	rtnl_lock();
	bp_agg_quiesce(priv);
	rtnl_unlock();
	return 0;
}

static int bp_agg_resume(struct device *device)
{
	struct bp_agg *priv = netdev_priv(dev_get_drvdata(device));
	int err;

	rtnl_lock();
	err = bp_agg_hw_reset(priv) ?: bp_agg_revive(priv);
	rtnl_unlock();
	return err;
}

static DEFINE_SIMPLE_DEV_PM_OPS(bp_agg_pm_ops, bp_agg_suspend, bp_agg_resume);

static void bp_agg_reset_prepare(struct pci_dev *pdev)
{
	struct bp_agg *priv = netdev_priv(pci_get_drvdata(pdev));

	rtnl_lock();
	bp_agg_quiesce(priv);
	rtnl_unlock();
}

static void bp_agg_reset_done(struct pci_dev *pdev)
{
	struct bp_agg *priv = netdev_priv(pci_get_drvdata(pdev));
	int err;

	rtnl_lock();
	err = bp_agg_revive(priv);
	rtnl_unlock();
	if (err)
		netdev_err(priv->dev, "not usable after reset (%d)\n", err);
}

static pci_ers_result_t bp_agg_error_detected(struct pci_dev *pdev,
					      pci_channel_state_t state)
{
	bp_agg_reset_prepare(pdev);
	pci_clear_master(pdev);
	return state == pci_channel_io_perm_failure ?
		PCI_ERS_RESULT_DISCONNECT : PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t bp_agg_slot_reset(struct pci_dev *pdev)
{
	struct bp_agg *priv = netdev_priv(pci_get_drvdata(pdev));

	pci_restore_state(pdev);
	return bp_agg_hw_reset(priv) ? PCI_ERS_RESULT_DISCONNECT :
				       PCI_ERS_RESULT_RECOVERED;
}

static const struct pci_error_handlers bp_agg_error_handlers = {
	.error_detected = bp_agg_error_detected,
	.slot_reset = bp_agg_slot_reset,
	.resume = bp_agg_reset_done,
	.reset_prepare = bp_agg_reset_prepare,
	.reset_done = bp_agg_reset_done,
};

static const struct pci_device_id bp_agg_ids[] = {
	{ PCI_DEVICE(BP_PCI_VENDOR_ID, BP_PCI_DEVICE_ID_AGG) },
	{ }
};
MODULE_DEVICE_TABLE(pci, bp_agg_ids);

static struct pci_driver bp_agg_driver = {
	.name = KBUILD_MODNAME,
	.id_table = bp_agg_ids,
	.probe = bp_agg_probe,
	.remove = bp_agg_remove,
	.shutdown = bp_agg_shutdown,
	.driver.pm = pm_sleep_ptr(&bp_agg_pm_ops),
	.err_handler = &bp_agg_error_handlers,
};
module_pci_driver(bp_agg_driver);

MODULE_DESCRIPTION("Network driver of the Backplane aggregation device");
MODULE_LICENSE("GPL");
