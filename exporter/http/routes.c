// SPDX-License-Identifier: Apache-2.0
/*
 * Replies are bodies that are shared by reference. Nothing is read from hardware here and nothing
 * is waited for: the newest view is all that a request can see.
 */
#include "routes.h"

#include <errno.h>

#include "negotiate.h"

#define TEXT     "text/plain; charset=utf-8"
#define HTML     "text/html; charset=utf-8"
#define RUNBOOKS "/runbooks/"

enum {
	ROUTES_MAX = 20,
	OK = 200,
	MOVED = 301,
	NOT_FOUND = 404,
	UNAVAILABLE = 503,
};

/* Of the newest view, plain and packed; each NULL until it is asked for. */
struct document {
	struct rna_body *bodies[2]; /* [gzip] */
};

struct rna_routes {
	struct rna_http_source source;
	struct rna_renderer *renderer;
	const struct rna_view *view;           /* that documents are of */
	struct document documents[ROUTES_MAX]; /* of each route */
	struct document *runbooks;             /* of each runbook */
	size_t runbook_count;
	rna_usec rendered; /* the turn of the loop of the last document */
};

struct route {
	const char *path;
	/* Fills the reply, first of all status and body. 0, -ENOMEM or -EAGAIN. */
	int (*answer)(struct rna_routes *routes, const struct rna_request *request,
		      struct rna_reply *reply);
	/* Where the view alone decides what the answer is: */
	const char *type;
	void (*write)(const struct rna_view *view, struct rna_strbuf *out);
};

void rna_reply_set(struct rna_reply *reply, const char *name, const char *value)
{
	size_t i = 0;

	while (i < reply->header_count && strcmp(reply->headers[i].name, name) != 0)
		i++;
	reply->headers[i] = (struct rna_reply_header){name, value};
	if (i == reply->header_count)
		reply->header_count++;
}

int rna_reply_text(struct rna_reply *reply, unsigned status, const char *text)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	rna_reply_set(reply, "Content-Type", TEXT);
	rna_strbuf_puts(&out, text);
	rna_strbuf_add_char(&out, '\n');
	reply->status = status;
	return rna_body_take(&out, &reply->body);
}

/* Before the first view: soon there will be one. */
static int reply_not_yet(struct rna_reply *reply)
{
	rna_reply_set(reply, "Retry-After", "1");
	return rna_reply_text(reply, UNAVAILABLE, "no snapshot yet");
}

static void forget_bodies(struct document *documents, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t gzip = 0; gzip < 2; gzip++)
			documents[i].bodies[gzip] = rna_body_unref(documents[i].bodies[gzip]);
}

static void forget_documents(struct rna_routes *routes)
{
	forget_bodies(routes->documents, RNA_ARRAY_SIZE(routes->documents));
	forget_bodies(routes->runbooks, routes->runbook_count);
	routes->view = rna_view_unref(routes->view);
}

/* The newest view; documents of an older one are dropped. */
static const struct rna_view *newest_view(struct rna_routes *routes)
{
	const struct rna_view *view = routes->source.view(routes->source.userdata);

	if (view == routes->view)
		return view;
	forget_documents(routes);
	routes->view = rna_view_ref(view);
	return view;
}

/* Says so in the reply. */
static bool choose_gzip(const struct rna_request *request, struct rna_reply *reply)
{
	bool gzip = rna_negotiate_gzip(request->accept_encoding);

	if (gzip)
		rna_reply_set(reply, "Content-Encoding", "gzip");
	return gzip;
}

static int answer_metrics(struct rna_routes *routes, const struct rna_request *request,
			  struct rna_reply *reply)
{
	static const char *const types[] = {
		[RNA_EXPOSITION_CLASSIC] = "text/plain; version=0.0.4; charset=utf-8",
		[RNA_EXPOSITION_OPENMETRICS] =
			"application/openmetrics-text; version=1.0.0; charset=utf-8",
	};
	enum rna_exposition format = rna_negotiate_exposition(request->accept);
	const struct rna_view *view = newest_view(routes);
	bool gzip;

