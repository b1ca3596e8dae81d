/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exporters: a view in, bytes out. All are pure functions of the view; a renderer only keeps
 * prepared text. Thread: any that has the view to itself or only reads it; a renderer's is one at a
 * time. The HTTP server is the loop's.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "rna/base/error.h"
#include "rna/base/strbuf.h"
#include "rna/model/env.h"
#include "rna/model/view.h"
#include "rna/web.h"

typedef struct sd_event sd_event; /* <systemd/sd-event.h> */

/* Text exposition formats. */
enum rna_exposition {
	RNA_EXPOSITION_CLASSIC,     /* text/plain; version=0.0.4 */
	RNA_EXPOSITION_OPENMETRICS, /* application/openmetrics-text; version=1.0.0 */
	RNA_EXPOSITION_COUNT,
};

/* A complete reply body, shared between requests by reference counting. Thread: one at a time. */
struct rna_body {
	unsigned refs;
	unsigned readers; /* replies with it that are being sent */
	size_t len;
	char *data;
};

struct rna_body *rna_body_ref(struct rna_body *body);
struct rna_body *rna_body_unref(struct rna_body *body); /* accepts and returns NULL */

struct rna_renderer;

struct rna_renderer *rna_renderer_new(void);                           /* NULL: no memory */
struct rna_renderer *rna_renderer_free(struct rna_renderer *renderer); /* accepts, returns NULL */
RNA_DEFINE_CLEANUP(struct rna_renderer, rna_renderer_free)

/* The metrics of view, in a new body with one reference. 0 or -ENOMEM. */
int rna_renderer_metrics(struct rna_renderer *renderer, const struct rna_view *view,
			 enum rna_exposition format, struct rna_body **ret);

/* Compresses plain by gzip into a new body with one reference. 0 or -ENOMEM. */
int rna_renderer_pack(struct rna_renderer *renderer, const struct rna_body *plain,
		      struct rna_body **ret);

/* The other formats. Lack of memory sets out->failed. */
void rna_write_json(const struct rna_view *view, struct rna_strbuf *out);

/* Writes the findings of view as JSON; the command check reads them (rna/check.h). */
void rna_write_findings(const struct rna_view *view, struct rna_strbuf *out);

struct rna_table_options {
	bool colour;
	bool gids;    /* GID tables, like show_gids, instead of ports */
	bool wide;    /* all columns, and nothing cut */
	size_t width; /* of a line, unless wide; 0: 120 columns, and of the topology any */
	bool brief;   /* one line per port, in the form of ibdev2netdev */
	const struct rna_inside *inside; /* NULL, or the process that sees these devices */
};

/* The information of ibstat and ibdev2netdev, one line per port; then one per card and gateway. */
void rna_write_table(const struct rna_view *view, const struct rna_table_options *options,
		     struct rna_strbuf *out);

/* The devices of pods, a line each, with the number of a virtual function and its resource. */
struct rna_pod_resources;
void rna_write_pods(const struct rna_view *view, const struct rna_pod_resources *resources,
		    const struct rna_table_options *options, struct rna_strbuf *out);

/* What changed, oldest first, as JSON and as a table. */
void rna_write_events_json(const struct rna_view *view, struct rna_strbuf *out);
void rna_write_events_table(const struct rna_view *view, struct rna_strbuf *out);

/* The environment that a library needs. */
enum rna_env_form {
	RNA_ENV_FORM_SHELL, /* export lines with comments */
	RNA_ENV_FORM_ENV,   /* plain NAME=VALUE, for docker --env-file */
	RNA_ENV_FORM_YAML,  /* "env" of a container */
	RNA_ENV_FORM_JSON,
	RNA_ENV_FORM_COUNT,
};

void rna_write_env(const struct rna_env_advice *advice, enum rna_env_form form,
		   struct rna_strbuf *out);
/* A line for each of the check, and for each warning. */
void rna_write_env_check(const struct rna_env_check *check, const struct rna_env_advice *advice,
			 struct rna_strbuf *out);
/* Runs of the self-test (rna/model/selftest.h), as a table or as JSON. */
struct rna_selftest_run;
void rna_write_selftest(const struct rna_selftest_run *runs, size_t count, bool json,
			struct rna_strbuf *out);
/* Bandwidth tests between nodes (rna/model/bandwidths.h), as a table or as JSON. */
void rna_write_bandwidth(const struct rna_bandwidth_test *tests, size_t count, bool json,
			 struct rna_strbuf *out);
/* The self-tests of each port: newest runs, counts of results and skips, and the next run. */
void rna_write_selftests_json(const struct rna_view *view, struct rna_strbuf *out);

/*
 * Probes between nodes: what a peer needs to know of this node; what is known of all pairs, as
 * JSON, as tables with 120 columns, and as tables with all columns.
 */
