// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/fabric.h"
#include "rna/model/lldp.h"

bool rna_peer_is_same(const struct rna_peer *a, const struct rna_peer *b)
{
	if (!rna_same_text(a->port, b->port))
		return false;
	if (a->guid || b->guid)
		return rna_same_text(a->guid, b->guid);
	return rna_same_text(a->name, b->name);
}

bool rna_port_has_pkey(const struct rna_port_fabric *fabric, uint16_t key)
{
	return RNA_ANY(i, fabric->pkey_count, fabric->pkeys[i].key == key);
}

const struct rna_peer *rna_lldp_find(const struct rna_lldp *lldp, const char *netdev)
{
	for (size_t i = 0; lldp && i < lldp->count; i++)
		if (strcmp(lldp->neighbours[i].netdev, netdev) == 0)
			return &lldp->neighbours[i].peer;
	return NULL;
}

const struct rna_peer *rna_lldp_find_port(const struct rna_lldp *lldp,
					  const struct rna_netdevs *netdevs,
					  const struct rna_device *device,
					  const struct rna_netdev *netdev)
{
	const struct rna_netdev *member;
	const struct rna_peer *peer;
	size_t from = 0;

	if (!netdev || device->process) /* lldpd hears those of this network namespace */
		return NULL;
	peer = rna_lldp_find(lldp, netdev->name);
	while (!peer && netdev->bond &&
	       (member = rna_netdevs_next_member(netdevs, netdev->name, device, &from)))
		peer = rna_lldp_find(lldp, member->name);
	return peer;
}
