// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about quality of service. The right configuration depends on the fabric and is seldom
 * recorded on a node. But rails must be configured alike in any case, and RoCE packets must use a
 * priority that is lossless.
 */
#include <fnmatch.h>

#include "rna/base/hash.h"
#include "rna/model/qos.h"

#include "settings/qos_profile.h"
#include "settings/settings.h"

#include "past.h"
#include "rails.h"
#include "rules.h"

static bool is_roce_with_qos(const struct rna_subject *port)
{
	return port->qos && rna_subject_is_active_roce(port);
}

/* "priority 3", "priorities 3, 4" or "off", in arena. */
static const char *say_priorities(uint64_t mask, struct rna_arena *arena)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *ret;

	if (mask == 0)
		return "off";
	rna_qos_write_mask(mask, &text);
	ret = rna_strbuf_ok(&text)
		      ? rna_arena_printf(arena, "%s %s",
					 rna_priority_only(mask) < 0 ? "priorities" : "priority",
					 text.data)
		      : NULL;
	return ret ? ret : "priorities";
}

/* -- Rails ------------------------------------------------------------------------------------- */

/* Of a table, for comparison. */
static uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = rna_hash_number(hash, bytes[i]);
	return hash;
}

static const struct rna_dcb *dcb_of(const struct rna_subject *port)
{
	return is_roce_with_qos(port) ? port->qos->dcb : NULL;
}

static bool put(struct rna_value value, uint64_t *ret)
{
	*ret = value.number;
	return rna_value_is_known(value);
}

static bool pfc_of(const struct rna_subject *port, uint64_t *ret)
{
	return dcb_of(port) && put(port->qos->dcb->pfc, ret);
}

static bool trust_of(const struct rna_subject *port, uint64_t *ret)
{
	if (!is_roce_with_qos(port) || port->qos->trust == RNA_TRUST_UNKNOWN)
		return false;
	*ret = port->qos->trust;
	return true;
}

/* Without trust in DSCP the table has no effect. */
static bool dscp_table_of(const struct rna_subject *port, uint64_t *ret)
{
	const struct rna_dcb *dcb = dcb_of(port);

	if (!dcb || port->qos->trust != RNA_TRUST_DSCP)
		return false;
	*ret = hash_bytes(RNA_HASH_INIT, dcb->dscp_priority, sizeof(dcb->dscp_priority));
	return true;
}

static bool ets_of(const struct rna_subject *port, uint64_t *ret)
{
	const struct rna_dcb *dcb = dcb_of(port);

	if (!dcb || !dcb->has_ets)
		return false;
	*ret = hash_bytes(RNA_HASH_INIT, dcb->traffic_class, sizeof(dcb->traffic_class));
	*ret = hash_bytes(*ret, dcb->bandwidth, sizeof(dcb->bandwidth));
	*ret = hash_bytes(*ret, dcb->algorithm, sizeof(dcb->algorithm));
	return true;
}

static bool notification_of(const struct rna_subject *port, uint64_t *ret)
{
	return is_roce_with_qos(port) && put(port->qos->ecn[RNA_ECN_NOTIFICATION], ret);
}

static bool ecn_reaction_of(const struct rna_subject *port, uint64_t *ret)
{
	return is_roce_with_qos(port) && put(port->qos->ecn[RNA_ECN_REACTION], ret);
}

/* "Not set" is a value of its own: UINT64_MAX. */
static bool traffic_class_of(const struct rna_subject *port, uint64_t *ret)
{
	const struct rna_port_identity *identity = port->port_identity;

	if (!is_roce_with_qos(port) || !identity ||
	    identity->traffic_class.state == RNA_VALUE_UNREADABLE)
		return false;
	*ret = UINT64_MAX;
	(void)(rna_value_is_known(identity->traffic_class) && put(identity->traffic_class, ret));
	return true;
}

static const char *say_mask(uint64_t mask, struct rna_arena *arena)
{
	return say_priorities(mask, arena);
}

static const char *say_trust(uint64_t trust, struct rna_arena *arena)
{
	(void)arena;
	return rna_trust_name((enum rna_trust)trust);
}

static const char *say_class(uint64_t number, struct rna_arena *arena)
{
	if (number == UINT64_MAX)
		return "none";
	return rna_arena_printf(arena, "%ju", (uintmax_t)number);
}

