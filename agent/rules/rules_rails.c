// SPDX-License-Identifier: Apache-2.0
/*
 * Comparing the ports of one model, and the rules about rails that differ: what administrators
 * verify by hand before the first job.
 */
#include "rna/base/hash.h"
#include "rna/base/parse.h"
#include "rna/model/card.h"
#include "rna/model/topology.h"

#include "rails.h"

bool rna_rail_is_same_model(const struct rna_subject *a, const struct rna_subject *b)
{
	return a->identity && b->identity && rna_card_is_same_model(a->device, b->device);
}

/* place: 0 for all of the model, RNA_RAIL_ANY for all that serve GPUs */
static bool is_compared(const struct rna_rule_input *in, const struct rna_subject *port,
			unsigned place)
{
	if (place == RNA_RAIL_ANY)
		return port->rail && port->judged;
	if (place > 0)
		return port->place == place;
	return rna_device_is_nic(port->device->device) && rna_rail_is_same_model(port, in->subject);
}

static bool has_rails(const struct rna_topology *topology)
{
	return RNA_ANY(i, topology ? topology->nic_count : 0, topology->nics[i].rail >= 0);
}

bool rna_rail_is_one(const struct rna_rule_input *in, const struct rna_subject *port)
{
	const struct rna_topology *topology = rna_snapshot_topology(in->view->snapshot);
	const struct rna_nic *nic;

	if (!rna_device_is_nic(port->device->device))
		return false;
	if (!has_rails(topology))
		return true;
	nic = rna_topology_find_nic(topology, port->device->device);
	return nic && nic->rail >= 0;
}

static void count_value(const struct rna_rule_input *in, struct rna_rail_usual *usual)
{
	RNA_EACH (port, in->ports->items, in->ports->count) {
		uint64_t value;

		if (!is_compared(in, port, usual->place) || !usual->get(port, &value))
			continue;
		usual->known++;
		usual->count += value == usual->value;
	}
}

/* What more than half have, if there is such a value (Boyer and Moore 1981). */
static uint64_t likely_majority(const struct rna_rule_input *in, rna_rail_trait *get,
				unsigned place)
{
	uint64_t ret = 0, value;
	size_t lead = 0;

	RNA_EACH (port, in->ports->items, in->ports->count) {
		if (!is_compared(in, port, place) || !get(port, &value))
			continue;
		if (lead == 0)
			ret = value;
		if (ret == value)
			lead++;
		else
			lead--;
	}
	return ret;
}

static struct rna_rail_usual find_usual(const struct rna_rule_input *in, rna_rail_trait *get,
					unsigned place)
{
	struct rna_rail_usual ret = {.get = get, .like = in->subject, .place = place};

	ret.value = likely_majority(in, get, place);
	count_value(in, &ret);
	ret.is_majority = ret.count * 2 > ret.known;
	return ret;
}

/* Ports whose models are written alike are compared with the same ports. */
static bool is_written_alike(const struct rna_subject *a, const struct rna_subject *b)
{
	return a->device->device->vendor_id == b->device->device->vendor_id &&
	       a->device->device->device_id == b->device->device->device_id && a->identity &&
	       b->identity && rna_same_text(a->identity->board_id, b->identity->board_id);
}

/* 4,096 devices of one model would otherwise be compared in pairs, for each trait. */
static struct rna_rail_usual usual_of(const struct rna_rule_input *in, rna_rail_trait *get,
				      unsigned place)
{
	struct rna_rail_memo *memo = in->rails;
	struct rna_rail_usual *item;

	if (!memo)
		return find_usual(in, get, place);
	for (size_t i = 0; i < RNA_RAIL_MEMO_MAX && memo->items[i].like; i++)
		if (memo->items[i].get == get && memo->items[i].place == place &&
		    (place > 0 || is_written_alike(memo->items[i].like, in->subject)))
			return memo->items[i];
	item = &memo->items[memo->next++ % RNA_RAIL_MEMO_MAX];
	*item = find_usual(in, get, place);
	return *item;
}

/* What more than half have makes all other ports a minority. *ret is what these have. */
static bool stands_alone(const struct rna_rule_input *in, rna_rail_trait *get, unsigned place,
			 struct rna_rail_usual *ret)
{
	uint64_t own;

	*ret = (struct rna_rail_usual){0};
	if (!get(in->subject, &own))
		return false;
	*ret = usual_of(in, get, place);
	return ret->known >= 3 && ret->is_majority && own != ret->value;
}

