// SPDX-License-Identifier: Apache-2.0
/*
 * loopback: measures bandwidth and latency of writes over RC connections from a port to itself.
 *
 * Writes are posted in batches, and only the last write of a batch is signaled, so that CPU speed
 * does not affect the result. The clock runs from the first batch after the warm-up to the last
 * completion. All posted writes are awaited, so the test posts only what will complete before its
 * deadline (budget.c).
 */
#include "rna/model/loopback.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"

#include "budget.h"
#include "gate.h"
#include "loopback_memory.h"
#include "queue_pairs.h"

#define PATIENCE     (5 * RNA_USEC_PER_SEC) /* for a completion; longer than seven retries */
#define CHECK_PERIOD RNA_USEC_PER_SEC       /* between checks for other traffic on the port */
/*
 * Tests shorter than this are not checked in the middle. On some HCAs (mlx5) reading a counter is a
 * firmware command, which may take longer than the posted writes; empty queues would lower the
 * measured rate.
 */
#define SHORT (20 * RNA_USEC_PER_MSEC)

enum {
	POLLS = 256, /* polls between two readings of the clock, which may cost more */
	NSEC_PER_SEC = 1000000000,
	NSEC_PER_USEC = 1000,
};

struct loop {
	const struct rna_loopback_request *request;
	struct rna_loopback_result *result;
	struct rna_loopback_gate gate;
	struct rna_loopback_memory memory;
	struct rna_loopback_verbs *verbs;
	struct rna_loopback_budget budget;
	rna_usec begin; /* start of the current phase, without idle time */
	unsigned batch; /* writes per batch */
	unsigned slots; /* slots of the buffer, used in turn */
	unsigned slot;
	unsigned under_way[RNA_LOOPBACK_QPS_MAX]; /* writes */
	uint64_t posted;                          /* in all */
	uint64_t complete;
	struct { /* the next gate check: after so many posted writes, or at that time */
		uint64_t writes;
		rna_usec time;
	} look;
};

/* Deregisters regions before their memory is freed. */
static void loop_free(struct loop *loop)
{
	loop->verbs = rna_loopback_verbs_close(loop->verbs);
	rna_loopback_memory_free(&loop->memory);
}

/* The object at the start of each text. */
#define PORT(loop) (loop)->request->device, (loop)->request->port

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* -- Writing ----------------------------------------------------------------------------------- */

/* Posts a batch of count writes on QP number qp, each to the next slot. */
static bool post_batch(struct loop *loop, unsigned qp, unsigned count)
{
	size_t offsets[RNA_LOOPBACK_BATCH_MAX];

	for (unsigned i = 0; i < count; i++) {
		offsets[i] = (size_t)loop->slot * loop->request->size;
		loop->slot = (loop->slot + 1) % loop->slots;
	}
	if (!rna_loopback_post(loop->verbs, qp, offsets, count, loop->request->size))
		return false;
	loop->under_way[qp] += count;
	loop->posted += count;
	return true;
}

/* Collects completed batches. Their number; -1: the test has failed. */
static int reap(struct loop *loop)
{
	struct rna_loopback_batch complete[RNA_LOOPBACK_BATCH_MAX];
	int count = rna_loopback_poll(loop->verbs, complete);

	for (int i = 0; i < count; i++) {
		loop->under_way[complete[i].qp] -= complete[i].count;
		loop->complete += complete[i].count;
	}
	return count;
}

static bool fail_incomplete(struct loop *loop)
{
	return rna_loopback_fail(loop->result, "%s/%u: a write was not complete after %u s",
				 PORT(loop), (unsigned)(PATIENCE / RNA_USEC_PER_SEC));
}

/* Polls until a batch is complete. False: the test has failed. */
static bool await(struct loop *loop)
{
	rna_usec begin = rna_clock_monotonic();
	int count = reap(loop);

	for (unsigned polls = 1; count == 0; polls++) {
		if (polls % POLLS == 0 && rna_usec_since(begin, rna_clock_monotonic()) > PATIENCE)
			return fail_incomplete(loop);
		count = reap(loop);
	}
	return count > 0;
}

