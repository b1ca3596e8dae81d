// SPDX-License-Identifier: Apache-2.0
#include "probe_port.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <time.h>

#include "rna/base/cleanup.h"

#define DEVICES "/sys/class/infiniband"

enum {
	RECEIVES = 128, /* posted at a time: five seconds of probes of 13 peers twice over */
	SENDS = 128,    /* under way at a time: an answer to each of them */
	EVENTS = 16,    /* completions taken from the queue at a time */
	HOP_LIMIT = 64,
	PKEY_FULL = 0x8000,    /* bit of full membership */
	RECEIVED = UINT32_MAX, /* half of a wr_id; the other half is the slot */
};

struct rna_probe_verbs {
	char device[RNA_PROBER_NAME_MAX];
	unsigned port;
	int gid_index;
	struct ibv_context *context;
	struct ibv_port_attr attr;
	struct rna_probe_address address;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq_ex *cq_ex; /* with the HCA's time stamps; NULL: cq alone */
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qps[RNA_PROBE_QPS_MAX];
	uint32_t qkey;
	uint64_t clock_khz; /* of the HCA's clock */
	bool port_by_qp;
	size_t slot_size; /* of a receive */
	size_t size;      /* of memory */
	uint8_t *memory;  /* receives, sends, and the padding of large ones */
	struct ibv_mr *mr;
	unsigned sending; /* sends under way */
	bool send_busy[SENDS];
	int returning; /* receive slot of the event that the caller has; -1: none */
};

struct rna_aim {
	struct ibv_ah *ah;
};

#define PORT(verbs) (verbs)->device, (verbs)->port

/* -- Device and port --------------------------------------------------------------------------- */

static void free_list(struct ibv_device ***list)
{
	if (*list)
		ibv_free_device_list(*list);
}

/* Check sysfs first: without an RDMA stack, libibverbs would make the kernel load ib_core. */
static int open_device(struct rna_probe_verbs *verbs, struct rna_error *error)
{
	int count = 0;
	RNA_CLEANUP(free_list)
	struct ibv_device **list = access(DEVICES, X_OK) == 0 ? ibv_get_device_list(&count) : NULL;

	for (int i = 0; list && i < count; i++) {
		if (strcmp(ibv_get_device_name(list[i]), verbs->device) != 0)
			continue;
		if (list[i]->transport_type != IBV_TRANSPORT_IB)
			return rna_error_say(error, -EOPNOTSUPP,
					     "%s/%u: has no datagrams of InfiniBand or RoCE",
					     PORT(verbs));
		verbs->context = ibv_open_device(list[i]);
		if (verbs->context)
			return 0;
		return rna_error_set(error, errno ? -errno : -EIO, "%s/%u: cannot open it",
				     PORT(verbs));
	}
	return rna_error_say(error, -ENODEV, "%s/%u: libibverbs knows no such device", PORT(verbs));
}

static uint32_t mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 256;
}

static int look_at_gid(struct rna_probe_verbs *verbs, const uint8_t expected[16],
		       struct rna_error *error)
{
	int index = verbs->gid_index < 0 ? 0 : verbs->gid_index;
	union ibv_gid gid, none = {0};

	if (ibv_query_gid(verbs->context, (uint8_t)verbs->port, index, &gid) < 0)
		return rna_error_say(error, -EADDRNOTAVAIL, "%s/%u: cannot read GID %d",
				     PORT(verbs), index);
	if (verbs->gid_index >= 0 && (memcmp(gid.raw, expected, sizeof(gid.raw)) != 0 ||
				      memcmp(gid.raw, none.raw, sizeof(gid.raw)) == 0))
		return rna_error_say(error, -EADDRNOTAVAIL, "%s/%u: GID %d is not the expected one",
				     PORT(verbs), index);
	memcpy(verbs->address.gid, gid.raw, sizeof(verbs->address.gid));
	return 0;
}

