// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about the fabric around a port: its peer port, its subnet manager, its partitions. The last
 * peer of a link that is down is part of the finding port-down.
 */
#include "rna/base/hash.h"
#include "rna/model/fabric.h"

#include "rails.h"
#include "rules.h"

enum { UNANSWERED_MAX = 3 }; /* queries before a subnet manager counts as not answering */

const char *rna_rule_say_peer(const struct rna_peer *peer, struct rna_arena *arena)
{
	const char *name = peer->name ? peer->name : peer->guid;
	const char *text = NULL;

	if (name && peer->port)
		text = rna_arena_printf(arena, "%s port %s", name, peer->port);
	return text ? text : name ? name : "an unnamed peer";
}

const struct rna_peer *rna_rule_live_peer(const struct rna_subject *port)
{
	return port->peer && !port->peer->stale ? port->peer : NULL;
}

/* -- Links that one end limits ----------------------------------------------------------------- */

static struct rna_value least(struct rna_value a, struct rna_value b)
{
	if (!rna_value_is_known(a) || !rna_value_is_known(b))
		return (struct rna_value){0};
	return a.number < b.number ? a : b;
}

/* One of the two measures of a link, at both ends. */
struct measure {
	const char *name;
	struct rna_value active, supported, enabled;
	struct rna_value peer_supported, peer_enabled;
};

/* True: there is a finding. Settings are compared with what both ends support. */
static bool tell_limit(const struct measure *measure, const char *peer, struct rna_finds *out)
{
	struct rna_value possible = least(measure->supported, measure->peer_supported);

	if (rna_value_is_below(measure->peer_supported, measure->supported) &&
	    !rna_value_is_below(measure->active, measure->peer_supported))
		rna_finds_add(out, "%s does not support a higher %s, but this port does", peer,
			      measure->name);
	else if (rna_value_is_below(measure->active, possible) &&
		 rna_value_is_below(measure->peer_enabled, possible))
		rna_finds_add(out, "%s is configured for a lower %s than both ends support", peer,
			      measure->name);
	else if (rna_value_is_below(measure->active, possible) &&
		 rna_value_is_below(measure->enabled, possible))
		rna_finds_add(out, "this port is configured for a lower %s than it and %s support",
			      measure->name, peer);
	else
		return false;
	return true;
}

static void find_limit(const struct rna_port_link *link, const struct rna_peer *peer,
		       struct rna_finds *out)
{
	const struct rna_link_end *other = &peer->link;
	const struct measure measures[] = {
		{"width", link->width, link->width_supported, link->width_enabled,
		 other->width_supported, other->width_enabled},
		{"speed", link->speed_code, link->speed_supported, link->speed_enabled,
		 other->speed_supported, other->speed_enabled},
	};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(measures); i++)
		if (tell_limit(&measures[i], rna_rule_say_peer(peer, out->arena), out))
			return;
}

static void check_link_limited(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	const struct rna_peer *peer = rna_rule_live_peer(port);

	if (peer && port->link && rna_subject_is_active(port))
		find_limit(port->link, peer, out);
}

const struct rna_rule rna_rule_link_limited = {
	RNA_RULE_ROW("link-limited", PORT, INFO, RAIL_SLOW, CABLE, LINK_DEGRADED),
	.settles = true,
	.hold = "30s",
	.help = "One end limits an InfiniBand link: the peer port supports less than this "
		"port, or one of the two is configured for less than both support.",
	.check = check_link_limited,
	.link_layer = RNA_LINK_LAYER_INFINIBAND,
	.remedy = "No action required if this is intended. Otherwise: {provider}use another switch "
		  "port, or configure both ends alike (ibportstate, switch configuration).",
	.message_id = "8cba2abe2e2e42e88828fac405fa4e81",
};

/* -- Cables ------------------------------------------------------------------------------------ */

