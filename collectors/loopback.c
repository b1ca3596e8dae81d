// SPDX-License-Identifier: Apache-2.0
/*
 * loopback: what is written from one end of RC connections on a port to the other, and how fast it
 * arrives.
 *
 * Writes are posted in batches, of which only the last one is signaled; that is what keeps the CPU
 * out of the result. The clock runs from the first batch behind the warm-up to the last completion.
 * Nothing is left running when the time is over: what was posted is waited for.
 */
#include "rna/loopback.h"

#include "loopback_gate.h"
#include "loopback_memory.h"
#include "loopback_verbs.h"
#include "rna/cleanup.h"
#include "rna/parse.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#define PATIENCE   (5 * RNA_USEC_PER_SEC) /* for a completion: seven retries are over by then */
#define LOOK_AGAIN RNA_USEC_PER_SEC       /* whether somebody else uses the port by now */
/*
 * Too short for a look in its midst. For some HCAs each counter is a command to the firmware
 * (mlx5), which may take longer than what is under way: queues that run dry would count as
 * slowness.
 */
#define SHORT (20 * RNA_USEC_PER_MSEC)

enum {
	POLLS = 256,          /* between two looks at the clock, which may cost more than they do */
	LATENCY_WARM_UP = 16, /* rounds */
	NSEC_PER_SEC = 1000000000,
	NSEC_PER_USEC = 1000,
};

struct loop {
	const struct rna_loopback_request *request;
	struct rna_loopback_result *result;
	struct rna_loopback_gate gate;
	struct rna_loopback_memory memory;
	struct rna_loopback_verbs *verbs;
	/* of the bandwidth test: */
	unsigned batch; /* writes in one */
	unsigned slots; /* places in a buffer that writes go to, in turn */
	unsigned slot;
	unsigned under_way[RNA_LOOPBACK_QPS_MAX]; /* batches */
	uint64_t posted;                          /* writes in all */
};

/* Regions before the memory that they are of. */
static void loop_free(struct loop *loop)
{
	loop->verbs = rna_loopback_verbs_close(loop->verbs);
	rna_loopback_memory_free(&loop->memory);
}

/* The object in front of each text. */
#define PORT(loop) (loop)->request->device, (loop)->request->port

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A batch of writes on QP number qp, each to the next slot. */
static bool post_batch(struct loop *loop, unsigned qp)
{
	size_t offsets[RNA_LOOPBACK_BATCH_MAX];

	for (unsigned i = 0; i < loop->batch; i++) {
		offsets[i] = (size_t)loop->slot * loop->request->size;
		loop->slot = (loop->slot + 1) % loop->slots;
	}
	if (!rna_loopback_post(loop->verbs, qp, offsets, loop->batch, loop->request->size))
		return false;
	loop->under_way[qp]++;
	loop->posted += loop->batch;
	return true;
}

/* What is complete by now: how many batches, or -1 when the test has failed. */
static int reap(struct loop *loop)
{
	unsigned complete[RNA_LOOPBACK_BATCH_MAX];
	int count = rna_loopback_poll(loop->verbs, complete);

	for (int i = 0; i < count; i++)
		loop->under_way[complete[i]]--;
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

	for (unsigned polls = 1; count == 0; polls++) {
		if (polls % POLLS == 0 && rna_usec_since(begin, rna_clock_monotonic()) > PATIENCE)
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
 * sooner it gives way, the better for who has come. A short test is over before that helps anybody,
 * and is looked at when it has ended.
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
		if (now - begin >= SHORT / 2 && !holds(loop))
			return false;
	}
}

/* ---- the two tests --------------------------------------------------------------------------- */

static bool no_memory(struct loop *loop)
{
	return rna_loopback_skip(loop->result, RNA_SKIP_NO_RESOURCES, "%s/%u: no memory",
				 PORT(loop));
}

static bool compare(struct loop *loop, size_t len)
{
	int same = rna_loopback_memory_compare(&loop->memory, len);

	if (same == -ENOMEM)
		return no_memory(loop);
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

	if (status == -ENOMEM)
		return no_memory(loop);
	if (status < 0)
		return rna_loopback_fail(loop->result, "%s/%u: cannot fill the buffers: %s",
					 PORT(loop), strerror(-status));
	return true;
}

