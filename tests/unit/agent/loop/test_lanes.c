// SPDX-License-Identifier: Apache-2.0
/* Lanes: what an urgent chain waits for, and what waiting costs. Handovers are in test_schedule. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "loop/lanes.h"

enum { JOBS = 2000, JOB_MSEC = 2 }; /* four seconds, in short jobs */

/* A handover that no test reaches. */
#define NEVER (3600 * RNA_USEC_PER_SEC)

struct fixture {
	sd_event *event;
	struct rna_lanes *lanes;
	pthread_mutex_t lock;
	pthread_cond_t gate;
	bool open; /* jobs of any kind end */
	struct rna_job ordinary[JOBS];
	struct rna_job urgent;
	atomic_uint begun;   /* short jobs */
	atomic_uint hanging; /* jobs that hang now */
	bool urgent_finished;
};

static struct fixture fixture;

/* Returns whether the gate is open. */
static bool wait_at_gate(long msec)
{
	struct timespec until;
	bool open;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += msec * 1000 * 1000;
	until.tv_sec += until.tv_nsec / (1000 * 1000 * 1000);
	until.tv_nsec %= 1000 * 1000 * 1000;
	(void)pthread_mutex_lock(&fixture.lock);
	if (!fixture.open)
		(void)pthread_cond_timedwait(&fixture.gate, &fixture.lock, &until);
	open = fixture.open;
	(void)pthread_mutex_unlock(&fixture.lock);
	return open;
}

static int collect_short(const struct rna_collect_input *in, struct rna_part **ret,
			 struct rna_error *error)
{
	(void)in, (void)ret;
	atomic_fetch_add(&fixture.begun, 1);
	(void)wait_at_gate(JOB_MSEC);
	return rna_error_set(error, -ENODATA, "scripted");
}

static int collect_hanging(const struct rna_collect_input *in, struct rna_part **ret,
			   struct rna_error *error)
{
	(void)in, (void)ret;
	atomic_fetch_add(&fixture.hanging, 1);
	while (!wait_at_gate(1000))
		;
	return rna_error_set(error, -ENODATA, "scripted");
}

static const struct rna_collector short_collector = {.name = "short", .collect = collect_short};
static const struct rna_collector hanging_collector = {.name = "hanging",
						       .collect = collect_hanging};

static void on_finished(struct rna_job *job, void *userdata)
{
	(void)userdata;
	free(job->error);
	job->error = NULL;
	fixture.urgent_finished |= job == &fixture.urgent;
}

static void on_late(const struct rna_job *job, enum rna_lateness lateness, void *userdata)
{
	(void)job, (void)lateness, (void)userdata;
}

static void on_settled(void *userdata)
{
	(void)userdata;
}

static int setup(void **state)
{
	(void)state;
	fixture = (struct fixture){.lock = PTHREAD_MUTEX_INITIALIZER,
				   .gate = PTHREAD_COND_INITIALIZER};
	assert_true(sd_event_new(&fixture.event) >= 0);
	return 0;
}

static void make_lanes(unsigned max)
{
	const struct rna_lanes_limits limits = {max, NEVER, NEVER};
	const struct rna_lanes_callbacks callbacks = {on_finished, on_late, on_settled, NULL};
	struct rna_error error;

	assert_int_equal(rna_lanes_new(fixture.event, &limits, &callbacks, &fixture.lanes, &error),
			 0);
}

/* All jobs end, also those to come. */
static void open_gate(void)
{
	(void)pthread_mutex_lock(&fixture.lock);
	fixture.open = true;
	(void)pthread_cond_broadcast(&fixture.gate);
	(void)pthread_mutex_unlock(&fixture.lock);
}

static int teardown(void **state)
{
	(void)state;
	open_gate();
	assert_true(rna_lanes_stop(fixture.lanes, 20 * RNA_USEC_PER_SEC));
	(void)sd_event_unref(fixture.event);
	return 0;
}

static void submit(struct rna_job *job)
{
	rna_lanes_submit(fixture.lanes, job);
	assert_int_equal(rna_lanes_flush(fixture.lanes), 0);
}

static void submit_urgent(void)
{
	fixture.urgent = (struct rna_job){.collector = &short_collector, .urgent = true};
	submit(&fixture.urgent);
}

static void wait_for(atomic_uint *counter, unsigned count)
{
	while (atomic_load(counter) < count)
		assert_true(sd_event_run(fixture.event, RNA_USEC_PER_MSEC) >= 0);
}

static void test_an_event_does_not_wait_for_a_long_chain(void **state)
{
	(void)state;
	make_lanes(2);
	for (size_t i = 0; i < JOBS; i++)
		fixture.ordinary[i] = (struct rna_job){
			.collector = &short_collector,
			.then = i + 1 < JOBS ? &fixture.ordinary[i + 1] : NULL,
		};
	submit(fixture.ordinary);
	wait_for(&fixture.begun, 1);
	submit_urgent();
	while (!fixture.urgent_finished)
		assert_true(sd_event_run(fixture.event, UINT64_MAX) >= 0);
	assert_true(atomic_load(&fixture.begun) < JOBS);
}

/* Starts a job that hangs, in a lane of its own. */
static void hang(struct rna_job *job)
{
	unsigned hanging = atomic_load(&fixture.hanging);

	*job = (struct rna_job){.collector = &hanging_collector, .urgent = true};
	submit(job);
	wait_for(&fixture.hanging, hanging + 1);
}

/* All lanes that there may be hang: looking whether one takes the queue would be in vain. */
static void test_an_event_that_has_to_wait_wakes_nobody(void **state)
{
	int wake_ups = 0;

	(void)state;
	make_lanes(2);
	hang(&fixture.ordinary[0]);
	hang(&fixture.ordinary[1]);
	submit_urgent();
	while (sd_event_run(fixture.event, 200 * RNA_USEC_PER_MSEC) > 0 && wake_ups < 5)
		wake_ups++;
	assert_in_range(wake_ups, 0, 2);
	assert_false(fixture.urgent_finished);
}

/* While there is much to do at once, two lanes serve the queue, and no more; then one again. */
static void test_two_lanes_hasten(void **state)
{
	(void)state;
	make_lanes(4);
	rna_lanes_hasten(fixture.lanes, true);
	for (size_t i = 0; i < 8; i++) {
		fixture.ordinary[i] = (struct rna_job){.collector = &hanging_collector};
		submit(&fixture.ordinary[i]);
	}
	wait_for(&fixture.hanging, 2);
	while (sd_event_run(fixture.event, 50 * RNA_USEC_PER_MSEC) > 0)
		;
	assert_int_equal(atomic_load(&fixture.hanging), 2);
	assert_int_equal(rna_lanes_count(fixture.lanes), 2);
	open_gate();
	wait_for(&fixture.hanging, 8);
	rna_lanes_hasten(fixture.lanes, false);
	while (rna_lanes_count(fixture.lanes) > 1)
		assert_true(sd_event_run(fixture.event, UINT64_MAX) >= 0);
	submit_urgent();
	while (!fixture.urgent_finished)
		assert_true(sd_event_run(fixture.event, UINT64_MAX) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_event_does_not_wait_for_a_long_chain, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_an_event_that_has_to_wait_wakes_nobody, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_two_lanes_hasten, setup, teardown),
	};

	return cmocka_run_group_tests_name("lanes", tests, NULL, NULL);
}
