// SPDX-License-Identifier: Apache-2.0
/*
 * loopback: measures bandwidth and latency of writes over RC connections from a port to itself.
 */
#include "rna/model/loopback.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"

#include "loopback_memory.h"
#include "writing.h"

enum {
	NSEC_PER_SEC = 1000000000,
	NSEC_PER_USEC = 1000,
};

struct loop {
	const struct rna_loopback_request *request;
	struct rna_loopback_result *result;
	struct rna_loopback_gate gate;
	struct rna_loopback_memory memory;
	struct rna_writing writing;
};

/* Deregisters regions before their memory is freed. */
static void loop_free(struct loop *loop)
{
	loop->writing.verbs = rna_loopback_verbs_close(loop->writing.verbs);
	rna_loopback_memory_free(&loop->memory);
}

/* The object at the start of each text. */
#define PORT(loop) (loop)->request->device, (loop)->request->port

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
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

static bool test_bandwidth(struct loop *loop)
{
	return rna_writing_bandwidth(&loop->writing) && compare(loop, loop->writing.filled);
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
	if (!rna_loopback_post(loop->writing.verbs, 0, &first, 1, RNA_LOOPBACK_SMALL))
		return 0;
	loop->writing.under_way[0]++;
	loop->writing.posted++;
	while (*to != number && complete == 0) {
		if (now_nsec() - begin > RNA_WRITING_PATIENCE * NSEC_PER_USEC) {
			(void)rna_writing_fail_late(&loop->writing);
			return 0;
		}
		complete = rna_writing_reap(&loop->writing);
	}
	end = now_nsec();
	if (complete < 0 ||
	    (loop->writing.complete < loop->writing.posted && !rna_writing_await(&loop->writing)))
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
	uint64_t rounds = loop->memory.cuda ? 0 : loop->writing.budget.rounds;
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
		late = rna_clock_monotonic() >= loop->writing.budget.end;
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
	if (rna_loopback_request_is_valid(request))
		return true;
	return rna_loopback_fail(result, "the request for a loopback test makes no sense");
}

static bool open_verbs(struct loop *loop)
{
	loop->writing = (struct rna_writing){
		.request = loop->request,
		.result = loop->result,
		.gate = &loop->gate,
		.verbs = rna_loopback_verbs_open(loop->request, &loop->memory, loop->result),
		.room = loop->memory.size,
	};
	return loop->writing.verbs;
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