static bool is_within_span(const struct rna_rule_input *in, struct rna_time then, rna_usec span)
{
	return rna_usec_since(then.monotonic, in->view->snapshot->time.monotonic) <= span;
}

static void check_cable_moved(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_port_fabric *fabric = in->subject->fabric;
	struct rna_finding *found;

	if (!fabric || !fabric->peer || !fabric->former_peer ||
	    !is_within_span(in, fabric->peer_changed, out->rule->lately))
		return;
	found = rna_finds_add(out, "the cable was moved from %s to %s",
			      rna_rule_say_peer(fabric->former_peer, out->arena),
			      rna_rule_say_peer(fabric->peer, out->arena));
	found->since = fabric->peer_changed;
}

const struct rna_rule rna_rule_cable_moved = {
	RNA_RULE_ROW("cable-moved", PORT, WARNING, FABRIC, FABRIC, CHANGED),
	.lately = 24 * 60 * 60 * RNA_USEC_PER_SEC,
	.help = "The cable of an InfiniBand port was moved to another port of the fabric "
		"within the last 24 hours.",
	.check = check_cable_moved,
	.remedy = "{provider}Compare with the cabling plan; a rail in the wrong leaf switch sends "
		  "its traffic across the spine. The finding resolves after 24 hours.",
	.message_id = "83c23fbc7c2a42e2af34c674b2031106",
};

/* -- The subnet manager ------------------------------------------------------------------------ */

static const char *name_manager(const struct rna_manager *manager, struct rna_arena *arena)
{
	const char *text = NULL;

	if (manager->guid && rna_value_is_known(manager->lid))
		text = rna_arena_printf(arena, "GUID %s, LID %ju", manager->guid,
					(uintmax_t)manager->lid.number);
	else if (rna_value_is_known(manager->lid))
		text = rna_arena_printf(arena, "LID %ju", (uintmax_t)manager->lid.number);
	return text ? text : "unknown";
}

static void check_subnet_manager_changed(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_port_fabric *fabric = in->subject->fabric;
	struct rna_finding *found;

	if (!fabric || fabric->manager.changes == 0 ||
	    !is_within_span(in, fabric->manager.changed, out->rule->lately))
		return;
	found = rna_finds_add(out, "the subnet manager changed to %s",
			      name_manager(&fabric->manager, out->arena));
	found->since = fabric->manager.changed;
}

const struct rna_rule rna_rule_subnet_manager_changed = {
	RNA_RULE_ROW("subnet-manager-changed", PORT, INFO, FABRIC, FABRIC, CHANGED),
	.lately = 60 * 60 * RNA_USEC_PER_SEC,
	.help = "The master subnet manager of an InfiniBand port changed within the last "
		"hour.",
	.check = check_subnet_manager_changed,
	.link_layer = RNA_LINK_LAYER_INFINIBAND,
	.remedy = "No action required if the previous one was stopped. {provider}Read the "
		  "logs of both subnet managers: two that take turns disturb the "
		  "fabric.",
	.message_id = "d7f5b901499b40da851a018c788d7ca2",
};

/* Ports that are not ACTIVE have findings of other rules. */
static void check_subnet_manager_unhealthy(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_port_fabric *fabric = in->subject->fabric;
	const struct rna_manager *manager = fabric ? &fabric->manager : NULL;

	if (!manager || !rna_subject_is_active(in->subject))
		return;
	if (manager->unanswered >= UNANSWERED_MAX)
		rna_finds_add(out, "the subnet manager (%s) no longer answers",
			      name_manager(manager, out->arena));
	else if (rna_value_is_known(manager->state) && manager->state.number != RNA_MANAGER_MASTER)
		rna_finds_add(out, "the subnet manager (%s) reports state %s, not master",
			      name_manager(manager, out->arena),
			      rna_manager_state_name(manager->state.number));
}

