// SPDX-License-Identifier: Apache-2.0
#include "rna/model/finding.h"

#include <string.h>

#include "rna/base/parse.h"

int rna_finding_compare(const struct rna_finding *a, const struct rna_finding *b)
{
	int ret;

	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	ret = rna_compare_names(a->device ? a->device : "", b->device ? b->device : "");
	if (ret == 0 && a->port != b->port)
		ret = a->port < b->port ? -1 : 1;
	return ret ? ret : strcmp(a->rule, b->rule);
}

size_t rna_finding_count(const struct rna_finding *findings, size_t count,
			 enum rna_severity severity)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += findings[i].severity == severity && !findings[i].silenced;
	return found;
}
