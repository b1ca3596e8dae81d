// SPDX-License-Identifier: Apache-2.0
/*
 * Do two ports reach each other? A table of evidence, the strongest first: the first row that tells
 * anything of two ports decides. What no row tells is unknown, and stays so: other addresses, VLANs
 * or leaf switches alone prove nothing, because routers and spines connect them.
 */
#include "reach.h"

#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/gateways.h"
#include "rna/model/probe.h"
#include "rna/model/qos.h"
#include "rna/model/subject.h"

enum {
	SUBNET_BYTES = 8, /* of a GID of InfiniBand */
	LOST_ENOUGH = 20, /* probes within RNA_PROBE_RECENT, of which none was ever answered */
};

/* -- Probes ------------------------------------------------------------------------------------ */

static bool is_of(const struct rna_probe_pair *pair, const struct rna_subject *port)
{
	return pair->port == port->port && strcmp(pair->device, port->device->device->name) == 0;
}

/* Does another node answer the port, all the time? */
static bool is_answered(const struct rna_subject *port)
{
	const struct rna_probe_pairs *probed = &port->view->probed;

	RNA_EACH (pair, probed->items, probed->count)
		if (pair->scope != RNA_PROBE_HOST && is_of(pair, port) &&
		    pair->recent.answered > 0 && !(pair->signs & RNA_PROBE_LOSING))
			return true;
	return false;
}

/* A pair that was answered before, also before the agent was restarted, shows that it is silent. */
static bool is_never_answered(const struct rna_probe_pair *pair)
{
	return pair->state == RNA_PROBE_RUNNING && pair->total.answered == 0 &&
	       !(pair->signs & RNA_PROBE_SILENT) && pair->recent.lost >= LOST_ENOUGH;
}

/* What comes back says the same of both directions. */
static enum rna_reach by_probes(const struct rna_subject *a, const struct rna_subject *b)
{
	const struct rna_probe_pairs *probed = &a->view->probed;
	bool silent = false;

	RNA_EACH (pair, probed->items, probed->count) {
		const struct rna_subject *from = is_of(pair, a) ? a : b, *to = from == a ? b : a;

		if (pair->scope != RNA_PROBE_HOST || !is_of(pair, from) ||
		    pair->peer_port != to->port ||
		    strcmp(pair->peer_device, to->device->device->name) != 0)
			continue;
		if (pair->recent.answered > 0)
			return RNA_REACH_TOGETHER;
		silent |= is_never_answered(pair);
	}
	return silent && is_answered(a) && is_answered(b) ? RNA_REACH_APART : RNA_REACH_UNKNOWN;
}

/* -- InfiniBand -------------------------------------------------------------------------------- */

/* Subnets without a prefix of their own have the default one (IBTA 4.1.1). */
static enum rna_reach by_prefix(const struct rna_subject *a, const struct rna_subject *b)
{
	static const uint8_t standard[SUBNET_BYTES] = {0xfe, 0x80};
	const struct rna_gid_entry *x = a->gids ? rna_port_gids_find(a->gids, 0) : NULL;
	const struct rna_gid_entry *y = b->gids ? rna_port_gids_find(b->gids, 0) : NULL;

	if (!x || !y || a->link_layer != RNA_LINK_LAYER_INFINIBAND)
		return RNA_REACH_UNKNOWN;
	if (memcmp(x->gid.bytes, y->gid.bytes, SUBNET_BYTES) != 0)
		return RNA_REACH_APART;
	return memcmp(x->gid.bytes, standard, SUBNET_BYTES) == 0 ? RNA_REACH_UNKNOWN
								 : RNA_REACH_TOGETHER;
}

/* A switch is of one subnet. LLDP does not tell the VLAN of its ports, so it proves nothing. */
static enum rna_reach by_switch(const struct rna_subject *a, const struct rna_subject *b)
{
	const struct rna_peer *x = a->peer, *y = b->peer;
	bool same = x && y && x->source == RNA_PEER_BY_MAD && y->source == RNA_PEER_BY_MAD &&
		    x->type == RNA_NODE_TYPE_SWITCH && !x->stale && !y->stale && x->guid &&
		    rna_same_text(x->guid, y->guid);

	return same ? RNA_REACH_TOGETHER : RNA_REACH_UNKNOWN;
}

/* A subnet has one master. Both ports may have been asked at different moments, so it is no proof.
 */
static enum rna_reach by_manager(const struct rna_subject *a, const struct rna_subject *b)
{
	const struct rna_manager *x = a->fabric ? &a->fabric->manager : NULL;
	const struct rna_manager *y = b->fabric ? &b->fabric->manager : NULL;