	if (!view)
		return reply_not_yet(reply);
	rna_reply_set(reply, "Vary", "Accept, Accept-Encoding");
	gzip = choose_gzip(request, reply);
	rna_scraper_asks(request->scraper, format, gzip, request->now);
	reply->status = OK;
	rna_reply_set(reply, "Content-Type", types[format]);
	return rna_renderer_metrics(routes->renderer, view, format, gzip, &reply->body);
}

/* That we come here at all is the answer: the loop turns. */
static int answer_health(struct rna_routes *routes, const struct rna_request *request,
			 struct rna_reply *reply)
{
	(void)routes;
	(void)request;
	return rna_reply_text(reply, OK, "ok");
}

static int answer_ready(struct rna_routes *routes, const struct rna_request *request,
			struct rna_reply *reply)
{
	const char *reason = "not ready";

	(void)request;
	if (routes->source.ready(routes->source.userdata, &reason))
		return rna_reply_text(reply, OK, "ready");
	return rna_reply_text(reply, UNAVAILABLE, reason);
}

static int answer_document(struct rna_routes *routes, const struct rna_request *request,
			   struct rna_reply *reply);

static const struct route table[] = {
	{"/", answer_document, HTML, rna_write_page},
	{"/metrics", answer_metrics},
	{"/healthz", answer_health},
	{"/readyz", answer_ready},
	{"/api/v1/snapshot", answer_document, "application/json", rna_write_json},
	{"/api/v1/events", answer_document, "application/json", rna_write_events_json},
	{"/api/v1/events.txt", answer_document, TEXT, rna_write_events_table},
	{"/api/v1/topology", answer_document, "application/json", rna_write_topology_json},
	{"/api/v1/topology.svg", answer_document, "image/svg+xml", rna_write_topology_svg},
	{"/api/v1/findings", answer_document, "application/json", rna_write_findings},
	{"/api/v1/probe", answer_document, "application/json", rna_write_probe_json},
	{"/api/v1/probes", answer_document, "application/json", rna_write_probes_json},
	{"/api/v1/probes.txt", answer_document, TEXT, rna_write_probes_table},
	{"/api/v1/probes-wide.txt", answer_document, TEXT, rna_write_probes_wide},
	{"/api/v1/selftest", answer_document, "application/json", rna_write_selftests_json},
	{RUNBOOKS, answer_document, HTML, rna_write_runbooks}, /* and each below it */
};
_Static_assert(RNA_ARRAY_SIZE(table) <= ROUTES_MAX, "each route has a place in documents");

static const struct route *find_route(const char *path)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(table); i++)
		if (strcmp(table[i].path, path) == 0)
			return &table[i];
	return NULL;
}

/* What a document is written by: a route, or the number of a runbook. */
struct writer {
	void (*write)(const struct rna_view *view, struct rna_strbuf *out); /* NULL: a runbook */
	size_t runbook;
};

static int write_document(const struct rna_view *view, const struct writer *writer,
			  struct rna_body **ret)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	if (writer->write)
		writer->write(view, &out);
	else
		rna_write_runbook(view, writer->runbook, &out);
	return rna_body_take(&out, ret) < 0 ? -ENOMEM : 0;
}

/*
 * Written and packed at the first request for it, then shared until there is another view. One in
 * each turn of the loop.
 */
static int make_document(struct rna_routes *routes, struct document *document,
			 const struct writer *writer, bool gzip, rna_usec now)
{
	if (document->bodies[gzip])
		return 0;
	if (routes->rendered == now)
		return -EAGAIN;
	routes->rendered = now;
	if (!document->bodies[0] && write_document(routes->view, writer, &document->bodies[0]) < 0)
		return -ENOMEM;
	return gzip ? rna_renderer_pack(routes->renderer, document->bodies[0], &document->bodies[1])
		    : 0;
}

static int reply_document(struct rna_routes *routes, const struct rna_request *request,
			  struct document *document, const struct writer *writer,
			  struct rna_reply *reply)
{
	bool gzip;
	int ret;

