/* SPDX-License-Identifier: (GPL-2.0 OR Apache-2.0) */
/* Generated, do not edit. From the Java declarations, by ci/layouts. */
#ifndef BACKPLANE_LAYOUT_H
#define BACKPLANE_LAYOUT_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <assert.h>
#include <stddef.h>
#endif

/* PCI ids: vendor id is not registered with the PCI-SIG */
#define BP_PCI_VENDOR_ID 0xba5cU /* vendor and subsystem vendor */
#define BP_PCI_DEVICE_ID_AGG 0x8672U /* aggregation device */
#define BP_PCI_DEVICE_ID_IMM 0x2143U /* inter-node messaging module */

/* Aggregation device: values of its registers, and places in BAR 0 */
#define BP_AGG_MAGIC 0x47474142U /* value of magic */
#define BP_AGG_VERSION 0x10000U /* value of version */
#define BP_AGG_BAR_BYTES 0x10000U /* size of BAR 0 */
#define BP_AGG_QUEUES 512 /* first queue register block */
#define BP_AGG_DOORBELLS 0x1000U /* first doorbell */
#define BP_AGG_DOORBELL_STRIDE 8 /* bytes between doorbells */
#define BP_AGG_STATISTICS 0x2000U /* statistics block */
#define BP_AGG_MAX_QUEUE_PAIRS 8 /* most queue pairs */
#define BP_AGG_MAX_SEGMENTS 64 /* most descriptors of one frame */
#define BP_AGG_MAX_FRAME 0x10016U /* largest frame in bytes */
#define BP_AGG_MIN_FRAME 14 /* smallest frame in bytes */
#define BP_AGG_NO_VECTOR 0xffffffffU /* no vector */
#define BP_AGG_CONTROL_ENABLE 1 /* RW: the vNIC works, the link comes up */
#define BP_AGG_CONTROL_RESET 2 /* write 1: reset; reads 0 once done */
#define BP_AGG_STATE_IDLE 0 /* after reset, not enabled */
#define BP_AGG_STATE_RUNNING 1 /* enabled */
#define BP_AGG_STATE_FAILED 2 /* stopped by an error; reset recovers */
#define BP_AGG_STATUS_STATE_MASK 15 /* the state's bits in status */
#define BP_AGG_STATUS_LINK_UP 16 /* the link is up */
#define BP_AGG_ERROR_NONE 0 /* no error */
#define BP_AGG_ERROR_BROKEN_MEMORY 1 /* guest memory was truncated */
#define BP_AGG_ERROR_RESTORE 2 /* a saved state could not be restored */
#define BP_AGG_EVENT_LINK 1 /* the link changed */
#define BP_AGG_EVENT_QUEUE_ERROR 2 /* a queue stopped, see queue_errors */
#define BP_AGG_EVENT_QUEUE 4 /* a queue wants service; only without MSI-X */
#define BP_AGG_FILTER_PROMISCUOUS 1 /* receive frames for any address */
#define BP_AGG_FILTER_ALL_MULTICAST 2 /* receive all multicast frames */
#define BP_AGG_FEATURE_CHECKSUM 1 /* partial checksums pass, both ways */
#define BP_AGG_FEATURE_TSO4 2 /* TCP over IPv4 segmentation passes, both ways */
#define BP_AGG_FEATURE_TSO6 4 /* TCP over IPv6 segmentation passes, both ways */
#define BP_AGG_FEATURE_UDP_SEGMENTATION 8 /* UDP segmentation passes, both ways */
#define BP_AGG_FEATURE_VLAN 16 /* VLAN tags beside the frame */
#define BP_AGG_FEATURE_MULTI_QUEUE 32 /* more than one queue pair */
#define BP_AGG_FEATURE_MODERATION 64 /* interrupt moderation */

/* Queue: values of a queue's registers */
#define BP_AGG_QUEUE_ENABLE 1 /* RW: the queue works; writing 0 returns when it has stopped */
#define BP_AGG_QUEUE_STATE_DISABLED 0 /* not enabled */
#define BP_AGG_QUEUE_STATE_RUNNING 1 /* works */
#define BP_AGG_QUEUE_STATE_STOPPED 2 /* stopped by an error; disable it, then enable it again */
#define BP_AGG_QUEUE_ERROR_NONE 0 /* no error */
#define BP_AGG_QUEUE_ERROR_BAD_CONFIGURATION 1 /* size or alignment is not allowed */
#define BP_AGG_QUEUE_ERROR_BAD_INDEX 2 /* producer index is more than a ring ahead */
#define BP_AGG_QUEUE_ERROR_NOT_MAPPED 3 /* ring or indices are not in guest memory */
#define BP_AGG_QUEUE_ERROR_NOT_SHARED 4 /* guest memory is not shared with the server */
#define BP_AGG_QUEUE_ERROR_BROKEN_MEMORY 5 /* guest memory was truncated */
#define BP_AGG_QUEUE_ERROR_INTERNAL 6 /* fault of the device server, see its log */

/* Transmit descriptor: flags, and kinds of segmentation (both directions) */
#define BP_AGG_TX_END_OF_FRAME 1 /* the frame's last buffer */
#define BP_AGG_TX_CHECKSUM 2 /* the checksum is partial: the receiver completes it */
#define BP_AGG_TX_VLAN 4 /* vlan_tci is valid */
#define BP_AGG_GSO_NONE 0 /* one packet */
#define BP_AGG_GSO_TCPV4 1 /* TCP over IPv4, to be segmented */
#define BP_AGG_GSO_TCPV6 2 /* TCP over IPv6, to be segmented */
#define BP_AGG_GSO_UDP 3 /* UDP datagrams of gso_size each */

/* Transmit status: status of a transmit completion */
#define BP_AGG_TX_STATUS_OK 0 /* moved to rendezvous memory */
#define BP_AGG_TX_STATUS_BAD_ADDRESS 1 /* a buffer is not in guest memory */
#define BP_AGG_TX_STATUS_BAD_LENGTH 2 /* a buffer of 0 bytes, or frame too short or too long */
#define BP_AGG_TX_STATUS_TOO_MANY_SEGMENTS 3 /* more than max_segments buffers */
#define BP_AGG_TX_STATUS_BAD_OFFLOAD 4 /* checksum or segmentation fields do not fit the frame */
#define BP_AGG_TX_STATUS_BAD_FLAGS 5 /* unknown flag, or an offload that was not negotiated */
#define BP_AGG_TX_STATUS_LINK_DOWN 6 /* the link is down */
#define BP_AGG_TX_STATUS_DROPPED 7 /* refused by the fabric: source address or partition */