	if (!x || !y || x->unanswered > 0 || y->unanswered > 0)
		return RNA_REACH_UNKNOWN;
	if (x->guid && y->guid)
		return strcmp(x->guid, y->guid) == 0 ? RNA_REACH_TOGETHER : RNA_REACH_APART;
	return rna_value_is_known(x->lid) && rna_value_is_known(y->lid) &&
			       x->lid.number != y->lid.number
		       ? RNA_REACH_APART
		       : RNA_REACH_UNKNOWN;
}

/* -- VLANs ------------------------------------------------------------------------------------- */

uint64_t rna_reach_vlan(const struct rna_subject *port)
{
	uint64_t ret = 0;

	for (size_t i = 0; port->gids && i < port->gids->count; i++) {
		const struct rna_gid_entry *entry = &port->gids->entries[i];
		const struct rna_qos_vlan *vlan;

		if (!rna_gid_is_routable(entry))
			continue;
		vlan = rna_qos_find_vlan(port->qos, entry->netdev);
		if (!vlan || !rna_value_is_known(vlan->id) || (ret && vlan->id.number != ret))
			return 0;
		ret = vlan->id.number;
	}
	return ret;
}

/* The address of the GID with its subnet. NULL: not known. */
static const struct rna_rail_address *find_address(const struct rna_subject *port,
						   const struct rna_gid_entry *entry)
{
	const struct rna_gateways *gateways = rna_snapshot_gateways(port->view->snapshot);

	return RNA_FIND(i, gateways->host.addresses, gateways ? gateways->host.address_count : 0,
			rna_gid_is_same(&gateways->host.addresses[i].address, &entry->gid) &&
				rna_same_text(gateways->host.addresses[i].netdev, entry->netdev));
}

static bool has_subnet(const struct rna_subject *port, const struct rna_rail_address *of)
{
	RNA_EACH (entry, port->gids->entries, port->gids->count) {
		const struct rna_rail_address *address =
			rna_gid_is_routable(entry) ? find_address(port, entry) : NULL;

		if (address && rna_gid_is_same(&address->subnet, &of->subnet) &&
		    address->prefix_length.number == of->prefix_length.number)
			return true;
	}
	return false;
}

/*
 * An address of the own subnet is looked for on the link, not behind a router: so two VLANs with
 * one subnet are two links. With a subnet each, a router may connect them.
 */
static enum rna_reach by_vlan(const struct rna_subject *a, const struct rna_subject *b)
{
	const uint64_t x = rna_reach_vlan(a), y = x ? rna_reach_vlan(b) : 0;

	for (size_t i = 0; y && i < a->gids->count; i++) {
		const struct rna_gid_entry *entry = &a->gids->entries[i];
		const struct rna_rail_address *address =
			rna_gid_is_routable(entry) ? find_address(a, entry) : NULL;

		if (address && has_subnet(b, address))
			return x == y ? RNA_REACH_TOGETHER : RNA_REACH_APART;
	}
	return RNA_REACH_UNKNOWN;
}

bool rna_reach_is_told(const struct rna_subject *port)
{
	return rna_reach_vlan(port) || is_answered(port);
}

/* -- All of it --------------------------------------------------------------------------------- */

static const struct {
	enum rna_reach (*tell)(const struct rna_subject *a, const struct rna_subject *b);
	struct rna_network_evidence evidence; /* of being apart */
} rows[] = {
	{by_probes, {"other nodes answer their probes, and they never answer each other", NULL}},
	{by_prefix, {"their subnet prefixes differ", NULL}},
	{by_switch, {NULL, NULL}},
	{by_manager,
	 {"their subnet managers differ, and their subnet prefixes do not, by which libraries "
	  "take them for one subnet",
	  "if these are several, give each a prefix of its own at its subnet manager"}},
	{by_vlan, {"they have one subnet in different VLANs", NULL}},
};

enum rna_reach rna_reach_of(const struct rna_subject *a, const struct rna_subject *b,
			    const struct rna_network_evidence **ret_evidence)
{
	enum rna_reach ret = RNA_REACH_UNKNOWN;

	for (size_t i = 0; ret == RNA_REACH_UNKNOWN && i < RNA_ARRAY_SIZE(rows); i++) {
		ret = rows[i].tell(a, b);
		if (ret_evidence)
			*ret_evidence = ret == RNA_REACH_APART ? &rows[i].evidence : NULL;
	}
	return ret;
}
