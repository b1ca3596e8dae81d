/* SPDX-License-Identifier: Apache-2.0 */
/* How the backends of a recorded machine read its files. */
#pragma once

#include "backends.h"

/* A directory of the recording, and memory for the paths below it. */
struct rna_recorded_place {
	const struct rna_root *root;
	struct rna_arena *arena;
	const char *directory; /* NULL after -ENOMEM: nothing is found below */
};

/* NULL: no memory. */
const char *rna_recorded_path(const struct rna_recorded_place *place, const char *name);

/* A number in a file: ok, absent, or unreadable. */
struct rna_value rna_recorded_value(const struct rna_recorded_place *place, const char *name);
