// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about links that are up but impaired, and about their network interfaces. All of them
 * require an active port: a port that is down reports meaningless link attributes.
 */
#include <string.h>

#include "past.h"
#include "rails.h"
#include "remedy.h"
#include "rules.h"

enum { FULL_MTU = 4096 };

/* -- Rate and width ---------------------------------------------------------------------------- */

/*
 * Is the rate comparable? Not if the speed code has no name: old kernels report SDR for unknown
 * speeds (rdma.md 1.2). Not for virtual devices, whose rate is that of the interface below.
 */
static bool has_rate(const struct rna_subject *port)
{
	return rna_subject_is_active(port) && port->link && port->link->speed_name &&
	       rna_value_is_known(port->link->rate) && rna_value_is_known(port->link->width) &&
	       port->device->device->function != RNA_FUNCTION_VIRTUAL;
}

static const char *describe_rate(const struct rna_subject *port, struct rna_arena *arena)
{
	const char *text =
		rna_arena_printf(arena, "runs at %.6g Gb/s (%juX %s)",
				 rna_gigabits(port->link->rate.number),
				 (uintmax_t)port->link->width.number, port->link->speed_name);

	return text ? text : "is slow";
}

/*
 * Compares rates only: 200 Gb/s can be 4X HDR as well as 2X NDR, so that fewer but faster lanes are
 * not a fault.
 */
static bool is_below_best(const struct rna_subject *port)
{
	return port->account && port->link->rate.number < port->account->best.rate;
}

static void count_rate(struct rna_rail_rates *model, uint64_t rate)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(model->rates); i++)
		if (model->counts[i] == 0 || model->rates[i] == rate) {
			model->rates[i] = rate;
			model->counts[i]++;
			return;
		}
	model->more = true;
}

/* Once for all ports: 4,096 devices of one model would otherwise be compared in pairs. */
static void count_rates(const struct rna_rule_input *in, struct rna_rail_rate_memo *memo)
{
	memo->counted = true;
	RNA_EACH (port, in->ports->items, in->ports->count)
		if (port->model && has_rate(port))
			count_rate(&memo->models[port->model], port->link->rate.number);
}

/*
 * The rate of its siblings, if at least two are active and all run at the same rate; else 0. A port
 * below it is an outlier. The port is active, so that it is one of those that were counted.
 */
static uint64_t rate_of_siblings(const struct rna_rule_input *in)
{
	const struct rna_rail_rates *model = &in->rates->models[in->subject->model];
	uint64_t own = in->subject->link->rate.number;
	size_t mine, others;

	if (!in->rates->counted)
		count_rates(in, in->rates);
	if (in->subject->model == 0 || model->more)
		return 0;
	mine = model->rates[0] == own ? 0 : 1;
	others = model->counts[1 - mine];
	if (others == 0)
		return model->counts[mine] > 2 ? own : 0;
	return model->counts[mine] == 1 && others >= 2 ? model->rates[1 - mine] : 0;
}

static bool rate_trait(const struct rna_subject *port, uint64_t *ret)
{
	if (!has_rate(port))
		return false;
	*ret = port->link->rate.number;
	return true;
}

/* Slower than most in its place? It names them: several may be slow. */
static bool compare_with_place(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	struct rna_rail_usual usual;

	if (!rna_rail_is_odd_in_place(in, rate_trait, &usual) ||
	    port->link->rate.number >= usual.value)
		return false;
	(void)rna_finds_add(
		out,
		"%s; %zu of %zu such ports that are active on cards of this model run at "
		"%.6g Gb/s",
		describe_rate(port, out->arena), usual.count, usual.known,
		rna_gigabits(usual.value));
	return true;
}

/* If both ends allow more, the fault is between them: the cable. See also link-limited. */
static void compare_with_both_ends(const struct rna_subject *port, const struct rna_peer *peer,
				   struct rna_finds *out)
{
	const struct rna_port_link *link = port->link;
	const char *name = rna_rule_say_peer(peer, out->arena);

