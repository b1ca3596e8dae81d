// SPDX-License-Identifier: Apache-2.0
/*
 * The labels of the Node: one table, and a function for each label that decides it from what one
 * view shows. To add a label: a number in rna/kubernetes.h, a row here and its function.
 *
 * Labels are what a scheduler chooses by, so they say slow facts, few and small: no counters, no
 * GUIDs, no names of devices. Whether a change has lasted long enough to be told is not decided
 * here (agent/memory/node_memory.c). What cannot be read is unknown and changes no label; what this
 * node does not have gives none.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/kubernetes.h"
#include "rna/model/card.h"
#include "rna/model/driver.h"

#include "env/dialect.h"
#include "view/facts.h"
#include "view/subjects.h"

enum { TENTHS_OF_GIGABIT = 100000000 / 8 }; /* in bytes per second */

/* What the decisions are made of: the node, counted once. */
struct tally {
	const struct rna_view *view;
	const struct rna_label_options *options;
	const struct rna_subjects *subjects;
	size_t ports;
	size_t up;
	bool rails;      /* is it known which NICs are rails, and is a device of one here? */
	size_t unread;   /* ports whose state is not known */
	size_t expected; /* to be up, those of devices that are missing with them */
	/* devices whose ports are not seen: another network namespace has them, or they could not
	 * be listed; unread, too */
	size_t hidden;
	const char *model; /* of most functions; NULL: none */
	char scratch[32];  /* where model may lie */
	bool model_unread; /* of one of them it could not be read */
};

static const struct rna_node_verdict unknown = {.kind = RNA_VERDICT_UNKNOWN};
static const struct rna_node_verdict none = {.kind = RNA_VERDICT_NONE, .rank = INT64_MIN};

/* A value from text that need not be legal. */
static struct rna_node_verdict say(const char *text, int64_t rank)
{
	struct rna_node_verdict verdict = {.kind = RNA_VERDICT_VALUE, .rank = rank};

	return rna_label_value_make(text, verdict.value) ? verdict : none;
}

static struct rna_node_verdict say_count(size_t count, int64_t rank)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%zu", count);
	return say(text, rank);
}

/*
 * The functions that manage NVSwitches carry no traffic; VFs, SFs and the ports of the embedded
 * switch that represent them come and go with the work.
 */
static bool counts(const struct tally *tally, const struct rna_subject *subject)
{
	switch (subject->device->device->function) {
	case RNA_FUNCTION_SWITCH_MANAGEMENT:
		return false;
	case RNA_FUNCTION_VF:
	case RNA_FUNCTION_SF:
		return tally->options->virtual_functions;
	default:
		return !subject->represents;
	}
}

/* Goes through the ports that count: "for (port = NULL; (port = next_port(tally, port));)". */
static const struct rna_subject *next_port(const struct tally *tally,
					   const struct rna_subject *before)
{
	const struct rna_subject_list *ports = &tally->subjects->scopes[RNA_SCOPE_PORT];
	const struct rna_subject *end = ports->items + ports->count;

	for (before = before ? before + 1 : ports->items; before < end; before++)
		if (counts(tally, before))
			return before;
	return NULL;
}

/* Rails are what jobs use; a node that has none is described by all that it has. */
static bool is_meant(const struct tally *tally, const struct rna_subject *subject)
{
	return counts(tally, subject) && (!tally->rails || subject->rail);
}

static bool is_expected(const struct rna_subject *port)
{
	return rna_subject_expected(port) == RNA_EXPECTED_UP;
}

static bool is_up(const struct rna_subject *port)
{
	struct rna_value up = rna_port_up(port);

	return rna_value_is_known(up) && up.number;
}

/* -- RoCE -------------------------------------------------------------------------------------- */

