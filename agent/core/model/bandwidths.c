// SPDX-License-Identifier: Apache-2.0
#include "rna/model/bandwidths.h"

#include <string.h>

const struct rna_bandwidth_port *rna_bandwidths_find(const struct rna_bandwidths *bandwidths,
						     const char *device, unsigned port)
{
	for (size_t i = 0; bandwidths && i < bandwidths->count; i++)
		if (bandwidths->ports[i].last.port == port &&
		    strcmp(bandwidths->ports[i].last.device, device) == 0)
			return &bandwidths->ports[i];
	return NULL;
}