	if (rna_value_is_below(link->width, link->width_enabled) &&
	    rna_value_is_below(link->width, peer->link.width_enabled))
		(void)rna_finds_add(out, "%s although this port and %s allow more lanes",
				    describe_rate(port, out->arena), name);
	else if (rna_value_is_below(link->speed_code, link->speed_enabled) &&
		 rna_value_is_below(link->speed_code, peer->link.speed_enabled))
		(void)rna_finds_add(out, "%s although this port and %s allow a higher speed",
				    describe_rate(port, out->arena), name);
}

/*
 * Lost lanes are a fault. A speed below what the port supports often is not: the peer port, whose
 * abilities are not known here, may not support more.
 */
static void compare_with_supported(const struct rna_subject *port, struct rna_finds *out)
{
	const struct rna_port_link *link = port->link;
	const struct rna_peer *peer = rna_rule_live_peer(port);

	if (peer && rna_value_is_known(peer->link.width_enabled)) {
		compare_with_both_ends(port, peer, out);
		return;
	}
	if (rna_value_is_below(link->width, link->width_supported))
		(void)rna_finds_add(out, "%s although the port supports %juX",
				    describe_rate(port, out->arena),
				    (uintmax_t)link->width_supported.number);
	else if (rna_value_is_below(link->speed_code, link->speed_supported))
		rna_finds_add(
			out,
			"%s; the port supports a higher speed, the peer port possibly does not",
			describe_rate(port, out->arena))
			->severity = RNA_SEVERITY_INFO;
}

static void check_link_degraded(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	uint64_t siblings;

	if (!has_rate(port))
		return;
	if (is_below_best(port)) {
		rna_finds_add(out, "%s; it ran at %.6g Gb/s before",
			      describe_rate(port, out->arena),
			      rna_gigabits(port->account->best.rate))
			->remedy =
			"{provider}Reseat or replace the cable of {object}, and compare the speed "
			"configured at both ends. If the lower rate is intended, run: "
			"rdma-node-agent expect accept {object}.";
		return;
	}
	siblings = rate_of_siblings(in);
	if (port->link->rate.number < siblings)
		(void)rna_finds_add(out,
				    "%s; all other active ports of this model run at %.6g Gb/s",
				    describe_rate(port, out->arena), rna_gigabits(siblings));
	else if (!compare_with_place(in, out))
		compare_with_supported(port, out);
}

const struct rna_rule rna_rule_link_degraded = {
	RNA_RULE_ROW("link-degraded", PORT, WARNING, RAIL_SLOW, CABLE, LINK_DEGRADED),
	.settles = true,
	.hold = "30s",
	.help = "The link is up, but slower than it was before or than most such ports, or "
		"with fewer lanes or a lower speed than it supports.",
	.check = check_link_degraded,
	.remedy = "{provider}Reseat or replace the cable of {object}, and compare the speed "
		  "configured at both ends.",
	.message_id = "d7007c37fcf549da976ee3595e115aa1",
};

/* -- Planes ------------------------------------------------------------------------------------ */

/* "smi1/3, smi1/4": the planes that are down. */
static const char *list_planes(const struct rna_link *link, const char *smi,
			       struct rna_arena *arena)
{
	const char *text = "";

	for (size_t i = 0; text && i < link->plane_count; i++) {
		const struct rna_port_state_value plane = {.state = link->planes[i].state};

		if (!rna_port_is_up(&plane))
			text = rna_arena_printf(arena, "%s%s%s/%u", text, *text ? ", " : "", smi,
						link->planes[i].number);
	}
	return text ? text : "?";
}

/*
 * The planes are those of the first port: mlx5 has no other one where there are planes. Each is a
 * physical port that the port aggregates (cover letter of "Multi-plane support for mlx5", merged in
 * Linux 6.11); whether they lead to different switches depends on the fabric.
 */
static void check_plane_down(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	const struct rna_device *device = port->device->device;
	const struct rna_link *link = rna_device_link(port->device);
	struct rna_value up = rna_link_planes_up(link);

	if (!rna_subject_is_active(port) || !device->smi || port->port != device->ports[0] ||
	    !rna_value_is_known(up) || up.number >= link->plane_count)
		return;
	(void)rna_finds_add(out, "up on %ju of %zu planes; down: %s", (uintmax_t)up.number,
			    link->plane_count, list_planes(link, device->smi->name, out->arena));
}

