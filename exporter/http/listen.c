// SPDX-License-Identifier: Apache-2.0
#include "listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/base/clock.h"
#include "rna/base/parse.h"

#define UNIX_PREFIX "unix:"
#define PAUSE       (100 * RNA_USEC_PER_MSEC) /* after a failure to accept */

enum {
	PORT_MAX = 65535,
	TIMER_ACCURACY = 1000, /* microseconds; the default of sd-event is 250 ms */
	/*
	 * As many as net.core.somaxconn allows by default. If a burst fills the queue, the kernel
	 * drops the packets of further clients, which try again after a second.
	 */
	BACKLOG = 4096,
	UNIX_MODE = 0660,
};

static struct addrinfo *free_addresses(struct addrinfo *list)
{
	if (list)
		freeaddrinfo(list);
	return NULL;
}
RNA_DEFINE_CLEANUP(struct addrinfo, free_addresses)

static bool is_port(const char *text)
{
	uint64_t port;

	return rna_parse_u64(text, &port) == 0 && port <= PORT_MAX;
}

/* Cuts "host:port" or "[host]:port" into its halves, in place. */
static int split(char *address, const char **ret_host, const char **ret_port)
{
	char *host = address, *colon = strrchr(address, ':');

	if (!colon || !is_port(colon + 1))
		return -EINVAL;
	*colon = '\0';
	if (host[0] == '[') {
		if (colon[-1] != ']')
			return -EINVAL;
		colon[-1] = '\0';
		host++;
	} else if (strchr(host, ':')) {
		return -EINVAL; /* IPv6 without brackets: the start of the port is ambiguous */
	}
	*ret_host = host;
	*ret_port = colon + 1;
	return 0;
}

/* host: "" for every address of family. */
static struct addrinfo *resolve(int family, const char *host, const char *port)
{
	bool numeric = strcmp(host, "localhost") != 0;
	struct addrinfo hints = {
		.ai_family = family,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV | (numeric ? AI_NUMERICHOST : 0),
	};
	struct addrinfo *list = NULL;

	return getaddrinfo(*host ? host : NULL, port, &hints, &list) == 0 ? list : NULL;
}

static int listen_on(const struct addrinfo *address, bool only_v6)
{
	RNA_CLOSE int fd = -1;
	int on = 1, v6only = only_v6, ret;

	fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* a restart must not wait for connections of the last run that linger in TIME_WAIT */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	if (address->ai_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof(v6only)) < 0)
		return -errno;
	if (bind(fd, address->ai_addr, address->ai_addrlen) < 0)
		return -errno;
	if (listen(fd, BACKLOG) < 0)
		return -errno;
	ret = fd;
	fd = -1;
	return ret;
}

/* -EINVAL: host is no address. */
static int listen_at(int family, const char *host, const char *port, bool only_v6)
{
	RNA_CLEANUP(free_addresses_p) struct addrinfo *list = resolve(family, host, port);

	return list ? listen_on(list, only_v6) : -EINVAL;
}

static int listen_to(const char *host, const char *port)
{
	int fd;

	if (*host)
		return listen_at(AF_UNSPEC, host, port, true);
	fd = listen_at(AF_INET6, host, port, false);
	/* a kernel without IPv6, or one where it is switched off */
	if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL || fd == -EINVAL)
		fd = listen_at(AF_INET, host, port, false);
	return fd;
}

static int listen_tcp(const char *address, struct rna_error *error)
{
	RNA_FREE char *copy = strdup(address);
	const char *host, *port;
	int fd;

	if (!copy)
		return rna_error_set(error, -ENOMEM, "http.listen");
	fd = split(copy, &host, &port);
	if (fd == 0)
		fd = listen_to(host, port);
	if (fd == -EINVAL)
		return rna_error_say(error, fd,
				     "http.listen: \"%s\" is no address; write 127.0.0.1:10879, "
				     "[::1]:10879, :10879 for all, or unix:/path",
				     address);
	if (fd < 0)
		return rna_error_set(error, fd, "http.listen: cannot listen on %s%s", address,
				     fd == -EADDRINUSE ? ", where another process listens" : "");
	return fd;
}

static int listen_unix(const char *address, struct rna_socket_file *file, struct rna_error *error)
{
	const struct rna_unix_place place = {
		.name = address + strlen(UNIX_PREFIX),
		.type = SOCK_STREAM,
		.mode = UNIX_MODE,
		.backlog = BACKLOG,
	};
	int fd = rna_unix_listen(&place, file);

	if (fd == -EEXIST)
		return rna_error_say(error, fd,
				     "http.listen: cannot listen on %s: the file is no socket",
				     address);
	if (fd < 0)
		return rna_error_set(error, fd, "http.listen: cannot listen on %s", address);
	return fd;
}

int rna_listen(const char *address, struct rna_socket_file *file, struct rna_error *error)
{
	if (strncmp(address, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0)
		return listen_unix(address, file, error);
	return listen_tcp(address, error);
}

/* -- Accepting --------------------------------------------------------------------------------- */

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

	return RNA_ANY(i, RNA_ARRAY_SIZE(errors), errors[i] == error);
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
