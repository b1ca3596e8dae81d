/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of HTTP and HTTPS: one request in, one reply out, with deadlines. For the Kubernetes
 * API, and for commands that query a running agent.
 *
 * libcurl is loaded when the first connection is opened: loading it earlier would double the start
 * time and cost megabytes that most daemons do not need. Proxy variables of the environment are
 * ignored: only the configured peer is contacted. Redirects are not followed. Thread: a connection
 * is used by one thread at a time.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "rna/base/clock.h"
#include "rna/base/error.h"
#include "rna/base/strbuf.h"

/* The peer of a connection. Strings must live as long as the connection. NULL: none. */
struct rna_https_peer {
	const char *origin;      /* "https://[fd00::1]:6443", without a path */
	const char *unix_socket; /* a path, or "@name", to connect to instead */
	const char *authorities; /* PEM; NULL: the system's trusted authorities */
	const char *certificate; /* PEM; client certificate, and its key */
	const char *key;
	const char *user; /* and its password: basic authentication */
	const char *password;
	rna_usec connect_deadline; /* for name resolution, TCP and TLS together */
	rna_usec deadline;         /* for a whole request */
	size_t reply_max;          /* maximum bytes of a body */
	const atomic_bool *cancel; /* true: cancel within a second; NULL: never */
};

struct rna_https_reply;

struct rna_https_request {
	const char *method;
	const char *path;           /* with query; begins with a slash */
	const char *const *headers; /* "Accept: application/json"; NULL-ended, or NULL */
	const char *body;           /* NULL: none */
	bool compressed;            /* the server may compress the reply; it is read as it was */
	/*
	 * Takes the next bytes of the body; NULL: it is added to the body of reply, of which the
	 * rest is known. 0, or negative errno with error, with which the request ends.
	 */
	int (*take)(struct rna_https_reply *reply, const char *data, size_t len, void *userdata,
		    struct rna_error *error);
	void *userdata;
};

enum { RNA_HTTPS_TYPE_SIZE = 64 };

struct rna_https_reply {
	unsigned status;
	char type[RNA_HTTPS_TYPE_SIZE]; /* the start of Content-Type; "": there is none */
	rna_usec retry_after;           /* 0: no such header */
	struct rna_strbuf body;
};

#define RNA_HTTPS_REPLY_INIT ((struct rna_https_reply){0})

static inline void rna_https_reply_deinit(struct rna_https_reply *reply)
{
	rna_strbuf_deinit(&reply->body);
}
#define RNA_HTTPS_REPLY RNA_CLEANUP(rna_https_reply_deinit)

struct rna_https;

/* The first request connects. 0, or with error -ENOMEM, or -EOPNOTSUPP without libcurl. */
int rna_https_open(const struct rna_https_peer *peer, struct rna_https **ret,
		   struct rna_error *error);
struct rna_https *rna_https_close(struct rna_https *https); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_https, rna_https_close)

/*
 * 0 if there is a complete reply of any status; the connection is kept for the next request.
 * Otherwise negative errno with error, which begins with the origin: -ECONNREFUSED (cannot
 * connect), -ETIMEDOUT (a deadline), -EKEYREJECTED (certificates), -EMSGSIZE (more than reply_max),
 * -ECANCELED, -ENOMEM, otherwise -EIO; or what take() returned. The server may have executed a
 * request that failed here.
 */
int rna_https_ask(struct rna_https *https, const struct rna_https_request *request,
		  struct rna_https_reply *reply, struct rna_error *error);

/* -- Many at once ------------------------------------------------------------------------------ */

/* The same request to each of many peers. */
struct rna_https_many {
	size_t count;
	size_t at_once; /* connections, one or more; each takes a descriptor, a name two for a time
			 */
	rna_usec until; /* monotonic: when a request ends in any case; 0: at its own deadline */
	const struct rna_https_request *request; /* its userdata is that of all */
	/* Fills in peer number i, whose texts live until it is done. */
	void (*peer)(size_t i, void *userdata, struct rna_https_peer *ret);
	/* Called once for each: what rna_https_ask() would return and fill in. Frees nothing. */
	void (*done)(size_t i, int status, struct rna_https_reply *reply, struct rna_error *error,
		     void *userdata);
	void *userdata;
};

/*
 * Asks all, in this thread. 0 when each is done, of whatever status; or with error -ENOMEM, or
 * -EOPNOTSUPP without libcurl, and not each is done.
 */
int rna_https_ask_many(const struct rna_https_many *many, struct rna_error *error);
