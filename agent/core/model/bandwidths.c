// SPDX-License-Identifier: Apache-2.0
#include "rna/model/bandwidths.h"

#include <string.h>

const char *rna_bandwidth_cause_name(enum rna_bandwidth_cause cause)
{
	static const char *const names[RNA_BANDWIDTH_CAUSE_COUNT] = {
		[RNA_BANDWIDTH_DEMAND] = "demand",
		[RNA_BANDWIDTH_WINDOW] = "window",
		[RNA_BANDWIDTH_PEER] = "peer",
	};

	return cause < RNA_BANDWIDTH_CAUSE_COUNT ? names[cause] : "?";
}

const struct rna_bandwidth_port *rna_bandwidths_find(const struct rna_bandwidths *bandwidths,
						     const char *device, unsigned port)
{
	for (size_t i = 0; bandwidths && i < bandwidths->count; i++)
		if (bandwidths->ports[i].last.port == port &&
		    strcmp(bandwidths->ports[i].last.device, device) == 0)
			return &bandwidths->ports[i];
	return NULL;
}
