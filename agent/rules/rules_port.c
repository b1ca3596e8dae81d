// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about ports that are not up, and devices that are absent or not what they were. A port that
 * is down has one finding: port-disabled if it was disabled and is not expected to be up, else
 * port-down, which names the reason.
 */
#include <string.h>

#include "rna/model/card.h"

#include "absence.h"
#include "rails.h"
#include "remedy.h"
#include "rules.h"

static bool is_infiniband(const struct rna_subject *port)
{
	return port->link_layer == RNA_LINK_LAYER_INFINIBAND;
}

static bool is_physically(const struct rna_subject *port, enum rna_physical_state state)
{
	return port->state && rna_value_is_known(port->state->physical_state) &&
	       port->state->physical_state.number == state;
}

/* On Ethernet drivers report Disabled for every port without link (rdma.md, mlx5 query_port). */
static bool is_disabled(const struct rna_subject *port)
{
	return is_infiniband(port) && is_physically(port, RNA_PHYSICAL_DISABLED);
}

/* There is a peer, but no link. */
static bool is_training(const struct rna_subject *port)
{
	return is_physically(port, RNA_PHYSICAL_TRAINING) ||
	       is_physically(port, RNA_PHYSICAL_RECOVERY);
}

/* Of a port whose physical link is up. */
static const char logical_remedy[] = "{guids}";

/* The reason as far as this end knows it, and a remedy (NULL: that of the rule). */
static const char *why_down(const struct rna_subject *port, struct rna_arena *arena,
			    const char **ret_remedy)
{
	const struct rna_netdev *netdev = port->netdev;
	const char *trouble = rna_subject_link_trouble(port, arena);

	*ret_remedy = NULL;
	if (is_disabled(port)) {
		*ret_remedy = "{provider}Enable {object} with ibportstate or in the subnet "
			      "manager, whichever disabled it.";
		return "the port is disabled";
	}
	if (!is_infiniband(port) && netdev && !netdev->admin_up) {
		*ret_remedy = "Run: ip link set dev {netdev} up.";
		return "its network interface is administratively down";
	}
	if (is_infiniband(port) && is_physically(port, RNA_PHYSICAL_LINK_UP)) {
		*ret_remedy = logical_remedy;
		return "its physical link is up, and its logical link is not: the function has no "
		       "GUID, its link state is Down, or the subnet manager does not serve it";
	}
	if (trouble)
		return trouble;
	if (is_physically(port, RNA_PHYSICAL_POLLING))
		return "physical state Polling: no signal (no cable, or the peer port is disabled "
		       "or powered off)";
	if (is_training(port))
		return "both ends detect each other but cannot establish a link";
	if (is_physically(port, RNA_PHYSICAL_SLEEP))
		return "physical state Sleep";
	if (netdev && rna_netdev_has_no_link(netdev))
		return "its network interface has no link";
	return NULL;
}

static const char *why_expected(const struct rna_subject *port)
{
	switch (port->account->expectation.reason) {
	case RNA_EXPECTATION_CONFIGURED:
		return "expect.up lists it";
	case RNA_EXPECTATION_ACCEPTED:
		return "it was up when the baseline was accepted";
	case RNA_EXPECTATION_REMEMBERED:
		return "it was up before";
	case RNA_EXPECTATION_SIBLINGS:
		return "its siblings are up";
	default:
		return "it is expected to be up";
	}
}

/* The last known peer, so that the cable can be found. "" if it is not known. */
static const char *where_connected(const struct rna_subject *port, struct rna_arena *arena)
{
	const char *text = NULL;

	if (port->peer)
		text = rna_arena_printf(arena, "; last connected to %s",
					rna_rule_say_peer(port->peer, arena));
	return text ? text : "";
}

/* Ports of a card that are judged, without those that are expected to be down. */
struct together {
	size_t count;
	size_t down;
};

static struct together count_down(const struct rna_rule_input *in, const struct rna_card *card)
{
	struct together ret = {0};

	for (size_t i = 0; i < card->device_count; i++) {
		const struct rna_subject *device = &in->devices->items[card->devices[i]];

		RNA_EACH (port, device->ports, device->rdma_device->port_count) {
			if (!port->judged || rna_subject_expected(port) == RNA_EXPECTED_DOWN)
				continue;
			ret.count++;
			ret.down += rna_subject_in_state(port, RNA_PORT_DOWN);
		}
	}
	return ret;
}

