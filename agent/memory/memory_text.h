/* SPDX-License-Identifier: Apache-2.0 */
/* A text that the memory owns. */
#pragma once

#include <stdbool.h>

/* Makes *field a copy of text (NULL is fine). True: it was another text. */
bool rna_memory_set_text(char **field, const char *text);