bool rna_rail_is_odd(const struct rna_rule_input *in, rna_rail_trait *get, uint64_t *ret)
{
	struct rna_rail_usual usual;

	if (in->subject->port == 0 || !rna_device_is_nic(in->subject->device->device) ||
	    !stands_alone(in, get, 0, &usual))
		return false;
	*ret = usual.value;
	return true;
}

bool rna_rail_is_odd_in_place(const struct rna_rule_input *in, rna_rail_trait *get,
			      struct rna_rail_usual *ret)
{
	return in->subject->place > 0 && stands_alone(in, get, in->subject->place, ret);
}

static bool has_gpus(const struct rna_rule_input *in)
{
	const struct rna_topology *topology = rna_snapshot_topology(in->view->snapshot);

	return topology && topology->gpu_count > 0;
}

bool rna_rail_is_odd_alike(const struct rna_rule_input *in, rna_rail_trait *get,
			   struct rna_rail_usual *ret)
{
	enum { LEAST = 4 }; /* of several models, three ports are no rule */

	*ret = (struct rna_rail_usual){0};
	if (rna_rail_is_odd_in_place(in, get, ret))
		return true;
	return ret->known < 3 && in->subject->rail && has_gpus(in) &&
	       stands_alone(in, get, RNA_RAIL_ANY, ret) && ret->known >= LEAST;
}

const char *rna_rail_say_alike(const struct rna_rule_input *in, const struct rna_rail_usual *usual,
			       struct rna_arena *arena)
{
	const struct rna_identity *identity = in->subject->identity;
	const char *text;

	if (usual->place == RNA_RAIL_ANY)
		text = rna_arena_printf(arena, "%zu of %zu ports that serve GPUs", usual->count,
					usual->known);
	else
		text = rna_arena_printf(arena, "%zu of %zu such ports on cards of its model%s%s%s",
					usual->count, usual->known,
					identity && identity->hca_type ? " (" : "",
					identity && identity->hca_type ? identity->hca_type : "",
					identity && identity->hca_type ? ")" : "");
	return text ? text : "most such ports";
}

/* -- Rules ------------------------------------------------------------------------------------- */

/* An RDMA MTU of 4096 and its headers, see rules_link.c. */
enum { MTU_ENOUGH_FOR_RDMA = 4192 };

static bool link_layer_of(const struct rna_subject *port, uint64_t *ret)
{
	*ret = port->link_layer;
	return port->link_layer != RNA_LINK_LAYER_UNKNOWN && rna_subject_is_active(port);
}

/* The link layer is configured, so the state does not matter. */
static bool configured_layer_of(const struct rna_subject *port, uint64_t *ret)
{
	*ret = port->link_layer;
	return port->link_layer != RNA_LINK_LAYER_UNKNOWN;
}

bool rna_rail_is_expected_by_siblings(const struct rna_subject *port)
{
	return port->account && port->account->expectation.reason == RNA_EXPECTATION_SIBLINGS;
}

bool rna_rail_has_odd_layer(const struct rna_rule_input *in, struct rna_rail_usual *ret)
{
	if (rna_rail_is_odd_alike(in, configured_layer_of, ret))
		return true;
	/* Siblings are of one model and in one place, whatever they serve. */
	return rna_rail_is_expected_by_siblings(in->subject) &&
	       stands_alone(in, configured_layer_of, 0, ret);
}

/* A NIC that serves GPUs belongs to their fabric; one that does not may be for storage. */
static void check_rails_link_layer(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct rna_finding *found;
	struct rna_rail_usual alike;
	uint64_t usual;

	if (in->subject->rail && has_gpus(in) && rna_rail_has_odd_layer(in, &alike)) {
		if (rna_subject_in_state(in->subject, RNA_PORT_DOWN) &&
		    rna_rail_is_expected_by_siblings(in->subject))
			return; /* port-down names it as the reason */
		found = rna_finds_add(out, "link layer %s; %s are %s",
				      rna_link_layer_name(in->subject->link_layer),
				      rna_rail_say_alike(in, &alike, out->arena),
				      rna_link_layer_name((enum rna_link_layer)alike.value));
		found->severity = RNA_SEVERITY_WARNING;
		found->remedy = "To make {device} a rail like the others, {link-type}. If it is "
				"intended, add rails-link-layer to health.disable.";
	} else if (rna_rail_is_odd(in, link_layer_of, &usual)) {
		(void)rna_finds_add(out, "link layer %s; most ports of this adapter model are %s",
				    rna_link_layer_name(in->subject->link_layer),
				    rna_link_layer_name((enum rna_link_layer)usual));
	}
}

