/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of HTTP and HTTPS: one request in, one reply out, and an end to all waiting. For the API
 * of Kubernetes, and for commands that ask a running agent.
 *
 * libcurl is loaded when a connection is opened and not before: it would double the start of the
 * daemon and take megabytes that most daemons have no use for. Proxies of the environment are not
 * used: whom we talk to is configured, and nobody else's business. Redirects are not followed.
 * Thread: a connection belongs to one at a time.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "rna/base/clock.h"
#include "rna/base/error.h"
#include "rna/base/strbuf.h"

/* Whom to talk to, and how. Strings need to live as long as the connection. NULL: none. */
struct rna_https_peer {
	const char *origin;      /* "https://[fd00::1]:6443"; nothing is behind the port */
	const char *unix_socket; /* a path, or "@name", to connect to instead */
	const char *authorities; /* PEM; NULL: those that the system trusts */
	const char *certificate; /* PEM, and of its key: who we are */
	const char *key;
	rna_usec connect_deadline; /* names, TCP and TLS together */
	rna_usec deadline;         /* of a request as a whole */
	size_t reply_max;          /* bytes of a body */
	const atomic_bool *cancel; /* true: leave within a second; NULL: never */
};

struct rna_https_request {
	const char *method;
	const char *path;           /* with its query; begins with a slash */
	const char *const *headers; /* "Accept: application/json"; NULL-ended, or NULL */
	const char *body;           /* NULL: none */
};

struct rna_https_reply {
	unsigned status;
	rna_usec retry_after; /* 0: nothing said */
	struct rna_strbuf body;
};

#define RNA_HTTPS_REPLY_INIT ((struct rna_https_reply){0})

static inline void rna_https_reply_deinit(struct rna_https_reply *reply)
{
	rna_strbuf_deinit(&reply->body);
}
#define RNA_HTTPS_REPLY RNA_CLEANUP(rna_https_reply_deinit)

struct rna_https;

/* Connects with the first request only. 0, -ENOMEM, or -EOPNOTSUPP without libcurl, with error. */
int rna_https_open(const struct rna_https_peer *peer, struct rna_https **ret,
		   struct rna_error *error);
struct rna_https *rna_https_close(struct rna_https *https); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_https, rna_https_close)

/*
 * 0 when there is a whole reply, whatever its status; the connection is kept for the next request.
 * Negative errno with error, which begins with the origin: -ECONNREFUSED (cannot connect),
 * -ETIMEDOUT (a deadline), -EKEYREJECTED (certificates), -EMSGSIZE (more than reply_max),
 * -ECANCELED, -ENOMEM, else -EIO. A request that failed may have been done all the same.
 */
int rna_https_ask(struct rna_https *https, const struct rna_https_request *request,
		  struct rna_https_reply *reply, struct rna_error *error);