const struct rna_rule rna_rule_plane_down = {
	RNA_RULE_ROW("plane-down", PORT, WARNING, RAIL_SLOW, CABLE, LINK_DEGRADED),
	.settles = true,
	.hold = "30s",
	.help = "The port of a multi-plane card is up, but not all of its planes are: the "
		"port has a part of its bandwidth.",
	.check = check_plane_down,
	.remedy =
		"{provider}Check the cable and the transceivers of {object}, and its switch ports: "
		"each plane has a link of its own.",
	.message_id = "cf4d77009bb04345b6317bfb12656c48",
};

/* -- MTU --------------------------------------------------------------------------------------- */

static bool active_mtu_of(const struct rna_subject *port, uint64_t *ret)
{
	if (!rna_subject_is_active(port) || !port->link ||
	    !rna_value_is_known(port->link->active_mtu))
		return false;
	*ret = port->link->active_mtu.number;
	return true;
}

/*
 * InfiniBand: the subnet manager gives a link the smaller MTU of what its two ports support; the
 * MTU of a partition does not come into it (osm_physp_calc_link_mtu() of OpenSM).
 * On Ethernet the RDMA MTU is the largest power of two that, with its headers, fits in the MTU of
 * the interface: 4096 needs 4192 with most drivers, and 4200 is usual (rna/model/qos.h).
 */
static const char *why_mtu_is_low(const struct rna_subject *port, struct rna_arena *arena)
{
	const struct rna_netdev *netdev = port->netdev;
	const uint64_t most = port->link->max_mtu.number;

	if (port->link_layer == RNA_LINK_LAYER_INFINIBAND)
		return ": the peer port supports no more";
	if (!netdev || !rna_value_is_known(netdev->mtu))
		return "";
	return rna_arena_printf(arena, ": %s has MTU %ju, but %ju needs %ju", netdev->name,
				(uintmax_t)netdev->mtu.number, (uintmax_t)most,
				(uintmax_t)rna_qos_netdev_mtu(port->device->device->driver, most));
}

static void check_mtu_low(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	struct rna_rail_usual usual;
	struct rna_finding *found;
	const char *why;
	uint64_t active;
	bool odd;

	if (!active_mtu_of(port, &active) ||
	    (port->link_layer == RNA_LINK_LAYER_ETHERNET && !rna_subject_is_active_roce(port)) ||
	    port->device->device->function == RNA_FUNCTION_VIRTUAL ||
	    !rna_value_is_known(port->link->max_mtu) || active >= port->link->max_mtu.number ||
	    active >= FULL_MTU)
		return;
	why = why_mtu_is_low(port, out->arena);
	odd = rna_rail_is_odd_in_place(in, active_mtu_of, &usual) && usual.value > active;
	found = rna_finds_add(out, "RDMA MTU %ju of %ju%s%s", (uintmax_t)active,
			      (uintmax_t)port->link->max_mtu.number, why ? why : "",
			      odd ? "; most such ports have a larger one" : "");
	if (port->link_layer == RNA_LINK_LAYER_INFINIBAND)
		found->cause = RNA_CAUSE_FABRIC;
	if (!odd)
		return;
	found->remedy = "Raise {mtu} to that of its siblings.";
	if (port->rail)
		found->severity = RNA_SEVERITY_WARNING;
}

const struct rna_rule rna_rule_mtu_low = {
	RNA_RULE_ROW("mtu-low", PORT, INFO, HOST, HOST, NOT_READY),
	.settles = true,
	.hold = "30s",
	.help = "The active RDMA MTU is smaller than the largest that the port supports. Severity "
		"warning if the port serves GPUs and most ports in such a place have a larger "
		"one.",
	.check = check_mtu_low,
	.remedy = "No action required. For full performance raise {mtu} along the whole "
		  "path.",
	.message_id = "b25e74ddacb64925abb0f0590d963c7b",
};

/* -- Network interfaces ------------------------------------------------------------------------ */

