// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about links that are up, but not as they should be, and about the network interfaces behind
 * them. All of these ask for an active port: what a port that is down says of its link is made up.
 */
#include <string.h>

#include "rules.h"

enum { FULL_MTU = 4096 };

/* -- Rate and width ---------------------------------------------------------------------------- */

/*
 * Is there a rate to compare? Not where the speed code has no name: old kernels write SDR for what
 * they do not know (rdma.md 1.2). And not of virtual devices, whose rate is that of whatever
 * interface they stand on.
 */
static bool has_rate(const struct rna_rule_subject *port)
{
	return rna_subject_is_active(port) && port->link && port->link->speed_name &&
	       rna_value_is_known(port->link->rate) && rna_value_is_known(port->link->width) &&
	       port->device->device->function != RNA_FUNCTION_VIRTUAL;
}

static const char *is_at(const struct rna_rule_subject *port, struct rna_arena *arena)
{
	const char *text =
		rna_arena_printf(arena, "runs at %.6g Gb/s (%juX %s)",
				 rna_gigabits(port->link->rate.number),
				 (uintmax_t)port->link->width.number, port->link->speed_name);

	return text ? text : "is slow";
}

/*
 * By its rate alone. At one speed fewer lanes are less of it; and two lanes that are twice as fast
 * are no fault, 200 Gb/s being 4X HDR as well as 2X NDR.
 */
static bool is_below_best(const struct rna_rule_subject *port)
{
	return port->account && port->link->rate.number < port->account->best.rate;
}

/*
 * The rate of its siblings, where at least two are active, all of them at one rate: then the one
 * that is slower stands out. 0: there is no such rate.
 */
static uint64_t rate_of_siblings(const struct rna_rule_input *in)
{
	unsigned model = in->subject->model;
	uint64_t rate = 0;
	size_t count = 0;

	for (size_t i = 0; model && i < in->count; i++) {
		const struct rna_rule_subject *other = &in->subjects[i];

		if (other == in->subject || other->model != model || !has_rate(other))
			continue;
		if (count > 0 && other->link->rate.number != rate)
			return 0;
		rate = other->link->rate.number;
		count++;
	}
	return count >= 2 ? rate : 0;
}

/* Where both ends may do more, what keeps them from it is between them. See link-limited, too. */
static void compare_with_both_ends(const struct rna_rule_subject *port, const struct rna_peer *peer,
				   struct rna_finds *out)
{
	const struct rna_port_link *link = port->link;
	const char *name = rna_rule_say_peer(peer, out->arena);

	if (rna_value_is_below(link->width, link->width_enabled) &&
	    rna_value_is_below(link->width, peer->link.width_enabled))
		(void)rna_find(out, "%s; it and %s may use more lanes", is_at(port, out->arena),
			       name);
	else if (rna_value_is_below(link->speed_code, link->speed_enabled) &&
		 rna_value_is_below(link->speed_code, peer->link.speed_enabled))
		(void)rna_find(out, "%s; it and %s may use a higher speed", is_at(port, out->arena),
			       name);
}

/*
 * Lost lanes are a fault. A speed below what the port supports often is not: the port at the other
 * end, which is not asked, may have no more.
 */
static void compare_with_supported(const struct rna_rule_subject *port, struct rna_finds *out)
{
	const struct rna_port_link *link = port->link;
	const struct rna_peer *peer = rna_rule_live_peer(port);

	if (peer && rna_value_is_known(peer->link.width_enabled)) {
		compare_with_both_ends(port, peer, out);
		return;
	}
	if (rna_value_is_below(link->width, link->width_supported))
		(void)rna_find(out, "%s; the port supports %juX", is_at(port, out->arena),
			       (uintmax_t)link->width_supported.number);
	else if (rna_value_is_below(link->speed_code, link->speed_supported))
		rna_find(out,
			 "%s; the port supports a higher speed, perhaps the other end does not",
			 is_at(port, out->arena))
			->severity = RNA_SEVERITY_INFO;
}

void rna_check_link_degraded(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_rule_subject *port = in->subject;
	uint64_t siblings;

	if (!has_rate(port))
		return;
	if (is_below_best(port)) {
		rna_find(out, "%s; it had %.6g Gb/s before", is_at(port, out->arena),
			 rna_gigabits(port->account->best.rate))
			->remedy = "Reseat or replace the cable, and compare the speed that both "
				   "ends are configured for; if this rate is meant: "
				   "rdma-node-agent expect accept.";
		return;
	}
	siblings = rate_of_siblings(in);
	if (port->link->rate.number < siblings)
		(void)rna_find(out, "%s; all other active ports of this model have %.6g Gb/s",
			       is_at(port, out->arena), rna_gigabits(siblings));
	else
		compare_with_supported(port, out);
}

