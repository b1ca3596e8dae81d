// SPDX-License-Identifier: Apache-2.0
#include "queue_pairs.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "rna/base/cleanup.h"
#include "rna/base/root.h"

#include "parse/pci_config.h"

#define DEVICES      "/sys/class/infiniband"
#define DEVICE_NODES "/dev/infiniband"

enum {
	SLOT_MEMORY = 2 << 20, /* bytes of each buffer, unless one write has more */
	RING_ENTRY = 128,      /* approximate bytes of a work request, to estimate locked memory */
	PKEY_FULL = 0x8000,    /* bit of full membership */
};

/* All objects of a test, in the order of their creation. */
struct rna_loopback_verbs {
	const struct rna_loopback_request *request;
	struct rna_loopback_result *result;
	struct ibv_context *context;
	struct ibv_port_attr port;
	int gid_index; /* -1: without a GRH */
	union ibv_gid gid;
	uint16_t pkey_index;
	uint16_t pkey; /* 0: RoCE */
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct rna_loopback_memory *memory;
	struct ibv_mr *mr;
	struct ibv_qp *writers[RNA_LOOPBACK_QPS_MAX];
	struct ibv_qp *targets[RNA_LOOPBACK_QPS_MAX]; /* of a port that is connected to itself */
	uint64_t remote_address;                      /* what is written to */
	uint32_t remote_key;
};

/* The object at the start of each text. */
#define PORT(verbs) (verbs)->request->device, (verbs)->request->port

/* -- Device and port --------------------------------------------------------------------------- */

static void free_list(struct ibv_device ***list)
{
	if (*list)
		ibv_free_device_list(*list);
}

/*
 * Opens the device node first, for its errno: ibv_open_device() tries several paths and reports
 * only the last error.
 */
