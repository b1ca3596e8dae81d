/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording: one run of all collectors, and a copy of all that they read, small enough to be sent
 * around and complete enough to be looked at with --root.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/clock.h"
#include "rna/base/error.h"
#include "rna/base/root.h"

/* What a recording came to, for the person who made it. */
struct rna_record_result {
	size_t devices;
	size_t files;      /* with content */
	size_t unreadable; /* what is listed in recorded/unreadable */
};

struct rna_record_options {
	const char *directory; /* must be empty or not exist */
	bool keep_identity;    /* else what identifies node, cards and addresses is replaced */
	rna_usec deadline;     /* of each file, from when tell() says that it is waited for */
	void (*tell)(const char *line); /* hears what does not answer; may be NULL */
};

/*
 * Copies the machine at root to a directory.
 *
 * A file that cannot be read is a directory there, and a line of recorded/unreadable: its path and
 * the name of the error, ETIMEDOUT where nothing answered. It fails when devices cannot be listed
 * or the directory cannot be written; what was written until then stays. Thread: the only one of
 * the process, because a child process runs the collectors. 0, or negative errno with error.
 */
int rna_record(const struct rna_root *root, const struct rna_record_options *options,
	       struct rna_record_result *ret, struct rna_error *error);
