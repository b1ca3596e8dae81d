// SPDX-License-Identifier: Apache-2.0
/*
 * The HTTP server: libmicrohttpd as a guest of the event loop. No other file knows it.
 *
 * libmicrohttpd runs without a thread of its own (MHD_USE_EPOLL alone): its epoll descriptor is
 * watched by our loop, and MHD_run() does whatever can be done without waiting, for all of its
 * connections. So a client that is slow or silent costs a few kilobytes and delays nobody.
 *
 * The trap is the timer. MHD_get_timeout() says in how many milliseconds MHD wants to run again
 * even if nothing happens. Given to sd_event_source_set_time(), which takes a point in time, that
 * is always in the past, and one idle keep-alive connection makes the loop spin. Hence the
 * relative call in arm_timer(), after each run, and only when there is a timeout at all.
 *
 * What is answered is routes.c's business, and is never waited for.
 */
#include "rna/exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "listen.h"
#include "routes.h"
#include "scrapers.h"

#if MHD_VERSION < 0x00097302
#error "MHD_create_response_from_buffer_with_free_callback_cls() came with libmicrohttpd 0.9.73"
#endif

enum {
	REPLY_HEADER_ROOM = 4096, /* of a connection's memory, beside the request */
	TIMER_ACCURACY = 1000,    /* microseconds; the default of sd-event is 250 ms */
};

/* One listening address. */
struct listener {
	struct MHD_Daemon *daemon;
	struct rna_socket_file file; /* of a unix socket that we made */
	sd_event_source *io;
	sd_event_source *timer;
};

struct rna_http {
	sd_event *event;
	struct rna_routes *routes;
	struct rna_scraper *scrapers;
	sd_event_source *ahead; /* renders for scrapers that are due, when nothing else is to do */
	rna_usec published;     /* when the newest view came... */
	rna_usec pace;          /* ...and how long after the one before */
	size_t listener_count;
	struct listener *listeners;
};

/* Of the event that is served; the clock is not read again. */
static rna_usec event_time(const struct rna_http *http)
{
	rna_usec now = 0;

	(void)sd_event_now(http->event, CLOCK_MONOTONIC, &now); /* cannot fail while it runs */
	return now;
}

/* -- libmicrohttpd ----------------------------------------------------------------------------- */

static struct MHD_Response *free_response(struct MHD_Response *response)
{
	if (response)
		MHD_destroy_response(response); /* drops our reference; MHD holds its own */
	return NULL;
}
RNA_DEFINE_CLEANUP(struct MHD_Response, free_response)

static void body_sent(void *body)
{
	(void)rna_body_unref(body);
}

