// SPDX-License-Identifier: Apache-2.0
/*
 * The child that runs loopback tests: this program, executed again, which inherits only a socket.
 * It is killed when its parent ends, and by its resource limits if it gets out of control; the
 * kernel then frees its queue pairs and memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/model/loopback.h"

enum {
	CHILD_SOCKET = 3,
	CHILD_SECONDS = 30, /* seconds of CPU in addition to the test, which polls all the time */
	CHILD_DESCRIPTORS = 256,
	CHILD_FILE_BYTES = 64 << 20, /* for CUDA's shared memory and cache */
	LOOK_PERIOD = 10000,         /* microseconds between two checks for a child without pidfd */
};

/* -- The child's side -------------------------------------------------------------------------- */

static void limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit both = {value, value};

	(void)setrlimit(resource, &both); /* lowering a limit is always allowed */
}

/*
 * Raises the soft limit of locked memory to the hard limit; the soft limit of services is usually
 * too low.
 */
static void raise_memlock(void)
{
	struct rlimit memlock;

	if (getrlimit(RLIMIT_MEMLOCK, &memlock) == 0) {
		memlock.rlim_cur = memlock.rlim_max;
		(void)setrlimit(RLIMIT_MEMLOCK, &memlock);
	}
}

/*
 * The test writes for the requested time; filling and comparing buffers takes additional CPU time.
 */
static void limit_time(const struct rna_loopback_request *request)
{
	limit(RLIMIT_CPU, CHILD_SECONDS + (rlim_t)(request->time_limit / RNA_USEC_PER_SEC));
}

/* If memory runs out, the OOM killer should choose this test and not a job. */
static void offer_to_oom_killer(void)
{
	RNA_CLOSE int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, "1000", 4); /* raising oom_score_adj is always allowed */
}

static void set_limits(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "rna-loopback");
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit(RLIMIT_NOFILE, CHILD_DESCRIPTORS);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, CHILD_FILE_BYTES);
	raise_memlock();
	offer_to_oom_killer();
}

/*
 * If the parent died before prctl(), the request is still in the socket, but the parent's end is
 * closed.
 */
static bool is_orphan(void)
{
	struct pollfd parent = {.fd = CHILD_SOCKET};

	return poll(&parent, 1, 0) != 0; /* POLLHUP is always reported */
}

int rna_loopback_child_main(void)
{
	struct rna_loopback_request request;
	struct rna_loopback_result result;

	set_limits();
	if (is_orphan() || recv(CHILD_SOCKET, &request, sizeof(request), 0) != sizeof(request))
		return EXIT_FAILURE;
	limit_time(&request);
	rna_loopback_run(&request, &result);
	return send(CHILD_SOCKET, &result, sizeof(result), MSG_NOSIGNAL) == sizeof(result)
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

static void release_child(struct rna_loopback_child *child)
{
	if (child->lock >= 0)
		(void)close(child->lock);
	child->lock = -1;
}

/* -- The parent's side ------------------------------------------------------------------------- */

static void destroy_actions(posix_spawn_file_actions_t *actions)
{
	(void)posix_spawn_file_actions_destroy(actions);
}

/*
 * Standard streams are /dev/null: libibverbs writes warnings, and stdout may be a pipe of another
 * program.
 */
static int describe_descriptors(posix_spawn_file_actions_t *actions, int socket)
{
	int error = 0;

	for (int fd = STDIN_FILENO; error == 0 && fd <= STDERR_FILENO; fd++)
		error = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
	if (error == 0)
		error = posix_spawn_file_actions_adddup2(actions, socket, CHILD_SOCKET);
	if (error == 0)
		error = posix_spawn_file_actions_addclosefrom_np(actions, CHILD_SOCKET + 1);
	return -error;
}

/* Unblocks the signals that the agent blocks for its loop. */
static int describe_signals(posix_spawnattr_t *attributes)
{
	sigset_t none;
	int error;

	(void)sigemptyset(&none);
	error = posix_spawnattr_setsigmask(attributes, &none);
	if (error == 0)
		error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK);
	return -error;
}

/*
 * Passes the environment: libcuda may need LD_LIBRARY_PATH and obeys CUDA_VISIBLE_DEVICES;
 * libibverbs has its own variables.
 */
