// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * labhca - make-believe HCAs for tests, for Linux 6.1
 *
 * An InfiniBand or RoCE device on a PCI function of your choice, whose states, addresses and
 * counters are what the test writes. Everything above the driver is the real kernel:
 * /sys/class/infiniband, uverbs queries and asynchronous events, MADs to the own ports through
 * /dev/infiniband/umadN, RDMA netlink, and removal while in use. There is no data path for user
 * programs: use rxe beside it for that.
 *
 * The control file /sys/kernel/debug/labhca says, one in each line, how often a device was asked in
 * which way (NAME WAY NUMBER): on hardware each is a command to the firmware or several. It takes
 * one command per write:
 *
 *   add NAME ib PCI [PORTS]        an InfiniBand device; PCI is like 0000:23:00.0, or - for none;
 *                                  one or two ports, which come up active
 *   add NAME roce PCI NETDEV       a RoCE device with one port on a network interface
 *   del NAME                       remove it, as a driver does on hot-unplug
 *   set NAME[/PORT] FIELD VALUE    PORT is 1 if left out
 *   event NAME[/PORT] CODE         dispatch an asynchronous event (enum ib_event_type)
 *   gid NAME[/PORT] INDEX PREFIX SUFFIX   set an entry, 0 to 7, of an InfiniBand GID table
 *   fail NAME[/PORT] WHAT ERRNO    reading WHAT fails so, until ERRNO is 0
 *   peer NAME[/PORT] TEXT          NodeDescription of what is at the other end of its cable
 *   refuse NAME[/PORT] TOPIC STATUS   MADs for TOPIC are answered with this status, until it is 0:
 *                                  12 no such attribute, 8 no such method, 1 busy
 *   silent NAME[/PORT] TOPIC 1     MADs for TOPIC are not answered, until it is 0
 *   dcb NETDEV                     the interface has DCB from now on, as a driver of a data
 *                                  centre NIC gives it; it must stay until the module goes
 *   dcb NETDEV PRIORITY SENT RECEIVED   so many pause frames of that priority
 *   dcb NETDEV hang 1              a question for its pause frames blocks until hang is 0. Like all
 *                                  of a driver's answers to netlink that happens under the RTNL,
 * the one lock of all interfaces, so that other users of the lock wait, too
 *   say NAME TEXT                  print TEXT to the kernel's log as mlx5_core does about the PCI
 *                                  function of the device, with the device in its dictionary
 *   flood COUNT TEXT               print TEXT as often, for debugging only: not on the console
 *
 * FIELD of one port:
 *   state       1 down ... 4 active; sets phys to match, counts link_downed, sends port events
 *   phys        physical state, 2 polling, 3 disabled, 5 link up
 *   lid sm_lid  with their events; lmc
 *   width       1 1X, 2 4X, 4 8X, 8 12X, 16 2X
 *   speed       1 SDR, 2 DDR, 4 QDR, 8 FDR10, 16 FDR, 32 EDR, 64 HDR, 128 NDR, 256 XDR
 *   width_enabled width_supported speed_enabled speed_supported   by MAD, as sums of these; 0: that
 *               which is active, and no more
 *   max_mtu active_mtu   1 256 bytes ... 5 4096 bytes
 *   a counter   a name of counters/ or hw_counters/; port_xmit_data and port_rcv_data count
 *               units of four bytes, as the PMA does
 *   peer_guid peer_port peer_lid peer_type   the node at the other end of the cable and the port
 *               that it is in: 1 a channel adapter, 2 a switch
 *   peer_width_enabled ... peer_speed_supported   of that port; 0: as ours
 *   sm_guid sm_priority sm_state   what the subnet manager at sm_lid says of itself
 *   pkey0 ... pkey3   with the bit of membership; with their event
 *   grh         1: an InfiniBand port on which each address needs a GRH, as mlx5 reports it for the
 *               vports of some fabrics; the kernel tells applications so and refuses others
 *   operational_vls   1 VL0, 2 VL0 and VL1, 3 to VL3, 4 to VL7, 5 to VL14
 *   pma_capability    of the PMA's ClassPortInfo: 0x200 and 0x1000, with 0x4000 for RS-FEC
 *   fec_mode    0 none, 1 FireCode, 2 and 4 RS-FEC; with that counters of FEC are others
 *   a counter of the fabric   see lab_details in fabric.h: port_rcv_*_errors, port_*_discards,
 *               port_vl_xmit_wait_N, fec_*
 * FIELD of the whole device:
 *   dead        1: MADs get no answer; counters/ files read EINVAL at once
 *   mkey        1: it discards MADs of subnet management to its own ports, as ports do that
 *               require an M_Key (Linux 6.12 hw/qib/qib_mad.c check_mkey())
 *   hang        1: reading a counters/ file, or any PMA query, blocks until hang is 0 or the
 *               device is removed; only a fatal signal gets the reader out
 *               2: not even that, as in a driver that waits for its firmware
 *   hw_hang     the same for hw_counters/
 *   port_hang   the same for port queries: the files state, phys_state, rate, lid and their like,
 *               verbs, and RDMA netlink
 *   open_hang   the same for opening the device by verbs
 * WHAT:
 *   a counter   a name of hw_counters/; those of counters/ know EINVAL only, see dead
 *   port        port queries: the files state, phys_state, rate, lid and their like, and verbs
 *   board_id    that file of the device
 * TOPIC: peer_node peer_name peer_port manager pkeys fec_mode fec receive_errors discards vl_waits
 *   congestion
 *
 * Locking: control_lock serialises commands and guards the list of devices. What a command
 * changes is read without a lock; every value is one aligned word. device->lock guards the
 * network interface, the receive queues of the special QPs and the way to them.
 */

#include <net/addrconf.h>
#include <net/dcbnl.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_smi.h>
#include <rdma/ib_verbs.h>
#include <linux/debugfs.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/seq_file.h>
#include <linux/version.h>
#include <linux/wait.h>

#include "fabric.h"

#define LAB_MAX_PORTS   2
#define LAB_IB_GIDS     8
#define LAB_ROCE_GIDS   128
#define LAB_COMMAND_MAX 160

/* A ConnectX-6 says this of itself. */
#define LAB_VENDOR_ID   0x15b3
#define LAB_PART_ID     0x101b
#define LAB_HCA_TYPE    "MT4123"
#define LAB_BOARD_ID    "LAB_0000000001"
#define LAB_FW_MAJOR    20
#define LAB_FW_MINOR    35
#define LAB_FW_SUBMINOR 1012
#define LAB_GUID_BASE   0x1070fd0300000000ULL

/* IBA 14.2.5.6, PortInfo:CapabilityMask: IsTrapSupported and others that HCAs have set. */
#define LAB_PORT_CAP_IB 0x00004048
#define LAB_VL_CAP      4 /* VL0 to VL7 */

enum lab_counter {
	LAB_SYMBOL_ERROR,
	LAB_LINK_ERROR_RECOVERY,
	LAB_LINK_DOWNED,
	LAB_RCV_ERRORS,
	LAB_RCV_REMOTE_PHYSICAL_ERRORS,
	LAB_RCV_SWITCH_RELAY_ERRORS,
	LAB_XMIT_DISCARDS,
	LAB_XMIT_CONSTRAINT_ERRORS,
	LAB_RCV_CONSTRAINT_ERRORS,
	LAB_LOCAL_LINK_INTEGRITY_ERRORS,
	LAB_EXCESSIVE_BUFFER_OVERRUN_ERRORS,
	LAB_VL15_DROPPED,
	LAB_XMIT_WAIT,
	LAB_XMIT_DATA,
	LAB_RCV_DATA,
	LAB_XMIT_PACKETS,
	LAB_RCV_PACKETS,
	LAB_UNICAST_XMIT_PACKETS,
	LAB_UNICAST_RCV_PACKETS,
	LAB_MULTICAST_XMIT_PACKETS,
	LAB_MULTICAST_RCV_PACKETS,
	LAB_COUNTERS
};

