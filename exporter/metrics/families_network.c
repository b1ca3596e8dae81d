// SPDX-License-Identifier: Apache-2.0
/*
 * What stands between a RoCE port and the network: the LACP members of its bond, and its gateways,
 * with the label netdev.
 */
#include "family_rows.h"

/* -- LACP -------------------------------------------------------------------------------------- */

/* The bond of a port if it has chosen an LACP aggregator, or NULL. */
static const struct rna_netdev *lacp_bond_of(const struct rna_subject *port)
{
	const struct rna_netdev *bond =
		rna_netdevs_bond_of(rna_snapshot_netdevs(port->view->snapshot), port->netdev);

	return bond && rna_value_is_known(bond->lacp.aggregator) ? bond : NULL;
}

static const void *next_member(const struct rna_subject *port, size_t *from)
{
	const struct rna_netdev *bond = lacp_bond_of(port);

	return bond ? rna_netdevs_next_member(rna_snapshot_netdevs(port->view->snapshot),
					      bond->name, port->rdma_device, from)
		    : NULL;
}

static struct rna_value bond_aggregator(const struct rna_subject *port)
{
	const struct rna_netdev *bond = lacp_bond_of(port);

	return bond ? bond->lacp.aggregator : rna_no_value;
}

static struct rna_value bond_has_partner(const struct rna_subject *port)
{
	const struct rna_netdev *bond = lacp_bond_of(port);

	return bond && bond->lacp.partner
		       ? rna_family_yes_or_no(!rna_lacp_has_no_partner(&bond->lacp))
		       : rna_no_value;
}

static struct rna_value carries_traffic(const void *item)
{
	return rna_lacp_carries_traffic(&((const struct rna_netdev *)item)->lacp);
}

/* -- Gateways ---------------------------------------------------------------------------------- */

/* Routes lead out of the bond if the interface is in one. */
static const void *next_gateway(const struct rna_subject *port, size_t *from)
{
	const struct rna_snapshot *snapshot = port->view->snapshot;
	const struct rna_netdev *bond =
		rna_netdevs_bond_of(rna_snapshot_netdevs(snapshot), port->netdev);
	const struct rna_netdev *netdev = bond ? bond : port->netdev;

	return rna_gateways_next(rna_snapshot_gateways(snapshot), netdev ? netdev->name : NULL,
				 from);
}

/* -- The tables -------------------------------------------------------------------------------- */

#define MEMBER(member)  ABOUT(struct rna_netdev, member)
#define GATEWAY(member) ABOUT(struct rna_gateway, member)

/* clang-format off */
static const struct rna_family bond_rows[] = {
	METRIC(PORT, "rdma_port_bond_aggregator_id", GAUGE, PLAIN, GET(bond_aggregator),
	       "LACP aggregator that carries the traffic of the port's bond (mode 802.3ad)."),
	METRIC(PORT, "rdma_port_bond_has_partner", GAUGE, YES_NO, GET(bond_has_partner),
	       "1 if a switch answers the LACP of the port's bond (mode 802.3ad), 0 otherwise."),
};

static const struct rna_family bond_member_rows[] = {
	{BOTH("netdev", MEMBER(name), .tells = true)},
	METRIC(PORT, "rdma_port_bond_member_aggregator_id", GAUGE, PLAIN,
	       IN(struct rna_netdev, lacp.aggregator, .json = "aggregator_id"),
	       "LACP aggregator of a member of the port's bond. The member carries traffic only if "
	       "it is rdma_port_bond_aggregator_id."),
	METRIC(PORT, "rdma_port_bond_member_distributing", GAUGE, YES_NO,
	       JSON_FLAG("distributing", .number = carries_traffic),
	       "1 if both ends of a member of the port's bond collect and distribute (LACP), 0 "
	       "otherwise."),
	METRIC(PORT, "rdma_port_bond_member_actor_state", GAUGE, PLAIN,
	       IN(struct rna_netdev, lacp.actor_state, .json = "actor_state"),
	       "LACP state of this end of a member of the port's bond, as bits (1 activity, 2 short "
	       "timeout, 4 aggregation, 8 synchronization, 16 collecting, 32 distributing, 64 "
	       "defaulted, 128 expired)."),
	METRIC(PORT, "rdma_port_bond_member_partner_state", GAUGE, PLAIN,
	       IN(struct rna_netdev, lacp.partner_state, .json = "partner_state"),
	       "LACP state of the switch port of a member of the port's bond, in the bits of "
	       "rdma_port_bond_member_actor_state."),
};

static const struct rna_family gateway_rows[] = {
	{BOTH("netdev", GATEWAY(netdev), .tells = true)},
	{BOTH("gateway", GATEWAY(text), .tells = true)},
	METRIC(PORT, "rdma_port_gateway_state_id", GAUGE, PLAIN,
	       IN(struct rna_gateway, state, .json = "state", .word = rna_neighbour_state_name),
	       "State of a gateway of the port in the kernel's neighbour table (0 no entry, 1 "
	       "INCOMPLETE, 2 REACHABLE, 4 STALE, 8 DELAY, 16 PROBE, 32 FAILED, 64 NOARP, 128 "
	       "PERMANENT). STALE is normal: nothing has asked lately."),
	METRIC(PORT, "rdma_port_gateway_confirmed_seconds", GAUGE, SECONDS,
	       IN(struct rna_gateway, confirmed, .json = "confirmed_microseconds"),
	       "Time in seconds, when the agent read it, since a gateway of the port was last "
	       "known to be reachable. Absent if the state does not tell."),
};
/* clang-format on */

const struct rna_family_table rna_bond_table = {ROWS(bond_rows)};
const struct rna_family_table rna_bond_member_table = {ROWS(bond_member_rows), .next = next_member};
const struct rna_family_table rna_gateway_table = {ROWS(gateway_rows), .next = next_gateway};