static int try_node(const struct ibv_device *device)
{
	char path[sizeof(DEVICE_NODES "/") + sizeof(device->dev_name)];
	RNA_CLOSE int fd = -1;

	(void)snprintf(path, sizeof(path), DEVICE_NODES "/%s", device->dev_name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? errno : 0;
}

static bool open_device(struct rna_loopback_verbs *verbs, struct ibv_device *device)
{
	int error = try_node(device);

	if (device->transport_type != IBV_TRANSPORT_IB)
		return rna_loopback_skip(verbs->result, RNA_SKIP_TRANSPORT,
					 "%s/%u: has no RC connections of InfiniBand or RoCE",
					 PORT(verbs));
	if (error == EACCES || error == EPERM)
		return rna_loopback_skip(verbs->result, RNA_SKIP_DENIED,
					 "%s/%u: no right to open " DEVICE_NODES "/%s: %s",
					 PORT(verbs), device->dev_name, strerror(error));
	verbs->context = error ? NULL : ibv_open_device(device);
	if (!verbs->context)
		return rna_loopback_skip(verbs->result, RNA_SKIP_NO_DEVICE,
					 "%s/%u: cannot open " DEVICE_NODES "/%s: %s", PORT(verbs),
					 device->dev_name, strerror(error ? error : errno));
	return true;
}

/* A container may see devices in /sys without having their device nodes. */
static const char *why_unknown(const char *device)
{
	char path[sizeof(DEVICES "/") + RNA_LOOPBACK_NAME_MAX];

	(void)snprintf(path, sizeof(path), DEVICES "/%s", device);
	if (access(path, F_OK) < 0)
		return "";
	return ": there is no file of it in " DEVICE_NODES
	       ", or no provider library for its driver";
}

/* Check sysfs first: without an RDMA stack, libibverbs would make the kernel load ib_core. */
static bool find_device(struct rna_loopback_verbs *verbs)
{
	int count = 0;
	RNA_CLEANUP(free_list)
	struct ibv_device **list = access(DEVICES, X_OK) == 0 ? ibv_get_device_list(&count) : NULL;

	for (int i = 0; list && i < count; i++)
		if (strcmp(ibv_get_device_name(list[i]), verbs->request->device) == 0)
			return open_device(verbs, list[i]);
	return rna_loopback_skip(verbs->result, RNA_SKIP_NO_DEVICE,
				 "%s/%u: libibverbs knows no such device%s", PORT(verbs),
				 why_unknown(verbs->request->device));
}

/*
 * A port of InfiniBand may require a GRH (mlx5, by grh_required of its vport): without one the
 * kernel refuses the address with EINVAL (rdma_check_ah_attr() in drivers/infiniband/core/verbs.c
 * of Linux 6.12; ibv_modify_qp(3); perftest#393). GID 0 is the port's own, with
 * its GUID. RoCE ports all require one; there the choice is that of the request.
 */
static int choose_gid(const struct rna_loopback_verbs *verbs)
{
	bool own = verbs->port.link_layer != IBV_LINK_LAYER_ETHERNET &&
		   (verbs->port.flags & IBV_QPF_GRH_REQUIRED);

	return verbs->request->gid_index < 0 && own ? 0 : verbs->request->gid_index;
}

static bool look_at_gid(struct rna_loopback_verbs *verbs)
{
	int index = verbs->gid_index;
	union ibv_gid none = {0};

	if (index < 0 ||
	    ibv_query_gid(verbs->context, (uint8_t)verbs->request->port, index, &verbs->gid) < 0 ||
	    memcmp(&verbs->gid, &none, sizeof(none)) == 0)
		return rna_loopback_skip(verbs->result, RNA_SKIP_NO_GID,
					 "%s/%u: no GID at index %d to connect to", PORT(verbs),
					 index);
	return true;
}

/*
 * Both ends of the test are this port, and two limited members of a partition may not talk to each
 * other (IBTA 10.9). Subnet managers often put the limited 0x7fff at index 0; the kernel, too,
 * prefers an entry with full membership (ib_find_pkey() in drivers/infiniband/core/device.c of
 * Linux 6.12). The key of a partition has 15 bits; 0 marks an empty entry.
 */
static bool is_full_member(uint16_t pkey)
{
	return (pkey & PKEY_FULL) && (pkey & ~PKEY_FULL);
}

static bool choose_pkey(struct rna_loopback_verbs *verbs)
{
	unsigned readable = 0;
	__be16 pkey;

	for (uint16_t i = 0; i < verbs->port.pkey_tbl_len; i++) {
		if (ibv_query_pkey(verbs->context, (uint8_t)verbs->request->port, i, &pkey) < 0)
			continue;
		readable++;
		verbs->pkey_index = i;
		verbs->pkey = be16toh(pkey);
		if (is_full_member(be16toh(pkey)))
			return true;
	}
	return rna_loopback_skip(verbs->result, RNA_SKIP_NO_PKEY,
				 readable > 0 ? "%s/%u: is a full member of no partition, and "
						"limited members may not talk to each other"
					      : "%s/%u: its P_Key table cannot be read",
				 PORT(verbs));
}

static bool look_at_address(struct rna_loopback_verbs *verbs)
{
	bool ethernet = verbs->port.link_layer == IBV_LINK_LAYER_ETHERNET;

	verbs->gid_index = choose_gid(verbs);
	if (!ethernet && verbs->port.lid == 0)
		return rna_loopback_skip(verbs->result, RNA_SKIP_NO_GID,
					 "%s/%u: no LID: no subnet manager has given it one",
					 PORT(verbs));
	if ((ethernet || verbs->gid_index >= 0) && !look_at_gid(verbs))
		return false;
	return ethernet || choose_pkey(verbs);
}

static bool look_at_port(struct rna_loopback_verbs *verbs)
{
	int error = verbs->request->port > UINT8_MAX
			    ? EINVAL
			    : ibv_query_port(verbs->context, (uint8_t)verbs->request->port,
					     &verbs->port);

	if (error)
		return rna_loopback_skip(verbs->result, RNA_SKIP_NO_DEVICE,
					 "%s/%u: cannot ask for the port: %s", PORT(verbs),
					 strerror(error));
	if (verbs->port.state != IBV_PORT_ACTIVE)
		return rna_loopback_skip(verbs->result, RNA_SKIP_NOT_ACTIVE, "%s/%u: is %s",
					 PORT(verbs), ibv_port_state_str(verbs->port.state));
	return look_at_address(verbs);
}

/* -- Memory ------------------------------------------------------------------------------------ */

/* The pinned memory: both buffers, and the rings of QPs and CQ. */
static uint64_t locked_memory(const struct rna_loopback_verbs *verbs)
{
	return 2 * verbs->memory->size +
	       4 * (uint64_t)RING_ENTRY * verbs->request->depth * verbs->request->qps;
}

static bool no_memory(struct rna_loopback_verbs *verbs, const char *what)
{
	struct rlimit limit = {0};

	(void)getrlimit(RLIMIT_MEMLOCK, &limit);
	verbs->result->memlock_needed = locked_memory(verbs);
	if (limit.rlim_cur < verbs->result->memlock_needed)
		return rna_loopback_skip(
			verbs->result, RNA_SKIP_MEMLOCK,
			"%s/%u: cannot make %s: the test locks %" PRIu64
			" KiB of memory, RLIMIT_MEMLOCK allows %" PRIu64
			" KiB; raise it (LimitMEMLOCK= of a service, CAP_IPC_LOCK of a container)",
			PORT(verbs), what, verbs->result->memlock_needed >> 10,
			(uint64_t)limit.rlim_cur >> 10);
	return rna_loopback_skip(verbs->result, RNA_SKIP_NO_RESOURCES,
				 "%s/%u: cannot make %s: no memory", PORT(verbs), what);
}

/*
 * Classifies errno after kernel or provider failed to create an object. EAGAIN is the limit of the
 * rdma control group, or firmware without free objects (mlx5).
 */
static bool fail_creation(struct rna_loopback_verbs *verbs, const char *what)
{
	if (errno == ENOMEM)
		return no_memory(verbs, what);
	if (errno == EAGAIN)
		return rna_loopback_skip(verbs->result, RNA_SKIP_NO_RESOURCES,
					 "%s/%u: cannot make %s: there are too many", PORT(verbs),
					 what);
	if (errno == EOPNOTSUPP || errno == ENOSYS)
		return rna_loopback_skip(verbs->result, RNA_SKIP_TRANSPORT,
					 "%s/%u: its driver does not make %s for us", PORT(verbs),
					 what);
	return rna_loopback_fail(verbs->result, "%s/%u: cannot make %s: %s", PORT(verbs), what,
				 strerror(errno));
}

static struct ibv_mr *try_registration(const struct rna_loopback_verbs *verbs, bool relaxed)
{
	const struct rna_loopback_memory *memory = verbs->memory;
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		     (relaxed ? IBV_ACCESS_RELAXED_ORDERING : 0);

	if (memory->dma_buf >= 0)
		return ibv_reg_dmabuf_mr(verbs->pd, 0, 2 * memory->size, (uintptr_t)memory->source,
					 memory->dma_buf, access);
	return ibv_reg_mr(verbs->pd, memory->source, 2 * memory->size, (unsigned)access);
}

/* Whether the PCI function may use relaxed ordering: a bit that BIOS and kernel set. */
static struct rna_value look_at_ordering(const struct rna_loopback_verbs *verbs)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	char path[sizeof(DEVICES "//device") + RNA_LOOPBACK_NAME_MAX];
	struct rna_pci_config config;

	(void)snprintf(path, sizeof(path), DEVICES "/%s/device", verbs->request->device);
	if (rna_root_open(NULL, &root, NULL) < 0 || rna_pci_config_read(root, path, &config) < 0)
		return (struct rna_value){0};
	return config.relaxed_ordering;
}