/* The names that the kernel gives the files of counters/. */
static const char *const lab_counter_names[LAB_COUNTERS] = {
	[LAB_SYMBOL_ERROR] = "symbol_error",
	[LAB_LINK_ERROR_RECOVERY] = "link_error_recovery",
	[LAB_LINK_DOWNED] = "link_downed",
	[LAB_RCV_ERRORS] = "port_rcv_errors",
	[LAB_RCV_REMOTE_PHYSICAL_ERRORS] = "port_rcv_remote_physical_errors",
	[LAB_RCV_SWITCH_RELAY_ERRORS] = "port_rcv_switch_relay_errors",
	[LAB_XMIT_DISCARDS] = "port_xmit_discards",
	[LAB_XMIT_CONSTRAINT_ERRORS] = "port_xmit_constraint_errors",
	[LAB_RCV_CONSTRAINT_ERRORS] = "port_rcv_constraint_errors",
	[LAB_LOCAL_LINK_INTEGRITY_ERRORS] = "local_link_integrity_errors",
	[LAB_EXCESSIVE_BUFFER_OVERRUN_ERRORS] = "excessive_buffer_overrun_errors",
	[LAB_VL15_DROPPED] = "VL15_dropped",
	[LAB_XMIT_WAIT] = "port_xmit_wait",
	[LAB_XMIT_DATA] = "port_xmit_data",
	[LAB_RCV_DATA] = "port_rcv_data",
	[LAB_XMIT_PACKETS] = "port_xmit_packets",
	[LAB_RCV_PACKETS] = "port_rcv_packets",
	[LAB_UNICAST_XMIT_PACKETS] = "unicast_xmit_packets",
	[LAB_UNICAST_RCV_PACKETS] = "unicast_rcv_packets",
	[LAB_MULTICAST_XMIT_PACKETS] = "multicast_xmit_packets",
	[LAB_MULTICAST_RCV_PACKETS] = "multicast_rcv_packets",
};

/* A choice of what mlx5 has. */
static const struct rdma_stat_desc lab_hw_counters[] = {
	{.name = "out_of_buffer"},         {.name = "out_of_sequence"},  {.name = "packet_seq_err"},
	{.name = "local_ack_timeout_err"}, {.name = "np_cnp_sent"},      {.name = "rp_cnp_handled"},
	{.name = "rx_icrc_encapsulated"},  {.name = "roce_adp_retrans"},
};

#define LAB_HW_COUNTERS ARRAY_SIZE(lab_hw_counters)

/* NULL for a completion queue of the kernel itself. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
typedef struct ib_udata lab_cq_user;
#else
typedef struct uverbs_attr_bundle lab_cq_user;
#endif

struct lab_cq {
	struct ib_cq ib;
	spinlock_t lock;
	struct ib_wc *ring;
	unsigned int size;
	unsigned int head;
	unsigned int tail;
	bool armed;
};

struct lab_receive {
	struct ib_cqe *cqe;
	void *buffer;
	u32 length;
};

struct lab_qp {
	struct ib_qp ib;
	struct ib_qp_cap cap;
	enum ib_qp_state state;
	u32 port;
	struct lab_receive *ring;
	unsigned int size;
	unsigned int head;
	unsigned int tail;
};

struct lab_ah {
	struct ib_ah ib;
	struct rdma_ah_attr attr;
};

struct lab_port {
	u64 guid;
	u32 state;
	u32 phys;
	u32 lid;
	u32 sm_lid;
	u32 lmc;
	u32 width;
	u32 width_enabled;
	u32 width_supported;
	u32 speed;
	u32 speed_enabled;
	u32 speed_supported;
	u32 max_mtu;
	u32 active_mtu;
	u64 counters[LAB_COUNTERS];
	u64 hw_counters[LAB_HW_COUNTERS];
	u32 hw_errors[LAB_HW_COUNTERS]; /* errno of reading each; 0 for none */
	u32 query_error;
	union ib_gid gids[LAB_IB_GIDS];
	struct lab_qp *special_qps[2];
	struct lab_fabric fabric;
};

enum lab_hang { LAB_HANG_NOT, LAB_HANG_KILLABLE, LAB_HANG_UNINTERRUPTIBLE };

/* Ways in which a device is asked, other than from the core's caches. */
enum lab_call {
	LAB_CALL_PORT,     /* a port query: by verbs, RDMA netlink, or a file such as state */
	LAB_CALL_COUNTERS, /* a file of counters/, for which the kernel makes a MAD */
	LAB_CALL_MAD,      /* one that was sent */
	LAB_CALL_HW_STATS,
	LAB_CALL_GID,
	LAB_CALL_PKEY,
	LAB_CALLS
};

static const char *const lab_call_names[LAB_CALLS] = {
	"port", "counters", "mad", "hw_stats", "gid", "pkey",
};

struct lab_device {
	struct ib_device ib;
	struct list_head list;
	struct pci_dev *pdev;
	struct net_device *netdev;
	const char *netdev_name;
	struct notifier_block netdev_notifier;
	bool roce;
	bool removed;
	u32 dead;
	u32 mkey;
	u32 hang;
	u32 hw_hang;
	u32 port_hang;
	u32 open_hang;
	u32 board_id_error;
	atomic_t calls[LAB_CALLS];
	wait_queue_head_t released;
	spinlock_t lock;
	struct lab_port ports[LAB_MAX_PORTS];
};

static LIST_HEAD(lab_devices);
static DEFINE_MUTEX(control_lock);
static struct dentry *control_file;
static u32 last_lid;

static struct lab_device *to_lab(struct ib_device *ib)
{
	return container_of(ib, struct lab_device, ib);
}

static struct lab_cq *to_lab_cq(struct ib_cq *ib)
{
	return container_of(ib, struct lab_cq, ib);
}

static struct lab_qp *to_lab_qp(struct ib_qp *ib)
{
	return container_of(ib, struct lab_qp, ib);
}

static struct lab_ah *to_lab_ah(struct ib_ah *ib)
{
	return container_of(ib, struct lab_ah, ib);
}

static struct lab_port *lab_port(struct lab_device *lab, u32 number)
{
	return &lab->ports[number - 1];
}

/* ---- hanging ---------------------------------------------------------------------------- */

static bool lab_may_go_on(struct lab_device *lab, const u32 *hang)
{
	return READ_ONCE(lab->removed) || READ_ONCE(*hang) == LAB_HANG_NOT;
}

/* Returns 0 when released, -ERESTARTSYS when killed. */
static int lab_wait(struct lab_device *lab, const u32 *hang)
{
	int ret;

	ret = wait_event_killable(lab->released,
				  lab_may_go_on(lab, hang) ||
					  READ_ONCE(*hang) == LAB_HANG_UNINTERRUPTIBLE);
	if (ret)
		return ret;
	wait_event(lab->released, lab_may_go_on(lab, hang));
	return 0;
}

/* ---- completion queues ------------------------------------------------------------------ */

static void lab_cq_push(struct lab_cq *cq, const struct ib_wc *wc)
{
	unsigned long flags;
	bool notify;

	spin_lock_irqsave(&cq->lock, flags);
	if (!WARN_ON_ONCE(cq->head - cq->tail >= cq->size))
		cq->ring[cq->head++ % cq->size] = *wc;
	notify = cq->armed;
	cq->armed = false;
	spin_unlock_irqrestore(&cq->lock, flags);

	if (notify && cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static int lab_poll_cq(struct ib_cq *ibcq, int max, struct ib_wc *wc)
{
	struct lab_cq *cq = to_lab_cq(ibcq);
	unsigned long flags;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < max && cq->tail != cq->head)
		wc[n++] = cq->ring[cq->tail++ % cq->size];
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

static int lab_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags notify_flags)
{
	struct lab_cq *cq = to_lab_cq(ibcq);
	unsigned long flags;
	int missed;

	spin_lock_irqsave(&cq->lock, flags);
	cq->armed = true;
	missed = (notify_flags & IB_CQ_REPORT_MISSED_EVENTS) && cq->head != cq->tail;
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}

/* Four times the size asked for, because flushed receives come on top. */
static int lab_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			 lab_cq_user *user)
{
	struct lab_cq *cq = to_lab_cq(ibcq);

	if (user)
		return -EOPNOTSUPP;
	cq->size = 4 * attr->cqe;
	cq->ring = kvcalloc(cq->size, sizeof(*cq->ring), GFP_KERNEL);
	if (!cq->ring)
		return -ENOMEM;
	spin_lock_init(&cq->lock);
	cq->ib.cqe = attr->cqe;
	return 0;
}

static int lab_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	kvfree(to_lab_cq(ibcq)->ring);
	return 0;
}

/* ---- QP0 and QP1: a MAD that is sent to a LID of the device comes back in ---------------- */

static int lab_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct lab_device *lab = to_lab(ibqp->device);
	struct lab_qp *qp = to_lab_qp(ibqp);

	if (udata || (attr->qp_type != IB_QPT_SMI && attr->qp_type != IB_QPT_GSI))
		return -EOPNOTSUPP;
	qp->size = attr->cap.max_recv_wr + 1;
	qp->ring = kvcalloc(qp->size, sizeof(*qp->ring), GFP_KERNEL);
	if (!qp->ring)
		return -ENOMEM;
	qp->cap = attr->cap;
	qp->state = IB_QPS_RESET;
	qp->port = attr->port_num;
	qp->ib.qp_num = attr->qp_type == IB_QPT_GSI;

	spin_lock_irq(&lab->lock);
	lab_port(lab, qp->port)->special_qps[qp->ib.qp_num] = qp;
	spin_unlock_irq(&lab->lock);
	return 0;
}