/* One that others can reach over a router, which link-local ones are not. */
static bool has_usable_gid(const struct rna_port_gids *gids)
{
	return RNA_ANY(i, gids->count,
		       gids->entries[i].type == RNA_GID_TYPE_ROCE_V2 &&
			       !gids->entries[i].elsewhere &&
			       !rna_gid_is_zero(&gids->entries[i].gid) &&
			       !rna_gid_is_link_local(&gids->entries[i].gid));
}

/* Is there one of which it cannot be said? One that could not be read is not in the table. */
static bool has_doubtful_gid(const struct rna_subject *port)
{
	const struct rna_port_gids *gids = port->gids;

	if (rna_part_error_count(&rna_device_gids(port->device)->part) > 0)
		return true;
	return RNA_ANY(i, gids->count,
		       gids->entries[i].type == RNA_GID_TYPE_UNKNOWN &&
			       !gids->entries[i].elsewhere);
}

/*
 * EFA is neither InfiniBand nor Ethernet, and says so: its driver registers devices of node type
 * "unspecified" with ports of link layer "Unspecified" (drivers/infiniband/hw/efa/efa_main.c
 * efa_ib_device_add(), efa_verbs.c efa_port_link_layer(), Linux 6.12).
 */
static bool has_no_link_layer(const struct rna_subject *port)
{
	return rna_device_node_type(port->device) == RNA_NODE_TYPE_UNSPECIFIED;
}

/* Of one port: can it do RoCE now? Ranks: 1 yes, 0 no. */
static enum rna_verdict_kind port_does_roce(const struct rna_subject *port)
{
	if (has_no_link_layer(port) || rna_device_node_type(port->device) == RNA_NODE_TYPE_RNIC)
		return RNA_VERDICT_NONE;
	if (!port->account || port->link_layer == RNA_LINK_LAYER_UNKNOWN)
		return RNA_VERDICT_UNKNOWN;
	if (port->link_layer != RNA_LINK_LAYER_ETHERNET || !is_expected(port))
		return RNA_VERDICT_NONE;
	if (!rna_value_is_known(rna_port_up(port)))
		return RNA_VERDICT_UNKNOWN;
	if (!is_up(port))
		return RNA_VERDICT_NONE;
	if (!port->gids)
		return RNA_VERDICT_UNKNOWN;
	if (has_usable_gid(port->gids))
		return RNA_VERDICT_VALUE;
	return has_doubtful_gid(port) ? RNA_VERDICT_UNKNOWN : RNA_VERDICT_NONE;
}

static struct rna_node_verdict roce(const struct tally *tally)
{
	const struct rna_subject *port = NULL;
	bool doubt = tally->hidden > 0;

	while ((port = next_port(tally, port)))
		switch (port_does_roce(port)) {
		case RNA_VERDICT_VALUE:
			return say(tally->options->roce_value, 1);
		case RNA_VERDICT_UNKNOWN:
			doubt = true;
			break;
		default:
			break;
		}
	return doubt ? unknown : none;
}

/* -- Ports ------------------------------------------------------------------------------------- */

static struct rna_node_verdict link_layers(const struct tally *tally)
{
	const struct rna_subject *port = NULL;
	bool ethernet = false, infiniband = false;

	while ((port = next_port(tally, port))) {
		if (has_no_link_layer(port))
			continue;
		if (port->link_layer == RNA_LINK_LAYER_UNKNOWN)
			return unknown;
		ethernet |= port->link_layer == RNA_LINK_LAYER_ETHERNET;
		infiniband |= port->link_layer == RNA_LINK_LAYER_INFINIBAND;
	}
	if (ethernet && infiniband)
		return say("ethernet-infiniband", 0);
	if (ethernet || infiniband)
		return say(ethernet ? "ethernet" : "infiniband", 0);
	return tally->hidden > 0 ? unknown : none;
}

static bool has_no_port(const struct tally *tally)
{
	return tally->ports == 0 && tally->expected == 0 && tally->unread == 0;
}

