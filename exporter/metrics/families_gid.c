// SPDX-License-Identifier: Apache-2.0
/* Metrics of GIDs: how many there are, of what kind, and which of them NCCL takes. */
#include "families_gid.h"

#include "view/facts.h"

#include "families_parts.h"

static void write_gid_count(const struct rna_subject *port, enum rna_gid_type type,
			    enum rna_gid_family family, uint64_t count, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	rna_labels_begin(&labels, port->labels);
	rna_label_add(&labels, "type", rna_gid_type_name(type));
	rna_label_add(&labels, "family", rna_gid_family_name(family));
	rna_writer_sample_labels(writer, &labels, count);
}

/*
 * RoCE v2 is counted in both families wherever there is RoCE: that there is no IPv4 for it is what
 * one wants to be told. Of everything else, there are samples only of what there is.
 */
static bool is_missed(enum rna_gid_type type, bool roce)
{
	return roce && type == RNA_GID_TYPE_ROCE_V2;
}

void rna_family_gid_counts(const struct rna_subject *port, struct rna_writer *writer)
{
	uint64_t counts[RNA_GID_TYPE_COUNT][RNA_GID_FAMILY_COUNT] = {0};
	bool roce = false;

	for (size_t i = 0; port->gids && i < port->gids->count; i++) {
		const struct rna_gid_entry *entry = &port->gids->entries[i];

		counts[entry->type][rna_gid_family(&entry->gid)]++;
		roce |= entry->type == RNA_GID_TYPE_ROCE_V1 || entry->type == RNA_GID_TYPE_ROCE_V2;
	}
	for (enum rna_gid_type type = 0; type < RNA_GID_TYPE_COUNT; type++)
		for (enum rna_gid_family family = 0; family < RNA_GID_FAMILY_COUNT; family++)
			if (counts[type][family] > 0 || is_missed(type, roce))
				write_gid_count(port, type, family, counts[type][family], writer);
}

struct rna_value rna_family_gid_info(const struct rna_subject *gid)
{
	return gid->view->metrics.gid_info ? rna_value_ok(1) : rna_no_value;
}

struct rna_value rna_family_nccl_gid_info(const struct rna_subject *gid)
{
	return gid->view->metrics.gid_info && rna_gid_is_nccl(gid) ? rna_value_ok(1) : rna_no_value;
}

struct rna_value rna_family_nccl_gid_index(const struct rna_subject *port)
{
	return port->nccl_index;
}

struct rna_value rna_family_gid_changes(const struct rna_subject *port)
{
	return port->gids ? rna_value_ok(port->gids->changes) : rna_no_value;
}