static void lab_flush_receives(struct lab_device *lab, struct lab_qp *qp)
{
	struct ib_wc wc = {.status = IB_WC_WR_FLUSH_ERR, .qp = &qp->ib};
	unsigned long flags;
	bool more;

	do {
		spin_lock_irqsave(&lab->lock, flags);
		more = qp->head != qp->tail;
		if (more)
			wc.wr_cqe = qp->ring[qp->tail++ % qp->size].cqe;
		spin_unlock_irqrestore(&lab->lock, flags);
		if (more)
			lab_cq_push(to_lab_cq(qp->ib.recv_cq), &wc);
	} while (more);
}

static int lab_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata)
{
	struct lab_device *lab = to_lab(ibqp->device);
	struct lab_qp *qp = to_lab_qp(ibqp);

	if (!(mask & IB_QP_STATE))
		return 0;
	spin_lock_irq(&lab->lock);
	qp->state = attr->qp_state;
	spin_unlock_irq(&lab->lock);
	if (attr->qp_state == IB_QPS_ERR)
		lab_flush_receives(lab, qp);
	return 0;
}

static int lab_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
			struct ib_qp_init_attr *init_attr)
{
	struct lab_qp *qp = to_lab_qp(ibqp);

	memset(attr, 0, sizeof(*attr));
	attr->qp_state = qp->state;
	attr->cap = qp->cap;
	memset(init_attr, 0, sizeof(*init_attr));
	init_attr->cap = qp->cap;
	return 0;
}

static int lab_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct lab_device *lab = to_lab(ibqp->device);
	struct lab_qp *qp = to_lab_qp(ibqp);

	spin_lock_irq(&lab->lock);
	lab_port(lab, qp->port)->special_qps[ibqp->qp_num] = NULL;
	spin_unlock_irq(&lab->lock);
	kvfree(qp->ring);
	return 0;
}

static int lab_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad_wr)
{
	struct lab_device *lab = to_lab(ibqp->device);
	struct lab_qp *qp = to_lab_qp(ibqp);
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&lab->lock, flags);
	for (; wr; wr = wr->next) {
		if (qp->head - qp->tail >= qp->size) {
			*bad_wr = wr;
			ret = -ENOMEM;
			break;
		}
		/* Without a DMA device addresses are the kernel's own. */
		qp->ring[qp->head++ % qp->size] = (struct lab_receive){
			.cqe = wr->wr_cqe,
			.buffer = (void *)(uintptr_t)wr->sg_list[0].addr,
			.length = wr->sg_list[0].length,
		};
	}
	spin_unlock_irqrestore(&lab->lock, flags);

	if (qp->state == IB_QPS_ERR)
		lab_flush_receives(lab, qp);
	return ret;
}

static struct lab_link lab_link(const struct lab_port *port)
{
	struct lab_link link = {
		.width = port->width,
		.width_enabled = port->width_enabled,
		.width_supported = port->width_supported,
		.speed = port->speed,
		.speed_enabled = port->speed_enabled,
		.speed_supported = port->speed_supported,
	};

	return lab_complete_link(link, &link);
}

/* A question to one of the nodes around, whose answer comes back in where it went out. */
struct lab_to_others {
	bool is_one;
	u32 status; /* of the answer */
};

/* Without a DMA device addresses are the kernel's own. The first piece has the whole header. */
static struct lab_to_others lab_to_others(struct lab_device *lab, struct lab_qp *qp,
					  const struct ib_send_wr *wr)
{
	const struct ib_mad_hdr *header = (void *)(uintptr_t)wr->sg_list[0].addr;
	struct lab_port *port = lab_port(lab, qp->port);
	bool works = !READ_ONCE(lab->dead) && port->phys == IB_PORT_PHYS_STATE_LINK_UP;

	if (lab->roce || !(lab_is_for_peer(header) || lab_is_for_manager(header)))
		return (struct lab_to_others){};
	return (struct lab_to_others){
		.is_one = true,
		.status = works ? lab_answer_status(&port->fabric, header) : LAB_SILENT,
	};
}

/* The special QP that a send reaches, with a receive taken off it. back: to where it came from. */
static struct lab_qp *lab_take_receive(struct lab_device *lab, struct lab_qp *from,
				       const struct ib_ud_wr *wr, bool back,
				       struct lab_receive *receive)
{
	u32 dlid = lab->roce ? 0 : rdma_ah_get_dlid(&to_lab_ah(wr->ah)->attr);
	u32 permissive = be16_to_cpu(IB_LID_PERMISSIVE);
	struct lab_qp *found = NULL;
	unsigned long flags;
	u32 number;

	spin_lock_irqsave(&lab->lock, flags);
	for (number = 1; number <= lab->ib.phys_port_cnt && !found; number++) {
		struct lab_port *port = lab_port(lab, number);
		struct lab_qp *qp = port->special_qps[wr->remote_qpn & 1];
		bool own = number == from->port && (back || lab->roce || dlid == permissive);

		if (qp && qp->head != qp->tail && (own || (!back && dlid == port->lid))) {
			*receive = qp->ring[qp->tail++ % qp->size];
			found = qp;
		}
	}
	spin_unlock_irqrestore(&lab->lock, flags);
	return found;
}

/* Copies the pieces of a send behind the space for a GRH; returns the bytes received. */
static u32 lab_copy_mad(const struct ib_send_wr *wr, const struct lab_receive *receive)
{
	u32 length = sizeof(struct ib_grh);
	int i;

	memset(receive->buffer, 0, sizeof(struct ib_grh));
	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *piece = &wr->sg_list[i];

		if (length + piece->length > receive->length)
			break;
		memcpy(receive->buffer + length, (void *)(uintptr_t)piece->addr, piece->length);
		length += piece->length;
	}
	return length;
}

/* A MAD to somewhere else is lost, like one to a host that does not answer. */
static void lab_send_one(struct lab_device *lab, struct lab_qp *qp, const struct ib_send_wr *wr)
{
	struct ib_wc sent = {
		.wr_cqe = wr->wr_cqe,
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_SEND,
		.qp = &qp->ib,
	};
	struct lab_to_others others = lab_to_others(lab, qp, wr);
	struct lab_link ours = lab_link(lab_port(lab, qp->port));
	struct lab_receive receive;
	struct lab_qp *to = NULL;

	if (others.status != LAB_SILENT)
		to = lab_take_receive(lab, qp, ud_wr(wr), others.is_one, &receive);
	if (to) {
		struct ib_wc received = {
			.wr_cqe = receive.cqe,
			.status = IB_WC_SUCCESS,
			.opcode = IB_WC_RECV,
			.byte_len = lab_copy_mad(wr, &receive),
			.qp = &to->ib,
			.src_qp = qp->ib.qp_num,
			.slid = lab_port(lab, qp->port)->lid,
			.port_num = to->port,
			.wc_flags = lab->roce ? IB_WC_GRH : 0,
		};

		if (others.is_one)
			lab_answer_for_others(&lab_port(lab, qp->port)->fabric, &ours,
					      others.status,
					      receive.buffer + sizeof(struct ib_grh));
		lab_cq_push(to_lab_cq(to->ib.recv_cq), &received);
	}
	lab_cq_push(to_lab_cq(qp->ib.send_cq), &sent);
}

static int lab_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad_wr)
{
	for (; wr; wr = wr->next)
		lab_send_one(to_lab(ibqp->device), to_lab_qp(ibqp), wr);
	return 0;
}

/* ---- management datagrams ---------------------------------------------------------------- */

static u32 saturate(u64 value, u32 max)
{
	return min_t(u64, value, max);
}

/* IBA 14.2.5.3 */
static void lab_node_info(struct lab_device *lab, u32 number, u8 *data)
{
	u64 node_guid = be64_to_cpu(lab->ib.node_guid);

	data[0] = 1; /* base version */
	data[1] = 1; /* class version */
	data[2] = 1; /* a channel adapter */
	data[3] = lab->ib.phys_port_cnt;
	put_be(data + 4, node_guid, 8); /* system image */
	put_be(data + 12, node_guid, 8);
	put_be(data + 20, lab_port(lab, number)->guid, 8);
	put_be(data + 28, LAB_PKEYS, 2); /* P_Key table size */
	put_be(data + 30, LAB_PART_ID, 2);
	data[36] = number;
	put_be(data + 37, LAB_VENDOR_ID, 3);
}