/* Receive completion: status and flags */
#define BP_AGG_RX_STATUS_OK 0 /* the buffer holds data */
#define BP_AGG_RX_STATUS_BAD_BUFFER 1 /* too small or not in guest memory; holds nothing */
#define BP_AGG_RX_END_OF_FRAME 1 /* the frame's last buffer */
#define BP_AGG_RX_CHECKSUM_PARTIAL 2 /* the checksum is partial, but the data is intact */
#define BP_AGG_RX_CHECKSUM_VALID 4 /* the transport checksum is known to be right */
#define BP_AGG_RX_VLAN 8 /* vlan_tci is valid */

/* Messaging module: values of its registers, and places in its BARs */
#define BP_IMM_MAGIC 0x4d4d4942U /* value of magic */
#define BP_IMM_VERSION 0x10000U /* value of version */
#define BP_IMM_BAR_BYTES 0x10000U /* size of BAR 0 */
#define BP_IMM_STATISTICS 0x1000U /* statistics block in BAR 0 */
#define BP_IMM_DOORBELL_BAR 2 /* BAR of the doorbell pages */
#define BP_IMM_CONTEXT_BAR 4 /* BAR of the context pages */
#define BP_IMM_CONTEXT_VECTORS 16 /* context n has MSI-X vector 1 + n % this */
#define BP_IMM_CONTROL_ENABLE 1 /* RW: the module works */
#define BP_IMM_CONTROL_RESET 2 /* write 1: reset; reads 0 once done */
#define BP_IMM_STATE_IDLE 0 /* after reset, not enabled */
#define BP_IMM_STATE_RUNNING 1 /* enabled */
#define BP_IMM_STATE_FAILED 2 /* stopped by an error; reset recovers */
#define BP_IMM_ERROR_NONE 0 /* no error */
#define BP_IMM_ERROR_NOT_MAPPED 1 /* the event table is not in guest memory */
#define BP_IMM_ERROR_NOT_SHARED 2 /* guest memory is neither shared nor accessible by message */
#define BP_IMM_ERROR_BROKEN_MEMORY 3 /* guest memory was truncated */
#define BP_IMM_ERROR_INTERNAL 4 /* fault of the device server, see its log */
#define BP_IMM_EVENT_CONTEXT 1 /* a context has an event; only without MSI-X */
#define BP_IMM_EVENT_ERROR 2 /* the module failed, see error */
#define BP_IMM_FEATURE_ONE_SIDED 1 /* READ and WRITE on registered memory */
#define BP_IMM_FEATURE_ATOMICS 2 /* FETCH_ADD and COMPARE_SWAP */
#define BP_IMM_FEATURE_WAIT 4 /* actions may wait a bounded time instead of FULL or EMPTY */
#define BP_IMM_FEATURE_LIFE 8 /* struct bp_imm_life tells when the device server has ended */

/* Admin command: opcodes, flags and status of the driver's commands */
#define BP_IMM_ADMIN_OP_CONTEXT_OPEN 1 /* zeroes the page, result: new generation */
#define BP_IMM_ADMIN_OP_CONTEXT_CLOSE 2 /* ends actions, withdraws rings and memories */
#define BP_IMM_ADMIN_OP_MEMORY_REGISTER 3 /* makes a page list known as memory */
#define BP_IMM_ADMIN_OP_MEMORY_UNREGISTER 4 /* once done, nothing touches the pages */
#define BP_IMM_ADMIN_OP_RING_CREATE 5 /* opens a ring in a memory, result: ring id */
#define BP_IMM_ADMIN_OP_RING_DESTROY 6 /* closes a ring */
#define BP_IMM_RING_SHARED_CONSUMERS 1 /* elements leave by GET only, head is the device's */
#define BP_IMM_RING_WRITE_ONLY 2 /* other nodes may PUT, not GET */
#define BP_IMM_RING_READ_ONLY 4 /* other nodes may GET, not PUT */
#define BP_IMM_MEMORY_REMOTE_READ 1 /* READ from elsewhere is allowed */
#define BP_IMM_MEMORY_REMOTE_WRITE 2 /* WRITE from elsewhere is allowed */
#define BP_IMM_MEMORY_REMOTE_ATOMIC 4 /* atomics from elsewhere are allowed */
#define BP_IMM_ANY_RING 0xffffffffU /* any free ring id */
#define BP_IMM_ADMIN_OK 0 /* done */
#define BP_IMM_ADMIN_BAD_COMMAND 1 /* no such opcode, or unknown flags */
#define BP_IMM_ADMIN_BAD_CONTEXT 2 /* no such context, or it is not open */
#define BP_IMM_ADMIN_STALE 3 /* another generation of the context */
#define BP_IMM_ADMIN_BAD_MEMORY 4 /* no such memory, or id out of range */
#define BP_IMM_ADMIN_BAD_ADDRESS 5 /* command, list or page is not in guest memory */
#define BP_IMM_ADMIN_BAD_RING 6 /* no such ring, not this context's, or id out of range */
#define BP_IMM_ADMIN_IN_USE 7 /* id is taken, or memory holds a ring */
#define BP_IMM_ADMIN_NO_SPACE 8 /* no free ring id */
#define BP_IMM_ADMIN_NOT_ENABLED 9 /* the module is not enabled */
#define BP_IMM_ADMIN_BAD_VALUE 10 /* size, alignment or count out of range */
#define BP_IMM_ADMIN_BUSY 11 /* not yet carried out: it takes messages, as guest memory is not shared; read the status again */

/* Context: places and states of a context page */
#define BP_IMM_SLOTS 8 /* action slots of a context */
#define BP_IMM_INLINE_OFFSET 1024 /* start of the inline payload area */
#define BP_IMM_INLINE_BYTES 3072 /* bytes of the inline payload area */
#define BP_IMM_CONTEXT_CLOSED 0 /* bound to no process */
#define BP_IMM_CONTEXT_OPEN 1 /* works */
#define BP_IMM_CONTEXT_ERROR 2 /* submit was impossible: close and open it again */
#define BP_IMM_CONTEXT_DEAD 3 /* the module was reset: close and open it again */

/* Life page: values of its words */
#define BP_IMM_LIFE_DEAD 0x40000000U /* bit of server: no register will ever answer again */

/* Action: commands and flags of an action */
#define BP_IMM_CMD_NOP 0 /* completes at once */
#define BP_IMM_CMD_PUT 1 /* appends an element to a ring */
#define BP_IMM_CMD_GET 2 /* removes a ring's first element */
#define BP_IMM_CMD_WRITE 3 /* one-sided write to registered memory */
#define BP_IMM_CMD_READ 4 /* one-sided read of registered memory */
#define BP_IMM_CMD_FETCH_ADD 5 /* 64-bit fetch-and-add at the target */
#define BP_IMM_CMD_COMPARE_SWAP 6 /* 64-bit compare-and-swap at the target */
#define BP_IMM_ACTION_WAIT 1 /* PUT, GET: wait up to operand us instead of FULL or EMPTY */
#define BP_IMM_ACTION_NOTIFY 2 /* an event (interrupt) when the action completes */
#define BP_IMM_INLINE 0xffffffffU /* memory id of the context's inline area */

