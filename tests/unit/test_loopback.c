// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/loopback_child: a process that runs a test and can be ended. What it tests with, an
 * HCA, is in the suite vm-selftest; here the child has none, or is made to misbehave.
 */
#include "rna/loopback.h"

#include <fcntl.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#define PATIENCE (20 * RNA_USEC_PER_SEC)

static struct rna_loopback_request request_for(const char *device)
{
	struct rna_loopback_request request = {
		.port = 1,
		.gid_index = -1,
		.memory_node = -1,
		.size = 65536,
		.qps = 1,
		.depth = 16,
		.bytes = 1 << 20,
		.time_limit = RNA_USEC_PER_SEC / 10,
	};

	(void)snprintf(request.device, sizeof(request.device), "%s", device);
	return request;
}

/* Starts a child, hands it to meddle, and waits for what comes. */
static int run(const struct rna_loopback_request *request, void (*meddle)(int pid),
	       struct rna_loopback_result *result, struct rna_error *error)
{
	struct rna_loopback_child child;
	int status = rna_loopback_child_start(request, &child, error);

	assert_int_equal(status, 0);
	if (meddle)
		meddle(child.pid);
	status = rna_loopback_child_receive(&child, PATIENCE, result, error);
	assert_true(rna_loopback_child_stop(&child, RNA_LOOPBACK_LAST_PATIENCE));
	assert_int_equal(child.pid, 0);
	assert_int_equal(child.pidfd, -1);
	return status;
}

static void test_a_device_that_is_not_there(void **state)
{
	struct rna_loopback_request request = request_for("none7");
	struct rna_loopback_result result;
	struct rna_error error = {0};

	(void)state;
	assert_int_equal(run(&request, NULL, &result, &error), 0);
	assert_int_equal(result.end, RNA_LOOPBACK_SKIPPED);
	assert_int_equal(result.skip, RNA_SKIP_NO_DEVICE);
	assert_string_equal(result.text, "none7/1: libibverbs knows no such device");
}

static void test_requests_without_sense(void **state)
{
	struct rna_loopback_request requests[8];
	struct rna_loopback_result result;
	struct rna_error error = {0};

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		requests[i] = request_for("none7");
	requests[0].size = 0;
	requests[1].qps = 0;
	requests[2].qps = RNA_LOOPBACK_QPS_MAX + 1;
	requests[3].depth = 0;
	requests[4].time_limit = 0;
	requests[5].endpoint = RNA_ENDPOINT_COUNT;
	memset(requests[6].device, 'x', sizeof(requests[6].device));
	memset(requests[7].gpu, 'x', sizeof(requests[7].gpu));
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(run(&requests[i], NULL, &result, &error), 0);
		assert_int_equal(result.end, RNA_LOOPBACK_FAILED);
	}
}

static void stop(int pid)
{
	assert_int_equal(kill(pid, SIGSTOP), 0);
}

static void end(int pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
}

static void crash(int pid)
{
	assert_int_equal(kill(pid, SIGABRT), 0);
}

/* It is stopped before it could answer, or after: then there is an answer. */
static void test_a_child_that_is_killed(void **state)
{
	struct rna_loopback_request request = request_for("none7");
	struct rna_loopback_result result;
	struct rna_error error = {0};
	int status;

	(void)state;
	status = run(&request, end, &result, &error);
	if (status == 0)
		return;
	assert_int_equal(status, -ECANCELED);
	assert_string_equal(error.text, "the loopback test was killed by signal 9 (Killed)");
	status = run(&request, crash, &result, &error);
	if (status == 0)
		return;
	assert_int_equal(status, -ECHILD);
	assert_string_equal(error.text, "the loopback test was killed by signal 6 (Aborted)");
}

static void test_a_child_that_hangs(void **state)
{
	struct rna_loopback_request request = request_for("none7");
	struct rna_loopback_child child;
	struct rna_loopback_result result;
	struct rna_error error = {0};
	int status;

	(void)state;
	assert_int_equal(rna_loopback_child_start(&request, &child, &error), 0);
	stop(child.pid);
	status = rna_loopback_child_receive(&child, 100 * RNA_USEC_PER_MSEC, &result, &error);
	assert_true(status == -ETIMEDOUT || status == 0); /* it may have been quicker */
	/* a stopped process can be killed; only one that is stuck in the kernel cannot */
	assert_true(rna_loopback_child_stop(&child, RNA_LOOPBACK_LAST_PATIENCE));
}

/* Whether the first one has ended by itself by then makes no difference: it was not fetched. */
static void test_one_at_a_time(void **state)
{
	struct rna_loopback_request request = request_for("none7");
	struct rna_loopback_child first, second;
	struct rna_error error = {0};

	(void)state;
	assert_int_equal(rna_loopback_child_start(&request, &first, &error), 0);
	assert_int_equal(rna_loopback_child_start(&request, &second, &error), -EBUSY);
	assert_string_equal(error.text, "another self-test runs on this node");
	assert_int_equal(second.lock, -1);
	assert_true(rna_loopback_child_stop(&second, 0));
	assert_true(rna_loopback_child_stop(&first, RNA_LOOPBACK_LAST_PATIENCE));
	assert_int_equal(rna_loopback_child_start(&request, &second, &error), 0);
	assert_true(rna_loopback_child_stop(&second, RNA_LOOPBACK_LAST_PATIENCE));
}

static unsigned count_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void test_nothing_is_left(void **state)
{
	struct rna_loopback_request request = request_for("none7");
	unsigned before = count_descriptors();
	struct rna_loopback_result result;
	struct rna_error error = {0};

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		(void)run(&request, i % 2 ? end : NULL, &result, &error);
	assert_int_equal(count_descriptors(), before);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_device_that_is_not_there),
		cmocka_unit_test(test_requests_without_sense),
		cmocka_unit_test(test_a_child_that_is_killed),
		cmocka_unit_test(test_a_child_that_hangs),
		cmocka_unit_test(test_one_at_a_time),
		cmocka_unit_test(test_nothing_is_left),
	};

	/* a child is the same program, as main.c has it */
	if (argc > 0 && strncmp(argv[0], RNA_LOOPBACK_PROGRAM, strlen(RNA_LOOPBACK_PROGRAM)) == 0)
		return rna_loopback_child_main();
	(void)unshare(
		CLONE_NEWNET); /* other tests that run now must not hold the lock; root only */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