/* IBA 14.2.5.6 */
static void lab_port_info(struct lab_device *lab, u32 number, u8 *data)
{
	struct lab_port *port = lab_port(lab, number);
	struct lab_link link = lab_link(port);

	put_be(data + 8, 0xfe80000000000000ULL, 8); /* subnet prefix */
	put_be(data + 16, port->lid, 2);
	put_be(data + 18, port->sm_lid, 2);
	data[28] = number;
	data[32] = port->state;
	data[33] = port->phys << 4 | 2; /* down default state: polling */
	data[34] = port->lmc;
	data[36] = port->active_mtu << 4; /* neighbor MTU */
	data[37] = LAB_VL_CAP << 4;
	data[41] = port->max_mtu; /* MTU cap */
	data[43] = port->fabric.operational_vls << 4;
	lab_put_link(&link, data);
	lab_put_link_capability(&link, LAB_PORT_CAP_IB, data);
}

static void lab_answer_smp(struct lab_device *lab, u32 number, __be16 attr_id, u8 *data)
{
	memset(data, 0, IB_SMP_DATA_SIZE);
	switch (attr_id) {
	case IB_SMP_ATTR_NODE_DESC:
		strscpy(data, lab->ib.node_desc, IB_SMP_DATA_SIZE);
		break;
	case IB_SMP_ATTR_NODE_INFO:
		lab_node_info(lab, number, data);
		break;
	case IB_SMP_ATTR_PORT_INFO:
		lab_port_info(lab, number, data);
		break;
	case IB_SMP_ATTR_GUID_INFO:
		put_be(data, lab_port(lab, number)->guid, 8);
		break;
	case IB_SMP_ATTR_PKEY_TABLE:
		lab_pkey_block(&lab_port(lab, number)->fabric, data);
		break;
	case IB_SMP_ATTR_SM_INFO:
		lab_sm_info(&lab_port(lab, number)->fabric, data);
		break;
	case LAB_ATTR_PORT_INFO_EXT:
		lab_port_info_ext(&lab_port(lab, number)->fabric, data);
		break;
	}
}

/* IBA 16.1.3.5: these counters stick at their largest value. */
static void lab_port_counters(const u64 *from, struct ib_pma_portcounters *to)
{
	to->symbol_error_counter = cpu_to_be16(saturate(from[LAB_SYMBOL_ERROR], U16_MAX));
	to->link_error_recovery_counter = saturate(from[LAB_LINK_ERROR_RECOVERY], U8_MAX);
	to->link_downed_counter = saturate(from[LAB_LINK_DOWNED], U8_MAX);
	to->port_rcv_errors = cpu_to_be16(saturate(from[LAB_RCV_ERRORS], U16_MAX));
	to->port_rcv_remphys_errors =
		cpu_to_be16(saturate(from[LAB_RCV_REMOTE_PHYSICAL_ERRORS], U16_MAX));
	to->port_rcv_switch_relay_errors =
		cpu_to_be16(saturate(from[LAB_RCV_SWITCH_RELAY_ERRORS], U16_MAX));
	to->port_xmit_discards = cpu_to_be16(saturate(from[LAB_XMIT_DISCARDS], U16_MAX));
	to->port_xmit_constraint_errors = saturate(from[LAB_XMIT_CONSTRAINT_ERRORS], U8_MAX);
	to->port_rcv_constraint_errors = saturate(from[LAB_RCV_CONSTRAINT_ERRORS], U8_MAX);
	to->link_overrun_errors = saturate(from[LAB_LOCAL_LINK_INTEGRITY_ERRORS], 15) << 4 |
				  saturate(from[LAB_EXCESSIVE_BUFFER_OVERRUN_ERRORS], 15);
	to->vl15_dropped = cpu_to_be16(saturate(from[LAB_VL15_DROPPED], U16_MAX));
	to->port_xmit_data = cpu_to_be32(saturate(from[LAB_XMIT_DATA], U32_MAX));
	to->port_rcv_data = cpu_to_be32(saturate(from[LAB_RCV_DATA], U32_MAX));
	to->port_xmit_packets = cpu_to_be32(saturate(from[LAB_XMIT_PACKETS], U32_MAX));
	to->port_rcv_packets = cpu_to_be32(saturate(from[LAB_RCV_PACKETS], U32_MAX));
	to->port_xmit_wait = cpu_to_be32(saturate(from[LAB_XMIT_WAIT], U32_MAX));
}

/* IBA 16.1.4.11 */
static void lab_port_counters_ext(const u64 *from, struct ib_pma_portcounters_ext *to)
{
	to->port_xmit_data = cpu_to_be64(from[LAB_XMIT_DATA]);
	to->port_rcv_data = cpu_to_be64(from[LAB_RCV_DATA]);
	to->port_xmit_packets = cpu_to_be64(from[LAB_XMIT_PACKETS]);
	to->port_rcv_packets = cpu_to_be64(from[LAB_RCV_PACKETS]);
	to->port_unicast_xmit_packets = cpu_to_be64(from[LAB_UNICAST_XMIT_PACKETS]);
	to->port_unicast_rcv_packets = cpu_to_be64(from[LAB_UNICAST_RCV_PACKETS]);
	to->port_multicast_xmit_packets = cpu_to_be64(from[LAB_MULTICAST_XMIT_PACKETS]);
	to->port_multicast_rcv_packets = cpu_to_be64(from[LAB_MULTICAST_RCV_PACKETS]);
}

static void lab_class_port_info(u8 version, u16 capability, void *data)
{
	struct ib_class_port_info *info = data;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = version;
	info->capability_mask = cpu_to_be16(capability);
}

static void lab_answer_pma(struct lab_device *lab, u32 number, __be16 attr_id, u8 *data)
{
	const struct lab_fabric *fabric = &lab_port(lab, number)->fabric;
	const u64 *counters = lab_port(lab, number)->counters;
	u8 port_select = ((struct ib_pma_portcounters *)data)->port_select;

	memset(data, 0, sizeof_field(struct ib_pma_mad, data));
	switch (attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		lab_class_port_info(1, fabric->pma_capability, data);
		break;
	case IB_PMA_PORT_COUNTERS:
		((struct ib_pma_portcounters *)data)->port_select = port_select;
		lab_port_counters(counters, (struct ib_pma_portcounters *)data);
		break;
	case IB_PMA_PORT_COUNTERS_EXT:
		((struct ib_pma_portcounters_ext *)data)->port_select = port_select;
		lab_port_counters_ext(counters, (struct ib_pma_portcounters_ext *)data);
		break;
	default:
		data[1] = port_select;
		lab_put_details(fabric, attr_id, data);
		break;
	}
}

/* Congestion control, of which there is no more than that it is there, IBA A10.4.3.1. */
static void lab_answer_congestion(u8 *data)
{
	memset(data, 0, sizeof_field(struct ib_pma_mad, data));
	lab_class_port_info(2, 0, data);
}

static bool is_smp(const struct ib_mad_hdr *header)
{
	return header->mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED ||
	       header->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
}

static bool is_general(const struct ib_mad_hdr *header)
{
	return header->mgmt_class == IB_MGMT_CLASS_PERF_MGMT ||
	       header->mgmt_class == IB_MGMT_CLASS_CONG_MGMT;
}

static void lab_answer(struct lab_device *lab, u32 number, struct ib_mad *mad)
{
	const struct ib_mad_hdr *header = &mad->mad_hdr;

	if (is_smp(header))
		lab_answer_smp(lab, number, header->attr_id, ((struct ib_smp *)mad)->data);
	else if (header->mgmt_class == IB_MGMT_CLASS_PERF_MGMT)
		lab_answer_pma(lab, number, header->attr_id, ((struct ib_pma_mad *)mad)->data);
	else /* its data begin where those of the PMA do */
		lab_answer_congestion(((struct ib_pma_mad *)mad)->data);
}