/* Posts whole batches until all QPs are full, but only as many as will complete by the deadline. */
static bool fill_queues(struct loop *loop, uint64_t writes, rna_usec by)
{
	rna_usec now = rna_clock_monotonic();
	uint64_t room =
		rna_loopback_room(loop->complete, loop->posted - loop->complete,
				  rna_usec_since(loop->begin, now), rna_usec_since(now, by));

	for (unsigned i = 0; i < loop->request->qps; i++)
		while (loop->posted < writes) {
			unsigned count =
				(unsigned)min_u64(loop->batch, loop->budget.writes - loop->posted);

			if (room < count)
				return true;
			if (loop->under_way[i] + count > loop->request->depth)
				break;
			if (!post_batch(loop, i, count))
				return false;
			room -= count;
		}
	return true;
}

static bool holds(struct loop *loop)
{
	return rna_loopback_gate_holds(&loop->gate, loop->posted * loop->request->size,
				       loop->result);
}

/*
 * Checks for other traffic in the middle of the test and once per second, while the queues are
 * full: the sooner the test stops, the less it disturbs a job. A short test is checked only at its
 * end.
 */
static bool check_traffic(struct loop *loop)
{
	rna_usec now = rna_clock_monotonic();

	if (loop->posted < loop->look.writes && now < loop->look.time)
		return true;
	loop->look.writes = UINT64_MAX;
	loop->look.time = now + CHECK_PERIOD;
	return now - loop->gate.begin < SHORT / 2 || holds(loop);
}

/*
 * Keeps all QPs full until that many writes have been posted in total, or no more will complete by
 * the deadline; then waits for those under way.
 */
static bool write_all(struct loop *loop, uint64_t writes, rna_usec by)
{
	for (;;) {
		if (!fill_queues(loop, writes, by))
			return false;
		if (loop->complete == loop->posted)
			return true;
		if (!await(loop) || (loop->posted < writes && !check_traffic(loop)))
			return false;
	}
}

/* -- The two tests ----------------------------------------------------------------------------- */

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
 * Finds the batch size with the first writes: one, two, four, and so on, up to the maximum, as long
 * as a batch takes no more than its share of the time.
 */
static bool find_batch(struct loop *loop)
{
	unsigned most = clamp(loop->request->depth / 4, 1, RNA_LOOPBACK_BATCH_MAX);

	for (loop->batch = 1;; loop->batch *= 2) {
		rna_usec begin = rna_clock_monotonic(), took;

		if (!post_batch(loop, 0, loop->batch))
			return false;
		while (loop->complete < loop->posted)
			if (!await(loop))
				return false;
		took = rna_usec_since(begin, rna_clock_monotonic());
		if (2 * loop->batch > most || 2 * took > loop->budget.batch ||
		    loop->posted + 2 * loop->batch > loop->budget.warm_up)
			return true;
	}
}

/*
 * Writes to all of the buffer, within half of the budget, so that the data can be compared at the
 * end and the rate is known. Its bytes count towards the total.
 */
static bool warm_up(struct loop *loop)
{
	const struct rna_loopback_request *request = loop->request;
	uint64_t writes;

	loop->slots = (unsigned)(loop->memory.size / request->size);
	loop->look.writes = loop->look.time = UINT64_MAX;
	loop->begin = rna_clock_monotonic();
	loop->budget = rna_loopback_budget(request, loop->begin);
	if (!find_batch(loop))
		return false;
	writes = max_u64((uint64_t)loop->batch * request->qps, loop->slots);
	return write_all(loop, min_u64(writes, loop->budget.warm_up), loop->budget.warm);
}

static uint64_t bandwidth(const struct loop *loop, uint64_t writes, rna_usec time)
{
	double bytes = (double)writes * loop->request->size;

	return time > 0 ? (uint64_t)(bytes * 1e6 / (double)time) : 0;
}

/*
 * As in ib_write_bw, measured writes go to the same slot again and again, one per QP; otherwise
 * caches would make the results differ. If the port is so slow that the warm-up took all of the
 * time, the warm-up is the measurement.
 */