/* Action status: status of a completion */
#define BP_IMM_STATUS_NONE 0 /* not complete */
#define BP_IMM_STATUS_OK 1 /* done */
#define BP_IMM_STATUS_FULL 2 /* PUT: the ring has no room now */
#define BP_IMM_STATUS_EMPTY 3 /* GET: the ring has no element now */
#define BP_IMM_STATUS_DENIED 4 /* wrong key, node without access, or the wrong direction */
#define BP_IMM_STATUS_NO_SUCH_RING 5 /* the target has no such ring */
#define BP_IMM_STATUS_TOO_LONG 6 /* payload exceeds the ring's limit, or GET's room */
#define BP_IMM_STATUS_UNREACHABLE 7 /* no such node, or it is not running */
#define BP_IMM_STATUS_ABORTED 8 /* the context was closed or reset meanwhile, or it is not known whether it has happened */
#define BP_IMM_STATUS_BAD_COMMAND 9 /* no such command, or unknown flags */
#define BP_IMM_STATUS_BAD_ADDRESS 10 /* payload lies outside the memory or the inline area */
#define BP_IMM_STATUS_RING_CORRUPT 11 /* the ring's owner broke its indices */
#define BP_IMM_STATUS_TIMED_OUT 12 /* still FULL or EMPTY after the wait */
#define BP_IMM_STATUS_NO_SUCH_MEMORY 13 /* no such registered memory */

/* Ring: sizes and states of a ring */
#define BP_IMM_RING_HEADER 0x1000U /* bytes before the first element */
#define BP_IMM_RING_MIN_CAPACITY 0x1000U /* smallest capacity, a power of two */
#define BP_IMM_RING_MAX_CAPACITY 0x4000000U /* largest capacity */
#define BP_IMM_RING_STATE_CLOSED 0 /* destroyed; a reset touches no memory, it shows in the context's state */
#define BP_IMM_RING_STATE_OPEN 1 /* works */
#define BP_IMM_RING_STATE_CORRUPT 2 /* head was impossible: destroy it */

/* Element: of its commit word */
#define BP_IMM_ELEMENT_PADDING 0x80000000U /* filler to the end of the ring: skip it */
#define BP_IMM_ELEMENT_ALIGN 32 /* elements start at multiples of this */

/* Aggregation device, BAR 0: control registers of the vNIC. */
#define BP_AGG_REG_MAGIC 0x0 /* RO: "BAGG": tells an aggregation device from a dead one (all-ones). */
#define BP_AGG_REG_VERSION 0x4 /* RO: Interface version: major << 16 | minor. Drivers refuse another major. */
#define BP_AGG_REG_FEATURES 0x8 /* RO: BP_AGG_FEATURE_* that the device offers. */
#define BP_AGG_REG_DRIVER_FEATURES 0x10 /* RW: BP_AGG_FEATURE_* that the driver uses; fixed while enabled. */
#define BP_AGG_REG_CONTROL 0x18 /* RW: BP_AGG_CONTROL_*. */
#define BP_AGG_REG_STATUS 0x1c /* RO: BP_AGG_STATUS_*; the state in the low 4 bits (BP_AGG_STATE_*). */
#define BP_AGG_REG_ERROR 0x20 /* RO: BP_AGG_ERROR_* that made the device fail; 0 while it works. */
#define BP_AGG_REG_EPOCH 0x24 /* RO: Grows by one at each reset. */
#define BP_AGG_REG_MAC_LOW 0x28 /* RO: Permanent MAC address, bytes 0 to 3 (byte 0 in the low 8 bits). */
#define BP_AGG_REG_MAC_HIGH 0x2c /* RO: Permanent MAC address, bytes 4 and 5. */
#define BP_AGG_REG_NODE_ID 0x30 /* RO: Id of this node, from 1 on. */
#define BP_AGG_REG_LINK_SPEED 0x34 /* RO: Speed that is reported to the operating system, in Mbit/s. */
#define BP_AGG_REG_MAX_MTU 0x38 /* RO: Largest MTU in bytes. */
#define BP_AGG_REG_MTU 0x3c /* RW: MTU in bytes; longer frames without segmentation offload are transmit errors. */
#define BP_AGG_REG_MAX_QUEUE_PAIRS 0x40 /* RO: Queue pairs that the device has. */
#define BP_AGG_REG_QUEUE_PAIRS 0x44 /* RW: Queue pairs among which received flows are spread; 1 to max_queue_pairs. */
#define BP_AGG_REG_MIN_RING_SIZE 0x48 /* RO: Smallest ring, in descriptors. */
#define BP_AGG_REG_MAX_RING_SIZE 0x4c /* RO: Largest ring, in descriptors. */
#define BP_AGG_REG_MAX_SEGMENTS 0x50 /* RO: Most descriptors of one frame. */
#define BP_AGG_REG_EVENT_VECTOR 0x54 /* RW: MSI-X vector of link and error events; all-ones for none. */
#define BP_AGG_REG_EVENT_STATUS 0x58 /* RW1C: BP_AGG_EVENT_* that happened since they were last cleared. */
#define BP_AGG_REG_QUEUE_ERRORS 0x5c /* RO: Bitmap of the queues that stopped with an error; bit n is register block n. */
#define BP_AGG_REG_PACKET_FILTER 0x60 /* RW: BP_AGG_FILTER_*. */
#define BP_AGG_REG_SCRATCH 0x64 /* RW: Holds what was written, for the driver's self-test. */
#define BP_AGG_REG_BAD_ACCESSES 0x68 /* RO: Accesses to nothing, of a wrong width, or with a value out of range (low 32 bits). */
#define BP_AGG_REG_MULTICAST_FILTER 0x70 /* RW: Groups to receive: bit n for those whose CRC (ether_crc() >> 26 of Linux) is n. */
#define BP_AGG_REG_BYTES 0x100 /* Size of the block */

/* Registers of one queue; block n is at BP_AGG_QUEUES + n * BP_AGG_QUEUE_BYTES. */
#define BP_AGG_QUEUE_DESCRIPTORS 0x0 /* RW: Guest address of the descriptor array, 64-byte aligned. */
#define BP_AGG_QUEUE_COMPLETIONS 0x8 /* RW: Guest address of the completion array, 64-byte aligned. */
#define BP_AGG_QUEUE_INDICES 0x10 /* RW: Guest address of struct bp_agg_indices, 64-byte aligned. */
#define BP_AGG_QUEUE_SIZE 0x18 /* RW: Descriptors in the ring: a power of two from min_ring_size to max_ring_size. */
#define BP_AGG_QUEUE_VECTOR 0x1c /* RW: MSI-X vector; all-ones for none. */
#define BP_AGG_QUEUE_CONTROL 0x20 /* RW: BP_AGG_QUEUE_ENABLE. */
#define BP_AGG_QUEUE_STATE 0x24 /* RO: BP_AGG_QUEUE_STATE_*. */
#define BP_AGG_QUEUE_ERROR 0x28 /* RO: BP_AGG_QUEUE_ERROR_* that stopped the queue. */
#define BP_AGG_QUEUE_ERROR_INDEX 0x2c /* RO: Index that the queue was at when it stopped. */
#define BP_AGG_QUEUE_MODERATION_USECS 0x30 /* RW: Longest delay of an interrupt in microseconds; 0: at once. */
#define BP_AGG_QUEUE_MODERATION_FRAMES 0x34 /* RW: Frames after which the interrupt comes at once; 0: no such limit. */
#define BP_AGG_QUEUE_BYTES 0x40 /* Size of the block */