/* What is compared, and how a value is written; say NULL: a table, whose content is not written. */
static const struct {
	const char *name;
	rna_rail_trait *get;
	const char *(*say)(uint64_t value, struct rna_arena *arena);
} traits[] = {
	{"PFC", pfc_of, say_mask},
	{"trust", trust_of, say_trust},
	{"DSCP table", dscp_table_of, NULL},
	{"ETS", ets_of, NULL},
	{"ECN notification", notification_of, say_mask},
	{"ECN reaction", ecn_reaction_of, say_mask},
	{"traffic class", traffic_class_of, say_class},
};

/*
 * The next interface of a port (a bond has several), as a subject of its own. False: no more.
 */
static bool next_interface(const struct rna_subject *port, size_t *from, struct rna_subject *ret)
{
	*ret = *port;
	ret->qos = rna_qos_next(rna_device_qos(port->device), port->port, from);
	return ret->qos;
}

/* Its name if it is one of several, else NULL. */
static const char *name_of_member(const struct rna_subject *interface)
{
	const struct rna_qos *qos = rna_device_qos(interface->device);
	size_t from = 0;

	if (!rna_qos_next(qos, interface->port, &from) ||
	    !rna_qos_next(qos, interface->port, &from))
		return NULL;
	return interface->qos->netdev;
}

/* Differences in words: from most rails, among the members of a bond, and from qos.expect. */
struct differences {
	struct rna_strbuf *text;
	struct rna_arena *arena;
	const char *of; /* heading to write in front of the next difference; NULL: none */
};

static void begin_difference(struct differences *out)
{
	rna_strbuf_puts(out->text, out->text->len > 0 ? "; " : "");
	if (out->of)
		rna_strbuf_printf(out->text, "%s: ", out->of);
	out->of = NULL;
}

static const char *say(size_t trait, uint64_t value, struct rna_arena *arena)
{
	const char *ret = traits[trait].say(value, arena);

	return ret ? ret : "?";
}

/* "PFC priority 4 (WHOM: priority 3)"; for a table only "different DSCP table". */
static void say_difference(size_t trait, uint64_t own, uint64_t other, const char *whom,
			   struct differences *out)
{
	begin_difference(out);
	if (traits[trait].say)
		rna_strbuf_printf(out->text, "%s %s (%s: %s)", traits[trait].name,
				  say(trait, own, out->arena), whom, say(trait, other, out->arena));
	else
		rna_strbuf_printf(out->text, "different %s", traits[trait].name);
}

static void compare_rails(const struct rna_rule_input *in, struct differences *out)
{
	out->of = "QoS differs from most ports of this adapter model";
	for (size_t i = 0; i < RNA_ARRAY_SIZE(traits); i++) {
		uint64_t own, usual;

		if (rna_rail_is_odd(in, traits[i].get, &usual) && traits[i].get(in->subject, &own))
			say_difference(i, own, usual, "others", out);
	}
}

/* A packet may use any member of a bond, so their QoS has to be the same. */
static void compare_members(const struct rna_subject *port, const struct rna_subject *member,
			    struct differences *out)
{
	const char *first_name = port->qos->netdev;

	out->of = rna_arena_printf(out->arena, "QoS of %s differs from %s in the same bond",
				   member->qos->netdev, first_name);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(traits); i++) {
		uint64_t own, first;

		if (traits[i].get(member, &own) && traits[i].get(port, &first) && own != first)
			say_difference(i, own, first, first_name, out);
	}
}

/* One finding for all differences: they usually have one cause, a script that did not run. */
static void check_qos_rails(const struct rna_rule_input *in, struct rna_finds *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct differences differences = {.text = &text, .arena = out->arena};
	const struct rna_subject *port = in->subject;
	struct rna_subject interface;
	size_t from = 0;

	compare_rails(in, &differences);
	while (next_interface(port, &from, &interface))
		if (interface.qos != port->qos && interface.qos->netdev && port->qos->netdev)
			compare_members(port, &interface, &differences);
	if (!rna_strbuf_ok(&text))
		out->failed = true;
	else if (text.len > 0)
		(void)rna_finds_add(out, "%s", text.data);
}

