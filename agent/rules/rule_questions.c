// SPDX-License-Identifier: Apache-2.0
/* What several rules ask of a port and of the network interfaces behind it. */
#include "rules.h"

const struct rna_past *rna_rule_past_of(const struct rna_rule_input *in,
					const struct rna_subject *subject)
{
	size_t index = subject->port == 0
			       ? (size_t)(subject - in->devices->items)
			       : in->devices->count + (size_t)(subject - in->ports->items);

	return in->pasts ? in->pasts[index] : NULL;
}

const struct rna_netdev *rna_rule_bond_of(const struct rna_rule_input *in)
{
	return rna_netdevs_bond_of(rna_snapshot_netdevs(in->view->snapshot), in->subject->netdev);
}

/*
 * The bond in which another port of the card is the only member. mlx5 ends a LAG that has lost a
 * member, and each port has a device of its own again (mlx5_handle_changeupper_event() in
 * mlx5/core/lag/lag.c, Linux 6.12). NULL: there is none, or the port has a master itself.
 */
static const struct rna_netdev *find_former_bond(const struct rna_rule_input *in)
{
	const struct rna_netdevs *part = rna_snapshot_netdevs(in->view->snapshot);
	const struct rna_subject *port = in->subject;

	for (size_t i = 0; port->card && !port->netdev->master && i < in->ports->count; i++) {
		const struct rna_subject *other = &in->ports->items[i];
		const struct rna_netdev *bond = rna_netdevs_bond_of(part, other->netdev);
		size_t from = 0;

		if (bond && bond != port->netdev && other->card == port->card &&
		    rna_netdevs_next_member(part, bond->name, NULL, &from) &&
		    !rna_netdevs_next_member(part, bond->name, NULL, &from))
			return bond;
	}
	return NULL;
}

void rna_rule_mention_former_bond(const struct rna_rule_input *in, struct rna_finding *found,
				  struct rna_finds *out)
{
	const struct rna_netdev *bond = in->subject->netdev ? find_former_bond(in) : NULL;
	const char *text, *remedy;

	if (!bond)
		return;
	text = rna_arena_printf(out->arena,
				"%s; %s is in no bond, and %s, which has the other port of the "
				"card, has no other member",
				found->text, in->subject->netdev->name, bond->name);
	remedy = rna_arena_printf(
		out->arena,
		"If {netdev} is meant to be in %s, run: ip link set dev {netdev} down; ip link set "
		"dev {netdev} master %s; and look into the configuration of the network for what "
		"took it out. Otherwise give it an IP address, or add {device} to devices.exclude.",
		bond->name, bond->name);
	out->failed |= !text || !remedy;
	found->text = text ? text : found->text;
	found->remedy = remedy ? remedy : found->remedy;
}

bool rna_netdev_has_no_address(const struct rna_netdev *netdev)
{
	return netdev->ipv4_addresses.state == RNA_VALUE_OK && netdev->ipv4_addresses.number == 0 &&
	       netdev->ipv6_addresses.state == RNA_VALUE_OK && netdev->ipv6_addresses.number == 0;
}

/* Of a bond that is down, the first member that reports a reason. */
static const struct rna_ethernet_link *find_trouble(const struct rna_subject *subject)
{
	const struct rna_ethernet *ethernet = rna_device_ethernet(subject->device);

	for (size_t i = 0; ethernet && i < ethernet->count; i++) {
		const struct rna_ethernet_link *link = &ethernet->netdevs[i].link;

		if (ethernet->netdevs[i].port == subject->port && rna_value_is_known(link->up) &&
		    link->up.number == 0 && rna_value_is_known(link->state))
			return link;
	}
	return NULL;
}

const char *rna_subject_link_trouble(const struct rna_subject *subject, struct rna_arena *arena)
{
	const struct rna_ethernet_link *link = find_trouble(subject);
	const char *text, *detail = NULL;

	if (!link)
		return NULL;
	text = rna_ethernet_link_state_text(link->state.number);
	if (rna_value_is_known(link->substate))
		detail = rna_ethernet_link_substate_name(link->state.number, link->substate.number);
	return detail ? rna_arena_printf(arena, "%s (%s)", text, detail) : text;
}