/* What is down together: a card, rather than a cable. "" if it has other ports, or a single one. */
static const char *what_else(const struct rna_rule_input *in, struct rna_arena *arena)
{
	const struct rna_card *card = in->subject->card;
	struct together ports = {0};
	const char *text = NULL;

	if (card)
		ports = count_down(in, card);
	if (ports.down > 1 && ports.down == ports.count)
		text = rna_arena_printf(arena, "; %s ports of the card %s are down",
					ports.count == 2 ? "both" : "all", card->address);
	return text ? text : "";
}

/* The time of the transition, if the agent saw it: earlier than the first check that found it. */
static void set_since(struct rna_finding *finding, const struct rna_subject *port)
{
	if (port->account && port->account->history.downs > 0)
		finding->since = port->account->history.last;
}

/* It has no cable that could be meant to be out, so this needs no expectation. */
static void report_mute(const struct rna_subject *port, struct rna_finds *out)
{
	struct rna_finding *found = rna_finds_add(
		out, "out of order: its driver always reports ACTIVE, but the device answers no "
		     "query for its counters");

	set_since(found, port);
	found->remedy = "Search the kernel log for errors of {device} ({pci}). {recover} If that "
			"does not help, {cycle}.";
}

/* 1: up, 0: down. A port that is meant to be down does not count. */
static bool is_up_trait(const struct rna_subject *port, uint64_t *ret)
{
	*ret = rna_subject_is_active(port);
	return rna_subject_expected(port) != RNA_EXPECTED_DOWN &&
	       (*ret || rna_subject_in_state(port, RNA_PORT_DOWN));
}

/*
 * Are most ports that are used alike up? No memory is needed for that: a node that is looked at for
 * the first time has the finding. A port of another link layer than these has no link for that
 * reason, which rails-link-layer reports.
 */
static bool is_down_alone(const struct rna_rule_input *in, struct rna_rail_usual *ret)
{
	enum { LEAST = 4 }; /* of three, the expectation by siblings decides (memory/expect.c) */
	struct rna_rail_usual layer;

	return rna_subject_expected(in->subject) == RNA_EXPECTED_UNKNOWN &&
	       !rna_rail_has_odd_layer(in, &layer) && rna_rail_is_odd_alike(in, is_up_trait, ret) &&
	       ret->value && ret->known >= LEAST;
}

/*
 * "its link layer is InfiniBand, and 7 of 8 ports that serve GPUs are Ethernet"; NULL: not odd, or
 * it was up so.
 */
static const char *why_other_layer(const struct rna_rule_input *in, struct rna_arena *arena)
{
	struct rna_rail_usual usual;

	if (!rna_rail_is_expected_by_siblings(in->subject) || !rna_rail_has_odd_layer(in, &usual))
		return NULL;
	return rna_arena_printf(arena, "its link layer is %s, and %s are %s",
				rna_link_layer_name(in->subject->link_layer),
				rna_rail_say_alike(in, &usual, arena),
				rna_link_layer_name((enum rna_link_layer)usual.value));
}

static void check_port_down(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	enum rna_expected expected = rna_subject_expected(port);
	const char *why, *layer, *remedy;
	struct rna_rail_usual usual;
	struct rna_finding *found;
	bool alone;

	if (expected == RNA_EXPECTED_DOWN)
		return;
	if (rna_port_is_mute(port->device, port->port)) {
		report_mute(port, out);
		return;
	}
	if (!rna_subject_in_state(port, RNA_PORT_DOWN))
		return;
	alone = is_down_alone(in, &usual);
	if (expected == RNA_EXPECTED_UNKNOWN && is_disabled(port) && !alone)
		return; /* port-disabled reports it */
	why = why_down(port, out->arena, &remedy);
	layer = why_other_layer(in, out->arena);
	if (layer) {
		why = layer;
		remedy = "To make {device} a rail like the others, {link-type}.";
	}
	found = rna_finds_add(out, "%s%s%s%s%s",
			      expected == RNA_EXPECTED_UP ? "down although "
							  : "down, and never seen up",
			      expected == RNA_EXPECTED_UP ? why_expected(port)
			      : alone ? rna_arena_printf(out->arena, ", although %s are up",
							 rna_rail_say_alike(in, &usual, out->arena))
				      : "",
			      why ? rna_arena_printf(out->arena, "; %s", why) : "",
			      where_connected(port, out->arena), what_else(in, out->arena));
	set_since(found, port);
	if (remedy)
		found->remedy = remedy;
	if (expected == RNA_EXPECTED_UP)
		return;
	found->severity = RNA_SEVERITY_INFO;
	/* A cable that was plugged in shows that the port is meant to be used. */
	if (alone || is_training(port) || remedy == logical_remedy) {
		found->severity = RNA_SEVERITY_WARNING;
		return;
	}
	found->remedy = "{unused} After {object} has been up once, the agent expects it to "
			"stay up.";
}