static struct rna_node_verdict ports_up(const struct tally *tally)
{
	if (has_no_port(tally))
		return none;
	return tally->unread > 0 ? unknown : say_count(tally->up, (int64_t)tally->up);
}

/* More are no better: an administrator has let one go. */
static struct rna_node_verdict ports_expected(const struct tally *tally)
{
	if (has_no_port(tally))
		return none;
	return tally->view->ports ? say_count(tally->expected, 0) : unknown;
}

/* -- Rates ------------------------------------------------------------------------------------- */

/* In Gb/s, with one digit behind the point where that is not 0: 400, 2.5. */
static struct rna_node_verdict say_rate(uint64_t rate)
{
	uint64_t tenths = (rate + TENTHS_OF_GIGABIT / 2) / TENTHS_OF_GIGABIT;
	char text[32];

	(void)snprintf(text, sizeof(text), tenths % 10 ? "%ju.%ju" : "%ju",
		       (uintmax_t)(tenths / 10), (uintmax_t)(tenths % 10));
	return say(text, (int64_t)tenths);
}

/* Of ports that are up. */
struct rates {
	size_t count;
	size_t unread; /* of them */
	uint64_t sum, least;
};

/* A rate of an unknown speed is made up by the driver; those of a bond's interfaces are not. */
static void add_rate(struct rates *rates, const struct rna_subject *port)
{
	struct rna_value rate = rna_subject_rate(port);

	if (!is_up(port))
		return;
	rates->count++;
	if (!rna_value_is_known(rate) || !port->link || !port->link->speed_name) {
		rates->unread++;
		return;
	}
	rates->sum += rate.number;
	if (rates->count == 1 || rate.number < rates->least)
		rates->least = rate.number;
}

static const struct rna_nic *nic_of(const struct tally *tally, const struct rna_subject *port)
{
	const struct rna_topology *topology = rna_snapshot_topology(tally->view->snapshot);

	return topology ? rna_topology_find_nic(topology, port->rdma_device) : NULL;
}

/* A board with shared cages has one NIC: two functions of one number are one cage. */
static bool share_cage(const struct tally *tally, const struct rna_device *a,
		       const struct rna_device *b)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(tally->view->snapshot);

	return readiness && readiness->platform.shared_cages &&
	       strcmp(a->pci_address, b->pci_address) != 0 &&
	       rna_same_text(strchr(a->pci_address, '.'), strchr(b->pci_address, '.'));
}

/* Are they halves of a card in two slots? */
static bool share_rail(const struct tally *tally, const struct rna_subject *a,
		       const struct rna_subject *b)
{
	const struct rna_nic *first = nic_of(tally, a), *second = nic_of(tally, b);

	return first && second && first->rail >= 0 && first->rail == second->rail &&
	       !rna_pci_is_one_device(a->rdma_device->pci_address, b->rdma_device->pci_address);
}

/* Is it another way to the cable of a port before it? */
static bool repeats_cable(const struct tally *tally, const struct rna_subject *port)
{
	const struct rna_subject *before = NULL;

	if (!port->rdma_device->pci_address)
		return false;
	while ((before = next_port(tally, before)) && before < port)
		if (before->rdma_device->pci_address &&
		    (share_rail(tally, before, port) ||
		     (is_up(before) && share_cage(tally, before->rdma_device, port->rdma_device))))
			return true;
	return false;
}

/* Of rails; on a node that has none, of all ports. */
static struct rates rates_of_rails(const struct tally *tally)
{
	const struct rna_subject *port = NULL;
	struct rates rates = {0};

	while ((port = next_port(tally, port)))
		if (is_meant(tally, port) && !repeats_cable(tally, port))
			add_rate(&rates, port);
	return rates;
}

/*
 * A NIC for storage or management is slow by choice, and jobs do not use it. Where NCCL's own
 * transport has no port at all, as with EFA, the place of a NIC alone decides whether it is a rail.
 */
