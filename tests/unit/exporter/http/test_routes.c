// SPDX-License-Identifier: Apache-2.0
/*
 * exporter/http: who gets which document, and when. Those of a large node take tens of milliseconds
 * each; a scrape has to wait for one of them at most, even if a crowd wants all.
 */
#include <errno.h>
#include <poll.h>
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

enum { DOCUMENTS_MAX = 32, PATIENCE_MSEC = 10000 };

/* All of the table, and two runbooks. */
static const char *documents[DOCUMENTS_MAX];
static size_t document_count;

static int list_documents(void **state)
{
	const char *path;

	(void)state;
	for (size_t i = 0; (path = rna_routes_document(i)); i++) {
		assert_true(document_count < DOCUMENTS_MAX - 2);
		documents[document_count++] = path;
	}
	documents[document_count++] = "/runbooks/RdmaPortDown";
	documents[document_count++] = "/runbooks/RdmaAgentFrozen";
	return 0;
}

static const struct rna_view *the_view(void *userdata)
{
	return userdata;
}

static const struct rna_view *view_at(void *userdata)
{
	return *(const struct rna_view **)userdata;
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

/* The body, or NULL and -EAGAIN. */
static struct rna_body *ask(struct rna_routes *routes, const char *path, bool gzip, bool again)
{
	struct rna_scraper scraper = {0};
	const struct rna_request request = {
		.path = path,
		.gzip = gzip,
		.scraper = &scraper,
		.again = again,
		.now = RNA_USEC_PER_SEC,
	};
	struct rna_reply reply = {0};
	int ret = rna_routes_answer(routes, &request, &reply);

	assert_int_equal(ret, reply.body ? 0 : -EAGAIN);
	return reply.body;
}

/* Until something is rendered. */
static void wait_for_rendering(struct rna_routes *routes)
{
	struct pollfd poll_fd = {.fd = rna_routes_fd(routes), .events = POLLIN};

	do
		assert_int_equal(poll(&poll_fd, 1, PATIENCE_MSEC), 1);
	while (!rna_routes_take_rendered(routes));
}

/* Asks until there is one. How often something was rendered meanwhile is added to *rendered. */
static struct rna_body *get(struct rna_routes *routes, const char *path, bool gzip,
			    unsigned *rendered)
{
	struct rna_body *body = ask(routes, path, gzip, false);

	while (!body) {
		wait_for_rendering(routes);
		++*rendered;
		body = ask(routes, path, gzip, true);
		rna_routes_forget_rendered(routes);
	}
	return body;
}

static struct rna_routes *routes_of(const struct rna_http_source *source)
{
	struct rna_routes *routes = NULL;

	assert_int_equal(rna_routes_new(source, &routes), 0);
	return routes;
}

static void documents_are_rendered_once(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	const struct rna_http_source source = source_of(view);
	RNA_CLEANUP(rna_routes_free_p) struct rna_routes *routes = routes_of(&source);
	struct rna_body *first, *second;
	unsigned rendered = 0;

	(void)state;
	for (size_t i = 0; i < document_count; i++)
		for (int gzip = 0; gzip < 2; gzip++) {
			first = get(routes, documents[i], gzip, &rendered);
			second = get(routes, documents[i], gzip, &rendered);
			assert_ptr_equal(first, second);
			(void)rna_body_unref(first);
			(void)rna_body_unref(second);
		}
	assert_int_equal(rendered, 2 * document_count);
	assert_int_equal(view->refs, 2);
	rna_routes_forget_view(routes);
	assert_int_equal(view->refs, 1);
	(void)rna_body_unref(get(routes, documents[0], false, &rendered));
	assert_int_equal(rendered, 2 * document_count + 1);
}

/* A scrape waits for the document that is under way, and not for those that wait as well. */
static void metrics_come_before_other_documents(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	const struct rna_http_source source = source_of(view);
	RNA_CLEANUP(rna_routes_free_p) struct rna_routes *routes = routes_of(&source);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *metrics = NULL;

	(void)state;
	assert_null(ask(routes, documents[0], false, false));
	assert_null(ask(routes, documents[1], false, false));
	assert_null(ask(routes, "/metrics", true, false));
	wait_for_rendering(routes);
	assert_null(ask(routes, documents[1], false, true));
	rna_routes_forget_rendered(routes);
	wait_for_rendering(routes);
	metrics = ask(routes, "/metrics", true, true);
	assert_non_null(metrics);
	rna_routes_forget_rendered(routes);
}

/* A client that waits for a document gets it, however often there is a new view; no other does. */
static void a_view_may_be_replaced_meanwhile(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *next = new_view(4);
	struct rna_http_source source = source_of(view);
	const struct rna_view *newest = view;
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *old = NULL;
	struct rna_routes *routes;

	(void)state;
	source.view = view_at;
	source.userdata = &newest;
	routes = routes_of(&source);
	assert_null(ask(routes, "/metrics", false, false));
	newest = next;
	rna_routes_forget_view(routes);
	assert_null(ask(routes, "/metrics", false, false));
	wait_for_rendering(routes);
	old = ask(routes, "/metrics", false, true);
	assert_non_null(old);
	assert_null(ask(routes, "/metrics", false, false));
	rna_routes_forget_rendered(routes);
	wait_for_rendering(routes);
	rna_routes_forget_rendered(routes);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *new = ask(routes, "/metrics", false, false);
	assert_non_null(new);
	assert_true(new->len > old->len); /* it has one device more */
	assert_int_equal(view->refs, 1);
	assert_null(rna_routes_free(routes));
}

/* It may have to stop while the thread renders. */
static void stop_while_rendering(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	const struct rna_http_source source = source_of(view);
	struct rna_routes *routes = routes_of(&source);

	(void)state;
	assert_null(ask(routes, documents[1], true, false));
	assert_null(rna_routes_free(routes));
	assert_int_equal(view->refs, 1);
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
		.max_connections = 8 * (unsigned)document_count, /* a quarter for each address */
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

static void end(struct server *server)
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
static void send_requests(const struct server *server, int clients[DOCUMENTS_MAX])
{
	for (size_t i = 0; i < document_count; i++)
		clients[i] = new_client(server);
	for (size_t i = 0; i < document_count; i++)
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

/* Waits for something to do, and does it. How many documents came by that. */
static unsigned run_turn(const struct server *server, int clients[DOCUMENTS_MAX])
{
	unsigned answered = 0;

	assert_true(sd_event_run(server->event, PATIENCE_MSEC * RNA_USEC_PER_MSEC) > 0);
	for (size_t i = 0; i < document_count; i++)
		answered += has_reply(&clients[i]);
	return answered;
}

/* Each wants another document. The scrape, which comes last, waits for one of them at most. */
static void a_crowd_gets_its_documents_in_turns(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	unsigned answered = 0;
	int clients[DOCUMENTS_MAX], scrape;
	struct server server;

	(void)state;
	start(&server, view);
	scrape = new_client(&server);
	send_requests(&server, clients);
	send_request(scrape, "/metrics");
	while (answered < document_count) {
		answered += run_turn(&server, clients);
		if (scrape >= 0 && !has_reply(&scrape))
			assert_in_range(answered, 0, 1);
	}
	assert_int_equal(scrape, -1);
	end(&server);
}

/* It may have to stop at any time. */
static void stop_with_postponed_clients(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	int clients[DOCUMENTS_MAX];
	struct server server;
	unsigned answered = 0;

	(void)state;
	start(&server, view);
	send_requests(&server, clients);
	while (answered == 0)
		answered += run_turn(&server, clients);
	(void)close(clients[document_count - 1]); /* one has left, and waits all the same */
	clients[document_count - 1] = -1;
	(void)sd_event_run(server.event, 0);
	end(&server);
	for (size_t i = 0; i < document_count; i++)
		if (clients[i] >= 0)
			(void)close(clients[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents_are_rendered_once),
		cmocka_unit_test(metrics_come_before_other_documents),
		cmocka_unit_test(a_view_may_be_replaced_meanwhile),
		cmocka_unit_test(stop_while_rendering),
		cmocka_unit_test(a_crowd_gets_its_documents_in_turns),
		cmocka_unit_test(stop_with_postponed_clients),
	};

	return cmocka_run_group_tests_name("routes", tests, list_documents, NULL);
}
