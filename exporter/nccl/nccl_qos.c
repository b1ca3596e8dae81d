// SPDX-License-Identifier: Apache-2.0
/*
 * The priority of NCCL's packets, derived from the DCB configuration of the ports: PFC makes one
 * priority lossless, and either DSCPs or VLAN tags select it. A variable applies to all ports of a
 * job, so they must agree. If several DSCPs select the priority, only the plan of the fabric can
 * tell which one to use.
 */
#include "nccl_qos.h"

#include <errno.h>

#include "rna/model/qos.h"

/* What determines the priority of a packet and can be set for NCCL. */
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
static const struct rna_subject *find_other(const struct rna_nccl_ports *ports,
					    const struct treatment *first, bool *ret_known)
{
	*ret_known = true;
	for (size_t i = 0; i < ports->count; i++)
		if (is_other(ports->items[i], first, ret_known))
			return ports->items[i];
	return NULL;
}

/* Does the GID that NCCL uses belong to a VLAN, on all ports? Only then packets have a tag. */
static bool are_tagged(const struct rna_nccl_ports *ports)
{
	for (size_t i = 0; i < ports->count; i++) {
		const struct rna_subject *port = ports->items[i];
		const struct rna_gid_entry *entry =
			port->gids && rna_value_is_known(port->nccl_index)
				? rna_port_gids_find(port->gids, (unsigned)port->nccl_index.number)
				: NULL;

		if (!entry || !rna_qos_find_vlan(port->qos, entry->netdev))
			return false;
	}
	return true;
}

/* Several DSCPs, or none: the variable cannot be derived from the node. */
static const char *why_no_class(const struct treatment *treatment, struct rna_arena *arena)
{
	RNA_STRBUF struct rna_strbuf dscps = RNA_STRBUF_INIT;
	int priority = rna_priority_only(treatment->lossless);

	if (treatment->dscps == 0)
		return rna_arena_printf(arena,
					"priority %d is lossless (PFC) and no DSCP leads to it: no "
					"value of NCCL_IB_TC makes its packets lossless",
					priority);
	rna_qos_write_mask(treatment->dscps, &dscps);
	if (!rna_strbuf_ok(&dscps))
		return NULL;
	return rna_arena_printf(arena,
				"priority %d is lossless (PFC) and DSCPs %s lead to it: NCCL_IB_TC "
				"should be 4 x the one that the fabric has for RoCE; left alone, "
				"NCCL sends with DSCP 0",
				priority, dscps.data);
}

static void derive_class(const struct treatment *treatment, const struct rna_nccl_ports *ports,
			 struct rna_arena *arena, struct rna_nccl_quality *ret)
{
	int priority = rna_priority_only(treatment->lossless);
	int dscp = rna_priority_only(treatment->dscps);

	if (dscp < 0) {
		ret->warning = why_no_class(treatment, arena);
		return;
	}
	ret->name = "NCCL_IB_TC";
	ret->value = rna_arena_printf(arena, "%d", dscp << 2);
	ret->reason =
		rna_arena_printf(arena,
				 "4 x DSCP %d, the only one that leads to priority %d, the only "
				 "lossless one (PFC), on all %zu ports",
				 dscp, priority, ports->count);
}

/* If VLAN tags decide, NCCL's packets must have one. */
static void derive_level(const struct treatment *treatment, const struct rna_nccl_ports *ports,
			 struct rna_arena *arena, struct rna_nccl_quality *ret)
{
	if (!are_tagged(ports)) {
		ret->warning =
			"ports go by the priority of VLAN tags (trust pcp), and the GIDs that "
			"NCCL uses are of no VLAN: its packets cannot be lossless";
		return;
	}
	ret->name = "NCCL_IB_SL";
	ret->value = rna_arena_printf(arena, "%d", rna_priority_only(treatment->lossless));
	ret->reason = "the only lossless priority (PFC); ports go by that of VLAN tags (trust pcp)";
}

int rna_nccl_derive_quality(const struct rna_nccl_ports *ports, struct rna_arena *arena,
			    struct rna_nccl_quality *ret)
{
	const struct rna_subject *other, *first = ports->count > 0 ? ports->items[0] : NULL;
	struct treatment treatment;
	bool known;

	*ret = (struct rna_nccl_quality){0};
	if (!first || !qos_settings_of(first->qos, &treatment))
		return 0;
	other = find_other(ports, &treatment, &known);
	if (!other && (!known || rna_priority_only(treatment.lossless) < 0))
		return 0; /* the purpose of each of several is unknown */
	if (other && other == first)
		ret->warning = rna_arena_printf(
			arena,
			"%s/%u: members of its bond treat packets differently (PFC, trust or "
			"DSCPs): neither NCCL_IB_TC nor NCCL_IB_SL can be right for all of them",
			first->device->device->name, first->port);
	else if (other)
		ret->warning = rna_arena_printf(
			arena,
			"%s/%u: its packets are treated otherwise than those of %s/%u (PFC, trust "
			"or DSCPs): neither NCCL_IB_TC nor NCCL_IB_SL can be right for all ports",
			other->device->device->name, other->port, first->device->device->name,
			first->port);
	else if (treatment.trust == RNA_TRUST_DSCP)
		derive_class(&treatment, ports, arena, ret);
	else
		derive_level(&treatment, ports, arena, ret);
	return ret->warning || (ret->value && ret->reason) ? 0 : -ENOMEM;
}