static int add_ports_of_nccl(struct rates *rates, const struct tally *tally)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	const struct rna_env_words *words = &rna_env_dialects[RNA_ENV_NCCL].words;
	struct rna_env_ports ports;

	if (!arena || rna_env_ports_choose(tally->subjects, words, arena, &ports) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < ports.count; i++)
		if (counts(tally, ports.items[i]))
			add_rate(rates, ports.items[i]);
	if (rates->count == 0)
		*rates = rates_of_rails(tally);
	return 0;
}

/* Without the PCI tree it is unknown which NICs serve GPUs. */
static struct rna_node_verdict rate_slowest(const struct tally *tally)
{
	struct rates rates = {0};

	if (tally->unread > 0)
		return unknown;
	if (tally->up == 0)
		return none;
	if (!rna_snapshot_topology(tally->view->snapshot) || add_ports_of_nccl(&rates, tally) < 0 ||
	    rates.unread > 0)
		return unknown;
	return rates.count > 0 ? say_rate(rates.least) : none;
}

static struct rna_node_verdict rate_total(const struct tally *tally)
{
	struct rates rates = rates_of_rails(tally);

	if (tally->unread > 0 || rates.unread > 0 || !rna_snapshot_topology(tally->view->snapshot))
		return unknown;
	return rates.count > 0 ? say_rate(rates.sum) : none;
}

/* -- NICs -------------------------------------------------------------------------------------- */

/* NULL: it is no hardware. */
static const char *model_of(const struct rna_device *device, char scratch[32])
{
	const char *name = rna_driver_card_name(device->vendor_id, device->device_id);

	if (device->vendor_id == 0)
		return NULL;
	if (name)
		return name;
	(void)snprintf(scratch, 32, "%04x-%04x", device->vendor_id, device->device_id);
	return scratch;
}

/* Each function of PCI has both numbers. */
static bool has_unread_model(const struct rna_device *device)
{
	return device->function != RNA_FUNCTION_VIRTUAL &&
	       (device->vendor_id == 0 || device->device_id == 0);
}

static bool is_of_model(const struct tally *tally, const struct rna_subject *device,
			const char *model)
{
	char scratch[32];
	const char *own = model_of(device->device->device, scratch);

	return is_meant(tally, device) && own && strcmp(own, model) == 0;
}

static size_t count_of_model(const struct tally *tally, const char *model)
{
	const struct rna_subject_list *devices = &tally->subjects->scopes[RNA_SCOPE_DEVICE];
	return RNA_COUNT(i, devices->count, is_of_model(tally, &devices->items[i], model));
}

/* The first of several that are equally many. */
static void find_model(struct tally *tally)
{
	const struct rna_subject_list *devices = &tally->subjects->scopes[RNA_SCOPE_DEVICE];
	size_t most = 0;

	for (size_t i = 0; i < devices->count; i++) {
		const struct rna_device *device = devices->items[i].device->device;
		char scratch[32];
		const char *model = NULL;
		size_t count;

		if (is_meant(tally, &devices->items[i])) {
			model = model_of(device, scratch);
			tally->model_unread |= has_unread_model(device);
		}
		count = model ? count_of_model(tally, model) : 0;
		if (count <= most)
			continue;
		most = count;
		(void)snprintf(tally->scratch, sizeof(tally->scratch), "%s", model);
		tally->model = tally->scratch;
	}
}

static struct rna_node_verdict nic_model(const struct tally *tally)
{
	if (tally->model_unread)
		return unknown;
	if (tally->model)
		return say(tally->model, 0);
	return tally->hidden > 0 ? unknown : none;
}

static struct rna_node_verdict firmware(const struct tally *tally)
{
	const struct rna_subject_list *devices = &tally->subjects->scopes[RNA_SCOPE_DEVICE];
	const char *version = NULL;