/* Statistics, 64 bits each, at BP_AGG_STATISTICS; they survive a reset. */
#define BP_AGG_STAT_TX_FRAMES 0x0 /* RO: Frames moved from the guest to rendezvous memory. */
#define BP_AGG_STAT_TX_BYTES 0x8 /* RO: Their bytes. */
#define BP_AGG_STAT_TX_ERRORS 0x10 /* RO: Frames whose descriptors were bad. */
#define BP_AGG_STAT_TX_DROPPED 0x18 /* RO: Frames that the fabric refused (anti-spoofing, link down). */
#define BP_AGG_STAT_TX_WAITS 0x20 /* RO: Times that a transmit queue waited for a place in rendezvous memory. */
#define BP_AGG_STAT_TX_DOORBELLS 0x28 /* RO: Doorbells of transmit queues. */
#define BP_AGG_STAT_RX_FRAMES 0x30 /* RO: Frames moved from rendezvous memory to the guest. */
#define BP_AGG_STAT_RX_BYTES 0x38 /* RO: Their bytes. */
#define BP_AGG_STAT_RX_ERRORS 0x40 /* RO: Receive buffers that were bad. */
#define BP_AGG_STAT_RX_DROPPED_STUCK 0x48 /* RO: Frames dropped because the guest had not drained for too long. */
#define BP_AGG_STAT_RX_DROPPED_DOWN 0x50 /* RO: Frames dropped because the port was down or reset. */
#define BP_AGG_STAT_RX_DROPPED_TOO_LONG 0x58 /* RO: Frames dropped because they exceed this port's MTU. */
#define BP_AGG_STAT_RX_WAITS 0x60 /* RO: Times that an output port waited for a receive buffer. */
#define BP_AGG_STAT_RX_DOORBELLS 0x68 /* RO: Doorbells of receive queues. */
#define BP_AGG_STAT_INTERRUPTS 0x70 /* RO: Interrupts signalled. */
#define BP_AGG_STAT_INTERRUPTS_SUPPRESSED 0x78 /* RO: Completions for which the event index wanted no interrupt. */
#define BP_AGG_STAT_BAD_ACCESSES 0x80 /* RO: Register accesses that were refused. */
#define BP_AGG_STAT_RESETS 0x88 /* RO: Resets of the device. */
#define BP_AGG_STAT_TX_PORT_WAITS 0x90 /* RO: Times that a transmit queue waited for room at an output port. */
#define BP_AGG_STAT_RX_DROPPED_FLOODED 0x98 /* RO: Copies of flooded frames dropped because this port was full. */
#define BP_AGG_STAT_RX_DROPPED_MALFORMED 0xa0 /* RO: Frames dropped because they could not be segmented for this port. */
#define BP_AGG_STAT_RX_SEGMENTED 0xa8 /* RO: Frames that were segmented in software for this port. */
#define BP_AGG_STAT_RX_CHECKSUMMED 0xb0 /* RO: Packets whose checksum was computed for this port. */
#define BP_AGG_STAT_INTERRUPTS_MODERATED 0xb8 /* RO: Interrupts held back by moderation. */
#define BP_AGG_STAT_QUEUE_ERRORS 0xc0 /* RO: Queues that stopped with an error. */
#define BP_AGG_STAT_STUCK 0xc8 /* RO: Times that the port became stuck. */
#define BP_AGG_STAT_BYTES 0xd0 /* Size of the block */

/* Indices of one ring, free-running; one cache line for each writer. */
struct bp_agg_indices {
	/* driver: One past the last descriptor made available; stored with release. */
	__le32 producer;
	/* driver: Interrupt once completed passes this index. */
	__le32 interrupt_event;
	/* reserved: Zero. */
	__le32 reserved_8[14];
	/* device: One past the last descriptor completed; stored with release. */
	__le32 completed;
	/* device: Ring the doorbell once producer passes this index. */
	__le32 doorbell_event;
	/* reserved: Zero. */
	__le32 reserved_72[14];
};
static_assert(sizeof(struct bp_agg_indices) == 128, "bp_agg_indices");
static_assert(offsetof(struct bp_agg_indices, producer) == 0, "bp_agg_indices.producer");
static_assert(offsetof(struct bp_agg_indices, interrupt_event) == 4, "bp_agg_indices.interrupt_event");
static_assert(offsetof(struct bp_agg_indices, reserved_8) == 8, "bp_agg_indices.reserved_8");
static_assert(offsetof(struct bp_agg_indices, completed) == 64, "bp_agg_indices.completed");
static_assert(offsetof(struct bp_agg_indices, doorbell_event) == 68, "bp_agg_indices.doorbell_event");
static_assert(offsetof(struct bp_agg_indices, reserved_72) == 72, "bp_agg_indices.reserved_72");

/* First transmit descriptor (US 8,868,672, claim 1): location and size of data. */
struct bp_agg_tx_desc {
	/* driver: Guest address of the data. */
	__le64 address;
	/* driver: Bytes of data in this buffer, at least 1. */
	__le32 length;
	/* driver: BP_AGG_TX_*. */
	__le16 flags;
	/* driver: VLAN tag to carry beside the frame, with BP_AGG_TX_VLAN. */
	__le16 vlan_tci;
	/* driver: First byte that the checksum covers, with BP_AGG_TX_CHECKSUM. */
	__le16 csum_start;
	/* driver: Place of the checksum, from csum_start. */
	__le16 csum_offset;
	/* driver: BP_AGG_GSO_*. */
	__le16 gso_type;
	/* driver: Payload bytes of each segment. */
	__le16 gso_size;
	/* driver: Bytes of headers that each segment repeats. */
	__le16 header_length;
	/* driver: Zero. */
	__le16 reserved_26;
	/* driver: Zero. */
	__le32 reserved_28;
};
static_assert(sizeof(struct bp_agg_tx_desc) == 32, "bp_agg_tx_desc");
static_assert(offsetof(struct bp_agg_tx_desc, address) == 0, "bp_agg_tx_desc.address");
static_assert(offsetof(struct bp_agg_tx_desc, length) == 8, "bp_agg_tx_desc.length");
static_assert(offsetof(struct bp_agg_tx_desc, flags) == 12, "bp_agg_tx_desc.flags");
static_assert(offsetof(struct bp_agg_tx_desc, vlan_tci) == 14, "bp_agg_tx_desc.vlan_tci");
static_assert(offsetof(struct bp_agg_tx_desc, csum_start) == 16, "bp_agg_tx_desc.csum_start");
static_assert(offsetof(struct bp_agg_tx_desc, csum_offset) == 18, "bp_agg_tx_desc.csum_offset");
static_assert(offsetof(struct bp_agg_tx_desc, gso_type) == 20, "bp_agg_tx_desc.gso_type");
static_assert(offsetof(struct bp_agg_tx_desc, gso_size) == 22, "bp_agg_tx_desc.gso_size");
static_assert(offsetof(struct bp_agg_tx_desc, header_length) == 24, "bp_agg_tx_desc.header_length");
static_assert(offsetof(struct bp_agg_tx_desc, reserved_26) == 26, "bp_agg_tx_desc.reserved_26");
static_assert(offsetof(struct bp_agg_tx_desc, reserved_28) == 28, "bp_agg_tx_desc.reserved_28");

