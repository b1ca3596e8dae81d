// SPDX-License-Identifier: Apache-2.0
/* Listening sockets. */
#include "listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "rna/base/parse.h"

#define UNIX_PREFIX "unix:"

enum {
	PORT_MAX = 65535,
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
		return rna_error_set(error, fd, "http.listen: cannot listen on %s", address);
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