const struct rna_rule rna_rule_port_down = {
	RNA_RULE_ROW("port-down", PORT, CRITICAL, RAIL_LOST, CABLE, PORT_DOWN),
	.settles = true,
	.help = "The port is down although the agent expects it to be up. Without an "
		"expectation the severity is info, or warning while the link is training "
		"or physically up, or if most ports that are used like it are up. A port of EFA, "
		"whose driver always reports ACTIVE, counts as down if none of its counters can be "
		"read.",
	.check = check_port_down,
	.remedy = "{link} If the port is meant to be down, add {object} to expect.down.",
	.message_id = "5da5d81fe037426182921d5601598cf5",
};

/* The ports that serve GPUs, and of them the first. */
struct rails {
	size_t count;
	bool several_cards;
	const struct rna_subject *first;
};

/* False: not all of them are down, or memory or settings know more of one than a first look. */
static bool all_rails_are_down(const struct rna_rule_input *in, struct rails *ret)
{
	RNA_EACH (port, in->ports->items, in->ports->count) {
		if (!port->judged || !rna_rail_is_one(in, port) ||
		    rna_subject_expected(port) == RNA_EXPECTED_DOWN)
			continue;
		if (!rna_subject_in_state(port, RNA_PORT_DOWN) ||
		    rna_subject_expected(port) == RNA_EXPECTED_UP)
			return false;
		if (!ret->first)
			ret->first = port;
		ret->several_cards |= port->card != ret->first->card;
		ret->count++;
	}
	return ret->count > 0;
}

/*
 * A node that was never seen up: each of its ports alone may be meant to be down, but a
 * machine with GPUs and NICs beside them does not have them all for nothing. A single card may be
 * what a workstation came with.
 */
static void check_rails_down(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_topology *topology = rna_snapshot_topology(in->view->snapshot);
	struct rails rails = {0};
	struct rna_finding *found;
	const char *why, *remedy;
	struct rna_remedy_place place;

	if (!topology || topology->gpu_count < 2 || !all_rails_are_down(in, &rails) ||
	    !rails.several_cards)
		return;
	why = why_down(rails.first, out->arena, &remedy);
	found = rna_finds_add(
		out, "none of the %zu ports that serve GPUs is up, and none was ever seen up%s",
		rails.count,
		why ? rna_arena_printf(out->arena, "; of %s/%u: %s", rails.first->rdma_device->name,
				       rails.first->port, why)
		    : "");
	place = rna_rule_place_of(in, rails.first);
	found->remedy = rna_rule_fill_remedy(remedy ? remedy : found->remedy, &place, out->arena);
}

const struct rna_rule rna_rule_rails_down = {
	RNA_RULE_ROW("rails-down", NODE, WARNING, NODE_LOST, CABLE, PORT_DOWN),
	.settles = true,
	.hold = "1m",
	.help = "All ports that serve the GPUs of a node, on several cards, are down, and none of "
		"them was ever seen up. Once one has been up, port-down takes over.",
	.check = check_rails_down,
	.remedy = "{provider}Check that the cables are in and that the switch ports are enabled. "
		  "Add ports that are meant to be down to expect.down.",
	.message_id = "925dc66c18c38ee2b0edf5ee0871d69b",
};

static void check_port_disabled(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;

	struct rna_rail_usual usual;

	if (rna_subject_in_state(port, RNA_PORT_DOWN) && is_disabled(port) &&
	    rna_subject_expected(port) == RNA_EXPECTED_UNKNOWN && !is_down_alone(in, &usual))
		set_since(rna_finds_add(out, "disabled, and not expected to be up"), port);
}

const struct rna_rule rna_rule_port_disabled = {
	RNA_RULE_ROW("port-disabled", PORT, INFO, RAIL_LOST, HOST, PORT_DOWN),
	.settles = true,
	.help = "An InfiniBand port is disabled, and the agent does not expect it to be "
		"up.",
	.check = check_port_disabled,
	.link_layer = RNA_LINK_LAYER_INFINIBAND,
	.remedy = "No action required if it is not used. To use it: {provider}enable {object} "
		  "with ibportstate or in the subnet manager, whichever disabled it.",
	.message_id = "05b18bd7d98945d4ac708d2cf8ba018b",
};