/* The kernel calls this for each read of a counters/ file, too. */
static int lab_process_mad(struct ib_device *ib, int flags, u32 number, const struct ib_wc *wc,
			   const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
			   size_t *out_size, u16 *out_pkey_index)
{
	struct lab_device *lab = to_lab(ib);
	bool general = is_general(&in->mad_hdr);
	u32 status = lab_answer_status(&lab_port(lab, number)->fabric, &in->mad_hdr);

	if (READ_ONCE(lab->dead))
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	/* What is no request to us is a response on its way to its client. */
	if (in->mad_hdr.method != IB_MGMT_METHOD_GET || (!general && !is_smp(&in->mad_hdr)))
		return IB_MAD_RESULT_SUCCESS;
	atomic_inc(&lab->calls[wc ? LAB_CALL_MAD : LAB_CALL_COUNTERS]);
	if (wc && is_smp(&in->mad_hdr) && READ_ONCE(lab->mkey))
		return IB_MAD_RESULT_FAILURE;
	if (general && lab_wait(lab, &lab->hang))
		return IB_MAD_RESULT_FAILURE;
	if (status == LAB_SILENT)
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;

	*out = *in;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	out->mad_hdr.status = cpu_to_be16(status);
	lab_answer(lab, number, out);
	if (in->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		out->mad_hdr.status |= IB_SMP_DIRECTION;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

/* ---- queries ----------------------------------------------------------------------------- */

static int lab_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			    struct ib_udata *udata)
{
	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = (u64)LAB_FW_MAJOR << 32 | LAB_FW_MINOR << 16 | LAB_FW_SUBMINOR;
	attr->sys_image_guid = ib->node_guid;
	attr->vendor_id = LAB_VENDOR_ID;
	attr->vendor_part_id = LAB_PART_ID;
	attr->device_cap_flags = IB_DEVICE_PORT_ACTIVE_EVENT | IB_DEVICE_SYS_IMAGE_GUID;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	attr->page_size_cap = PAGE_SIZE;
	attr->max_mr_size = ~0ULL;
	attr->max_pkeys = LAB_PKEYS;
	attr->max_send_sge = 16;
	attr->max_recv_sge = 16;
	attr->max_qp_wr = 1 << 14;
	attr->max_qp = 1 << 16;
	attr->max_cq = 1 << 16;
	attr->max_pd = 1 << 16;
	attr->max_ah = 1 << 16;
	attr->max_cqe = 1 << 20;
	attr->max_mr = 1 << 20;
	return 0;
}

static int lab_query_port(struct ib_device *ib, u32 number, struct ib_port_attr *attr)
{
	struct lab_device *lab = to_lab(ib);
	struct lab_port *port = lab_port(lab, number);
	int ret;

	atomic_inc(&lab->calls[LAB_CALL_PORT]);
	ret = lab_wait(lab, &lab->port_hang);
	if (ret)
		return ret;
	if (READ_ONCE(port->query_error))
		return -(int)READ_ONCE(port->query_error);
	attr->state = port->state;
	attr->phys_state = port->phys;
	attr->active_width = port->width;
	attr->active_speed = port->speed;
	attr->max_mtu = port->max_mtu;
	attr->active_mtu = port->active_mtu;
	attr->max_msg_sz = 1 << 30;
	attr->max_vl_num = 4;
	attr->pkey_tbl_len = lab->roce ? 1 : LAB_PKEYS;
	if (lab->roce) {
		attr->gid_tbl_len = LAB_ROCE_GIDS;
		attr->port_cap_flags = IB_PORT_CM_SUP;
		attr->ip_gids = true;
		return 0;
	}
	attr->lid = port->lid;
	attr->sm_lid = port->sm_lid;
	attr->lmc = port->lmc;
	attr->gid_tbl_len = LAB_IB_GIDS;
	attr->port_cap_flags = LAB_PORT_CAP_IB;
	return 0;
}

static int lab_get_port_immutable(struct ib_device *ib, u32 number,
				  struct ib_port_immutable *immutable)
{
	bool roce = to_lab(ib)->roce;

	immutable->core_cap_flags =
		roce ? RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP : RDMA_CORE_PORT_IBA_IB;
	immutable->gid_tbl_len = roce ? LAB_ROCE_GIDS : LAB_IB_GIDS;
	immutable->pkey_tbl_len = roce ? 1 : LAB_PKEYS;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer lab_get_link_layer(struct ib_device *ib, u32 number)
{
	return to_lab(ib)->roce ? IB_LINK_LAYER_ETHERNET : IB_LINK_LAYER_INFINIBAND;
}

/*
 * The way for drivers whose interface comes and goes. ib_device_set_netdev() would also enter the
 * device in a table where the driver whose id it borrows finds it and takes it for its own.
 */
static struct net_device *lab_get_netdev(struct ib_device *ib, u32 number)
{
	struct lab_device *lab = to_lab(ib);
	struct net_device *netdev;
	unsigned long flags;

	spin_lock_irqsave(&lab->lock, flags);
	netdev = lab->netdev;
	dev_hold(netdev);
	spin_unlock_irqrestore(&lab->lock, flags);
	return netdev;
}

static int lab_query_gid(struct ib_device *ib, u32 number, int index, union ib_gid *gid)
{
	if (index < 0 || index >= LAB_IB_GIDS)
		return -EINVAL;
	atomic_inc(&to_lab(ib)->calls[LAB_CALL_GID]);
	*gid = lab_port(to_lab(ib), number)->gids[index];
	return 0;
}

static int lab_query_pkey(struct ib_device *ib, u32 number, u16 index, u16 *pkey)
{
	if (index >= LAB_PKEYS)
		return -EINVAL;
	atomic_inc(&to_lab(ib)->calls[LAB_CALL_PKEY]);
	*pkey = lab_port(to_lab(ib), number)->fabric.pkeys[index];
	return 0;
}

static void lab_get_dev_fw_str(struct ib_device *ib, char *text)
{
	snprintf(text, IB_FW_VERSION_NAME_MAX, "%d.%d.%d", LAB_FW_MAJOR, LAB_FW_MINOR,
		 LAB_FW_SUBMINOR);
}

static struct rdma_hw_stats *lab_alloc_hw_port_stats(struct ib_device *ib, u32 number)
{
	return rdma_alloc_hw_stats_struct(lab_hw_counters, LAB_HW_COUNTERS,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static bool lab_hw_counter_fails(struct lab_port *port)
{
	return memchr_inv(port->hw_errors, 0, sizeof(port->hw_errors));
}

/*
 * Returns how many counters are up to date now. All of them: then the core does not ask for the
 * next one so soon, which would hide one that fails.
 */
static int lab_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 number,
			    int index)
{
	struct lab_device *lab = to_lab(ib);
	struct lab_port *port = lab_port(lab, number);
	int ret;

	atomic_inc(&lab->calls[LAB_CALL_HW_STATS]);
	ret = lab_wait(lab, &lab->hw_hang);
	if (ret)
		return ret;
	if (index < LAB_HW_COUNTERS && READ_ONCE(port->hw_errors[index]))
		return -(int)READ_ONCE(port->hw_errors[index]);
	memcpy(stats->value, port->hw_counters, sizeof(port->hw_counters));
	return lab_hw_counter_fails(port) ? 1 : LAB_HW_COUNTERS;
}

/* ---- what a driver must have, with nothing to do ------------------------------------------ */

/* The core keeps the GID table of a RoCE port; real hardware would be told here. */
static int lab_change_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int lab_alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	struct lab_device *lab = to_lab(context->device);

	return lab_wait(lab, &lab->open_hang);
}

static void lab_no_ucontext(struct ib_ucontext *context)
{
}

static int lab_no_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int lab_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *attr, struct ib_udata *udata)
{
	to_lab_ah(ah)->attr = *attr->ah_attr;
	return 0;
}

/* The MAD layer matches a response to its request with this. */
static int lab_query_ah(struct ib_ah *ah, struct rdma_ah_attr *attr)
{
	*attr = to_lab_ah(ah)->attr;
	return 0;
}

static int lab_destroy_ah(struct ib_ah *ah, u32 flags)
{
	return 0;
}

static struct ib_mr *lab_get_dma_mr(struct ib_pd *pd, int access)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	return mr ?: ERR_PTR(-ENOMEM);
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
static struct ib_mr *lab_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
				     struct ib_udata *udata)
#else
static struct ib_mr *lab_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
				     struct ib_dmah *dmah, struct ib_udata *udata)
#endif
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int lab_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

/* ---- files beside the core's own ----------------------------------------------------------- */

static ssize_t hca_type_show(struct device *dev, struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, LAB_HCA_TYPE "\n");
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t board_id_show(struct device *dev, struct device_attribute *attr, char *text)
{
	struct lab_device *lab = rdma_device_to_drv_device(dev, struct lab_device, ib);

	if (READ_ONCE(lab->board_id_error))
		return -(int)READ_ONCE(lab->board_id_error);
	return sysfs_emit(text, LAB_BOARD_ID "\n");
}
static DEVICE_ATTR_RO(board_id);

static ssize_t hw_rev_show(struct device *dev, struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "0\n");
}
static DEVICE_ATTR_RO(hw_rev);

static struct attribute *lab_attributes[] = {&dev_attr_hca_type.attr, &dev_attr_board_id.attr,
					     &dev_attr_hw_rev.attr, NULL};

static const struct attribute_group lab_attribute_group = {
	.attrs = lab_attributes,
};

