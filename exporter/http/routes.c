// SPDX-License-Identifier: Apache-2.0
/*
 * Replies are bodies that are shared by reference. Nothing is read from hardware here and nothing
 * is waited for: the newest view is all that a request can see.
 */
#include "routes.h"

#include <errno.h>

#include "negotiate.h"

#define TEXT "text/plain; charset=utf-8"

enum {
	ROUTES_MAX = 16,
	OK = 200,
	NOT_FOUND = 404,
	UNAVAILABLE = 503,
};

struct rna_routes {
	struct rna_http_source source;
	struct rna_renderer *renderer;
	const struct rna_view *view;               /* that documents are of */
	struct rna_body *documents[ROUTES_MAX][2]; /* [route][gzip] */
	rna_usec rendered;                         /* the turn of the loop of the last document */
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

static void forget_documents(struct rna_routes *routes)
{
	for (size_t i = 0; i < ROUTES_MAX; i++)
		for (size_t gzip = 0; gzip < 2; gzip++)
			routes->documents[i][gzip] = rna_body_unref(routes->documents[i][gzip]);
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
	{"/", answer_document, "text/html; charset=utf-8", rna_write_page},
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
_Static_assert(RNA_ARRAY_SIZE(table) <= ROUTES_MAX, "each route has a place in documents");

static const struct route *find_route(const char *path)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(table); i++)
		if (strcmp(table[i].path, path) == 0)
			return &table[i];
	return NULL;
}

/*
 * Written and packed at the first request for it, then shared until there is another view. One in
 * each turn of the loop.
 */
static int make_document(struct rna_routes *routes, const struct route *route, bool gzip,
			 rna_usec now)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_body **documents = routes->documents[route - table];

	if (documents[gzip])
		return 0;
	if (routes->rendered == now)
		return -EAGAIN;
	routes->rendered = now;
	if (!documents[0]) {
		route->write(routes->view, &out);
		if (rna_body_take(&out, &documents[0]) < 0)
			return -ENOMEM;
	}
	return gzip ? rna_renderer_pack(routes->renderer, documents[0], &documents[1]) : 0;
}

static int answer_document(struct rna_routes *routes, const struct rna_request *request,
			   struct rna_reply *reply)
{
	const struct route *route = find_route(request->path);
	bool gzip;
	int ret;

	if (!newest_view(routes))
		return reply_not_yet(reply);
	rna_reply_set(reply, "Vary", "Accept-Encoding");
	gzip = choose_gzip(request, reply);
	ret = make_document(routes, route, gzip, request->now);
	if (ret < 0)
		return ret;
	reply->status = OK;
	rna_reply_set(reply, "Content-Type", route->type);
	reply->body = rna_body_ref(routes->documents[route - table][gzip]);
	return 0;
}

int rna_routes_answer(struct rna_routes *routes, const struct rna_request *request,
		      struct rna_reply *reply)
{
	const struct route *route = find_route(request->path);

	if (!route)
		return rna_reply_text(reply, NOT_FOUND, "not found");
	return route->answer(routes, request, reply);
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

	if (!routes)
		return NULL;
	routes->source = *source;
	routes->renderer = rna_renderer_new();
	return routes->renderer ? RNA_TAKE(routes) : NULL;
}

struct rna_routes *rna_routes_free(struct rna_routes *routes)
{
	if (!routes)
		return NULL;
	forget_documents(routes);
	(void)rna_renderer_free(routes->renderer);
	free(routes);
	return NULL;
}