/* Without an expectation it is a warning: the cable shows that the port is meant to be used. */
static void check_port_init(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	enum rna_expected expected = rna_subject_expected(port);
	struct rna_finding *found;

	if (!rna_subject_in_state(port, RNA_PORT_INIT) || expected == RNA_EXPECTED_DOWN)
		return;
	found = rna_finds_add(out, "the link is up, but no subnet manager has configured the port");
	if (expected == RNA_EXPECTED_UNKNOWN)
		found->severity = RNA_SEVERITY_WARNING;
	if (port->rdma_device->port_count == 1) /* the others are named by their devices */
		rna_finds_share_cause(out, "no subnet manager");
}

const struct rna_rule rna_rule_port_init = {
	RNA_RULE_ROW("port-init", PORT, CRITICAL, RAIL_LOST, FABRIC, FABRIC_UNHEALTHY),
	.settles = true,
	.hold = "30s",
	.help = "The link of an InfiniBand port is up, but no subnet manager has "
		"configured the port (state INIT). Severity warning if the agent does not "
		"expect the port to be up.",
	.check = check_port_init,
	.link_layer = RNA_LINK_LAYER_INFINIBAND,
	.remedy = "{provider}Check that a subnet manager runs in this fabric and admits {object}: "
		  "see sminfo and the log of opensm or UFM.",
	.message_id = "4e275faaf60345ad94dbd2956e5991ff",
};

static void check_port_armed(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;

	if (!rna_subject_in_state(port, RNA_PORT_ARMED) ||
	    rna_subject_expected(port) == RNA_EXPECTED_DOWN)
		return;
	(void)rna_finds_add(out, "stays in state ARMED: the subnet manager does not activate it");
	if (port->rdma_device->port_count == 1)
		rna_finds_share_cause(out, "not activated");
}

const struct rna_rule rna_rule_port_armed = {
	RNA_RULE_ROW("port-armed", PORT, WARNING, RAIL_LOST, FABRIC, FABRIC_UNHEALTHY),
	.settles = true,
	.hold = "30s",
	.help = "The port stays in state ARMED: the subnet manager started to activate it "
		"and did not finish.",
	.check = check_port_armed,
	.link_layer = RNA_LINK_LAYER_INFINIBAND,
	.remedy = "{provider}Read the log of the subnet manager; a sweep that fails midway leaves "
		  "ports in this state.",
	.message_id = "69864336afab477ca32eed7c5f368ddb",
};

/* -- Devices that are absent ------------------------------------------------------------------- */

static const char *const fates[] = {
	[RNA_WHEREABOUTS_LOST] = "absent, and so is its PCI function",
	[RNA_WHEREABOUTS_UNBOUND] = "absent: its PCI function has no RDMA driver",
	[RNA_WHEREABOUTS_MOVED] = "moved to another network namespace",
	[RNA_WHEREABOUTS_UNKNOWN] = "absent",
};

enum { COMPARED_MAX = 64 }; /* missing devices; of more it is a driver that is gone, not a card */

/* Missing devices of the PCI device; 0: there are too many to be compared with each other. */
static size_t count_missing_at(const struct rna_view *view, const char *address)
{
	size_t count = 0;

	for (size_t i = 0; view->missing_count <= COMPARED_MAX && i < view->missing_count; i++)
		count += view->missing[i].whereabouts != RNA_WHEREABOUTS_RELOCATED &&
			 view->missing[i].pci_address &&
			 rna_pci_is_one_device(view->missing[i].pci_address, address);
	return count;
}

/* A device of a physical function; if there is none, any. */
static const char *name_of_first(const struct rna_view *view, const struct rna_card *card)
{
	size_t device = card->devices[0];

	for (size_t i = card->function_count; i-- > 0;)
		if (card->functions[i].device != RNA_NO_DEVICE)
			device = (size_t)card->functions[i].device;
	return view->snapshot->devices[device].device->name;
}

/* Is it the whole card that is missing, or one of its functions? "": not known. */
static const char *say_card(const struct rna_view *view, const struct rna_missing_device *missing,
			    struct rna_arena *arena)
{
	const struct rna_card *card = rna_card_at(view->cards, missing->pci_address);
	const char *text = NULL;
	size_t count = 0;

