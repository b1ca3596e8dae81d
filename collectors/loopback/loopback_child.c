// SPDX-License-Identifier: Apache-2.0
/*
 * The child that runs loopback tests: this program, started anew, with nothing of ours but a
 * socket. It dies with its parent, and of its limits if it runs wild; the kernel takes back its
 * queue pairs and memory then.
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
	CHILD_SECONDS = 30, /* of CPU, beyond the test itself, which polls all the time */
	CHILD_DESCRIPTORS = 256,
	CHILD_FILE_BYTES = 64 << 20, /* CUDA has shared memory and a cache of its own */
	LOOK_PERIOD = 10000,         /* microseconds, between two looks for a child without pidfd */
};

/* -- The child's side -------------------------------------------------------------------------- */

static void limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit both = {value, value};

	(void)setrlimit(resource, &both); /* lowering it is always allowed */
}

/* As much locked memory as we may have; a service usually gets a soft limit that is too low. */
static void raise_memlock(void)
{
	struct rlimit memlock;

	if (getrlimit(RLIMIT_MEMLOCK, &memlock) == 0) {
		memlock.rlim_cur = memlock.rlim_max;
		(void)setrlimit(RLIMIT_MEMLOCK, &memlock);
	}
}

/* Writes for as long as was asked for; buffers are filled and compared besides. */
static void limit_time(const struct rna_loopback_request *request)
{
	limit(RLIMIT_CPU, CHILD_SECONDS + (rlim_t)(request->time_limit / RNA_USEC_PER_SEC));
}

/* If memory runs out, the kernel should kill this test and not a job. */
static void offer_to_oom_killer(void)
{
	RNA_CLOSE int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, "1000", 4); /* raising it is always allowed */
}

static void confine(void)
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

/* Of a parent that died before prctl() the request is still there; its end of the socket is not. */
static bool is_orphan(void)
{
	struct pollfd parent = {.fd = CHILD_SOCKET};

	return poll(&parent, 1, 0) != 0; /* it hung up, which needs no asking for */
}

int rna_loopback_child_main(void)
{
	struct rna_loopback_request request;
	struct rna_loopback_result result;

	confine();
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
 * An abstract name: nothing to clean up, no right needed, and it goes with the process that holds
 * it. It is one for all who share a network namespace, which agents in containers do (hostNetwork);
 * a file would need a directory that these share with the node.
 *
 * The first process gets the name, and any user of the node can bind it. So the holder listens, and
 * the kernel reports its process: the lock is respected if it is root's, to those of services, of
 * the same user, and of the one who owns the state directory, which only root can assign: an agent
 * may have a user of any number. Others are users of a port as any, which the gate sees.
 */
#define LOCK_NAME "rdma-node-agent/selftest"

enum {
	SYSTEM_UID_MAX = 999, /* root and services, as a rule ours among them (sysusers.d(5)) */
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

/* 0: it is ours until it is closed. */
static int try_lock(int fd)
{
	socklen_t len;
	struct sockaddr_un address = lock_address(&len);

	if (bind(fd, (const struct sockaddr *)&address, len) < 0 || listen(fd, SOMAXCONN) < 0)
		return -errno;
	return 0;
}

/* The holder of the lock; -ECONNREFUSED: none, -EAGAIN: its queue of connections is full. */
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
 * The parent holds the lock, not the child: a child that is stuck in the kernel could not release
 * it, and other devices must still be tested.
 */
static int take_lock(struct rna_loopback_child *child, uid_t agent, struct rna_error *error)
{
	int status;

	child->lock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (child->lock < 0)
		return rna_error_set(error, -errno, "cannot make a lock for a loopback test");
	for (unsigned tries = 0; tries < TRIES; tries++) {
		status = try_lock(child->lock);
		if (status == 0) {
			child->holder.is_there = false; /* he has let go meanwhile */
			return 0;
		}
		if (status != -EADDRINUSE)
			return rna_error_set(error, status,
					     "cannot take the lock for a loopback test");
		status = find_holder(&child->holder);
		if (status == -EAGAIN || (status == 0 && !is_trusted(child->holder.uid, agent)))
			return 0; /* a stranger's, or besieged by strangers */
		if (status != -ECONNREFUSED)
			return rna_error_say(error, -EBUSY, "another self-test runs on this node");
		(void)sched_yield(); /* it was just let go of, or is about to be listened at */
	}
	return 0;
}

static void let_go(struct rna_loopback_child *child)
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

/* Standard streams lead nowhere: libibverbs writes warnings, and stdout may be a pipe. */
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

/* Signals that the agent blocks for its loop are not blocked in the child. */
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
 * The environment goes with it: libcuda may only be found by LD_LIBRARY_PATH, and obeys
 * CUDA_VISIBLE_DEVICES; libibverbs has variables of its own as well.
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
	(void)posix_spawn_file_actions_init(&actions); /* neither can fail in glibc */
	(void)posix_spawnattr_init(&attributes);
	status = describe_descriptors(&actions, socket);
	if (status == 0)
		status = describe_signals(&attributes);
	if (status == 0)
		status = -posix_spawn(ret, "/proc/self/exe", &actions, &attributes, argv, environ);
	(void)posix_spawnattr_destroy(&attributes);
	return status;
}

/* Older kernels and some filters of system calls have no pidfd: it is looked for by pid then. */
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
		status = rna_error_set(error, -errno, "cannot make a socket for a loopback test");
	if (status < 0) {
		let_go(ret);
		return status;
	}
	ret->fd = ends[0];
	theirs = ends[1];
	/* Before there is a child: it finds the request as soon as it looks. */
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

/* By the kernel (out of memory), by a limit, or by a user: independent of the port. */
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
	 * Its socket is closed before its devices are, which may take for ever. It is left to be
	 * reaped by rna_loopback_child_stop().
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
		(void)kill(child->pid, SIGKILL); /* not yet reaped, so it is ours */
}

bool rna_loopback_child_stop(struct rna_loopback_child *child, rna_usec patience)
{
	bool ended;

	if (child->fd >= 0)
		(void)close(child->fd);
	child->fd = -1;
	rna_loopback_child_kill(child);
	ended = child->pid <= 0 || await_end(child, patience);
	let_go(child);
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