/* What became of a transmit descriptor: the data is in rendezvous memory, or not. */
struct bp_agg_tx_comp {
	/* device: BP_AGG_TX_STATUS_*; that of the whole frame, on each of its descriptors. */
	__le32 status;
	/* device: Zero. */
	__le32 reserved_4;
};
static_assert(sizeof(struct bp_agg_tx_comp) == 8, "bp_agg_tx_comp");
static_assert(offsetof(struct bp_agg_tx_comp, status) == 0, "bp_agg_tx_comp.status");
static_assert(offsetof(struct bp_agg_tx_comp, reserved_4) == 4, "bp_agg_tx_comp.reserved_4");

/* A location allocated in the receiver's memory (US 8,868,672, claim 1). */
struct bp_agg_rx_desc {
	/* driver: Guest address of an empty buffer. */
	__le64 address;
	/* driver: Bytes of the buffer, at least 64. */
	__le32 length;
	/* driver: Zero. */
	__le32 reserved_12;
};
static_assert(sizeof(struct bp_agg_rx_desc) == 16, "bp_agg_rx_desc");
static_assert(offsetof(struct bp_agg_rx_desc, address) == 0, "bp_agg_rx_desc.address");
static_assert(offsetof(struct bp_agg_rx_desc, length) == 8, "bp_agg_rx_desc.length");
static_assert(offsetof(struct bp_agg_rx_desc, reserved_12) == 12, "bp_agg_rx_desc.reserved_12");

/* A filled receive buffer. */
struct bp_agg_rx_comp {
	/* device: Bytes in this buffer. */
	__le32 length;
	/* device: Bytes of the whole frame; on its first buffer. */
	__le32 frame_length;
	/* device: BP_AGG_RX_STATUS_*. */
	__le16 status;
	/* device: BP_AGG_RX_*. */
	__le16 flags;
	/* device: Buffers of the frame; on its first buffer. */
	__le16 buffers;
	/* device: VLAN tag beside the frame, with BP_AGG_RX_VLAN. */
	__le16 vlan_tci;
	/* device: First byte that the checksum covers, with BP_AGG_RX_CHECKSUM_PARTIAL. */
	__le16 csum_start;
	/* device: Place of the checksum, from csum_start. */
	__le16 csum_offset;
	/* device: BP_AGG_GSO_*. */
	__le16 gso_type;
	/* device: Payload bytes of each segment. */
	__le16 gso_size;
	/* device: Bytes of headers that each segment repeats. */
	__le16 header_length;
	/* device: Id of the node that sent it; 0 for an uplink. */
	__le16 source_node;
	/* device: Hash over addresses and ports; equal for one flow. */
	__le32 flow_hash;
};
static_assert(sizeof(struct bp_agg_rx_comp) == 32, "bp_agg_rx_comp");
static_assert(offsetof(struct bp_agg_rx_comp, length) == 0, "bp_agg_rx_comp.length");
static_assert(offsetof(struct bp_agg_rx_comp, frame_length) == 4, "bp_agg_rx_comp.frame_length");
static_assert(offsetof(struct bp_agg_rx_comp, status) == 8, "bp_agg_rx_comp.status");
static_assert(offsetof(struct bp_agg_rx_comp, flags) == 10, "bp_agg_rx_comp.flags");
static_assert(offsetof(struct bp_agg_rx_comp, buffers) == 12, "bp_agg_rx_comp.buffers");
static_assert(offsetof(struct bp_agg_rx_comp, vlan_tci) == 14, "bp_agg_rx_comp.vlan_tci");
static_assert(offsetof(struct bp_agg_rx_comp, csum_start) == 16, "bp_agg_rx_comp.csum_start");
static_assert(offsetof(struct bp_agg_rx_comp, csum_offset) == 18, "bp_agg_rx_comp.csum_offset");
static_assert(offsetof(struct bp_agg_rx_comp, gso_type) == 20, "bp_agg_rx_comp.gso_type");
static_assert(offsetof(struct bp_agg_rx_comp, gso_size) == 22, "bp_agg_rx_comp.gso_size");
static_assert(offsetof(struct bp_agg_rx_comp, header_length) == 24, "bp_agg_rx_comp.header_length");
static_assert(offsetof(struct bp_agg_rx_comp, source_node) == 26, "bp_agg_rx_comp.source_node");
static_assert(offsetof(struct bp_agg_rx_comp, flow_hash) == 28, "bp_agg_rx_comp.flow_hash");