static const struct ib_device_ops lab_ops = {
	.owner = THIS_MODULE,
	/*
	 * Borrowed, so that a provider of libibverbs opens the device: siw's asks for nothing. Not
	 * rxe's: the core would remove these devices together with the module rdma_rxe.
	 */
	.driver_id = RDMA_DRIVER_SIW,
	.uverbs_abi_ver = 1,
	.device_group = &lab_attribute_group,

	.alloc_hw_port_stats = lab_alloc_hw_port_stats,
	.alloc_pd = lab_no_pd,
	.alloc_ucontext = lab_alloc_ucontext,
	.create_ah = lab_create_ah,
	.create_cq = lab_create_cq,
	.create_qp = lab_create_qp,
	.dealloc_pd = lab_no_pd,
	.dealloc_ucontext = lab_no_ucontext,
	.dereg_mr = lab_dereg_mr,
	.destroy_ah = lab_destroy_ah,
	.destroy_cq = lab_destroy_cq,
	.destroy_qp = lab_destroy_qp,
	.disassociate_ucontext = lab_no_ucontext,
	.get_dev_fw_str = lab_get_dev_fw_str,
	.get_dma_mr = lab_get_dma_mr,
	.get_hw_stats = lab_get_hw_stats,
	.get_link_layer = lab_get_link_layer,
	.get_port_immutable = lab_get_port_immutable,
	.modify_qp = lab_modify_qp,
	.poll_cq = lab_poll_cq,
	.post_recv = lab_post_recv,
	.post_send = lab_post_send,
	.process_mad = lab_process_mad,
	.query_ah = lab_query_ah,
	.query_device = lab_query_device,
	.query_gid = lab_query_gid,
	.query_pkey = lab_query_pkey,
	.query_port = lab_query_port,
	.query_qp = lab_query_qp,
	.reg_user_mr = lab_reg_user_mr,
	.req_notify_cq = lab_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, lab_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, lab_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, lab_qp, ib),
	.size_ib_pd = sizeof(struct ib_pd),
	.size_ib_ucontext = sizeof(struct ib_ucontext),
};

static const struct ib_device_ops lab_roce_ops = {
	.add_gid = lab_change_gid,
	.del_gid = lab_change_gid,
	.get_netdev = lab_get_netdev,
};

/* ---- adding and removing -------------------------------------------------------------------- */

static void lab_init_port(struct lab_device *lab, u32 number)
{
	struct lab_port *port = lab_port(lab, number);

	port->lid = ++last_lid;
	port->guid = LAB_GUID_BASE + port->lid;
	port->sm_lid = 1;
	port->state = IB_PORT_ACTIVE;
	port->phys = IB_PORT_PHYS_STATE_LINK_UP;
	port->width = IB_WIDTH_4X;
	port->speed = IB_SPEED_HDR;
	port->max_mtu = IB_MTU_4096;
	port->active_mtu = IB_MTU_4096;
	port->gids[0].global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL);
	port->gids[0].global.interface_id = cpu_to_be64(port->guid);
	lab_fabric_init(&port->fabric, port->lid);
}

static int lab_set_pci(struct lab_device *lab, const char *address)
{
	unsigned int domain, bus, slot, function;

	if (!strcmp(address, "-"))
		return 0;
	if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
		return -EINVAL;
	lab->pdev = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
	if (!lab->pdev)
		return -ENODEV;
	lab->ib.dev.parent = &lab->pdev->dev;
	return 0;
}

static int lab_set_ports(struct lab_device *lab, const char *count)
{
	u32 number, ports = 1;

	if (count && kstrtou32(count, 10, &ports))
		return -EINVAL;
	if (ports < 1 || ports > LAB_MAX_PORTS)
		return -EINVAL;
	lab->ib.phys_port_cnt = ports;
	for (number = 1; number <= ports; number++)
		lab_init_port(lab, number);
	lab->ib.node_guid = cpu_to_be64(lab_port(lab, 1)->guid);
	return 0;
}

static void lab_take_netdev(struct lab_device *lab, struct net_device *netdev)
{
	unsigned long flags;

	spin_lock_irqsave(&lab->lock, flags);
	lab->netdev = netdev;
	spin_unlock_irqrestore(&lab->lock, flags);
}

/*
 * Called for every interface that exists when the notifier is registered, too. The device holds
 * no reference: it forgets the interface here, and "ip link delete" never waits for it.
 */
static int lab_netdev_event(struct notifier_block *block, unsigned long event, void *data)
{
	struct lab_device *lab = container_of(block, struct lab_device, netdev_notifier);
	struct net_device *netdev = netdev_notifier_info_to_dev(data);

	if (event == NETDEV_REGISTER && !lab->netdev && !strcmp(netdev->name, lab->netdev_name)) {
		lab_take_netdev(lab, netdev);
	} else if (event == NETDEV_UNREGISTER && netdev == lab->netdev) {
		lab_take_netdev(lab, NULL);
		lab_port(lab, 1)->state = IB_PORT_DOWN;
		lab_port(lab, 1)->phys = IB_PORT_PHYS_STATE_DISABLED;
	}
	return NOTIFY_DONE;
}

static int lab_set_netdev(struct lab_device *lab, const char *name)
{
	u8 eui[8];
	int ret;

	if (!name)
		return -EINVAL;
	lab->netdev_name = kstrdup(name, GFP_KERNEL);
	if (!lab->netdev_name)
		return -ENOMEM;
	lab->netdev_notifier.notifier_call = lab_netdev_event;
	ret = register_netdevice_notifier(&lab->netdev_notifier);
	if (ret) {
		lab->netdev_notifier.notifier_call = NULL;
		return ret;
	}

	rtnl_lock();
	if (lab->netdev) {
		addrconf_addr_eui48(eui, lab->netdev->dev_addr);
		memcpy(&lab->ib.node_guid, eui, sizeof(eui));
		lab_port(lab, 1)->guid = be64_to_cpu(lab->ib.node_guid);
	} else {
		ret = -ENODEV;
	}
	rtnl_unlock();
	return ret;
}

static int lab_setup(struct lab_device *lab, const char *kind, const char *pci, const char *last)
{
	int ret;

	spin_lock_init(&lab->lock);
	init_waitqueue_head(&lab->released);
	lab->roce = !strcmp(kind, "roce");
	if (!lab->roce && strcmp(kind, "ib"))
		return -EINVAL;
	lab->ib.node_type = RDMA_NODE_IB_CA;
	lab->ib.num_comp_vectors = 1;
	ib_set_device_ops(&lab->ib, &lab_ops);
	ret = lab_set_ports(lab, lab->roce ? NULL : last);
	if (ret)
		return ret;
	ret = lab_set_pci(lab, pci);
	if (ret || !lab->roce)
		return ret;
	ib_set_device_ops(&lab->ib, &lab_roce_ops);
	return lab_set_netdev(lab, last);
}

static void lab_free(struct lab_device *lab)
{
	if (lab->netdev_notifier.notifier_call)
		unregister_netdevice_notifier(&lab->netdev_notifier);
	kfree(lab->netdev_name);
	pci_dev_put(lab->pdev);
	ib_dealloc_device(&lab->ib);
}

static int lab_add(const char *name, const char *kind, const char *pci, const char *last)
{
	struct lab_device *lab;
	int ret;

	lab = ib_alloc_device(lab_device, ib);
	if (!lab)
		return -ENOMEM;
	snprintf(lab->ib.node_desc, sizeof(lab->ib.node_desc), "labhca %s", name);
	ret = lab_setup(lab, kind, pci, last);
	if (!ret)
		ret = ib_register_device(&lab->ib, name, NULL);
	if (ret) {
		lab_free(lab);
		return ret;
	}
	list_add_tail(&lab->list, &lab_devices);
	return 0;
}

/* Readers that hang go first: the core waits for them. */
static void lab_remove(struct lab_device *lab)
{
	list_del(&lab->list);
	WRITE_ONCE(lab->removed, true);
	wake_up_all(&lab->released);
	ib_unregister_device(&lab->ib);
	lab_free(lab);
}

/* ---- DCB of interfaces that have none ------------------------------------------------------- */

/*
 * What "dcb" and others set is kept, and nothing else happens. The kernel's own dcbnl.c does the
 * rest, and keeps the table of applications.
 */

#define LAB_MAX_DCB 4

struct lab_dcb {
	struct net_device *netdev; /* held until the module goes */
	struct ieee_ets ets;
	struct ieee_pfc pfc;
	struct dcbnl_buffer buffer;
	u8 dcbx;
	bool hang;
};

static struct lab_dcb lab_dcbs[LAB_MAX_DCB]; /* rtnl */
static DECLARE_WAIT_QUEUE_HEAD(lab_dcb_released);

static struct lab_dcb *lab_dcb_of(struct net_device *netdev)
{
	unsigned int i;

	for (i = 0; i < LAB_MAX_DCB; i++)
		if (lab_dcbs[i].netdev == netdev)
			return &lab_dcbs[i];
	return NULL;
}

static int lab_getets(struct net_device *netdev, struct ieee_ets *ets)
{
	*ets = lab_dcb_of(netdev)->ets;
	return 0;
}

