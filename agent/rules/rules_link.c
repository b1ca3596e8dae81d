// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about links that are up but impaired, and about their network interfaces. All of them
 * require an active port: a port that is down reports meaningless link attributes.
 */
#include <string.h>

#include "rails.h"
#include "rules.h"

enum { FULL_MTU = 4096 };

/* -- Rate and width ---------------------------------------------------------------------------- */

/*
 * Is the rate comparable? Not if the speed code has no name: old kernels report SDR for unknown
 * speeds (rdma.md 1.2). Not for virtual devices, whose rate is that of the interface below.
 */
static bool has_rate(const struct rna_rule_subject *port)
{
	return rna_subject_is_active(port) && port->link && port->link->speed_name &&
	       rna_value_is_known(port->link->rate) && rna_value_is_known(port->link->width) &&
	       port->device->device->function != RNA_FUNCTION_VIRTUAL;
}

static const char *describe_rate(const struct rna_rule_subject *port, struct rna_arena *arena)
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
static bool is_below_best(const struct rna_rule_subject *port)
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
	for (size_t i = 0; i < in->count; i++)
		if (in->subjects[i].model && has_rate(&in->subjects[i]))
			count_rate(&memo->models[in->subjects[i].model],
				   in->subjects[i].link->rate.number);
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

static bool rate_trait(const struct rna_rule_subject *port, uint64_t *ret)
{
	if (!has_rate(port))
		return false;
	*ret = port->link->rate.number;
	return true;
}

/* Slower than most in its place? It names them: several may be slow. */
static bool compare_with_place(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_rule_subject *port = in->subject;
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
static void compare_with_both_ends(const struct rna_rule_subject *port, const struct rna_peer *peer,
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
static void compare_with_supported(const struct rna_rule_subject *port, struct rna_finds *out)
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

void rna_check_link_degraded(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_rule_subject *port = in->subject;
	uint64_t siblings;

	if (!has_rate(port))
		return;
	if (is_below_best(port)) {
		rna_finds_add(out, "%s; it ran at %.6g Gb/s before",
			      describe_rate(port, out->arena),
			      rna_gigabits(port->account->best.rate))
			->remedy = "Reseat or replace the cable of {object}, and compare the speed "
				   "configured at both ends. If the lower rate is intended, run: "
				   "rdma-node-agent expect accept.";
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
void rna_check_plane_down(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_rule_subject *port = in->subject;
	const struct rna_device *device = port->device->device;
	const struct rna_link *link = rna_device_link(port->device);
	struct rna_value up = rna_link_planes_up(link);

	if (!rna_subject_is_active(port) || !device->smi || port->number != device->ports[0] ||
	    !rna_value_is_known(up) || up.number >= link->plane_count)
		return;
	(void)rna_finds_add(out, "up on %ju of %zu planes; down: %s", (uintmax_t)up.number,
			    link->plane_count, list_planes(link, device->smi->name, out->arena));
}

/* -- MTU --------------------------------------------------------------------------------------- */

/*
 * On Ethernet the RDMA MTU is the largest power of two that, with its headers, fits in the MTU of
 * the interface: 4096 needs 4192 with most drivers, and 4200 is usual (rna/model/qos.h).
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
		(void)rna_finds_add(out,
				    "RDMA MTU %ju of %ju: limited by the subnet manager or by the "
				    "peer port",
				    (uintmax_t)active, (uintmax_t)most);
	else if (netdev && rna_value_is_known(netdev->mtu))
		(void)rna_finds_add(out, "RDMA MTU %ju of %ju: %s has MTU %ju, but %ju needs %ju",
				    (uintmax_t)active, (uintmax_t)most, netdev->name,
				    (uintmax_t)netdev->mtu.number, (uintmax_t)most,
				    (uintmax_t)rna_qos_netdev_mtu(port->device->device->driver,
								  most));
	else
		(void)rna_finds_add(out, "RDMA MTU %ju of %ju", (uintmax_t)active, (uintmax_t)most);
}

/* -- Network interfaces ------------------------------------------------------------------------ */

/*
 * Members of a bond belong to bond-member-lost. On InfiniBand an interface that is administratively
 * down is fine: RDMA does not need IPoIB.
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
	(void)rna_finds_add(out, "the port is active, but its network interface %s is %sdown",
			    netdev->name, netdev->admin_up ? "" : "administratively ");
}

/* Pods then use the virtual functions, and the addresses are inside the pods. */
static bool has_virtual_functions(const struct rna_rule_subject *port)
{
	const struct rna_pcie *pcie = rna_device_pcie(port->device);

	return pcie && rna_value_is_known(pcie->virtual_functions) &&
	       pcie->virtual_functions.number > 0;
}

/*
 * An interface below another one, for example in a bridge, needs no address of its own. If a VLAN
 * on it has an address, the port has GIDs for that and is reachable.
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
	found = rna_finds_add(
		out,
		"network interface %s has no IP address, so the port is reachable only "
		"from its own network",
		netdev->name);
	if (!has_virtual_functions(port))
		return;
	found->severity = RNA_SEVERITY_INFO;
	found->remedy = "No action required if RDMA is used only through its virtual functions. "
			"Otherwise assign an IP address to {interface}.";
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
		(void)rna_finds_add(out, "%zu of %zu members of %s have no link: %s%s", lost,
				    members, bond->name, first, lost > 1 ? " and others" : "");
}