/* -- MTU --------------------------------------------------------------------------------------- */

/*
 * On Ethernet the RDMA MTU is the largest power of two that fits in the interface's beside the
 * headers: 4096 wants 4192 with most drivers, for which people write 4200 (rna/model/qos.h).
 */
void rna_check_mtu_low(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_rule_subject *port = in->subject;
	const struct rna_netdev *netdev = port->netdev;
	uint64_t active, most;

	if (!rna_subject_is_active(port) || !port->link ||
	    (port->link_layer == RNA_LINK_LAYER_ETHERNET && !rna_subject_is_active_roce(port)) ||
	    port->device->device->function == RNA_FUNCTION_VIRTUAL ||
	    !rna_value_is_known(port->link->active_mtu) || !rna_value_is_known(port->link->max_mtu))
		return;
	active = port->link->active_mtu.number;
	most = port->link->max_mtu.number;
	if (active >= most || active >= FULL_MTU)
		return;
	if (port->link_layer == RNA_LINK_LAYER_INFINIBAND)
		(void)rna_find(out,
			       "RDMA MTU %ju of %ju: so the subnet manager, or the port at "
			       "the other end, has it",
			       (uintmax_t)active, (uintmax_t)most);
	else if (netdev && rna_value_is_known(netdev->mtu))
		(void)rna_find(out, "RDMA MTU %ju of %ju: %s has MTU %ju, and %ju needs %ju",
			       (uintmax_t)active, (uintmax_t)most, netdev->name,
			       (uintmax_t)netdev->mtu.number, (uintmax_t)most,
			       (uintmax_t)rna_qos_netdev_mtu(port->device->device->driver, most));
	else
		(void)rna_find(out, "RDMA MTU %ju of %ju", (uintmax_t)active, (uintmax_t)most);
}

/* -- Network interfaces ------------------------------------------------------------------------ */

/*
 * A member of a bond is bond-member-lost's. On InfiniBand an interface that nobody set up is not
 * missed: RDMA does without IPoIB.
 */
void rna_check_netdev_down(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_rule_subject *port = in->subject;
	const struct rna_netdev *netdev = port->netdev;
	const struct rna_netdev *bond = rna_rule_bond_of(in);

	if (!rna_subject_is_active(port) || !netdev || (bond && bond != netdev) ||
	    !rna_netdev_has_no_link(netdev))
		return;
	if (port->link_layer == RNA_LINK_LAYER_INFINIBAND && !netdev->admin_up)
		return;
	(void)rna_find(out, "the port is active, but its network interface %s is down%s",
		       netdev->name, netdev->admin_up ? "" : ": it was set down");
}

/* Then it is these that pods use, and their addresses are in the pods. */
static bool has_virtual_functions(const struct rna_rule_subject *port)
{
	const struct rna_pcie *pcie = rna_device_pcie(port->device);

	return pcie && rna_value_is_known(pcie->virtual_functions) &&
	       pcie->virtual_functions.number > 0;
}

/*
 * What is under another interface, in a bridge for example, has no use for an address of its own.
 * Where a VLAN has one the port has GIDs of it, and all is well.
 */
void rna_check_netdev_no_address(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_rule_subject *port = in->subject;
	const struct rna_netdev *bond = rna_rule_bond_of(in);
	const struct rna_netdev *netdev = bond ? bond : port->netdev;
	struct rna_finding *found;

	if (port->link_layer != RNA_LINK_LAYER_ETHERNET || !rna_subject_is_active(port) ||
	    !netdev || netdev->master || !rna_netdev_has_no_address(netdev) ||
	    (port->gids && rna_subject_has_routable_gid(port)))
		return;
	found = rna_find(out,
			 "the network interface %s has no IP address, so nothing but its own "
			 "network reaches the port",
			 netdev->name);
	if (!has_virtual_functions(port))
		return;
	found->severity = RNA_SEVERITY_INFO;
	found->remedy =
		"Nothing, if RDMA is used through its virtual functions only; else give the "
		"interface an IP address.";
}

void rna_check_bond_member_lost(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_netdevs *part = rna_snapshot_netdevs(in->view->snapshot);
	const struct rna_netdev *bond = rna_rule_bond_of(in);
	const struct rna_netdev *netdev;
	size_t members = 0, lost = 0, from = 0;
	const char *first = NULL;

	while (bond && (netdev = rna_netdevs_next_member(part, bond->name, NULL, &from))) {
		members++;
		if (!rna_netdev_has_no_link(netdev))
			continue;
		lost++;
		first = first ? first : netdev->name;
	}
	if (lost > 0)
		(void)rna_find(out, "%zu of %zu members of %s without a link: %s%s", lost, members,
			       bond->name, first, lost > 1 ? " and more" : "");
}
