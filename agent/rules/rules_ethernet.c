// SPDX-License-Identifier: Apache-2.0
/*
 * The reason for a missing link that the Ethernet driver reports. Ethernet statistics have
 * thresholds, like counters (thresholds.c).
 */
#include "rules.h"

/* Of a bond that is down, the first member that reports a reason. */
static const struct rna_ethernet_link *find_trouble(const struct rna_rule_subject *subject)
{
	const struct rna_ethernet *ethernet = rna_device_ethernet(subject->device);

	for (size_t i = 0; ethernet && i < ethernet->count; i++) {
		const struct rna_ethernet_link *link = &ethernet->netdevs[i].link;

		if (ethernet->netdevs[i].port == subject->number && rna_value_is_known(link->up) &&
		    link->up.number == 0 && rna_value_is_known(link->state))
			return link;
	}
	return NULL;
}

const char *rna_subject_link_trouble(const struct rna_rule_subject *subject,
				     struct rna_arena *arena)
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