/* Inter-node messaging module, BAR 0: privileged registers. */
#define BP_IMM_REG_MAGIC 0x0 /* RO: "BIMM": tells a messaging module from a dead one (all-ones). */
#define BP_IMM_REG_VERSION 0x4 /* RO: Interface version: major << 16 | minor. Drivers refuse another major. */
#define BP_IMM_REG_FEATURES 0x8 /* RO: BP_IMM_FEATURE_* that the module offers. */
#define BP_IMM_REG_DRIVER_FEATURES 0x10 /* RW: BP_IMM_FEATURE_* that the driver uses; fixed while enabled. */
#define BP_IMM_REG_CONTROL 0x18 /* RW: BP_IMM_CONTROL_*. */
#define BP_IMM_REG_STATUS 0x1c /* RO: BP_IMM_STATE_*. */
#define BP_IMM_REG_ERROR 0x20 /* RO: BP_IMM_ERROR_* that made the module fail; 0 while it works. */
#define BP_IMM_REG_EPOCH 0x24 /* RO: Grows by one at each reset; what belongs to an old epoch is dropped. */
#define BP_IMM_REG_NODE_ID 0x28 /* RO: Id of this node, from 1 on. */
#define BP_IMM_REG_CONTEXT_COUNT 0x2c /* RO: Contexts of this module. */
#define BP_IMM_REG_CONTEXT_STRIDE 0x30 /* RO: Bytes between two context pages, and between two doorbell pages. */
#define BP_IMM_REG_RING_COUNT 0x34 /* RO: Ring ids of this node: 0 to ring_count - 1. */
#define BP_IMM_REG_MEMORY_COUNT 0x38 /* RO: Registered memories of one context: ids 0 to memory_count - 1. */
#define BP_IMM_REG_MAX_PAGES 0x3c /* RO: Most pages of one registered memory. */
#define BP_IMM_REG_EVENT_TABLE 0x40 /* RW: Guest address of a u32 for each context, 64-byte aligned: its count of events. */
#define BP_IMM_REG_EVENT_STATUS 0x48 /* RW1C: BP_IMM_EVENT_* that happened since they were last cleared. */
#define BP_IMM_REG_SCRATCH 0x4c /* RW: Holds what was written, for self-tests. */
#define BP_IMM_REG_ADMIN_COMMAND 0x50 /* RW: Guest address of struct bp_imm_admin, 64-byte aligned. */
#define BP_IMM_REG_ADMIN_DOORBELL 0x58 /* WO: Write: carries out the command at admin_command before the write completes; if that takes messages because guest memory is not shared, admin_status is BUSY until then, and the command and its lists have to stay. */
#define BP_IMM_REG_ADMIN_STATUS 0x5c /* RO: BP_IMM_ADMIN_* of the latest command. */
#define BP_IMM_REG_ADMIN_RESULT 0x60 /* RO: Result of the latest command. */
#define BP_IMM_REG_BAD_ACCESSES 0x68 /* RO: Accesses to nothing, of a wrong width, or with a value out of range (low 32 bits). */
#define BP_IMM_REG_BYTES 0x100 /* Size of the block */

/* Statistics, 64 bits each, at BP_IMM_STATISTICS; they survive a reset. */
#define BP_IMM_STAT_ACTIONS 0x0 /* RO: Actions of this node that were completed, whatever their status. */
#define BP_IMM_STAT_PUTS 0x8 /* RO: Elements that this node's contexts have put. */
#define BP_IMM_STAT_GETS 0x10 /* RO: Elements that this node's contexts have got. */
#define BP_IMM_STAT_ONE_SIDED 0x18 /* RO: READ and WRITE actions that were done. */
#define BP_IMM_STAT_ATOMICS 0x20 /* RO: FETCH_ADD and COMPARE_SWAP actions that were done. */
#define BP_IMM_STAT_PAYLOAD_BYTES 0x28 /* RO: Payload bytes that this node's actions have moved. */
#define BP_IMM_STAT_FULL 0x30 /* RO: Actions that ended FULL. */
#define BP_IMM_STAT_EMPTY 0x38 /* RO: Actions that ended EMPTY. */
#define BP_IMM_STAT_DENIED 0x40 /* RO: Actions that ended DENIED. */
#define BP_IMM_STAT_UNREACHABLE 0x48 /* RO: Actions that ended UNREACHABLE. */
#define BP_IMM_STAT_ABORTED 0x50 /* RO: Actions that ended ABORTED. */
#define BP_IMM_STAT_REFUSED 0x58 /* RO: Actions that ended with another error. */
#define BP_IMM_STAT_WAITS 0x60 /* RO: Actions that had to wait for room or for an element. */
#define BP_IMM_STAT_TIMEOUTS 0x68 /* RO: Waits that ended TIMED_OUT. */
#define BP_IMM_STAT_LATE_RESULTS 0x70 /* RO: Results for a context that had been closed or reset meanwhile: dropped. */
#define BP_IMM_STAT_BAD_SUBMITS 0x78 /* RO: Contexts stopped because their submit was impossible. */
#define BP_IMM_STAT_RING_ELEMENTS_IN 0x80 /* RO: Elements appended to this node's rings. */
#define BP_IMM_STAT_RING_ELEMENTS_OUT 0x88 /* RO: Elements removed from this node's rings by GET. */
#define BP_IMM_STAT_RING_DENIED 0x90 /* RO: Actions on this node's rings and memories that were denied. */
#define BP_IMM_STAT_RING_CORRUPT 0x98 /* RO: Rings closed because their owner broke them. */
#define BP_IMM_STAT_DOORBELLS 0xa0 /* RO: Doorbells of contexts. */
#define BP_IMM_STAT_SLEEPS 0xa8 /* RO: Times that a context without work was no longer polled. */
#define BP_IMM_STAT_LOST_RACES 0xb0 /* RO: Times that work arrived while the module was going to sleep on a context. */
#define BP_IMM_STAT_EVENTS 0xb8 /* RO: Events of contexts, counted in the event table. */
#define BP_IMM_STAT_INTERRUPTS 0xc0 /* RO: Interrupts signalled. */
#define BP_IMM_STAT_INTERRUPTS_COALESCED 0xc8 /* RO: Events that needed no interrupt of their own. */
#define BP_IMM_STAT_CONTEXTS_OPENED 0xd0 /* RO: Contexts opened. */
#define BP_IMM_STAT_CONTEXTS_CLOSED 0xd8 /* RO: Contexts closed. */
#define BP_IMM_STAT_ADMIN_COMMANDS 0xe0 /* RO: Commands of the driver. */
#define BP_IMM_STAT_ADMIN_REFUSED 0xe8 /* RO: Commands of the driver that were refused. */
#define BP_IMM_STAT_BAD_ACCESSES 0xf0 /* RO: Register accesses that were refused. */
#define BP_IMM_STAT_MEMORY_FAULTS 0xf8 /* RO: Accesses to guest memory that failed. */
#define BP_IMM_STAT_RESETS 0x100 /* RO: Resets of the module. */
#define BP_IMM_STAT_ADMIN_INTERRUPTED 0x108 /* RO: Commands of the driver that a stop or reset of the module had to wait for. */
#define BP_IMM_STAT_BYTES 0x110 /* Size of the block */