/*
 * With relaxed ordering, as perftest (unless --disable_pcie_relaxed) and NCCL register memory: on
 * some platforms much less data passes without it. Writes to the same place may then arrive in any
 * order (ibv_reg_mr(3)), which does not matter here: the slots of a bandwidth test do not change,
 * and a latency round has one write of 8 bytes. ib_write_lat, whose writes can be larger, does
 * without it.
 *
 * The access flag is an optional one, which drivers ignore if they do not know it; a driver that
 * refuses it nevertheless gets a second try.
 */
static struct ibv_mr *register_memory(struct rna_loopback_verbs *verbs)
{
	bool relaxed = verbs->request->relaxed_ordering;
	struct ibv_mr *mr = try_registration(verbs, relaxed);

	if (!mr && relaxed && (errno == EINVAL || errno == EOPNOTSUPP)) {
		relaxed = false;
		mr = try_registration(verbs, relaxed);
	}
	verbs->result->relaxed_ordering = rna_value_ok(relaxed);
	return mr;
}

static bool get_memory(struct rna_loopback_verbs *verbs)
{
	size_t size = verbs->request->size > SLOT_MEMORY ? verbs->request->size : SLOT_MEMORY;

	if (!rna_loopback_memory_get(verbs->request, size, verbs->memory, verbs->result))
		return false;
	verbs->result->pci_relaxed_ordering = look_at_ordering(verbs);
	verbs->mr = register_memory(verbs);
	if (verbs->mr)
		return true;
	if (verbs->memory->cuda)
		return rna_loopback_skip(verbs->result, RNA_SKIP_NO_GPU,
					 "%s/%u: memory of GPU %s cannot be registered, %s: %s",
					 PORT(verbs), verbs->request->gpu,
					 verbs->memory->dma_buf >= 0 ? "as dma-buf"
								     : "without nvidia_peermem",
					 strerror(errno));
	return fail_creation(verbs, "a memory region");
}

