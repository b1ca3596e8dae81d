// SPDX-License-Identifier: Apache-2.0
/*
 * Replies are bodies that are shared by reference. Nothing is read from hardware here and nothing
 * is waited for: the newest view is all that a request can see. A worker renders what is to be
 * rendered, metrics first; requests for it are repeated.
 */
#include "routes.h"

#include <errno.h>

#include "rna/base/worker.h"

#include "metrics/body.h"

#define TEXT     "text/plain; charset=utf-8"
#define HTML     "text/html; charset=utf-8"
#define RUNBOOKS "/runbooks/"

enum {
	OK = 200,
	MOVED = 301,
	NOT_FOUND = 404,
	UNAVAILABLE = 503,
};

enum { STACK = 1024 * 1024 }; /* of the worker */

/*
 * Documents have numbers: metrics in each format first, then those of the table below, then the
 * runbooks.
 */
enum { FIRST_ROUTE = RNA_EXPOSITION_COUNT };

/* Of the newest view, plain and packed; each NULL until it is asked for. */
struct document {
	struct rna_body *bodies[2]; /* [gzip] */
};

/* What has just been rendered, for those who asked for it, even if there is another view by now. */
struct fresh {
	bool known;
	size_t number;
	bool gzip;
	struct rna_body *body; /* NULL: there was no memory */
};

/* A body that the worker makes. */
struct order {
	struct rna_work work;
	const struct rna_view *view; /* a reference, which the loop takes and gives */
	size_t number;               /* of the document */
	bool gzip;
	struct rna_body *body; /* what came of it; NULL: there was no memory */
};

struct rna_routes {
	struct rna_http_source source;
	/* Writes and packs bodies, which takes tens of milliseconds on a large node. */
	struct rna_worker *worker;
	bool busy;                   /* it has an order: one at a time */
	const struct rna_view *view; /* that documents are of */
	size_t document_count;
	struct document *documents;
	struct fresh fresh;
	/* Metrics, when the thread has time: [format][gzip]. */
	bool wanted[RNA_EXPOSITION_COUNT][2];
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
	for (size_t i = 0; i < routes->document_count; i++)
		for (size_t gzip = 0; gzip < 2; gzip++)
			routes->documents[i].bodies[gzip] =
				rna_body_unref(routes->documents[i].bodies[gzip]);
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

static int answer_metrics(struct rna_routes *routes, const struct rna_request *request,
			  struct rna_reply *reply);
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

enum { FIRST_RUNBOOK = FIRST_ROUTE + RNA_ARRAY_SIZE(table) };

static const struct route *find_route(const char *path)
{
	return RNA_FIND(i, table, RNA_ARRAY_SIZE(table), strcmp(table[i].path, path) == 0);
}

const char *rna_routes_document(size_t number)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(table); i++)
		if (table[i].write && number-- == 0)
			return table[i].path;
	return NULL;
}

/* -- Documents --------------------------------------------------------------------------------- */

/* NULL: it is of no route. */
static const struct route *route_of(size_t number)
{
	return number >= FIRST_ROUTE && number < FIRST_RUNBOOK ? &table[number - FIRST_ROUTE]
							       : NULL;
}

/* NULL: there is no memory. Thread: the worker's. */
static struct rna_body *write_body(struct rna_renderer *renderer, const struct order *order)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	const struct route *route = route_of(order->number);
	struct rna_body *body = NULL;
	int status;

	if (order->number < FIRST_ROUTE) {
		status = rna_renderer_metrics(renderer, order->view,
					      (enum rna_exposition)order->number, &body);
	} else {
		if (route)
			route->write(order->view, &out);
		else
			rna_write_runbook(order->view, order->number - FIRST_RUNBOOK, &out);
		status = rna_body_take(&out, &body);
	}
	return status < 0 ? NULL : body;
}

static void render(struct rna_work *work, void *renderer)
{
	struct order *order = (struct order *)work;
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *plain = write_body(renderer, order);

	if (!order->gzip)
		order->body = RNA_TAKE(plain);
	else if (plain && rna_renderer_pack(renderer, plain, &order->body) < 0)
		order->body = NULL;
}

/* Thread: the loop's, which alone counts references to views. */
static void drop_order(struct rna_work *work)
{
	struct order *order = (struct order *)work;

	(void)rna_view_unref(order->view);
	(void)rna_body_unref(order->body);
	free(order);
}

static void free_renderer(void *renderer)
{
	(void)rna_renderer_free(renderer);
}

/*
 * Orders a body of the newest view, which there is; while the worker is busy, it is ordered later.
 * 0 or -ENOMEM.
 */
static int order_body(struct rna_routes *routes, size_t number, bool gzip)
{
	struct order *order;

	if (routes->busy) {
		if (number < FIRST_ROUTE)
			routes->wanted[number][gzip] = true;
		return 0;
	}
	order = calloc(1, sizeof(*order));
	if (!order)
		return -ENOMEM;
	order->number = number;
	order->gzip = gzip;
	order->view = rna_view_ref(routes->view);
	(void)rna_worker_give(routes->worker, &order->work); /* its thread runs */
	routes->busy = true;
	return 0;
}

static bool is_fresh(const struct rna_routes *routes, size_t number, bool gzip)
{
	const struct fresh *fresh = &routes->fresh;

	return fresh->known && fresh->number == number && fresh->gzip == gzip;
}