/*
 * RDMA does not need IPoIB: an interface that is administratively down is fine. One that is up gets
 * its carrier when its port is ACTIVE and has joined the broadcast group of the partition
 * (ipoib_mcast_carrier_on_task() in drivers/infiniband/ulp/ipoib/ipoib_multicast.c).
 */
static void add_ipoib_down(const struct rna_netdev *netdev, struct rna_finds *out)
{
	struct rna_finding *found;

	if (!netdev->admin_up)
		return;
	found = rna_finds_add(out,
			      "the port is active, but its network interface %s has no carrier: it "
			      "is in no broadcast group, and IP over InfiniBand does not work",
			      netdev->name);
	found->impact = RNA_IMPACT_FABRIC;
	found->cause = RNA_CAUSE_FABRIC;
	found->remedy =
		"If no application uses IP over InfiniBand, run: ip link set dev {interface} "
		"down. Otherwise see that the subnet manager serves its partition with a "
		"broadcast group, of which the port is a full member, and search the kernel "
		"log for {interface}.";
	rna_finds_share_cause(out, "ipoib");
}

/* Members of a bond belong to bond-member-lost. */
static void check_netdev_down(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	const struct rna_netdev *netdev = port->netdev;
	const struct rna_netdev *bond = rna_rule_bond_of(in);
	struct rna_finding *found;

	if (!rna_subject_is_active(port) || !netdev || (bond && bond != netdev) ||
	    !rna_netdev_has_no_link(netdev))
		return;
	if (port->link_layer == RNA_LINK_LAYER_INFINIBAND) {
		add_ipoib_down(netdev, out);
		return;
	}
	found = rna_finds_add(out, "the port is active, but its network interface %s is %sdown",
			      netdev->name, netdev->admin_up ? "" : "administratively ");
	if (netdev->admin_up)
		found->remedy = "Run: ip link set dev {interface} down, and up again. If it stays "
				"without a carrier, see what ethtool {interface} says of the link.";
}

const struct rna_rule rna_rule_netdev_down = {
	RNA_RULE_ROW("netdev-down", PORT, WARNING, RAIL_LOST, HOST, PORT_UNREACHABLE),
	.settles = true,
	.hold = "30s",
	.help = "The network interface of an active port is down. On InfiniBand, an interface that "
		"is set up has no carrier; its impact and cause are the fabric.",
	.check = check_netdev_down,
	.remedy = "Run: ip link set dev {interface} up.",
	.message_id = "5f52137f3b614cf29460416e13a57562",
};

/* Pods then use the virtual functions, and the addresses are inside the pods. */
static bool has_virtual_functions(const struct rna_subject *port)
{
	const struct rna_pcie *pcie = rna_device_pcie(port->device);

	return pcie && rna_value_is_known(pcie->virtual_functions) &&
	       pcie->virtual_functions.number > 0;
}

static bool has_address(const struct rna_subject *port)
{
	return (port->netdev && !rna_netdev_has_no_address(port->netdev)) ||
	       (port->gids && rna_subject_has_routable_gid(port));
}

/*
 * Pods may have the addresses, on interfaces of their own above those of the host (macvlan,
 * ipvlan), or with the interface itself (host-device): then no rail of the model has one here, and
 * none had. The number of these rails; 0: one has, or it had one, or it is alone.
 */
static size_t count_rails_for_pods(const struct rna_rule_input *in)
{
	const struct rna_subject *port = in->subject;
	const struct rna_past *past = rna_rule_past_of(in, port);
	size_t count = 0;

	if (!port->rail || port->model == 0 || (past && past->nccl_known))
		return 0;
	RNA_EACH (other, in->ports->items, in->ports->count) {
		if (other->model != port->model || !other->rail || !rna_subject_is_active(other))
			continue;
		if (has_address(other))
			return 0;
		count++;
	}
	return count > 1 ? count : 0;
}

/*
 * An interface below another one, for example in a bridge, needs no address of its own. If a VLAN
 * on it has an address, the port has GIDs for that and is reachable.
 */
