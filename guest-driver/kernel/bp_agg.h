/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Network driver of the Backplane aggregation device.
 *
 * A queue pair has a transmit ring, a receive ring, one NAPI instance and one
 * interrupt vector. Rings and indices lie in coherent memory; the only
 * register that the data path writes is a doorbell, and only when the device
 * asked for it.
 *
 * Locking: configuration is under rtnl. A transmit ring is under its
 * netdev_queue's xmit lock, a receive ring belongs to its NAPI instance.
 */
#ifndef BP_AGG_H
#define BP_AGG_H

#include <linux/bpf.h>
#include <linux/dim.h>
#include <linux/hrtimer.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>
#include <net/xdp.h>

#include "backplane_layout.h"
#include "bp_agg_compat.h"

#define BP_AGG_DEFAULT_RING	512
#define BP_AGG_MIN_RX_RING	32	/* holds a frame of BP_AGG_MAX_FRAME */
#define BP_AGG_RX_BUFFER	PAGE_SIZE
#define BP_AGG_XDP_BUFFER	(PAGE_SIZE - XDP_PACKET_HEADROOM - \
				 SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))
#define BP_AGG_RX_COPYBREAK	256
#define BP_AGG_TX_COPYBREAK	256	/* bytes of a copy, and longest frame copied */
#define BP_AGG_TX_COPIES	256	/* most frames under way as copies, a power of 2 */
#define BP_AGG_RX_HEADER	256	/* most bytes of headers */
#define BP_AGG_RX_BATCH		16	/* buffers worth a refill */
#define BP_AGG_TX_USECS		1000
#define BP_AGG_TX_FRAMES	128

/**
 * struct bp_agg_ring - a ring as both directions have it
 * @descriptors: array of the direction's descriptors, in coherent memory
 * @completions: array of the direction's completions, in coherent memory
 * @indices: shared indices, in coherent memory
 * @doorbell: the ring's doorbell register
 * @size: descriptors, a power of two
 * @block: number of the register block
 * @producer: index of the next descriptor to fill
 * @published: @producer as the device knows it
 * @consumer: index of the first descriptor not yet taken back
 * @descriptors_dma: address of @descriptors for the device
 * @completions_dma: address of @completions for the device
 * @indices_dma: address of @indices for the device
 * @descriptor_bytes: size of a descriptor
 * @completion_bytes: size of a completion
 *
 * Indices run freely through 32 bits; no descriptor is kept empty.
 */
struct bp_agg_ring {
	void *descriptors;
	void *completions;
	struct bp_agg_indices *indices;
	void __iomem *doorbell;
	u32 size;
	u32 block;
	u32 producer;
	u32 published;
	u32 consumer;

	dma_addr_t descriptors_dma;
	dma_addr_t completions_dma;
	dma_addr_t indices_dma;
	u16 descriptor_bytes;
	u16 completion_bytes;
};

/**
 * struct bp_agg_tx_slot - what the driver keeps for a transmit descriptor
 * @skb: the frame, if the stack sent it; on its first descriptor
 * @xdpf: the frame, if an XDP program sent it; neither: a copy was sent
 * @dma: address of the buffer for the device
 * @length: bytes of the buffer
 * @count: descriptors of the frame; on its first descriptor
 */
struct bp_agg_tx_slot {
	struct sk_buff *skb;
	struct xdp_frame *xdpf;
	dma_addr_t dma;
	u32 length;
	u32 count;
};

/**
 * struct bp_agg_tx_stats - counters of a transmit ring
 * @packets: frames that the device took
 * @bytes: their bytes
 * @dropped: frames that the driver or the fabric dropped
 * @errors: frames that the device refused as malformed
 * @stops: times that the queue was stopped because the ring was full
 * @linearized: frames with too many fragments for the ring
 * @copied: frames sent as a copy
 * @xdp: frames that an XDP program sent
 * @doorbells: doorbells rung
 * @doorbells_saved: publications for which the device wanted no doorbell
 * @lost_races: completions that came while the interrupt was being armed
 */