static int look_at_port(struct rna_probe_verbs *verbs, const uint8_t gid[16],
			struct rna_error *error)
{
	int status = verbs->port > UINT8_MAX
			     ? EINVAL
			     : ibv_query_port(verbs->context, (uint8_t)verbs->port, &verbs->attr);

	if (status)
		return rna_error_set(error, -status, "%s/%u: cannot ask for the port", PORT(verbs));
	if (verbs->attr.state != IBV_PORT_ACTIVE)
		return rna_error_say(error, -ENETDOWN, "%s/%u: is %s", PORT(verbs),
				     ibv_port_state_str(verbs->attr.state));
	if (verbs->attr.link_layer != IBV_LINK_LAYER_ETHERNET && verbs->attr.lid == 0)
		return rna_error_say(error, -EADDRNOTAVAIL,
				     "%s/%u: no LID: no subnet manager has given it one",
				     PORT(verbs));
	if (verbs->attr.link_layer == IBV_LINK_LAYER_ETHERNET && verbs->gid_index < 0)
		return rna_error_say(error, -EADDRNOTAVAIL, "%s/%u: has no usable GID",
				     PORT(verbs));
	verbs->address.lid = verbs->attr.lid;
	verbs->address.mtu = mtu_bytes(verbs->attr.active_mtu);
	return look_at_gid(verbs, gid, error);
}

/*
 * Two limited members of a partition may not talk to each other (IBTA 10.9), so an entry with full
 * membership is better than index 0, where subnet managers often put the limited 0x7fff.
 */
static uint16_t choose_pkey(const struct rna_probe_verbs *verbs)
{
	__be16 pkey;

	for (uint16_t i = 0; i < verbs->attr.pkey_tbl_len; i++)
		if (ibv_query_pkey(verbs->context, (uint8_t)verbs->port, i, &pkey) == 0 &&
		    (be16toh(pkey) & PKEY_FULL) && (be16toh(pkey) & ~PKEY_FULL))
			return i;
	return 0;
}

/*
 * Virtual devices (rxe, siw) have no PCI function. rxe takes the UDP source port from the number of
 * the QP and ignores flow labels (rxe_qp_init_req() in drivers/infiniband/sw/rxe/rxe_qp.c, Linux
 * 6.1); mlx5 takes it from the flow label of the address (mlx5_ah_set_udp_sport() in
 * providers/mlx5/verbs.c, rdma-core 44).
 */
static bool is_virtual(const char *device)
{
	char path[sizeof(DEVICES "//device") + RNA_PROBER_NAME_MAX];

	(void)snprintf(path, sizeof(path), DEVICES "/%s/device", device);
	return access(path, F_OK) < 0;
}

/* -- Queues ------------------------------------------------------------------------------------ */

static int fail(const struct rna_probe_verbs *verbs, const char *what, struct rna_error *error)
{
	return rna_error_set(error, errno ? -errno : -EIO, "%s/%u: cannot make %s", PORT(verbs),
			     what);
}

/* Not each provider has extended completion queues, and not each HCA a clock that can be read. */
static void try_clock(struct rna_probe_verbs *verbs)
{
	struct ibv_device_attr_ex attr = {0};
	struct ibv_cq_init_attr_ex wanted = {
		.cqe = RECEIVES + SENDS,
		.channel = verbs->channel,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID |
			    IBV_WC_EX_WITH_SL | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};

	if (ibv_query_device_ex(verbs->context, NULL, &attr) != 0 ||
	    attr.completion_timestamp_mask == 0 || attr.hca_core_clock == 0)
		return;
	verbs->cq_ex = ibv_create_cq_ex(verbs->context, &wanted);
	if (verbs->cq_ex)
		verbs->clock_khz = attr.hca_core_clock;
}

