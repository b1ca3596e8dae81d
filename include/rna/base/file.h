/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and replacing whole files that people and orchestrators write: configuration, tokens,
 * certificates. Files of the hardware are read through rna/base/root.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/error.h"
#include "rna/base/strbuf.h"

struct rna_arena;

/*
 * Appends the content of path to text. Never waits, not even for a FIFO. 0, or negative errno with
 * error, which begins with path: -EISDIR; -EINVAL if it is not a regular file; -EFBIG if it has
 * more than max bytes. An empty file does not allocate text->data.
 */
int rna_file_read(const char *path, size_t max, struct rna_strbuf *text, struct rna_error *error);

/*
 * Resolves a path found in file: a relative path is relative to the file's directory. NULL: no
 * memory.
 */
const char *rna_file_beside(struct rna_arena *arena, const char *file, const char *path);

/* Repeats write(2) until all is written. 0 or negative errno. */
int rna_file_write_all(int fd, const char *text, size_t len);

/* A file that is replaced atomically: written under a temporary name, then renamed. */
struct rna_file_place {
	int directory;     /* open */
	const char *name;  /* in it */
	const char *fresh; /* the temporary name; a file of that name is removed first */
	bool lasting;      /* fsync, so that a loss of power leaves the old or the new content */
};

/* 0, or negative errno; then the temporary file is removed. */
int rna_file_replace(const struct rna_file_place *place, const char *text, size_t len);
