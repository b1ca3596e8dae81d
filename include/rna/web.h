/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The web configuration: TLS, users, headers and a request limit, in the file format of all
 * Prometheus exporters (github.com/prometheus/exporter-toolkit, docs/web-configuration.md). The
 * agent reads the file into options; the HTTP server is configured from them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/arena.h"
#include "rna/base/clock.h"
#include "rna/base/error.h"
#include "rna/model/web_status.h"

/* Required client certificates, with the names of Go's tls.ClientAuthType. */
enum rna_web_client_auth {
	RNA_WEB_NO_CLIENT_CERT,
	RNA_WEB_REQUEST_CLIENT_CERT,
	RNA_WEB_REQUIRE_ANY_CLIENT_CERT,
	RNA_WEB_VERIFY_CLIENT_CERT_IF_GIVEN,
	RNA_WEB_REQUIRE_AND_VERIFY_CLIENT_CERT,
};

enum rna_web_version { RNA_WEB_TLS10, RNA_WEB_TLS11, RNA_WEB_TLS12, RNA_WEB_TLS13 };

/*
 * Certificates or a key. where is the prefix of errors: file, line, key, and the path if there is
 * one.
 */
struct rna_web_pem {
	const char *where;
	const char *text; /* NULL: not given */
};

/* One entry of a list. where is the prefix of errors. */
struct rna_web_word {
	const char *where;
	const char *text;
};

struct rna_web_words {
	size_t count;
	const struct rna_web_word *items;
};

/* A user and the bcrypt hash of the password; a header and its value. */
struct rna_web_pair {
	const char *name;
	const char *value;
};

struct rna_web_pairs {
	size_t count;
	const struct rna_web_pair *items;
};

enum { RNA_WEB_FILES = 4 }; /* the configuration, certificate, key, and client authorities */

struct rna_web_options {
	const char *files[RNA_WEB_FILES]; /* the files that were read; the rest is NULL */
	size_t file_count;
	bool tls; /* TLS is on; otherwise the fields below up to prefer_server are unused */
	struct rna_web_pem certificate, key, client_ca;
	enum rna_web_client_auth client_auth;
	struct rna_web_words allowed_sans; /* none: any */
	enum rna_web_version min_version, max_version;
	struct rna_web_words suites; /* none: the secure ones */
	struct rna_web_words curves; /* none: the secure ones */
	bool prefer_server;          /* the server's order of suites is used, not the client's */
	struct rna_web_pairs users;  /* none: no login required */
	struct rna_web_pairs headers;
	rna_usec rate_interval; /* between requests; 0: no limit */
	unsigned rate_burst;
};

/* Immutable, reference-counted. Thread: the loop's. */
struct rna_web;

/*
 * Takes ownership of arena, which contains options, also on failure. 0, or negative errno with
 * error, for example if a key does not match its certificate.
 */
int rna_web_new(const struct rna_web_options *options, struct rna_arena *arena,
		struct rna_web **ret, struct rna_error *error);
struct rna_web *rna_web_ref(struct rna_web *web);   /* accepts and returns NULL */
struct rna_web *rna_web_unref(struct rna_web *web); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_web, rna_web_unref)

const struct rna_web_options *rna_web_options(const struct rna_web *web);
/* Realtime at which its certificate expires; 0: no certificate. */
rna_usec rna_web_certificate_end(const struct rna_web *web);

enum { RNA_WEB_COST_MAX = 16 }; /* limit for bcrypt hashes: seconds of CPU time for each login */

/* The cost of a bcrypt hash, from 4 to 31. -EINVAL: hash is not one. */
int rna_web_hash_cost(const char *hash);