static int make_queues(struct rna_probe_verbs *verbs, struct rna_error *error)
{
	struct ibv_srq_init_attr receives = {.attr = {.max_wr = RECEIVES, .max_sge = 1}};

	verbs->pd = ibv_alloc_pd(verbs->context);
	if (!verbs->pd)
		return fail(verbs, "a protection domain", error);
	verbs->channel = ibv_create_comp_channel(verbs->context);
	if (!verbs->channel)
		return fail(verbs, "a completion channel", error);
	if (fcntl(verbs->channel->fd, F_SETFL, O_NONBLOCK) < 0 ||
	    fcntl(verbs->context->async_fd, F_SETFL, O_NONBLOCK) < 0)
		return fail(verbs, "descriptors that do not wait", error);
	try_clock(verbs);
	verbs->cq = verbs->cq_ex ? ibv_cq_ex_to_cq(verbs->cq_ex)
				 : ibv_create_cq(verbs->context, RECEIVES + SENDS, NULL,
						 verbs->channel, 0);
	if (!verbs->cq)
		return fail(verbs, "a completion queue", error);
	verbs->srq = ibv_create_srq(verbs->pd, &receives);
	if (!verbs->srq)
		return fail(verbs, "a shared receive queue", error);
	return 0;
}

static int make_memory(struct rna_probe_verbs *verbs, struct rna_error *error)
{
	verbs->slot_size = RNA_PACKET_HEADERS + verbs->address.mtu;
	verbs->size =
		RECEIVES * verbs->slot_size + (size_t)SENDS * RNA_PACKET_SIZE + verbs->address.mtu;
	verbs->memory = calloc(1, verbs->size);
	if (!verbs->memory)
		return fail(verbs, "buffers", error);
	verbs->mr = ibv_reg_mr(verbs->pd, verbs->memory, verbs->size, IBV_ACCESS_LOCAL_WRITE);
	return verbs->mr ? 0 : fail(verbs, "a memory region", error);
}

static struct ibv_qp *make_qp(struct rna_probe_verbs *verbs)
{
	struct ibv_qp_init_attr init = {
		.send_cq = verbs->cq,
		.recv_cq = verbs->cq,
		.srq = verbs->srq,
		.qp_type = IBV_QPT_UD,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = SENDS, .max_send_sge = 2},
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = choose_pkey(verbs),
		.port_num = (uint8_t)verbs->port,
		.qkey = verbs->qkey,
	};
	struct ibv_qp *qp = ibv_create_qp(verbs->pd, &init);
	int status;

	if (!qp)
		return NULL;
	status = ibv_modify_qp(qp, &attr,
			       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	attr.qp_state = IBV_QPS_RTR;
	if (status == 0)
		status = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	if (status == 0)
		status = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	if (status == 0)
		return qp;
	(void)ibv_destroy_qp(qp);
	errno = status;
	return NULL;
}

static int make_qps(struct rna_probe_verbs *verbs, struct rna_error *error)
{
	unsigned count;

	verbs->port_by_qp = is_virtual(verbs->device);
	count = verbs->port_by_qp ? RNA_PROBE_QPS_MAX : 1;
	for (unsigned i = 0; i < count; i++) {
		verbs->qps[i] = make_qp(verbs);
		if (!verbs->qps[i])
			return fail(verbs, "a queue pair of datagrams", error);
		verbs->address.qpns[i] = verbs->qps[i]->qp_num;
		verbs->address.qpn_count = i + 1;
	}
	return 0;
}

static int post_receive(struct rna_probe_verbs *verbs, unsigned slot)
{
	struct ibv_sge piece = {
		.addr = (uintptr_t)(verbs->memory + slot * verbs->slot_size),
		.length = (uint32_t)verbs->slot_size,
		.lkey = verbs->mr->lkey,
	};
	struct ibv_recv_wr receive = {
		.wr_id = (uint64_t)RECEIVED << 32 | slot,
		.sg_list = &piece,
		.num_sge = 1,
	};
	struct ibv_recv_wr *bad;

	return -ibv_post_srq_recv(verbs->srq, &receive, &bad);
}