const struct rna_rule rna_rule_qos_rails = {
	RNA_RULE_ROW("qos-rails", PORT, WARNING, HOST, HOST, NOT_READY),
	.hold = "30s",
	.help = "The QoS configuration of an active RoCE port differs from most ports of "
		"the same adapter model, or between members of its bond: PFC, trust, DSCP "
		"table, ETS, ECN or traffic class.",
	.check = check_qos_rails,
	.remedy = "Configure all rails with the same script ({qos-tool}). {provider}Check that the "
		  "switch port matches.",
	.message_id = "c1a7f7bb24e04a0393ec4f0700b50195",
};

/* -- Differences from qos.expect --------------------------------------------------------------- */

static bool default_tos_of(const struct rna_subject *port, uint64_t *ret)
{
	return is_roce_with_qos(port) && put(port->qos->default_tos, ret);
}

static bool mtu_of(const struct rna_subject *port, uint64_t *ret)
{
	return is_roce_with_qos(port) && port->netdev && put(port->netdev->mtu, ret);
}

/* Both ends of congestion control; if only one is known, that one. */
static bool ecn_of(const struct rna_subject *port, uint64_t *ret)
{
	uint64_t notification, reaction;
	bool known = notification_of(port, &notification), too = ecn_reaction_of(port, &reaction);

	*ret = (known ? notification : UINT64_MAX) & (too ? reaction : UINT64_MAX);
	return known || too;
}

static const char *say_number(uint64_t number, struct rna_arena *arena)
{
	return rna_arena_printf(arena, "%ju", (uintmax_t)number);
}

static const struct {
	const char *name;
	rna_rail_trait *get; /* NULL: of a DSCP, by number */
	const char *(*say)(uint64_t value, struct rna_arena *arena);
	bool of_port; /* and not of each of its interfaces */
} plans[RNA_QOS_PLAN_COUNT] = {
	[RNA_QOS_PLAN_PFC] = {"PFC", pfc_of, say_mask},
	[RNA_QOS_PLAN_ECN] = {"ECN", ecn_of, say_mask},
	[RNA_QOS_PLAN_TRUST] = {"trust", trust_of, say_trust},
	[RNA_QOS_PLAN_DSCP] = {"priority", NULL, say_number},
	[RNA_QOS_PLAN_MTU] = {"MTU", mtu_of, say_number, true},
	[RNA_QOS_PLAN_TRAFFIC_CLASS] = {"traffic class", traffic_class_of, say_class, true},
	[RNA_QOS_PLAN_CM_TOS] = {"RDMA CM type of service", default_tos_of, say_number, true},
};

static bool is_planned_for(const struct rna_qos_expectation *plan, const struct rna_subject *port)
{
	return !plan->glob || fnmatch(plan->glob, port->device->device->name, 0) == 0;
}

static bool value_of(const struct rna_qos_expectation *plan, const struct rna_subject *port,
		     uint64_t *ret)
{
	int priority;

	if (plan->what != RNA_QOS_PLAN_DSCP)
		return plans[plan->what].get(port, ret);
	priority = is_roce_with_qos(port) ? rna_qos_priority_of(port->qos, plan->dscp) : -1;
	*ret = (uint64_t)priority;
	return priority >= 0;
}

/* Unreadable values make no finding. */
static void say_drift(const struct rna_qos_expectation *plan, const struct rna_subject *port,
		      struct differences *out)
{
	const char *own_text, *planned;
	uint64_t own;

	if (!is_planned_for(plan, port) || !value_of(plan, port, &own) || own == plan->value)
		return;
	own_text = plans[plan->what].say(own, out->arena);
	planned = plans[plan->what].say(plan->value, out->arena);
	begin_difference(out);
	if (plan->what == RNA_QOS_PLAN_DSCP)
		rna_strbuf_printf(out->text, "DSCP %u: ", plan->dscp);
	rna_strbuf_printf(out->text, "%s %s (expected: %s)", plans[plan->what].name,
			  own_text ? own_text : "?", planned ? planned : "?");
}

/* Entries for the port as a whole, or for each of its interfaces. */
static void say_drifts(char *const *entries, bool of_port, const struct rna_subject *port,
		       struct differences *out)
{
	for (char *const *entry = entries; entry && *entry; entry++) {
		struct rna_qos_expectation plan;

		if (rna_qos_expectation_parse(*entry, &plan) && plans[plan.what].of_port == of_port)
			say_drift(&plan, port, out);
	}
}

