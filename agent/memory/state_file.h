/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the state directory. All of these wait for the disk: never call them in the loop.
 * Thread: any.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/clock.h"
#include "rna/base/error.h"
#include "rna/base/strbuf.h"

#define RNA_STATE_MEMORY   "memory.json"   /* written by the daemon only */
#define RNA_STATE_ACCEPTED "accepted.json" /* written by "expect accept" only */

/* Opens the directory, made when make is set and it is not there. Descriptor or negative errno. */
int rna_state_directory_open(const char *path, bool make, struct rna_error *error);

/*
 * All of a file. 0, -ENOENT when there is none (error untouched), or another negative errno: -ELOOP
 * for a link, -EINVAL for what is no file, -EACCES for a file of a user who is neither root, this
 * user nor the owner of the directory. Never waits for a FIFO.
 */
int rna_state_file_read(int directory, const char *name, struct rna_strbuf *ret,
			struct rna_error *error);

/* Either all of text is in the file afterwards, over a loss of power too, or what was before. */
int rna_state_file_write(int directory, const char *name, const char *text, size_t len,
			 struct rna_error *error);

/* A file of lines, of which the first is a header. When it is full it becomes the older one. */
struct rna_state_lines {
	int directory;
	const char *name;
	const char *old; /* name of the older one, which is replaced */
	const char *header;
	bool turns; /* the file is full: lines begin the next one */
};

/*
 * Appends lines, which makes the file when there is none. After a failure, and after a loss of
 * power, lines that were there before are there, and at most the last one of the file is torn.
 */
int rna_state_file_append(const struct rna_state_lines *place, const char *lines, size_t len,
			  struct rna_error *error);

/* Gives a damaged file another name: name.corrupt-now. */
int rna_state_file_set_aside(int directory, const char *name, rna_usec now,
			     struct rna_error *error);
