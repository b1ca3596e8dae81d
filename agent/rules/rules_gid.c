// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about GID tables, for active ports only: a link that goes down loses its addresses, which
 * is not a problem of its own. Unreadable entries make no finding.
 */
#include "past.h"
#include "rules.h"

static bool has_roce_gids(const struct rna_subject *port)
{
	return port->gids && rna_subject_is_active_roce(port);
}

/* The addresses of pods make no finding of the node, and end none. */
static size_t count_type(const struct rna_port_gids *gids, enum rna_gid_type type)
{
	return RNA_COUNT(i, gids->count,
			 !gids->entries[i].elsewhere && gids->entries[i].type == type);
}

static void check_gid_missing(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;

	if (rna_subject_is_active(port) && port->gids && port->gids->count == 0 &&
	    !rna_subject_is_uplink(port))
		(void)rna_finds_add(out, "the port is active, but its GID table is empty");
}

const struct rna_rule rna_rule_gid_missing = {
	RNA_RULE_ROW("gid-missing", PORT, WARNING, RAIL_LOST, HOST, PORT_UNREACHABLE),
	.settles = true,
	.hold = "30s",
	.help = "The GID table of an active port is empty; no connection can use the port.",
	.check = check_gid_missing,
	.remedy = "Check that the network interface {interface} is up and in this network "
		  "namespace.",
	.message_id = "3a59d7b02dbd44109daba40e783915ca",
};

/*
 * The kernel makes a GID of each type that the device supports (roce_gid_type_mask_support() in
 * drivers/infiniband/core/roce_gid_mgmt.c, 6.12). default_roce_mode in configfs (cma_roce_mode)
 * selects one of them for connections of the RDMA CM, and makes none
 * (Documentation/ABI/testing/configfs-rdma_cm).
 */
static void check_gid_roce_v1_only(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_port_gids *gids = in->subject->gids;

	if (has_roce_gids(in->subject) && rna_port_gids_count_here(gids) > 0 &&
	    count_type(gids, RNA_GID_TYPE_ROCE_V1) == rna_port_gids_count_here(gids))
		(void)rna_finds_add(out, "all %zu GIDs are RoCE v1",
				    rna_port_gids_count_here(gids));
}

const struct rna_rule rna_rule_gid_roce_v1_only = {
	RNA_RULE_ROW("gid-roce-v1-only", PORT, WARNING, HOST, HOST, PORT_UNREACHABLE),
	.settles = true,
	.hold = "30s",
	.help = "All GIDs of an active port are RoCE v1, which cannot be routed.",
	.check = check_gid_roce_v1_only,
	.remedy = "Update driver and firmware of {device}: no setting makes GIDs of a type that "
		  "they do not support. A ConnectX-3 without \"Pro\" has no RoCE v2: use it within "
		  "one subnet, or replace it.",
	.message_id = "0bc8bac461a34f67b26407d55860649e",
};

/*
 * An interface without an address is a finding of netdev-no-address. An interface in a bridge or a
 * virtual switch has none by design; such a port is not meant for RDMA.
 */
static void check_gid_link_local_only(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	struct rna_finding *found;

	if (!has_roce_gids(port) || rna_subject_has_routable_gid(port) ||
	    count_type(port->gids, RNA_GID_TYPE_ROCE_V2) == 0)
		return;
	if (port->netdev && !port->netdev->master && rna_netdev_has_no_address(port->netdev))
		return;
	found = rna_finds_add(
		out, "all %zu GIDs are link-local: the port is reachable only from its own network",
		rna_port_gids_count_here(port->gids));
	rna_rule_mention_former_bond(in, found, out);
	if (port->netdev && port->netdev->master && !rna_rule_bond_of(in))
		found->severity = RNA_SEVERITY_INFO;
}

