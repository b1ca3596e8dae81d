// SPDX-License-Identifier: Apache-2.0
/* Metrics of GIDs: how many there are, of what kind, and which of them NCCL takes. */

#include "view/facts.h"

#include "family_rows.h"

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

static void gid_counts(const struct rna_subject *port, struct rna_writer *writer)
{
	uint64_t counts[RNA_GID_TYPE_COUNT][RNA_GID_FAMILY_COUNT] = {0};
	bool roce = false;

	for (size_t i = 0; port->gids && i < port->gids->count; i++) {
		const struct rna_gid_entry *entry = &port->gids->entries[i];

		counts[entry->type][rna_gid_family(&entry->gid)]++;
		roce |= entry->type == RNA_GID_TYPE_ROCE_V1 || entry->type == RNA_GID_TYPE_ROCE_V2;
	}
	if (port->link_layer == RNA_LINK_LAYER_INFINIBAND && !port->view->metrics.details)
		return; /* the subnet manager's prefix and the port's own GUID: always the same */
	for (enum rna_gid_type type = 0; type < RNA_GID_TYPE_COUNT; type++)
		for (enum rna_gid_family family = 0; family < RNA_GID_FAMILY_COUNT; family++)
			if (counts[type][family] > 0 || is_missed(type, roce))
				write_gid_count(port, type, family, counts[type][family], writer);
}

static struct rna_value gid_info(const struct rna_subject *gid)
{
	return gid->view->metrics.gid_info ? rna_value_ok(1) : rna_no_value;
}

static struct rna_value nccl_gid_info(const struct rna_subject *gid)
{
	return gid->view->metrics.gid_info && rna_gid_is_nccl(gid) ? rna_value_ok(1) : rna_no_value;
}

/* -- One GID ----------------------------------------------------------------------------------- */

static const struct rna_gid_entry *entry_of(const void *subject)
{
	return ((const struct rna_subject *)subject)->gid;
}

static const char *gid(const void *subject, char scratch[RNA_FIELD_TEXT_MAX])
{
	_Static_assert((int)RNA_FIELD_TEXT_MAX >= (int)RNA_GID_TEXT_MAX, "a GID fits");
	rna_gid_format(&entry_of(subject)->gid, scratch);
	return scratch;
}

static const char *type(const void *subject)
{
	return rna_gid_type_name(entry_of(subject)->type);
}

/* As show_gids has it. */
static const char *version(const void *subject)
{
	switch (entry_of(subject)->type) {
	case RNA_GID_TYPE_ROCE_V1:
		return "v1";
	case RNA_GID_TYPE_ROCE_V2:
		return "v2";
	case RNA_GID_TYPE_IB:
		return rna_gid_type_name(RNA_GID_TYPE_IB);
	default:
		return NULL;
	}
}

static const char *family(const void *subject)
{
	return rna_gid_family_name(rna_gid_family(&entry_of(subject)->gid));
}

/* Of a GID that is made of one. */
static const char *ipv4(const void *subject, char scratch[RNA_FIELD_TEXT_MAX])
{
	return rna_gid_ipv4(&entry_of(subject)->gid, scratch) ? scratch : NULL;
}

static struct rna_value link_local(const void *subject)
{
	return rna_family_yes_or_no(rna_gid_is_link_local(&entry_of(subject)->gid));
}

static struct rna_value nccl(const void *subject)
{
	return rna_family_yes_or_no(rna_gid_is_nccl(subject));
}

/* -- The table --------------------------------------------------------------------------------- */

/* clang-format off */
static const struct rna_family rows[] = {
	METRIC(PORT, "rdma_port_gids", GAUGE, PLAIN, EACH(gid_counts, "type, family"),
	       "Entries in use in the port's GID table, by GID type and address family. On "
	       "InfiniBand only with metrics.details."),
	METRIC(GID, "rdma_port_gid_info", INFO, PLAIN, GET(gid_info),
	       "Entry of the port's GID table. Requires metrics.gid_info."),
	{BOTH("index", BEHIND(gid, index), .column = "INDEX", .right = true)},
	{BOTH("gid", .print = gid, .column = "GID")},
	{BOTH("type", .text = type)},
	{.field = {.text = version, .column = "VER"}},
	{BOTH("family", .text = family)},
	{BOTH("netdev", BEHIND(gid, netdev), .column = "NETDEV")},
	{JSON("ipv4", .print = ipv4, .column = "IPv4")},
	{JSON_FLAG("link_local", .number = link_local)},
	{JSON_FLAG("nccl", .number = nccl, .column = "NCCL")},
	METRIC(PORT, "rdma_port_gid_changes_total", COUNTER, PLAIN, AT(gids, changes),
	       "Changes in the port's GID table: an index got another GID, or a GID another index."),
	METRIC(PORT, "rdma_port_nccl_gid_index", GAUGE, PLAIN,
	       IN(struct rna_subject, nccl_index),
	       "GID index that NCCL selects on this port if its environment sets none. Absent "
	       "while the port is not ACTIVE."),
	METRIC(GID, "rdma_port_nccl_gid_info", INFO, PLAIN, GET(nccl_gid_info),
	       "GID at rdma_port_nccl_gid_index. Requires metrics.gid_info."),
};
/* clang-format on */

const struct rna_family_table rna_gid_table = {ROWS(rows)};
