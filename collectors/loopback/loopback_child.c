// SPDX-License-Identifier: Apache-2.0
/*
 * The child that runs loopback tests. It is killed by its resource limits if it gets out of
 * control; the kernel then frees its queue pairs and memory.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/model/loopback.h"

enum {
	CHILD_SECONDS = 30, /* seconds of CPU in addition to the test, which polls all the time */
	CHILD_DESCRIPTORS = 256,
	CHILD_FILE_BYTES = 64 << 20, /* for CUDA's shared memory and cache */
};

/* -- The child's side -------------------------------------------------------------------------- */

/*
 * The test writes for the requested time; filling and comparing buffers takes additional CPU time.
 */
static void limit_time(const struct rna_loopback_request *request)
{
	rlim_t seconds = CHILD_SECONDS + (rlim_t)(request->time_limit / RNA_USEC_PER_SEC);
	struct rlimit both = {seconds, seconds};

	(void)setrlimit(RLIMIT_CPU, &both); /* lowering a limit is always allowed */
}

int rna_loopback_child_main(void)
{
	static const struct rna_child_limits limits = {
		.name = "rna-loopback",
		.descriptors = CHILD_DESCRIPTORS,
		.file_bytes = CHILD_FILE_BYTES,
	};
	struct rna_loopback_request request;
	struct rna_loopback_result result;

	if (!rna_child_begin(&limits) ||
	    recv(RNA_CHILD_SOCKET, &request, sizeof(request), 0) != sizeof(request))
		return EXIT_FAILURE;
	limit_time(&request);
	rna_loopback_run(&request, &result);
	return send(RNA_CHILD_SOCKET, &result, sizeof(result), MSG_NOSIGNAL) == sizeof(result)
		       ? EXIT_SUCCESS
		       : EXIT_FAILURE;
}

/* -- The lock ---------------------------------------------------------------------------------- */

/*
 * An abstract socket name: it needs no cleanup and no permission, and vanishes with its holder. It
 * is common to all processes of a network namespace, which agents in containers share with the node
 * (hostNetwork); a file would need a shared directory.
 *
 * Any user of the node can take the name first. So the holder listens on it, and the kernel reports
 * the holder's user. The test yields to root, to service users, to the same user, and to the owner
 * of the state directory, which only root can give away, because an agent may run as any user. It
 * ignores other holders; the gate detects their traffic like any other.
 */
#define LOCK_NAME "rdma-node-agent/selftest"

enum {
	/* root and services, normally including the agent's user (sysusers.d(5)) */
	SYSTEM_UID_MAX = 999,
	TRIES = 3,
};

static bool is_trusted(uid_t uid, uid_t agent)
{
	return uid <= SYSTEM_UID_MAX || uid == geteuid() || uid == agent;
}

static struct sockaddr_un lock_address(socklen_t *ret_len)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memcpy(address.sun_path + 1, LOCK_NAME, sizeof(LOCK_NAME) - 1);
	*ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(LOCK_NAME));
	return address;
}

/* Takes the lock; 0: held until fd is closed. */
static int try_lock(int fd)
{
	socklen_t len;
	struct sockaddr_un address = lock_address(&len);

	if (bind(fd, (const struct sockaddr *)&address, len) < 0 || listen(fd, SOMAXCONN) < 0)
		return -errno;
	return 0;
}

/* Finds the holder of the lock. -ECONNREFUSED: none; -EAGAIN: its backlog is full. */
static int find_holder(struct rna_loopback_holder *ret)
{
	struct ucred credentials;
	RNA_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t len, size = sizeof(credentials);
	struct sockaddr_un address = lock_address(&len);

	*ret = (struct rna_loopback_holder){.is_there = true, .uid = RNA_UID_UNKNOWN};
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, len) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
		return -errno;
	ret->pid = credentials.pid;
	ret->uid = credentials.uid;
	return 0;
}

/*
 * The parent holds the lock, not the child: a child stuck in the kernel could not release it, and
 * other devices must still be tested.
 */
static int take_lock(struct rna_loopback_child *child, uid_t agent, struct rna_error *error)
{
	int status;

	child->lock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (child->lock < 0)
		return rna_error_set(error, -errno, "cannot create the lock for a loopback test");
	for (unsigned tries = 0; tries < TRIES; tries++) {
		status = try_lock(child->lock);
		if (status == 0) {
			child->holder.is_there = false; /* the holder has released it meanwhile */
			return 0;
		}
		if (status != -EADDRINUSE)
			return rna_error_set(error, status,
					     "cannot take the lock for a loopback test");
		status = find_holder(&child->holder);
		if (status == -EAGAIN || (status == 0 && !is_trusted(child->holder.uid, agent)))
			return 0; /* held by another user, or its backlog is full */
		if (status != -ECONNREFUSED)
			return rna_error_say(error, -EBUSY, "another self-test runs on this node");
		(void)sched_yield(); /* it was just released, or its holder does not listen yet */
	}
	return 0;
}

static void release_lock(struct rna_loopback_child *child)
{
	if (child->lock >= 0)
		(void)close(child->lock);
	child->lock = -1;
}

/* -- The parent's side ------------------------------------------------------------------------- */

int rna_loopback_child_start(const struct rna_loopback_request *request, uid_t agent,
			     struct rna_loopback_child *ret, struct rna_error *error)
{
	char name[sizeof(RNA_LOOPBACK_PROGRAM) + RNA_LOOPBACK_NAME_MAX + 16];
	int status;

	*ret = RNA_LOOPBACK_CHILD_INIT;
	status = take_lock(ret, agent, error);
	if (status < 0) {
		release_lock(ret);
		return status;
	}
	(void)snprintf(name, sizeof(name), RNA_LOOPBACK_PROGRAM " %s/%u", request->device,
		       request->port);
	status = rna_child_start(name, request, sizeof(*request), &ret->process);
	if (status < 0) {
		release_lock(ret);
		return rna_error_set(error, status, "cannot start a loopback test");
	}
	return 0;
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

static int explain_end(const struct rna_loopback_child *child, rna_usec patience,
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
		return rna_error_say(error, -ECHILD, "the loopback test has no result");
	if (info.si_code == CLD_EXITED)
		return rna_error_say(error, -ECHILD,
				     "the loopback test ended without a result, exit status %d",
				     info.si_status);
	return rna_error_say(error, is_from_outside(info.si_status) ? -ECANCELED : -ECHILD,
			     "the loopback test was killed by signal %d (%s)", info.si_status,
			     strsignal(info.si_status));
}

int rna_loopback_child_receive(struct rna_loopback_child *child, rna_usec patience,
			       struct rna_loopback_result *ret, struct rna_error *error)
{
	struct pollfd waiting = {.fd = child->process.fd, .events = POLLIN};
	int ready = poll(&waiting, 1, poll_timeout(patience));
	ssize_t len;

	if (ready < 0 && errno != EINTR)
		return rna_error_set(error, -errno, "cannot wait for a loopback test");
	if (ready <= 0)
		return rna_error_say(error, -ETIMEDOUT, "the loopback test has no result yet");
	len = recv(child->process.fd, ret, sizeof(*ret), 0);
	if (len == sizeof(*ret)) {
		ret->text[sizeof(ret->text) - 1] = '\0';
		return 0;
	}
	return explain_end(child, patience, error);
}

bool rna_loopback_child_stop(struct rna_loopback_child *child, rna_usec patience)
{
	bool ended = rna_child_stop(&child->process, patience);

	release_lock(child);
	return ended;
}
