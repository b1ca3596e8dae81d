// SPDX-License-Identifier: Apache-2.0
/*
 * loopback: two ends of RC connections on one port, and what goes from one to the other.
 *
 * Each connection has a QP that writes and one that is written to. Writes are posted in batches, of
 * which only the last one is signaled; that is what keeps the CPU out of the result. The clock
 * runs from the first batch behind the warm-up to the last completion. Nothing is left running when
 * the time is over: what was posted is waited for.
 */
#include "rna/loopback.h"

#include "loopback_gate.h"
#include "loopback_memory.h"
#include "rna/cleanup.h"
#include "rna/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define DEVICES      "/sys/class/infiniband"
#define DEVICE_NODES "/dev/infiniband"
#define PATIENCE     (5 * RNA_USEC_PER_SEC) /* for a completion: seven retries are over by then */
#define LOOK_AGAIN   RNA_USEC_PER_SEC       /* whether somebody else uses the port by now */

enum {
	BATCH_MAX = 32,        /* writes for one completion */
	SLOT_MEMORY = 2 << 20, /* bytes of each buffer, unless one write has more */
	SMALL = 8,             /* bytes of a write whose latency counts */
	LATENCY_WARM_UP = 16,  /* rounds */
	RING_ENTRY = 128,      /* bytes of a work request, about, for the sum of locked memory */
	NSEC_PER_SEC = 1000000000,
	NSEC_PER_USEC = 1000,
};

/* All that a test has made, in the order in which it was made. */
struct loop {
	const struct rna_loopback_request *request;
	struct rna_loopback_result *result;
	struct rna_loopback_gate gate;
	struct ibv_context *context;
	struct ibv_port_attr port;
	union ibv_gid gid;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct rna_loopback_memory memory;
	struct ibv_mr *mr;
	struct ibv_qp *writers[RNA_LOOPBACK_QPS_MAX];
	struct ibv_qp *targets[RNA_LOOPBACK_QPS_MAX];
	/* of the bandwidth test: */
	unsigned batch; /* writes in one */
	unsigned slots; /* places in a buffer that a write goes to, in turn */
	unsigned slot;
	unsigned under_way[RNA_LOOPBACK_QPS_MAX]; /* batches */
	uint64_t posted;                          /* writes in all */
};

static void loop_free(struct loop *loop)
{
	for (unsigned i = 0; i < RNA_LOOPBACK_QPS_MAX; i++) {
		if (loop->writers[i])
			(void)ibv_destroy_qp(loop->writers[i]);
		if (loop->targets[i])
			(void)ibv_destroy_qp(loop->targets[i]);
	}
	if (loop->mr)
		(void)ibv_dereg_mr(loop->mr);
	rna_loopback_memory_free(&loop->memory);
	if (loop->cq)
		(void)ibv_destroy_cq(loop->cq);
	if (loop->pd)
		(void)ibv_dealloc_pd(loop->pd);
	if (loop->context)
		(void)ibv_close_device(loop->context);
	rna_loopback_gate_close(&loop->gate);
	*loop = (struct loop){.gate = RNA_LOOPBACK_GATE_INIT, .memory = RNA_LOOPBACK_MEMORY_INIT};
}

/* The object in front of each text. */
#define PORT(loop) (loop)->request->device, (loop)->request->port

/* ---- device and port ------------------------------------------------------------------------- */

static void free_list(struct ibv_device ***list)
{
	if (*list)
		ibv_free_device_list(*list);
}

/*
 * Asked first: ibv_open_device() tries several ways to the node, and its errno is of the last one.
 */