static void check_netdev_no_address(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	const struct rna_netdev *bond = rna_rule_bond_of(in);
	const struct rna_netdev *netdev = bond ? bond : port->netdev;
	struct rna_finding *found;
	size_t rails;

	if (port->link_layer != RNA_LINK_LAYER_ETHERNET || !rna_subject_is_active(port) ||
	    !netdev || netdev->master || !rna_netdev_has_no_address(netdev) ||
	    (port->gids && rna_subject_has_routable_gid(port)))
		return;
	found = rna_finds_add(
		out,
		"network interface %s has no IP address, so the port is reachable only "
		"from its own network",
		netdev->name);
	rna_rule_mention_former_bond(in, found, out);
	rails = count_rails_for_pods(in);
	if (rails > 0 || has_virtual_functions(port))
		found->severity = RNA_SEVERITY_INFO;
	if (has_virtual_functions(port))
		found->remedy = "No action required if RDMA is used only through its virtual "
				"functions. Otherwise assign an IP address to {interface}.";
	else if (rails > 0)
		found->remedy = "No action required if pods have the addresses (macvlan, ipvlan, "
				"host-device): no rail of this model has one here. Otherwise "
				"assign an IP address to {interface}.";
}

const struct rna_rule rna_rule_netdev_no_address = {
	RNA_RULE_ROW("netdev-no-address", PORT, WARNING, RAIL_LOST, HOST, PORT_UNREACHABLE),
	.settles = true,
	.hold = "30s",
	.help = "The network interface of an active RoCE port has no IP address, so its "
		"GIDs are link-local. Severity info if the device has virtual functions, "
		"which pods use instead.",
	.check = check_netdev_no_address,
	.remedy = "Assign an IP address to {interface}. If RDMA is not used on {device}, "
		  "add it to devices.exclude.",
	.message_id = "3f11c264b7cd4c6bbe0df2d8d7b8c16d",
};

static void check_bond_member_lost(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_netdevs *part = rna_snapshot_netdevs(in->view->snapshot);
	const struct rna_netdev *bond = rna_rule_bond_of(in);
	const struct rna_netdev *netdev;
	const struct rna_netdev *first = NULL;
	size_t members = 0, lost = 0, from = 0;
	struct rna_finding *found;
	struct rna_remedy_place place;

	while (bond && (netdev = rna_netdevs_next_member(part, bond->name, NULL, &from))) {
		members++;
		if (!rna_netdev_has_no_link(netdev))
			continue;
		lost++;
		first = first ? first : netdev;
	}
	if (lost == 0)
		return;
	found = rna_finds_add(out, "%zu of %zu members of %s have no link: %s%s", lost, members,
			      bond->name, first->name, lost > 1 ? " and others" : "");
	place = rna_rule_place_of(in, in->subject);
	place.netdev = first->name;
	found->remedy = rna_rule_fill_remedy(first->admin_up ? out->rule->remedy
							     : "Run: ip link set dev {netdev} up.",
					     &place, out->arena);
}

const struct rna_rule rna_rule_bond_member_lost = {
	RNA_RULE_ROW("bond-member-lost", PORT, WARNING, RAIL_SLOW, CABLE, LINK_DEGRADED),
	.settles = true,
	.help = "A member of the bond of an RDMA port has no link; the port stays active.",
	.check = check_bond_member_lost,
	.remedy = "{provider}Check the cable and the switch port of {netdev}.",
	.message_id = "52aa1d09ddfd4c82be1121bf77354bf0",
};

/*
 * Without monitoring a bond takes each member for up, whatever its link is: "serious network
 * degradation will occur during link failures" (Documentation/networking/bonding.rst). mlx5 learns
 * the state of a LAG's ports from the bond (NETDEV_CHANGELOWERSTATE in mlx5/core/lag/lag.c, Linux
 * 6.12), so that RDMA stays on the dead port as well.
 */
