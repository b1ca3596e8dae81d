/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes: which paths there are and what is answered at each. How requests and replies travel is
 * http.c's business.
 * Thread: the loop's.
 */
#pragma once

#include "rna/exporter.h"

#include "metrics/body.h"

#include "connections.h"

enum { RNA_REPLY_HEADERS = 16 }; /* of one reply, at most */

struct rna_reply_header {
	const char *name, *value;
};

struct rna_reply {
	unsigned status;
	struct rna_body *body;
	size_t header_count;
	struct rna_reply_header headers[RNA_REPLY_HEADERS];
};

/* A header that is there already gets this value. Both live as long as the reply. */
void rna_reply_set(struct rna_reply *reply, const char *name, const char *value);
/* A line of text. 0 or -ENOMEM. */
int rna_reply_text(struct rna_reply *reply, unsigned status, const char *text);

struct rna_request {
	const char *path;
	enum rna_exposition format; /* of metrics */
	bool gzip;
	struct rna_scraper *scraper; /* of the connection */
	bool again;                  /* it got -EAGAIN before */
	rna_usec now;                /* of the turn of the loop that serves it */
};

/* The path of the document with that number, runbooks aside; NULL: there are no more. */
const char *rna_routes_document(size_t number);

struct rna_routes;

/* 0 or negative errno. */
int rna_routes_new(const struct rna_http_source *source, struct rna_routes **ret);
struct rna_routes *rna_routes_free(struct rna_routes *routes); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_routes, rna_routes_free)

/*
 * Fills reply, whose body is the caller's. 0 or -ENOMEM. -EAGAIN: it has to be rendered; ask again
 * each time that rna_routes_take_rendered() has returned true. Metrics are rendered before other
 * documents.
 */
int rna_routes_answer(struct rna_routes *routes, const struct rna_request *request,
		      struct rna_reply *reply);

/* Has metrics of the newest view rendered, so that they are there when scraper asks. */
void rna_routes_prepare(struct rna_routes *routes, const struct rna_scraper *scraper);

/* Readable when rna_routes_take_rendered() has something. */
int rna_routes_fd(const struct rna_routes *routes);
/* True: something is rendered; each request that got -EAGAIN is to be repeated now, and then... */
bool rna_routes_take_rendered(struct rna_routes *routes);
/* ...this is called. */
void rna_routes_forget_rendered(struct rna_routes *routes);

/* Lets go of a view that will not be the newest any more. */
void rna_routes_forget_view(struct rna_routes *routes);