static int try_node(const struct ibv_device *device)
{
	char path[sizeof(DEVICE_NODES "/") + sizeof(device->dev_name)];
	RNA_CLOSE int fd = -1;

	(void)snprintf(path, sizeof(path), DEVICE_NODES "/%s", device->dev_name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? errno : 0;
}

static bool open_device(struct loop *loop, struct ibv_device *device)
{
	int error = try_node(device);

	if (device->transport_type != IBV_TRANSPORT_IB)
		return rna_loopback_skip(loop->result, RNA_SKIP_TRANSPORT,
					 "%s/%u: has no RC connections of InfiniBand or RoCE",
					 PORT(loop));
	if (error == EACCES || error == EPERM)
		return rna_loopback_skip(loop->result, RNA_SKIP_DENIED,
					 "%s/%u: no right to open " DEVICE_NODES "/%s: %s",
					 PORT(loop), device->dev_name, strerror(error));
	loop->context = error ? NULL : ibv_open_device(device);
	if (!loop->context)
		return rna_loopback_skip(loop->result, RNA_SKIP_NO_DEVICE,
					 "%s/%u: cannot open " DEVICE_NODES "/%s: %s", PORT(loop),
					 device->dev_name, strerror(error ? error : errno));
	return true;
}

/* A container may see devices in /sys, and not have what it takes to use them. */
static const char *why_unknown(const char *device)
{
	char path[sizeof(DEVICES "/") + RNA_LOOPBACK_NAME_MAX];

	(void)snprintf(path, sizeof(path), DEVICES "/%s", device);
	if (access(path, F_OK) < 0)
		return "";
	return ": there is no file of it in " DEVICE_NODES
	       ", or no provider library for its driver";
}

/* libibverbs would make the kernel load ib_core where there is no stack. */
static bool find_device(struct loop *loop)
{
	int count = 0;
	RNA_CLEANUP(free_list)
	struct ibv_device **list = access(DEVICES, X_OK) == 0 ? ibv_get_device_list(&count) : NULL;

	for (int i = 0; list && i < count; i++)
		if (strcmp(ibv_get_device_name(list[i]), loop->request->device) == 0)
			return open_device(loop, list[i]);
	return rna_loopback_skip(loop->result, RNA_SKIP_NO_DEVICE,
				 "%s/%u: libibverbs knows no such device%s", PORT(loop),
				 why_unknown(loop->request->device));
}

static bool look_at_gid(struct loop *loop)
{
	int index = loop->request->gid_index;
	union ibv_gid none = {0};

	if (index < 0 ||
	    ibv_query_gid(loop->context, (uint8_t)loop->request->port, index, &loop->gid) < 0 ||
	    memcmp(&loop->gid, &none, sizeof(none)) == 0)
		return rna_loopback_skip(loop->result, RNA_SKIP_NO_GID,
					 "%s/%u: no GID at index %d to connect to", PORT(loop),
					 index);
	return true;
}

static bool look_at_port(struct loop *loop)
{
	int error =
		loop->request->port > UINT8_MAX
			? EINVAL
			: ibv_query_port(loop->context, (uint8_t)loop->request->port, &loop->port);

	if (error)
		return rna_loopback_skip(loop->result, RNA_SKIP_NO_DEVICE,
					 "%s/%u: cannot ask for the port: %s", PORT(loop),
					 strerror(error));
	if (loop->port.state != IBV_PORT_ACTIVE)
		return rna_loopback_skip(loop->result, RNA_SKIP_NOT_ACTIVE, "%s/%u: is %s",
					 PORT(loop), ibv_port_state_str(loop->port.state));
	if (loop->port.link_layer == IBV_LINK_LAYER_ETHERNET || loop->request->gid_index >= 0)
		return look_at_gid(loop);
	if (loop->port.lid == 0)
		return rna_loopback_skip(loop->result, RNA_SKIP_NO_GID,
					 "%s/%u: no LID: no subnet manager has given it one",
					 PORT(loop));
	return true;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What is pinned: both buffers, and the rings of QPs and CQ. */
static uint64_t locked_memory(const struct loop *loop)
{
	return 2 * loop->memory.size +
	       4 * (uint64_t)RING_ENTRY * loop->request->depth * loop->request->qps;
}

static bool no_memory(struct loop *loop, const char *what)
{
	struct rlimit limit = {0};

	(void)getrlimit(RLIMIT_MEMLOCK, &limit);
	loop->result->memlock_needed = locked_memory(loop);
	if (limit.rlim_cur < loop->result->memlock_needed)
		return rna_loopback_skip(
			loop->result, RNA_SKIP_MEMLOCK,
			"%s/%u: cannot make %s: the test locks %" PRIu64
			" KiB of memory, RLIMIT_MEMLOCK allows %" PRIu64
			" KiB; raise it (LimitMEMLOCK= of a service, CAP_IPC_LOCK of a container)",
			PORT(loop), what, loop->result->memlock_needed >> 10,
			(uint64_t)limit.rlim_cur >> 10);
	return rna_loopback_fail(loop->result, "%s/%u: cannot make %s: no memory", PORT(loop),
				 what);
}

/* errno says why the kernel, or the provider, did not make something. */
static bool not_made(struct loop *loop, const char *what)
{
	if (errno == ENOMEM)
		return no_memory(loop, what);
	if (errno == EOPNOTSUPP || errno == ENOSYS)
		return rna_loopback_skip(loop->result, RNA_SKIP_TRANSPORT,
					 "%s/%u: its driver does not make %s for us", PORT(loop),
					 what);
	return rna_loopback_fail(loop->result, "%s/%u: cannot make %s: %s", PORT(loop), what,
				 strerror(errno));
}

static struct ibv_mr *register_memory(struct loop *loop)
{
	struct rna_loopback_memory *memory = &loop->memory;
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	if (memory->dma_buf >= 0)
		return ibv_reg_dmabuf_mr(loop->pd, 0, 2 * memory->size, (uintptr_t)memory->source,
					 memory->dma_buf, access);
	return ibv_reg_mr(loop->pd, memory->source, 2 * memory->size, (unsigned)access);
}

static bool get_memory(struct loop *loop)
{
	size_t size = max_u64(loop->request->size, SLOT_MEMORY);

	if (!rna_loopback_memory_get(loop->request, size, &loop->memory, loop->result))
		return false;
	loop->mr = register_memory(loop);
	if (loop->mr)
		return true;
	if (loop->memory.cuda)
		return rna_loopback_skip(loop->result, RNA_SKIP_NO_GPU,
					 "%s/%u: memory of GPU %s cannot be registered, %s: %s",
					 PORT(loop), loop->request->gpu,
					 loop->memory.dma_buf >= 0 ? "as dma-buf"
								   : "without nvidia_peermem",
					 strerror(errno));
	return not_made(loop, "a memory region");
}

/* ---- connections ----------------------------------------------------------------------------- */

static struct ibv_qp *make_qp(struct loop *loop)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = loop->cq,
		.recv_cq = loop->cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = loop->request->depth,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = loop->memory.cuda ? 0 : SMALL},
	};

	return ibv_create_qp(loop->pd, &attr);
}

