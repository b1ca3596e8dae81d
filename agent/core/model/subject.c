// SPDX-License-Identifier: Apache-2.0
/*
 * The join of devices and ports with all that is known of each. Searches go on where they ended, as
 * those of rna/model/netdev.h, so that 512 ports cost about 512 comparisons. So does finding out
 * who is whose sibling: a node has few models.
 */
#include "rna/model/subject.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/nccl.h"

/* -- Questions --------------------------------------------------------------------------------- */

bool rna_subject_state_is_known(const struct rna_subject *port)
{
	return port->state && rna_value_is_known(port->state->state) &&
	       port->state->state.number >= RNA_PORT_DOWN &&
	       port->state->state.number <= RNA_PORT_ACTIVE_DEFER;
}

const char *rna_subject_state_name(const struct rna_subject *port)
{
	return port->state && rna_value_is_known(port->state->state)
		       ? rna_port_state_name(port->state->state.number)
		       : NULL;
}

bool rna_subject_in_state(const struct rna_subject *port, enum rna_port_state state)
{
	return rna_subject_state_is_known(port) && port->state->state.number == state;
}

bool rna_subject_is_active(const struct rna_subject *port)
{
	return rna_port_works(port->device, port->port);
}

/* Its transport is that of InfiniBand, of which RoCE is the form on Ethernet. */
static bool is_channel_adapter(const struct rna_subject *port)
{
	return rna_device_node_type(port->device) == RNA_NODE_TYPE_CA;
}

bool rna_subject_is_active_roce(const struct rna_subject *port)
{
	return port->link_layer == RNA_LINK_LAYER_ETHERNET && rna_subject_is_active(port) &&
	       is_channel_adapter(port);
}

bool rna_subject_is_uplink(const struct rna_subject *port)
{
	for (size_t i = 0; i < port->rdma_device->port_count; i++)
		if (port->ports[i].represents)
			return !port->represents;
	return false;
}

/* ACTIVE_DEFER is not enough for NCCL, which looks at the link layer (net_ib.cc). */
bool rna_subject_suits_nccl(const struct rna_subject *port)
{
	return port->state && port->state->state.state == RNA_VALUE_OK &&
	       port->state->state.number == RNA_PORT_ACTIVE &&
	       port->link_layer != RNA_LINK_LAYER_UNKNOWN && is_channel_adapter(port) &&
	       port->rdma_device->function != RNA_FUNCTION_SWITCH_MANAGEMENT;
}

enum rna_expected rna_subject_expected(const struct rna_subject *port)
{
	return port->account ? port->account->expectation.expected : RNA_EXPECTED_UNKNOWN;
}

bool rna_subject_has_routable_gid(const struct rna_subject *port)
{
	return RNA_ANY(i, port->gids->count,
		       !port->gids->entries[i].elsewhere &&
			       !rna_gid_is_link_local(&port->gids->entries[i].gid));
}

const struct rna_subject_list *rna_view_devices(const struct rna_view *view)
{
	return &view->subjects->scopes[RNA_SCOPE_DEVICE];
}

const struct rna_subject_list *rna_view_ports(const struct rna_view *view)
{
	return &view->subjects->scopes[RNA_SCOPE_PORT];
}

/*
 * The sum of the members that are the port's own, where the bond spreads its traffic over them. In
 * a bond of several devices each one sends through its own cables.
 */
static uint64_t members_rate(const struct rna_subject *port, const struct rna_netdev *bond)
{
	const struct rna_netdevs *netdevs = rna_snapshot_netdevs(port->view->snapshot);
	const struct rna_netdev *member;
	bool alone = true; /* is no other device in the bond? */
	uint64_t own = 0, without_device = 0;
	size_t from = 0;

	while ((member = rna_netdevs_next_member(netdevs, bond->name, NULL, &from))) {
		if (member->device && strcmp(member->device, port->rdma_device->name) != 0)
			alone = false;
		else if (!rna_netdev_has_no_link(member) && rna_value_is_known(member->speed))
			*(member->device ? &own : &without_device) += member->speed.number / 8;
	}
	return alone ? own + without_device : own;
}

struct rna_value rna_subject_rate(const struct rna_subject *port)
{
	const struct rna_netdev *bond =
		rna_netdevs_bond_of(rna_snapshot_netdevs(port->view->snapshot), port->netdev);
	struct rna_value rate = port->link ? port->link->rate : (struct rna_value){0};
	uint64_t members = bond && bond->bond_spreads ? members_rate(port, bond) : 0;