struct bp_agg_tx_stats {
	u64 packets;
	u64 bytes;
	u64 dropped;
	u64 errors;
	u64 stops;
	u64 linearized;
	u64 copied;
	u64 xdp;
	u64 doorbells;
	u64 doorbells_saved;
	u64 lost_races;
};

/**
 * struct bp_agg_rx_stats - counters of a receive ring
 * @packets: frames given to the stack
 * @bytes: their bytes
 * @dropped: frames dropped for want of memory
 * @errors: frames or buffers that the device delivered broken
 * @partial: frames with a partial checksum
 * @segmented: frames that are still to be segmented
 * @copied: frames copied out of their buffer
 * @xdp_drops: frames that an XDP program dropped
 * @xdp_sends: frames that an XDP program sent back or to another device
 * @refill_failures: refills that ended for want of memory
 * @doorbells: doorbells rung
 * @doorbells_saved: publications for which the device wanted no doorbell
 * @lost_races: completions that came while the interrupt was being armed
 */
struct bp_agg_rx_stats {
	u64 packets;
	u64 bytes;
	u64 dropped;
	u64 errors;
	u64 partial;
	u64 segmented;
	u64 copied;
	u64 xdp_drops;
	u64 xdp_sends;
	u64 refill_failures;
	u64 doorbells;
	u64 doorbells_saved;
	u64 lost_races;
};

/**
 * struct bp_agg_tx - transmit side of a queue pair
 * @ring: the ring; @ring.consumer is the first descriptor not yet freed
 * @slots: one for each descriptor
 * @queue: the stack's queue
 * @copies: memory for the copies of short frames, BP_AGG_TX_COPYBREAK bytes each
 * @copies_dma: address of @copies for the device
 * @copy_count: number of copies that @copies holds, a power of two
 * @held: frames under way whose memory somebody waits for: all but copies
 * @max_count: most descriptors of one frame on this ring
 * @wake_at: free descriptors at which a stopped queue is woken
 * @timer: polls when nobody else has for a while
 * @stats: counters, written under the queue's xmit lock
 * @sync: of @stats
 */
struct bp_agg_tx {
	struct bp_agg_ring ring;
	struct bp_agg_tx_slot *slots;
	struct netdev_queue *queue;
	void *copies;
	dma_addr_t copies_dma;
	u32 copy_count;
	u32 held;
	u32 max_count;
	u32 wake_at;
	struct hrtimer timer;
	struct bp_agg_tx_stats stats;
	struct u64_stats_sync sync;
};

/**
 * struct bp_agg_rx - receive side of a queue pair
 * @ring: the ring; @ring.consumer is the first buffer not yet handled
 * @pages: page of each descriptor
 * @pool: where pages come from
 * @headroom: bytes before a buffer in its page, for an XDP program
 * @buffer: bytes of a buffer
 * @xdp_rxq: what XDP knows about this ring; registered if there is a program
 * @xdp_sent: an XDP program has queued frames on the transmit ring
 * @xdp_redirected: an XDP program has redirected frames
 * @refill: polls again after a refill failed
 * @dim: state of adaptive moderation
 * @stats: counters, written by the NAPI instance
 * @sync: of @stats
 */
struct bp_agg_rx {
	struct bp_agg_ring ring;
	struct page **pages;
	struct page_pool *pool;
	u32 headroom;
	u32 buffer;
	struct xdp_rxq_info xdp_rxq;
	bool xdp_sent;
	bool xdp_redirected;
	struct delayed_work refill;
	struct dim dim;
	struct bp_agg_rx_stats stats;
	struct u64_stats_sync sync;
};

/**
 * struct bp_agg_pair - a queue pair
 * @napi: polls both sides
 * @priv: the device
 * @index: number of the pair
 * @waiting: the service found frames that nobody had fetched
 * @waiting_at: index of the first of them
 * @resting: neither stack nor NAPI touch the rings; set under the xmit lock, or
 *           by NAPI when the device broke the protocol
 * @interrupts: interrupts taken
 * @adaptations: times that adaptive moderation has chosen anew
 * @taking_turns: NAPI polls in @turn, since it has polled for too long
 * @turn: a worker's turn to poll
 * @turns: polls that a worker was asked for
 * @window_at: local_clock() when @polled began
 * @polled: nanoseconds spent in NAPI since then
 * @tx: transmit side
 * @rx: receive side
 * @name: of the interrupt
 */
