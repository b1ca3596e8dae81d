// SPDX-License-Identifier: Apache-2.0
/*
 * Networks: the partition of InfiniBand ports, and ports that do not reach each other. A library
 * connects any two of its ports unless a variable forbids it, and then hangs or fails.
 */
#include <string.h>

#include "rna/model/fabric.h"

#include "dialect.h"

/* -- Partitions -------------------------------------------------------------------------------- */

/* Is the port a member of partitions, and a full one of none? */
static bool is_limited(const struct rna_subject *port)
{
	const struct rna_port_fabric *fabric = port->fabric;

	for (size_t i = 0; fabric && i < fabric->pkey_count; i++)
		if (fabric->pkeys[i].full)
			return false;
	return fabric && fabric->pkey_count > 0;
}

static void warn_of_limited(struct rna_env_advising *advising)
{
	for (size_t i = 0; i < advising->ports.count; i++)
		if (is_limited(advising->ports.items[i]))
			RNA_ENV_WARN(advising,
				     "%s is a limited member of all its partitions, and limited "
				     "members do not reach each other: ask for a full one of the "
				     "job's partition at the subnet manager",
				     rna_env_name(advising, advising->ports.items[i]));
}

/* The P_Key on which all ports agree, but for those that have none. NULL: there is none. */
static const struct rna_pkey *find_pkey(struct rna_env_advising *advising)
{
	const struct rna_env_pkey_names *names = &advising->dialect->pkey;
	const struct rna_pkey *first = NULL;

	for (size_t i = 0; i < advising->ports.count; i++) {
		const struct rna_pkey *pkey = rna_network_pkey(advising->ports.items[i]);

		if (!pkey && is_limited(advising->ports.items[i]))
			continue;
		if (!pkey)
			return NULL;
		first = first ? first : pkey;
		if (pkey->key == first->key && (names->by_value || pkey->index == first->index))
			continue;
		RNA_ENV_WARN(advising,
			     "%s is a full member of partition 0x%04x at index %u of its P_Key "
			     "table, others of 0x%04x at index %u: no %s is right for all",
			     rna_env_name(advising, advising->ports.items[i]), pkey->key,
			     pkey->index, first->key, first->index, names->name);
		return NULL;
	}
	return first;
}

static void choose_partition(struct rna_env_advising *advising)
{
	const struct rna_env_pkey_names *names = &advising->dialect->pkey;
	const struct rna_pkey *pkey;

	warn_of_limited(advising);
	pkey = find_pkey(advising);
	if (!pkey || pkey->index == 0)
		return;
	rna_env_set(advising, names->name,
		    rna_arena_printf(advising->arena, names->by_value ? "0x%x" : "%u",
				     names->by_value ? pkey->key : pkey->index),
		    rna_arena_printf(advising->arena,
				     "the ports are full members of partition 0x%04x, at index %u "
				     "of their P_Key tables%s%s",
				     pkey->key, pkey->index, names->by_value ? "" : "; ",
				     names->alone));
}

/* -- Networks that do not reach each other ----------------------------------------------------- */

/* "plane-a (mlx5_0/1, mlx5_2/1)"; first: the first port of that network. */
static void write_network(struct rna_env_advising *advising, size_t first, struct rna_strbuf *out)
{
	const struct rna_network *network = advising->ports.items[first]->network;
	const char *between = " (";

	rna_strbuf_puts(out, network->name);
	for (size_t i = first; i < advising->ports.count; i++) {
		if (advising->ports.items[i]->network != network)
			continue;
		rna_strbuf_printf(out, "%s%s", between,
				  rna_env_name(advising, advising->ports.items[i]));
		between = ", ";
	}
	rna_strbuf_add_char(out, ')');
}

static bool is_first_of_network(const struct rna_env_ports *ports, size_t of)
{
	for (size_t i = 0; i < of; i++)
		if (ports->items[i]->network == ports->items[of]->network)
			return false;
	return ports->items[of]->network != NULL;
}

/* The number of the port's network among those of the ports, as a plane of NCCL. */
size_t rna_env_plane(const struct rna_env_ports *ports, size_t of)
{
	size_t number = 0;

	for (size_t i = 0; i < of && ports->items[i]->network != ports->items[of]->network; i++)
		number += is_first_of_network(ports, i);
	return number;
}

/*
 * Why ports of several networks do not reach each other; if that is not proven of some of them, why
 * they may not. NULL: there are no two networks.
 */
static const struct rna_network_evidence *find_evidence(const struct rna_env_ports *ports)
{
	const struct rna_network_evidence *ret = NULL;

	for (size_t i = 0; i < ports->count; i++)
		for (size_t j = 0; j < i; j++) {
			const struct rna_subject *a = ports->items[j], *b = ports->items[i];

			if (a->network && b->network && a->network != b->network &&
			    !(ret && ret->remedy))
				ret = rna_network_apart(a, b);
		}
	return ret;
}

static void warn_of_networks(struct rna_env_advising *advising)
{
	const struct rna_network_evidence *evidence = find_evidence(&advising->ports);
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *between = "";

	if (!evidence)
		return;
	for (size_t i = 0; i < advising->ports.count; i++) {
		if (!is_first_of_network(&advising->ports, i))
			continue;
		rna_strbuf_puts(&text, between);
		write_network(advising, i, &text);
		between = ", ";
	}
	if (!rna_strbuf_ok(&text))
		advising->failed = true;
	else if (evidence->remedy)
		RNA_ENV_WARN(advising, "%s: %s; %s; then %s", evidence->text, text.data,
			     evidence->remedy, advising->dialect->apart);
	else
		RNA_ENV_WARN(advising,
			     "ports of these networks do not reach each other (%s): %s; %s",
			     evidence->text, text.data, advising->dialect->apart);
}

bool rna_env_networks_are_apart(const struct rna_env_ports *ports)
{
	const struct rna_network_evidence *evidence = find_evidence(ports);

	return evidence && !evidence->remedy;
}

static void warn_of_strangers(struct rna_env_advising *advising)
{
	const struct rna_networks *networks = advising->view->networks;

	for (size_t i = 0; networks && networks->range_count > 0 && i < advising->ports.count; i++)
		if (!advising->ports.items[i]->network)
			RNA_ENV_WARN(advising, "%s is in none of fabric.networks",
				     rna_env_name(advising, advising->ports.items[i]));
}

void rna_env_choose_networks(struct rna_env_advising *advising)
{
	if (advising->ports.items[0]->link_layer == RNA_LINK_LAYER_INFINIBAND)
		choose_partition(advising);
	warn_of_strangers(advising);
	warn_of_networks(advising);
}

/* -- Bonds ------------------------------------------------------------------------------------- */

/* The most members of a bond that transmit at the same time; 0: there is no such bond. */
size_t rna_env_count_members(const struct rna_env_advising *advising, bool without_lacp)
{
	const struct rna_netdevs *netdevs = rna_snapshot_netdevs(advising->view->snapshot);
	size_t most = 0;

	for (size_t i = 0; i < advising->ports.count; i++) {
		const struct rna_subject *port = advising->ports.items[i];
		const struct rna_netdev *bond = rna_netdevs_bond_of(netdevs, port->netdev);
		size_t from = 0, count = 0;

		if (!bond || !bond->bond_spreads ||
		    (without_lacp && rna_value_is_known(bond->lacp.aggregator)))
			continue;
		while (rna_netdevs_next_member(netdevs, bond->name, port->device->device, &from))
			count++;
		most = count > most ? count : most;
	}
	return most > 1 ? most : 0;
}