const struct rna_rule rna_rule_subnet_manager_unhealthy = {
	RNA_RULE_ROW("subnet-manager-unhealthy", PORT, WARNING, FABRIC, FABRIC, FABRIC_UNHEALTHY),
	.slow = true, /* three queries without an answer */
	.hold = "30s",
	.help = "The subnet manager of an active InfiniBand port no longer answers, or "
		"reports that it is not master.",
	.check = check_subnet_manager_unhealthy,
	.link_layer = RNA_LINK_LAYER_INFINIBAND,
	.remedy =
		"{provider}Query it with sminfo -C {device} -P {port}, and check the host that it "
		"runs on. Established traffic continues without it, but no port comes "
		"up and no path is repaired.",
	.message_id = "54c330b3758a4a93aeec1cdbffdf0d6a",
};

/* -- Partitions -------------------------------------------------------------------------------- */

static void check_pkey_default_missing(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_port_fabric *fabric = in->subject->fabric;

	if (fabric && fabric->pkeys_known && !fabric->pkeys_from_files &&
	    rna_subject_is_active(in->subject) && !rna_port_has_pkey(fabric, RNA_DEFAULT_PKEY))
		(void)rna_finds_add(out, "not a member of the default partition (P_Key 0x7fff)");
}

const struct rna_rule rna_rule_pkey_default_missing = {
	RNA_RULE_ROW("pkey-default-missing", PORT, WARNING, RAIL_LOST, FABRIC, FABRIC_UNHEALTHY),
	.settles = true,
	.hold = "30s",
	.help = "An active InfiniBand port is not a member, full or limited, of the "
		"default partition (P_Key 0x7fff), which subnet administration uses.",
	.check = check_pkey_default_missing,
	.link_layer = RNA_LINK_LAYER_INFINIBAND,
	.remedy = "{provider}Check the partitions of the subnet manager (partitions.conf, UFM); "
		  "usually every port is at least a limited member.",
	.message_id = "66cd69b911434099bf6c2d22763cf594",
};

/* As it stands in the table: with the membership bit. */
static unsigned in_table(const struct rna_pkey *pkey)
{
	enum { FULL_MEMBER = 0x8000 };

	return pkey->key | (pkey->full ? FULL_MEMBER : 0U);
}

/*
 * A hash of the whole table of an active InfiniBand port. The index counts as well: NCCL selects a
 * P_Key by its index, 0 by default (NCCL 2.30 src/transport/net_ib/connect.cc, NCCL_IB_PKEY), and
 * UCX the first one with full membership (UCX src/uct/ib/base/ib_iface.c, UCX_IB_PKEY).
 */
static bool pkeys_of(const struct rna_subject *port, uint64_t *ret)
{
	const struct rna_port_fabric *fabric = port->fabric;

	if (!fabric || !fabric->pkeys_known || port->link_layer != RNA_LINK_LAYER_INFINIBAND ||
	    !rna_subject_is_active(port))
		return false;
	*ret = RNA_HASH_INIT;
	RNA_EACH (pkey, fabric->pkeys, fabric->pkey_count) {
		*ret = rna_hash_number(*ret, pkey->index);
		*ret = rna_hash_number(*ret, in_table(pkey));
	}
	return true;
}

static void write_pkeys(const struct rna_port_fabric *fabric, struct rna_strbuf *out)
{
	enum { SHOWN = 8 };

	if (fabric->pkey_count == 0)
		rna_strbuf_puts(out, "none");
	for (size_t i = 0; i < fabric->pkey_count && i < SHOWN; i++)
		rna_strbuf_printf(out, "%s0x%04x at index %u", i > 0 ? ", " : "",
				  in_table(&fabric->pkeys[i]), fabric->pkeys[i].index);
	if (fabric->pkey_count > SHOWN)
		rna_strbuf_printf(out, " and %zu more", fabric->pkey_count - SHOWN);
}