static int lab_setets(struct net_device *netdev, struct ieee_ets *ets)
{
	lab_dcb_of(netdev)->ets = *ets;
	return 0;
}

static int lab_getpfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	struct lab_dcb *dcb = lab_dcb_of(netdev);

	wait_event(lab_dcb_released, !READ_ONCE(dcb->hang));
	*pfc = dcb->pfc;
	return 0;
}

/* The counts are the driver's. */
static int lab_setpfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	struct lab_dcb *dcb = lab_dcb_of(netdev);

	dcb->pfc.pfc_en = pfc->pfc_en;
	dcb->pfc.mbc = pfc->mbc;
	dcb->pfc.delay = pfc->delay;
	return 0;
}

static int lab_getbuffer(struct net_device *netdev, struct dcbnl_buffer *buffer)
{
	*buffer = lab_dcb_of(netdev)->buffer;
	return 0;
}

static int lab_setbuffer(struct net_device *netdev, struct dcbnl_buffer *buffer)
{
	struct lab_dcb *dcb = lab_dcb_of(netdev);
	u32 total = dcb->buffer.total_size;

	dcb->buffer = *buffer;
	dcb->buffer.total_size = total;
	return 0;
}

static u8 lab_getdcbx(struct net_device *netdev)
{
	return lab_dcb_of(netdev)->dcbx;
}

static u8 lab_setdcbx(struct net_device *netdev, u8 mode)
{
	lab_dcb_of(netdev)->dcbx = mode;
	return 0;
}

static const struct dcbnl_rtnl_ops lab_dcbnl_ops = {
	.ieee_getets = lab_getets,
	.ieee_setets = lab_setets,
	.ieee_getpfc = lab_getpfc,
	.ieee_setpfc = lab_setpfc,
	.dcbnl_getbuffer = lab_getbuffer,
	.dcbnl_setbuffer = lab_setbuffer,
	.getdcbx = lab_getdcbx,
	.setdcbx = lab_setdcbx,
};

/* The interface must stay until the module goes. */
static int lab_dcb_add(const char *name)
{
	struct net_device *netdev = dev_get_by_name(&init_net, name);
	struct lab_dcb *dcb;
	int ret = -EBUSY;

	if (!netdev)
		return -ENODEV;
	rtnl_lock();
	dcb = netdev->dcbnl_ops ? NULL : lab_dcb_of(NULL);
	if (dcb) {
		*dcb = (struct lab_dcb){
			.netdev = netdev,
			.ets.ets_cap = IEEE_8021QAZ_MAX_TCS,
			.pfc.pfc_cap = IEEE_8021QAZ_MAX_TCS,
			.buffer.total_size = 262016,
			.dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE,
		};
		netdev->dcbnl_ops = &lab_dcbnl_ops;
		ret = 0;
	}
	rtnl_unlock();
	if (ret)
		dev_put(netdev);
	return ret;
}

static struct lab_dcb *lab_dcb_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < LAB_MAX_DCB; i++)
		if (lab_dcbs[i].netdev && !strcmp(lab_dcbs[i].netdev->name, name))
			return &lab_dcbs[i];
	return NULL;
}

static int lab_dcb_count(const char *name, u64 priority, u64 sent, u64 received)
{
	struct lab_dcb *dcb = lab_dcb_find(name);

	if (!dcb || priority >= IEEE_8021QAZ_MAX_TCS)
		return -ENOENT;
	dcb->pfc.requests[priority] = sent;
	dcb->pfc.indications[priority] = received;
	return 0;
}

/* Without the RTNL, which is taken while it hangs. */
static int lab_dcb_hang(const char *name, u64 hang)
{
	struct lab_dcb *dcb = lab_dcb_find(name);

	if (!dcb)
		return -ENOENT;
	WRITE_ONCE(dcb->hang, hang);
	wake_up_all(&lab_dcb_released);
	return 0;
}

static void lab_dcb_remove_all(void)
{
	unsigned int i;

	rtnl_lock();
	for (i = 0; i < LAB_MAX_DCB; i++) {
		if (!lab_dcbs[i].netdev)
			continue;
		lab_dcbs[i].netdev->dcbnl_ops = NULL;
		dev_put(lab_dcbs[i].netdev);
		lab_dcbs[i].netdev = NULL;
	}
	rtnl_unlock();
}

/* ---- the control file ----------------------------------------------------------------------- */

struct lab_field {
	const char *name;
	size_t offset;
	enum ib_event_type event;
	bool has_event;
};

#define LAB_PORT_FIELD(field)                                                                      \
	{                                                                                          \
		.name = #field, .offset = offsetof(struct lab_port, field)                         \
	}
#define LAB_PORT_FIELD_EVENT(field, code)                                                          \
	{                                                                                          \
		.name = #field, .offset = offsetof(struct lab_port, field), .event = code,         \
		.has_event = true                                                                  \
	}
#define LAB_DEVICE_FIELD(field)                                                                    \
	{                                                                                          \
		.name = #field, .offset = offsetof(struct lab_device, field)                       \
	}

static const struct lab_field lab_port_fields[] = {
	LAB_PORT_FIELD(phys),
	LAB_PORT_FIELD_EVENT(lid, IB_EVENT_LID_CHANGE),
	LAB_PORT_FIELD_EVENT(sm_lid, IB_EVENT_SM_CHANGE),
	LAB_PORT_FIELD(lmc),
	LAB_PORT_FIELD(width),
	LAB_PORT_FIELD(width_enabled),
	LAB_PORT_FIELD(width_supported),
	LAB_PORT_FIELD(speed),
	LAB_PORT_FIELD(speed_enabled),
	LAB_PORT_FIELD(speed_supported),
	LAB_PORT_FIELD(max_mtu),
	LAB_PORT_FIELD(active_mtu),
};

static const struct lab_field lab_device_fields[] = {
	LAB_DEVICE_FIELD(dead),      LAB_DEVICE_FIELD(hang),      LAB_DEVICE_FIELD(hw_hang),
	LAB_DEVICE_FIELD(port_hang), LAB_DEVICE_FIELD(open_hang), LAB_DEVICE_FIELD(mkey),
};

static void lab_dispatch(struct lab_device *lab, u32 number, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &lab->ib,
		.event = type,
		.element.port_num = number,
	};

	ib_dispatch_event(&event);
}

static void lab_set_state(struct lab_device *lab, u32 number, u32 state)
{
	struct lab_port *port = lab_port(lab, number);
	u32 old = port->state;

	port->state = state;
	port->phys =
		state == IB_PORT_DOWN ? IB_PORT_PHYS_STATE_POLLING : IB_PORT_PHYS_STATE_LINK_UP;
	if (state == old)
		return;
	if (old == IB_PORT_ACTIVE) {
		if (state == IB_PORT_DOWN)
			port->counters[LAB_LINK_DOWNED]++;
		lab_dispatch(lab, number, IB_EVENT_PORT_ERR);
	}
	if (state == IB_PORT_ACTIVE)
		lab_dispatch(lab, number, IB_EVENT_PORT_ACTIVE);
}