	if (!rna_value_is_known(rate))
		rate = (struct rna_value){0};
	return members > rate.number ? rna_value_ok(members) : rate;
}

/* -- Siblings ---------------------------------------------------------------------------------- */

struct join {
	const struct rna_view *view;
	bool virtual_functions;
	struct rna_netdev_search netdevs;
	size_t next_job; /* where the last search ended */
	size_t tested;   /* likewise */
	unsigned model_count;
	const struct rna_subject *models[RNA_SUBJECT_MODELS_MAX]; /* the first port of each */
	unsigned place_count;
	const struct rna_subject *places[RNA_SUBJECT_MODELS_MAX]; /* likewise */
	unsigned *functions; /* NICs of each card, as the view lists them */
	const char **rails;  /* the devices of NICs with a rail, sorted */
	size_t rail_count;
};

static bool same_model(const struct rna_subject *a, const struct rna_subject *b)
{
	return a->link_layer == b->link_layer && rna_card_is_same_model(a->device, b->device);
}

/* "0" of "0000:3b:00.0": functions are numbered alike on cards of one model. */
static const char *function_of(const struct rna_device *device)
{
	const char *dot = device->pci_address ? strrchr(device->pci_address, '.') : NULL;

	return dot ? dot + 1 : "";
}

static bool same_place(const struct rna_subject *a, const struct rna_subject *b)
{
	return a->port == b->port && a->rail == b->rail && a->card_functions == b->card_functions &&
	       strcmp(function_of(a->rdma_device), function_of(b->rdma_device)) == 0 &&
	       rna_card_is_same_model(a->device, b->device);
}

/* The number of the port's kind, from 1 on; 0: there are too many kinds. */
static unsigned number_of_kind(bool (*same)(const struct rna_subject *a,
					    const struct rna_subject *b),
			       const struct rna_subject *port, const struct rna_subject **firsts,
			       unsigned *count)
{
	for (unsigned i = 0; i < *count; i++)
		if (same(firsts[i], port))
			return i + 1;
	if (*count == RNA_SUBJECT_MODELS_MAX)
		return 0;
	firsts[(*count)++] = port;
	return *count;
}

/* Not of a port whose model is not known, or without a function of its own. */
static void set_siblings(struct join *join, struct rna_subject *port)
{
	const struct rna_device *device = port->rdma_device;

	if (!rna_device_is_nic(device) || device->vendor_id == 0)
		return;
	if (port->link_layer != RNA_LINK_LAYER_UNKNOWN)
		port->model = number_of_kind(same_model, port, join->models, &join->model_count);
	if (port->judged && port->identity && device->device_id != 0)
		port->place = number_of_kind(same_place, port, join->places, &join->place_count);
}

static int list_rails(struct join *join)
{
	const struct rna_topology *topology = rna_snapshot_topology(join->view->snapshot);
	size_t size = 0;

	for (size_t i = 0; topology && i < topology->nic_count; i++)
		size += topology->nics[i].device_count;
	join->rails = rna_arena_array(join->view->arena, size + 1, sizeof(*join->rails));
	if (!join->rails)
		return -ENOMEM;
	for (size_t i = 0; topology && i < topology->nic_count; i++)
		for (size_t d = 0;
		     topology->nics[i].rail >= 0 && d < topology->nics[i].device_count; d++)
			join->rails[join->rail_count++] = topology->nics[i].devices[d];
	qsort(join->rails, join->rail_count, sizeof(*join->rails), rna_compare_text_items);
	return 0;
}

static int count_functions(struct join *join)
{
	const struct rna_cards *cards = join->view->cards;
	const struct rna_snapshot *snapshot = join->view->snapshot;

	join->functions = rna_arena_array(join->view->arena, (cards ? cards->count : 0) + 1,
					  sizeof(*join->functions));
	if (!join->functions)
		return -ENOMEM;
	for (size_t i = 0; cards && i < snapshot->device_count; i++)
		if (cards->of_devices[i] >= 0)
			join->functions[cards->of_devices[i]] +=
				rna_device_is_nic(snapshot->devices[i].device);
	return 0;
}

/* -- Devices ----------------------------------------------------------------------------------- */