static int to_init(struct loop *loop, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = (uint8_t)loop->request->port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int to_ready_to_receive(struct loop *loop, struct ibv_qp *qp, const struct ibv_qp *peer)
{
	const struct rna_loopback_request *request = loop->request;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = loop->port.active_mtu,
		.dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.port_num = (uint8_t)request->port,
			    .dlid = loop->port.lid,
			    .sl = (uint8_t)request->service_level,
			    .is_global = request->gid_index >= 0},
	};

	if (attr.ah_attr.is_global)
		attr.ah_attr.grh = (struct ibv_global_route){
			.dgid = loop->gid,
			.sgid_index = (uint8_t)request->gid_index,
			.hop_limit = 64,
			.traffic_class = (uint8_t)request->traffic_class,
		};
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

/* Timeout 14 is 67 ms; seven retries, as perftest has it. */
static int to_ready_to_send(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static bool connect_pair(struct loop *loop, struct ibv_qp *writer, struct ibv_qp *target)
{
	int error = to_init(loop, writer);

	if (!error)
		error = to_init(loop, target);
	if (!error)
		error = to_ready_to_receive(loop, writer, target);
	if (!error)
		error = to_ready_to_receive(loop, target, writer);
	if (!error)
		error = to_ready_to_send(writer);
	if (!error)
		error = to_ready_to_send(target);
	if (error)
		return rna_loopback_fail(loop->result, "%s/%u: cannot connect it to itself: %s",
					 PORT(loop), strerror(error));
	return true;
}

static bool connect_all(struct loop *loop)
{
	for (unsigned i = 0; i < loop->request->qps; i++) {
		loop->writers[i] = make_qp(loop);
		if (loop->writers[i])
			loop->targets[i] = make_qp(loop);
		if (!loop->targets[i])
			return not_made(loop, "a queue pair");
		if (!connect_pair(loop, loop->writers[i], loop->targets[i]))
			return false;
	}
	return true;
}

static bool make(struct loop *loop)
{
	int completions = (int)(loop->request->depth * loop->request->qps) + 1;

	if (!find_device(loop) || !look_at_port(loop))
		return false;
	loop->pd = ibv_alloc_pd(loop->context);
	if (!loop->pd)
		return not_made(loop, "a protection domain");
	loop->cq = ibv_create_cq(loop->context, completions, NULL, NULL, 0);
	if (!loop->cq)
		return not_made(loop, "a completion queue");
	return get_memory(loop) && connect_all(loop);
}

/* ---- writing --------------------------------------------------------------------------------- */

static struct ibv_sge piece(const struct loop *loop, size_t offset, uint32_t len)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)loop->memory.source + offset,
		.length = len,
		.lkey = loop->mr->lkey,
	};
}

