// SPDX-License-Identifier: Apache-2.0
#include "memory_text.h"

#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"

bool rna_memory_set_text(char **field, const char *text)
{
	char *copy;

	if (rna_same_text(*field, text))
		return false;
	copy = text ? strdup(text) : NULL;
	if (text && !copy)
		return false; /* no memory: the old one stays, the next call tries again */
	free(*field);
	*field = copy;
	return true;
}
