// SPDX-License-Identifier: Apache-2.0
/*
 * HTTP as it comes from a connection: the server itself, with libmicrohttpd in it, on a unix socket
 * of the abstract namespace, and a loop that runs until nothing is left to do.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "rna/exporter.h"

#include "exporter_view.h"
#include "fuzz.h"

enum { SENT_MAX = 64 * 1024 /* bytes; less than a socket takes at once */ };

static struct {
	sd_event *event;
	struct rna_http *http;
	struct rna_view *view;
	struct sockaddr_un address;
	socklen_t address_len;
} server;

static const struct rna_view *newest_view(void *userdata)
{
	(void)userdata;
	return server.view;
}

static bool is_ready(void *userdata, const char **ret_reason)
{
	(void)userdata, (void)ret_reason;
	return true;
}

static void start(void)
{
	const struct rna_http_source source = {.view = newest_view, .ready = is_ready};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const struct rna_http_options options = {
		.sockets = &fd,
		.socket_count = 1,
		.max_connections = 16,
		.max_header_bytes = 8192,
		.idle_timeout = 10 * RNA_USEC_PER_SEC,
		.request_timeout = 10 * RNA_USEC_PER_SEC,
		.reply_timeout = 10 * RNA_USEC_PER_SEC,
		.max_old_bytes = 1024 * 1024,
	};
	struct rna_error error;

	server.address = (struct sockaddr_un){.sun_family = AF_UNIX};
	server.address_len = sizeof(server.address);
	/* without a name the kernel gives it one */
	FUZZ_WANT(bind(fd, (struct sockaddr *)&server.address, sizeof(sa_family_t)) == 0);
	FUZZ_WANT(getsockname(fd, (struct sockaddr *)&server.address, &server.address_len) == 0);
	FUZZ_WANT(listen(fd, 16) == 0);
	FUZZ_WANT(sd_event_new(&server.event) >= 0);
	server.view = new_view(3);
	FUZZ_WANT(rna_http_start(server.event, &options, &source, &server.http, &error) == 0);
	(void)close(fd); /* the server has one of its own */
}

static void run(void)
{
	while (sd_event_run(server.event, 0) > 0)
		continue;
}

/* All that comes, and no more than fits; its length. */
static size_t receive(int fd, char *reply, size_t size)
{
	size_t len = 0;

	for (int idle = 0; idle < 2;) {
		char rest[4096];
		bool fits = len < size;
		ssize_t got = recv(fd, fits ? reply + len : rest, fits ? size - len : sizeof(rest),
				   MSG_DONTWAIT);

		if (got == 0 || (got < 0 && errno != EAGAIN))
			break;
		idle = got < 0 ? idle + 1 : 0;
		len += got > 0 && fits ? (size_t)got : 0;
		run();
	}
	return len;
}

static bool begins(const uint8_t *data, size_t size, const char *text)
{
	return size >= strlen(text) && memcmp(data, text, strlen(text)) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char reply[256] = "";
	size_t len;
	int fd;

	if (!server.http)
		start();
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FUZZ_WANT(connect(fd, (struct sockaddr *)&server.address, server.address_len) == 0);
	if (size > 0)
		(void)send(fd, data, size < SENT_MAX ? size : SENT_MAX,
			   MSG_NOSIGNAL | MSG_DONTWAIT);
	run();
	len = receive(fd, reply, sizeof(reply) - 1);
	(void)shutdown(fd, SHUT_WR);
	run();
	(void)close(fd);
	run();
	/* nothing but HTTP comes back, and requests for changes are rejected */
	FUZZ_WANT(len == 0 || strncmp(reply, "HTTP/1.", 7) == 0);
	if (len > 12 && (begins(data, size, "POST ") || begins(data, size, "PUT ") ||
			 begins(data, size, "DELETE ") || begins(data, size, "PATCH ")))
		FUZZ_WANT(reply[9] == '4' || reply[9] == '5' || strncmp(reply + 9, "100", 3) == 0);
	return 0;
}