static void check_qos_drift(const struct rna_rule_input *in, struct rna_finds *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct differences drifts = {.text = &text, .arena = out->arena};
	char *const *entries = in->settings->qos_expect;
	struct rna_subject interface;
	size_t from = 0;

	say_drifts(entries, true, in->subject, &drifts);
	while (next_interface(in->subject, &from, &interface)) {
		drifts.of = name_of_member(&interface);
		say_drifts(entries, false, &interface, &drifts);
	}
	if (!rna_strbuf_ok(&text))
		out->failed = true;
	else if (text.len > 0)
		(void)rna_finds_add(out, "differs from qos.expect: %s", text.data);
}

const struct rna_rule rna_rule_qos_drift = {
	RNA_RULE_ROW("qos-drift", PORT, WARNING, HOST, HOST, NOT_READY),
	.hold = "30s",
	.help = "The QoS configuration of an active RoCE port, or of a member of its "
		"bond, differs from qos.expect.",
	.check = check_qos_drift,
	.remedy = "Run the script that configures the NICs of this fabric, and find out "
		  "what changed {netdev}: a reload of the driver, or a DCBX agent.",
	.message_id = "8442987bc0fc49ab877433bbd6f87996",
};

/* -- The class of RoCE packets ----------------------------------------------------------------- */

/* Does the traffic class map to a priority that is not lossless on this interface? */
static bool is_lossy(const struct rna_subject *interface, uint64_t traffic_class,
		     uint64_t *ret_lossless, int *ret_priority)
{
	if (!pfc_of(interface, ret_lossless) || *ret_lossless == 0)
		return false;
	*ret_priority = rna_qos_priority_of(interface->qos, (unsigned)traffic_class >> 2);
	return *ret_priority >= 0 && !(*ret_lossless >> *ret_priority & 1);
}

/* Of a bond, the finding names the first member that has the problem. */
static void check_qos_lossy_class(const struct rna_rule_input *in, struct rna_finds *out)
{
	uint64_t traffic_class, lossless;
	struct rna_subject interface;
	const char *name;
	size_t from = 0;
	int priority;

	if (!traffic_class_of(in->subject, &traffic_class) || traffic_class == UINT64_MAX)
		return;
	while (next_interface(in->subject, &from, &interface)) {
		if (!is_lossy(&interface, traffic_class, &lossless, &priority))
			continue;
		name = name_of_member(&interface);
		(void)rna_finds_add(
			out,
			"the driver assigns RoCE packets traffic class %ju: DSCP %u maps to "
			"priority %d, but PFC is on for %s%s%s",
			(uintmax_t)traffic_class, (unsigned)traffic_class >> 2, priority,
			say_priorities(lossless, out->arena), name ? ", on " : "",
			name ? name : "");
		return;
	}
}

const struct rna_rule rna_rule_qos_lossy_class = {
	RNA_RULE_ROW("qos-lossy-class", PORT, WARNING, HOST, HOST, NOT_READY),
	.hold = "30s",
	.help = "The driver assigns RoCE packets a traffic class that maps to a priority "
		"without PFC, although another priority has PFC.",
	.check = check_qos_lossy_class,
	.remedy = "Set the traffic class to 4 x DSCP, with a DSCP that maps to the "
		  "lossless priority (rdma_port_priority_dscp_info lists them), or map "
		  "its DSCP to that priority.",
	.message_id = "427ebf48165f4f299cbfea123693f1dd",
};

/* -- Discards of lossless priorities ----------------------------------------------------------- */

/* Text as for any counter; for a bond, also the counts of its members. */
static void check_qos_lossless_discards(const struct rna_rule_input *in, struct rna_finds *out)
{
	RNA_STRBUF struct rna_strbuf members = RNA_STRBUF_INIT;
	size_t before = out->count;
	const char *text = NULL;

	rna_check_threshold(in, out);
	if (out->count == before)
		return;
	rna_discards_write(&rna_rule_past_of(in, in->subject)->discards, in->subject, &members);
	if (!rna_strbuf_ok(&members))
		out->failed = true;
	else if (members.len > 0)
		text = rna_arena_printf(out->arena, "%s; %s", out->items[before].finding.text,
					members.data);
	if (text)
		out->items[before].finding.text = text;
}

const struct rna_rule rna_rule_qos_lossless_discards = {
	RNA_RULE_ROW("qos-lossless-discards", PORT, WARNING, ERRORS, HOST, LINK_DEGRADED),
	.help = "A RoCE port, or a member of its bond, drops frames of a priority that "
		"PFC should make lossless.",
	.check = check_qos_lossless_discards,
	.remedy = "{provider}Check that the switch port has PFC on for the same priority and "
		  "honours pause frames, that the receive buffer of {netdev} is large "
		  "enough for the length of the cable, and that no pause storm made the "
		  "device turn flow control off.",
	.message_id = "6d0c3f1be7a24c5f9a18d2b4470e9c36",
};