static void check_bond_unmonitored(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_netdevs *part = rna_snapshot_netdevs(in->view->snapshot);
	const struct rna_netdev *bond = rna_rule_bond_of(in);
	size_t members = 0, from = 0;

	if (!bond || !rna_value_is_known(bond->bond_monitors) || bond->bond_monitors.number)
		return;
	while (rna_netdevs_next_member(part, bond->name, NULL, &from))
		members++;
	if (members > 1)
		(void)rna_finds_add(out,
				    "%s does not monitor the links of its %zu members (miimon and "
				    "arp_interval are 0): it keeps sending to one that fails",
				    bond->name, members);
}

const struct rna_rule rna_rule_bond_unmonitored = {
	RNA_RULE_ROW("bond-unmonitored", PORT, WARNING, HOST, HOST, NOT_READY),
	.settles = true,
	.hold = "30s",
	.help = "The bond of an RDMA port monitors no links (miimon and arp_interval are "
		"0). If a member loses its link, the bond and RDMA keep using it.",
	.check = check_bond_unmonitored,
	.remedy = "Run: ip link set dev {interface} type bond miimon 100, and set it in the "
		  "configuration of the network.",
	.message_id = "92d1b52fc89a4e8ab006eba68a51ec88",
};

/* -- LACP -------------------------------------------------------------------------------------- */

/* The port's bond if it has chosen an LACP aggregator, or NULL. */
static const struct rna_netdev *lacp_bond_of(const struct rna_rule_input *in)
{
	const struct rna_netdev *bond = rna_rule_bond_of(in);

	return bond && rna_value_is_known(bond->lacp.aggregator) ? bond : NULL;
}

/* The next member that is this device's and has a link; those without one are bond-member-lost. */
static const struct rna_netdev *next_linked(const struct rna_rule_input *in,
					    const struct rna_netdev *bond, size_t *from)
{
	const struct rna_netdevs *part = rna_snapshot_netdevs(in->view->snapshot);
	const struct rna_netdev *member;

	do {
		member = rna_netdevs_next_member(part, bond->name, in->subject->device->device,
						 from);
	} while (member && rna_netdev_has_no_link(member));
	return member;
}

/*
 * The bond then treats each link as an aggregator of its own and uses one of them
 * (ad_agg_selection_logic() in drivers/net/bonding/bond_3ad.c).
 */
static void check_lacp_partner_missing(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_netdev *bond = lacp_bond_of(in);
	size_t from = 0;

	if (bond && rna_lacp_has_no_partner(&bond->lacp) && next_linked(in, bond, &from))
		(void)rna_finds_add(out,
				    "%s is in LACP mode (802.3ad), but no switch answers: it uses "
				    "one of its members",
				    bond->name);
}

const struct rna_rule rna_rule_lacp_partner_missing = {
	RNA_RULE_ROW("lacp-partner-missing", PORT, WARNING, RAIL_SLOW, CABLE, LINK_DEGRADED),
	.settles = true,
	.hold = "1m", /* churn detection of IEEE 802.1AX */
	.help = "The bond of an RDMA port speaks LACP (mode 802.3ad) and no switch "
		"answers: the bond uses one of its members, whichever have a link.",
	.check = check_lacp_partner_missing,
	.remedy =
		"{provider}Configure the switch ports of {interface} as one LACP port channel (on "
		"two switches: an MLAG), or the bond for another mode.",
	.message_id = "b6e0a4cb6ac34955845bdf7ab83a8cbf",
};

static bool is_elsewhere(const struct rna_netdev *member, const struct rna_netdev *bond)
{
	return rna_value_is_known(member->lacp.aggregator) &&
	       member->lacp.aggregator.number != bond->lacp.aggregator.number;
}

/*
 * Two switches with one system MAC address (MLAG) are one partner, so their links are in one
 * aggregator. Without any partner no two links ever are: lacp-partner-missing says that.
 */
static void check_lacp_aggregators_differ(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_netdev *bond = lacp_bond_of(in), *member, *first = NULL;
	size_t from = 0, linked = 0, elsewhere = 0;

	if (!bond || rna_lacp_has_no_partner(&bond->lacp))
		return;
	while ((member = next_linked(in, bond, &from))) {
		linked++;
		if (!is_elsewhere(member, bond))
			continue;
		elsewhere++;
		first = first ? first : member;
	}
	if (elsewhere > 0)
		(void)rna_finds_add(
			out,
			"%zu of %zu members of %s with a link carry no traffic, because they are "
			"in another LACP aggregator: %s (aggregator %ju, the bond uses %ju)%s",
			elsewhere, linked, bond->name, first->name,
			(uintmax_t)first->lacp.aggregator.number,
			(uintmax_t)bond->lacp.aggregator.number,
			elsewhere > 1 ? " and others" : "");
}

