/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that are loaded at run time instead of linked, because not every node has them. */
#pragma once

#include <stddef.h>

struct rna_symbol {
	const char *name;
	void *place; /* address of the pointer to fill */
};

/*
 * Opens a library by dlopen(3) with flags and fills the pointers to all symbols. The caller closes
 * the handle by dlclose(3). NULL: it cannot be loaded; dlerror(3) says why. *ret_missing: the first
 * symbol that the library lacks, or NULL. Thread: any.
 */
void *rna_library_open(const char *name, int flags, const struct rna_symbol *symbols, size_t count,
		       const char **ret_missing);
