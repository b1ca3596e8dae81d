/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording: one run of all collectors, and a copy of all that they read, small enough to send and
 * complete enough to serve as --root.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/clock.h"
#include "rna/base/error.h"
#include "rna/base/root.h"

/* Summary of a recording, for its user. */
struct rna_record_result {
	size_t devices;
	size_t files;      /* with content */
	size_t unreadable; /* number of lines in recorded/unreadable */
};

struct rna_record_options {
	const char *directory; /* must be empty or not exist */
	bool keep_identity;    /* otherwise replaces what identifies node, cards and addresses */
	rna_usec deadline;     /* of each file, counted from the call of tell() for it */
	void (*tell)(const char *line); /* called for files that do not answer; may be NULL */
};

/*
 * Copies the machine at root to a directory.
 *
 * An unreadable file becomes a directory, and a line in recorded/unreadable with its path and the
 * name of the error, ETIMEDOUT if there was no answer. Fails if devices cannot be listed or the
 * directory cannot be written; files written until then stay. Thread: the only one of the process,
 * because a child process runs the collectors. 0, or negative errno with error.
 */
int rna_record(const struct rna_root *root, const struct rna_record_options *options,
	       struct rna_record_result *ret, struct rna_error *error);
