// SPDX-License-Identifier: Apache-2.0
#include "bandwidth_listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/base/clock.h"
#include "rna/base/log.h"

#define CALL_PATIENCE (3 * RNA_USEC_PER_SEC)

enum {
	BACKLOG = 16,
	CALLERS_MAX = 8, /* the oldest one makes room: a node calls within a round trip */
	CONNECTIONS_A_SECOND = 20,
};

/* A connection without a call yet. */
struct caller {
	struct rna_bandwidth_listener *listener; /* NULL: this place is free */
	int fd;
	sd_event_source *source, *deadline;
	rna_usec since; /* monotonic */
	struct rna_bandwidth_session session;
	size_t got;
	uint8_t data[RNA_BANDWIDTH_MESSAGE];
};

struct rna_bandwidth_listener {
	sd_event *event;
	struct rna_bandwidth_listener_handlers handlers;
	int fd;
	sd_event_source *source;
	struct caller callers[CALLERS_MAX];
	uint64_t strangers;
	bool told; /* of a stranger, since the last authentic call */
};

/* -- Callers ----------------------------------------------------------------------------------- */

static void forget(struct caller *caller)
{
	(void)sd_event_source_disable_unref(caller->source);
	(void)sd_event_source_disable_unref(caller->deadline);
	rna_close_p(&caller->fd);
	explicit_bzero(caller, sizeof(*caller));
}

/* why: a phrase about the caller. Logged once between two authentic calls. */
static void turn_away(struct caller *caller, const char *why)
{
	struct rna_bandwidth_listener *listener = caller->listener;

	listener->strangers++;
	if (!listener->told)
		rna_log_notice("bandwidth: closed a connection to probe.bandwidth_port: %s; "
			       "further ones are only counted",
			       why);
	listener->told = true;
	forget(caller);
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source, (void)usec;
	turn_away(userdata, "it sent no call in time");
	return 0;
}

static void take_call(struct caller *caller)
{
	struct rna_bandwidth_listener *listener = caller->listener;
	struct rna_bandwidth_message message;
	int status = rna_bandwidth_read(&caller->session, caller->data, &message);

	if (status < 0) {
		turn_away(caller, rna_bandwidth_mistake(status));
		return;
	}
	if (message.kind != RNA_BANDWIDTH_KIND_CALL) {
		turn_away(caller, "it sent another message than a call");
		return;
	}
	listener->told = false;
	listener->handlers.called(caller->fd, &caller->session, &message.call,
				  listener->handlers.userdata);
	forget(caller);
}

static int on_data(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct caller *caller = userdata;
	ssize_t len = recv(fd, caller->data + caller->got, sizeof(caller->data) - caller->got,
			   MSG_DONTWAIT);

	(void)source, (void)events;
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (len <= 0) {
		turn_away(caller, "it closed the connection without a call");
		return 0;
	}
	caller->got += (size_t)len;
	if (caller->got == sizeof(caller->data))
		take_call(caller);
	return 0;
}

/* -- Connections ------------------------------------------------------------------------------- */

static struct caller *find_place(struct rna_bandwidth_listener *listener)
{
	struct caller *oldest = &listener->callers[0];

	for (size_t i = 0; i < CALLERS_MAX; i++) {
		if (!listener->callers[i].listener)
			return &listener->callers[i];
		if (listener->callers[i].since < oldest->since)
			oldest = &listener->callers[i];
	}
	turn_away(oldest, "others connected before it sent a call");
	return oldest;
}