static bool measure(struct loop *loop)
{
	uint64_t warm = loop->posted;
	rna_usec spent = rna_usec_since(loop->begin, rna_clock_monotonic()), begin;

	loop->slots = clamp(min_u64(warm, loop->slots), 1, loop->request->qps);
	loop->slot = 0;
	rna_loopback_gate_begin(&loop->gate, warm * loop->request->size);
	begin = rna_clock_monotonic();
	loop->begin = begin - spent;
	loop->look.writes = warm + (loop->budget.writes - warm + 1) / 2;
	loop->look.time =
		begin + min_u64(rna_usec_since(begin, loop->budget.measured) / 2, CHECK_PERIOD);
	if (!write_all(loop, loop->budget.writes, loop->budget.measured))
		return false;
	if (loop->posted == warm)
		loop->result->bandwidth = bandwidth(loop, warm, spent);
	else
		loop->result->bandwidth = bandwidth(loop, loop->posted - warm,
						    rna_usec_since(begin, rna_clock_monotonic()));
	return holds(loop);
}

static bool test_bandwidth(struct loop *loop)
{
	size_t filled;

	if (!warm_up(loop))
		return false;
	filled = (size_t)min_u64(loop->posted, loop->slots) * loop->request->size;
	if (!measure(loop))
		return false;
	loop->result->bytes += loop->posted * loop->request->size;
	return compare(loop, filled);
}

static uint64_t now_nsec(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with this clock */
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

/* Writes number; returns the time until it is visible at the other end. 0: it failed. */
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
	loop->posted++;
	while (*to != number && complete == 0) {
		if (now_nsec() - begin > PATIENCE * NSEC_PER_USEC) {
			(void)fail_incomplete(loop);
			return 0;
		}
		complete = reap(loop);
	}
	end = now_nsec();
	if (complete < 0 || (loop->complete < loop->posted && !await(loop)))
		return 0;
	loop->result->bytes += RNA_LOOPBACK_SMALL;
	return max_u64(end - begin, 1);
}

/*
 * Runs at least one counted round even if the time is over, so that there is a result. Not for GPU
 * memory, where the CPU cannot see when data arrives.
 */
static bool test_latency(struct loop *loop)
{
	uint64_t rounds = loop->memory.cuda ? 0 : loop->budget.rounds;
	RNA_FREE uint64_t *times = calloc(rounds + 1, sizeof(*times));
	uint64_t count = 0;
	bool late = false;

	if (!times)
		return no_memory(loop);
	for (uint64_t i = 1; i <= rounds && !(late && count > 0); i++) {
		uint64_t time = ping(loop, i);

		if (time == 0)
			return false;
		if (late || i > RNA_LOOPBACK_LATENCY_WARM_UP)
			times[count++] = time;
		late = rna_clock_monotonic() >= loop->budget.end;
	}
	if (count == 0)
		return true;
	qsort(times, count, sizeof(*times), rna_compare_u64);
	loop->result->latency_median = times[count / 2];
	loop->result->latency_p99 = times[count * 99 / 100];
	return true;
}

/* -- The whole --------------------------------------------------------------------------------- */

static bool check_request(const struct rna_loopback_request *request,
			  struct rna_loopback_result *result)
{
	if (request->size >= RNA_LOOPBACK_SMALL && request->size <= INT_MAX &&
	    request->bytes / 2 >= request->size && request->time_limit > 0 && request->qps > 0 &&
	    request->qps <= RNA_LOOPBACK_QPS_MAX && request->depth > 0 &&
	    request->depth <= INT16_MAX && request->endpoint < RNA_ENDPOINT_COUNT &&
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
	if (check_request(request, ret) && rna_loopback_gate_open(request, &loop.gate, ret) &&
	    open_verbs(&loop) && fill(&loop) && test_bandwidth(&loop) && test_latency(&loop))
		ret->end = RNA_LOOPBACK_DONE;
	loop_free(&loop);
	ret->duration = rna_usec_since(begin, rna_clock_monotonic());
}