static int post_receives(struct rna_probe_verbs *verbs, struct rna_error *error)
{
	int status = 0;

	for (unsigned slot = 0; status == 0 && slot < RECEIVES; slot++)
		status = post_receive(verbs, slot);
	if (status == 0)
		status = -ibv_req_notify_cq(verbs->cq, 0);
	if (status < 0)
		return rna_error_set(error, status, "%s/%u: cannot receive", PORT(verbs));
	return 0;
}

int rna_probe_verbs_open(const char *device, unsigned port, int gid_index, const uint8_t gid[16],
			 uint32_t qkey, struct rna_probe_verbs **ret, struct rna_error *error)
{
	struct rna_probe_verbs *verbs = calloc(1, sizeof(*verbs));
	int status;

	if (!verbs)
		return rna_error_set(error, -ENOMEM, "%s/%u: cannot be opened", device, port);
	(void)snprintf(verbs->device, sizeof(verbs->device), "%s", device);
	verbs->port = port;
	verbs->gid_index = gid_index;
	verbs->qkey = qkey;
	verbs->returning = -1;
	status = open_device(verbs, error);
	if (status == 0)
		status = look_at_port(verbs, gid, error);
	if (status == 0)
		status = make_queues(verbs, error);
	if (status == 0)
		status = make_memory(verbs, error);
	if (status == 0)
		status = make_qps(verbs, error);
	if (status == 0)
		status = post_receives(verbs, error);
	if (status < 0)
		verbs = rna_probe_verbs_close(verbs);
	*ret = verbs;
	return status;
}

struct rna_probe_verbs *rna_probe_verbs_close(struct rna_probe_verbs *verbs)
{
	if (!verbs)
		return NULL;
	for (unsigned i = 0; i < RNA_PROBE_QPS_MAX; i++)
		if (verbs->qps[i])
			(void)ibv_destroy_qp(verbs->qps[i]);
	if (verbs->srq)
		(void)ibv_destroy_srq(verbs->srq);
	if (verbs->mr)
		(void)ibv_dereg_mr(verbs->mr);
	if (verbs->cq)
		(void)ibv_destroy_cq(verbs->cq);
	if (verbs->channel)
		(void)ibv_destroy_comp_channel(verbs->channel);
	if (verbs->pd)
		(void)ibv_dealloc_pd(verbs->pd);
	if (verbs->context)
		(void)ibv_close_device(verbs->context);
	free(verbs->memory);
	free(verbs);
	return NULL;
}

const struct rna_probe_address *rna_probe_verbs_address(const struct rna_probe_verbs *verbs)
{
	return &verbs->address;
}

bool rna_probe_verbs_has_clock(const struct rna_probe_verbs *verbs)
{
	return verbs->cq_ex;
}

static uint64_t now_nanoseconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t rna_probe_verbs_now(const struct rna_probe_verbs *verbs)
{
	return verbs->cq_ex ? 0 : now_nanoseconds();
}

bool rna_probe_verbs_port_by_qp(const struct rna_probe_verbs *verbs)
{
	return verbs->port_by_qp;
}

/* -- Aims -------------------------------------------------------------------------------------- */

int rna_aim_make(struct rna_probe_verbs *verbs, const struct rna_aim_request *request,
		 struct rna_aim **ret)
{
	bool ethernet = verbs->attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	struct ibv_ah_attr attr = {
		.dlid = request->lid,
		.sl = request->service_level,
		.port_num = (uint8_t)verbs->port,
		.is_global = ethernet || (verbs->attr.flags & IBV_QPF_GRH_REQUIRED) != 0,
	};
	struct rna_aim *aim = calloc(1, sizeof(*aim));

	*ret = NULL;
	if (!aim)
		return -ENOMEM;
	if (attr.is_global) {
		attr.grh.flow_label = request->flow_label;
		attr.grh.sgid_index = (uint8_t)(verbs->gid_index < 0 ? 0 : verbs->gid_index);
		attr.grh.hop_limit = HOP_LIMIT;
		attr.grh.traffic_class = request->traffic_class;
		memcpy(attr.grh.dgid.raw, request->gid, sizeof(attr.grh.dgid.raw));
	}
	errno = 0;
	aim->ah = ibv_create_ah(verbs->pd, &attr);
	if (!aim->ah) {
		int error = errno;

		free(aim);
		/* No route, no neighbour, no answer to ARP: drivers/infiniband/core/addr.c */
		return error == ENODATA || error == ETIMEDOUT || error == ENETUNREACH || error == 0
			       ? -EHOSTUNREACH
			       : -error;
	}
	*ret = aim;
	return 0;
}