/* A challenge fits the buffer of a new connection, so that this does not wait. */
static bool say(int fd, struct rna_bandwidth_session *session,
		const struct rna_bandwidth_message *message)
{
	uint8_t data[RNA_BANDWIDTH_MESSAGE];

	return rna_bandwidth_write(session, message, data) == 0 &&
	       send(fd, data, sizeof(data), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(data);
}

static bool greet(struct caller *caller, const uint8_t *key)
{
	const struct rna_bandwidth_message challenge = {.kind = RNA_BANDWIDTH_KIND_CHALLENGE};
	sd_event *event = caller->listener->event;

	return rna_bandwidth_session_begin(&caller->session, key, false) == 0 &&
	       say(caller->fd, &caller->session, &challenge) &&
	       sd_event_add_io(event, &caller->source, caller->fd, EPOLLIN, on_data, caller) >= 0 &&
	       sd_event_add_time_relative(event, &caller->deadline, CLOCK_MONOTONIC, CALL_PATIENCE,
					  0, on_deadline, caller) >= 0;
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_bandwidth_listener *listener = userdata;
	const uint8_t *key = listener->handlers.key(listener->handlers.userdata);
	RNA_CLOSE int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct caller *caller;

	(void)source, (void)events;
	if (connection < 0 || !key)
		return 0; /* without descriptors the rate limits how often this is tried */
	caller = find_place(listener);
	caller->listener = listener;
	caller->fd = connection;
	caller->since = rna_clock_monotonic();
	connection = -1;
	if (!greet(caller, key))
		forget(caller); /* no memory, or it is gone */
	return 0;
}

void rna_bandwidth_listener_refuse(int fd, struct rna_bandwidth_session *session,
				   enum rna_skip skip, const char *text)
{
	struct rna_bandwidth_message message = {
		.kind = RNA_BANDWIDTH_KIND_OUTCOME,
		.outcome = {.end = RNA_LOOPBACK_SKIPPED, .skip = skip},
	};

	(void)snprintf(message.outcome.text, sizeof(message.outcome.text), "%.*s",
		       (int)sizeof(message.outcome.text) - 1, text);
	(void)say(fd, session, &message); /* the other side sees the connection end, too */
}

/* -- The listener ------------------------------------------------------------------------------ */

static int bind_to(int fd, int family, unsigned tcp_port)
{
	static const int on = 1, off = 0;
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)tcp_port)};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)tcp_port)};
	int ret;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	if (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) < 0)
		return -errno;
	ret = family == AF_INET6 ? bind(fd, (const void *)&v6, sizeof(v6))
				 : bind(fd, (const void *)&v4, sizeof(v4));
	return ret < 0 || listen(fd, BACKLOG) < 0 ? -errno : 0;
}

static int listen_in(int family, unsigned tcp_port, int *ret)
{
	RNA_CLOSE int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int status = fd < 0 ? -errno : bind_to(fd, family, tcp_port);

	if (status < 0)
		return status;
	*ret = fd;
	fd = -1;
	return 0;
}

/* A kernel without IPv6 has no such sockets, or no such addresses. */
static int listen_on(unsigned tcp_port, int *ret)
{
	int status = listen_in(AF_INET6, tcp_port, ret);

	return status == -EAFNOSUPPORT || status == -EADDRNOTAVAIL
		       ? listen_in(AF_INET, tcp_port, ret)
		       : status;
}

int rna_bandwidth_listener_open(sd_event *event, unsigned tcp_port,
				const struct rna_bandwidth_listener_handlers *handlers,
				struct rna_bandwidth_listener **ret, struct rna_error *error)
{
	struct rna_bandwidth_listener *listener = calloc(1, sizeof(*listener));
	int status = -ENOMEM;

	if (listener) {
		listener->event = event;
		listener->handlers = *handlers;
		listener->fd = -1;
		status = listen_on(tcp_port, &listener->fd);
	}
	if (status >= 0)
		status = sd_event_add_io(event, &listener->source, listener->fd, EPOLLIN,
					 on_connection, listener);
	if (status >= 0)
		status = sd_event_source_set_ratelimit(listener->source, RNA_USEC_PER_SEC,
						       CONNECTIONS_A_SECOND);
	if (status >= 0) {
		*ret = listener;
		return 0;
	}
	(void)rna_bandwidth_listener_close(listener);
	return rna_error_set(error, status, "probe.bandwidth_port: cannot listen on port %u",
			     tcp_port);
}

struct rna_bandwidth_listener *rna_bandwidth_listener_close(struct rna_bandwidth_listener *listener)
{
	if (!listener)
		return NULL;
	for (size_t i = 0; i < CALLERS_MAX; i++)
		if (listener->callers[i].listener)
			forget(&listener->callers[i]);
	(void)sd_event_source_disable_unref(listener->source);
	rna_close_p(&listener->fd);
	free(listener);
	return NULL;
}

uint64_t rna_bandwidth_listener_strangers(const struct rna_bandwidth_listener *listener)
{
	return listener ? listener->strangers : 0;
}
