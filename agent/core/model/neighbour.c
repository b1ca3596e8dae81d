// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "rna/model/lldp.h"

const struct rna_peer *rna_lldp_find(const struct rna_lldp *lldp, const char *netdev)
{
	for (size_t i = 0; lldp && i < lldp->count; i++)
		if (strcmp(lldp->neighbours[i].netdev, netdev) == 0)
			return &lldp->neighbours[i].peer;
	return NULL;
}