static void set_groups(struct rna_subject *subject)
{
	static const enum rna_collector_id sources[] = {RNA_COLLECTOR_COUNTERS,
							RNA_COLLECTOR_HW_COUNTERS,
							RNA_COLLECTOR_FABRIC};

	for (size_t s = 0; s < RNA_ARRAY_SIZE(sources); s++) {
		const struct rna_counters_part *part =
			rna_device_counters(subject->device, sources[s]);

		for (size_t i = 0; part && i < part->group_count; i++)
			if (part->groups[i].port == subject->port)
				subject->groups[part->groups[i].place] = &part->groups[i];
	}
}

/* A path without hops says nothing, see rna/model/pcie.h. */
static const struct rna_pcie *pcie_of(const struct rna_snapshot_device *device)
{
	const struct rna_pcie *pcie = rna_device_pcie(device);

	return pcie && pcie->hop_count > 0 ? pcie : NULL;
}

/* Jobs of one device stand together. */
static void set_jobs(struct join *join, struct rna_subject *device)
{
	const struct rna_view *view = join->view;
	const char *name = device->rdma_device->name;
	size_t tried = 0, first;

	while (tried < view->job_count &&
	       strcmp(view->jobs[join->next_job % view->job_count].device, name) != 0) {
		join->next_job++;
		tried++;
	}
	if (tried == view->job_count)
		return;
	first = join->next_job % view->job_count;
	device->jobs = &view->jobs[first];
	while (first + device->job_count < view->job_count &&
	       strcmp(device->jobs[device->job_count].device, name) == 0)
		device->job_count++;
}

/*
 * Does it not answer? And when it did not for long, what it told is gone until each of its
 * collectors had its turn again. One that fails is no such case: it would keep all findings as they
 * are.
 */
static bool is_unseen(const struct rna_subject *device)
{
	RNA_EACH (job, device->jobs, device->job_count)
		if (job->stalled || (job->success && !device->device->parts[job->collector]))
			return true;
	return false;
}

/*
 * VFs and SFs have no physical port of their own, and their state is configured for a guest. The
 * same holds for ports of the embedded switch, which go down with the pod at the other end. The
 * functions that manage NVSwitches carry no traffic.
 */
static bool is_judged(const struct join *join, const struct rna_subject *subject)
{
	switch (subject->rdma_device->function) {
	case RNA_FUNCTION_SWITCH_MANAGEMENT:
		return false;
	case RNA_FUNCTION_VF:
	case RNA_FUNCTION_SF:
		return join->virtual_functions;
	default:
		return !subject->represents;
	}
}

/* The ports of ConnectX differ on some cards, but each is a device of its own. */
static enum rna_link_layer common_link_layer(const struct rna_identity *identity)
{
	if (!identity || identity->port_count == 0)
		return RNA_LINK_LAYER_UNKNOWN;
	for (size_t i = 1; i < identity->port_count; i++)
		if (identity->ports[i].link_layer != identity->ports[0].link_layer)
			return RNA_LINK_LAYER_UNKNOWN;
	return identity->ports[0].link_layer;
}

static void set_device(struct join *join, size_t index, struct rna_subject *ret)
{
	const struct rna_view *view = join->view;
	const struct rna_snapshot_device *device = &view->snapshot->devices[index];
	int card = view->cards ? view->cards->of_devices[index] : -1;

	ret->view = view;
	ret->card = rna_card_of(view->cards, index);
	ret->device = device;
	ret->rdma_device = device->device;
	ret->identity = rna_device_identity(device);
	ret->pcie = pcie_of(device);
	ret->hop = ret->pcie ? &ret->pcie->hops[0] : NULL;
	ret->changes = view->devices ? &view->devices[index] : NULL;
	ret->link_layer = common_link_layer(ret->identity);
	ret->rail = join->rail_count > 0 &&
		    bsearch(&device->device->name, join->rails, join->rail_count,
			    sizeof(*join->rails), rna_compare_text_items);
	ret->card_functions = card >= 0 ? join->functions[card] : 0;
	ret->judged = is_judged(join, ret);
	set_jobs(join, ret);
	ret->unseen = is_unseen(ret);
	set_groups(ret);
}

/* -- Ports ------------------------------------------------------------------------------------- */