struct rna_aim *rna_aim_free(struct rna_aim *aim)
{
	if (aim)
		(void)ibv_destroy_ah(aim->ah);
	free(aim);
	return NULL;
}

/* -- Sending ----------------------------------------------------------------------------------- */

static int find_send_slot(const struct rna_probe_verbs *verbs)
{
	for (unsigned slot = 0; slot < SENDS; slot++)
		if (!verbs->send_busy[slot])
			return (int)slot;
	return -EAGAIN;
}

int rna_probe_verbs_send(struct rna_probe_verbs *verbs, unsigned from,
			 const struct rna_probe_end *to, const uint8_t packet[RNA_PACKET_SIZE],
			 size_t len, uint32_t id)
{
	uint8_t *sends = verbs->memory + RECEIVES * verbs->slot_size;
	int slot = find_send_slot(verbs), status;
	struct ibv_sge pieces[2];
	struct ibv_send_wr send, *bad;

	if (slot < 0)
		return slot;
	if (len < RNA_PACKET_SIZE || len > verbs->address.mtu || id == RECEIVED)
		return -EMSGSIZE;
	memcpy(sends + slot * RNA_PACKET_SIZE, packet, RNA_PACKET_SIZE);
	pieces[0] = (struct ibv_sge){(uintptr_t)(sends + slot * RNA_PACKET_SIZE), RNA_PACKET_SIZE,
				     verbs->mr->lkey};
	pieces[1] = (struct ibv_sge){(uintptr_t)(sends + SENDS * RNA_PACKET_SIZE),
				     (uint32_t)(len - RNA_PACKET_SIZE), verbs->mr->lkey};
	send = (struct ibv_send_wr){
		.wr_id = (uint64_t)id << 32 | (unsigned)slot,
		.sg_list = pieces,
		.num_sge = len > RNA_PACKET_SIZE ? 2 : 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = {.ah = to->aim->ah, .remote_qpn = to->qpn, .remote_qkey = to->qkey},
	};
	status = ibv_post_send(verbs->qps[from % verbs->address.qpn_count], &send, &bad);
	if (status == 0)
		verbs->send_busy[slot] = true;
	return -status;
}

/* -- Events ------------------------------------------------------------------------------------ */

int rna_probe_verbs_fd(const struct rna_probe_verbs *verbs)
{
	return verbs->channel->fd;
}

int rna_probe_verbs_async_fd(const struct rna_probe_verbs *verbs)
{
	return verbs->context->async_fd;
}

void rna_probe_verbs_arm(struct rna_probe_verbs *verbs)
{
	unsigned count = 0;
	struct ibv_cq *cq;
	void *context;

	while (ibv_get_cq_event(verbs->channel, &cq, &context) == 0)
		count++;
	if (count > 0)
		ibv_ack_cq_events(verbs->cq, count);
	(void)ibv_req_notify_cq(verbs->cq, 0); /* an error shows when the queue is polled */
}

/* kHz are ticks per millisecond. Split, so that nothing overflows in the years of an uptime. */
static uint64_t nanoseconds_of(const struct rna_probe_verbs *verbs, uint64_t ticks)
{
	return ticks / verbs->clock_khz * 1000000 +
	       ticks % verbs->clock_khz * 1000000 / verbs->clock_khz;
}

