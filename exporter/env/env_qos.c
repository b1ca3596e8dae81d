// SPDX-License-Identifier: Apache-2.0
/*
 * The priority of a library's packets, derived from the DCB configuration of the ports: PFC makes
 * one priority lossless, and either DSCPs or VLAN tags select it. A variable applies to all ports
 * of a job, so they must agree. If several DSCPs select the priority, only the plan of the fabric
 * can tell which one to use, unless the library uses one of them by itself.
 */
#include "env_qos.h"

#include <errno.h>

#include "rna/model/qos.h"

/* What determines the priority of a packet and can be set for a library. */
struct treatment {
	uint64_t lossless; /* mask */
	enum rna_trust trust;
	uint64_t dscps; /* that select the lossless priority */
};

/* False: not known. qos: NULL: the port has no such interface. */
static bool qos_settings_of(const struct rna_qos_port *qos, struct treatment *ret)
{
	const struct rna_dcb *dcb = qos ? qos->dcb : NULL;
	int priority;

	if (!dcb || !rna_value_is_known(dcb->pfc) || qos->trust == RNA_TRUST_UNKNOWN)
		return false;
	priority = rna_priority_only(dcb->pfc.number);
	*ret = (struct treatment){.lossless = dcb->pfc.number, .trust = qos->trust};
	if (priority >= 0 && ret->trust == RNA_TRUST_DSCP)
		ret->dscps = rna_qos_dscps_of(dcb, (unsigned)priority);
	return true;
}

static bool is_same(const struct treatment *a, const struct treatment *b)
{
	return a->lossless == b->lossless && a->trust == b->trust && a->dscps == b->dscps;
}

/* Is an interface of the port (a bond has several) known to differ from the first one? */
static bool is_other(const struct rna_subject *port, const struct treatment *first, bool *ret_known)
{
	const struct rna_qos *qos = rna_device_qos(port->device);
	const struct rna_qos_port *interface;
	struct treatment other;
	bool any = false;
	size_t from = 0;

	while ((interface = rna_qos_next(qos, port->port, &from))) {
		any = true;
		if (!qos_settings_of(interface, &other))
			*ret_known = false;
		else if (!is_same(first, &other))
			return true;
	}
	*ret_known &= any;
	return false;
}

/* The first port that differs from the first one; NULL: no difference is known. */
static const struct rna_subject *find_other(const struct rna_env_ports *ports,
					    const struct treatment *first, bool *ret_known)
{
	*ret_known = true;
	for (size_t i = 0; i < ports->count; i++)
		if (is_other(ports->items[i], first, ret_known))
			return ports->items[i];
	return NULL;
}

/* Does the GID that the library uses belong to a VLAN, on all ports? Only then packets have a tag.
 */
static bool are_tagged(const struct rna_env_ports *ports, const struct rna_env_qos_names *names)
{
	for (size_t i = 0; i < ports->count; i++) {
		const struct rna_subject *port = ports->items[i];
		const struct rna_gid_entry *entry;
		unsigned index;

		if (!port->gids)
			return false;
		entry = names->select(port->gids, &RNA_NCCL_STANDARD, &index);
		if (!entry || !rna_qos_find_vlan(port->qos, entry->netdev))
			return false;
	}
	return true;
}

enum { DSCP_SHIFT = 2 }; /* of a traffic class: the lower bits are those of ECN (RFC 3168, 5) */

/* Several DSCPs, or none: the variable cannot be derived from the node. */
static const char *why_no_class(const struct treatment *treatment,
				const struct rna_env_qos_names *names, struct rna_arena *arena)
{
	RNA_STRBUF struct rna_strbuf dscps = RNA_STRBUF_INIT;
	int priority = rna_priority_only(treatment->lossless);

	if (treatment->dscps == 0)
		return rna_arena_printf(arena,
					"priority %d is lossless (PFC) and no DSCP leads to it: no "
					"value of %s makes its packets lossless",
					priority, names->traffic_class);
	rna_qos_write_mask(treatment->dscps, &dscps);
	if (!rna_strbuf_ok(&dscps))
		return NULL;
	return rna_arena_printf(arena,
				"priority %d is lossless (PFC) and DSCPs %s lead to it: %s should "
				"be 4 x the one that the fabric has for RoCE; left alone, %s sends "
				"with DSCP %u",
				priority, dscps.data, names->traffic_class, names->title,
				names->standard >> DSCP_SHIFT);
}

