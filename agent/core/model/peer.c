// SPDX-License-Identifier: Apache-2.0
#include "rna/base/cleanup.h"
#include "rna/base/parse.h"
#include "rna/model/fabric.h"

const char *rna_peer_source_name(enum rna_peer_source source)
{
	static const char *const names[] = {
		[RNA_PEER_BY_MAD] = "mad",
		[RNA_PEER_BY_LLDP] = "lldp",
	};

	return names[source];
}

bool rna_peer_is_same(const struct rna_peer *a, const struct rna_peer *b)
{
	if (!rna_same_text(a->port, b->port))
		return false;
	if (a->guid || b->guid)
		return rna_same_text(a->guid, b->guid);
	return rna_same_text(a->name, b->name);
}

const char *rna_manager_state_name(uint64_t state)
{
	static const char *const names[] = {
		[RNA_MANAGER_NOT_ACTIVE] = "not active",
		[RNA_MANAGER_DISCOVERING] = "discovering",
		[RNA_MANAGER_STANDBY] = "standby",
		[RNA_MANAGER_MASTER] = "master",
	};

	return state < RNA_ARRAY_SIZE(names) ? names[state] : "?";
}

bool rna_port_has_pkey(const struct rna_port_fabric *fabric, uint16_t key)
{
	for (size_t i = 0; i < fabric->pkey_count; i++)
		if (fabric->pkeys[i].key == key)
			return true;
	return false;
}