/* A privileged command of the driver. */
struct bp_imm_admin {
	/* driver: BP_IMM_ADMIN_OP_*. */
	__le16 opcode;
	/* driver: Of the command: BP_IMM_RING_* or BP_IMM_MEMORY_*. */
	__le16 flags;
	/* driver: Context that the command is for. */
	__le32 context;
	/* driver: The context's generation, as CONTEXT_OPEN gave it. */
	__le32 generation;
	/* driver: Id of a registered memory of the context. */
	__le32 memory;
	/* driver: MEMORY_REGISTER: guest address of the page list, one u64 for each page. */
	__le64 pages;
	/* driver: MEMORY_REGISTER: pages in the list. */
	__le32 page_count;
	/* driver: MEMORY_REGISTER: a page has 1 << page_shift bytes; 12 to 21. */
	__le32 page_shift;
	/* driver: MEMORY_REGISTER: offset of the memory's first byte in the first page. */
	__le64 first_offset;
	/* driver: MEMORY_REGISTER: size of the memory. RING_CREATE: capacity of the ring. */
	__le64 bytes;
	/* driver: Key that an action from elsewhere has to bring. */
	__le64 key;
	/* driver: Guest address of a list of u16 node ids that have access; used if node_count > 0. */
	__le64 nodes;
	/* driver: Nodes in the list, to 256; 0: every node of the partition. */
	__le32 node_count;
	/* driver: RING_*: ring id; all-ones in RING_CREATE: any free one. */
	__le32 ring;
	/* driver: RING_CREATE: offset of struct bp_imm_ring in the memory, 4096-byte aligned. */
	__le64 ring_offset;
	/* driver: Zero. */
	__le64 reserved_80[6];
};
static_assert(sizeof(struct bp_imm_admin) == 128, "bp_imm_admin");
static_assert(offsetof(struct bp_imm_admin, opcode) == 0, "bp_imm_admin.opcode");
static_assert(offsetof(struct bp_imm_admin, flags) == 2, "bp_imm_admin.flags");
static_assert(offsetof(struct bp_imm_admin, context) == 4, "bp_imm_admin.context");
static_assert(offsetof(struct bp_imm_admin, generation) == 8, "bp_imm_admin.generation");
static_assert(offsetof(struct bp_imm_admin, memory) == 12, "bp_imm_admin.memory");
static_assert(offsetof(struct bp_imm_admin, pages) == 16, "bp_imm_admin.pages");
static_assert(offsetof(struct bp_imm_admin, page_count) == 24, "bp_imm_admin.page_count");
static_assert(offsetof(struct bp_imm_admin, page_shift) == 28, "bp_imm_admin.page_shift");
static_assert(offsetof(struct bp_imm_admin, first_offset) == 32, "bp_imm_admin.first_offset");
static_assert(offsetof(struct bp_imm_admin, bytes) == 40, "bp_imm_admin.bytes");
static_assert(offsetof(struct bp_imm_admin, key) == 48, "bp_imm_admin.key");
static_assert(offsetof(struct bp_imm_admin, nodes) == 56, "bp_imm_admin.nodes");
static_assert(offsetof(struct bp_imm_admin, node_count) == 64, "bp_imm_admin.node_count");
static_assert(offsetof(struct bp_imm_admin, ring) == 68, "bp_imm_admin.ring");
static_assert(offsetof(struct bp_imm_admin, ring_offset) == 72, "bp_imm_admin.ring_offset");
static_assert(offsetof(struct bp_imm_admin, reserved_80) == 80, "bp_imm_admin.reserved_80");

/* The fields of one GET/PUT action. */
struct bp_imm_action {
	/* process: BP_IMM_CMD_*. */
	__u8 command;
	/* process: BP_IMM_ACTION_*. */
	__u8 flags;
	/* process: Id of the target node. */
	__le16 target_node;
	/* process: PUT, GET: ring id. One-sided: context << 16 | memory id at the target. */
	__le32 ring;
	/* process: Key of the ring or memory; checked at the target. */
	__le64 key;
	/* process: PUT: handed to the consumer with the element. */
	__le64 tag;
	/* process: Payload bytes. GET: room for the payload. */
	__le32 length;
	/* process: Own registered memory that holds the payload, or BP_IMM_INLINE. */
	__le32 memory;
	/* process: Of the payload in that memory, or in the inline area. */
	__le64 offset;
	/* process: One-sided: offset in the target's memory; 8-byte aligned for atomics. */
	__le64 remote_offset;
	/* process: FETCH_ADD: addend. COMPARE_SWAP: expected. With WAIT: longest wait in us. */
	__le64 operand;
	/* process: COMPARE_SWAP: new value. */
	__le64 swap;
};
static_assert(sizeof(struct bp_imm_action) == 64, "bp_imm_action");
static_assert(offsetof(struct bp_imm_action, command) == 0, "bp_imm_action.command");
static_assert(offsetof(struct bp_imm_action, flags) == 1, "bp_imm_action.flags");
static_assert(offsetof(struct bp_imm_action, target_node) == 2, "bp_imm_action.target_node");
static_assert(offsetof(struct bp_imm_action, ring) == 4, "bp_imm_action.ring");
static_assert(offsetof(struct bp_imm_action, key) == 8, "bp_imm_action.key");
static_assert(offsetof(struct bp_imm_action, tag) == 16, "bp_imm_action.tag");
static_assert(offsetof(struct bp_imm_action, length) == 24, "bp_imm_action.length");
static_assert(offsetof(struct bp_imm_action, memory) == 28, "bp_imm_action.memory");
static_assert(offsetof(struct bp_imm_action, offset) == 32, "bp_imm_action.offset");
static_assert(offsetof(struct bp_imm_action, remote_offset) == 40, "bp_imm_action.remote_offset");
static_assert(offsetof(struct bp_imm_action, operand) == 48, "bp_imm_action.operand");
static_assert(offsetof(struct bp_imm_action, swap) == 56, "bp_imm_action.swap");

/* How an action ended. */
struct bp_imm_completion {
	/* device: BP_IMM_STATUS_*. */
	__le32 status;
	/* device: Payload bytes moved. TOO_LONG: bytes needed (GET) or allowed (PUT). */
	__le32 length;
	/* device: PUT, GET: the element's sequence number. Atomics: the old value. */
	__le64 value;
	/* device: GET: the element's tag. */
	__le64 tag;
	/* device: GET: node that put the element. */
	__le16 source_node;
	/* device: GET: context that put the element. */
	__le16 source_context;
	/* device: Index of the action that this is the completion of. */
	__le32 index;
};
static_assert(sizeof(struct bp_imm_completion) == 32, "bp_imm_completion");
static_assert(offsetof(struct bp_imm_completion, status) == 0, "bp_imm_completion.status");
static_assert(offsetof(struct bp_imm_completion, length) == 4, "bp_imm_completion.length");
static_assert(offsetof(struct bp_imm_completion, value) == 8, "bp_imm_completion.value");
static_assert(offsetof(struct bp_imm_completion, tag) == 16, "bp_imm_completion.tag");
static_assert(offsetof(struct bp_imm_completion, source_node) == 24, "bp_imm_completion.source_node");
static_assert(offsetof(struct bp_imm_completion, source_context) == 26, "bp_imm_completion.source_context");
static_assert(offsetof(struct bp_imm_completion, index) == 28, "bp_imm_completion.index");