static struct ibv_send_wr write_to_target(const struct loop *loop, struct ibv_sge *from)
{
	return (struct ibv_send_wr){
		.sg_list = from,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {.remote_addr = from->addr + loop->memory.size, .rkey = loop->mr->rkey},
	};
}

static bool not_posted(struct loop *loop, int error)
{
	return rna_loopback_fail(loop->result, "%s/%u: cannot post a write: %s", PORT(loop),
				 strerror(error));
}

/* A batch of writes on QP number qp, each to the next slot; the last one is signaled. */
static bool post_batch(struct loop *loop, unsigned qp)
{
	struct ibv_sge pieces[BATCH_MAX];
	struct ibv_send_wr writes[BATCH_MAX];
	struct ibv_send_wr *bad;
	int error;

	for (unsigned i = 0; i < loop->batch; i++) {
		pieces[i] =
			piece(loop, (size_t)loop->slot * loop->request->size, loop->request->size);
		writes[i] = write_to_target(loop, &pieces[i]);
		writes[i].next = i + 1 < loop->batch ? &writes[i + 1] : NULL;
		loop->slot = (loop->slot + 1) % loop->slots;
	}
	writes[loop->batch - 1].send_flags = IBV_SEND_SIGNALED;
	writes[loop->batch - 1].wr_id = qp;
	error = ibv_post_send(loop->writers[qp], writes, &bad);
	if (error)
		return not_posted(loop, error);
	loop->under_way[qp]++;
	loop->posted += loop->batch;
	return true;
}

static bool is_good(struct loop *loop, const struct ibv_wc *completion)
{
	if (completion->status == IBV_WC_SUCCESS)
		return true;
	loop->result->completion_status = completion->status;
	loop->result->vendor_error = completion->vendor_err;
	return rna_loopback_fail(loop->result,
				 "%s/%u: a write failed: %s (status %d, vendor error 0x%x)",
				 PORT(loop), ibv_wc_status_str(completion->status),
				 completion->status, completion->vendor_err);
}

/* What is complete by now: how many, or -1 when the test has failed. */
static int reap(struct loop *loop)
{
	struct ibv_wc completions[BATCH_MAX];
	int count = ibv_poll_cq(loop->cq, BATCH_MAX, completions);

	if (count < 0)
		(void)rna_loopback_fail(loop->result, "%s/%u: cannot poll for completions",
					PORT(loop));
	for (int i = 0; i < count; i++) {
		if (!is_good(loop, &completions[i]))
			return -1;
		loop->under_way[completions[i].wr_id]--;
	}
	return count;
}

static bool not_complete(struct loop *loop)
{
	return rna_loopback_fail(loop->result, "%s/%u: a write was not complete after %u s",
				 PORT(loop), (unsigned)(PATIENCE / RNA_USEC_PER_SEC));
}

