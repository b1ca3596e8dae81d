// SPDX-License-Identifier: Apache-2.0
#include "rna/base/library.h"

#include <dlfcn.h>
#include <string.h>

void *rna_library_open(const char *name, int flags, const struct rna_symbol *symbols, size_t count,
		       const char **ret_missing)
{
	void *library = dlopen(name, flags);

	*ret_missing = NULL;
	for (size_t i = 0; library && i < count && !*ret_missing; i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (symbol)
			memcpy(symbols[i].place, &symbol, sizeof(symbol)); /* dlsym(3) */
		else
			*ret_missing = symbols[i].name;
	}
	return library;
}