/* A GET/PUT context (US 9,672,143, claim 1): one page, mapped by one process. */
struct bp_imm_context {
	/* process: One past the index of the last action submitted; stored with release. */
	__le32 submit;
	/* reserved: Zero. */
	__le32 reserved_4[15];
	/* device: One past the index of the last action completed; stored with release. */
	__le32 complete;
	/* device: Not 0: the module sleeps; ring the doorbell after storing submit. */
	__le32 doorbell_wanted;
	/* device: BP_IMM_CONTEXT_*. */
	__le32 state;
	/* device: Of this binding of the context to a process. */
	__le32 generation;
	/* device: Number of this context. */
	__le32 context;
	/* device: Id of this node. */
	__le32 node;
	/* reserved: Zero. */
	__le32 reserved_88[10];
	/* process: struct bp_imm_action, one a slot. */
	__le64 actions[64];
	/* device: struct bp_imm_completion, one a slot. */
	__le64 completions[32];
	/* reserved: Zero. */
	__le32 reserved_896[32];
	/* process: Payload; the module writes here for GET. */
	__u8 inline_data[3072];
};
static_assert(sizeof(struct bp_imm_context) == 4096, "bp_imm_context");
static_assert(offsetof(struct bp_imm_context, submit) == 0, "bp_imm_context.submit");
static_assert(offsetof(struct bp_imm_context, reserved_4) == 4, "bp_imm_context.reserved_4");
static_assert(offsetof(struct bp_imm_context, complete) == 64, "bp_imm_context.complete");
static_assert(offsetof(struct bp_imm_context, doorbell_wanted) == 68, "bp_imm_context.doorbell_wanted");
static_assert(offsetof(struct bp_imm_context, state) == 72, "bp_imm_context.state");
static_assert(offsetof(struct bp_imm_context, generation) == 76, "bp_imm_context.generation");
static_assert(offsetof(struct bp_imm_context, context) == 80, "bp_imm_context.context");
static_assert(offsetof(struct bp_imm_context, node) == 84, "bp_imm_context.node");
static_assert(offsetof(struct bp_imm_context, reserved_88) == 88, "bp_imm_context.reserved_88");
static_assert(offsetof(struct bp_imm_context, actions) == 128, "bp_imm_context.actions");
static_assert(offsetof(struct bp_imm_context, completions) == 640, "bp_imm_context.completions");
static_assert(offsetof(struct bp_imm_context, reserved_896) == 896, "bp_imm_context.reserved_896");
static_assert(offsetof(struct bp_imm_context, inline_data) == 1024, "bp_imm_context.inline_data");

/* After the last context page, at context_count * context_stride of BAR 4. */
struct bp_imm_life {
	/* device: Has BP_IMM_LIFE_DEAD once the device server has ended, however it did; 0: it cannot tell. */
	__le32 server;
	/* reserved: Zero. */
	__le32 reserved_4[15];
};
static_assert(sizeof(struct bp_imm_life) == 64, "bp_imm_life");
static_assert(offsetof(struct bp_imm_life, server) == 0, "bp_imm_life.server");
static_assert(offsetof(struct bp_imm_life, reserved_4) == 4, "bp_imm_life.reserved_4");

/* Head of a ring buffer; its elements start BP_IMM_RING_HEADER bytes further on. */
struct bp_imm_ring {
	/* device: Position after the last element; stored with release after the element. */
	__le64 tail;
	/* device: Shared consumers: position of the first element not yet removed by GET. */
	__le64 device_head;
	/* device: Bytes for elements. */
	__le64 capacity;
	/* device: BP_IMM_RING_STATE_*. */
	__le32 state;
	/* device: Id of this ring. */
	__le32 ring;
	/* device: Not 0: a PUT waits for room; ring the doorbell of the ring's context after storing head. */
	__le32 space_wanted;
	/* reserved: Zero. */
	__le32 reserved_36;
	/* device: Elements appended so far; stored with release after tail, which covers them. */
	__le64 elements;
	/* device: Changes when a PUT was refused because it found no room. */
	__le64 refused;
	/* reserved: Zero. */
	__le32 reserved_56[2];
	/* process: Owner consumes: position of its first unconsumed element; stored with release. */
	__le64 head;
	/* process: An event when tail passes this position; all-ones: never. */
	__le64 notify_event;
	/* process: An event when so many elements were appended; 0: never. If this or notify_event is set, a PUT that finds no room is an event, too. */
	__le64 notify_elements;
	/* reserved: Zero. */
	__le32 reserved_88[1002];
};
static_assert(sizeof(struct bp_imm_ring) == 4096, "bp_imm_ring");
static_assert(offsetof(struct bp_imm_ring, tail) == 0, "bp_imm_ring.tail");
static_assert(offsetof(struct bp_imm_ring, device_head) == 8, "bp_imm_ring.device_head");
static_assert(offsetof(struct bp_imm_ring, capacity) == 16, "bp_imm_ring.capacity");
static_assert(offsetof(struct bp_imm_ring, state) == 24, "bp_imm_ring.state");
static_assert(offsetof(struct bp_imm_ring, ring) == 28, "bp_imm_ring.ring");
static_assert(offsetof(struct bp_imm_ring, space_wanted) == 32, "bp_imm_ring.space_wanted");
static_assert(offsetof(struct bp_imm_ring, reserved_36) == 36, "bp_imm_ring.reserved_36");
static_assert(offsetof(struct bp_imm_ring, elements) == 40, "bp_imm_ring.elements");
static_assert(offsetof(struct bp_imm_ring, refused) == 48, "bp_imm_ring.refused");
static_assert(offsetof(struct bp_imm_ring, reserved_56) == 56, "bp_imm_ring.reserved_56");
static_assert(offsetof(struct bp_imm_ring, head) == 64, "bp_imm_ring.head");
static_assert(offsetof(struct bp_imm_ring, notify_event) == 72, "bp_imm_ring.notify_event");
static_assert(offsetof(struct bp_imm_ring, notify_elements) == 80, "bp_imm_ring.notify_elements");
static_assert(offsetof(struct bp_imm_ring, reserved_88) == 88, "bp_imm_ring.reserved_88");

/* Head of an element; its payload follows. */
struct bp_imm_element {
	/* device: 0: not there yet. Else header and payload rounded up to 32; stored last, release. */
	__le32 commit;
	/* device: Payload bytes. */
	__le32 length;
	/* device: Node that put it. */
	__le16 source_node;
	/* device: Context that put it. */
	__le16 source_context;
	/* device: Zero. */
	__le32 reserved_12;
	/* device: Number of the element in this ring, from 0 on; padding is not counted. */
	__le64 sequence;
	/* device: As given with the PUT. */
	__le64 tag;
};
static_assert(sizeof(struct bp_imm_element) == 32, "bp_imm_element");
static_assert(offsetof(struct bp_imm_element, commit) == 0, "bp_imm_element.commit");
static_assert(offsetof(struct bp_imm_element, length) == 4, "bp_imm_element.length");
static_assert(offsetof(struct bp_imm_element, source_node) == 8, "bp_imm_element.source_node");
static_assert(offsetof(struct bp_imm_element, source_context) == 10, "bp_imm_element.source_context");
static_assert(offsetof(struct bp_imm_element, reserved_12) == 12, "bp_imm_element.reserved_12");
static_assert(offsetof(struct bp_imm_element, sequence) == 16, "bp_imm_element.sequence");
static_assert(offsetof(struct bp_imm_element, tag) == 24, "bp_imm_element.tag");

#endif /* BACKPLANE_LAYOUT_H */
