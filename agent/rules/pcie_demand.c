// SPDX-License-Identifier: Apache-2.0
#include "pcie_demand.h"

#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"

enum { PARTS_SAID = 8 };

/* -- One port ---------------------------------------------------------------------------------- */

unsigned rna_pcie_ways_to_cage(const struct rna_rule_input *in)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(in->view->snapshot);

	return readiness && readiness->platform.shared_cages ? 2 : 1;
}

/* 0: nothing, or not known. */
static uint64_t wanted_rate(const struct rna_rule_input *in, const struct rna_subject *port)
{
	uint64_t rate = 0;

	if (port->port == 0 || port->device->device->function != RNA_FUNCTION_PF ||
	    port->represents)
		return 0;
	if (rna_subject_is_active(port))
		rate = rna_subject_rate(port).number;
	else if (rna_subject_expected(port) == RNA_EXPECTED_UP)
		rate = port->account->best.rate;
	return rate / rna_pcie_ways_to_cage(in);
}

/* -- The link ---------------------------------------------------------------------------------- */

/* Its upper end has this address, at this place counted from the root. */
struct link {
	const char *upper;
	size_t from_root;
};

static struct link link_above(const struct rna_pcie *pcie, size_t hop)
{
	return (struct link){pcie->hops[hop + 1].address, pcie->hop_count - hop - 1};
}

static bool is_behind(const struct link *link, const struct rna_subject *port)
{
	const struct rna_pcie *pcie = rna_device_pcie(port->device);

	return pcie && pcie->hop_count > link->from_root &&
	       rna_same_text(pcie->hops[pcie->hop_count - link->from_root].address, link->upper);
}

/* The bond of which only one member transmits, or NULL. */
static const char *backup_bond(const struct rna_rule_input *in, const struct rna_subject *port)
{
	const struct rna_netdev *bond =
		rna_netdevs_bond_of(rna_snapshot_netdevs(in->view->snapshot), port->netdev);

	return bond && !bond->bond_spreads ? bond->name : NULL;
}

/* Is there a faster port of the same bond behind the link, or an earlier one as fast? */
static bool is_backup(const struct rna_rule_input *in, const struct link *link,
		      const struct rna_subject *port)
{
	const char *bond = backup_bond(in, port);
	uint64_t own = wanted_rate(in, port);

	for (size_t i = 0; bond && i < in->ports->count; i++) {
		const struct rna_subject *other = &in->ports->items[i];
		uint64_t rate = other == port ? 0 : wanted_rate(in, other);

		if (rate > 0 && (rate > own || (rate == own && other < port)) &&
		    is_behind(link, other) && rna_same_text(backup_bond(in, other), bond))
			return true;
	}
	return false;
}

/* -- GPUs below a switch ----------------------------------------------------------------------- */

static bool has_gpu_below(const struct rna_topology *topology, int object)
{
	for (size_t i = 0; i < topology->gpu_count; i++) {
		int above = (int)topology->gpus[i].object;

		while (above != RNA_NO_OBJECT && above != object)
			above = topology->objects[above].parent;
		if (above != RNA_NO_OBJECT)
			return true;
	}
	return false;
}

/* Without the PCI tree any uplink may be shared with GPUs; the link of a card itself is not. */
static bool is_shared_with_gpus(const struct rna_rule_input *in, const struct link *link,
				size_t hop)
{
	const struct rna_topology *topology = rna_snapshot_topology(in->view->snapshot);
	int object = topology ? rna_topology_find_object(topology, link->upper) : RNA_NO_OBJECT;

	if (hop == 0)
		return false;
	return object == RNA_NO_OBJECT || has_gpu_below(topology, object);
}

static bool serves_gpus(const struct rna_rule_input *in, const struct rna_subject *port)
{
	const struct rna_topology *topology = rna_snapshot_topology(in->view->snapshot);
	const struct rna_nic *nic =
		topology ? rna_topology_find_nic(topology, port->device->device) : NULL;

	return !nic || nic->rail >= 0;
}

/* -- The sum ----------------------------------------------------------------------------------- */

/* The ports that a demand consists of, one after the other. */
struct parts {
	const struct rna_rule_input *in;
	struct link link;
	bool shared; /* with GPUs: those that serve GPUs are left out */
	size_t next;
	uint64_t rate;
};

static struct parts begin(const struct rna_rule_input *in, size_t hop)
{
	struct link link = link_above(rna_device_pcie(in->subject->device), hop);

	return (struct parts){
		.in = in,
		.link = link,
		.shared = is_shared_with_gpus(in, &link, hop),
	};
}

static const struct rna_subject *next_part(struct parts *parts)
{
	const struct rna_rule_input *in = parts->in;

	while (parts->next < in->ports->count) {
		const struct rna_subject *port = &in->ports->items[parts->next++];

		if (!is_behind(&parts->link, port))
			continue;
		parts->rate = wanted_rate(in, port);
		if (parts->rate > 0 && !is_backup(in, &parts->link, port) &&
		    (!parts->shared || !serves_gpus(in, port)))
			return port;
	}
	return NULL;
}

