// SPDX-License-Identifier: Apache-2.0
#include "budget.h"

#include <limits.h>
#include <string.h>

enum {
	WARM_UP_SHARE = 2,  /* 1/2 of bytes and time for the warm-up */
	BATCH_SHARE = 8,    /* 1/8 of the time for one batch */
	LATENCY_SHARE = 10, /* 1/10 of the time for latency */
};

bool rna_loopback_request_is_valid(const struct rna_loopback_request *request)
{
	return request->size >= RNA_LOOPBACK_SMALL && request->size <= INT_MAX &&
	       request->bytes / 2 >= request->size && request->time_limit > 0 && request->qps > 0 &&
	       request->qps <= RNA_LOOPBACK_QPS_MAX && request->depth > 0 &&
	       request->depth <= INT16_MAX && request->endpoint < RNA_ENDPOINT_COUNT &&
	       memchr(request->device, '\0', sizeof(request->device)) &&
	       memchr(request->gpu, '\0', sizeof(request->gpu));
}

/*
 * Two bandwidth writes are mandatory. Latency needs few bytes and gets them before further
 * bandwidth writes.
 */
static uint64_t choose_rounds(const struct rna_loopback_request *request)
{
	uint64_t rounds = request->latency_rounds + (uint64_t)RNA_LOOPBACK_LATENCY_WARM_UP;
	uint64_t room = (request->bytes - 2 * (uint64_t)request->size) / RNA_LOOPBACK_SMALL;

	if (request->latency_rounds == 0)
		return 0;
	return rounds < room ? rounds : room;
}

struct rna_loopback_budget rna_loopback_budget(const struct rna_loopback_request *request,
					       rna_usec now)
{
	uint64_t rounds = choose_rounds(request);
	uint64_t writes = (request->bytes - rounds * RNA_LOOPBACK_SMALL) / request->size;
	rna_usec limit = request->time_limit, latency = rounds > 0 ? limit / LATENCY_SHARE : 0;

	return (struct rna_loopback_budget){
		.writes = writes,
		.warm_up = writes / WARM_UP_SHARE,
		.rounds = rounds,
		.batch = limit / BATCH_SHARE,
		.warm = now + limit / WARM_UP_SHARE,
		.measured = now + limit - latency,
		.end = now + limit,
	};
}

uint64_t rna_loopback_room(uint64_t complete, uint64_t under_way, rna_usec spent, rna_usec left)
{
	double room = (double)complete * (double)left / (double)(spent > 0 ? spent : 1);

	return room > (double)under_way ? (uint64_t)room - under_way : 0;
}