static const struct lab_field *lab_find_field(const struct lab_field *fields, size_t n,
					      const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

/* What has 64 bits: counters, and all of the fabric. */
static u64 *lab_find_counter(struct lab_port *port, const char *name)
{
	size_t i;
	int ret;

	ret = match_string(lab_counter_names, LAB_COUNTERS, name);
	if (ret >= 0)
		return &port->counters[ret];
	for (i = 0; i < LAB_HW_COUNTERS; i++)
		if (!strcmp(lab_hw_counters[i].name, name))
			return &port->hw_counters[i];
	return lab_fabric_find(&port->fabric, name);
}

/* The core has asked for the capabilities when the device was registered, and keeps them here. */
static void lab_require_grh(struct lab_device *lab, u32 number, bool required)
{
	u32 *flags = &lab->ib.port_data[number].immutable.core_cap_flags;

	WRITE_ONCE(*flags, required ? *flags | RDMA_CORE_CAP_IB_GRH_REQUIRED
				    : *flags & ~RDMA_CORE_CAP_IB_GRH_REQUIRED);
}

static int lab_set(struct lab_device *lab, u32 number, const char *name, u64 value)
{
	struct lab_port *port = lab_port(lab, number);
	const struct lab_field *field;
	u64 *counter;

	counter = lab_find_counter(port, name);
	if (counter) {
		WRITE_ONCE(*counter, value);
		if (!strncmp(name, "pkey", 4))
			lab_dispatch(lab, number, IB_EVENT_PKEY_CHANGE);
		return 0;
	}
	if (value > U32_MAX)
		return -ERANGE;
	if (!strcmp(name, "state")) {
		lab_set_state(lab, number, value);
		return 0;
	}
	if (!strcmp(name, "grh")) {
		lab_require_grh(lab, number, value);
		return 0;
	}
	field = lab_find_field(lab_device_fields, ARRAY_SIZE(lab_device_fields), name);
	if (field) {
		WRITE_ONCE(*(u32 *)((void *)lab + field->offset), value);
		wake_up_all(&lab->released);
		return 0;
	}
	field = lab_find_field(lab_port_fields, ARRAY_SIZE(lab_port_fields), name);
	if (!field)
		return -EINVAL;
	WRITE_ONCE(*(u32 *)((void *)port + field->offset), value);
	if (field->has_event)
		lab_dispatch(lab, number, field->event);
	return 0;
}

static int lab_set_gid(struct lab_device *lab, u32 number, u64 index, u64 prefix, u64 suffix)
{
	union ib_gid *gid;

	if (lab->roce || index >= LAB_IB_GIDS)
		return -EINVAL;
	gid = &lab_port(lab, number)->gids[index];
	gid->global.subnet_prefix = cpu_to_be64(prefix);
	gid->global.interface_id = cpu_to_be64(suffix);
	lab_dispatch(lab, number, IB_EVENT_GID_CHANGE);
	return 0;
}

static int lab_fail(struct lab_device *lab, u32 number, const char *what, u64 error)
{
	struct lab_port *port = lab_port(lab, number);
	u32 *target = NULL;
	size_t i;

	if (error > MAX_ERRNO)
		return -ERANGE;
	if (!strcmp(what, "port"))
		target = &port->query_error;
	else if (!strcmp(what, "board_id"))
		target = &lab->board_id_error;
	for (i = 0; i < LAB_HW_COUNTERS && !target; i++)
		if (!strcmp(lab_hw_counters[i].name, what))
			target = &port->hw_errors[i];
	if (!target)
		return -EINVAL;
	WRITE_ONCE(*target, error);
	return 0;
}

static int lab_answer_so(struct lab_device *lab, u32 number, const char *topic, u64 status)
{
	int i = match_string(lab_topic_names, LAB_TOPICS, topic);

	if (i < 0)
		return i;
	if (status > U16_MAX && status != LAB_SILENT)
		return -ERANGE;
	WRITE_ONCE(lab_port(lab, number)->fabric.status[i], status);
	return 0;
}

/* Finds NAME[/PORT]; the part behind the slash is cut off NAME. */
static struct lab_device *lab_find(char *name, u32 *ret_number)
{
	char *slash = strchr(name, '/');
	struct lab_device *lab;
	u32 number = 1;

	if (slash) {
		*slash = '\0';
		if (kstrtou32(slash + 1, 10, &number))
			return NULL;
	}
	list_for_each_entry(lab, &lab_devices, list)
	{
		if (strcmp(dev_name(&lab->ib.dev), name))
			continue;
		if (number < 1 || number > lab->ib.phys_port_cnt)
			return NULL;
		*ret_number = number;
		return lab;
	}
	return NULL;
}

static int lab_command(int argc, char **argv)
{
	struct lab_device *lab;
	u64 value[3] = {};
	u32 number;

	if (argc < 2)
		return -EINVAL;
	if (!strcmp(argv[0], "add"))
		return argc < 4 ? -EINVAL : lab_add(argv[1], argv[2], argv[3], argv[4]);

	if (!strcmp(argv[0], "dcb") && argc == 2)
		return lab_dcb_add(argv[1]);
	if (!strcmp(argv[0], "dcb") && argc == 4 && !strcmp(argv[2], "hang"))
		return kstrtou64(argv[3], 0, &value[0]) ?: lab_dcb_hang(argv[1], value[0]);
	if (!strcmp(argv[0], "dcb") && argc == 5)
		return kstrtou64(argv[2], 0, &value[0]) ?: kstrtou64(argv[3], 0, &value[1]) ?:
		       kstrtou64(argv[4], 0, &value[2]) ?:
		       lab_dcb_count(argv[1], value[0], value[1], value[2]);

	lab = lab_find(argv[1], &number);
	if (!lab)
		return -ENOENT;
	if (!strcmp(argv[0], "del") && argc == 2) {
		lab_remove(lab);
		return 0;
	}
	if (!strcmp(argv[0], "set") && argc == 4) {
		int ret = kstrtou64(argv[3], 0, &value[0]);

		return ret ?: lab_set(lab, number, argv[2], value[0]);
	}
	if (!strcmp(argv[0], "fail") && argc == 4) {
		int ret = kstrtou64(argv[3], 0, &value[0]);

		return ret ?: lab_fail(lab, number, argv[2], value[0]);
	}
	if ((!strcmp(argv[0], "refuse") || !strcmp(argv[0], "silent")) && argc == 4) {
		int ret = kstrtou64(argv[3], 0, &value[0]);

		if (!strcmp(argv[0], "silent"))
			value[0] = value[0] ? LAB_SILENT : 0;
		return ret ?: lab_answer_so(lab, number, argv[2], value[0]);
	}
	if (!strcmp(argv[0], "peer") && argc == 3) {
		char *name = lab_port(lab, number)->fabric.peer_name;

		return strscpy_pad(name, argv[2], IB_SMP_DATA_SIZE) < 0 ? -E2BIG : 0;
	}
	if (!strcmp(argv[0], "event") && argc == 3) {
		int ret = kstrtou64(argv[2], 0, &value[0]);

		if (!ret)
			lab_dispatch(lab, number, value[0]);
		return ret;
	}
	if (!strcmp(argv[0], "gid") && argc == 5) {
		if (kstrtou64(argv[2], 0, &value[0]) || kstrtou64(argv[3], 0, &value[1]) ||
		    kstrtou64(argv[4], 0, &value[2]))
			return -EINVAL;
		return lab_set_gid(lab, number, value[0], value[1], value[2]);
	}
	return -EINVAL;
}

/* Commands whose last argument is a text. -EAGAIN: it is none of them. */
static int lab_text_command(char *line)
{
	char *command = strsep(&line, " "), *name = strsep(&line, " ");
	struct lab_device *lab;
	u32 number, i;

	if (!line || (strcmp(command, "say") && strcmp(command, "flood")))
		return -EAGAIN;
	if (!strcmp(command, "flood")) {
		if (kstrtou32(name, 10, &number))
			return -EINVAL;
		for (i = 0; i < number; i++) {
			printk(KERN_DEBUG "%s %u\n", line, i);
			cond_resched();
		}
		return 0;
	}
	lab = lab_find(name, &number);
	if (!lab || !lab->ib.dev.parent)
		return -ENOENT;
	dev_printk_emit(LOGLEVEL_ERR, lab->ib.dev.parent, "mlx5_core %s: %s",
			dev_name(lab->ib.dev.parent), line);
	return 0;
}

static ssize_t control_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	char line[LAB_COMMAND_MAX], text[LAB_COMMAND_MAX], *rest = line, *argv[5] = {};
	int argc = 0, ret;

	if (size >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, from, size))
		return -EFAULT;
	line[size] = '\0';
	strim(line);
	strscpy(text, line, sizeof(text));
	mutex_lock(&control_lock);
	ret = lab_text_command(text);
	mutex_unlock(&control_lock);
	if (ret != -EAGAIN)
		return ret ?: size;
	while (rest && argc < ARRAY_SIZE(argv))
		argv[argc++] = strsep(&rest, " ");
	if (rest)
		return -EINVAL;

	mutex_lock(&control_lock);
	ret = lab_command(argc, argv);
	mutex_unlock(&control_lock);
	return ret ?: size;
}

static int control_show(struct seq_file *file, void *data)
{
	struct lab_device *lab;
	int i;

	mutex_lock(&control_lock);
	list_for_each_entry(lab, &lab_devices, list) for (i = 0; i < LAB_CALLS; i++)
		seq_printf(file, "%s %s %d\n", dev_name(&lab->ib.dev), lab_call_names[i],
			   atomic_read(&lab->calls[i]));
	mutex_unlock(&control_lock);
	return 0;
}

static int control_open(struct inode *inode, struct file *file)
{
	return single_open(file, control_show, NULL);
}

static const struct file_operations control_ops = {
	.owner = THIS_MODULE,
	.open = control_open,
	.release = single_release,
	.read = seq_read,
	.llseek = seq_lseek,
	.write = control_write,
};

static int __init lab_init(void)
{
	control_file = debugfs_create_file("labhca", 0600, NULL, NULL, &control_ops);
	return 0;
}

static void __exit lab_exit(void)
{
	struct lab_device *lab, *next;

	debugfs_remove(control_file); /* waits for a command that is under way */
	list_for_each_entry_safe(lab, next, &lab_devices, list) lab_remove(lab);
	lab_dcb_remove_all();
}

module_init(lab_init);
module_exit(lab_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("make-believe HCAs for tests");
