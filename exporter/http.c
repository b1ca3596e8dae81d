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
 * Replies are bodies that are shared by reference. Nothing is read from hardware here and nothing
 * is waited for: the newest view is all that a request can see.
 */
#include "rna/exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "body.h"
#include "listen.h"
#include "negotiate.h"
#include "scrapers.h"

#if MHD_VERSION < 0x00097302
#error "MHD_create_response_from_buffer_with_free_callback_cls() came with libmicrohttpd 0.9.73"
#endif

#define TEXT "text/plain; charset=utf-8"

enum {
	HEADERS_MAX = 8, /* of one reply, those we add */
	ROUTES_MAX = 16,
	REPLY_HEADER_ROOM = 1024, /* of a connection's memory, beside the request */
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
	struct rna_http_source source;
	struct rna_renderer *renderer;
	struct rna_view *view;                     /* that documents are of */
	struct rna_body *documents[ROUTES_MAX][2]; /* [route][gzip] */
	struct rna_scraper *scrapers;
	sd_event_source *ahead; /* renders for scrapers that are due, when nothing else is to do */
	rna_usec published;     /* when the newest view came... */
	rna_usec pace;          /* ...and how long after the one before */
	size_t listener_count;
	struct listener *listeners;
};

struct reply {
	unsigned status;
	const char *type; /* NULL: plain text */
	struct rna_body *body;
	size_t header_count;
	struct {
		const char *name, *value;
	} headers[HEADERS_MAX];
};

struct request {
	struct MHD_Connection *connection;
	const struct route *route;
	struct rna_body **documents; /* the route's, [gzip], kept from request to request */
};

struct route {
	const char *path;
	/* Fills the reply, first of all status and body. 0 or -ENOMEM. */
	int (*answer)(struct rna_http *http, const struct request *request, struct reply *reply);
	/* Where the view alone decides what the answer is: */
	const char *type;
	void (*write)(const struct rna_view *view, struct rna_strbuf *out);
};

/* Of the event that is served; the clock is not read again. */
static rna_usec event_time(const struct rna_http *http)
{
	rna_usec now = 0;

	(void)sd_event_now(http->event, CLOCK_MONOTONIC, &now); /* cannot fail while it runs */
	return now;
}

/* -- Answers ----------------------------------------------------------------------------------- */

static void add_header(struct reply *reply, const char *name, const char *value)
{
	reply->headers[reply->header_count].name = name;
	reply->headers[reply->header_count++].value = value;
}

static int reply_text(struct reply *reply, unsigned status, const char *text)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	rna_strbuf_puts(&out, text);
	rna_strbuf_add_char(&out, '\n');
	reply->status = status;
	return rna_body_take(&out, &reply->body);
}

/* Before the first view: soon there will be one. */
static int reply_not_yet(struct reply *reply)
{
	add_header(reply, MHD_HTTP_HEADER_RETRY_AFTER, "1");
	return reply_text(reply, MHD_HTTP_SERVICE_UNAVAILABLE, "no snapshot yet");
}

static void forget_documents(struct rna_http *http)
{
	for (size_t i = 0; i < ROUTES_MAX; i++)
		for (size_t gzip = 0; gzip < 2; gzip++)
			http->documents[i][gzip] = rna_body_unref(http->documents[i][gzip]);
	http->view = rna_view_unref(http->view);
}

/* The newest view; documents of an older one are dropped. */
static struct rna_view *newest_view(struct rna_http *http)
{
	struct rna_view *view = http->source.view(http->source.userdata);

	if (view == http->view)
		return view;
	forget_documents(http);
	http->view = rna_view_ref(view);
	return view;
}