/* -- Lossless priorities ----------------------------------------------------------------------- */

/* Only ports of the same adapter model as like (NULL: all). */
static size_t count_without_pfc(const struct rna_rule_input *in, const struct rna_subject *like)
{
	size_t count = 0;
	uint64_t mask;

	RNA_EACH (port, in->ports->items, in->ports->count) {
		count += rna_rail_is_one(in, port) && pfc_of(port, &mask) && mask == 0 &&
			 (!like || rna_rail_is_same_model(port, like));
	}
	return count;
}

/* One finding per node: either may be intended. Storage and login NICs may differ. */
static void check_qos_pfc_priorities(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *several = NULL;
	size_t without, with_several = 0;
	uint64_t mask = 0, seen = 0;

	RNA_EACH (port, in->ports->items, in->ports->count) {
		if (!rna_rail_is_one(in, port) || !pfc_of(port, &mask) || mask == 0 ||
		    rna_priority_only(mask) >= 0)
			continue;
		with_several++;
		several = several ? several : port;
		seen = several == port ? mask : seen;
	}
	without = count_without_pfc(in, several);
	if (several)
		(void)rna_finds_add(out,
				    "%zu RoCE port%s several lossless priorities: %s/%u has %s%s",
				    with_several, with_several == 1 ? " has" : "s have",
				    several->device->device->name, several->port,
				    say_priorities(seen, out->arena),
				    without ? "; others have none" : "");
	else if (without)
		(void)rna_finds_add(out, "%zu RoCE port%s no lossless priority", without,
				    without == 1 ? " has" : "s have");
}

const struct rna_rule rna_rule_qos_pfc_priorities = {
	RNA_RULE_ROW("qos-pfc-priorities", NODE, INFO, HOST, HOST, NOT_READY),
	.hold = "30s",
	.help = "Active RoCE ports have PFC on for no priority, or for several. On nodes "
		"with GPUs only the ports that serve GPUs count.",
	.check = check_qos_pfc_priorities,
	.remedy = "No action required if the fabric was planned like this: without PFC it "
		  "relies on ECN alone, and each further lossless priority takes buffer "
		  "space from the others.",
	.message_id = "0968e0e879a54268ad05aa081edaba43",
};

/* -- VLANs ------------------------------------------------------------------------------------- */

/* RDMA CM uses the MTU of the VLAN; applications without RDMA CM use that of the port. */
static void check_qos_vlan_mtu(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	const struct rna_qos_vlan *small = NULL;
	uint64_t rdma_mtu = 0;

	if (!is_roce_with_qos(port) || !port->gids || !port->link ||
	    !rna_value_is_known(port->link->active_mtu))
		return;
	for (size_t i = 0; i < port->qos->vlan_count && !small; i++) {
		const struct rna_qos_vlan *vlan = &port->qos->vlans[i];

		if (!rna_value_is_known(vlan->mtu) ||
		    rna_port_gids_count_of(port->gids, vlan->netdev) == 0)
			continue;
		rdma_mtu = rna_qos_rdma_mtu(port->device->device->driver, vlan->mtu.number);
		if (rdma_mtu < port->link->active_mtu.number)
			small = vlan;
	}
	if (small)
		(void)rna_finds_add(
			out,
			"VLAN %s has MTU %ju, which allows an RDMA MTU of %ju; the port uses "
			"%ju",
			small->netdev, (uintmax_t)small->mtu.number, (uintmax_t)rdma_mtu,
			(uintmax_t)port->link->active_mtu.number);
}

const struct rna_rule rna_rule_qos_vlan_mtu = {
	RNA_RULE_ROW("qos-vlan-mtu", PORT, INFO, HOST, HOST, NOT_READY),
	.hold = "30s",
	.help = "The MTU of a VLAN interface limits its RDMA MTU to less than that of the "
		"port.",
	.check = check_qos_vlan_mtu,
	.remedy = "No action required if this is intended. Otherwise set the MTU of the "
		  "VLAN interface to that of {interface}.",
	.message_id = "3b6b00af1e514331a8324de88de49aa9",
};