const struct rna_rule rna_rule_gid_link_local_only = {
	RNA_RULE_ROW("gid-link-local-only", PORT, WARNING, RAIL_LOST, HOST, PORT_UNREACHABLE),
	.settles = true,
	.hold = "30s",
	.help = "All GIDs of an active RoCE port are link-local, although its interface "
		"has an address or its addresses are unknown.",
	.check = check_gid_link_local_only,
	.remedy = "Assign an IP address to {interface}. If it has one, run: ip link set "
		  "dev {interface} down && ip link set dev {interface} up.",
	.message_id = "c178507e72ab4f93b5bf4c3c1baffebe",
};

/* -- NCCL's index ------------------------------------------------------------------------------ */

static void check_gid_nccl_index_moved(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_value index = in->subject->nccl_routable;
	const struct rna_past *past = rna_rule_past_of(in, in->subject);

	if (past && past->nccl_known && rna_value_is_known(index) &&
	    index.number != past->nccl_index)
		(void)rna_finds_add(out, "NCCL uses GID index %ju; it used %u before",
				    (uintmax_t)index.number, past->nccl_index);
}

const struct rna_rule rna_rule_gid_nccl_index_moved = {
	RNA_RULE_ROW("gid-nccl-index-moved", PORT, WARNING, HOST, HOST, CHANGED),
	.settles = true,
	.hold = "30s",
	.help = "NCCL uses another GID index than before. The finding resolves after 24 "
		"hours, or when the previous index is back.",
	.check = check_gid_nccl_index_moved,
	.remedy = "Jobs that set NCCL_IB_GID_INDEX need the new index, or must not set "
		  "it; rdma-node-agent status --gids shows the table.",
	.message_id = "9daa3e9b96d74aa9bd559158af883e92",
};

static bool is_of_model(const struct rna_subject *port, unsigned model)
{
	return port->model == model && rna_value_is_known(port->nccl_routable);
}

static size_t count_index(const struct rna_rule_input *in, uint64_t index)
{
	return RNA_COUNT(i, in->ports->count,
			 is_of_model(&in->ports->items[i], in->subject->model) &&
				 in->ports->items[i].nccl_routable.number == index);
}

/*
 * The index that more than half of the ports of this model use (found by the majority vote of Boyer
 * and Moore), otherwise that of the first port.
 */
static uint64_t usual_index(const struct rna_rule_input *in)
{
	uint64_t first = 0, left = 0;
	size_t seen = 0, votes = 0;

	RNA_EACH (port, in->ports->items, in->ports->count) {
		if (!is_of_model(port, in->subject->model))
			continue;
		if (seen++ == 0)
			first = port->nccl_routable.number;
		if (votes == 0)
			left = port->nccl_routable.number;
		votes += left == port->nccl_routable.number ? 1 : (size_t)-1;
	}
	return count_index(in, left) > seen / 2 ? left : first;
}

static void check_gid_rails_disagree(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	uint64_t usual;
	size_t count;

	if (!port->model || !rna_value_is_known(port->nccl_routable))
		return;
	usual = usual_index(in);
	if (usual == port->nccl_routable.number)
		return;
	count = count_index(in, usual);
	(void)rna_finds_add(out,
			    "NCCL uses GID index %ju here, but %ju on %zu other port%s of this "
			    "model",
			    (uintmax_t)port->nccl_routable.number, (uintmax_t)usual, count,
			    count == 1 ? "" : "s");
}

const struct rna_rule rna_rule_gid_rails_disagree = {
	RNA_RULE_ROW("gid-rails-disagree", PORT, INFO, HOST, HOST, NOT_READY),
	.settles = true,
	.hold = "30s",
	.help = "NCCL uses another GID index on this port than on most ports of the same "
		"model.",
	.check = check_gid_rails_disagree,
	.remedy = "Do not set NCCL_IB_GID_INDEX on this node, or configure the addresses "
		  "of all rails alike.",
	.message_id = "9ec37f617a694d44bf89cbad4c4d314e",
};
