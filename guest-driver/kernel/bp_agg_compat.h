/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between the kernels that bp_agg supports: 6.1, 6.12 and newer. */
#ifndef BP_AGG_COMPAT_H
#define BP_AGG_COMPAT_H

#include <linux/dim.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

#ifndef PCI_IRQ_INTX
#define PCI_IRQ_INTX PCI_IRQ_LEGACY
#endif

static inline void bp_agg_pool_set_napi(struct page_pool_params *params,
					struct napi_struct *napi)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	params->napi = napi;
#endif
}

static inline void bp_agg_set_xdp_features(struct net_device *dev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	dev->xdp_features = NETDEV_XDP_ACT_BASIC | NETDEV_XDP_ACT_REDIRECT;
#endif
}

static inline void bp_agg_timer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*expired)(struct hrtimer *))
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_SOFT);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
	timer->function = expired;
#endif
}

static inline void bp_agg_net_dim(struct dim *dim, struct dim_sample *sample)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	net_dim(dim, sample);
#else
	net_dim(dim, *sample);
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline bool napi_is_scheduled(struct napi_struct *napi)
{
	return test_bit(NAPI_STATE_SCHED, &napi->state);
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
static inline void ethtool_puts(u8 **data, const char *str)
{
	strscpy(*data, str, ETH_GSTRING_LEN);
	*data += ETH_GSTRING_LEN;
}
#endif

#endif /* BP_AGG_COMPAT_H */
