/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole files that people and orchestrators write: configuration, tokens, certificates. Files of
 * the hardware are rna/base/root.h's business.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/error.h"
#include "rna/base/strbuf.h"

struct rna_arena;

/*
 * Reads all of path to the end of text; never waits, not even for a FIFO. 0, or negative errno with
 * error, which begins with path: -EISDIR, -EINVAL for what is no regular file, -EFBIG for more than
 * max bytes. An empty file leaves text->data NULL if it was.
 */
int rna_file_read(const char *path, size_t max, struct rna_strbuf *text, struct rna_error *error);

/* What path means in a file: a relative one begins at the file's directory. NULL: no memory. */
const char *rna_file_beside(struct rna_arena *arena, const char *file, const char *path);

/* A file that is whole at any time: written under another name, which then becomes its own. */
struct rna_file_place {
	int directory;     /* open */
	const char *name;  /* in it */
	const char *fresh; /* the other name */
	bool lasting; /* forced to the disk, so that a loss of power leaves the old or the new */
};

/* 0, or negative errno and nothing of the new left. */
int rna_file_replace(const struct rna_file_place *place, const char *text, size_t len);
