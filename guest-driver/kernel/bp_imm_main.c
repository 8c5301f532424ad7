// SPDX-License-Identifier: GPL-2.0
/* PCI driver of the messaging module: probe and removal, reset, suspend. */

#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "bp_imm.h"

static DEFINE_IDA(bp_imm_indices);

static void bp_imm_device_free(struct kref *ref)
{
	struct bp_imm_device *device = container_of(ref, struct bp_imm_device, ref);

	ida_destroy(&device->ids);
	kfree(device);
}

/**
 * bp_imm_device_put - drops a reference to a device
 * @device: the device; not to be used after this
 */
void bp_imm_device_put(struct bp_imm_device *device)
{
	kref_put(&device->ref, bp_imm_device_free);
}

/**
 * bp_imm_stop - resets the module and ends all contexts; the device is a ZOMBIE then
 * @device: the device; harmless if it is not STARTED
 *
 * Within this call processes lose their pages (they see dead ones), memory is unpinned, waiters wake up with ENODEV.
 */
void bp_imm_stop(struct bp_imm_device *device)
{
	struct address_space *mapping = NULL;
	struct bp_imm_client *client;

	mutex_lock(&device->clients_lock);
	if (device->state != BP_IMM_STARTED) {
		mutex_unlock(&device->clients_lock);
		return;
	}
	WRITE_ONCE(device->state, BP_IMM_ZOMBIE);
	/* A command sees the module before the reset or after it, never amid it. */
	mutex_lock(&device->admin_lock);
	bp_imm_reset(device);
	mutex_unlock(&device->admin_lock);
	list_for_each_entry(client, &device->clients, entry)
		bp_imm_client_end(client, false);
	/* All files of one inode share their mapping: zapping it once zaps the pages of all, thousands in a moment. */
	list_for_each_entry(client, &device->clients, entry) {
		if (client->mapping == mapping)
			continue;
		mapping = client->mapping;
		unmap_mapping_range(mapping, 0, 0, 1);
	}
	mutex_unlock(&device->clients_lock);
}

/**
 * bp_imm_restart - makes a stopped device work again
 * @device: the device, ZOMBIE or INIT
 *
 * Return: 0 or a negative errno: the device stays as it is then
 */
int bp_imm_restart(struct bp_imm_device *device)
{
	int error = -EBUSY;

	mutex_lock(&device->clients_lock);
	if (!device->held) {
		error = bp_imm_reset(device);
		if (!error)
			error = bp_imm_start(device);
		if (!error)
			WRITE_ONCE(device->state, BP_IMM_STARTED);
	}
	mutex_unlock(&device->clients_lock);
	return error;
}

static void bp_imm_hold(struct bp_imm_device *device, bool hold)
{
	mutex_lock(&device->clients_lock);
	device->held = hold;
	mutex_unlock(&device->clients_lock);
}

static void bp_imm_quiesce(struct bp_imm_device *device)
{
	bp_imm_hold(device, true);
	bp_imm_stop(device);
	cancel_delayed_work_sync(&device->health);
}

static struct bp_imm_device *bp_imm_device_new(struct pci_dev *pdev)
{
	struct bp_imm_device *device = kzalloc(sizeof(*device), GFP_KERNEL);
	unsigned int i;

	if (!device)
		return NULL;
	kref_init(&device->ref);
	device->pdev = pdev;
	mutex_init(&device->admin_lock);
	mutex_init(&device->clients_lock);
	INIT_LIST_HEAD(&device->clients);
	ida_init(&device->ids);
	init_rwsem(&device->map_lock);
	for (i = 0; i < BP_IMM_CONTEXT_VECTORS; i++) {
		spin_lock_init(&device->vectors[i].lock);
		INIT_LIST_HEAD(&device->vectors[i].clients);
	}
	INIT_DELAYED_WORK(&device->health, bp_imm_health_check);
	device->recover_after = jiffies;
	return device;
}

static void bp_imm_release_regions(void *pdev)
{
	pci_release_regions(pdev);
}

static int bp_imm_map_bars(struct bp_imm_device *device)
{
	struct pci_dev *pdev = device->pdev;
	int error;

	error = pcim_enable_device(pdev);
	if (error)
		return error;
	error = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (error)
		return error;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	error = pci_request_regions(pdev, BP_IMM_NAME);
	if (error)
		return error;
	/* Newer kernels than 6.12 do not release them with what pcim_ has. */
	error = devm_add_action_or_reset(&pdev->dev, bp_imm_release_regions, pdev);
	if (error)
		return error;
	device->registers = pcim_iomap(pdev, 0, BP_IMM_BAR_BYTES);
	if (!device->registers)
		return -ENOMEM;
	device->contexts_start = pci_resource_start(pdev, BP_IMM_CONTEXT_BAR);
	device->doorbells_start = pci_resource_start(pdev, BP_IMM_DOORBELL_BAR);
	if (!bp_imm_write_combining)
		return 0;
	return devm_arch_io_reserve_memtype_wc(&pdev->dev, device->contexts_start,
					       pci_resource_len(pdev, BP_IMM_CONTEXT_BAR));
}