	if (tally->model_unread)
		return unknown;
	for (size_t i = 0; tally->model && i < devices->count; i++) {
		const struct rna_subject *device = &devices->items[i];
		const char *own;

		if (!is_of_model(tally, device, tally->model))
			continue;
		if (!device->identity)
			return unknown;
		own = device->identity->firmware_version;
		if (!own && rna_part_error_count(&device->identity->part) > 0)
			return unknown;
		if (!own || (version && strcmp(version, own) != 0))
			return none; /* it has none, or they disagree */
		version = own;
	}
	return version ? say(version, 0) : none;
}

/* -- The node ---------------------------------------------------------------------------------- */

/* One way is enough. GPUs without a driver that we know are none of ours. */
static struct rna_node_verdict gpudirect(const struct tally *tally)
{
	const struct rna_topology *topology = rna_snapshot_topology(tally->view->snapshot);
	const struct rna_readiness *readiness = rna_snapshot_readiness(tally->view->snapshot);

	if (has_no_port(tally) || (topology && topology->gpu_count == 0))
		return none;
	if (!topology || !readiness)
		return unknown;
	if (!readiness->gpu_driver.name)
		return none;
	switch (readiness->gpudirect_state) {
	case RNA_GPUDIRECT_READY:
	case RNA_GPUDIRECT_READY_FOR_NEWER:
		return say("true", 1);
	case RNA_GPUDIRECT_NOT_READY:
	case RNA_GPUDIRECT_IMPOSSIBLE:
		return say("false", 0);
	default:
		return unknown;
	}
}

static bool has_device_of_rail(const struct rna_topology *topology, int rail)
{
	return RNA_ANY(i, topology->nic_count,
		       topology->nics[i].rail == rail && topology->nics[i].device_count > 0);
}

/* Unknown without the PCI tree; a node whose RDMA devices are all virtual has no rails. */
static struct rna_node_verdict rails(const struct tally *tally)
{
	const struct rna_topology *topology = rna_snapshot_topology(tally->view->snapshot);
	size_t count = 0;
	int last = -1;

	if (has_no_port(tally))
		return none;
	if (!topology)
		return unknown;
	for (size_t i = 0; i < topology->nic_count; i++)
		last = topology->nics[i].rail > last ? topology->nics[i].rail : last;
	for (int rail = 0; rail <= last; rail++)
		count += has_device_of_rail(topology, rail);
	return count > 0 ? say_count(count, 0) : none;
}

/*
 * Is it a network by which a scheduler has to choose: proven, and not the default partition? A
 * partition may be in several subnets.
 */
static bool tells_nodes_apart(const struct rna_networks *networks, size_t i)
{
	const struct rna_network *network = &networks->items[i];

	for (size_t j = 0; j < i && network->source == RNA_NETWORK_PARTITION; j++)
		if (networks->items[j].partition == network->partition)
			return false;
	return network->port_count > 0 && (network->source == RNA_NETWORK_CONFIGURED ||
					   (network->source == RNA_NETWORK_PARTITION &&
					    network->partition != RNA_DEFAULT_PKEY));
}

/* Their names in the order of the configuration, or of the ports. */
static struct rna_node_verdict networks(const struct tally *tally)
{
	const struct rna_networks *networks = tally->view->networks;
	const struct rna_subject *port = NULL;
	char text[RNA_LABEL_NAME_MAX + 1] = "";
	size_t len = 0;

	while ((port = next_port(tally, port)))
		if (!port->network && rna_subject_is_active(port) &&
		    port->link_layer == RNA_LINK_LAYER_INFINIBAND &&
		    (!port->fabric || !port->fabric->pkeys_known))
			return unknown;
	for (size_t i = 0; networks && i < networks->count; i++) {
		const struct rna_network *network = &networks->items[i];
		int more = 0;

		if (!tells_nodes_apart(networks, i))
			continue;
		if (network->source == RNA_NETWORK_CONFIGURED)
			more = snprintf(text + len, sizeof(text) - len, "%s%s", len > 0 ? "_" : "",
					network->name);
		else
			more = snprintf(text + len, sizeof(text) - len, "%s0x%04x",
					len > 0 ? "_" : "", network->partition);
		if (more < 0 || (size_t)more >= sizeof(text) - len)
			return none; /* too many for a label */
		len += (size_t)more;
	}
	return len > 0 ? say(text, 0) : none;
}

