// SPDX-License-Identifier: GPL-2.0
/*
 * Finds out that the messaging module failed or died. A dead one sends no interrupt, and the context pages of a process
 * stay as they were, so that a process would wait for ever: while there are contexts, this looks now and then.
 *
 * It looks at the life page, which the server's kernel marks when the server ends. That is plain memory. A register
 * would do as well, but an access that is on its way when the server is killed stops this machine until QEMU's
 * time-out, and if QEMU's socket is reset with it, QEMU 11.1 aborts (vfio_user_recv_hdr() sets an error that is set
 * already). So, once the page says so, no register is touched any more; and none is read just to see whether the module
 * lives.
 */

#include <linux/io.h>

#include "bp_imm.h"

/* Processes learn within 100 ms that their module is gone. */
#define BP_IMM_HEALTH_INTERVAL msecs_to_jiffies(80)

/* A module that fails over and over is not restarted more often than this. */
#define BP_IMM_RECOVER_INTERVAL (5 * HZ)

/**
 * bp_imm_dead - whether the device server is known to have ended: then no register answers
 * @device: the device
 */
bool bp_imm_dead(struct bp_imm_device *device)
{
	return device->life && readl(&device->life->server) & BP_IMM_LIFE_DEAD;
}

static void bp_imm_recover(struct bp_imm_device *device, u32 status)
{
	struct device *dev = &device->pdev->dev;

	if (PCI_POSSIBLE_ERROR(status)) {
		dev_err(dev, "the device server is gone; contexts end with ENODEV\n");
		bp_imm_stop(device);
		return;
	}
	dev_err(dev, "the module failed: %s\n",
		bp_imm_error_text(bp_imm_read32(device, BP_IMM_REG_ERROR)));
	bp_imm_stop(device);
	if (time_before(jiffies, device->recover_after)) {
		dev_err(dev, "failed again too soon; reset it by hand (sysfs, reset) to use it\n");
		return;
	}
	device->recover_after = jiffies + BP_IMM_RECOVER_INTERVAL;
	if (!bp_imm_restart(device))
		dev_info(dev, "reset; contexts have to be opened again\n");
}

/**
 * bp_imm_health_check - looks at the life page, or the status register; ends all contexts if the module does not run
 * @work: bp_imm_device.health
 */
void bp_imm_health_check(struct work_struct *work)
{
	struct bp_imm_device *device = container_of(work, struct bp_imm_device, health.work);
	u32 status;

	if (READ_ONCE(device->state) != BP_IMM_STARTED)
		return;
	if (bp_imm_dead(device)) {
		status = ~0U;
	} else if (device->life && !atomic_xchg(&device->suspect, 0)) {
		/* It lives, and an interrupt would have told of a failure. */
		status = BP_IMM_STATE_RUNNING;
	} else {
		status = bp_imm_read32(device, BP_IMM_REG_STATUS);
	}
	if (status != BP_IMM_STATE_RUNNING)
		bp_imm_recover(device, status);
	else if (atomic_read(&device->open_contexts))
		schedule_delayed_work(&device->health, BP_IMM_HEALTH_INTERVAL);
}

/**
 * bp_imm_health_ask - has the module's status looked at now
 * @device: the device
 *
 * Context: any
 */
void bp_imm_health_ask(struct bp_imm_device *device)
{
	atomic_set(&device->suspect, 1);
	mod_delayed_work(system_wq, &device->health, 0);
}

/**
 * bp_imm_health_watch - begins to watch the module, because it has a context now
 * @device: the device
 */
void bp_imm_health_watch(struct bp_imm_device *device)
{
	schedule_delayed_work(&device->health, BP_IMM_HEALTH_INTERVAL);
}