static int bp_imm_allocate(struct bp_imm_device *device)
{
	struct device *dev = &device->pdev->dev;
	size_t admin_bytes = sizeof(*device->admin) + BP_IMM_MAX_NODES * sizeof(__le16);

	device->events_bytes = device->context_count * sizeof(*device->events);
	device->events = dmam_alloc_coherent(dev, device->events_bytes, &device->events_dma, GFP_KERNEL);
	device->admin = dmam_alloc_coherent(dev, admin_bytes, &device->admin_dma, GFP_KERNEL);
	return device->events && device->admin ? 0 : -ENOMEM;
}

static int bp_imm_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct bp_imm_device *device = bp_imm_device_new(pdev);
	int error;

	if (!device)
		return -ENOMEM;
	pci_set_drvdata(pdev, device);
	error = bp_imm_map_bars(device);
	if (error)
		goto put;
	error = bp_imm_identify(device);
	if (error)
		goto put;
	error = bp_imm_allocate(device);
	if (error)
		goto put;
	device->index = ida_alloc(&bp_imm_indices, GFP_KERNEL);
	if (device->index < 0) {
		error = device->index;
		goto put;
	}
	snprintf(device->name, sizeof(device->name), BP_IMM_NAME "%d", device->index);
	pci_set_master(pdev);
	error = bp_imm_irq_request(device);
	if (error)
		goto free_index;
	error = bp_imm_restart(device);
	if (error)
		goto free_irq;

	device->misc.minor = MISC_DYNAMIC_MINOR;
	device->misc.name = device->name;
	device->misc.fops = &bp_imm_fops;
	device->misc.parent = &pdev->dev;
	device->misc.groups = bp_imm_groups;
	/* For every user, as with other user-level messaging: a context reaches nothing but its process's memory. */
	device->misc.mode = 0666;
	error = misc_register(&device->misc);
	if (error)
		goto stop;
	bp_imm_debugfs_add(device);
	dev_info(&pdev->dev, "%s: node %u, %u contexts, %u rings\n", device->name, device->node_id,
		 device->context_count, device->ring_count);
	return 0;

stop:
	bp_imm_quiesce(device);
free_irq:
	bp_imm_irq_free(device);
free_index:
	pci_clear_master(pdev);
	ida_free(&bp_imm_indices, device->index);
put:
	bp_imm_device_put(device);
	return error;
}

static void bp_imm_remove(struct pci_dev *pdev)
{
	struct bp_imm_device *device = pci_get_drvdata(pdev);

	misc_deregister(&device->misc);
	bp_imm_debugfs_remove(device);
	bp_imm_quiesce(device);
	bp_imm_irq_free(device);
	/* An interrupt may have asked for a check after the last one was cancelled. */
	cancel_delayed_work_sync(&device->health);
	pci_clear_master(pdev);
	ida_free(&bp_imm_indices, device->index);
	bp_imm_device_put(device);
}

static void bp_imm_shutdown(struct pci_dev *pdev)
{
	bp_imm_quiesce(pci_get_drvdata(pdev));
	pci_clear_master(pdev);
}

static void bp_imm_reset_prepare(struct pci_dev *pdev)
{
	bp_imm_quiesce(pci_get_drvdata(pdev));
}

static void bp_imm_reset_done(struct pci_dev *pdev)
{
	struct bp_imm_device *device = pci_get_drvdata(pdev);
	int error;

	bp_imm_hold(device, false);
	error = bp_imm_restart(device);
	if (error)
		dev_err(&pdev->dev, "the module does not come back after the reset (%d)\n", error);
}

static int bp_imm_suspend(struct device *dev)
{
	bp_imm_quiesce(dev_get_drvdata(dev));
	return 0;
}

static int bp_imm_resume(struct device *dev)
{
	struct bp_imm_device *device = dev_get_drvdata(dev);

	bp_imm_hold(device, false);
	return bp_imm_restart(device);
}

static DEFINE_SIMPLE_DEV_PM_OPS(bp_imm_pm, bp_imm_suspend, bp_imm_resume);

static const struct pci_error_handlers bp_imm_error_handlers = {
	.reset_prepare = bp_imm_reset_prepare,
	.reset_done = bp_imm_reset_done,
};

static const struct pci_device_id bp_imm_ids[] = {
	{ PCI_DEVICE(BP_PCI_VENDOR_ID, BP_PCI_DEVICE_ID_IMM) },
	{ }
};
MODULE_DEVICE_TABLE(pci, bp_imm_ids);

static struct pci_driver bp_imm_driver = {
	.name = BP_IMM_NAME,
	.id_table = bp_imm_ids,
	.probe = bp_imm_probe,
	.remove = bp_imm_remove,
	.shutdown = bp_imm_shutdown,
	.err_handler = &bp_imm_error_handlers,
	.driver.pm = pm_sleep_ptr(&bp_imm_pm),
};

static int __init bp_imm_init(void)
{
	int error;

	bp_imm_debugfs_init();
	error = pci_register_driver(&bp_imm_driver);
	if (error)
		bp_imm_debugfs_exit();
	return error;
}
module_init(bp_imm_init);

static void __exit bp_imm_exit(void)
{
	pci_unregister_driver(&bp_imm_driver);
	bp_imm_debugfs_exit();
}
module_exit(bp_imm_exit);

MODULE_DESCRIPTION("Backplane inter-node messaging module");
MODULE_LICENSE("GPL");
