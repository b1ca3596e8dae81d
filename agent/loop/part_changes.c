// SPDX-License-Identifier: Apache-2.0
#include "part_changes.h"

#include "rna/collector.h"
#include "rna/model/gid.h"
#include "rna/model/netdev.h"

bool rna_part_changes_labels(const struct rna_part *old, const struct rna_part *new)
{
	if (new->collector == RNA_COLLECTOR_GIDS)
		return !old || !rna_gids_same_entries((const void *)old, (const void *)new);
	if (new->collector == RNA_COLLECTOR_NETDEV)
		return !old || !rna_netdevs_same_names((const void *)old, (const void *)new);
	/* rare; comparing would cost more */
	return new->collector == RNA_COLLECTOR_IDENTITY || new->collector == RNA_COLLECTOR_TOPOLOGY;
}

static bool same_value(struct rna_value a, struct rna_value b)
{
	return a.state == b.state && a.number == b.number;
}

bool rna_part_changes_lids(const struct rna_part *old, const struct rna_part *new)
{
	const struct rna_link *a = (const void *)old, *b = (const void *)new;
	bool ret = false;

	if (new->collector != RNA_COLLECTOR_LINK || !old)
		return false;
	for (size_t i = 0; i < a->port_count && i < b->port_count; i++)
		ret |= !same_value(a->ports[i].lid, b->ports[i].lid) ||
		       !same_value(a->ports[i].sm_lid, b->ports[i].sm_lid);
	return ret;
}

unsigned rna_part_changed_states(const struct rna_part *old, const struct rna_part *new)
{
	const struct rna_state *a = (const void *)old, *b = (const void *)new;
	unsigned count = 0;

	if (new->collector != RNA_COLLECTOR_STATE || !old)
		return 0;
	for (size_t i = 0; i < a->port_count && i < b->port_count; i++)
		count += !same_value(a->ports[i].state, b->ports[i].state) ||
			 !same_value(a->ports[i].physical_state, b->ports[i].physical_state);
	return count;
}