/* DSCP 0 is not a choice of a library but the lack of one, even if it leads to that priority. */
static bool is_right_alone(const struct treatment *treatment, const struct rna_env_qos_names *names)
{
	return names->standard > 0 &&
	       (treatment->dscps & UINT64_C(1) << (names->standard >> DSCP_SHIFT)) != 0;
}

static void derive_class(const struct treatment *treatment, size_t ports,
			 const struct rna_env_qos_names *names, struct rna_arena *arena,
			 struct rna_env_quality *ret)
{
	int priority = rna_priority_only(treatment->lossless);
	int dscp = rna_priority_only(treatment->dscps);

	if (dscp < 0) {
		ret->warning = why_no_class(treatment, names, arena);
		return;
	}
	ret->name = names->traffic_class;
	ret->value = rna_arena_printf(arena, "%d", dscp << DSCP_SHIFT);
	ret->reason =
		rna_arena_printf(arena,
				 "4 x DSCP %d, the only one that leads to priority %d, the only "
				 "lossless one (PFC), on all %zu ports",
				 dscp, priority, ports);
}

/* If VLAN tags decide, the library's packets must have one. */
static void derive_level(const struct treatment *treatment, const struct rna_env_ports *ports,
			 const struct rna_env_qos_names *names, struct rna_arena *arena,
			 struct rna_env_quality *ret)
{
	if (!are_tagged(ports, names)) {
		ret->warning = rna_arena_printf(
			arena,
			"ports go by the priority of VLAN tags (trust pcp), and the GIDs that %s "
			"uses are of no VLAN: its packets cannot be lossless",
			names->title);
		return;
	}
	ret->name = names->level;
	ret->value = rna_arena_printf(arena, "%d", rna_priority_only(treatment->lossless));
	ret->reason = "the only lossless priority (PFC); ports go by that of VLAN tags (trust pcp)";
}

/* Ports that are not alike: no value can be right. other: one that differs from the first one. */
static const char *say_difference(const struct rna_subject *first, const struct rna_subject *other,
				  const struct rna_env_qos_names *names, struct rna_arena *arena)
{
	if (other == first)
		return rna_arena_printf(
			arena,
			"%s/%u: members of its bond treat packets differently (PFC, trust or "
			"DSCPs): neither %s nor %s can be right for all of them",
			first->device->device->name, first->port, names->traffic_class,
			names->level);
	return rna_arena_printf(
		arena,
		"%s/%u: its packets are treated otherwise than those of %s/%u (PFC, trust or "
		"DSCPs): neither %s nor %s can be right for all ports",
		other->device->device->name, other->port, first->device->device->name, first->port,
		names->traffic_class, names->level);
}

int rna_env_derive_quality(const struct rna_env_ports *ports, const struct rna_env_qos_names *names,
			   struct rna_arena *arena, struct rna_env_quality *ret)
{
	const struct rna_subject *other, *first = ports->count > 0 ? ports->items[0] : NULL;
	struct treatment treatment;
	bool known;

	*ret = (struct rna_env_quality){0};
	if (!first || !qos_settings_of(first->qos, &treatment))
		return 0;
	other = find_other(ports, &treatment, &known);
	if (!other && (!known || rna_priority_only(treatment.lossless) < 0))
		return 0; /* the purpose of each of several is unknown */
	if (!other && treatment.trust == RNA_TRUST_DSCP && is_right_alone(&treatment, names))
		return 0;
	if (other)
		ret->warning = say_difference(first, other, names, arena);
	else if (treatment.trust == RNA_TRUST_DSCP)
		derive_class(&treatment, ports->count, names, arena, ret);
	else
		derive_level(&treatment, ports, names, arena, ret);
	return ret->warning || (ret->value && ret->reason) ? 0 : -ENOMEM;
}
