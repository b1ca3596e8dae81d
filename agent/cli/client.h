/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client: HTTP requests to a running agent, for commands that show what only such an agent
 * knows: to the one of this node, or with --url to one of another node.
 */
#pragma once

#include "rna/base/error.h"
#include "rna/base/strbuf.h"
#include "rna/https.h"

#include "commands.h"

/* So long is waited for a connection, and for a reply. */
#define RNA_CLIENT_PATIENCE (5 * RNA_USEC_PER_SEC)

enum {
	RNA_CLIENT_REPLY_MAX = 64 * 1024 * 1024,
	RNA_CLIENT_AT_ONCE = 512, /* connections, of a request to many agents */
	RNA_HTTP_OK = 200,
	RNA_HTTP_UNAUTHORIZED = 401,
};

/*
 * Sends GET for path ("/api/v1/events") to the agent that --url names, otherwise to the first
 * address of http.listen; *ret gets the body. Waits a few seconds at most. 0, or negative errno
 * with error: -ECONNREFUSED if no agent listens there, -EPROTO if the reply is not a success,
 * -EOPNOTSUPP without libcurl.
 */
int rna_client_get(const struct rna_call *call, const char *path, struct rna_strbuf *ret,
		   struct rna_error *error);

/* Connects, asks and closes. As rna_https_ask(). */
int rna_client_ask(const struct rna_https_peer *peer, const struct rna_https_request *request,
		   struct rna_https_reply *reply, struct rna_error *error);

/* As rna_client_get(), with --url. */
int rna_client_get_far(const struct rna_arguments *arguments, const char *path,
		       struct rna_strbuf *ret, struct rna_error *error);

/* A server that an option names by a URL. */
struct rna_client_far {
	const char *const *options; /* of the command line */
	enum rna_option_id url;     /* which option it is */
	const char *service;        /* "an rdma-node-agent", for errors */
	rna_usec deadline;          /* of a request */
	size_t reply_max;           /* bytes */
	bool compressed;            /* replies may be */
	bool json_errors;           /* replies in JSON are returned whatever their status is */
	/* Takes a reply in JSON piece by piece, which ret then stays empty of; or NULL. */
	int (*take)(const char *data, size_t len, void *userdata, struct rna_error *error);
	void *userdata;
};

/* As rna_client_get(). path: with the query; the URL may end in a path, which is put before it. */
int rna_client_ask_far(const struct rna_client_far *target, const char *path,
		       struct rna_strbuf *ret, struct rna_error *error);

/* Many agents, which get the same request. */
struct rna_client_many {
	const char *const *options; /* TLS and logins, of the command line */
	const char *const *origins; /* "https://node17:10879" */
	size_t count;
	rna_usec patience; /* with one of them */
	rna_usec until;    /* monotonic: with all; 0: no end */
	size_t reply_max;  /* bytes, of one */
	/* Called once for each: a body in JSON, or negative errno with error. */
	void (*done)(size_t i, int status, const struct rna_strbuf *body,
		     const struct rna_error *error, void *userdata);
	void *userdata;
};

/* 0 when each is done; or negative errno with error, for example because a file is missing. */
int rna_client_ask_many(const struct rna_client_many *many, const char *path,
			struct rna_error *error);
