// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/loopback, loopback_budget: a test writes no more, and for no longer, than it may, on
 * HCAs of all speeds. Here they are made up, and so is the time, which passes as they are asked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"

#include "loopback/budget.h"
#include "loopback/queue_pairs.h"

#define KIB(number) ((uint64_t)(number) << 10)
#define MIB(number) ((uint64_t)(number) << 20)
#define NSEC        1000000000ULL

enum { LOOK_NSEC = 20, BATCHES = RNA_LOOPBACK_QPS_MAX * 128 };

/* -- An HCA ------------------------------------------------------------------------------------ */

struct batch {
	struct rna_loopback_batch batch;
	uint64_t complete; /* at that time */
	size_t offsets[RNA_LOOPBACK_BATCH_MAX];
	uint32_t size;
};

/* One engine, which takes what is posted in its order. */
static struct hca {
	double rate;     /* bytes per nanosecond */
	uint64_t delay;  /* nanoseconds that a write takes at least */
	bool forgets;    /* to write the last page */
	uint64_t now;    /* nanoseconds */
	uint64_t step;   /* that a look for completions takes */
	uint64_t first;  /* write, when it was posted */
	uint64_t free;   /* when it is through with all that was posted */
	uint64_t last;   /* completion */
	uint64_t bytes;  /* posted */
	unsigned posted; /* batches */
	unsigned polled;
	const struct rna_loopback_memory *memory;
	struct batch batches[BATCHES]; /* a ring */
} hca;

int __wrap_clock_gettime(clockid_t id, struct timespec *ret);
struct rna_loopback_verbs *__wrap_rna_loopback_verbs_open(
	const struct rna_loopback_request *request, struct rna_loopback_memory *memory,
	struct rna_loopback_result *result);
struct rna_loopback_verbs *__wrap_rna_loopback_verbs_close(struct rna_loopback_verbs *verbs);
bool __wrap_rna_loopback_post(struct rna_loopback_verbs *verbs, unsigned qp, const size_t *offsets,
			      unsigned count, uint32_t size);
int __wrap_rna_loopback_poll(struct rna_loopback_verbs *verbs,
			     struct rna_loopback_batch ret[RNA_LOOPBACK_BATCH_MAX]);

int __wrap_clock_gettime(clockid_t id, struct timespec *ret)
{
	(void)id;
	hca.now += LOOK_NSEC;
	ret->tv_sec = (time_t)(hca.now / NSEC);
	ret->tv_nsec = (long)(hca.now % NSEC);
	return 0;
}

struct rna_loopback_verbs *__wrap_rna_loopback_verbs_open(
	const struct rna_loopback_request *request, struct rna_loopback_memory *memory,
	struct rna_loopback_result *result)
{
	size_t size = request->size > MIB(2) ? request->size : MIB(2);

	assert_true(rna_loopback_memory_get(request, size, memory, result));
	hca.memory = memory;
	return (struct rna_loopback_verbs *)&hca;
}

struct rna_loopback_verbs *__wrap_rna_loopback_verbs_close(struct rna_loopback_verbs *verbs)
{
	(void)verbs;
	return NULL;
}

bool __wrap_rna_loopback_post(struct rna_loopback_verbs *verbs, unsigned qp, const size_t *offsets,
			      unsigned count, uint32_t size)
{
	struct batch *batch = &hca.batches[hca.posted++ % BATCHES];

	assert_ptr_equal(verbs, &hca);
	assert_true(hca.posted - hca.polled <= BATCHES);
	if (hca.bytes == 0)
		hca.first = hca.now;
	hca.bytes += (uint64_t)count * size;
	hca.free = (hca.free > hca.now ? hca.free : hca.now) +
		   (uint64_t)((double)count * size / hca.rate);
	*batch = (struct batch){.batch = {qp, count},
				.complete = hca.free + hca.delay,
				.size = size};
	memcpy(batch->offsets, offsets, count * sizeof(*offsets));
	return true;
}

static void arrive(const struct batch *batch)
{
	for (unsigned i = 0; i < batch->batch.count; i++) {
		size_t at = batch->offsets[i];

		assert_true(at + batch->size <= hca.memory->size);
		if (!hca.forgets || at + batch->size < hca.memory->size)
			memcpy(hca.memory->target + at, hca.memory->source + at, batch->size);
	}
}

int __wrap_rna_loopback_poll(struct rna_loopback_verbs *verbs,
			     struct rna_loopback_batch ret[RNA_LOOPBACK_BATCH_MAX])
{
	int count = 0;