struct bp_agg_pair {
	struct napi_struct napi;
	struct bp_agg *priv;
	u32 index;
	bool waiting;
	u32 waiting_at;
	bool resting;
	u64 interrupts;
	u64 adaptations;
	bool taking_turns;
	struct work_struct turn;
	u64 turns;
	u64 window_at;
	u64 polled;
	struct bp_agg_tx tx ____cacheline_aligned_in_smp;
	struct bp_agg_rx rx ____cacheline_aligned_in_smp;
	char name[IFNAMSIZ + 16];
};

/**
 * enum bp_agg_flag - bits of bp_agg.flags
 * @BP_AGG_UP: the queues run; changes under rtnl
 * @BP_AGG_DEAD: registers read all-ones: the device is gone
 * @BP_AGG_BLOCKED: a queue failed in a way that a restart cannot mend
 */
enum bp_agg_flag {
	BP_AGG_UP,
	BP_AGG_DEAD,
	BP_AGG_BLOCKED,
};

/**
 * struct bp_agg_coalesce - interrupt moderation of one direction
 * @usecs: longest time until completions are noticed
 * @frames: frames (transmit: descriptors) after which the interrupt comes at
 *          once; receive: 0 for no such limit
 *
 * Received frames are moderated by the device, for sent ones the driver has a
 * timer.
 */
struct bp_agg_coalesce {
	u32 usecs;
	u32 frames;
};

/**
 * struct bp_agg - a device
 * @dev: the network device
 * @pdev: the PCI function
 * @bar: BAR 0
 * @flags: enum bp_agg_flag
 * @offered: BP_AGG_FEATURE_* that device and driver know
 * @max_pairs: queue pairs that device, vectors and processors allow
 * @pair_count: queue pairs in use
 * @tx_size: descriptors of a transmit ring
 * @rx_size: descriptors of a receive ring
 * @min_ring: smallest ring of the device
 * @max_ring: largest ring of the device
 * @max_segments: most descriptors of a frame
 * @filter: BP_AGG_FILTER_* in force
 * @multicast_filter: groups to receive, as the register wants them
 * @rx_copybreak: longest frame that is copied out of its buffer
 * @tx_copybreak: longest frame that is sent as a copy
 * @msix: interrupts are MSI-X, else INTx
 * @shared_vector: one vector serves everything
 * @tx_coalesce: moderation of transmit interrupts
 * @rx_coalesce: moderation of receive interrupts, unless it is adaptive
 * @adaptive: receive interrupts are moderated as DIM chooses
 * @restart_pairs: bitmap of the pairs that @restart has to restart
 * @restart: restarts pairs that stopped
 * @restarted_at: jiffies of the latest restart
 * @service: looks after link, death and lost interrupts
 * @link_lock: one at a time may report the link
 * @queue_errors: queues that stopped with an error
 * @restarts: pairs restarted
 * @timeouts: transmit timeouts
 * @lost_interrupts: completions that waited without an interrupt
 * @event_name: of the event interrupt
 * @workers: where pairs poll that have polled for too long
 * @prog: XDP program, or NULL
 * @pairs: the queue pairs, @max_pairs of them
 */
struct bp_agg {
	struct net_device *dev;
	struct pci_dev *pdev;
	void __iomem *bar;
	unsigned long flags;
	u64 offered;
	u32 max_pairs;
	u32 pair_count;
	u32 tx_size;
	u32 rx_size;
	u32 min_ring;
	u32 max_ring;
	u32 max_segments;
	u32 filter;
	u64 multicast_filter;
	u32 rx_copybreak;
	u32 tx_copybreak;
	bool msix;
	bool shared_vector;
	struct bp_agg_coalesce tx_coalesce;
	struct bp_agg_coalesce rx_coalesce;
	bool adaptive;