const struct rna_rule rna_rule_rails_link_layer = {
	RNA_RULE_ROW("rails-link-layer", PORT, INFO, HOST, CARD, NOT_READY),
	.hold = "30s",
	.help = "The link layer of a port differs from most ports of the same adapter "
		"model. Severity warning if these ports serve GPUs.",
	.check = check_rails_link_layer,
	.remedy = "No action required if this is intended. To make {device} a rail like "
		  "the others, {link-type}.",
	.message_id = "46a3fade12214da799a8ddcf87f150d7",
};

/* Of the interface of an active RoCE port; a value that limits RDMA belongs to mtu-low. */
static bool netdev_mtu_of(const struct rna_subject *port, uint64_t *ret)
{
	if (!rna_subject_is_active_roce(port) || !port->netdev ||
	    !rna_value_is_known(port->netdev->mtu) ||
	    port->netdev->mtu.number < MTU_ENOUGH_FOR_RDMA)
		return false;
	*ret = port->netdev->mtu.number;
	return true;
}

static void check_rails_mtu(const struct rna_rule_input *in, struct rna_finds *out)
{
	uint64_t own, usual;

	if (rna_rail_is_odd(in, netdev_mtu_of, &usual) && netdev_mtu_of(in->subject, &own))
		(void)rna_finds_add(
			out, "%s has MTU %ju; most interfaces of this adapter model have %ju",
			in->subject->netdev->name, (uintmax_t)own, (uintmax_t)usual);
}

const struct rna_rule rna_rule_rails_mtu = {
	RNA_RULE_ROW("rails-mtu", PORT, INFO, HOST, HOST, NOT_READY),
	.hold = "30s",
	.help = "The MTU of the interface of a RoCE port differs from most ports of the "
		"same adapter model.",
	.check = check_rails_mtu,
	.remedy = "No action required if this is intended. Otherwise configure the same "
		  "MTU on all rails, on the hosts{switches}.",
	.message_id = "a4d7b1b2783248e99f869af578699edb",
};

/* 1: the port has an IPoIB interface, which exists whatever the state of the port is. */
static bool ipoib_of(const struct rna_subject *port, uint64_t *ret)
{
	*ret = port->netdev ? 1 : 0;
	return port->link_layer == RNA_LINK_LAYER_INFINIBAND;
}

/*
 * ib_ipoib makes an interface for each InfiniBand port (ipoib_add_one() in ulp/ipoib/ipoib_main.c),
 * and no user can delete it (ipoib_del_child_link() in ipoib_netlink.c, Linux 6.12): either the
 * driver failed, or it is in another network namespace, where CNI plugins put it for a container.
 * The host cannot tell these apart, and MPI and NCCL work without IP on each port, hence
 * information. Siblings that have one prove that ib_ipoib is loaded.
 */
static void check_rails_ipoib(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct rna_rail_usual place;

	if (!in->subject->netdev && rna_snapshot_netdevs(in->view->snapshot) &&
	    rna_rail_is_odd_in_place(in, ipoib_of, &place))
		(void)rna_finds_add(out,
				    "no IPoIB interface, which %zu of %zu such ports have: IP and "
				    "RDMA CM do not work through this port",
				    place.count, place.known);
}

const struct rna_rule rna_rule_rails_ipoib = {
	RNA_RULE_ROW("rails-ipoib", PORT, INFO, HOST, HOST, NOT_READY),
	.settles = true,
	.hold = "90s",
	.help = "An InfiniBand port has no IPoIB interface in this network namespace, and "
		"most ports in such a place have one.",
	.check = check_rails_ipoib,
	.link_layer = RNA_LINK_LAYER_INFINIBAND,
	.remedy = "No action required if the interface was moved to a container or to "
		  "another network namespace, or if no application uses IP or RDMA CM on "
		  "this port. Otherwise look for messages of ib_ipoib in the kernel log, "
		  "and load the module anew: modprobe --remove ib_ipoib; modprobe "
		  "ib_ipoib. That removes the interfaces of all ports for a moment.",
	.message_id = "91dc09166dba43349f834fc16ac5b486",
};

/* One finding per node: 4200 is common and a matter of preference. */
static void check_jumbo_frames(const struct rna_rule_input *in, struct rna_finds *out)
{
	enum { JUMBO = 9000 };
	const struct rna_subject *first = NULL;
	size_t count = 0;

	RNA_EACH (port, in->ports->items, in->ports->count) {
		uint64_t mtu;

		if (!rna_device_is_nic(port->device->device) || !netdev_mtu_of(port, &mtu) ||
		    mtu >= JUMBO)
			continue;
		first = first ? first : port;
		count++;
	}
	if (first)
		(void)rna_finds_add(
			out,
			"%zu RoCE interface%s an MTU that suffices for RDMA but is below "
			"9000, which would help TCP: %s has %ju%s",
			count, count == 1 ? " has" : "s have", first->netdev->name,
			(uintmax_t)first->netdev->mtu.number, count > 1 ? ", and others" : "");
}

