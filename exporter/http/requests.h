/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the HTTP server: http.c has its listeners and connections, requests.c what happens
 * to one request. No other file knows libmicrohttpd.
 */
#pragma once

#include <microhttpd.h>

#include "rna/exporter.h"

#include "connections.h"
#include "listen.h"
#include "logins.h"
#include "routes.h"
#include "tls_relay.h"

struct rna_http_arrival; /* a connection that libmicrohttpd gets now */

/* One listening address. */
struct rna_http_listener {
	struct rna_http *http;
	struct MHD_Daemon *daemon;
	bool is_private; /* a unix socket that is as good as a login */
	bool tls;
	struct rna_socket_file file; /* of a unix socket that we made */
	struct rna_accept accept;
	struct rna_http_arrival *arrives; /* NULL: none, or it has a client by now */
	int question; /* a connection with a request of our own, to see whether it is answered */
	sd_event_source *io;
	sd_event_source *timer;
};

struct rna_http {
	sd_event *event;
	struct rna_http_source source;
	struct rna_routes *routes;
	struct rna_logins *logins; /* NULL: no logins */
	sd_event_source *login_io;
	struct rna_http_client *waiting;   /* for logins */
	struct rna_http_client *postponed; /* until what they want is rendered */
	sd_event_source *rendered_io;
	struct rna_bucket requests;
	struct rna_tls_relay *relay; /* NULL: no listener has TLS */
	struct rna_connections connections;
	sd_event_source *deadlines; /* of connections, while one of them has a deadline */
	bool stirred;               /* since the last check, see watch_deadlines() */
	size_t listener_count;
	struct rna_http_listener *listeners;
};

/* One connection. */
struct rna_http_client {
	struct rna_http_listener *listener;
	struct MHD_Connection *connection;
	struct rna_connection line;      /* its slot and its deadlines */
	struct rna_tls_channel *channel; /* keeps the descriptor of line; NULL: no TLS */
	struct rna_address address;
	struct rna_login_proof proof;
	enum rna_login login;         /* of the request: PENDING until it is known */
	bool has_nul;                 /* the target of the request */
	const char *target_end;       /* as it came */
	bool again;                   /* the request got -EAGAIN */
	bool waited;                  /* it did at the last check */
	struct rna_http_client *next; /* of those that wait, or are postponed */
};

static inline unsigned rna_whole_seconds(rna_usec usec)
{
	return (unsigned)((usec + RNA_USEC_PER_SEC - 1) / RNA_USEC_PER_SEC);
}

/* Of the event that is served; the clock is not read again. */
rna_usec rna_http_time(const struct rna_http *http);
/* The current configuration; NULL: there is none, and everything is open to all clients. */
struct rna_web *rna_http_web(const struct rna_http *http);
/* NULL: there was no memory for it. */
struct rna_http_client *rna_http_client_of(struct MHD_Connection *connection);

/* For libmicrohttpd: it has read a request line;... */
void *rna_http_look_at_target(void *userdata, const char *target,
			      struct MHD_Connection *connection);
/* ...a request is there, or a part of it. */
enum MHD_Result rna_http_answer(void *userdata, struct MHD_Connection *connection, const char *path,
				const char *method, const char *version, const char *upload,
				size_t *upload_size, void **state);

/* -- What a client wants to have: its headers and its target (RFC 9110, section 12.5) ---------- */

/*
 * accept: the header, or NULL. OpenMetrics only for clients that name it, in a version that we
 * write, and that like it no less than plain text; classic text for all others, even if they
 * do not accept it: that is better for a scrape than 406.
 */
enum rna_exposition rna_negotiate_exposition(const char *accept);

/*
 * The path of a request target without its query. Proxies send the absolute form,
 * "http://host/path" (RFC 9112, section 3.2.2).
 */
const char *rna_negotiate_path(const char *target);

/* accept_encoding: the header, or NULL. */
bool rna_negotiate_gzip(const char *accept_encoding);