	unsigned long restart_pairs;
	struct delayed_work restart;
	unsigned long restarted_at;
	struct delayed_work service;
	struct mutex link_lock; /* one at a time may report the link */
	u64 queue_errors;
	u64 restarts;
	u64 timeouts;
	u64 lost_interrupts;
	char event_name[IFNAMSIZ + 16];

	struct workqueue_struct *workers;
	struct bpf_prog *prog;
	struct bp_agg_pair *pairs;
};

extern const struct ethtool_ops bp_agg_ethtool_ops;
extern const struct net_device_ops bp_agg_netdev_ops;

static inline struct bp_agg_tx_slot *bp_agg_tx_slot(struct bp_agg_tx *tx,
						    u32 index)
{
	return &tx->slots[index & (tx->ring.size - 1)];
}

static inline u32 bp_agg_tx_space(const struct bp_agg_tx *tx)
{
	return tx->ring.size - (tx->ring.producer - tx->ring.consumer);
}

static inline struct page **bp_agg_rx_page(struct bp_agg_rx *rx, u32 index)
{
	return &rx->pages[index & (rx->ring.size - 1)];
}

static inline struct bp_agg_pair *bp_agg_tx_pair(struct bp_agg_tx *tx)
{
	return container_of(tx, struct bp_agg_pair, tx);
}

static inline struct bp_agg_pair *bp_agg_rx_pair(struct bp_agg_rx *rx)
{
	return container_of(rx, struct bp_agg_pair, rx);
}

/* bp_agg_hw.c */
u32 bp_agg_read(struct bp_agg *priv, u32 offset);
u64 bp_agg_read64(struct bp_agg *priv, u32 offset);
void bp_agg_write(struct bp_agg *priv, u32 offset, u32 value);
void bp_agg_write64(struct bp_agg *priv, u32 offset, u64 value);
bool bp_agg_alive(struct bp_agg *priv);
int bp_agg_hw_identify(struct bp_agg *priv);
int bp_agg_hw_reset(struct bp_agg *priv);
int bp_agg_hw_enable(struct bp_agg *priv);
void bp_agg_hw_disable(struct bp_agg *priv);
void bp_agg_hw_queue_enable(struct bp_agg *priv, struct bp_agg_ring *ring,
			    u32 vector);
int bp_agg_hw_pair_check(struct bp_agg_pair *pair);
int bp_agg_hw_pair_disable(struct bp_agg_pair *pair);
void bp_agg_hw_moderate(struct bp_agg_pair *pair);
void bp_agg_hw_moderate_all(struct bp_agg *priv);
const char *bp_agg_hw_queue_error(u32 code);

/* bp_agg_ring.c */
int bp_agg_ring_alloc(struct bp_agg *priv, struct bp_agg_ring *ring, u32 block,
		      u32 size, u16 descriptor_bytes, u16 completion_bytes);
void bp_agg_ring_free(struct bp_agg *priv, struct bp_agg_ring *ring);
void bp_agg_ring_clear(struct bp_agg_ring *ring);
bool bp_agg_ring_publish(struct bp_agg_ring *ring);
u32 bp_agg_ring_completed(const struct bp_agg_ring *ring);
void bp_agg_ring_want(struct bp_agg_ring *ring, u32 event);
void bp_agg_ring_disarm(struct bp_agg_ring *ring);
u32 bp_agg_ring_arm(struct bp_agg_ring *ring, u32 event);

/* bp_agg_queue.c */
int bp_agg_pairs_alloc(struct bp_agg *priv);
void bp_agg_pairs_free(struct bp_agg *priv);
int bp_agg_pair_start(struct bp_agg_pair *pair);
void bp_agg_pair_rest(struct bp_agg_pair *pair);
int bp_agg_pair_stop(struct bp_agg_pair *pair);
int bp_agg_poll(struct napi_struct *napi, int budget);
void bp_agg_pair_schedule(struct bp_agg_pair *pair);

