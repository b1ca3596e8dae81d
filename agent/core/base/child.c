// SPDX-License-Identifier: Apache-2.0
#include "rna/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/base/proc_stat.h"

enum { LOOK_PERIOD = 10000 }; /* microseconds between two looks at a child without pidfd */

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

/* If memory runs out, the OOM killer should choose this process and not a job. */
static void offer_to_oom_killer(void)
{
	RNA_CLOSE int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, "1000", 4); /* raising oom_score_adj is always allowed */
}

/*
 * If the parent died before prctl(), its first message is still in the socket, but its end is
 * closed: POLLHUP is always reported.
 */
static bool is_orphan(void)
{
	struct pollfd parent = {.fd = RNA_CHILD_SOCKET};

	return poll(&parent, 1, 0) != 0;
}

bool rna_child_begin(const struct rna_child_limits *limits)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, limits->name);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit(RLIMIT_NOFILE, limits->descriptors);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, limits->file_bytes);
	raise_memlock();
	offer_to_oom_killer();
	return !is_orphan();
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
		error = posix_spawn_file_actions_adddup2(actions, socket, RNA_CHILD_SOCKET);
	if (error == 0)
		error = posix_spawn_file_actions_addclosefrom_np(actions, RNA_CHILD_SOCKET + 1);
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
static int spawn(const char *name, int socket, pid_t *ret)
{
	RNA_CLEANUP(destroy_actions) posix_spawn_file_actions_t actions;
	char *argv[] = {(char *)(uintptr_t)name, NULL};
	posix_spawnattr_t attributes;
	int status;

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
static int open_pidfd(struct rna_child *child)
{
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	return child->pidfd >= 0 || errno == ENOSYS || errno == EPERM ? 0 : -errno;
}

int rna_child_start(const char *name, const void *first, size_t len, struct rna_child *ret)
{
	RNA_CLOSE int theirs = -1;
	int ends[2], status = 0;

	*ret = RNA_CHILD_INIT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	ret->fd = ends[0];
	theirs = ends[1];
	if (first && send(ret->fd, first, len, MSG_NOSIGNAL) < 0)
		status = -errno;
	if (status == 0)
		status = spawn(name, theirs, &ret->pid);
	if (status == 0)
		status = open_pidfd(ret);
	if (status < 0)
		(void)rna_child_stop(ret, 2 * RNA_USEC_PER_SEC);
	return status;
}

bool rna_child_has_ended(pid_t pid)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) < 0 || info.si_pid != 0;
}

char rna_child_state(pid_t pid)
{
	char text[RNA_PROC_STAT_MAX], *fields;

	return rna_proc_stat_read(pid, text, &fields) < 0 ? '\0' : fields[0];
}

bool rna_child_await(const struct rna_child *child, rna_usec patience)
{
	struct pollfd waiting = {.fd = child->pidfd, .events = POLLIN};
	rna_usec begin = rna_clock_monotonic();
	bool ended;

	if (child->pidfd >= 0)
		return poll(&waiting, 1, (int)(patience / RNA_USEC_PER_MSEC)) > 0;
	while (!(ended = rna_child_has_ended(child->pid)) &&
	       rna_usec_since(begin, rna_clock_monotonic()) < patience)
		(void)usleep(LOOK_PERIOD);
	return ended;
}

void rna_child_kill(const struct rna_child *child)
{
	if (child->pid > 0)
		/* not reaped yet, so the pid is still the child's */
		(void)kill(child->pid, SIGKILL);
}

bool rna_child_stop(struct rna_child *child, rna_usec patience)
{
	if (child->fd >= 0)
		(void)close(child->fd);
	child->fd = -1;
	rna_child_kill(child);
	if (child->pid > 0 && !rna_child_await(child, patience))
		return false;
	if (child->pid > 0)
		(void)waitpid(child->pid, NULL, 0);
	if (child->pidfd >= 0)
		(void)close(child->pidfd);
	*child = RNA_CHILD_INIT;
	return true;
}
