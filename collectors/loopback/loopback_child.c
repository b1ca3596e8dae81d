// SPDX-License-Identifier: Apache-2.0
/*
 * The child that runs loopback tests. It is killed by its resource limits if it gets out of
 * control; the kernel then frees its queue pairs and memory.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/model/loopback.h"

#include "test_child.h"
#include "test_lock.h"

enum {
	CHILD_SECONDS = 30, /* seconds of CPU in addition to the test, which polls all the time */
	CHILD_DESCRIPTORS = 256,
	CHILD_FILE_BYTES = 64 << 20, /* for CUDA's shared memory and cache */
};

/* -- The child's side -------------------------------------------------------------------------- */

/*
 * The test writes for the requested time; filling and comparing buffers takes additional CPU time.
 */
void rna_test_child_limit_time(const struct rna_loopback_request *request)
{
	rlim_t seconds = CHILD_SECONDS + (rlim_t)(request->time_limit / RNA_USEC_PER_SEC);
	struct rlimit both = {seconds, seconds};

	(void)setrlimit(RLIMIT_CPU, &both); /* lowering a limit is always allowed */
}

bool rna_test_child_begin(const char *name)
{
	const struct rna_child_limits limits = {
		.name = name,
		.descriptors = CHILD_DESCRIPTORS,
		.file_bytes = CHILD_FILE_BYTES,
	};

	return rna_child_begin(&limits);
}

int rna_loopback_child_main(void)
{
	struct rna_loopback_request request;
	struct rna_loopback_result result;

	if (!rna_test_child_begin("rna-loopback") ||
	    recv(RNA_CHILD_SOCKET, &request, sizeof(request), 0) != sizeof(request))
		return EXIT_FAILURE;
	rna_test_child_limit_time(&request);
	rna_loopback_run(&request, &result);
	return send(RNA_CHILD_SOCKET, &result, sizeof(result), MSG_NOSIGNAL) == sizeof(result)
		       ? EXIT_SUCCESS
		       : EXIT_FAILURE;
}

/* -- The parent's side ------------------------------------------------------------------------- */

int rna_test_child_start(const struct rna_test_order *order, uid_t agent,
			 struct rna_loopback_child *ret, struct rna_error *error)
{
	char name[64 + RNA_LOOPBACK_NAME_MAX];
	int status;

	*ret = RNA_LOOPBACK_CHILD_INIT;
	status = rna_test_lock_take(agent, &ret->lock, &ret->holder, error);
	if (status < 0)
		return status;
	(void)snprintf(name, sizeof(name), "%s %s/%u", order->program, order->request->device,
		       order->request->port);
	status = rna_child_start(name, order->data, order->len, &ret->process);
	if (status < 0) {
		rna_test_lock_release(&ret->lock);
		return rna_error_set(error, status, "cannot start a %s test", order->what);
	}
	return 0;
}

int rna_loopback_child_start(const struct rna_loopback_request *request, uid_t agent,
			     struct rna_loopback_child *ret, struct rna_error *error)
{
	const struct rna_test_order order = {RNA_LOOPBACK_PROGRAM, "loopback", request, request,
					     sizeof(*request)};

	return rna_test_child_start(&order, agent, ret, error);
}

static int poll_timeout(rna_usec patience)
{
	return (int)(patience / RNA_USEC_PER_MSEC);
}

/*
 * Was it killed from outside: by the OOM killer, a limit or a person? That is not a failure of the
 * port.
 */
static bool is_from_outside(int signal)
{
	return signal == SIGKILL || signal == SIGTERM || signal == SIGXCPU;
}

static int explain_end(const struct rna_loopback_child *child, rna_usec patience, const char *what,
		       struct rna_error *error)
{
	siginfo_t info = {0};

	/*
	 * The child's socket closes before its devices, which may take forever.
	 * rna_loopback_child_stop() reaps it.
	 */
	(void)rna_child_await(&child->process, patience);
	(void)waitid(P_PID, (id_t)child->process.pid, &info, WEXITED | WNOWAIT | WNOHANG);
	if (info.si_pid == 0)
		return rna_error_say(error, -ECHILD, "the %s test has no result", what);
	if (info.si_code == CLD_EXITED)
		return rna_error_say(error, -ECHILD,
				     "the %s test ended without a result, exit status %d", what,
				     info.si_status);
	return rna_error_say(error, is_from_outside(info.si_status) ? -ECANCELED : -ECHILD,
			     "the %s test was killed by signal %d (%s)", what, info.si_status,
			     strsignal(info.si_status));
}

int rna_test_child_receive(struct rna_loopback_child *child, const struct rna_test_reply *reply,
			   rna_usec patience, struct rna_error *error)
{
	struct pollfd waiting = {.fd = child->process.fd, .events = POLLIN};
	int ready = poll(&waiting, 1, poll_timeout(patience));

	if (ready < 0 && errno != EINTR)
		return rna_error_set(error, -errno, "cannot wait for a %s test", reply->what);
	if (ready <= 0)
		return rna_error_say(error, -ETIMEDOUT, "the %s test has no result yet",
				     reply->what);
	if (recv(child->process.fd, reply->data, reply->len, 0) == (ssize_t)reply->len)
		return 0;
	return explain_end(child, patience, reply->what, error);
}

int rna_loopback_child_receive(struct rna_loopback_child *child, rna_usec patience,
			       struct rna_loopback_result *ret, struct rna_error *error)
{
	const struct rna_test_reply reply = {"loopback", ret, sizeof(*ret)};
	int status = rna_test_child_receive(child, &reply, patience, error);

	if (status == 0)
		ret->text[sizeof(ret->text) - 1] = '\0';
	return status;
}

bool rna_loopback_child_stop(struct rna_loopback_child *child, rna_usec patience)
{
	bool ended = rna_child_stop(&child->process, patience);

	rna_test_lock_release(&child->lock);
	return ended;
}
