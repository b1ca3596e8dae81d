// SPDX-License-Identifier: Apache-2.0
/*
 * Many clients of the HTTP server at once, up to its limit and beyond: an input is what they do,
 * one step after the other. Some of it happens between two turns of the loop, as in a burst.
 * Whatever they did, after they have gone the next client of each address is answered.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "http_server.h"

enum { LIMIT = 16, CLIENTS = 32, LISTENERS = 2, STEPS_MAX = 512 };

/* A byte of an input is one of these and the number of a client. */
enum step { CONNECT_TCP, CONNECT_UNIX, SEND, SEND_BYTES, SHUT, CLOSE, RESET, OTHER, STEPS };

/* After the requests that all targets have. */
static const char *const more_pieces[] = {
	"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
	"\x16\x03\x01",
};

static struct {
	struct sockaddr_in tcp;
	struct sockaddr_un local;
} server;

static int clients[CLIENTS];

static int listen_tcp(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t len = sizeof(server.tcp);

	server.tcp = (struct sockaddr_in){.sin_family = AF_INET};
	server.tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	FUZZ_WANT(bind(fd, (struct sockaddr *)&server.tcp, len) == 0);
	FUZZ_WANT(getsockname(fd, (struct sockaddr *)&server.tcp, &len) == 0);
	FUZZ_WANT(listen(fd, CLIENTS) == 0);
	return fd;
}

/* For its owner only, so that its clients have no limit of an address. */
static int listen_unix(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	server.local = (struct sockaddr_un){.sun_family = AF_UNIX};
	(void)snprintf(server.local.sun_path, sizeof(server.local.sun_path), "/tmp/rna-fuzz-%d",
		       (int)getpid());
	(void)unlink(server.local.sun_path);
	FUZZ_WANT(bind(fd, (struct sockaddr *)&server.local, sizeof(server.local)) == 0);
	FUZZ_WANT(chmod(server.local.sun_path, 0600) == 0);
	FUZZ_WANT(listen(fd, CLIENTS) == 0);
	return fd;
}

static void remove_socket(void)
{
	(void)unlink(server.local.sun_path);
}

static void start(void)
{
	int sockets[LISTENERS] = {listen_tcp(), listen_unix()};
	const struct rna_http_options options = {
		.sockets = sockets,
		.socket_count = LISTENERS,
		.max_connections = LIMIT,
		.max_header_bytes = 1024,
		.idle_timeout = RNA_USEC_PER_SEC,
		.request_timeout = 20 * RNA_USEC_PER_MSEC,
		.reply_timeout = 20 * RNA_USEC_PER_MSEC,
		.max_old_bytes = 1, /* each old body is too much */
	};

	(void)atexit(remove_socket);
	fuzz_server_start(&options, NULL);
	for (size_t i = 0; i < CLIENTS; i++)
		clients[i] = -1;
}

static int connect_to(bool tcp)
{
	int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	FUZZ_WANT(fd >= 0);
	/* a queue that is full is no defect */
	if (tcp)
		(void)connect(fd, (struct sockaddr *)&server.tcp, sizeof(server.tcp));
	else
		(void)connect(fd, (struct sockaddr *)&server.local, sizeof(server.local));
	return fd;
}

static void leave(int *client, bool reset)
{
	const struct linger drop = {.l_onoff = 1, .l_linger = 0};

	if (*client < 0)
		return;
	if (reset)
		(void)setsockopt(*client, SOL_SOCKET, SO_LINGER, &drop, sizeof(drop));
	(void)close(*client);
	*client = -1;
}

static const char *piece(uint8_t number)
{
	size_t at = number % (FUZZ_REQUESTS + RNA_ARRAY_SIZE(more_pieces));

	return at < FUZZ_REQUESTS ? fuzz_requests[at] : more_pieces[at - FUZZ_REQUESTS];
}

static void send_bytes(int client, const void *data, size_t size)
{
	if (client >= 0)
		(void)send(client, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void read_some(int client)
{
	char reply[4096];

	if (client >= 0)
		(void)recv(client, reply, sizeof(reply), MSG_DONTWAIT);
}

static void change_view(void)
{
	rna_http_forget_view(fuzz_server.http);
	fuzz_server.view = !fuzz_server.view;
	rna_http_new_view(fuzz_server.http);
}

static void do_other(int client, uint8_t what)
{
	switch (what % 4) {
	case 0:
		change_view();
		break;
	case 1:
		read_some(client);
		break;
	default:
		fuzz_server_run();
	}
}

/* Reads a step from *data, which has *size bytes left. */
static void do_step(const uint8_t **data, size_t *size)
{
	uint8_t step = **data, rest = *size > 1 ? (*data)[1] : 0;
	int *client = &clients[step / STEPS % CLIENTS];
	size_t used = 1;

	switch (step % STEPS) {
	case CONNECT_TCP:
	case CONNECT_UNIX:
		leave(client, false);
		*client = connect_to(step % STEPS == CONNECT_TCP);
		break;
	case SEND:
		send_bytes(*client, piece(rest), strlen(piece(rest)));
		used = 2;
		break;
	case SEND_BYTES:
		used = 2 + (size_t)rest;
		used = used < *size ? used : *size;
		if (used > 2)
			send_bytes(*client, *data + 2, used - 2);
		break;
	case SHUT:
		if (*client >= 0)
			(void)shutdown(*client, SHUT_WR);
		break;
	case OTHER:
		do_other(*client, rest);
		used = 2;
		break;
	default:
		leave(client, step % STEPS == RESET);
	}
	used = used < *size ? used : *size;
	*data += used;
	*size -= used;
}

/* False: the connection was closed, or nothing came. */
static bool is_answered(bool tcp)
{
	char reply[16] = "";
	int fd = connect_to(tcp);
	ssize_t got = -1;

	send_bytes(fd, fuzz_requests[FUZZ_PROBE], strlen(fuzz_requests[FUZZ_PROBE]));
	errno = EAGAIN;
	for (int turns = 0; got < 0 && errno == EAGAIN && turns < 50; turns++) {
		(void)sd_event_run(fuzz_server.event, RNA_USEC_PER_MSEC);
		fuzz_server_run();
		got = recv(fd, reply, sizeof(reply) - 1, MSG_DONTWAIT);
	}
	FUZZ_WANT(got <= 0 || strncmp(reply, "HTTP/1.1 200", 12) == 0);
	(void)close(fd);
	return got > 0;
}

/* On a busy machine the kernel delivers later that the others have gone. */
static void want_answer(bool tcp)
{
	int tries = 0;

	while (!is_answered(tcp))
		FUZZ_WANT(++tries < 100);
	fuzz_server_run();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!fuzz_server.http)
		start();
	for (unsigned steps = 0; size > 0 && steps < STEPS_MAX; steps++)
		do_step(&data, &size);
	for (size_t i = 0; i < CLIENTS; i++)
		leave(&clients[i], false);
	fuzz_server_run();
	want_answer(true);
	want_answer(false); /* and the server answers its own questions, or this does not end */
	return 0;
}
