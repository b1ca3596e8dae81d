// SPDX-License-Identifier: Apache-2.0
/* agent/core/base/worker.c: work for a thread and back, also when it does not answer any more. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/thread.h"
#include "rna/base/worker.h"

enum { STACK = 64 << 10, PIECES = 100, PATIENCE = 20000 /* ms */ };

struct number {
	struct rna_work work;
	int value;
};

static atomic_int dropped, released;

static void drop(struct rna_work *work)
{
	atomic_fetch_add(&dropped, 1);
	free(work);
}

static void release(void *userdata)
{
	(void)userdata;
	atomic_fetch_add(&released, 1);
}

static struct number *new_number(int value)
{
	struct number *number = calloc(1, sizeof(*number));

	assert_non_null(number);
	number->value = value;
	return number;
}

static int take_number(struct rna_worker *worker)
{
	struct pollfd ready = {.fd = rna_worker_fd(worker), .events = POLLIN};
	struct number *number;
	int value;

	assert_int_equal(poll(&ready, 1, PATIENCE), 1);
	number = (struct number *)rna_worker_take(worker);
	assert_non_null(number);
	value = number->value;
	free(number);
	return value;
}

static void add(struct rna_work *work, void *userdata)
{
	((struct number *)work)->value += *(int *)userdata;
}

static void test_work_comes_back_in_its_order(void **state)
{
	int sum = 1000;
	const struct rna_worker_options options = {.name = "test",
						   .stack = STACK,
						   .userdata = &sum,
						   .perform = add};
	struct rna_worker *worker;
	struct pollfd ready = {.events = POLLIN};

	(void)state;
	assert_int_equal(rna_worker_new(&options, &worker), 0);
	ready.fd = rna_worker_fd(worker);
	assert_null(rna_worker_take(worker));
	for (int i = 0; i < PIECES; i++)
		assert_int_equal(rna_worker_give(worker, &new_number(i)->work), 0);
	for (int i = 0; i < PIECES; i++)
		assert_int_equal(take_number(worker), sum + i);
	assert_null(rna_worker_take(worker));
	assert_int_equal(poll(&ready, 1, 0), 0);
	assert_null(rna_worker_finish(worker));
	assert_null(rna_worker_finish(NULL));
	assert_true(rna_threads_aside_join(10 * RNA_USEC_PER_SEC));
}

/* Stands in read() until the other end of the pipe is closed, as in a file system. */
static void stand_still(struct rna_work *work, void *userdata)
{
	char byte;

	(void)work;
	(void)!read(*(int *)userdata, &byte, 1);
}

static void test_a_worker_that_stands_still_is_left_alone(void **state)
{
	int ends[2];
	struct rna_worker_options options = {.name = "test",
					     .stack = STACK,
					     .most = 1,
					     .userdata = ends,
					     .perform = stand_still,
					     .drop = drop,
					     .release = release};
	struct rna_worker *worker;
	struct number *spare;

	(void)state;
	dropped = released = 0;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(rna_worker_new(&options, &worker), 0);
	assert_int_equal(rna_worker_give(worker, &new_number(1)->work), 0);
	spare = new_number(2); /* waits as soon as the first one is worked on */
	while (rna_worker_give(worker, &spare->work) < 0)
		(void)usleep(1000);
	spare = new_number(3);
	assert_int_equal(rna_worker_give(worker, &spare->work), -EAGAIN);
	free(spare);
	assert_null(rna_worker_stop(worker));
	assert_false(rna_threads_aside_join(10 * RNA_USEC_PER_MSEC));
	assert_int_equal(dropped + released, 0);
	(void)close(ends[1]);
	assert_true(rna_threads_aside_join(10 * RNA_USEC_PER_SEC));
	assert_int_equal(dropped, 2); /* that which it had, and that which waited */
	assert_int_equal(released, 1);
	(void)close(ends[0]);
}

/* Returns what it finds, and what it is asked. */
static void find_numbers(struct rna_worker *worker, void *userdata)
{
	struct rna_work *work;

	(void)userdata;
	rna_worker_return(worker, &new_number(1)->work);
	while (!*rna_worker_stopped(worker))
		if ((work = rna_worker_next(worker, RNA_USEC_NEVER)))
			rna_worker_return(worker, work);
}

static void test_a_thread_of_its_own_ends_when_it_is_stopped(void **state)
{
	const struct rna_worker_options options = {.name = "test",
						   .stack = STACK,
						   .run = find_numbers,
						   .drop = drop,
						   .release = release};
	struct rna_worker *worker;

	(void)state;
	dropped = released = 0;
	assert_int_equal(rna_worker_start_new(&options, &worker), 0);
	assert_int_equal(rna_worker_start(worker), 0); /* it runs already */
	assert_int_equal(take_number(worker), 1);
	assert_int_equal(rna_worker_give(worker, &new_number(2)->work), 0);
	assert_int_equal(take_number(worker), 2);
	rna_worker_return(worker, &new_number(3)->work); /* the owner may, too */
	assert_null(rna_worker_stop(worker));
	assert_true(rna_threads_aside_join(10 * RNA_USEC_PER_SEC));
	assert_int_equal(dropped, 1);
	assert_int_equal(released, 1);
}

static void test_what_waits_is_dropped_by_the_owner(void **state)
{
	const struct rna_worker_options options = {
		.name = "test", .stack = STACK, .perform = add, .drop = drop, .release = release};
	struct rna_worker *worker;

	(void)state;
	dropped = released = 0;
	assert_int_equal(rna_worker_new(&options, &worker), 0);
	rna_worker_return(worker, &new_number(1)->work);
	assert_null(rna_worker_finish(worker)); /* its thread was never needed */
	assert_int_equal(dropped, 1);
	assert_int_equal(released, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_comes_back_in_its_order),
		cmocka_unit_test(test_a_worker_that_stands_still_is_left_alone),
		cmocka_unit_test(test_a_thread_of_its_own_ends_when_it_is_stopped),
		cmocka_unit_test(test_what_waits_is_dropped_by_the_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