/* Some port in the place of the subject that has what most of them have. */
static const struct rna_port_fabric *usual_fabric(const struct rna_rule_input *in,
						  const struct rna_rail_usual *usual)
{
	RNA_EACH (port, in->ports->items, in->ports->count) {
		uint64_t value;

		if (port->place == in->subject->place && pkeys_of(port, &value) &&
		    value == usual->value)
			return port->fabric;
	}
	return NULL;
}

static void check_rails_pkeys(const struct rna_rule_input *in, struct rna_finds *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_port_fabric *fabric;
	struct rna_rail_usual usual;

	if (!rna_rail_is_odd_in_place(in, pkeys_of, &usual))
		return;
	fabric = usual_fabric(in, &usual);
	if (!fabric)
		return;
	rna_strbuf_puts(&text, "P_Keys ");
	write_pkeys(in->subject->fabric, &text);
	rna_strbuf_printf(&text, "; %zu of %zu such ports on cards of this model have ",
			  usual.count, usual.known);
	write_pkeys(fabric, &text);
	if (rna_strbuf_ok(&text))
		(void)rna_finds_add(out, "%s", text.data);
	else
		out->failed = true;
}

const struct rna_rule rna_rule_rails_pkeys = {
	RNA_RULE_ROW("rails-pkeys", PORT, WARNING, FABRIC, FABRIC, FABRIC_UNHEALTHY),
	.settles = true,
	.hold = "30s",
	.help = "The P_Key table of an active InfiniBand port differs from that of most "
		"such ports on cards of its model, in partitions, membership or order. "
		"Applications select a P_Key by its index or take the first full one.",
	.check = check_rails_pkeys,
	.link_layer = RNA_LINK_LAYER_INFINIBAND,
	.remedy = "{provider}Compare the partitions of {object} in the subnet manager "
		  "(partitions.conf, UFM) with those of the other ports of this node, by "
		  "port GUID. If the difference is intended, add rails-pkeys to "
		  "health.disable.",
	.message_id = "f3346f4f2623479cb19c66ec18e766bc",
};

/* -- Networks ---------------------------------------------------------------------------------- */

/* One port that differs from the others of its place is a finding of its own. */
static bool is_limited_with_all(const struct rna_subject *port)
{
	return port->view->networks && port->view->networks->count == 0 &&
	       port->link_layer == RNA_LINK_LAYER_INFINIBAND && port->fabric &&
	       rna_port_has_pkey(port->fabric, RNA_DEFAULT_PKEY);
}

static void check_network_missing(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	const struct rna_networks *networks = port->view->networks;
	struct rna_finding *found;

	if (port->network || !rna_subject_is_active(port) ||
	    (!port->rail && rna_snapshot_topology(port->view->snapshot)))
		return; /* without the PCI tree any port may be a rail */
	if (networks && networks->range_count > 0) {
		if ((port->fabric && port->fabric->pkeys_known) ||
		    rna_subject_has_routable_gid(port))
			(void)rna_finds_add(out, "none of its addresses and partitions is of a "
						 "network that fabric.networks has");
	} else if (is_limited_with_all(port)) {
		found = rna_finds_add(out, "a limited member of all its partitions, and limited "
					   "members do not reach each other");
		found->severity = RNA_SEVERITY_INFO;
	}
}

const struct rna_rule rna_rule_network_missing = {
	RNA_RULE_ROW("network-missing", PORT, WARNING, FABRIC, FABRIC, FABRIC_UNHEALTHY),
	.settles = true,
	.hold = "30s",
	.help = "An active port that serves GPUs is in none of the networks of "
		"fabric.networks; info: without that setting, no InfiniBand port is a full member "
		"of any partition.",
	.check = check_network_missing,
	.remedy =
		"Run: rdma-node-agent status --gids, and compare addresses and P_Keys of {device} "
		"port {port} with fabric.networks{partitions}.",
	.message_id = "b75f5f4772fd45b9ab906312bb2a5a80",
};
