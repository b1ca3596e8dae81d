// SPDX-License-Identifier: Apache-2.0
/*
 * exporter/http: how much is rendered in a turn of the loop. Documents of a large node take tens of
 * milliseconds each; a scrape has to wait for one of them at most, even if a crowd wants all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-event.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"

#include "http/routes.h"

#include "exporter_view.h"

static const char *const documents[] = {
	"/",
	"/api/v1/snapshot",
	"/api/v1/events",
	"/api/v1/events.txt",
	"/api/v1/topology",
	"/api/v1/topology.svg",
	"/api/v1/findings",
	"/api/v1/selftest",
	"/api/v1/probes.txt",
	"/api/v1/probes-wide.txt",
	"/runbooks/",
	"/runbooks/RdmaPortDown",
	"/runbooks/RdmaAgentFrozen",
};

enum { DOCUMENTS = RNA_ARRAY_SIZE(documents), TURNS_MAX = 1000 };

static const struct rna_view *the_view(void *userdata)
{
	return userdata;
}

static bool is_ready(void *userdata, const char **ret_reason)
{
	(void)userdata, (void)ret_reason;
	return true;
}

static struct rna_http_source source_of(struct rna_view *view)
{
	return (struct rna_http_source){.view = the_view, .ready = is_ready, .userdata = view};
}

/* -- Routes ------------------------------------------------------------------------------------ */

/* The result, without the body. */
static int ask(struct rna_routes *routes, const char *path, bool gzip, rna_usec turn)
{
	const struct rna_request request = {
		.path = path,
		.accept_encoding = gzip ? "gzip" : NULL,
		.now = turn,
	};
	struct rna_reply reply = {0};
	int ret = rna_routes_answer(routes, &request, &reply);

	assert_int_equal(reply.body == NULL, ret < 0);
	(void)rna_body_unref(reply.body);
	return ret;
}

/* How many documents are rendered in that turn if all are wanted, plain and packed. */
static unsigned ask_all(struct rna_routes *routes, rna_usec turn)
{
	unsigned answered = 0;

	for (size_t i = 0; i < DOCUMENTS; i++)
		for (int gzip = 0; gzip < 2; gzip++)
			answered += ask(routes, documents[i], gzip, turn) == 0;
	return answered;
}

static void one_document_in_a_turn(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	const struct rna_http_source source = source_of(view);
	RNA_CLEANUP(rna_routes_free_p) struct rna_routes *routes = rna_routes_new(&source);

	(void)state;
	assert_non_null(routes);
	for (unsigned turn = 1; turn <= 2 * DOCUMENTS; turn++) {
		assert_int_equal(ask_all(routes, turn), turn); /* those of earlier turns are kept */
		assert_int_equal(ask_all(routes, turn), turn);
		assert_int_equal(ask(routes, "/metrics", false, turn), 0);
		assert_int_equal(ask(routes, "/metrics", true, turn), 0);
		assert_int_equal(ask(routes, "/healthz", false, turn), 0);
	}
	rna_routes_forget_view(routes); /* another view: all is rendered again */
	assert_int_equal(ask_all(routes, 2 * DOCUMENTS), 0);
	assert_int_equal(ask_all(routes, 2 * DOCUMENTS + 1), 1);
}

/* -- The server -------------------------------------------------------------------------------- */

struct server {
	sd_event *event;
	struct rna_http *http;
	struct sockaddr_un address;
	socklen_t address_len;
};

static void start(struct server *server, struct rna_view *view)
{
	const struct rna_http_source source = source_of(view);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const struct rna_http_options options = {
		.sockets = &fd,
		.socket_count = 1,
		.max_connections = 8 * DOCUMENTS, /* a quarter for each address */
		.max_header_bytes = 1024,
		.idle_timeout = 100 * RNA_USEC_PER_SEC,
		.request_timeout = 100 * RNA_USEC_PER_SEC,
		.reply_timeout = 100 * RNA_USEC_PER_SEC,
		.max_old_bytes = 1024 * 1024,
	};
	struct rna_error error = {0};

	*server = (struct server){.address.sun_family = AF_UNIX,
				  .address_len = sizeof(server->address)};
	/* without a name the kernel gives it one */
	assert_int_equal(bind(fd, (struct sockaddr *)&server->address, sizeof(sa_family_t)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&server->address, &server->address_len),
			 0);
	assert_int_equal(listen(fd, 32), 0);
	assert_true(sd_event_new(&server->event) >= 0);
	assert_int_equal(rna_http_start(server->event, &options, &source, &server->http, &error),
			 0);
	(void)close(fd); /* the server has one of its own */
}