void rna_write_probe_json(const struct rna_view *view, struct rna_strbuf *out);
void rna_write_probes_json(const struct rna_view *view, struct rna_strbuf *out);
void rna_write_probes_table(const struct rna_view *view, struct rna_strbuf *out);
void rna_write_probes_wide(const struct rna_view *view, struct rna_strbuf *out);

/*
 * The distances of GPUs and NICs: the matrix of nvidia-smi and the PCI tree as text; as JSON; for
 * Graphviz; as an SVG drawing.
 */
void rna_write_topology(const struct rna_view *view, const struct rna_table_options *options,
			struct rna_strbuf *out);
void rna_write_topology_json(const struct rna_view *view, struct rna_strbuf *out);
void rna_write_topology_dot(const struct rna_view *view, struct rna_strbuf *out);
void rna_write_topology_svg(const struct rna_view *view, struct rna_strbuf *out);

/* The status page: one HTML document without scripts. */
void rna_write_page(const struct rna_view *view, struct rna_strbuf *out);

/*
 * Runbooks: what to do about an alert or a finding, by its name, with the names of the node and the
 * findings that are active filled in. Each is one HTML document like the status page.
 */
const char *rna_runbook_name(size_t number); /* NULL: there are no more */
/*
 * Its number, by its own name (of an alert), or by the rule or the reason of an Event that name is:
 * "port-down", "RdmaFunctionWithoutDevice"; -ENOENT. The findings of the view, which may be NULL,
 * decide where a rule has several.
 */
ssize_t rna_runbook_find(const struct rna_view *view, const char *name);
void rna_write_runbook(const struct rna_view *view, size_t number, struct rna_strbuf *out);
void rna_write_runbook_text(size_t number, struct rna_strbuf *out); /* as Markdown, of any node */
void rna_write_runbook_list(struct rna_strbuf *out);                /* likewise, the list of all */
void rna_write_runbooks(const struct rna_view *view, struct rna_strbuf *out); /* the list of all */

/* The source of views for the HTTP server. */
struct rna_http_source {
	/* The newest view, not a new reference. NULL: none yet. */
	const struct rna_view *(*view)(void *userdata);
	/* /readyz: is the view complete and recent enough? If not, *ret_reason is a static text. */
	bool (*ready)(void *userdata, const char **ret_reason);
	/* The newest web configuration. A NULL result or a NULL function: none. */
	struct rna_web *(*web)(void *userdata);
	void *userdata;
};

struct rna_http_options {
	const char *const *listen; /* "host:port", "[v6]:port", ":port", "unix:/path"; NULL-ended */
	const int *sockets;        /* listening sockets that replace listen; owned by the caller */
	size_t socket_count;       /* 0: there are none */
	unsigned max_connections;
	unsigned max_header_bytes; /* request line and headers */
	rna_usec idle_timeout;
	rna_usec request_timeout, reply_timeout; /* for a whole one */
	size_t max_old_bytes; /* of replies of earlier views that are still being sent */
};

struct rna_http;

/*
 * Serves /metrics, /healthz, /readyz, /, /runbooks/ and all of /api/v1/ in the loop event. options
 * and source are copied; strings need to be valid only during the call.
 */
int rna_http_start(sd_event *event, const struct rna_http_options *options,
		   const struct rna_http_source *source, struct rna_http **ret,
		   struct rna_error *error);
/*
 * Login attempts by result, RNA_LOGIN_COUNT counts. NULL: no logins are configured. Accepts NULL.
 */
const uint64_t *rna_http_logins(const struct rna_http *http);
/* Connections dropped since the start, by reason: RNA_DROP_COUNT counts. Accepts NULL: NULL. */
const uint64_t *rna_http_drops(const struct rna_http *http);
/* Releases the view that is about to be replaced. Accepts NULL. */
void rna_http_forget_view(struct rna_http *http);
/* Call after a new view: has it rendered before a request that is expected. Accepts NULL. */
void rna_http_new_view(struct rna_http *http);
/*
 * The first moment, not before earliest, in which a client is expected to ask for metrics, because
 * it has a rhythm; RNA_USEC_NEVER: none has. All monotonic. Accepts NULL.
 */
rna_usec rna_http_next_scrape(const struct rna_http *http, rna_usec earliest);
/*
 * Call now and then. false: on some address, clients that waited at the last call have not been
 * accepted since, or a request that the server sent to itself then has not been answered. Limits
 * that are reached make no difference. Accepts NULL, where it is true.
 */
bool rna_http_check(struct rna_http *http);
struct rna_http *rna_http_stop(struct rna_http *http); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_http, rna_http_stop)

/* The table of metric families for the command describe. */
void rna_write_families(struct rna_strbuf *out);
