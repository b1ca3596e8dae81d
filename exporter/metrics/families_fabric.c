// SPDX-License-Identifier: Apache-2.0
/*
 * The fabric around a port. Metrics are bounded by the port: one peer, one subnet manager; P_Keys
 * are counted, and named in JSON only.
 */
#include "rna/model/fabric.h"

#include "family_rows.h"

/* -- The peer ---------------------------------------------------------------------------------- */

static const void *next_peer(const struct rna_subject *port, size_t *from)
{
	return (*from)++ == 0 ? port->peer : NULL;
}

static const char *peer_type(const void *item)
{
	const struct rna_peer *peer = item;

	return peer->type == RNA_NODE_TYPE_UNKNOWN ? NULL : rna_node_type_name(peer->type);
}

static const char *peer_source(const void *item)
{
	const struct rna_peer *peer = item;

	return rna_peer_source_name(peer->source);
}

/* -- The subnet manager ------------------------------------------------------------------------ */

static const void *next_manager(const struct rna_subject *port, size_t *from)
{
	const struct rna_manager *manager = port->fabric ? &port->fabric->manager : NULL;

	if ((*from)++ > 0 || !manager || (!manager->guid && !rna_value_is_known(manager->lid)))
		return NULL;
	return manager;
}

/* -- Partitions -------------------------------------------------------------------------------- */

static void pkeys(const struct rna_subject *port, struct rna_writer *writer)
{
	uint64_t full = 0;

	if (!port->fabric || !port->fabric->pkeys_known || port->fabric->pkeys_from_files)
		return;
	for (size_t i = 0; i < port->fabric->pkey_count; i++)
		full += port->fabric->pkeys[i].full;
	rna_writer_sample_with(writer, port->labels, "membership", "full", full);
	rna_writer_sample_with(writer, port->labels, "membership", "limited",
			       port->fabric->pkey_count - full);
}

static struct rna_value default_pkey(const struct rna_subject *port)
{
	if (!port->fabric || !port->fabric->pkeys_known || port->fabric->pkeys_from_files)
		return rna_no_value;
	return rna_value_ok(rna_port_has_pkey(port->fabric, RNA_DEFAULT_PKEY));
}

/* Without MADs nothing is known of changes. */
static struct rna_value peer_changes(const struct rna_subject *port)
{
	return port->fabric && port->fabric->answered ? rna_value_ok(port->fabric->peer_changes)
						      : rna_no_value;
}

static struct rna_value manager_changes(const struct rna_subject *port)
{
	return port->fabric && port->fabric->answered ? rna_value_ok(port->fabric->manager.changes)
						      : rna_no_value;
}

/* -- The tables -------------------------------------------------------------------------------- */

#define PEER(member)    ABOUT(struct rna_peer, member)
#define MANAGER(member) ABOUT(struct rna_manager, member)

