/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exporters: a view in, bytes out. All of these are pure functions of the view; a renderer only
 * remembers text that it prepared, and bodies that it already made of the same view.
 * Thread: the loop's (or the only one, in commands that run once).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "rna/base/error.h"
#include "rna/base/strbuf.h"
#include "rna/model/nccl.h"
#include "rna/model/view.h"
#include "rna/web.h"

typedef struct sd_event sd_event; /* <systemd/sd-event.h> */

/* Text exposition formats. */
enum rna_exposition {
	RNA_EXPOSITION_CLASSIC,     /* text/plain; version=0.0.4 */
	RNA_EXPOSITION_OPENMETRICS, /* application/openmetrics-text; version=1.0.0 */
	RNA_EXPOSITION_COUNT,
};

/* A finished reply body, shared by reference between requests. */
struct rna_body {
	unsigned refs;
	size_t len;
	char *data;
};

struct rna_body *rna_body_ref(struct rna_body *body);
struct rna_body *rna_body_unref(struct rna_body *body); /* accepts and returns NULL */

/* Renders metrics: once per view and format, compressed once per view and format. */
struct rna_renderer;

struct rna_renderer *rna_renderer_new(void);                           /* NULL: no memory */
struct rna_renderer *rna_renderer_free(struct rna_renderer *renderer); /* accepts, returns NULL */
RNA_DEFINE_CLEANUP(struct rna_renderer, rna_renderer_free)

/*
 * The metrics of view, plain or gzip. *ret is a new reference for the caller. 0 or -ENOMEM. The
 * renderer keeps a reference to the view until another one comes, or until it shall forget it.
 */
int rna_renderer_metrics(struct rna_renderer *renderer, const struct rna_view *view,
			 enum rna_exposition format, bool gzip, struct rna_body **ret);
void rna_renderer_forget_view(struct rna_renderer *renderer);

/* The gzip form of any body, as a new one with one reference. 0 or -ENOMEM. */
int rna_renderer_pack(struct rna_renderer *renderer, const struct rna_body *plain,
		      struct rna_body **ret);

/* The other forms; -ENOMEM is in out->failed. */
void rna_write_json(const struct rna_view *view, struct rna_strbuf *out);

/* The findings of view as JSON; and such a document read again. */
void rna_write_findings(const struct rna_view *view, struct rna_strbuf *out);
/*
 * *ret and its texts lie in arena. How many; -EBADMSG when json is no such document, or -ENOMEM.
 */
ssize_t rna_read_findings(const char *json, size_t len, struct rna_arena *arena,
			  struct rna_finding **ret);

/*
 * What a monitoring plugin says: a line that sums up, a line for each finding with its remedy
 * below. once: this was the first look, so that since when is known of nothing.
 */
void rna_write_check(const struct rna_finding *findings, size_t count, bool once,
		     struct rna_strbuf *out);

struct rna_table_options {
	bool colour;
	bool gids; /* the GID tables, as show_gids does, instead of the ports */
};

/* What ibstat and ibdev2netdev show, one line per port. */
void rna_write_table(const struct rna_view *view, const struct rna_table_options *options,
		     struct rna_strbuf *out);

/* The newest transitions of ports, oldest first: as JSON, and as a table for people. */
void rna_write_events_json(const struct rna_view *view, struct rna_strbuf *out);
void rna_write_events_table(const struct rna_view *view, struct rna_strbuf *out);

/* The environment that NCCL needs. */
enum rna_nccl_form {
	RNA_NCCL_SHELL, /* export lines with comments */
	RNA_NCCL_ENV,   /* NAME=VALUE as it is, for docker --env-file */
	RNA_NCCL_YAML,  /* the env of a container */
	RNA_NCCL_JSON,
	RNA_NCCL_FORM_COUNT,
};

void rna_write_nccl(const struct rna_nccl_advice *advice, enum rna_nccl_form form,
		    struct rna_strbuf *out);
/* Runs of the self-test (rna/model/selftest.h): as a table for people, and as JSON. */
struct rna_selftest_run;
void rna_write_selftest(const struct rna_selftest_run *runs, size_t count, bool json,
			struct rna_strbuf *out);
/* What is remembered of each port: its newest runs, what came of its turns, and its next one. */
void rna_write_selftests_json(const struct rna_view *view, struct rna_strbuf *out);

/*
 * Which GPU and which NIC are near each other: the matrix of nvidia-smi and the tree that it
 * follows from; the same for programs; for Graphviz; and as a drawing.
 */
void rna_write_topology(const struct rna_view *view, bool colour, struct rna_strbuf *out);
void rna_write_topology_json(const struct rna_view *view, struct rna_strbuf *out);
void rna_write_topology_dot(const struct rna_view *view, struct rna_strbuf *out);
void rna_write_topology_svg(const struct rna_view *view, struct rna_strbuf *out);

/* The status page: HTML without scripts, everything in one document. */
void rna_write_page(const struct rna_view *view, struct rna_strbuf *out);

/* Where the HTTP server gets its views from. */
struct rna_http_source {
	/* The newest view, or NULL while there is none. Not a new reference. */
	const struct rna_view *(*view)(void *userdata);
	/* /readyz: is the view complete and young enough? If not, *ret_reason is a static text. */
	bool (*ready)(void *userdata, const char **ret_reason);
	/* The newest web configuration; NULL, as result or as function: there is none. */
	struct rna_web *(*web)(void *userdata);
	void *userdata;
};

struct rna_http_options {
	const char *const *listen; /* "host:port", "[v6]:port", ":port", "unix:/path"; NULL-ended */
	const int *sockets;        /* listening, in the place of all these; stay the caller's */
	size_t socket_count;       /* 0: there are none */
	unsigned max_connections;
	unsigned max_header_bytes; /* request line and headers */
	rna_usec idle_timeout;
};

struct rna_http;

/*
 * Serves /metrics, /healthz, /readyz, / and what is below /api/v1/ as a guest of event. options and
 * source are copied; strings only need to live during the call.
 */
int rna_http_start(sd_event *event, const struct rna_http_options *options,
		   const struct rna_http_source *source, struct rna_http **ret,
		   struct rna_error *error);
/* How many logins came to what, RNA_LOGIN_COUNT of them; NULL: there are none. Accepts NULL. */
const uint64_t *rna_http_logins(const struct rna_http *http);
/* Lets go of a view that will not be the newest any more. Accepts NULL. */
void rna_http_forget_view(struct rna_http *http);
/* There is a newer view: renders it ahead for those who are about to ask. Accepts NULL. */
void rna_http_new_view(struct rna_http *http);
struct rna_http *rna_http_stop(struct rna_http *http); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_http, rna_http_stop)

/* The table of metric families for the command describe. */
void rna_write_families(struct rna_strbuf *out);