/* *ret is not a new reference. 0, -ENOMEM or -EAGAIN. */
static int find_body(struct rna_routes *routes, const struct rna_request *request, size_t number,
		     struct rna_body **ret)
{
	bool gzip = request->gzip;

	*ret = routes->documents[number].bodies[gzip];
	if (*ret)
		return 0;
	if (request->again && is_fresh(routes, number, gzip)) {
		*ret = routes->fresh.body;
		return *ret ? 0 : -ENOMEM;
	}
	return order_body(routes, number, gzip) < 0 ? -ENOMEM : -EAGAIN;
}

static int reply_document(struct rna_routes *routes, const struct rna_request *request,
			  size_t number, const char *type, struct rna_reply *reply)
{
	struct rna_body *body;
	int status;

	if (!newest_view(routes))
		return reply_not_yet(reply);
	rna_reply_set(reply, "Vary",
		      number < FIRST_ROUTE ? "Accept, Accept-Encoding" : "Accept-Encoding");
	if (request->gzip)
		rna_reply_set(reply, "Content-Encoding", "gzip");
	status = find_body(routes, request, number, &body);
	if (status < 0)
		return status;
	rna_reply_set(reply, "Content-Type", type);
	reply->status = OK;
	reply->body = rna_body_ref(body);
	return 0;
}

static int answer_metrics(struct rna_routes *routes, const struct rna_request *request,
			  struct rna_reply *reply)
{
	static const char *const types[] = {
		[RNA_EXPOSITION_CLASSIC] = "text/plain; version=0.0.4; charset=utf-8",
		[RNA_EXPOSITION_OPENMETRICS] =
			"application/openmetrics-text; version=1.0.0; charset=utf-8",
	};

	if (!request->again)
		rna_scraper_asks(request->scraper, request->format, request->gzip, request->now);
	return reply_document(routes, request, request->format, types[request->format], reply);
}

static int answer_document(struct rna_routes *routes, const struct rna_request *request,
			   struct rna_reply *reply)
{
	const struct route *route = find_route(request->path);

	return reply_document(routes, request, FIRST_ROUTE + (size_t)(route - table), route->type,
			      reply);
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
	ssize_t number = rna_runbook_find(newest_view(routes), request->path + strlen(RUNBOOKS));

	if (number < 0)
		return reply_no_runbook(reply);
	return reply_document(routes, request, FIRST_RUNBOOK + (size_t)number, HTML, reply);
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

/* -- The thread -------------------------------------------------------------------------------- */

void rna_routes_prepare(struct rna_routes *routes, const struct rna_scraper *scraper)
{
	size_t number = scraper->format;

	if (newest_view(routes) && !routes->documents[number].bodies[scraper->gzip])
		(void)order_body(routes, number, scraper->gzip);
}

int rna_routes_fd(const struct rna_routes *routes)
{
	return rna_worker_fd(routes->worker);
}

/* Metrics that a request waits for, or that a scraper will want soon. */
static void order_wanted(struct rna_routes *routes)
{
	for (size_t format = 0; format < RNA_EXPOSITION_COUNT; format++)
		for (size_t gzip = 0; gzip < 2; gzip++) {
			bool wanted = routes->wanted[format][gzip];

			routes->wanted[format][gzip] = false;
			if (wanted && newest_view(routes) &&
			    !routes->documents[format].bodies[gzip])
				(void)order_body(routes, format, gzip);
		}
}

bool rna_routes_take_rendered(struct rna_routes *routes)
{
	struct order *done = (struct order *)rna_worker_take(routes->worker);

	if (!done)
		return false;
	routes->busy = false;
	if (done->view == routes->view)
		routes->documents[done->number].bodies[done->gzip] = rna_body_ref(done->body);
	routes->fresh = (struct fresh){true, done->number, done->gzip, RNA_TAKE(done->body)};
	drop_order(&done->work);
	order_wanted(routes);
	return true;
}

void rna_routes_forget_rendered(struct rna_routes *routes)
{
	(void)rna_body_unref(routes->fresh.body);
	routes->fresh = (struct fresh){0};
}

void rna_routes_forget_view(struct rna_routes *routes)
{
	forget_documents(routes);
}

static int start_worker(struct rna_routes *routes)
{
	const struct rna_worker_options options = {
		.name = "rna-render",
		.stack = STACK,
		.userdata = rna_renderer_new(),
		.perform = render,
		.drop = drop_order,
		.release = free_renderer,
	};

	return options.userdata ? rna_worker_start_new(&options, &routes->worker) : -ENOMEM;
}

int rna_routes_new(const struct rna_http_source *source, struct rna_routes **ret)
{
	RNA_CLEANUP(rna_routes_free_p) struct rna_routes *routes = calloc(1, sizeof(*routes));
	size_t count = FIRST_RUNBOOK;
	int status;

	if (!routes)
		return -ENOMEM;
	routes->source = *source;
	while (rna_runbook_name(count - FIRST_RUNBOOK))
		count++;
	routes->documents = calloc(count, sizeof(*routes->documents));
	if (!routes->documents)
		return -ENOMEM;
	routes->document_count = count;
	status = start_worker(routes);
	if (status == 0)
		*ret = RNA_TAKE(routes);
	return status;
}

struct rna_routes *rna_routes_free(struct rna_routes *routes)
{
	if (!routes)
		return NULL;
	(void)rna_worker_finish(routes->worker); /* which reads a view */
	rna_routes_forget_rendered(routes);
	forget_documents(routes);
	free(routes->documents);
	free(routes);
	return NULL;
}