static unsigned clamp(uint64_t value, unsigned least, unsigned most)
{
	return value < least ? least : value > most ? most : (unsigned)value;
}

/*
 * Writes to all of the buffers, as far as half of the budget goes, so that there is something to
 * compare at the end; it counts among the bytes, too. Returns for how many writes that leaves room,
 * 0: the test has failed.
 */
static uint64_t warm_up(struct loop *loop)
{
	const struct rna_loopback_request *request = loop->request;
	uint64_t writes = max_u64(request->bytes / request->size, 2 * loop->batch);
	uint64_t first = max_u64((uint64_t)loop->batch * request->qps, loop->slots);

	first = min_u64(first, writes / 2);
	if (!write_until(loop, first, rna_clock_monotonic() + request->time_limit) || !drain(loop))
		return 0;
	return writes - first;
}

/*
 * As ib_write_bw does it, what is measured writes to the same place again and again, one for each
 * QP: else caches would make the two differ.
 */
static bool test_bandwidth(struct loop *loop)
{
	const struct rna_loopback_request *request = loop->request;
	uint64_t writes, before;
	rna_usec begin, time;
	size_t filled;

	loop->slots = (unsigned)(loop->memory.size / request->size);
	loop->batch = clamp(request->depth / 4, 1, RNA_LOOPBACK_BATCH_MAX);
	writes = warm_up(loop);
	if (writes == 0)
		return false;
	before = loop->posted;
	filled = (size_t)min_u64(before, loop->slots) * request->size;
	loop->slots = clamp(min_u64(before, loop->slots), 1, request->qps);
	loop->slot = 0;
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
	return compare(loop, filled);
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
	static const size_t first = 0;
	volatile uint64_t *from = (uint64_t *)loop->memory.source;
	volatile uint64_t *to = (uint64_t *)loop->memory.target;
	uint64_t begin, end;
	int complete = 0;

	*from = number;
	begin = now_nsec();
	if (!rna_loopback_post(loop->verbs, 0, &first, 1, RNA_LOOPBACK_SMALL))
		return 0;
	loop->under_way[0]++;
	while (*to != number && complete == 0) {
		if (now_nsec() - begin > PATIENCE * NSEC_PER_USEC) {
			(void)not_complete(loop);
			return 0;
		}
		complete = reap(loop);
	}
	end = now_nsec();
	if (complete < 0 || !drain(loop))
		return 0;
	loop->result->bytes += RNA_LOOPBACK_SMALL;
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
		return no_memory(loop);
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
	if (request->size >= RNA_LOOPBACK_SMALL && request->size <= INT_MAX &&
	    request->time_limit > 0 && request->qps > 0 && request->qps <= RNA_LOOPBACK_QPS_MAX &&
	    request->depth > 0 && request->depth <= INT16_MAX &&
	    request->endpoint < RNA_ENDPOINT_COUNT &&
	    memchr(request->device, '\0', sizeof(request->device)) &&
	    memchr(request->gpu, '\0', sizeof(request->gpu)))
		return true;
	return rna_loopback_fail(result, "the request for a loopback test makes no sense");
}

static bool open_verbs(struct loop *loop)
{
	loop->verbs = rna_loopback_verbs_open(loop->request, &loop->memory, loop->result);
	return loop->verbs;
}

void rna_loopback_run(const struct rna_loopback_request *request, struct rna_loopback_result *ret)
{
	rna_usec begin = rna_clock_monotonic();
	RNA_CLEANUP(loop_free)
	struct loop loop = {
		.request = request,
		.result = ret,
		.memory = RNA_LOOPBACK_MEMORY_INIT,
	};

	*ret = (struct rna_loopback_result){.end = RNA_LOOPBACK_FAILED};
	if (is_sane(request, ret) && rna_loopback_gate_open(request, &loop.gate, ret) &&
	    open_verbs(&loop) && fill(&loop) && test_bandwidth(&loop) && test_latency(&loop))
		ret->end = RNA_LOOPBACK_DONE;
	loop_free(&loop);
	ret->duration = rna_usec_since(begin, rna_clock_monotonic());
}