static int spawn(const struct rna_loopback_request *request, int socket, pid_t *ret)
{
	RNA_CLEANUP(destroy_actions) posix_spawn_file_actions_t actions;
	char name[sizeof(RNA_LOOPBACK_PROGRAM) + RNA_LOOPBACK_NAME_MAX + 16];
	char *argv[] = {name, NULL};
	posix_spawnattr_t attributes;
	int status;

	(void)snprintf(name, sizeof(name), RNA_LOOPBACK_PROGRAM " %s/%u", request->device,
		       request->port);
	(void)posix_spawn_file_actions_init(&actions); /* cannot fail in glibc */
	(void)posix_spawnattr_init(&attributes);
	status = describe_descriptors(&actions, socket);
	if (status == 0)
		status = describe_signals(&attributes);
	if (status == 0)
		status = -posix_spawn(ret, "/proc/self/exe", &actions, &attributes, argv, environ);
	(void)posix_spawnattr_destroy(&attributes);
	return status;
}

/* Older kernels and some seccomp filters have no pidfd; then the child is checked by pid. */
static int open_pidfd(struct rna_loopback_child *child)
{
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	return child->pidfd >= 0 || errno == ENOSYS || errno == EPERM ? 0 : -errno;
}

int rna_loopback_child_start(const struct rna_loopback_request *request, uid_t agent,
			     struct rna_loopback_child *ret, struct rna_error *error)
{
	RNA_CLOSE int theirs = -1;
	int ends[2], status;

	*ret = RNA_LOOPBACK_CHILD_INIT;
	status = take_lock(ret, agent, error);
	if (status == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		status = rna_error_set(error, -errno, "cannot create a socket for a loopback test");
	if (status < 0) {
		release_child(ret);
		return status;
	}
	ret->fd = ends[0];
	theirs = ends[1];
	/* Sent before the child exists, so that its first read finds the request. */
	if (send(ret->fd, request, sizeof(*request), MSG_NOSIGNAL) < 0)
		status = -errno;
	else
		status = spawn(request, theirs, &ret->pid);
	if (status == 0)
		status = open_pidfd(ret);
	if (status < 0) {
		(void)rna_loopback_child_stop(ret, RNA_LOOPBACK_LAST_PATIENCE);
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

bool rna_loopback_child_has_ended(pid_t pid)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) < 0 || info.si_pid != 0;
}

static bool await_end(const struct rna_loopback_child *child, rna_usec patience)
{
	struct pollfd waiting = {.fd = child->pidfd, .events = POLLIN};
	rna_usec begin = rna_clock_monotonic();
	bool ended;

	if (child->pidfd >= 0)
		return poll(&waiting, 1, poll_timeout(patience)) > 0;
	while (!(ended = rna_loopback_child_has_ended(child->pid)) &&
	       rna_usec_since(begin, rna_clock_monotonic()) < patience)
		(void)usleep(LOOK_PERIOD);
	return ended;
}

static int explain_end(const struct rna_loopback_child *child, rna_usec patience,
		       struct rna_error *error)
{
	siginfo_t info = {0};

	/*
	 * The child's socket closes before its devices, which may take forever.
	 * rna_loopback_child_stop() reaps it.
	 */
	(void)await_end(child, patience);
	(void)waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT | WNOHANG);
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
	struct pollfd waiting = {.fd = child->fd, .events = POLLIN};
	int ready = poll(&waiting, 1, poll_timeout(patience));
	ssize_t len;

	if (ready < 0 && errno != EINTR)
		return rna_error_set(error, -errno, "cannot wait for a loopback test");
	if (ready <= 0)
		return rna_error_say(error, -ETIMEDOUT, "the loopback test has no result yet");
	len = recv(child->fd, ret, sizeof(*ret), 0);
	if (len == sizeof(*ret)) {
		ret->text[sizeof(ret->text) - 1] = '\0';
		return 0;
	}
	return explain_end(child, patience, error);
}

void rna_loopback_child_kill(const struct rna_loopback_child *child)
{
	if (child->pid > 0)
		/* not reaped yet, so the pid is still the child's */
		(void)kill(child->pid, SIGKILL);
}

bool rna_loopback_child_stop(struct rna_loopback_child *child, rna_usec patience)
{
	bool ended;

	if (child->fd >= 0)
		(void)close(child->fd);
	child->fd = -1;
	rna_loopback_child_kill(child);
	ended = child->pid <= 0 || await_end(child, patience);
	release_child(child);
	if (!ended)
		return false;
	if (child->pid <= 0)
		return true;
	(void)waitpid(child->pid, NULL, 0);
	if (child->pidfd >= 0)
		(void)close(child->pidfd);
	*child = RNA_LOOPBACK_CHILD_INIT;
	return true;
}