	if (card)
		text = rna_arena_printf(arena, "; the card %s still has %s", card->address,
					name_of_first(view, card));
	else if (missing->pci_address && view->cards)
		count = count_missing_at(view, missing->pci_address);
	if (count > 1)
		text = rna_arena_printf(arena, "; all %zu devices of the card %.*s are missing",
					count, (int)strcspn(missing->pci_address, "."),
					missing->pci_address);
	return text ? text : "";
}

/* "" and NULL: it is not for want of a module, as far as it is known. */
static const char *say_module(const struct rna_rule_input *in,
			      const struct rna_missing_device *missing, struct rna_arena *arena,
			      const char **ret_remedy)
{
	const char *module = NULL, *text = NULL;

	*ret_remedy = NULL;
	if (in->view->missing_count <= COMPARED_MAX)
		module = rna_absence_module(in, missing->pci_address);
	if (!module)
		return "";
	*ret_remedy = rna_arena_printf(arena,
				       "%sIf {device} was removed on purpose, run: rdma-node-agent "
				       "expect accept {device}.",
				       rna_absence_remedy(in, module, arena));
	text = rna_arena_printf(arena, "; %s", rna_absence_text(in, module, arena));
	return text ? text : "";
}

static const char *remedy_of(const struct rna_missing_device *missing, const char *of_module,
			     const struct rna_rule *rule)
{
	if (missing->whereabouts == RNA_WHEREABOUTS_RELOCATED)
		return "No action required if the card is in another slot, or the firmware "
		       "numbered the buses differently. To forget the old address, run: "
		       "rdma-node-agent expect accept {pci}.";
	return of_module ? of_module : rule->remedy;
}

static void add_missing(const struct rna_rule_input *in, const struct rna_missing_device *missing,
			struct rna_finds *out)
{
	const char *of_module, *module = say_module(in, missing, out->arena, &of_module);
	struct rna_remedy_place place = rna_rule_place_at(in, missing->pci_address);
	bool relocated = missing->whereabouts == RNA_WHEREABOUTS_RELOCATED;
	struct rna_finding *found;

	if (relocated)
		found = rna_finds_add(out,
				      "%s: its card was moved from PCI %s to %s, where it is %s",
				      missing->name, missing->pci_address, missing->new_address,
				      missing->new_name);
	else
		found = rna_finds_add(out, "%s: %s%s%s%s%s", missing->name,
				      fates[missing->whereabouts],
				      missing->pci_address ? ", PCI " : "",
				      missing->pci_address ? missing->pci_address : "",
				      say_card(in->view, missing, out->arena), module);
	found->device = place.device = missing->name;
	found->remedy =
		rna_rule_fill_remedy(remedy_of(missing, of_module, out->rule), &place, out->arena);
	found->since = missing->since;
}

static void check_missing(const struct rna_rule_input *in, bool moved, struct rna_finds *out)
{
	for (size_t i = 0; i < in->view->missing_count; i++) {
		enum rna_whereabouts whereabouts = in->view->missing[i].whereabouts;
		bool found = whereabouts == RNA_WHEREABOUTS_MOVED ||
			     whereabouts == RNA_WHEREABOUTS_RELOCATED;

		if (found == moved)
			add_missing(in, &in->view->missing[i], out);
	}
}

static void check_device_missing(const struct rna_rule_input *in, struct rna_finds *out)
{
	check_missing(in, false, out);
}

const struct rna_rule rna_rule_device_missing = {
	RNA_RULE_ROW("device-missing", NODE, CRITICAL, RAIL_LOST, CARD, DEVICE_MISSING),
	.settles = true,
	.hold = "1m",
	.help = "A device with a PCI function was present earlier and is now absent, or "
		"its driver is.",
	.check = check_device_missing,
	.remedy = "Look for the PCI function with lspci -s {pci} and for the reason in "
		  "the kernel log.{absent} If {device} was removed on purpose, run: "
		  "rdma-node-agent expect accept {device}.",
	.message_id = "490558271c264c56954eae201980b496",
};

static void check_device_moved(const struct rna_rule_input *in, struct rna_finds *out)
{
	check_missing(in, true, out);
}

const struct rna_rule rna_rule_device_moved = {
	RNA_RULE_ROW("device-moved", NODE, INFO, HOST, JOB, CHANGED),
	.settles = true,
	.help = "A device has moved to another network namespace, usually into a "
		"container, or its card to another PCI address.",
	.check = check_device_moved,
	.remedy = "No action required if a container uses {device}; rdma system and rdma "
		  "dev show the namespace mode and the devices that remain. With "
		  "follow.enabled the agent goes on reading {device} there.",
	.message_id = "3701623d8c1841798112077419adea93",
};

