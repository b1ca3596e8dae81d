// SPDX-License-Identifier: Apache-2.0
#include "http_server.h"

#include <sched.h>
#include <unistd.h>

#include "exporter_view.h"
#include "fuzz.h"

const char *const fuzz_requests[FUZZ_REQUESTS] = {
	"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Half: ",
	"\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /api/v1/snapshot HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc",
	"GET /healthz HTTP/1.0\r\n\r\n",
};

struct fuzz_server fuzz_server;

static const struct rna_view *newest_view(void *userdata)
{
	(void)userdata;
	return fuzz_server.views[fuzz_server.view];
}

static bool is_ready(void *userdata, const char **ret_reason)
{
	(void)userdata, (void)ret_reason;
	return true;
}

int fuzz_server_listen(int backlog, struct sockaddr_un *ret, socklen_t *ret_len)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	*ret_len = sizeof(*ret);
	/* without a name the kernel gives it one, in the abstract namespace */
	FUZZ_WANT(bind(fd, (struct sockaddr *)ret, sizeof(sa_family_t)) == 0);
	FUZZ_WANT(getsockname(fd, (struct sockaddr *)ret, ret_len) == 0);
	FUZZ_WANT(listen(fd, backlog) == 0);
	return fd;
}

static rna_usec or_long(rna_usec limit)
{
	return limit ? limit : 10 * RNA_USEC_PER_SEC;
}

void fuzz_server_start(const struct rna_http_options *options,
		       struct rna_web *(*web)(void *userdata))
{
	const struct rna_http_source source = {.view = newest_view, .ready = is_ready, .web = web};
	struct rna_http_options complete = *options;
	struct rna_error error;

	complete.idle_timeout = or_long(options->idle_timeout);
	complete.request_timeout = or_long(options->request_timeout);
	complete.reply_timeout = or_long(options->reply_timeout);
	if (complete.max_old_bytes == 0)
		complete.max_old_bytes = 1024 * 1024;
	FUZZ_WANT(sd_event_new(&fuzz_server.event) >= 0);
	for (size_t i = 0; i < FUZZ_VIEWS; i++)
		fuzz_server.views[i] = new_view(3 + i);
	FUZZ_WANT(rna_http_start(fuzz_server.event, &complete, &source, &fuzz_server.http,
				 &error) == 0);
	for (size_t i = 0; i < options->socket_count; i++)
		(void)close(options->sockets[i]); /* the server has some of its own */
}

static void run_loop(void)
{
	while (sd_event_run(fuzz_server.event, 0) > 0)
		continue;
}

/*
 * One thread renders, another one speaks TLS. A check says whether clients wait for the first, and
 * the sign of life of the second comes after what was to do before. Both may give the loop
 * something to do, whose replies are to be sent.
 */
void fuzz_server_run(void)
{
	enum { ROUNDS = 3 };

	run_loop();
	for (unsigned i = 0; i < ROUNDS; i++) {
		(void)rna_http_check(fuzz_server.http);
		do {
			(void)sched_yield();
			run_loop();
		} while (!rna_http_check(fuzz_server.http));
	}
}
