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

bool rna_netdev_has_no_address(const struct rna_netdev *netdev)
{
	return netdev->ipv4_addresses.state == RNA_VALUE_OK && netdev->ipv4_addresses.number == 0 &&
	       netdev->ipv6_addresses.state == RNA_VALUE_OK && netdev->ipv6_addresses.number == 0;
}

double rna_gigabits(uint64_t bytes_per_second)
{
	return (double)bytes_per_second * 8 / 1e9;
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
