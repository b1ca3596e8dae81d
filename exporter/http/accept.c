// SPDX-License-Identifier: Apache-2.0
#include "accept.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/base/clock.h"

#define PAUSE (100 * RNA_USEC_PER_MSEC) /* after a failure */

enum { TIMER_ACCURACY = 1000 /* microseconds; the default of sd-event is 250 ms */ };

/*
 * Of this connection only: accept(2) passes on errors that are already pending on the new socket,
 * and firewall rules may forbid one.
 */
static bool is_about_one(int error)
{
	static const int errors[] = {
		ECONNABORTED, EINTR,        EPERM,      ENETDOWN,    EPROTO,    ENOPROTOOPT,
		EHOSTDOWN,    EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, ETIMEDOUT,
	};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(errors); i++)
		if (errors[i] == error)
			return true;
	return false;
}

/*
 * The socket is readable as long as a client waits. Without a pause the loop would spin until there
 * are descriptors or memory again. If there is no memory for the timer either, it spins.
 */
static void pause_accepting(struct rna_accept *accept)
{
	if (sd_event_source_set_time_relative(accept->again, PAUSE) >= 0 &&
	    sd_event_source_set_enabled(accept->again, SD_EVENT_ONESHOT) >= 0)
		(void)sd_event_source_set_enabled(accept->io, SD_EVENT_OFF);
}

/* False: no more for now. */
static bool accept_one(struct rna_accept *accept)
{
	struct sockaddr_storage address = {0};
	socklen_t len = sizeof(address);
	int fd = accept4(accept->fd, (struct sockaddr *)&address, &len,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0 && is_about_one(errno))
		return true;
	if (fd < 0) {
		if (errno != EAGAIN)
			pause_accepting(accept);
		return false;
	}
	accept->count++;
	accept->handlers.connection(fd, (const struct sockaddr *)&address, len,
				    accept->handlers.userdata);
	return true;
}

/* Never a failure, after which sd-event would stop watching the socket. */
static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_accept *accept = userdata;
	unsigned turns = 0;

	(void)source, (void)fd, (void)events;
	while (turns < accept->handlers.batch && accept_one(accept))
		turns++;
	if (turns > 0)
		accept->handlers.done(accept->handlers.userdata);
	return 0;
}

static int on_again(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct rna_accept *accept = userdata;

	(void)source, (void)usec;
	(void)sd_event_source_set_enabled(accept->io, SD_EVENT_ON); /* cannot fail: it was on */
	return 0;
}

bool rna_accept_check(struct rna_accept *accept)
{
	struct pollfd poll_fd = {.fd = accept->fd, .events = POLLIN};
	bool waits = poll(&poll_fd, 1, 0) > 0;
	bool deaf = waits && accept->waited && accept->count == accept->checked;

	accept->waited = waits;
	accept->checked = accept->count;
	return !deaf;
}

int rna_accept_start(struct rna_accept *accept, sd_event *event, int fd,
		     const struct rna_accept_handlers *handlers)
{
	int flags = fcntl(fd, F_GETFL), r;

	*accept = (struct rna_accept){.fd = fd, .handlers = *handlers};
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	r = sd_event_add_time_relative(event, &accept->again, CLOCK_MONOTONIC, 0, TIMER_ACCURACY,
				       on_again, accept);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(accept->again, SD_EVENT_OFF);
	if (r < 0)
		return r;
	return sd_event_add_io(event, &accept->io, fd, EPOLLIN, on_io, accept);
}

void rna_accept_stop(struct rna_accept *accept)
{
	if (!accept->handlers.connection)
		return; /* not started */
	accept->io = sd_event_source_disable_unref(accept->io);
	accept->again = sd_event_source_disable_unref(accept->again);
	(void)close(accept->fd);
	*accept = (struct rna_accept){0};
}
