/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The web configuration file (rna/web.h), read; and in use: read at the start, and again when its
 * files have changed.
 *
 * Who serves asks for the newest with each connection and each request, and only then are the files
 * looked at, which takes microseconds: as in Go's exporters, a certificate that was renewed serves
 * the next connection, whatever kind of file system it came by. What is broken changes nothing: the
 * last good one stays, the log and a metric say why.
 * Thread: the loop's.
 */
#pragma once

#include "rna/model/view.h"
#include "rna/web.h"

/*
 * Reads path and the files that it names, which are relative to it, into ret; all of it lies in
 * arena. 0, or negative errno with error, which names file, line, key and what to do.
 */
int rna_web_config_read(const char *path, struct rna_arena *arena, struct rna_web_options *ret,
			struct rna_error *error);

struct rna_web_use;

/* now, here and below: realtime. 0, or negative errno with error. */
int rna_web_use_open(const char *path, rna_usec now, struct rna_web_use **ret,
		     struct rna_error *error);
/* The same, of which nothing is kept. path: "": there is none to be checked. */
int rna_web_config_check(const char *path, rna_usec now, struct rna_error *error);
struct rna_web_use *rna_web_use_close(struct rna_web_use *use); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_web_use, rna_web_use_close)

/* Not a new reference. Accepts NULL, and returns it then only. */
struct rna_web *rna_web_use_newest(struct rna_web_use *use, rna_usec now);

/* Can a server go on with b in the place of a? NULL: none. */
bool rna_web_use_same_kind(const struct rna_web_use *a, const struct rna_web_use *b);

/* What a view shows of it. Accepts NULL. */
struct rna_web_status rna_web_use_status(const struct rna_web_use *use);
