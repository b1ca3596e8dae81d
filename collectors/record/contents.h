/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording keeps of the content of a file, by its path: of most files all, of some that
 * have more than is read an excerpt; and what in it identifies something.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/root.h"
#include "rna/base/strbuf.h"
#include "rna/model/log_match.h"

#include "parse/kmsg.h"

#include "disguise.h"
#include "notes.h"

/*
 * Reads what is kept of a file. asked: its path as the collector has it, which says what is kept,
 * wherever links lead; path: the real one. 0 or negative errno.
 */
int rna_contents_read(const struct rna_root *root, const char *asked, const char *path,
		      struct rna_strbuf *ret);

/* Does a recording have nothing of this path, not even that it exists? */
bool rna_contents_are_left_out(const char *path);

/*
 * Of the log of the kernel a recording keeps messages of a pattern (rna/model/log_match.h), all
 * others may be anything. A rna_kmsg_take; userdata is struct rna_kept_messages. Always true.
 */
struct rna_kept_messages {
	struct rna_strbuf *text;        /* they are added to it */
	struct rna_log_pending pending; /* zeroed at the start */
	bool kept;                      /* the message before was */
};

bool rna_keep_message(void *userdata, struct rna_kmsg_record *record);

/* Is the file as good as not there? Some have nothing to say, or say so by EINVAL. */
bool rna_contents_are_missing(const struct rna_note *note);

/* What to write in the place of a content. disguise: may be NULL. 0 or -ENOMEM. */
int rna_contents_disguise(struct rna_disguise *disguise, const struct rna_note *note,
			  struct rna_strbuf *ret);