/* VFs that are in a container's network namespace, or a guest's, are still in the PCI tree. */
static struct rna_node_verdict sr_iov(const struct tally *tally)
{
	const struct rna_topology *topology = rna_snapshot_topology(tally->view->snapshot);

	if (has_no_port(tally))
		return none;
	if (!topology)
		return unknown;
	for (size_t i = 0; i < topology->nic_count; i++)
		if (topology->nics[i].device_count > 0 && topology->nics[i].virtual_functions > 0)
			return say("true", 0);
	return say("false", 0);
}

/* -- Health ------------------------------------------------------------------------------------ */

/* A node without RDMA has findings where RDMA is missed; otherwise it needs no such label. */
static struct rna_node_verdict health(const struct tally *tally)
{
	const struct rna_view *view = tally->view;
	bool blind =
		tally->ports + tally->hidden == 0 || tally->unread >= tally->ports + tally->hidden;
	enum rna_health_state state =
		rna_health_state_of(view->findings, view->finding_count, blind);
	struct rna_node_verdict verdict;

	if (state == RNA_HEALTH_UNKNOWN)
		return has_no_port(tally) ? none : unknown;
	verdict = say(rna_health_state_name(state), RNA_HEALTH_CRITICAL - state);
	verdict.bad = state != RNA_HEALTH_OK;
	return verdict;
}

/* -- The table --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	struct rna_node_verdict (*decide)(const struct tally *tally);
	const char *values; /* for documents */
	const char *help;
} table[RNA_NODE_LABEL_COUNT] = {
	[RNA_NODE_LABEL_ROCE] =
		{"roce", roce, "`true`",
		 "The node supports RoCE: at least one Ethernet port that is expected to be up is "
		 "ACTIVE and has a RoCE v2 GID that is not link-local. Absent otherwise."},
	[RNA_NODE_LABEL_LINK_LAYERS] = {"link-layers", link_layers,
					"`ethernet`, `infiniband`, `ethernet-infiniband`",
					"Link layers of the ports."},
	[RNA_NODE_LABEL_PORTS_UP] = {"ports-up", ports_up, "a number", "Ports that are up."},
	[RNA_NODE_LABEL_PORTS_EXPECTED] =
		{"ports-expected", ports_expected, "a number",
		 "Ports that are expected to be up, including those of missing devices."},
	[RNA_NODE_LABEL_RATE_SLOWEST] =
		{"rate-slowest-gbps", rate_slowest, "a number",
		 "Rate in Gb/s of the slowest port that is up, among the ports that `nccl` selects "
		 "(not NICs for storage and management), or among all ports if it selects none."},
	[RNA_NODE_LABEL_RATE_TOTAL] =
		{"rate-total-gbps", rate_total, "a number",
		 "Total rate in Gb/s of the rails that are up, of a bond "
		 "that of all its members; of "
		 "all ports on a node without rails. Two functions that share "
		 "a cage (DGX Spark) count once."},
	[RNA_NODE_LABEL_NIC_MODEL] =
		{"nic-model", nic_model, "`ConnectX-7`, `8086-1592`, ...",
		 "Model of most rails (of most devices on a node without rails); if its name is "
		 "unknown, PCI vendor and device ID."},
	[RNA_NODE_LABEL_FIRMWARE] =
		{"nic-firmware", firmware, "`28.39.1002`, ...",
		 "Firmware version of the rails of that model, if all have the same."},
	[RNA_NODE_LABEL_GPUDIRECT] =
		{"gpudirect", gpudirect, "`true`, `false`",
		 "Whether NICs can access the memory of the GPUs, by a peer memory module or by "
		 "dma-buf. Absent without GPUs and their driver."},
	[RNA_NODE_LABEL_RAILS] =
		{"rails", rails, "a number",
		 "Number of rails, that is, of cables that serve GPUs, whose RDMA device is there, "
		 "up or down. The planes of one card are one rail."},
	[RNA_NODE_LABEL_NETWORKS] =
		{"networks", networks, "`plane-a_plane-b`, `0x0a01`, ...",
		 "Networks of `fabric.networks` that the node has ports in; without the setting, "
		 "partitions of InfiniBand other than the default one. Absent if there are none."},
	[RNA_NODE_LABEL_SR_IOV] = {"sr-iov", sr_iov, "`true`, `false`",
				   "Whether RDMA NICs have virtual functions."},
	[RNA_NODE_LABEL_HEALTH] = {"health", health, "`ok`, `warning`, `critical`",
				   "The state that `check` reports."},
};

