/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording: a copy of all that the collectors read of a machine, small enough to be sent around
 * and complete enough to be looked at with --root.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/error.h"
#include "rna/root.h"

/* What a recording came to, for the person who made it. */
struct rna_record_result {
	size_t devices;
	size_t files;      /* with content */
	size_t unreadable; /* what is listed in recorded/unreadable */
};

/*
 * Copies the machine at root to directory, which must be empty or not exist. What identifies the
 * node, its cards and its addresses is replaced, unless keep_identity.
 *
 * A file that cannot be read is a directory there, and a line of recorded/unreadable: its path and
 * the name of the error. It fails when devices cannot be listed or directory cannot be written;
 * what was written until then stays. Reads one file after the other, without a deadline: a device
 * that does not answer holds it up. Thread: any. 0, or negative errno with error.
 */
int rna_record(const struct rna_root *root, const char *directory, bool keep_identity,
	       struct rna_record_result *ret, struct rna_error *error);
