// SPDX-License-Identifier: Apache-2.0
#include "writing.h"

#include "rna/base/cleanup.h"

#define CHECK_PERIOD RNA_USEC_PER_SEC /* between checks for other traffic on the port */
/*
 * Tests shorter than this are not checked in the middle. On some HCAs (mlx5) reading a counter is a
 * firmware command, which may take longer than the posted writes; empty queues would lower the
 * measured rate.
 */
#define SHORT (20 * RNA_USEC_PER_MSEC)

enum { POLLS = 256 }; /* polls between two readings of the clock, which may cost more */

/* The object at the start of each text. */
#define PORT(writing) (writing)->request->device, (writing)->request->port

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
static bool post_batch(struct rna_writing *writing, unsigned qp, unsigned count)
{
	size_t offsets[RNA_LOOPBACK_BATCH_MAX];

	for (unsigned i = 0; i < count; i++) {
		offsets[i] = (size_t)writing->slot * writing->request->size;
		writing->slot = (writing->slot + 1) % writing->slots;
	}
	if (!rna_loopback_post(writing->verbs, qp, offsets, count, writing->request->size))
		return false;
	writing->under_way[qp] += count;
	writing->posted += count;
	return true;
}

int rna_writing_reap(struct rna_writing *writing)
{
	struct rna_loopback_batch complete[RNA_LOOPBACK_BATCH_MAX];
	int count = rna_loopback_poll(writing->verbs, complete);

	for (int i = 0; i < count; i++) {
		writing->under_way[complete[i].qp] -= complete[i].count;
		writing->complete += complete[i].count;
	}
	return count;
}

bool rna_writing_fail_late(struct rna_writing *writing)
{
	return rna_loopback_fail(writing->result, "%s/%u: a write was not complete after %u s",
				 PORT(writing),
				 (unsigned)(RNA_WRITING_PATIENCE / RNA_USEC_PER_SEC));
}

bool rna_writing_await(struct rna_writing *writing)
{
	rna_usec begin = rna_clock_monotonic();
	int count = rna_writing_reap(writing);

	for (unsigned polls = 1; count == 0; polls++) {
		if (polls % POLLS == 0 &&
		    rna_usec_since(begin, rna_clock_monotonic()) > RNA_WRITING_PATIENCE)
			return rna_writing_fail_late(writing);
		count = rna_writing_reap(writing);
	}
	return count > 0;
}

/* Posts whole batches until all QPs are full, but only as many as will complete by the deadline. */
static bool fill_queues(struct rna_writing *writing, uint64_t writes, rna_usec by)
{
	rna_usec now = rna_clock_monotonic();
	uint64_t room =
		rna_loopback_room(writing->complete, writing->posted - writing->complete,
				  rna_usec_since(writing->begin, now), rna_usec_since(now, by));

	for (unsigned i = 0; i < writing->request->qps; i++)
		while (writing->posted < writes) {
			unsigned count = (unsigned)min_u64(writing->batch, writing->budget.writes -
										   writing->posted);

			if (room < count)
				return true;
			if (writing->under_way[i] + count > writing->request->depth)
				break;
			if (!post_batch(writing, i, count))
				return false;
			room -= count;
		}
	return true;
}

static bool holds(struct rna_writing *writing)
{
	return rna_loopback_gate_holds(writing->gate, writing->posted * writing->request->size,
				       writing->result);
}

/*
 * Checks for other traffic in the middle of the test and once per second, while the queues are
 * full: the sooner the test stops, the less it disturbs a job. A short test is checked only at its
 * end.
 */
static bool check_traffic(struct rna_writing *writing)
{
	rna_usec now = rna_clock_monotonic();

	if (writing->posted < writing->look.writes && now < writing->look.time)
		return true;
	writing->look.writes = UINT64_MAX;
	writing->look.time = now + CHECK_PERIOD;
	return now - writing->gate->begin < SHORT / 2 || holds(writing);
}

/*
 * Keeps all QPs full until that many writes have been posted in total, or no more will complete by
 * the deadline; then waits for those under way.
 */