static void set_netdev(struct join *join, struct rna_subject *port)
{
	const struct rna_followed_netdev *followed =
		rna_netdevs_followed(join->netdevs.netdevs, port->rdma_device, port->port);

	port->port_netdev =
		rna_netdev_search_port(&join->netdevs, port->rdma_device->name, port->port);
	if (port->port_netdev)
		port->netdev = rna_netdev_search_name(&join->netdevs, port->port_netdev->netdev);
	if (followed) {
		port->port_netdev = &followed->port;
		port->netdev = &followed->netdev;
	}
}

/* Without an account nothing is remembered: it is what the collectors know now. */
static void set_peer(struct rna_subject *port)
{
	const struct rna_snapshot *snapshot = port->view->snapshot;

	port->peer = port->account ? port->account->peer : rna_port_peer(port->device, port->port);
	if (!port->peer && !port->account)
		port->peer = rna_lldp_find_port(rna_snapshot_lldp(snapshot),
						rna_snapshot_netdevs(snapshot), port->rdma_device,
						port->netdev);
	port->peer_link = port->peer && !port->peer->stale ? &port->peer->link : NULL;
}

/* The table without the addresses of other network namespaces; the same one if it has none. */
static const struct rna_port_gids *gids_here(const struct rna_port_gids *gids,
					     struct rna_arena *arena)
{
	struct rna_port_gids *here = NULL;
	struct rna_gid_entry *entries;
	size_t count = rna_port_gids_count_here(gids);

	if (count == gids->count)
		return gids;
	entries = rna_arena_array(arena, count, sizeof(*entries));
	if (entries)
		here = rna_arena_alloc(arena, sizeof(*here));
	if (!here)
		return NULL;
	*here = *gids;
	here->entries = entries;
	here->count = 0;
	for (size_t i = 0; i < gids->count; i++)
		if (!gids->entries[i].elsewhere)
			entries[here->count++] = gids->entries[i];
	return here;
}

static void set_nccl(struct rna_subject *port)
{
	bool infiniband = port->link_layer == RNA_LINK_LAYER_INFINIBAND;
	bool suits = port->gids && rna_subject_suits_nccl(port);
	bool roce = port->gids && rna_subject_is_active_roce(port);
	const struct rna_port_gids *gids =
		suits || roce ? gids_here(port->gids, port->view->arena) : NULL;
	const struct rna_gid_entry *entry;
	unsigned index;

	if (!gids)
		return;
	index = rna_nccl_gid_index(gids, infiniband, &RNA_NCCL_STANDARD);
	entry = roce ? rna_port_gids_find(gids, index) : NULL;
	if (suits)
		port->nccl_index = rna_value_ok(index);
	if (entry && rna_gid_is_routable(entry)) /* none is elsewhere */
		port->nccl_routable = rna_value_ok(index);
}

/* ret is a copy of the subject of its device. */
static void set_port(struct join *join, unsigned number, size_t index, struct rna_subject *ret)
{
	const struct rna_snapshot_device *device = ret->device;

	ret->port = number;
	ret->port_identity = rna_port_identity(device, number);
	ret->link_layer =
		ret->port_identity ? ret->port_identity->link_layer : RNA_LINK_LAYER_UNKNOWN;
	ret->state = rna_port_state(device, number);
	ret->unseen |= !rna_subject_state_is_known(ret);
	ret->link = rna_port_link(device, number);
	ret->fabric = rna_port_fabric(device, number);
	ret->gids = rna_port_gids(device, number);
	ret->qos = rna_port_qos(device, number);
	ret->account = join->view->ports ? &join->view->ports[index] : NULL;
	ret->selftest = rna_selftest_find(join->view->selftests, ret->rdma_device->name, number,
					  &join->tested);
	set_netdev(join, ret);
	set_peer(ret);
	set_nccl(ret);
	memset(ret->groups, 0, sizeof(ret->groups)); /* those of the device */
	set_groups(ret);
}

/*
 * Is the device in switchdev mode? One of its ports has a representor; or no function has one, and
 * the only port with an interface is active without any GID.
 */
static bool is_in_switchdev(const struct rna_subject *ports, size_t count)
{
	const struct rna_subject *only = NULL;
	size_t with_netdev = 0;

	for (size_t i = 0; i < count; i++) {
		if (!ports[i].netdev)
			continue;
		if (ports[i].netdev->representor)
			return true;
		only = &ports[i];
		with_netdev++;
	}
	return count > 1 && with_netdev == 1 && rna_subject_is_active(only) && only->gids &&
	       only->gids->count == 0;
}

