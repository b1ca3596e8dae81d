// SPDX-License-Identifier: Apache-2.0
#include "rna/model/bandwidths.h"

#include <string.h>

const struct rna_bandwidth_port *rna_bandwidths_find(const struct rna_bandwidths *bandwidths,
						     const char *device, unsigned port)
{
	return RNA_FIND(i, bandwidths->ports, bandwidths ? bandwidths->count : 0,
			bandwidths->ports[i].last.port == port &&
				strcmp(bandwidths->ports[i].last.device, device) == 0);
}
