/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long list in a document of JSON, read item by item while the text arrives: so that neither the
 * text nor its tree are in memory as a whole. What stands around the items is a document of its
 * own, the frame, in which the list is empty.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/error.h"
#include "rna/base/json_document.h"
#include "rna/base/strbuf.h"

/* The caller sets the first members; the others begin as zero. */
struct rna_json_list {
	const char *const *path; /* keys that lead to the list, from the outermost; NULL-ended */
	size_t item_max;         /* bytes of an item, and of the frame */
	/* The text of an item, not checked yet. 0, or negative errno with error, which ends all. */
	int (*take)(const char *text, size_t len, void *userdata, struct rna_error *error);
	void *userdata;

	struct rna_strbuf frame, item;
	size_t depth, inner;  /* brackets that are open: of the frame, of the item */
	size_t found;         /* keys of path that lead to the object at this depth */
	size_t key, key_len;  /* the last text of the frame */
	bool keyed;           /* the next value of the frame is that of path[found] */
	bool quoted, escaped; /* in a text; behind a backslash in it */
	bool listed, comma;   /* in the list; behind a comma of it */
	bool seen;            /* there was a list */
};

void rna_json_list_deinit(struct rna_json_list *list); /* idempotent */
#define RNA_JSON_LIST RNA_CLEANUP(rna_json_list_deinit)

/*
 * Reads on. 0, or negative errno with error: -EBADMSG (an item or the frame is too long), -ENOMEM,
 * or what take() returned.
 */
int rna_json_list_read(struct rna_json_list *list, const char *text, size_t len,
		       struct rna_error *error);

/*
 * The text is complete: the frame, read with these limits. 0, or negative errno with error:
 * -EBADMSG (it is not JSON, was cut, or is beyond the limits), -ENOMEM. list->seen: there was a
 * list.
 */
int rna_json_list_end(struct rna_json_list *list, const struct rna_json_limits *limits,
		      json_t **ret, struct rna_error *error);