/*
 * In switchdev mode of mlx5 a device has a port for each function of the embedded switch
 * (hw/mlx5/ib_rep.c, mlx5_ib_vport_rep_load(); the uplink is port 1 in old kernels, the last one
 * since Linux 5.12). Only the uplink has a cable: its interface is no representor. Where the agent
 * sees that one interface for all ports, it is that of the first. A port without an interface is
 * one of a function that is not there.
 */
static bool represents(const struct rna_subject *port, const struct rna_subject *ports,
		       bool switchdev)
{
	if (port->link_layer != RNA_LINK_LAYER_ETHERNET)
		return false;
	if (!port->netdev)
		return switchdev;
	if (port->netdev->representor)
		return true;
	for (const struct rna_subject *other = ports; other < port; other++)
		if (other->netdev == port->netdev)
			return true;
	return false;
}

/* All ports of one device: what one of them is depends on the others. */
static void compare_ports(struct join *join, struct rna_subject *ports, size_t count)
{
	bool switchdev = is_in_switchdev(ports, count);

	for (size_t i = 0; i < count; i++) {
		ports[i].represents = represents(&ports[i], ports, switchdev);
		ports[i].judged = is_judged(join, &ports[i]);
		set_siblings(join, &ports[i]);
	}
}

/* -- All of them ------------------------------------------------------------------------------- */

static struct rna_subject *make_list(struct rna_view *view, struct rna_subjects *subjects,
				     enum rna_scope scope, size_t count)
{
	struct rna_subject *items = rna_arena_array(view->arena, count + 1, sizeof(*items));

	subjects->scopes[scope] = (struct rna_subject_list){count, items};
	return items;
}

static int join_node_and_cards(struct rna_view *view, struct rna_subjects *subjects)
{
	struct rna_subject *node = make_list(view, subjects, RNA_SCOPE_NODE, 1);
	struct rna_subject *cards =
		make_list(view, subjects, RNA_SCOPE_CARD, view->cards ? view->cards->count : 0);

	if (!node || !cards)
		return -ENOMEM;
	*node = (struct rna_subject){
		.view = view,
		.process = rna_snapshot_process(view->snapshot),
		.presence = rna_snapshot_presence(view->snapshot),
		.readiness = rna_snapshot_readiness(view->snapshot),
		.web = view->agent.web.used ? &view->agent.web : NULL,
	};
	for (size_t i = 0; view->cards && i < view->cards->count; i++) {
		cards[i].view = view;
		cards[i].card = &view->cards->items[i];
	}
	return 0;
}

static int join_devices_and_ports(struct join *join, struct rna_view *view,
				  struct rna_subjects *subjects, char *const *networks)
{
	const struct rna_snapshot *snapshot = view->snapshot;
	struct rna_subject *devices, *ports;
	size_t count = 0, next = 0;

	for (size_t i = 0; i < snapshot->device_count; i++)
		count += snapshot->devices[i].device->port_count;
	devices = make_list(view, subjects, RNA_SCOPE_DEVICE, snapshot->device_count);
	ports = make_list(view, subjects, RNA_SCOPE_PORT, count);
	if (!devices || !ports || list_rails(join) < 0 || count_functions(join) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct rna_device *device = snapshot->devices[i].device;

		set_device(join, i, &devices[i]);
		if (device->port_count > 0)
			devices[i].ports = &ports[next];
		for (size_t p = 0; p < device->port_count; p++, next++) {
			ports[next] = devices[i];
			set_port(join, device->ports[p], next, &ports[next]);
		}
		compare_ports(join, &ports[next - device->port_count], device->port_count);
	}
	return rna_networks_find(view, ports, count, networks);
}

int rna_subjects_join(struct rna_view *view, bool virtual_functions, char *const *networks)
{
	struct rna_subjects *subjects = rna_arena_alloc(view->arena, sizeof(*subjects));
	struct join join = {
		.view = view,
		.virtual_functions = virtual_functions,
		.netdevs.netdevs = rna_snapshot_netdevs(view->snapshot),
	};

	if (!subjects || join_node_and_cards(view, subjects) < 0 ||
	    join_devices_and_ports(&join, view, subjects, networks) < 0)
		return -ENOMEM;
	view->subjects = subjects;
	return 0;
}