/* -- Connections ------------------------------------------------------------------------------- */

static struct ibv_qp *make_qp(struct rna_loopback_verbs *verbs)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = verbs->cq,
		.recv_cq = verbs->cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = verbs->request->depth,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = verbs->memory->cuda ? 0 : RNA_LOOPBACK_SMALL},
	};

	return ibv_create_qp(verbs->pd, &attr);
}

static int to_init(struct rna_loopback_verbs *verbs, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.pkey_index = verbs->pkey_index,
		.port_num = (uint8_t)verbs->request->port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* The queue pair there is number i of the end. */
static int to_ready_to_receive(struct rna_loopback_verbs *verbs, struct ibv_qp *qp,
			       const struct rna_queue_pairs_end *end, unsigned i)
{
	const struct rna_loopback_request *request = verbs->request;
	enum ibv_mtu mtu = (enum ibv_mtu)end->mtu;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu < verbs->port.active_mtu ? mtu : verbs->port.active_mtu,
		.dest_qp_num = end->qpns[i],
		.rq_psn = end->psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.port_num = (uint8_t)request->port,
			    .dlid = end->lid,
			    .sl = (uint8_t)request->service_level,
			    .is_global = verbs->gid_index >= 0},
	};

	if (attr.ah_attr.is_global)
		attr.ah_attr.grh = (struct ibv_global_route){
			.sgid_index = (uint8_t)verbs->gid_index,
			.hop_limit = 64,
			.traffic_class = (uint8_t)request->traffic_class,
		};
	memcpy(&attr.ah_attr.grh.dgid, end->gid, sizeof(end->gid));
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

/* Timeout 14 is 67 ms; seven retries, as in perftest. */
static int to_ready_to_send(struct ibv_qp *qp, uint32_t psn)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = psn,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static bool make_writers(struct rna_loopback_verbs *verbs)
{
	for (unsigned i = 0; i < verbs->request->qps; i++) {
		verbs->writers[i] = make_qp(verbs);
		if (!verbs->writers[i])
			return fail_creation(verbs, "a queue pair");
	}
	return true;
}

void rna_loopback_verbs_describe(const struct rna_loopback_verbs *verbs, uint32_t psn,
				 struct rna_queue_pairs_end *ret)
{
	*ret = (struct rna_queue_pairs_end){
		.infiniband = verbs->port.link_layer != IBV_LINK_LAYER_ETHERNET,
		.lid = verbs->port.lid,
		.pkey = verbs->pkey,
		.mtu = verbs->port.active_mtu,
		.psn = psn,
		.key = verbs->mr->rkey,
		.address = (uintptr_t)verbs->memory->target,
		.room = verbs->memory->size,
		.count = verbs->request->qps,
	};
	if (verbs->gid_index >= 0)
		memcpy(ret->gid, &verbs->gid, sizeof(ret->gid));
	for (unsigned i = 0; i < ret->count; i++)
		ret->qpns[i] = verbs->writers[i]->qp_num;
}