/* bp_agg_tx.c */
int bp_agg_tx_alloc(struct bp_agg_pair *pair);
void bp_agg_tx_free(struct bp_agg_pair *pair);
void bp_agg_tx_empty(struct bp_agg_tx *tx);
void bp_agg_tx_settle(struct bp_agg_tx *tx);
void bp_agg_tx_poll(struct bp_agg_tx *tx, int budget);
void bp_agg_tx_clean(struct bp_agg_tx *tx, int budget);
bool bp_agg_tx_watch(struct bp_agg_tx *tx);
bool bp_agg_tx_poll_done(struct bp_agg_tx *tx);
void bp_agg_tx_unmap(struct bp_agg_tx *tx, u32 index, u32 count);

/* bp_agg_tx_frame.c */
void bp_agg_tx_finish(struct bp_agg_tx *tx);
bool bp_agg_tx_xdp(struct bp_agg_tx *tx, struct xdp_frame *xdpf, struct page *page);
netdev_tx_t bp_agg_start_xmit(struct sk_buff *skb, struct net_device *dev);

/* bp_agg_rx.c */
int bp_agg_rx_alloc(struct bp_agg_pair *pair);
void bp_agg_rx_free(struct bp_agg_pair *pair);
void bp_agg_rx_empty(struct bp_agg_rx *rx);
int bp_agg_rx_fill(struct bp_agg_rx *rx, gfp_t gfp);
int bp_agg_rx_poll(struct bp_agg_rx *rx, int budget);
bool bp_agg_rx_poll_done(struct bp_agg_rx *rx);

/* bp_agg_rx_frame.c */
bool bp_agg_rx_frame(struct bp_agg_rx *rx, u32 available);

/* bp_agg_xdp.c */
int bp_agg_xdp_register(struct bp_agg_rx *rx);
void bp_agg_xdp_unregister(struct bp_agg_rx *rx);
struct sk_buff *bp_agg_xdp_run(struct bp_agg_rx *rx, struct bpf_prog *prog,
			       struct page *page, u32 length);
void bp_agg_xdp_flush(struct bp_agg_rx *rx);
int bp_agg_bpf(struct net_device *dev, struct netdev_bpf *bpf);
u32 bp_agg_xdp_max_mtu(void);

/* bp_agg_dim.c */
struct bp_agg_coalesce bp_agg_dim_moderation(const struct bp_agg_pair *pair);
void bp_agg_dim_init(struct bp_agg_pair *pair);
void bp_agg_dim_sample(struct bp_agg_pair *pair);
void bp_agg_dim_stop(struct bp_agg_pair *pair);
void bp_agg_set_adaptive(struct bp_agg *priv, bool on);

/* bp_agg_share.c */
void bp_agg_share_init(struct bp_agg_pair *pair);
void bp_agg_share_schedule(struct bp_agg_pair *pair);
void bp_agg_share_count(struct bp_agg_pair *pair, u64 began);
void bp_agg_share_stop(struct bp_agg_pair *pair);

/* bp_agg_irq.c */
int bp_agg_vectors_alloc(struct bp_agg *priv);
int bp_agg_irqs_request(struct bp_agg *priv);
void bp_agg_irqs_free(struct bp_agg *priv);
u32 bp_agg_event_vector(struct bp_agg *priv);
u32 bp_agg_pair_vector(struct bp_agg_pair *pair);

/* bp_agg_service.c */
void bp_agg_service_init(struct bp_agg *priv);
void bp_agg_service_start(struct bp_agg *priv);
void bp_agg_service_stop(struct bp_agg *priv);
void bp_agg_handle_events(struct bp_agg *priv);
void bp_agg_update_link(struct bp_agg *priv);
void bp_agg_request_restart(struct bp_agg_pair *pair);
void bp_agg_protocol_error(struct bp_agg_pair *pair, const char *what);

/* bp_agg_netdev.c */
int bp_agg_reconfigure(struct bp_agg *priv);
void bp_agg_netdev_init(struct bp_agg *priv);
int bp_agg_up(struct bp_agg *priv);
void bp_agg_down(struct bp_agg *priv);
void bp_agg_set_filter(struct bp_agg *priv);

/* bp_agg_selftest.c */
void bp_agg_self_test(struct net_device *dev, struct ethtool_test *test,
		      u64 *results);
int bp_agg_self_test_count(void);
void bp_agg_self_test_strings(u8 *data);

#endif /* BP_AGG_H */