static bool write_all(struct rna_writing *writing, uint64_t writes, rna_usec by)
{
	for (;;) {
		if (!fill_queues(writing, writes, by))
			return false;
		if (writing->complete == writing->posted)
			return true;
		if (!rna_writing_await(writing) ||
		    (writing->posted < writes && !check_traffic(writing)))
			return false;
	}
}

/* -- Bandwidth --------------------------------------------------------------------------------- */

static unsigned clamp(uint64_t value, unsigned least, unsigned most)
{
	return value < least ? least : value > most ? most : (unsigned)value;
}

/*
 * Finds the batch size with the first writes: one, two, four, and so on, up to the maximum, as long
 * as a batch takes no more than its share of the time.
 */
static bool find_batch(struct rna_writing *writing)
{
	unsigned most = clamp(writing->request->depth / 4, 1, RNA_LOOPBACK_BATCH_MAX);

	for (writing->batch = 1;; writing->batch *= 2) {
		rna_usec begin = rna_clock_monotonic(), took;

		if (!post_batch(writing, 0, writing->batch))
			return false;
		while (writing->complete < writing->posted)
			if (!rna_writing_await(writing))
				return false;
		took = rna_usec_since(begin, rna_clock_monotonic());
		if (2 * writing->batch > most || 2 * took > writing->budget.batch ||
		    writing->posted + 2 * writing->batch > writing->budget.warm_up)
			return true;
	}
}

/*
 * Writes to all of the buffer, within half of the budget, so that the data can be compared at the
 * end and the rate is known. Its bytes count towards the total.
 */
static bool warm_up(struct rna_writing *writing)
{
	const struct rna_loopback_request *request = writing->request;
	uint64_t writes;

	writing->slots = (unsigned)(writing->room / request->size);
	writing->look.writes = writing->look.time = UINT64_MAX;
	writing->begin = rna_clock_monotonic();
	writing->budget = rna_loopback_budget(request, writing->begin);
	if (!find_batch(writing))
		return false;
	writes = max_u64((uint64_t)writing->batch * request->qps, writing->slots);
	return write_all(writing, min_u64(writes, writing->budget.warm_up), writing->budget.warm);
}

static uint64_t bandwidth(const struct rna_writing *writing, uint64_t writes, rna_usec time)
{
	double bytes = (double)writes * writing->request->size;

	return time > 0 ? (uint64_t)(bytes * 1e6 / (double)time) : 0;
}

/*
 * As in ib_write_bw, measured writes go to the same slot again and again, one per QP; otherwise
 * caches would make the results differ. If the port is so slow that the warm-up took all of the
 * time, the warm-up is the measurement.
 */
static bool measure(struct rna_writing *writing)
{
	uint64_t warm = writing->posted;
	rna_usec spent = rna_usec_since(writing->begin, rna_clock_monotonic()), begin;

	writing->slots = clamp(min_u64(warm, writing->slots), 1, writing->request->qps);
	writing->slot = 0;
	rna_loopback_gate_begin(writing->gate, warm * writing->request->size);
	begin = rna_clock_monotonic();
	writing->begin = begin - spent;
	writing->look.writes = warm + (writing->budget.writes - warm + 1) / 2;
	writing->look.time =
		begin + min_u64(rna_usec_since(begin, writing->budget.measured) / 2, CHECK_PERIOD);
	if (!write_all(writing, writing->budget.writes, writing->budget.measured))
		return false;
	if (writing->posted == warm)
		writing->result->bandwidth = bandwidth(writing, warm, spent);
	else
		writing->result->bandwidth =
			bandwidth(writing, writing->posted - warm,
				  rna_usec_since(begin, rna_clock_monotonic()));
	return holds(writing);
}

bool rna_writing_bandwidth(struct rna_writing *writing)
{
	if (!warm_up(writing))
		return false;
	writing->filled = (size_t)min_u64(writing->posted, writing->slots) * writing->request->size;
	if (!measure(writing))
		return false;
	writing->result->bytes += writing->posted * writing->request->size;
	return true;
}
