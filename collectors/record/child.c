// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rna/base/cleanup.h"

/* For one that was killed and is not stuck. */
#define LAST_PATIENCE (200 * RNA_USEC_PER_MSEC)

/* A child that stays behind must not keep open what somebody reads until its end. */
static void leave_standard_streams(void)
{
	RNA_CLOSE int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		(void)dup2(nothing, fd); /* without /dev/null they stay, which only delays */
}

int rna_child_start(struct rna_child *child, void (*work)(int fd, const void *userdata),
		    const void *userdata)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	pid = fork();
	if (pid < 0) {
		int error = -errno;

		(void)close(ends[0]);
		(void)close(ends[1]);
		return error;
	}
	if (pid == 0) {
		(void)close(ends[0]);
		leave_standard_streams();
		work(ends[1], userdata);
		_exit(EXIT_SUCCESS);
	}
	(void)close(ends[1]); /* the child's */
	*child = (struct rna_child){.pid = pid, .fd = ends[0]};
	return 0;
}

ssize_t rna_child_receive(const struct rna_child *child, void *buffer, size_t size,
			  rna_usec patience)
{
	struct pollfd waiting = {.fd = child->fd, .events = POLLIN};
	int ready = poll(&waiting, 1, (int)(patience / RNA_USEC_PER_MSEC));
	ssize_t len;

	if (ready < 0)
		return -errno;
	if (ready == 0)
		return -ETIMEDOUT;
	len = recv(child->fd, buffer, size, 0);
	if (len < 0)
		return -errno;
	return len > 0 ? len : -EPIPE;
}

void rna_child_stop(struct rna_child *child)
{
	ssize_t len = 1;
	char rest;

	if (child->pid <= 0)
		return;
	(void)kill(child->pid, SIGKILL);
	while (len > 0)
		len = rna_child_receive(child, &rest, sizeof(rest), LAST_PATIENCE);
	/* Its end of the connection is open as long as it is stuck. */
	(void)waitpid(child->pid, NULL, len == -EPIPE ? 0 : WNOHANG);
	(void)close(child->fd);
	child->pid = 0;
}