const struct rna_rule rna_rule_lacp_aggregators_differ = {
	RNA_RULE_ROW("lacp-aggregators-differ", PORT, WARNING, RAIL_SLOW, CABLE, LINK_DEGRADED),
	.settles = true,
	.hold = "1m", /* as above */
	.help = "Members of the bond of an RDMA port have a link and are in different LACP "
		"aggregators. The bond uses one aggregator; members in others carry no "
		"traffic.",
	.check = check_lacp_aggregators_differ,
	.remedy = "{provider}Compare the switch ports of the members of {interface}: all belong to "
		  "one port channel, and two switches need an MLAG with one system MAC "
		  "address. /proc/net/bonding/{interface} has the partner of each member.",
	.message_id = "0dc7ad1c68a842c1ab0d93715282c62e",
};

static bool is_inactive(const struct rna_netdev *member, const struct rna_netdev *bond)
{
	struct rna_value carries = rna_lacp_carries_traffic(&member->lacp);

	return !is_elsewhere(member, bond) && rna_value_is_known(carries) && !carries.number;
}

static const char *idle_end(const struct rna_lacp *lacp)
{
	const uint64_t both = RNA_LACP_COLLECTING | RNA_LACP_DISTRIBUTING;

	return (lacp->partner_state.number & both) == both ? "this end" : "the switch";
}

static void check_lacp_member_inactive(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_netdev *bond = lacp_bond_of(in), *member, *first = NULL;
	size_t from = 0, linked = 0, inactive = 0;

	if (!bond || rna_lacp_has_no_partner(&bond->lacp))
		return;
	while ((member = next_linked(in, bond, &from))) {
		linked++;
		if (!is_inactive(member, bond))
			continue;
		inactive++;
		first = first ? first : member;
	}
	if (inactive > 0)
		(void)rna_finds_add(
			out,
			"%zu of %zu members of %s with a link carry no traffic: %s, where "
			"%s does not collect and distribute (LACP state 0x%02jx, partner "
			"0x%02jx)%s",
			inactive, linked, bond->name, first->name, idle_end(&first->lacp),
			(uintmax_t)first->lacp.actor_state.number,
			(uintmax_t)first->lacp.partner_state.number,
			inactive > 1 ? ", and others" : "");
}

const struct rna_rule rna_rule_lacp_member_inactive = {
	RNA_RULE_ROW("lacp-member-inactive", PORT, WARNING, RAIL_SLOW, CABLE, LINK_DEGRADED),
	.settles = true,
	.hold = "1m", /* as above */
	.help = "A member of the bond of an RDMA port has a link and is in the bond's LACP "
		"aggregator, but one end does not collect or distribute: the member "
		"carries no traffic.",
	.check = check_lacp_member_inactive,
	.remedy = "{provider}Look at the LACP state of the switch port: it may be suspended, in "
		  "standby (a limit of active links), or configured unlike its siblings.",
	.message_id = "c9dbe643f45a46c9a90d0d34264a56c3",
};

/* -- Gateways ---------------------------------------------------------------------------------- */

/* A failure that is older says that no process has tried since, not that the gateway is away now.
 */
#define FAILURE_FRESH (15 * 60 * RNA_USEC_PER_SEC)

enum answer { ANSWERS_OR_UNKNOWN, DOES_NOT_ANSWER, DID_NOT_ANSWER };

/*
 * INCOMPLETE is the state of the first three seconds: a failure only if the reading before found
 * one. STALE and DELAY say nothing, and that no failure is known since the last answer
 * (rna/model/gateways.h).
 */
