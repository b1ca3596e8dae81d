// SPDX-License-Identifier: Apache-2.0
#include "test_lock.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rna/base/cleanup.h"

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

static int take(int fd, uid_t agent, struct rna_loopback_holder *holder, struct rna_error *error)
{
	int status;

	for (unsigned tries = 0; tries < TRIES; tries++) {
		status = try_lock(fd);
		if (status == 0) {
			holder->is_there = false; /* the holder has released it meanwhile */
			return 0;
		}
		if (status != -EADDRINUSE)
			return rna_error_set(error, status,
					     "cannot take the lock for a loopback test");
		status = find_holder(holder);
		if (status == -EAGAIN || (status == 0 && !is_trusted(holder->uid, agent)))
			return 0; /* held by another user, or its backlog is full */
		if (status != -ECONNREFUSED)
			return rna_error_say(error, -EBUSY, "another self-test runs on this node");
		(void)sched_yield(); /* it was just released, or its holder does not listen yet */
	}
	return 0;
}

int rna_test_lock_take(uid_t agent, int *ret, struct rna_loopback_holder *holder,
		       struct rna_error *error)
{
	RNA_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int status;

	if (fd < 0)
		return rna_error_set(error, -errno, "cannot create the lock for a loopback test");
	status = take(fd, agent, holder, error);
	if (status < 0)
		return status;
	*ret = fd;
	fd = -1;
	return 0;
}

void rna_test_lock_release(int *fd)
{
	rna_close_p(fd);
	*fd = -1;
}