/* The fastest port behind a link; of several the first. */
static struct rna_pcie_demand find_fastest(const struct rna_rule_input *in, const struct link *link)
{
	struct rna_pcie_demand ret = {0};

	RNA_EACH (port, in->ports->items, in->ports->count) {
		uint64_t rate = is_behind(link, port) ? wanted_rate(in, port) : 0;

		if (rate <= ret.rate)
			continue;
		ret = (struct rna_pcie_demand){
			.rate = rate,
			.count = 1,
			.first = rna_subject_is_active(port) ? port : NULL,
		};
	}
	return ret;
}

struct rna_pcie_demand rna_pcie_demand_find(const struct rna_rule_input *in, size_t hop)
{
	struct parts parts = begin(in, hop);
	struct rna_pcie_demand ret = {0}, fastest;
	const struct rna_subject *port;

	while ((port = next_part(&parts))) {
		ret.rate += parts.rate;
		ret.count++;
		if (!ret.first && rna_subject_is_active(port))
			ret.first = port;
	}
	if (!parts.shared)
		return ret;
	fastest = find_fastest(in, &parts.link);
	return fastest.rate > ret.rate ? fastest : ret;
}

const char *rna_pcie_demand_say(const struct rna_rule_input *in, size_t hop,
				struct rna_arena *arena)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct parts parts = begin(in, hop);
	const struct rna_subject *port;
	const char *text = NULL;
	size_t count = 0;

	while ((port = next_part(&parts))) {
		if (count++ < PARTS_SAID)
			rna_strbuf_printf(&out, "%s%s/%u %.6g", count > 1 ? ", " : "",
					  port->device->device->name, port->port,
					  rna_gigabits(parts.rate));
	}
	if (count > PARTS_SAID)
		rna_strbuf_printf(&out, " and %zu more", count - PARTS_SAID);
	if (rna_strbuf_ok(&out) && out.len > 0)
		text = rna_arena_strdup(arena, out.data);
	return text ? text : "of an unknown rate";
}

/* -- Bounds ------------------------------------------------------------------------------------ */

enum { SIZE_LEAST = 64 };

static struct rna_pcie_bound *find_bound(const struct rna_pcie_bounds *bounds, const char *upper)
{
	size_t at = 5381; /* djb2 */

	for (const char *c = upper; *c; c++)
		at = at * 33 + (unsigned char)*c;
	for (at &= bounds->size - 1; bounds->items[at].upper; at = (at + 1) & (bounds->size - 1))
		if (strcmp(bounds->items[at].upper, upper) == 0)
			break;
	return &bounds->items[at];
}

static size_t count_links(const struct rna_rule_input *in)
{
	size_t count = 0;

	for (size_t i = 0; i < in->devices->count; i++)
		if (in->devices->items[i].pcie)
			count += in->devices->items[i].pcie->hop_count;
	return count;
}

static void add_port(struct rna_pcie_bounds *bounds, const struct rna_pcie *pcie, uint64_t rate)
{
	for (size_t hop = 0; hop + 1 < pcie->hop_count; hop++) {
		const char *upper = pcie->hops[hop + 1].address;
		struct rna_pcie_bound *bound = find_bound(bounds, upper);

		bound->upper = upper;
		bound->rate += rate;
	}
}

static void make_bounds(const struct rna_rule_input *in, struct rna_pcie_bounds *bounds)
{
	size_t links = count_links(in), size = SIZE_LEAST;

	while (size < 2 * links)
		size *= 2;
	bounds->items = calloc(size, sizeof(*bounds->items));
	bounds->size = bounds->items ? size : 0;
	for (size_t i = 0; i < in->ports->count && bounds->items; i++) {
		const struct rna_subject *port = &in->ports->items[i];
		const struct rna_pcie *pcie = rna_device_pcie(port->device);
		uint64_t rate = pcie ? wanted_rate(in, port) : 0;

		if (rate > 0)
			add_port(bounds, pcie, rate);
	}
}

void rna_pcie_bounds_deinit(struct rna_pcie_bounds *bounds)
{
	free(bounds->items);
	*bounds = (struct rna_pcie_bounds){0};
}

uint64_t rna_pcie_demand_bound(const struct rna_rule_input *in, size_t hop)
{
	const struct rna_pcie *pcie = rna_device_pcie(in->subject->device);

	if (!in->pcie)
		return UINT64_MAX;
	if (!in->pcie->made)
		make_bounds(in, in->pcie);
	in->pcie->made = true;
	return in->pcie->items ? find_bound(in->pcie, pcie->hops[hop + 1].address)->rate
			       : UINT64_MAX;
}