static enum answer answer_of(const struct rna_gateways *gateways, const struct rna_gateway *gateway)
{
	rna_usec now = gateways->part.started.monotonic;
	bool fresh =
		!rna_value_is_known(gateway->changed) || gateway->changed.number <= FAILURE_FRESH;

	if (!rna_value_is_known(gateway->state))
		return gateway->failing_last ? DID_NOT_ANSWER : ANSWERS_OR_UNKNOWN;
	switch (gateway->state.number) {
	case RNA_NEIGHBOUR_FAILED:
		return fresh ? DOES_NOT_ANSWER : DID_NOT_ANSWER;
	case RNA_NEIGHBOUR_INCOMPLETE:
		return gateway->failing_first < gateway->failing_last ? DOES_NOT_ANSWER
								      : ANSWERS_OR_UNKNOWN;
	case RNA_NEIGHBOUR_NONE:
		return gateway->failing_last &&
				       rna_usec_since(gateway->failing_last, now) <= FAILURE_FRESH
			       ? DID_NOT_ANSWER
			       : ANSWERS_OR_UNKNOWN;
	default:
		return ANSWERS_OR_UNKNOWN;
	}
}

static void add_unreachable(const struct rna_gateway *first, size_t silent, size_t count,
			    struct rna_finds *out)
{
	bool ipv4 = rna_gid_family(&first->address) == RNA_GID_IPV4;
	const char *asked = ipv4 ? "ARP" : "neighbour discovery";
	const char *state = rna_neighbour_state_name(first->state.number), *remedy;
	struct rna_finding *found;

	if (count == 1)
		found = rna_finds_add(out, "its gateway %s on %s does not answer %s (neighbour %s)",
				      first->text, first->netdev, asked, state);
	else
		found = rna_finds_add(out,
				      "%zu of %zu gateways do not answer: %s on %s by %s "
				      "(neighbour %s)%s",
				      silent, count, first->text, first->netdev, asked, state,
				      silent > 1 ? ", and others" : "");
	/* Its interface may be a VLAN on that of the port. */
	remedy = rna_arena_printf(
		out->arena,
		"Compare the route with ip route show table all dev %s. To try "
		"again: ping -I %s GATEWAY. {provider}Compare the VLAN and the gateway "
		"interface of the switch port with those of the sibling rails.",
		first->netdev, first->netdev);
	found->remedy = remedy ? remedy : found->remedy;
}

/* Routes lead out of the bond if the interface is in one. */
static void check_gateway_unreachable(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_gateways *gateways = rna_snapshot_gateways(in->view->snapshot);
	const struct rna_netdev *bond = rna_rule_bond_of(in);
	const struct rna_netdev *netdev = bond ? bond : in->subject->netdev;
	const struct rna_gateway *gateway, *first = NULL;
	size_t from = 0, count = 0, counts[3] = {0};

	if (!netdev || !rna_subject_is_active(in->subject))
		return;
	while ((gateway = rna_gateways_next(gateways, netdev->name, &from))) {
		enum answer answer = answer_of(gateways, gateway);

		count++;
		counts[answer]++;
		if (answer == DOES_NOT_ANSWER && !first)
			first = gateway;
	}
	if (first)
		add_unreachable(first, counts[DOES_NOT_ANSWER], count, out);
	else if (counts[DID_NOT_ANSWER] > 0)
		rna_finds_add_unknown(out);
}

const struct rna_rule rna_rule_gateway_unreachable = {
	RNA_RULE_ROW("gateway-unreachable", PORT, WARNING, FABRIC, FABRIC, FABRIC_UNHEALTHY),
	.settles = true,
	.hold = "90s", /* two readings */
	.help = "A gateway of an active RoCE port does not answer ARP or neighbour "
		"discovery, within the last quarter of an hour. Not known unless "
		"something uses the gateway, or gateways.probe is true; ports without "
		"gateways have no finding.",
	.check = check_gateway_unreachable,
	.remedy = "Compare the route with ip route show table all dev {interface}. To try "
		  "again, ping the gateway. {provider}Compare the VLAN and the gateway "
		  "interface of the switch port with those of the sibling rails.",
	.message_id = "404bb6f4855c420a8e6e2f29af0a4bc3",
};