static void stop(struct server *server)
{
	(void)rna_http_stop(server->http);
	(void)sd_event_unref(server->event);
}

static int connect_to(const struct server *server)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *)&server->address,
				 server->address_len),
			 0);
	return fd;
}

/* One that the server has accepted. */
static int new_client(const struct server *server)
{
	int fd = connect_to(server);

	while (sd_event_run(server->event, 0) > 0)
		continue;
	return fd;
}

static void send_request(int fd, const char *path)
{
	char request[128];
	int len = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);

	assert_int_equal(send(fd, request, (size_t)len, 0), len);
}

/* Of a client for each document. */
static void send_requests(const struct server *server, int clients[DOCUMENTS])
{
	for (size_t i = 0; i < DOCUMENTS; i++)
		clients[i] = new_client(server);
	for (size_t i = 0; i < DOCUMENTS; i++)
		send_request(clients[i], documents[i]);
}

/* Closes it if it has one, which begins with 200. */
static bool has_reply(int *fd)
{
	char reply[16] = "";

	if (*fd < 0 || recv(*fd, reply, sizeof(reply) - 1, MSG_DONTWAIT) <= 0)
		return false;
	assert_memory_equal(reply, "HTTP/1.1 200 OK", 12);
	(void)close(*fd);
	*fd = -1;
	return true;
}

/* How many documents came in it. */
static unsigned run_turn(const struct server *server, int clients[DOCUMENTS])
{
	unsigned answered = 0;

	(void)sd_event_run(server->event, 0);
	for (size_t i = 0; i < DOCUMENTS; i++)
		answered += has_reply(&clients[i]);
	return answered;
}

/* Each wants another document. The scrape, which comes last, waits for one of them at most. */
static void a_crowd_gets_its_documents_in_turns(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	unsigned answered = 0, turns = 0;
	int clients[DOCUMENTS], scrape;
	struct server server;

	(void)state;
	start(&server, view);
	scrape = new_client(&server);
	send_requests(&server, clients);
	send_request(scrape, "/metrics");
	while (answered < DOCUMENTS && ++turns < TURNS_MAX) {
		unsigned now = run_turn(&server, clients);

		assert_in_range(now, 0, 1);
		answered += now;
		if (scrape >= 0 && !has_reply(&scrape))
			assert_in_range(answered, 0, 1);
	}
	assert_int_equal(answered, DOCUMENTS);
	assert_int_equal(scrape, -1);
	stop(&server);
}

/* Its connection has to be accepted and read, while documents wait: one of them at most comes. */
static void a_new_scrape_goes_before_postponed_documents(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	unsigned answered = 0, before, turns = 0;
	int clients[DOCUMENTS], scrape;
	struct server server;

	(void)state;
	start(&server, view);
	send_requests(&server, clients);
	while (answered == 0 && ++turns < TURNS_MAX)
		answered += run_turn(&server, clients);
	scrape = connect_to(&server);
	send_request(scrape, "/metrics");
	before = answered;
	while (!has_reply(&scrape) && ++turns < TURNS_MAX)
		answered += run_turn(&server, clients);
	assert_int_equal(scrape, -1);
	assert_in_range(answered, before, before + 1);
	while (answered < DOCUMENTS && ++turns < TURNS_MAX)
		answered += run_turn(&server, clients);
	assert_int_equal(answered, DOCUMENTS);
	stop(&server);
}

/* It may have to stop at any time. */
static void stop_with_postponed_clients(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	int clients[DOCUMENTS];
	struct server server;
	unsigned answered = 0;

	(void)state;
	start(&server, view);
	send_requests(&server, clients);
	for (unsigned turns = 0; answered == 0 && turns < TURNS_MAX; turns++)
		answered += run_turn(&server, clients);
	assert_int_equal(answered, 1);
	(void)close(clients[DOCUMENTS - 1]); /* one has left, and waits all the same */
	clients[DOCUMENTS - 1] = -1;
	(void)sd_event_run(server.event, 0);
	stop(&server);
	for (size_t i = 0; i < DOCUMENTS; i++)
		if (clients[i] >= 0)
			(void)close(clients[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_document_in_a_turn),
		cmocka_unit_test(a_crowd_gets_its_documents_in_turns),
		cmocka_unit_test(a_new_scrape_goes_before_postponed_documents),
		cmocka_unit_test(stop_with_postponed_clients),
	};

	return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