	assert_ptr_equal(verbs, &hca);
	hca.now += hca.step;
	while (hca.polled < hca.posted && count < RNA_LOOPBACK_BATCH_MAX) {
		const struct batch *batch = &hca.batches[hca.polled % BATCHES];

		if (batch->complete > hca.now)
			break;
		arrive(batch);
		hca.last = batch->complete;
		hca.polled++;
		ret[count++] = batch->batch;
	}
	return count;
}

/* -- Tests on it ------------------------------------------------------------------------------- */

static struct rna_loopback_result test_on(double gigabits, const struct rna_loopback_request *of)
{
	struct rna_loopback_request request = *of;
	struct rna_loopback_result result;

	(void)snprintf(request.device, sizeof(request.device), "mlx5_0");
	request.port = 1;
	request.gid_index = request.memory_node = -1;
	request.depth = (uint32_t)(MIB(32) / request.size);
	request.depth = request.depth > 128 ? 128 : request.depth;
	request.latency_rounds = 1000;
	hca = (struct hca){.rate = gigabits / 8,
			   .delay = 2000,
			   .forgets = hca.forgets,
			   .now = 1000 * NSEC,
			   .step = gigabits > 50 ? 100 : 1000};
	rna_loopback_run(&request, &result);
	return result;
}

static const struct {
	double gigabits;
	struct rna_loopback_request request;
	unsigned percent; /* of the rate that is measured, at least */
} cases[] = {
	{400, {.size = KIB(64), .qps = 4, .bytes = MIB(64), .time_limit = 200000}, 98},
	{400, {.size = KIB(64), .qps = 1, .bytes = MIB(256), .time_limit = 200000}, 98},
	{400, {.size = KIB(64), .qps = 16, .bytes = MIB(64), .time_limit = 10000}, 98},
	{400, {.size = KIB(4), .qps = 4, .bytes = MIB(64), .time_limit = 200000}, 98},
	{400, {.size = 64, .qps = 4, .bytes = MIB(1), .time_limit = 10000}, 25},
	{400, {.size = MIB(8), .qps = 4, .bytes = MIB(256), .time_limit = 200000}, 98},
	{400, {.size = MIB(8), .qps = 4, .bytes = MIB(16), .time_limit = 200000}, 98},
	{400, {.size = MIB(8) - 1, .qps = 1, .bytes = MIB(17), .time_limit = 200000}, 98},
	{100, {.size = KIB(64), .qps = 1, .bytes = MIB(1), .time_limit = 200000}, 95},
	{100, {.size = 65537, .qps = 3, .bytes = MIB(3), .time_limit = 20000}, 95},
	{10, {.size = KIB(64), .qps = 4, .bytes = MIB(256), .time_limit = 200000}, 98},
	{2, {.size = KIB(64), .qps = 4, .bytes = MIB(64), .time_limit = 200000}, 98},
	{2, {.size = MIB(8), .qps = 4, .bytes = MIB(256), .time_limit = 200000}, 98},
	{0.5, {.size = KIB(64), .qps = 1, .bytes = MIB(64), .time_limit = 200000}, 98},
	{0.5, {.size = KIB(64), .qps = 16, .bytes = UINT64_MAX, .time_limit = 1000000}, 98},
	{0.1, {.size = KIB(64), .qps = 4, .bytes = MIB(64), .time_limit = 200000}, 98},
	{0.1, {.size = MIB(1), .qps = 4, .bytes = MIB(64), .time_limit = 200000}, 98},
	{0.01, {.size = KIB(64), .qps = 4, .bytes = MIB(64), .time_limit = 200000}, 98},
};

/* The time from the first write to when the last one is complete, latency and all. */
static void test_bytes_and_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		const struct rna_loopback_request *request = &cases[i].request;
		struct rna_loopback_result result = test_on(cases[i].gigabits, request);
		double measured = (double)result.bandwidth * 8e-9 / cases[i].gigabits;
		uint64_t took = (hca.last - hca.first) / 1000;

		print_message("%g Gb/s, %u bytes, %u QPs: %.3f of it, %llu of %llu KiB, "
			      "%llu of %llu us, %llu ns\n",
			      cases[i].gigabits, request->size, request->qps, measured,
			      (unsigned long long)hca.bytes >> 10,
			      (unsigned long long)request->bytes >> 10, (unsigned long long)took,
			      (unsigned long long)request->time_limit,
			      (unsigned long long)result.latency_median);
		assert_int_equal(result.end, RNA_LOOPBACK_DONE);
		assert_string_equal(result.text, "");
		assert_int_equal(result.bytes, hca.bytes);
		assert_true(hca.bytes <= request->bytes);
		assert_true(took <= request->time_limit);
		assert_true(measured * 100 >= cases[i].percent && measured < 1.01);
		assert_int_equal(hca.polled, hca.posted);
	}
}

