// SPDX-License-Identifier: Apache-2.0
/*
 * Monitors: rtnetlink and uevents, on plain sockets.
 *
 * libnl would allocate memory for each message of a storm. sd-device receives the events of udevd,
 * which arrive later, and none if /run/udev is missing, as in a container (systemd,
 * src/libsystemd/sd-device/device-monitor.c).
 */
#include "rna/monitor.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "parse/kmsg.h"

enum {
	BATCH = 64, /* datagrams per call, so that other event sources of the loop get their turn */
	MESSAGE_MAX = 32 * 1024,
	RECEIVE_BUFFER = 1024 * 1024,
	UEVENT_GROUP = 1, /* the kernel's group; udevd's is 2 */
};

static unsigned group_bit(unsigned group)
{
	return 1u << (group - 1);
}

/*
 * A size above the system limit needs a capability; with a smaller buffer a storm overruns it
 * sooner and causes a rescan.
 */
static void enlarge(int fd)
{
	const int size = RECEIVE_BUFFER;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

static int open_monitor(int protocol, unsigned groups)
{
	const struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);

	if (fd < 0)
		return -errno;
	enlarge(fd);
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		int error = -errno;

		(void)close(fd);
		return error;
	}
	return fd;
}

int rna_link_monitor_open(struct rna_error *error)
{
	int fd = open_monitor(NETLINK_ROUTE, group_bit(RTNLGRP_LINK) |
						     group_bit(RTNLGRP_IPV4_IFADDR) |
						     group_bit(RTNLGRP_IPV6_IFADDR));

	return fd < 0 ? rna_error_set(error, fd, "cannot listen to rtnetlink") : fd;
}

int rna_uevent_monitor_open(struct rna_error *error)
{
	int fd = open_monitor(NETLINK_KOBJECT_UEVENT, group_bit(UEVENT_GROUP));

	return fd < 0 ? rna_error_set(error, fd, "cannot listen to uevents") : fd;
}

/*
 * Receives the next datagram of the kernel; ignores those of other senders. Length; 0: none; or
 * negative errno.
 */
static ssize_t receive(int fd, char *buffer, size_t size)
{
	struct sockaddr_nl from = {0};
	socklen_t from_len = sizeof(from);
	ssize_t len;

	do {
		len = recvfrom(fd, buffer, size, 0, (struct sockaddr *)&from, &from_len);
	} while ((len >= 0 && from.nl_pid != 0) || (len < 0 && errno == EINTR));
	if (len < 0)
		return errno == EAGAIN ? 0 : -errno;
	return len;
}

static bool read_link_event(struct nlmsghdr *message, struct rna_link_event *ret)
{
	bool address = message->nlmsg_type == RTM_NEWADDR || message->nlmsg_type == RTM_DELADDR;

	if (address && message->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifaddrmsg))) {
		const struct ifaddrmsg *body = NLMSG_DATA(message);

		*ret = (struct rna_link_event){body->ifa_index, true};
		return true;
	}
	if ((message->nlmsg_type == RTM_NEWLINK || message->nlmsg_type == RTM_DELLINK) &&
	    message->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifinfomsg))) {
		const struct ifinfomsg *body = NLMSG_DATA(message);

		*ret = (struct rna_link_event){(unsigned)body->ifi_index, false};
		return true;
	}
	return false;
}

int rna_link_monitor_read(int fd,
			  void (*handle)(const struct rna_link_event *event, void *userdata),
			  void *userdata)
{
	_Alignas(struct nlmsghdr) char buffer[MESSAGE_MAX];
	int count = 0;

	for (int i = 0; i < BATCH; i++) {
		ssize_t received = receive(fd, buffer, sizeof(buffer));
		struct nlmsghdr *message = (void *)buffer;
		struct rna_link_event event;

		if (received <= 0)
			return received < 0 ? (int)received : count;
		for (unsigned left = (unsigned)received; NLMSG_OK(message, left);
		     message = NLMSG_NEXT(message, left)) {
			if (!read_link_event(message, &event))
				continue;
			handle(&event, userdata);
			count++;
		}
	}
	return count;
}

/* "add@/devices/...", then "KEY=value" texts, each NUL-terminated (lib/kobject_uevent.c). */
static bool read_uevent(char *buffer, size_t len, struct rna_uevent *ret)
{
	char *at = strchr(buffer, '@'), *slash = strrchr(buffer, '/');

	if (!at || !slash)
		return false;
	*at = '\0';
	*ret = (struct rna_uevent){.action = buffer, .subsystem = "", .name = slash + 1};
	for (char *text = slash + strlen(slash) + 1; text < buffer + len; text += strlen(text) + 1)
		if (strncmp(text, "SUBSYSTEM=", strlen("SUBSYSTEM=")) == 0)
			ret->subsystem = text + strlen("SUBSYSTEM=");
	return true;
}

int rna_uevent_monitor_read(int fd, void (*handle)(const struct rna_uevent *event, void *userdata),
			    void *userdata)
{
	char buffer[MESSAGE_MAX];
	int count = 0;

	for (int i = 0; i < BATCH; i++) {
		ssize_t len = receive(fd, buffer, sizeof(buffer) - 1);
		struct rna_uevent event;

		if (len <= 0)
			return len < 0 ? (int)len : count;
		buffer[len] = '\0';
		if (!read_uevent(buffer, (size_t)len, &event))
			continue;
		handle(&event, userdata);
		count++;
	}
	return count;
}

int rna_kmsg_monitor_open(const struct rna_root *root)
{
	return rna_kmsg_open(root);
}

int rna_kmsg_monitor_skip(int fd)
{
	return rna_kmsg_skip(fd);
}