	if (!newest_view(routes))
		return reply_not_yet(reply);
	rna_reply_set(reply, "Vary", "Accept-Encoding");
	gzip = choose_gzip(request, reply);
	ret = make_document(routes, document, writer, gzip, request->now);
	if (ret < 0)
		return ret;
	reply->status = OK;
	reply->body = rna_body_ref(document->bodies[gzip]);
	return 0;
}

static int answer_document(struct rna_routes *routes, const struct rna_request *request,
			   struct rna_reply *reply)
{
	const struct route *route = find_route(request->path);
	const struct writer writer = {.write = route->write};
	int ret =
		reply_document(routes, request, &routes->documents[route - table], &writer, reply);

	if (ret == 0 && reply->status == OK)
		rna_reply_set(reply, "Content-Type", route->type);
	return ret;
}

/* A link may name an alert that was renamed since: the list helps. */
static int reply_no_runbook(struct rna_reply *reply)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *name;

	rna_strbuf_puts(&text, "no such runbook; there are:");
	for (size_t i = 0; (name = rna_runbook_name(i)); i++)
		rna_strbuf_printf(&text, "\n" RUNBOOKS "%s", name);
	return rna_strbuf_ok(&text) ? rna_reply_text(reply, NOT_FOUND, text.data) : -ENOMEM;
}

static int answer_runbook(struct rna_routes *routes, const struct rna_request *request,
			  struct rna_reply *reply)
{
	ssize_t number = rna_runbook_find(request->path + strlen(RUNBOOKS));
	const struct writer writer = {.runbook = (size_t)number};
	int ret;

	if (number < 0)
		return reply_no_runbook(reply);
	ret = reply_document(routes, request, &routes->runbooks[number], &writer, reply);
	if (ret == 0 && reply->status == OK)
		rna_reply_set(reply, "Content-Type", HTML);
	return ret;
}

static int reply_moved(struct rna_reply *reply, const char *to)
{
	rna_reply_set(reply, "Location", to);
	return rna_reply_text(reply, MOVED, to);
}

int rna_routes_answer(struct rna_routes *routes, const struct rna_request *request,
		      struct rna_reply *reply)
{
	const struct route *route = find_route(request->path);

	if (route)
		return route->answer(routes, request, reply);
	if (strncmp(request->path, RUNBOOKS, strlen(RUNBOOKS)) == 0)
		return answer_runbook(routes, request, reply);
	if (strcmp(request->path, "/runbooks") == 0)
		return reply_moved(reply, RUNBOOKS);
	return rna_reply_text(reply, NOT_FOUND, "not found");
}

void rna_routes_prepare(struct rna_routes *routes, const struct rna_scraper *scraper)
{
	const struct rna_view *view = newest_view(routes);
	struct rna_body *body;

	if (view && rna_renderer_metrics(routes->renderer, view, scraper->format, scraper->gzip,
					 &body) >= 0)
		(void)rna_body_unref(body); /* the renderer keeps it */
}

void rna_routes_forget_view(struct rna_routes *routes)
{
	forget_documents(routes);
	rna_renderer_forget_view(routes->renderer);
}

struct rna_routes *rna_routes_new(const struct rna_http_source *source)
{
	RNA_CLEANUP(rna_routes_free_p) struct rna_routes *routes = calloc(1, sizeof(*routes));
	size_t count = 0;

	if (!routes)
		return NULL;
	routes->source = *source;
	while (rna_runbook_name(count))
		count++;
	routes->runbooks = calloc(count, sizeof(*routes->runbooks));
	routes->runbook_count = routes->runbooks ? count : 0;
	routes->renderer = rna_renderer_new();
	return routes->runbooks && routes->renderer ? RNA_TAKE(routes) : NULL;
}

struct rna_routes *rna_routes_free(struct rna_routes *routes)
{
	if (!routes)
		return NULL;
	forget_documents(routes);
	free(routes->runbooks);
	(void)rna_renderer_free(routes->renderer);
	free(routes);
	return NULL;
}
