/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the list of members comes from: a file, which is read again when it changes, or DNS, which
 * is asked again when its answer ends. A thread of its own looks, because DNS may take long, and
 * hands over lists; a look that fails hands over the reason, and the list before stays good.
 * Thread: one at a time, which is not the loop's.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/clock.h"
#include "rna/base/error.h"

#include "members.h"

enum rna_member_source_kind {
	RNA_MEMBERS_FILE,
	RNA_MEMBERS_DNS,
	RNA_MEMBERS_KIND_COUNT,
};

/* "file", "dns" */
const char *rna_member_source_kind_name(enum rna_member_source_kind kind);

struct rna_member_source_options {
	enum rna_member_source_kind kind;
	const char *place; /* an absolute path; a place of dns.h. "": there is no source */
};

struct rna_member_list {
	struct rna_arena *arena; /* owns this struct and all it points to */
	struct rna_members members;
	rna_usec looked;           /* realtime */
	char error[RNA_ERROR_MAX]; /* "": the look succeeded; else there are no members */
};

struct rna_member_list *rna_member_list_free(struct rna_member_list *list); /* and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_member_list, rna_member_list_free)

struct rna_member_source;

/* Copies options. 0 or negative errno with error. */
int rna_member_source_start(const struct rna_member_source_options *options,
			    struct rna_member_source **ret, struct rna_error *error);
/* The thread ends as soon as it can; does not wait for it. Accepts and returns NULL. */
struct rna_member_source *rna_member_source_stop(struct rna_member_source *source);

/* Readable when there is a list to take. */
int rna_member_source_fd(const struct rna_member_source *source);
/* The newest list, which the caller frees; NULL: none since the last call. */
struct rna_member_list *rna_member_source_take(struct rna_member_source *source);

/*
 * How long an answer of DNS is used: as long as it is valid, but 30 seconds at least and 5 minutes
 * at most; a fifth more or less by random, so that many nodes do not ask at once.
 */
rna_usec rna_member_source_dns_wait(rna_usec ttl, uint64_t random);