/* Polls until something is complete. False: the test has failed. */
static bool await(struct loop *loop)
{
	rna_usec begin = rna_clock_monotonic();
	int count = reap(loop);

	while (count == 0) {
		if (rna_usec_since(begin, rna_clock_monotonic()) > PATIENCE)
			return not_complete(loop);
		count = reap(loop);
	}
	return count > 0;
}

static bool anything_under_way(const struct loop *loop)
{
	for (unsigned i = 0; i < loop->request->qps; i++)
		if (loop->under_way[i] > 0)
			return true;
	return false;
}

static bool drain(struct loop *loop)
{
	while (anything_under_way(loop))
		if (!await(loop))
			return false;
	return true;
}

/* Keeps all QPs full until that many writes were posted or the time has come. */
static bool write_until(struct loop *loop, uint64_t writes, rna_usec end)
{
	unsigned full = loop->request->depth / loop->batch;

	while (loop->posted < writes && rna_clock_monotonic() < end) {
		for (unsigned i = 0; i < loop->request->qps; i++)
			while (loop->under_way[i] < full && loop->posted < writes)
				if (!post_batch(loop, i))
					return false;
		if (!await(loop))
			return false;
	}
	return true;
}

static bool holds(struct loop *loop)
{
	return rna_loopback_gate_holds(&loop->gate, loop->posted * loop->request->size,
				       loop->result);
}

/*
 * Looks in the middle, and once a second, whether it is still alone, while the queues are full: the
 * sooner it gives way, the better for who has come.
 */
static bool write_measured(struct loop *loop, uint64_t writes, rna_usec begin)
{
	rna_usec end = begin + loop->request->time_limit, now = begin;
	rna_usec step = min_u64(loop->request->time_limit / 2, LOOK_AGAIN);
	uint64_t last = loop->posted + writes;

	for (;;) {
		uint64_t half = loop->posted + (writes + 1) / 2;

		if (!write_until(loop, min_u64(half, last), min_u64(now + step, end)))
			return false;
		now = rna_clock_monotonic();
		if (loop->posted >= last || now >= end)
			return drain(loop);
		if (!holds(loop))
			return false;
	}
}

/* ---- the two tests --------------------------------------------------------------------------- */

static bool compare(struct loop *loop, size_t len)
{
	int same = rna_loopback_memory_compare(&loop->memory, len);

	if (same < 0)
		return rna_loopback_fail(loop->result, "%s/%u: cannot read what was written: %s",
					 PORT(loop), strerror(-same));
	if (same)
		return true;
	(void)rna_loopback_fail(loop->result,
				"%s/%u: what was written is not what arrived: data is corrupted "
				"between memory, PCIe and HCA",
				PORT(loop));
	loop->result->end = RNA_LOOPBACK_CORRUPT;
	return false;
}

static bool fill(struct loop *loop)
{
	int status = rna_loopback_memory_fill(&loop->memory);

	if (status < 0)
		return rna_loopback_fail(loop->result, "%s/%u: cannot fill the buffers: %s",
					 PORT(loop), strerror(-status));
	return true;
}

static unsigned clamp(uint64_t value, unsigned least, unsigned most)
{
	return value < least ? least : value > most ? most : (unsigned)value;
}

/* The warm-up fills all queues once. What it and the test wrote is compared at the end. */
static bool test_bandwidth(struct loop *loop)
{
	const struct rna_loopback_request *request = loop->request;
	uint64_t writes, before;
	rna_usec begin, time;

	loop->slots = (unsigned)(loop->memory.size / request->size);
	loop->batch = clamp(request->depth / 4, 1, BATCH_MAX);
	writes = max_u64(request->bytes / request->size, 2 * loop->batch);
	begin = rna_clock_monotonic();
	if (!write_until(loop, (uint64_t)loop->batch * request->qps, begin + request->time_limit) ||
	    !drain(loop))
		return false;
	before = loop->posted;
	rna_loopback_gate_begin(&loop->gate, before * request->size);
	begin = rna_clock_monotonic();
	if (!write_measured(loop, writes, begin))
		return false;
	time = rna_usec_since(begin, rna_clock_monotonic());
	if (!holds(loop))
		return false;
	loop->result->bytes += loop->posted * request->size;
	if (time > 0)
		loop->result->bandwidth = (uint64_t)((double)(loop->posted - before) *
						     request->size * 1e6 / (double)time);
	return compare(loop, (size_t)clamp(loop->posted, 0, loop->slots) * request->size);
}