/* Connects one queue pair of ours with number i of the end. 0 or errno. */
static int connect_one(struct rna_loopback_verbs *verbs, struct ibv_qp *qp,
		       const struct rna_queue_pairs_end *end, unsigned i)
{
	int error = to_init(verbs, qp);

	return error ? error : to_ready_to_receive(verbs, qp, end, i);
}

static bool fail_connection(struct rna_loopback_verbs *verbs, const char *to, int error)
{
	return rna_loopback_fail(verbs->result,
				 "%s/%u: cannot connect it to %s (GID index %d, P_Key index %u): "
				 "%s",
				 PORT(verbs), to, verbs->gid_index, verbs->pkey_index,
				 strerror(error));
}

/* The ends are writers and targets of the same port. */
static bool connect_pair(struct rna_loopback_verbs *verbs,
			 const struct rna_queue_pairs_end *writers,
			 const struct rna_queue_pairs_end *targets, unsigned i)
{
	int error = connect_one(verbs, verbs->writers[i], targets, i);

	if (!error)
		error = connect_one(verbs, verbs->targets[i], writers, i);
	if (!error)
		error = to_ready_to_send(verbs->writers[i], 0);
	if (!error)
		error = to_ready_to_send(verbs->targets[i], 0);
	return error ? fail_connection(verbs, "itself", error) : true;
}

static bool connect_to_itself(struct rna_loopback_verbs *verbs)
{
	struct rna_queue_pairs_end writers, targets;

	rna_loopback_verbs_describe(verbs, 0, &writers);
	targets = writers;
	for (unsigned i = 0; i < verbs->request->qps; i++) {
		verbs->targets[i] = make_qp(verbs);
		if (!verbs->targets[i])
			return fail_creation(verbs, "a queue pair");
		targets.qpns[i] = verbs->targets[i]->qp_num;
		if (!connect_pair(verbs, &writers, &targets, i))
			return false;
	}
	verbs->remote_address = targets.address;
	verbs->remote_key = targets.key;
	return true;
}

bool rna_loopback_verbs_connect(struct rna_loopback_verbs *verbs, uint32_t psn,
				const struct rna_queue_pairs_end *end)
{
	for (unsigned i = 0; i < verbs->request->qps && i < end->count; i++) {
		int error = connect_one(verbs, verbs->writers[i], end, i);

		if (!error)
			error = to_ready_to_send(verbs->writers[i], psn);
		if (error)
			return fail_connection(verbs, "the other node", error);
	}
	verbs->remote_address = end->address;
	verbs->remote_key = end->key;
	return true;
}

/* -- Writes ------------------------------------------------------------------------------------ */

static bool fits_inline(const struct rna_loopback_verbs *verbs, uint32_t size)
{
	return size <= RNA_LOOPBACK_SMALL && !verbs->memory->cuda;
}

bool rna_loopback_post(struct rna_loopback_verbs *verbs, unsigned qp, const size_t *offsets,
		       unsigned count, uint32_t size)
{
	struct ibv_sge pieces[RNA_LOOPBACK_BATCH_MAX];
	struct ibv_send_wr writes[RNA_LOOPBACK_BATCH_MAX];
	struct ibv_send_wr *bad;
	int error;

	for (unsigned i = 0; i < count; i++) {
		pieces[i] = (struct ibv_sge){
			.addr = (uintptr_t)verbs->memory->source + offsets[i],
			.length = size,
			.lkey = verbs->mr->lkey,
		};
		writes[i] = (struct ibv_send_wr){
			.wr_id = (uint64_t)count << 32 | qp,
			.next = i + 1 < count ? &writes[i + 1] : NULL,
			.sg_list = &pieces[i],
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = fits_inline(verbs, size) ? IBV_SEND_INLINE : 0,
			.wr.rdma = {.remote_addr = verbs->remote_address + offsets[i],
				    .rkey = verbs->remote_key},
		};
	}
	writes[count - 1].send_flags |= IBV_SEND_SIGNALED;
	error = ibv_post_send(verbs->writers[qp], writes, &bad);
	if (error)
		return rna_loopback_fail(verbs->result, "%s/%u: cannot post a write: %s",
					 PORT(verbs), strerror(error));
	return true;
}