const char *rna_node_label_name(enum rna_node_label_id id)
{
	return table[id].name;
}

void rna_node_label_key(enum rna_node_label_id id, const struct rna_label_options *options,
			char ret[RNA_LABEL_KEY_MAX + 1])
{
	if (id == RNA_NODE_LABEL_ROCE)
		(void)snprintf(ret, RNA_LABEL_KEY_MAX + 1, "%s", options->roce_key);
	else
		(void)snprintf(ret, RNA_LABEL_KEY_MAX + 1, "%.*s/%s",
			       (int)rna_label_prefix_len(options->prefix), options->prefix,
			       table[id].name);
}

/* A NIC has ports; what is no function of PCI, such as the Xeon Phi's scif0, need not have any. */
static bool hides_ports(const struct tally *tally, const struct rna_subject *device)
{
	return counts(tally, device) && device->device->device->port_count == 0 &&
	       device->device->device->function != RNA_FUNCTION_VIRTUAL;
}

static void count_ports(struct tally *tally)
{
	const struct rna_subject_list *devices = &tally->subjects->scopes[RNA_SCOPE_DEVICE];
	const struct rna_subject *port = NULL;

	for (size_t i = 0; i < devices->count; i++) {
		tally->rails |= counts(tally, &devices->items[i]) && devices->items[i].rail;
		if (hides_ports(tally, &devices->items[i])) {
			tally->hidden++;
			tally->unread++;
		}
	}
	while ((port = next_port(tally, port))) {
		tally->ports++;
		tally->up += is_up(port);
		tally->unread += !rna_value_is_known(rna_port_up(port));
		tally->expected += is_expected(port);
	}
	RNA_EACH (missing, tally->view->missing, tally->view->missing_count) {
		tally->expected += missing->ports_expected;
		if (missing->whereabouts == RNA_WHEREABOUTS_MOVED) {
			tally->hidden++;
			tally->unread += missing->ports_expected;
		}
	}
}

int rna_node_labels_decide(const struct rna_view *view, const struct rna_label_options *options,
			   struct rna_node_verdict ret[RNA_NODE_LABEL_COUNT])
{
	struct tally tally = {.view = view, .options = options, .subjects = view->subjects};

	count_ports(&tally);
	find_model(&tally);
	for (enum rna_node_label_id id = 0; id < RNA_NODE_LABEL_COUNT; id++)
		ret[id] =
			rna_snapshot_presence(view->snapshot) ? table[id].decide(&tally) : unknown;
	return 0;
}

/* -- Documents --------------------------------------------------------------------------------- */

void rna_node_labels_describe(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Label\tValues\tMeaning\n");
	for (enum rna_node_label_id id = 0; id < RNA_NODE_LABEL_COUNT; id++)
		rna_strbuf_printf(out, "`%s%s`\t%s\t%s\n",
				  id == RNA_NODE_LABEL_ROCE ? "network.nvidia.com/"
							    : "rdma-node-agent/",
				  table[id].name, table[id].values, table[id].help);
}
