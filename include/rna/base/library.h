/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that are loaded where they are, and not linked: not every node has them. */
#pragma once

#include <stddef.h>

struct rna_symbol {
	const char *name;
	void *place; /* of the pointer to it */
};

/*
 * dlopen(3) with flags, and the pointers to all symbols. NULL: it cannot be had, and dlerror(3)
 * says why; else for dlclose(3). *ret_missing: the first that it has not, or NULL. Thread: any.
 */
void *rna_library_open(const char *name, int flags, const struct rna_symbol *symbols, size_t count,
		       const char **ret_missing);