static uint64_t now_nsec(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with this clock */
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

/* One small write of number; how long until it can be read at the other end, 0: it failed. */
static uint64_t ping(struct loop *loop, uint64_t number)
{
	volatile uint64_t *from = (uint64_t *)loop->memory.source;
	volatile uint64_t *to = (uint64_t *)loop->memory.target;
	struct ibv_sge small = piece(loop, 0, SMALL);
	struct ibv_send_wr write = write_to_target(loop, &small);
	struct ibv_send_wr *bad;
	uint64_t begin, end;
	int error, complete = 0;

	write.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	*from = number;
	begin = now_nsec();
	error = ibv_post_send(loop->writers[0], &write, &bad);
	if (error)
		return not_posted(loop, error);
	loop->under_way[0]++;
	while (*to != number && complete == 0) {
		if (now_nsec() - begin > PATIENCE * NSEC_PER_USEC)
			return not_complete(loop);
		complete = reap(loop);
	}
	end = now_nsec();
	if (complete < 0 || !drain(loop))
		return 0;
	loop->result->bytes += SMALL;
	return max_u64(end - begin, 1);
}

/* Of a GPU's memory we cannot see when something is there. */
static bool test_latency(struct loop *loop)
{
	unsigned rounds = loop->memory.cuda ? 0 : loop->request->latency_rounds;
	RNA_FREE uint64_t *times = calloc(rounds + 1, sizeof(*times));
	rna_usec end = rna_clock_monotonic() + loop->request->time_limit;
	unsigned count = 0;

	if (!times)
		return rna_loopback_fail(loop->result, "%s/%u: no memory", PORT(loop));
	for (uint64_t i = 1; rounds > 0 && i <= LATENCY_WARM_UP; i++)
		if (ping(loop, i) == 0)
			return false;
	while (count < rounds && rna_clock_monotonic() < end) {
		times[count] = ping(loop, LATENCY_WARM_UP + 1 + count);
		if (times[count++] == 0)
			return false;
	}
	if (count == 0)
		return true;
	qsort(times, count, sizeof(*times), rna_compare_u64);
	loop->result->latency_median = times[count / 2];
	loop->result->latency_p99 = times[(uint64_t)count * 99 / 100];
	return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool is_sane(const struct rna_loopback_request *request, struct rna_loopback_result *result)
{
	if (request->size >= SMALL && request->size <= INT_MAX && request->time_limit > 0 &&
	    request->qps > 0 && request->qps <= RNA_LOOPBACK_QPS_MAX && request->depth > 0 &&
	    request->depth <= INT16_MAX && request->endpoint < RNA_ENDPOINT_COUNT &&
	    memchr(request->device, '\0', sizeof(request->device)) &&
	    memchr(request->gpu, '\0', sizeof(request->gpu)))
		return true;
	return rna_loopback_fail(result, "the request for a loopback test makes no sense");
}

void rna_loopback_run(const struct rna_loopback_request *request, struct rna_loopback_result *ret)
{
	rna_usec begin = rna_clock_monotonic();
	RNA_CLEANUP(loop_free)
	struct loop loop = {
		.request = request,
		.result = ret,
		.gate = RNA_LOOPBACK_GATE_INIT,
		.memory = RNA_LOOPBACK_MEMORY_INIT,
	};

	*ret = (struct rna_loopback_result){.end = RNA_LOOPBACK_FAILED};
	if (is_sane(request, ret) && rna_loopback_gate_open(request, &loop.gate, ret) &&
	    make(&loop) && fill(&loop) && test_bandwidth(&loop) && test_latency(&loop))
		ret->end = RNA_LOOPBACK_DONE;
	loop_free(&loop);
	ret->duration = rna_usec_since(begin, rna_clock_monotonic());
}
