// SPDX-License-Identifier: Apache-2.0
/* The child of a bandwidth test, and the side of its parent. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rna/bandwidth.h"
#include "rna/base/cleanup.h"

#include "test_child.h"

/* Room for one descriptor beside a message. */
union rights {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* -- The child's side -------------------------------------------------------------------------- */

/* The connection comes behind the order. -1: there is none. */
static int receive_connection(void)
{
	char byte;
	struct iovec data = {&byte, 1};
	union rights rights;
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = rights.bytes,
		.msg_controllen = sizeof(rights.bytes),
	};
	const struct cmsghdr *header;
	int fd = -1;

	if (recvmsg(RNA_CHILD_SOCKET, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

int rna_bandwidth_child_main(void)
{
	struct rna_bandwidth_order order;
	struct rna_bandwidth_result result;
	RNA_CLOSE int fd = -1;

	if (!rna_test_child_begin("rna-bandwidth") ||
	    recv(RNA_CHILD_SOCKET, &order, sizeof(order), 0) != sizeof(order))
		return EXIT_FAILURE;
	if (!order.session.asks) {
		fd = receive_connection();
		if (fd < 0)
			return EXIT_FAILURE;
	}
	rna_test_child_limit_time(&order.request);
	rna_bandwidth_run(&order, fd, &result);
	explicit_bzero(&order.session, sizeof(order.session));
	return send(RNA_CHILD_SOCKET, &result, sizeof(result), MSG_NOSIGNAL) == sizeof(result)
		       ? EXIT_SUCCESS
		       : EXIT_FAILURE;
}

/* -- The parent's side ------------------------------------------------------------------------- */

static int send_connection(const struct rna_child *child, int fd)
{
	char byte = 0;
	struct iovec data = {&byte, 1};
	union rights rights = {.header = {.cmsg_len = CMSG_LEN(sizeof(fd)),
					  .cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS}};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = rights.bytes,
		.msg_controllen = sizeof(rights.bytes),
	};

	memcpy(CMSG_DATA(&rights.header), &fd, sizeof(fd));
	return sendmsg(child->fd, &message, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

int rna_bandwidth_child_start(const struct rna_bandwidth_order *order, int fd, uid_t agent,
			      struct rna_loopback_child *ret, struct rna_error *error)
{
	const struct rna_test_order first = {RNA_BANDWIDTH_PROGRAM, "bandwidth", &order->request,
					     order, sizeof(*order)};
	int status = rna_test_child_start(&first, agent, ret, error);

	if (status < 0)
		return status;
	if (fd >= 0)
		status = send_connection(&ret->process, fd);
	if (status < 0) {
		(void)rna_loopback_child_stop(ret, RNA_LOOPBACK_LAST_PATIENCE);
		return rna_error_set(error, status, "cannot start a bandwidth test");
	}
	return 0;
}

int rna_bandwidth_child_receive(struct rna_loopback_child *child, struct rna_bandwidth_result *ret,
				struct rna_error *error)
{
	const struct rna_test_reply reply = {"bandwidth", ret, sizeof(*ret)};
	int status = rna_test_child_receive(child, &reply, 0, error);

	if (status == 0)
		ret->text[sizeof(ret->text) - 1] = '\0';
	return status;
}