/* -- Names and cards that changed -------------------------------------------------------------- */

/* The time on both clocks. The agent may have noticed the change before the machine started. */
static struct rna_time time_of(rna_usec realtime, struct rna_time now)
{
	rna_usec age = rna_usec_since(realtime, now.realtime);

	return (struct rna_time){age < now.monotonic ? now.monotonic - age : 1, realtime};
}

static struct rna_finding *report_name(const struct rna_former *former, const char *what,
				       const char *other, const char *present,
				       struct rna_finds *out)
{
	if (former->owner)
		return rna_finds_add(out, "%swas %s before, and %s%s was %s", what, former->text,
				     other, former->owner, present);
	if (former->holder)
		return rna_finds_add(out, "%swas %s before, and %s%s is %s now", what, former->text,
				     other, former->holder, former->text);
	return rna_finds_add(out, "%swas %s before", what, former->text);
}

static void check_name(const struct rna_rule_input *in, const struct rna_former *former,
		       const char *present, struct rna_finds *out)
{
	bool of_device = in->subject->port == 0;
	const char *what =
		of_device ? "" : rna_arena_printf(out->arena, "network interface %s ", present);
	struct rna_finding *found;

	if (!former->text)
		return;
	found = report_name(former, what ? what : "", of_device ? "PCI " : "that of ", present,
			    out);
	found->since = time_of(former->changed, in->view->snapshot->time);
	if (former->owner || former->holder)
		return;
	found->severity = RNA_SEVERITY_INFO;
	found->remedy = "Correct what selects {object} by its former name, such as NCCL_IB_HCA or "
			"NCCL_SOCKET_IFNAME. To end the finding, run: rdma-node-agent expect "
			"accept {device}. It resolves after 24 hours.";
}

static void check_device_renamed(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *subject = in->subject;

	if (subject->port == 0 && subject->changes)
		check_name(in, &subject->changes->name, subject->device->device->name, out);
	else if (subject->port > 0 && subject->account && subject->netdev)
		check_name(in, &subject->account->netdev, subject->netdev->name, out);
}

const struct rna_rule rna_rule_device_renamed = {
	RNA_RULE_ROW("device-renamed", PORT, WARNING, HOST, HOST, CHANGED),
	.settles = true,
	.hold = "30s",
	.help = "Within the last 24 hours, the device or the network interface of a port "
		"took the name that another one of this node had, or lost its name to "
		"another one: what selects it by name now gets another card. Severity "
		"info if it has a new name and the old one is not in use.",
	.devices_too = true,
	.check = check_device_renamed,
	.remedy = "Compare what selects devices by name: NCCL_IB_HCA, UCX_NET_DEVICES, "
		  "NCCL_SOCKET_IFNAME, resource names of device plugins, network "
		  "configuration. Persistent names (rdma_rename of rdma-core, systemd.link) "
		  "prevent this. If the new names are right, run: rdma-node-agent expect "
		  "accept. The finding resolves after 24 hours.",
	.message_id = "34bc81f6c9364837b9d41cafab25fefc",
};

static void check_device_replaced(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_view_device *changes = in->subject ? in->subject->changes : NULL;
	const struct rna_former *former = changes ? &changes->guid : NULL;
	const struct rna_device *device;
	struct rna_finding *found;

	if (!former || !former->text)
		return;
	device = in->subject->device->device;
	found = rna_finds_add(out,
			      "PCI %s has another card than before, whose node GUID was %s%s%s",
			      device->pci_address ? device->pci_address : device->key, former->text,
			      former->owner ? "; the present one was at PCI " : "",
			      former->owner ? former->owner : "");
	found->since = time_of(former->changed, in->view->snapshot->time);
}

const struct rna_rule rna_rule_device_replaced = {
	RNA_RULE_ROW("device-replaced", DEVICE, INFO, HOST, CARD, CHANGED),
	.settles = true,
	.hold = "30s",
	.help = "The node GUID at a PCI address changed within the last 24 hours: the "
		"address belongs to another card.",
	.check = check_device_replaced,
	.remedy = "No action required if cards were replaced or swapped, or bus numbers "
		  "changed; partitions and inventories that list GUIDs need the new one. "
		  "To end the finding, run: rdma-node-agent expect accept {device}. It "
		  "resolves after 24 hours.",
	.message_id = "ac08723d7d7344158c3705fa87d9496a",
};