/* What each reply has; a configuration may choose others. */
static void set_standard_headers(struct rna_reply *reply)
{
	rna_reply_set(reply, "Cache-Control", "no-store");
	rna_reply_set(reply, "X-Content-Type-Options", "nosniff");
	rna_reply_set(reply, "X-Frame-Options", "deny");
	rna_reply_set(reply, "Referrer-Policy", "no-referrer");
	/* page and drawings bring their style along and need nothing else from anywhere */
	rna_reply_set(reply, "Content-Security-Policy",
		      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
		      "form-action 'none'; frame-ancestors 'none'");
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static int reply_to(struct rna_http *http, struct MHD_Connection *connection, const char *path,
		    bool allowed, struct rna_reply *reply)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	const struct rna_request request = {
		.path = path,
		.accept = header_of(connection, MHD_HTTP_HEADER_ACCEPT),
		.accept_encoding = header_of(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING),
		.scraper = info->socket_context,
		.now = event_time(http),
	};

	set_standard_headers(reply);
	if (allowed)
		return rna_routes_answer(http->routes, &request, reply);
	rna_reply_set(reply, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	return rna_reply_text(reply, MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed");
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct rna_reply *reply)
{
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = reply->body;
	RNA_CLEANUP(free_response_p) struct MHD_Response *response = NULL;
	enum MHD_Result ok = MHD_YES;

	response = MHD_create_response_from_buffer_with_free_callback_cls(body->len, body->data,
									  body_sent, body);
	if (!response)
		return MHD_NO;
	(void)RNA_TAKE(body); /* the response's now */

	for (size_t i = 0; ok == MHD_YES && i < reply->header_count; i++)
		ok = MHD_add_response_header(response, reply->headers[i].name,
					     reply->headers[i].value);
	return ok == MHD_YES ? MHD_queue_response(connection, reply->status, response) : MHD_NO;
}

/*
 * MHD calls this when the headers are there, then for each piece of a body, and once more at the
 * end. GET and HEAD are answered at the end, which leaves the connection fit for the next request;
 * other methods at once, so that nobody sends us a body that we do not want. MHD_NO closes.
 */
static enum MHD_Result answer(void *userdata, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	bool allowed = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
		       strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	bool first = !*state;
	struct rna_reply reply = {0};

	(void)version;
	(void)upload;
	*state = userdata; /* anything but NULL */
	if (allowed && (first || *upload_size > 0)) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (reply_to(userdata, connection, path, allowed, &reply) < 0)
		return MHD_NO;
	return send_reply(connection, &reply);
}

static void on_connection(void *userdata, struct MHD_Connection *connection, void **scraper,
			  enum MHD_ConnectionNotificationCode code)
{
	struct rna_http *http = userdata;

	(void)connection;
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*scraper = rna_scraper_add(&http->scrapers);
	else
		rna_scraper_remove(&http->scrapers, *scraper);
}

static int arm_timer(struct listener *listener)
{
	MHD_UNSIGNED_LONG_LONG msec;
	int r;

	if (MHD_get_timeout(listener->daemon, &msec) != MHD_YES)
		return sd_event_source_set_enabled(listener->timer, SD_EVENT_OFF);
	r = sd_event_source_set_time_relative(listener->timer, msec * RNA_USEC_PER_MSEC);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(listener->timer, SD_EVENT_ONESHOT);
}

static int run(struct listener *listener)
{
	(void)MHD_run(listener->daemon); /* fails only for daemons with a thread of their own */
	return arm_timer(listener);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)source;
	(void)fd;
	(void)events;
	return run(userdata);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	return run(userdata);
}

/* -- Ahead of scrapes -------------------------------------------------------------------------- */

/* Before the next view? Views come in a rhythm as well, but not to the millisecond. */
static bool is_due(const struct rna_http *http, const struct rna_scraper *scraper)
{
	return rna_scraper_is_due(scraper, http->published, http->pace + http->pace / 4);
}

static int on_ahead(sd_event_source *source, void *userdata)
{
	struct rna_http *http = userdata;

	(void)source;
	for (const struct rna_scraper *s = http->scrapers; s; s = s->next)
		if (is_due(http, s))
			rna_routes_prepare(http->routes, s);
	return 0;
}

/*
 * Large nodes take milliseconds to render. A scrape does not wait for that when it comes as
 * expected; views that nobody is expected to ask for are not rendered.
 */
void rna_http_new_view(struct rna_http *http)
{
	rna_usec now;

	if (!http)
		return;
	now = event_time(http);
	http->pace = rna_usec_since(http->published, now);
	http->published = now;
	for (const struct rna_scraper *s = http->scrapers; s; s = s->next)
		if (is_due(http, s))
			(void)sd_event_source_set_enabled(http->ahead, SD_EVENT_ONESHOT);
}

/* -- Start and stop ---------------------------------------------------------------------------- */

static unsigned whole_seconds(rna_usec usec)
{
	return (unsigned)((usec + RNA_USEC_PER_SEC - 1) / RNA_USEC_PER_SEC);
}

/* Takes over fd. NULL: no memory, or no epoll descriptor. */
static struct MHD_Daemon *start_daemon(struct rna_http *http,
				       const struct rna_http_options *options, int fd)
{
	/* one address may use up half of the connections: another one still gets its turn */
	unsigned per_address = options->max_connections / 2 + 1;
	size_t memory = options->max_header_bytes + (size_t)REPLY_HEADER_ROOM;

	return MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer, http,
				MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
				options->max_connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
				per_address, MHD_OPTION_CONNECTION_TIMEOUT,
				whole_seconds(options->idle_timeout),
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
				MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
}

/* MHD closes what it serves; the caller's own sockets must outlive it, hence the duplicate. */
static int listener_open(struct listener *listener, const struct rna_http_options *options,
			 size_t index, struct rna_error *error)
{
	int fd;

	if (options->socket_count == 0)
		return rna_listen(options->listen[index], &listener->file, error);
	fd = fcntl(options->sockets[index], F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? rna_error_set(error, -errno, "http: cannot use a passed socket") : fd;
}

/* index: of options->sockets, or of options->listen where there are none. */
static int listener_start(struct rna_http *http, struct listener *listener, sd_event *event,
			  const struct rna_http_options *options, size_t index,
			  struct rna_error *error)
{
	const char *address = options->socket_count ? "a passed socket" : options->listen[index];
	const union MHD_DaemonInfo *info;
	int fd, r;

	fd = listener_open(listener, options, index, error);
	if (fd < 0)
		return fd;
	listener->daemon = start_daemon(http, options, fd);
	if (!listener->daemon)
		return rna_error_say(error, -ENOMEM, "http: cannot serve on %s", address);

	info = MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	r = sd_event_add_io(event, &listener->io, info->epoll_fd, EPOLLIN, on_io, listener);
	if (r < 0)
		return rna_error_set(error, r, "http: cannot watch %s", address);
	r = sd_event_add_time_relative(event, &listener->timer, CLOCK_MONOTONIC, 0, TIMER_ACCURACY,
				       on_timer, listener);
	if (r < 0)
		return rna_error_set(error, r, "http: cannot set a timer for %s", address);
	return 0;
}

static void listener_stop(struct listener *listener)
{
	listener->io = sd_event_source_disable_unref(listener->io);
	listener->timer = sd_event_source_disable_unref(listener->timer);
	rna_socket_file_remove(&listener->file); /* first: nobody comes who would not be served */
	if (listener->daemon)
		MHD_stop_daemon(listener->daemon); /* closes its connections and its socket */
}

static int watch_ahead(struct rna_http *http)
{
	int r;

	r = sd_event_add_defer(http->event, &http->ahead, on_ahead, http);
	if (r < 0)
		return r;
	r = sd_event_source_set_priority(http->ahead, SD_EVENT_PRIORITY_IDLE);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(http->ahead, SD_EVENT_OFF);
}

static struct rna_http *http_new(sd_event *event, const struct rna_http_source *source,
				 size_t listener_count)
{
	RNA_CLEANUP(rna_http_stop_p) struct rna_http *http = calloc(1, sizeof(*http));

	if (!http)
		return NULL;
	http->event = sd_event_ref(event);
	if (watch_ahead(http) < 0)
		return NULL;
	http->routes = rna_routes_new(source);
	if (!http->routes)
		return NULL;
	http->listeners = calloc(listener_count, sizeof(*http->listeners));
	if (!http->listeners)
		return NULL;
	return RNA_TAKE(http);
}

int rna_http_start(sd_event *event, const struct rna_http_options *options,
		   const struct rna_http_source *source, struct rna_http **ret,
		   struct rna_error *error)
{
	RNA_CLEANUP(rna_http_stop_p) struct rna_http *http = NULL;
	size_t count = options->socket_count;

	while (options->socket_count == 0 && options->listen[count])
		count++;
	http = http_new(event, source, count);
	if (!http)
		return rna_error_set(error, -ENOMEM, "http");

	for (; http->listener_count < count; http->listener_count++) {
		struct listener *listener = &http->listeners[http->listener_count];
		int r = listener_start(http, listener, event, options, http->listener_count, error);

		if (r < 0) {
			listener_stop(listener);
			return r;
		}
	}
	*ret = RNA_TAKE(http);
	return 0;
}

void rna_http_forget_view(struct rna_http *http)
{
	if (http)
		rna_routes_forget_view(http->routes);
}

struct rna_http *rna_http_stop(struct rna_http *http)
{
	if (!http)
		return NULL;
	for (size_t i = 0; i < http->listener_count; i++)
		listener_stop(&http->listeners[i]);
	free(http->listeners);
	(void)sd_event_source_disable_unref(http->ahead);
	(void)sd_event_unref(http->event);
	(void)rna_routes_free(http->routes);
	free(http);
	return NULL;
}