/* 1: a completion; 0: none; negative errno. */
static int poll_with_clock(struct rna_probe_verbs *verbs, struct ibv_wc *ret, uint64_t *ret_at)
{
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_cq_ex *cq = verbs->cq_ex;
	int status = ibv_start_poll(cq, &attr);

	if (status)
		return status == ENOENT ? 0 : -status;
	*ret = (struct ibv_wc){.wr_id = cq->wr_id, .status = cq->status};
	if (cq->status == IBV_WC_SUCCESS) {
		*ret_at = nanoseconds_of(verbs, ibv_wc_read_completion_ts(cq));
		if (cq->wr_id >> 32 == RECEIVED) {
			ret->byte_len = ibv_wc_read_byte_len(cq);
			ret->wc_flags = ibv_wc_read_wc_flags(cq);
			ret->src_qp = ibv_wc_read_src_qp(cq);
			ret->slid = (uint16_t)ibv_wc_read_slid(cq);
			ret->sl = ibv_wc_read_sl(cq);
		}
	}
	ibv_end_poll(cq);
	return 1;
}

static int poll_one(struct rna_probe_verbs *verbs, struct ibv_wc *ret, uint64_t *ret_at)
{
	int count;

	if (verbs->cq_ex)
		return poll_with_clock(verbs, ret, ret_at);
	count = ibv_poll_cq(verbs->cq, 1, ret);
	*ret_at = now_nanoseconds();
	return count < 0 ? -EIO : count;
}

static void describe_received(struct rna_probe_verbs *verbs, const struct ibv_wc *completion,
			      struct rna_probe_event *ret)
{
	unsigned slot = (uint32_t)completion->wr_id % RECEIVES;
	const uint8_t *headers = verbs->memory + slot * verbs->slot_size;
	bool global = completion->wc_flags & IBV_WC_GRH;

	ret->received = true;
	verbs->returning = (int)slot;
	if (ret->failed)
		return;
	ret->data = headers + RNA_PACKET_HEADERS;
	ret->len = completion->byte_len < RNA_PACKET_HEADERS
			   ? 0
			   : completion->byte_len - RNA_PACKET_HEADERS;
	ret->way = rna_packet_way(headers, global);
	rna_packet_source(headers, global, ret->source);
	ret->source_lid = completion->slid;
	ret->source_qpn = completion->src_qp;
	ret->service_level = completion->sl;
}

int rna_probe_verbs_next(struct rna_probe_verbs *verbs, struct rna_probe_event *ret)
{
	struct ibv_wc completion;
	int status;

	if (verbs->returning >= 0) {
		status = post_receive(verbs, (unsigned)verbs->returning);
		if (status < 0)
			return status;
		verbs->returning = -1;
	}
	*ret = (struct rna_probe_event){0};
	status = poll_one(verbs, &completion, &ret->at);
	if (status <= 0)
		return status;
	ret->failed = completion.status != IBV_WC_SUCCESS;
	if (completion.status == IBV_WC_WR_FLUSH_ERR)
		return -EIO; /* the QP is in the error state */
	if (completion.wr_id >> 32 == RECEIVED) {
		describe_received(verbs, &completion, ret);
	} else {
		verbs->send_busy[(uint32_t)completion.wr_id % SENDS] = false;
		ret->id = (uint32_t)(completion.wr_id >> 32);
	}
	return 1;
}

bool rna_probe_verbs_is_lost(struct rna_probe_verbs *verbs, const char **ret_why)
{
	struct ibv_async_event event;
	bool lost = false;

	while (ibv_get_async_event(verbs->context, &event) == 0) {
		switch (event.event_type) {
		case IBV_EVENT_DEVICE_FATAL:
		case IBV_EVENT_QP_FATAL:
		case IBV_EVENT_CQ_ERR:
		case IBV_EVENT_SRQ_ERR:
		case IBV_EVENT_PORT_ERR:
		case IBV_EVENT_LID_CHANGE:
		case IBV_EVENT_PKEY_CHANGE:
		case IBV_EVENT_GID_CHANGE:
			lost = true;
			*ret_why = ibv_event_type_str(event.event_type);
			break;
		default:
			break;
		}
		ibv_ack_async_event(&event);
	}
	return lost;
}
