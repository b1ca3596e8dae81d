// SPDX-License-Identifier: Apache-2.0
/*
 * Metrics of the fabric around a port. Each is bounded by the port: one peer, one subnet manager;
 * P_Keys are counted, and named in JSON only.
 */
#include "families_fabric.h"

#include "families_parts.h"

/* -- The peer ---------------------------------------------------------------------------------- */

/* No label where it is not known. */
static void add_value(struct rna_strbuf *labels, const char *name, struct rna_value value)
{
	if (rna_value_is_known(value))
		rna_label_add_number(labels, name, value.number);
}

void rna_family_peer_info(const struct rna_subject *port, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
	const struct rna_peer *peer = port->peer;

	if (!peer)
		return;
	rna_labels_begin(&labels, port->labels);
	rna_label_add(&labels, "peer", peer->name);
	rna_label_add(&labels, "peer_port", peer->port);
	rna_label_add(&labels, "peer_port_description", peer->port_description);
	if (peer->type != RNA_NODE_TYPE_UNKNOWN)
		rna_label_add(&labels, "peer_type", rna_node_type_name(peer->type));
	rna_label_add(&labels, "peer_guid", peer->guid);
	add_value(&labels, "peer_lid", peer->lid);
	rna_label_add(&labels, "source", rna_peer_source_name(peer->source));
	rna_writer_sample_labels(writer, &labels, 1);
}

struct rna_value rna_family_peer_stale(const struct rna_subject *port)
{
	return port->peer ? rna_value_ok(port->peer->stale) : rna_no_value;
}

struct rna_value rna_family_peer_changes(const struct rna_subject *port)
{
	return port->fabric ? rna_value_ok(port->fabric->peer_changes) : rna_no_value;
}

/* What a peer could do that is no longer there says nothing of the link. */
#define PEER_LINK(name, member)                                                                    \
	struct rna_value name(const struct rna_subject *port)                                      \
	{                                                                                          \
		return port->peer && !port->peer->stale ? port->peer->link.member : rna_no_value;  \
	}

PEER_LINK(rna_family_peer_width_supported, width_supported)
PEER_LINK(rna_family_peer_width_enabled, width_enabled)
PEER_LINK(rna_family_peer_speed_supported, speed_supported)
PEER_LINK(rna_family_peer_speed_enabled, speed_enabled)

/* -- The subnet manager ------------------------------------------------------------------------ */

void rna_family_sm_info(const struct rna_subject *port, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	if (!port->fabric ||
	    (!port->fabric->manager.guid && !rna_value_is_known(port->fabric->manager.lid)))
		return;
	rna_labels_begin(&labels, port->labels);
	rna_label_add(&labels, "sm_guid", port->fabric->manager.guid);
	add_value(&labels, "sm_lid", port->fabric->manager.lid);
	rna_writer_sample_labels(writer, &labels, 1);
}

struct rna_value rna_family_sm_state(const struct rna_subject *port)
{
	return port->fabric ? port->fabric->manager.state : rna_no_value;
}

struct rna_value rna_family_sm_priority(const struct rna_subject *port)
{
	return port->fabric ? port->fabric->manager.priority : rna_no_value;
}

struct rna_value rna_family_sm_changes(const struct rna_subject *port)
{
	return port->fabric ? rna_value_ok(port->fabric->manager.changes) : rna_no_value;
}

/* -- Partitions and lanes ---------------------------------------------------------------------- */

void rna_family_pkeys(const struct rna_subject *port, struct rna_writer *writer)
{
	uint64_t full = 0;

	if (!port->fabric || !port->fabric->pkeys_known)
		return;
	for (size_t i = 0; i < port->fabric->pkey_count; i++)
		full += port->fabric->pkeys[i].full;
	rna_writer_sample_with(writer, port->labels, "membership", "full", full);
	rna_writer_sample_with(writer, port->labels, "membership", "limited",
			       port->fabric->pkey_count - full);
}

struct rna_value rna_family_default_pkey(const struct rna_subject *port)
{
	if (!port->fabric || !port->fabric->pkeys_known)
		return rna_no_value;
	return rna_value_ok(rna_port_has_pkey(port->fabric, RNA_DEFAULT_PKEY));
}

struct rna_value rna_family_virtual_lanes(const struct rna_subject *port)
{
	return port->fabric ? port->fabric->virtual_lanes : rna_no_value;
}

struct rna_value rna_family_congestion_control(const struct rna_subject *port)
{
	return port->fabric ? port->fabric->congestion_control : rna_no_value;
}
