// SPDX-License-Identifier: Apache-2.0
#include "process_limits.h"

#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/readiness.h"

enum { TEXT_MAX = 4096 };

/* What follows name in a file of the process, in text; NULL: nothing. */
static const char *find(const struct rna_root *root, const char *process, const char *file,
			const char *name, char text[static TEXT_MAX])
{
	char path[64];
	const char *found;

	if (snprintf(path, sizeof(path), "proc/%s/%s", process, file) >= (int)sizeof(path) ||
	    rna_root_read(root, path, text, TEXT_MAX) < 0)
		return NULL;
	found = strstr(text, name);
	return found ? found + strlen(name) : NULL;
}

struct rna_value rna_process_memlock(const struct rna_root *root, const char *process)
{
	char buffer[TEXT_MAX];
	const char *text = find(root, process, "limits", "Max locked memory", buffer);
	uint64_t limit;

	if (!text)
		return (struct rna_value){0};
	text += strspn(text, " ");
	if (strncmp(text, "unlimited", strlen("unlimited")) == 0)
		return rna_value_ok(RNA_MEMLOCK_INFINITY);
	return rna_parse_leading_u64(text, &limit) == 0 ? rna_value_ok(limit)
							: (struct rna_value){0};
}

bool rna_process_has_capability(const struct rna_root *root, const char *process,
				unsigned capability)
{
	char buffer[TEXT_MAX];
	const char *text = find(root, process, "status", "CapEff:", buffer);

	return text && strtoull(text, NULL, 16) >> capability & 1;
}