/* What makes a difference is used: bytes of a fast one, the time of a slow one. */
static void test_the_budget_is_used(void **state)
{
	const struct rna_loopback_request request = cases[0].request;
	struct rna_loopback_result result;

	(void)state;
	result = test_on(400, &request);
	assert_true(result.bytes > request.bytes - 2 * KIB(64));
	assert_true(result.latency_median >= 2000 && result.latency_median < 4000);
	assert_true(result.latency_p99 >= result.latency_median);
	result = test_on(2, &request);
	assert_true((hca.last - hca.first) / 1000 > request.time_limit * 7 / 10);
	assert_true(result.latency_median > 0);
}

/* One write has to be: then it is known. */
static void test_one_write_takes_all_the_time(void **state)
{
	struct rna_loopback_result result = test_on(0.001, &cases[0].request);

	(void)state;
	assert_int_equal(result.end, RNA_LOOPBACK_DONE);
	assert_int_equal(result.bytes, KIB(64) + 2 * 8); /* a small one, and one that counts */
	assert_in_range(result.bandwidth, 124000, 125000);
	assert_true(result.latency_median > 0);
}

static void test_what_does_not_arrive(void **state)
{
	struct rna_loopback_result result;

	(void)state;
	hca.forgets = true;
	result = test_on(400, &cases[0].request);
	hca.forgets = false;
	assert_int_equal(result.end, RNA_LOOPBACK_CORRUPT);
}

/* -- Arithmetic -------------------------------------------------------------------------------- */

static void test_budget(void **state)
{
	struct rna_loopback_request request = {.size = KIB(64),
					       .bytes = MIB(64),
					       .time_limit = 200000,
					       .latency_rounds = 1000};
	struct rna_loopback_budget budget = rna_loopback_budget(&request, 1000000);

	(void)state;
	assert_int_equal(budget.rounds, 1016);
	assert_int_equal(budget.writes, 1023);
	assert_int_equal(budget.warm_up, 511);
	assert_int_equal(budget.batch, 25000);
	assert_int_equal(budget.warm, 1100000);
	assert_int_equal(budget.measured, 1180000);
	assert_int_equal(budget.end, 1200000);
	request.latency_rounds = 0;
	budget = rna_loopback_budget(&request, 1000000);
	assert_int_equal(budget.rounds, 0);
	assert_int_equal(budget.writes, 1024);
	assert_int_equal(budget.measured, 1200000);
	request.bytes = UINT64_MAX;
	assert_true(rna_loopback_budget(&request, 0).writes > UINT32_MAX);
}

/* Of the bytes of two writes nothing is left for latency; of some more there is. */
static void test_little_budgets(void **state)
{
	static const struct {
		uint64_t bytes;
		unsigned rounds;
	} budgets[] = {
		{2048, 0}, {2048 + 7, 0}, {2048 + 15, 1}, {4096, 256}, {1 << 20, 1016},
	};
	struct rna_loopback_request request = {.size = 1024, .latency_rounds = 1000};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(budgets); i++) {
		struct rna_loopback_budget budget;

		request.bytes = budgets[i].bytes;
		budget = rna_loopback_budget(&request, 0);
		assert_int_equal(budget.rounds, budgets[i].rounds);
		assert_true(budget.writes >= 2 && budget.warm_up >= 1);
		assert_true(budget.rounds * 8 + budget.writes * 1024 <= request.bytes);
	}
}

static void test_room(void **state)
{
	(void)state;
	assert_int_equal(rna_loopback_room(100, 0, 1000, 2000), 200);
	assert_int_equal(rna_loopback_room(100, 150, 1000, 2000), 50);
	assert_int_equal(rna_loopback_room(100, 200, 1000, 2000), 0);
	assert_int_equal(rna_loopback_room(100, 300, 1000, 2000), 0);
	assert_int_equal(rna_loopback_room(100, 0, 1000, 0), 0);
	assert_int_equal(rna_loopback_room(0, 0, 1000, 2000), 0);
	assert_int_equal(rna_loopback_room(5, 0, 0, 2000), 10000); /* too quick for the clock */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_and_time),
		cmocka_unit_test(test_the_budget_is_used),
		cmocka_unit_test(test_one_write_takes_all_the_time),
		cmocka_unit_test(test_what_does_not_arrive),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_little_budgets),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