const struct rna_rule rna_rule_jumbo_frames = {
	RNA_RULE_ROW("jumbo-frames", NODE, INFO, HOST, HOST, NOT_READY),
	.hold = "30s",
	.help = "RoCE interfaces have an MTU that is large enough for RDMA but below 9000.",
	.check = check_jumbo_frames,
	.remedy = "No action required for RDMA. If TCP uses the same interfaces, set the "
		  "MTU to 9000 here{switches}.",
	.message_id = "2a679eddff8e4388a0e4723187c34c9d",
};

static bool vfs_of(const struct rna_subject *port, uint64_t *ret)
{
	const struct rna_pcie *pcie = port->port == 1 ? rna_device_pcie(port->device) : NULL;

	if (!pcie || !rna_value_is_known(pcie->virtual_functions))
		return false;
	*ret = pcie->virtual_functions.number;
	return true;
}

static void check_rails_virtual_functions(const struct rna_rule_input *in, struct rna_finds *out)
{
	uint64_t own, usual;

	if (rna_rail_is_odd(in, vfs_of, &usual) && vfs_of(in->subject, &own))
		(void)rna_finds_add(
			out, "%ju virtual functions; most devices of this adapter model have %ju",
			(uintmax_t)own, (uintmax_t)usual);
}

const struct rna_rule rna_rule_rails_virtual_functions = {
	RNA_RULE_ROW("rails-virtual-functions", PORT, INFO, HOST, HOST, NOT_READY),
	.hold = "30s",
	.help = "The number of virtual functions of a device differs from most devices of "
		"the same adapter model.",
	.check = check_rails_virtual_functions,
	.remedy = "No action required if this is intended. Otherwise configure all "
		  "devices alike (sriov_numvfs, or the policy of the SR-IOV operator).",
	.message_id = "cac8c29c50184e8fa3b6319b6ac6af5c",
};

/* A number for each text; the same for equal ones. */
static bool firmware_of(const struct rna_subject *port, uint64_t *ret)
{
	enum { VERSION_MAX = 64 };
	const char *version = port->identity ? port->identity->firmware_version : NULL;

	if (!version || *version == '\0' || strlen(version) > VERSION_MAX)
		return false;
	for (const char *c = version; *c; c++)
		if (*c <= ' ' || *c > '~') /* not a version */
			return false;
	*ret = rna_hash_text(RNA_HASH_INIT, version);
	return true;
}

/* The firmware is the card's: the first port of its first device speaks for it. */
static bool speaks_for_card(const struct rna_rule_input *in)
{
	size_t index = (size_t)(in->subject->device - in->view->snapshot->devices);
	const struct rna_card *card = in->subject->card;

	return in->subject == in->subject->ports &&
	       (!card || card->device_count == 0 || card->devices[0] == index);
}

static const char *find_firmware(const struct rna_rule_input *in, uint64_t wanted)
{
	uint64_t own;

	for (size_t i = 0; i < in->devices->count; i++)
		if (firmware_of(&in->devices->items[i], &own) && own == wanted)
			return in->devices->items[i].identity->firmware_version;
	return "another version";
}

/* Cards that serve GPUs work together in each job; others may be updated one by one. */
static void check_rails_firmware(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct rna_finding *found;
	uint64_t usual;

	if (!speaks_for_card(in) || !rna_rail_is_odd(in, firmware_of, &usual))
		return;
	found = rna_finds_add(out, "firmware %s; most cards of this model have %s",
			      in->subject->identity->firmware_version, find_firmware(in, usual));
	if (in->subject->rail && has_gpus(in))
		found->severity = RNA_SEVERITY_WARNING;
}

const struct rna_rule rna_rule_rails_firmware = {
	RNA_RULE_ROW("rails-firmware", PORT, INFO, HOST, CARD, NOT_READY),
	.hold = "30s",
	.help = "The firmware of a card differs from most cards of its model. Severity "
		"warning if these serve GPUs.",
	.check = check_rails_firmware,
	.remedy = "To make {device} like the others, {update}{activate}.",
	.message_id = "c96aef54b4d94199a265175a5c50765e",
};
