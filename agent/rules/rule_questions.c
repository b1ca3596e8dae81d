// SPDX-License-Identifier: Apache-2.0
/* What several rules ask of a port and of the network interfaces behind it. */
#include "rules.h"

bool rna_subject_state_is_known(const struct rna_rule_subject *subject)
{
	return subject->state && rna_value_is_known(subject->state->state);
}

bool rna_subject_in_state(const struct rna_rule_subject *subject, enum rna_port_state state)
{
	return rna_subject_state_is_known(subject) && subject->state->state.number == state;
}

bool rna_subject_is_active(const struct rna_rule_subject *subject)
{
	return rna_port_works(subject->device, subject->number);
}

bool rna_subject_is_active_roce(const struct rna_rule_subject *subject)
{
	return subject->link_layer == RNA_LINK_LAYER_ETHERNET && rna_subject_is_active(subject) &&
	       rna_device_node_type(subject->device) == RNA_NODE_TYPE_CA;
}

enum rna_expected rna_subject_expected(const struct rna_rule_subject *subject)
{
	return subject->account ? subject->account->expectation.expected : RNA_EXPECTED_UNKNOWN;
}

bool rna_subject_has_routable_gid(const struct rna_rule_subject *port)
{
	for (size_t i = 0; i < port->gids->count; i++)
		if (!rna_gid_is_link_local(&port->gids->entries[i].gid))
			return true;
	return false;
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
