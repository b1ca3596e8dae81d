// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/loopback_child: a process that runs a test and can be ended. What it tests with, an
 * HCA, is in the suite vm-selftest; here the child has none, or is made to misbehave.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/model/loopback.h"

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
	int status = rna_loopback_child_start(request, 0, &child, error);

	assert_int_equal(status, 0);
	if (meddle)
		meddle(child.process.pid);
	status = rna_loopback_child_receive(&child, PATIENCE, result, error);
	assert_true(rna_loopback_child_stop(&child, RNA_LOOPBACK_LAST_PATIENCE));
	assert_int_equal(child.process.pid, 0);
	assert_int_equal(child.process.pidfd, -1);
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

static void suspend(int pid)
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
	assert_int_equal(rna_loopback_child_start(&request, 0, &child, &error), 0);
	suspend(child.process.pid);
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
	assert_int_equal(rna_loopback_child_start(&request, 0, &first, &error), 0);
	assert_int_equal(rna_loopback_child_start(&request, 0, &second, &error), -EBUSY);
	assert_string_equal(error.text, "another self-test runs on this node");
	assert_int_equal(second.lock, -1);
	assert_true(second.holder.is_there);
	assert_int_equal(second.holder.pid, getpid());
	assert_int_equal(second.holder.uid, geteuid());
	assert_true(rna_loopback_child_stop(&second, 0));
	assert_true(rna_loopback_child_stop(&first, RNA_LOOPBACK_LAST_PATIENCE));
	assert_int_equal(rna_loopback_child_start(&request, 0, &second, &error), 0);
	assert_false(second.holder.is_there);
	assert_true(rna_loopback_child_stop(&second, RNA_LOOPBACK_LAST_PATIENCE));
}

/* -- Strangers --------------------------------------------------------------------------------- */

enum manner { BINDS, LISTENS, IS_BESIEGED };

static struct sockaddr_un lock_address(socklen_t *ret_len)
{
	static const char name[] = "\0rdma-node-agent/selftest";
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memcpy(address.sun_path, name, sizeof(name) - 1);
	*ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(name) - 1);
	return address;
}

/* Holds the name as that user until it is killed; tells when it does. */
static void hold(uid_t uid, enum manner manner, int tell)
{
	socklen_t len;
	struct sockaddr_un address = lock_address(&len);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), guest = socket(AF_UNIX, SOCK_STREAM, 0);
	bool held = setuid(uid) == 0 && bind(fd, (const struct sockaddr *)&address, len) == 0;

	if (manner != BINDS)
		held = held && listen(fd, manner == LISTENS ? 1 : 0) == 0;
	if (manner == IS_BESIEGED)
		held = held && connect(guest, (const struct sockaddr *)&address, len) == 0;
	if (held)
		(void)!write(tell, "!", 1);
	for (;;)
		(void)pause();
}

/* agent: the user of agents, as we know it. */
static int start_beside(uid_t uid, enum manner manner, uid_t agent)
{
	struct rna_loopback_request request = request_for("none7");
	struct rna_loopback_child child;
	struct rna_error error = {0};
	int tell[2], status;
	pid_t holder;
	char word;

	assert_int_equal(pipe(tell), 0);
	holder = fork();
	if (holder == 0)
		hold(uid, manner, tell[1]);
	assert_true(holder > 0);
	assert_int_equal(read(tell[0], &word, 1), 1);
	status = rna_loopback_child_start(&request, agent, &child, &error);
	assert_true(child.holder.is_there);
	assert_int_equal(child.holder.pid, manner == LISTENS ? holder : 0);
	assert_int_equal(child.holder.uid, manner == LISTENS ? uid : RNA_UID_UNKNOWN);
	assert_true(rna_loopback_child_stop(&child, RNA_LOOPBACK_LAST_PATIENCE));
	(void)close(tell[0]);
	(void)close(tell[1]);
	(void)kill(holder, SIGKILL);
	(void)waitpid(holder, NULL, 0);
	return status;
}

/* Any user can bind the name: users without permission to test cannot prevent tests. */
static void test_a_stranger_holds_the_lock(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("SKIP: only root can change the user\n");
		skip();
	}
	for (enum manner manner = BINDS; manner <= IS_BESIEGED; manner++)
		assert_int_equal(start_beside(1000, manner, 0), 0);
	assert_int_equal(start_beside(65534, LISTENS, 0), 0);
	assert_int_equal(start_beside(1000, LISTENS, 10879), 0);
	assert_int_equal(start_beside(10879, LISTENS, 10879), -EBUSY); /* that of the chart */
	assert_int_equal(start_beside(999, LISTENS, 0), -EBUSY);       /* a service */
	assert_int_equal(start_beside(0, LISTENS, 0), -EBUSY);
}

/* -- What is left ------------------------------------------------------------------------------ */

/* Its parent died early: it has a request, and no process waits for the result. */
static void test_an_orphan(void **state)
{
	struct rna_loopback_request request = request_for("none7");
	int ends[2], status = -1;
	rna_usec begin = rna_clock_monotonic();
	pid_t child;

	(void)state;
	request.gate = 1;
	request.sample_time = 2 * PATIENCE; /* that it would look at counters */
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(send(ends[0], &request, sizeof(request), 0), sizeof(request));
	(void)close(ends[0]);
	child = fork();
	if (child == 0) {
		(void)dup2(ends[1], 3);
		(void)execl("/proc/self/exe", RNA_LOOPBACK_PROGRAM, (char *)NULL);
		_exit(127);
	}
	(void)close(ends[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE);
	assert_true(rna_usec_since(begin, rna_clock_monotonic()) < PATIENCE);
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
		cmocka_unit_test(test_a_stranger_holds_the_lock),
		cmocka_unit_test(test_an_orphan),
		cmocka_unit_test(test_nothing_is_left),
	};

	/* a child is the same program, as main.c has it */
	if (argc > 0 && strncmp(argv[0], RNA_LOOPBACK_PROGRAM, strlen(RNA_LOOPBACK_PROGRAM)) == 0)
		return rna_loopback_child_main();
	(void)unshare(
		CLONE_NEWNET); /* other tests that run now must not hold the lock; root only */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