static const char *header_of(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

/* Says so in the reply. */
static bool choose_gzip(const struct request *request, struct reply *reply)
{
	bool gzip = rna_negotiate_gzip(header_of(request, MHD_HTTP_HEADER_ACCEPT_ENCODING));

	if (gzip)
		add_header(reply, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	return gzip;
}

static void note_scrape(struct rna_http *http, const struct request *request,
			enum rna_exposition format, bool gzip)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	rna_scraper_asks(info->socket_context, format, gzip, event_time(http));
}

static int answer_metrics(struct rna_http *http, const struct request *request, struct reply *reply)
{
	static const char *const types[] = {
		[RNA_EXPOSITION_CLASSIC] = "text/plain; version=0.0.4; charset=utf-8",
		[RNA_EXPOSITION_OPENMETRICS] =
			"application/openmetrics-text; version=1.0.0; charset=utf-8",
	};
	const char *accept = header_of(request, MHD_HTTP_HEADER_ACCEPT);
	enum rna_exposition format = rna_negotiate_exposition(accept);
	struct rna_view *view = newest_view(http);
	bool gzip;

	if (!view)
		return reply_not_yet(reply);
	add_header(reply, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding");
	gzip = choose_gzip(request, reply);
	note_scrape(http, request, format, gzip);
	reply->status = MHD_HTTP_OK;
	reply->type = types[format];
	return rna_renderer_metrics(http->renderer, view, format, gzip, &reply->body);
}

/* That we come here at all is the answer: the loop turns. */
static int answer_health(struct rna_http *http, const struct request *request, struct reply *reply)
{
	(void)http;
	(void)request;
	return reply_text(reply, MHD_HTTP_OK, "ok");
}

static int answer_ready(struct rna_http *http, const struct request *request, struct reply *reply)
{
	const char *reason = "not ready";

	(void)request;
	if (http->source.ready(http->source.userdata, &reason))
		return reply_text(reply, MHD_HTTP_OK, "ready");
	return reply_text(reply, MHD_HTTP_SERVICE_UNAVAILABLE, reason);
}

/* Written and packed at the first request for it, then shared until there is another view. */
static int make_document(struct rna_http *http, const struct request *request,
			 const struct rna_view *view, bool gzip)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_body **documents = request->documents;

	if (documents[gzip])
		return 0;
	if (!documents[0]) {
		request->route->write(view, &out);
		if (rna_body_take(&out, &documents[0]) < 0)
			return -ENOMEM;
	}
	return gzip ? rna_renderer_pack(http->renderer, documents[0], &documents[1]) : 0;
}

static int answer_document(struct rna_http *http, const struct request *request,
			   struct reply *reply)
{
	const struct rna_view *view = newest_view(http);
	bool gzip;

	if (!view)
		return reply_not_yet(reply);
	add_header(reply, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	gzip = choose_gzip(request, reply);
	if (make_document(http, request, view, gzip) < 0)
		return -ENOMEM;
	reply->status = MHD_HTTP_OK;
	reply->type = request->route->type;
	reply->body = rna_body_ref(request->documents[gzip]);
	return 0;
}

static int answer_page(struct rna_http *http, const struct request *request, struct reply *reply)
{
	/* the page brings its style along and needs nothing else from anywhere */
	add_header(reply, "Content-Security-Policy",
		   "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
		   "form-action 'none'; frame-ancestors 'none'");
	return answer_document(http, request, reply);
}

static const struct route routes[] = {
	{"/", answer_page, "text/html; charset=utf-8", rna_write_page},
	{"/metrics", answer_metrics},
	{"/healthz", answer_health},
	{"/readyz", answer_ready},
	{"/api/v1/snapshot", answer_document, "application/json", rna_write_json},
	{"/api/v1/events", answer_document, "application/json", rna_write_events_json},
	{"/api/v1/events.txt", answer_document, TEXT, rna_write_events_table},
	{"/api/v1/topology", answer_document, "application/json", rna_write_topology_json},
	{"/api/v1/topology.svg", answer_document, "image/svg+xml", rna_write_topology_svg},
	{"/api/v1/findings", answer_document, "application/json", rna_write_findings},
	{"/api/v1/selftest", answer_document, "application/json", rna_write_selftests_json},
};
_Static_assert(RNA_ARRAY_SIZE(routes) <= ROUTES_MAX, "each route has a place in documents");

static int reply_to(struct rna_http *http, struct MHD_Connection *connection, const char *path,
		    bool allowed, struct reply *reply)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(routes); i++) {
		struct request request = {connection, &routes[i], http->documents[i]};

		if (strcmp(routes[i].path, path) != 0)
			continue;
		if (allowed)
			return routes[i].answer(http, &request, reply);
		add_header(reply, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
		return reply_text(reply, MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed");
	}
	return reply_text(reply, MHD_HTTP_NOT_FOUND, "not found");
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

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct reply *reply)
{
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = reply->body;
	RNA_CLEANUP(free_response_p) struct MHD_Response *response = NULL;
	enum MHD_Result ok = MHD_YES;

	response = MHD_create_response_from_buffer_with_free_callback_cls(body->len, body->data,
									  body_sent, body);
	if (!response)
		return MHD_NO;
	(void)RNA_TAKE(body); /* the response's now */

	add_header(reply, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type ? reply->type : TEXT);
	add_header(reply, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	add_header(reply, "X-Content-Type-Options", "nosniff");
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
	struct reply reply = {0};

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
	struct rna_view *view = newest_view(http);

	(void)source;
	for (const struct rna_scraper *s = http->scrapers; view && s; s = s->next) {
		struct rna_body *body;

		if (is_due(http, s) &&
		    rna_renderer_metrics(http->renderer, view, s->format, s->gzip, &body) >= 0)
			(void)rna_body_unref(body); /* the renderer keeps it */
	}
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
	http->source = *source;
	if (watch_ahead(http) < 0)
		return NULL;
	http->renderer = rna_renderer_new();
	if (!http->renderer)
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
	if (!http)
		return;
	forget_documents(http);
	rna_renderer_forget_view(http->renderer);
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
	forget_documents(http);
	(void)rna_renderer_free(http->renderer);
	free(http);
	return NULL;
}