/* clang-format off */
/* The peer; behind its own rows, what the port has of it. */
static const struct rna_family peer_rows[] = {
	METRIC(PORT, "rdma_port_peer_info", INFO, PLAIN, LABELS,
	       "Node and port at the other end of the port's cable. Kept after the link went down,"
	       " see rdma_port_peer_stale. Source: mad on InfiniBand, lldp on Ethernet."),
	{.field = {.json = "description", .label = "peer", PEER(name), .column = "PEER"}},
	{.field = {.json = "port", .label = "peer_port", PEER(port), .column = "PEERPORT",
		   .right = true}},
	{.field = {.json = "port_description", .label = "peer_port_description",
		   PEER(port_description)}},
	{.field = {.json = "type", .label = "peer_type", .text = peer_type}},
	{.field = {.json = "guid", .label = "peer_guid", PEER(guid)}},
	{JSON("system_image_guid", PEER(system_image_guid))},
	{.field = {.json = "lid", .label = "peer_lid", PEER(lid)}},
	{BOTH("source", .text = peer_source)},
	{JSON_FLAG("stale", PEER(stale))},
	{JSON("last_seen", PEER(seen.realtime), .time = true)},
	METRIC(PORT, "rdma_port_peer_stale", GAUGE, YES_NO, AT(peer, stale),
	       "1 if rdma_port_peer_info dates from before the link went down or the peer stopped "
	       "answering, 0 if it is current."),
	METRIC(PORT, "rdma_port_management_key_required", GAUGE, YES_NO, AT(fabric, key_required),
	       "1 if the port or its peer rejects subnet management queries without an M_Key, or "
	       "the peer answers none although the link is up; the agent then queries it again "
	       "only after the port has changed. 0 if both answer."),
	METRIC(PORT, "rdma_port_peer_changes_total", COUNTER, PLAIN, GET(peer_changes),
	       "Changes of the peer at the other end of the cable since the agent started."),
	DETAIL(PORT, "rdma_port_peer_width_supported_lanes", GAUGE, PLAIN,
	       AT(peer_link, width_supported),
	       "Largest link width that the peer's port supports, in lanes. InfiniBand only."),
	DETAIL(PORT, "rdma_port_peer_width_enabled_lanes", GAUGE, PLAIN,
	       AT(peer_link, width_enabled),
	       "Largest link width enabled on the peer's port, in lanes. InfiniBand only."),
	DETAIL(PORT, "rdma_port_peer_speed_supported_code", GAUGE, PLAIN,
	       AT(peer_link, speed_supported),
	       "Highest lane speed that the peer's port supports, in the codes of "
	       "rdma_port_speed_code. InfiniBand only."),
	DETAIL(PORT, "rdma_port_peer_speed_enabled_code", GAUGE, PLAIN,
	       AT(peer_link, speed_enabled),
	       "Highest lane speed enabled on the peer's port, in the codes of "
	       "rdma_port_speed_code. InfiniBand only."),
};

/* The subnet manager; behind it, what the port has of it, and partitions. */
static const struct rna_family manager_rows[] = {
	METRIC(PORT, "rdma_port_sm_info", INFO, PLAIN, LABELS,
	       "Subnet manager of the port, with its GUID and LID."),
	{.field = {.json = "guid", .label = "sm_guid", MANAGER(guid)}},
	{.field = {.json = "lid", .label = "sm_lid", MANAGER(lid)}},
	{JSON("priority", MANAGER(priority))},
	{JSON("state", MANAGER(state), .word = rna_manager_state_name)},
	METRIC(PORT, "rdma_port_sm_state_id", GAUGE, PLAIN, AT(fabric, manager.state),
	       "State that the subnet manager reports (0 not active, 1 discovering, 2 standby, 3 "
	       "master)."),
	DETAIL(PORT, "rdma_port_sm_priority", GAUGE, PLAIN, AT(fabric, manager.priority),
	       "Priority of the subnet manager, 0 to 15. The highest becomes master."),
	METRIC(PORT, "rdma_port_sm_changes_total", COUNTER, PLAIN, GET(manager_changes),
	       "Changes of the port's subnet manager since the agent started."),
	METRIC(PORT, "rdma_port_pkeys", GAUGE, PLAIN, EACH(pkeys, "membership"),
	       "P_Keys in the port's table by membership: full, limited."),
	METRIC(PORT, "rdma_port_default_pkey", GAUGE, YES_NO, GET(default_pkey),
	       "1 if the port is a full or limited member of the default partition (P_Key 0x7fff),"
	       " 0 otherwise."),
	DETAIL(PORT, "rdma_port_virtual_lanes", GAUGE, PLAIN, AT(fabric, virtual_lanes),
	       "Operational virtual lanes of the port, without VL15 (subnet management)."),
	DETAIL(PORT, "rdma_port_congestion_control", GAUGE, YES_NO, AT(fabric, congestion_control),
	       "1 if the port answers congestion control management (IBTA annex A10), 0 otherwise."),
};
/* clang-format on */

const struct rna_family_table rna_peer_table = {ROWS(peer_rows), .next = next_peer};
const struct rna_family_table rna_manager_table = {ROWS(manager_rows), .next = next_manager};