static int write_failed(struct rna_loopback_verbs *verbs, const struct ibv_wc *completion)
{
	verbs->result->completion_status = completion->status;
	verbs->result->vendor_error = completion->vendor_err;
	(void)rna_loopback_fail(verbs->result,
				"%s/%u: a write failed: %s (status %d, vendor error 0x%x)",
				PORT(verbs), ibv_wc_status_str(completion->status),
				completion->status, completion->vendor_err);
	return -1;
}

int rna_loopback_poll(struct rna_loopback_verbs *verbs,
		      struct rna_loopback_batch ret[RNA_LOOPBACK_BATCH_MAX])
{
	struct ibv_wc completions[RNA_LOOPBACK_BATCH_MAX];
	int count = ibv_poll_cq(verbs->cq, RNA_LOOPBACK_BATCH_MAX, completions);

	if (count < 0)
		(void)rna_loopback_fail(verbs->result, "%s/%u: cannot poll for completions",
					PORT(verbs));
	for (int i = 0; i < count; i++) {
		if (completions[i].status != IBV_WC_SUCCESS)
			return write_failed(verbs, &completions[i]);
		ret[i].qp = (uint32_t)completions[i].wr_id;
		ret[i].count = (unsigned)(completions[i].wr_id >> 32);
	}
	return count;
}

/* -- The whole --------------------------------------------------------------------------------- */

static bool make(struct rna_loopback_verbs *verbs)
{
	int completions = (int)(verbs->request->depth * verbs->request->qps) + 1;

	if (!find_device(verbs) || !look_at_port(verbs))
		return false;
	verbs->pd = ibv_alloc_pd(verbs->context);
	if (!verbs->pd)
		return fail_creation(verbs, "a protection domain");
	verbs->cq = ibv_create_cq(verbs->context, completions, NULL, NULL, 0);
	if (!verbs->cq)
		return fail_creation(verbs, "a completion queue");
	return get_memory(verbs) && make_writers(verbs);
}

struct rna_loopback_verbs *rna_loopback_verbs_make(const struct rna_loopback_request *request,
						   struct rna_loopback_memory *memory,
						   struct rna_loopback_result *result)
{
	struct rna_loopback_verbs *verbs = calloc(1, sizeof(*verbs));

	if (!verbs) {
		(void)rna_loopback_skip(result, RNA_SKIP_NO_RESOURCES, "%s/%u: no memory",
					request->device, request->port);
		return NULL;
	}
	verbs->request = request;
	verbs->memory = memory;
	verbs->result = result;
	return make(verbs) ? verbs : rna_loopback_verbs_close(verbs);
}

struct rna_loopback_verbs *rna_loopback_verbs_open(const struct rna_loopback_request *request,
						   struct rna_loopback_memory *memory,
						   struct rna_loopback_result *result)
{
	struct rna_loopback_verbs *verbs = rna_loopback_verbs_make(request, memory, result);

	return verbs && connect_to_itself(verbs) ? verbs : rna_loopback_verbs_close(verbs);
}

struct rna_loopback_verbs *rna_loopback_verbs_close(struct rna_loopback_verbs *verbs)
{
	for (unsigned i = 0; verbs && i < RNA_LOOPBACK_QPS_MAX; i++) {
		if (verbs->writers[i])
			(void)ibv_destroy_qp(verbs->writers[i]);
		if (verbs->targets[i])
			(void)ibv_destroy_qp(verbs->targets[i]);
	}
	if (verbs && verbs->mr)
		(void)ibv_dereg_mr(verbs->mr);
	if (verbs && verbs->cq)
		(void)ibv_destroy_cq(verbs->cq);
	if (verbs && verbs->pd)
		(void)ibv_dealloc_pd(verbs->pd);
	if (verbs && verbs->context)
		(void)ibv_close_device(verbs->context);
	free(verbs);
	return NULL;
}
