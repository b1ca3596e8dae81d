// SPDX-License-Identifier: Apache-2.0
/*
 * HTTP as it comes from a connection: the server itself, on a unix socket of the abstract
 * namespace.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "http_server.h"

enum { SENT_MAX = 64 * 1024 /* bytes; less than a socket takes at once */ };

static struct sockaddr_un address;
static socklen_t address_len;

static void start(void)
{
	int fd = fuzz_server_listen(16, &address, &address_len);
	const struct rna_http_options options = {
		.sockets = &fd,
		.socket_count = 1,
		.max_connections = 16,
		.max_header_bytes = 8192,
	};

	fuzz_server_start(&options, NULL);
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
		fuzz_server_run();
	}
	return len;
}

static bool begins(const uint8_t *data, size_t size, const char *text)
{
	return size >= strlen(text) && memcmp(data, text, strlen(text)) == 0;
}

/* What the first line asks for. */
static bool asks_for_nul(const uint8_t *data, size_t size)
{
	static const char nul[] = "%00";
	size_t line = 0;

	while (line < size && data[line] != '\r' && data[line] != '\n')
		line++;
	return begins(data, size, "GET /") && memmem(data, line, nul, strlen(nul));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char reply[256] = "";
	size_t len;
	int fd;

	if (!fuzz_server.http)
		start();
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FUZZ_WANT(connect(fd, (struct sockaddr *)&address, address_len) == 0);
	if (size > 0)
		(void)send(fd, data, size < SENT_MAX ? size : SENT_MAX,
			   MSG_NOSIGNAL | MSG_DONTWAIT);
	fuzz_server_run();
	len = receive(fd, reply, sizeof(reply) - 1);
	(void)shutdown(fd, SHUT_WR);
	fuzz_server_run();
	(void)close(fd);
	fuzz_server_run();
	/* nothing but HTTP comes back, and requests for changes are rejected */
	FUZZ_WANT(len == 0 || strncmp(reply, "HTTP/1.", 7) == 0);
	if (len > 12 && (begins(data, size, "POST ") || begins(data, size, "PUT ") ||
			 begins(data, size, "DELETE ") || begins(data, size, "PATCH ")))
		FUZZ_WANT(reply[9] == '4' || reply[9] == '5' || strncmp(reply + 9, "100", 3) == 0);
	if (len > 12 && asks_for_nul(data, size))
		FUZZ_WANT(reply[9] == '4' || reply[9] == '5');
	return 0;
}
