// SPDX-License-Identifier: Apache-2.0
/* Subjects: what an output speaks about. */
#include "subjects.h"

#include <errno.h>

#include "rna/base/parse.h"
#include "rna/model/nccl.h"

static int set_count(struct rna_subject_list *list, size_t count)
{
	struct rna_subject *items;

	if (count > list->size || !list->items) { /* an empty list has its memory too */
		items = reallocarray(list->items, count + 1, sizeof(*items));
		if (!items)
			return -ENOMEM;
		list->items = items;
		list->size = count;
	}
	list->count = count;
	return 0;
}

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

static void set_device(struct rna_subject *ret, const struct rna_view *view,
		       const struct rna_snapshot_device *device)
{
	*ret = (struct rna_subject){
		.view = view,
		.card = rna_card_of(view->cards, (size_t)(device - view->snapshot->devices)),
		.device = device,
		.rdma_device = device->device,
		.identity = rna_device_identity(device),
		.pcie = pcie_of(device),
	};
	ret->hop = ret->pcie ? &ret->pcie->hops[0] : NULL;
	set_groups(ret);
}

/* ACTIVE_DEFER is not enough for NCCL. */
static bool is_active(const struct rna_subject *port)
{
	return port->state && port->state->state.state == RNA_VALUE_OK &&
	       port->state->state.number == RNA_PORT_ACTIVE;
}

/* The transport of InfiniBand: on Ethernet this is RoCE. NCCL looks at the link layer (net_ib.cc).
 */
static bool has_infiniband_transport(const struct rna_subject *port)
{
	return rna_device_node_type(port->device) == RNA_NODE_TYPE_CA;
}

bool rna_subject_suits_nccl(const struct rna_subject *port)
{
	return is_active(port) && port->link_layer != RNA_LINK_LAYER_UNKNOWN &&
	       has_infiniband_transport(port) &&
	       port->device->device->function != RNA_FUNCTION_SWITCH_MANAGEMENT;
}

static struct rna_value find_nccl_index(const struct rna_subject *port)
{
	bool infiniband = port->link_layer == RNA_LINK_LAYER_INFINIBAND;

	if (!port->gids || !rna_subject_suits_nccl(port))
		return (struct rna_value){0};
	return rna_value_ok(rna_nccl_gid_index(port->gids, infiniband, &RNA_NCCL_STANDARD));
}

/* Without an account nothing is remembered: it is what the collectors know now. */
static void set_peer(struct rna_subject *port)
{
	const struct rna_snapshot *snapshot = port->view->snapshot;

	port->peer = port->account ? port->account->peer : rna_port_peer(port->device, port->port);
	if (!port->peer && !port->account)
		port->peer = rna_lldp_find_port(rna_snapshot_lldp(snapshot),
						rna_snapshot_netdevs(snapshot),
						port->device->device, port->netdev);
	port->peer_link = port->peer && !port->peer->stale ? &port->peer->link : NULL;
}

static void set_port(struct rna_subject *ret, const struct rna_subject *device, unsigned number,
		     struct rna_netdev_search *search)
{
	const struct rna_followed_netdev *followed =
		rna_netdevs_followed(search->netdevs, device->rdma_device, number);

	*ret = (struct rna_subject){
		.view = device->view,
		.card = device->card,
		.device = device->device,
		.rdma_device = device->rdma_device,
		.identity = device->identity,
		.port = number,
		.port_identity = rna_port_identity(device->device, number),
		.state = rna_port_state(device->device, number),
		.link = rna_port_link(device->device, number),
		.fabric = rna_port_fabric(device->device, number),
		.gids = rna_port_gids(device->device, number),
		.qos = rna_port_qos(device->device, number),
		.port_netdev = rna_netdev_search_port(search, device->device->device->name, number),
	};
	if (ret->port_identity)
		ret->link_layer = ret->port_identity->link_layer;
	if (ret->port_netdev)
		ret->netdev = rna_netdev_search_name(search, ret->port_netdev->netdev);
	if (followed) {
		ret->port_netdev = &followed->port;
		ret->netdev = &followed->netdev;
	}
	ret->nccl_index = find_nccl_index(ret);
	set_groups(ret);
}

static void set_devices_and_ports(struct rna_subjects *subjects, const struct rna_view *view)
{
	const struct rna_snapshot *snapshot = view->snapshot;
	struct rna_subject *ports = subjects->scopes[RNA_SCOPE_PORT].items, *port = ports;
	struct rna_netdev_search search = {.netdevs = rna_snapshot_netdevs(snapshot)};
	size_t tested = 0; /* where the last search ended */

	for (size_t i = 0; i < snapshot->device_count; i++) {
		struct rna_subject *device = &subjects->scopes[RNA_SCOPE_DEVICE].items[i];

		set_device(device, view, &snapshot->devices[i]);
		if (view->devices)
			device->changes = &view->devices[i];
		for (size_t p = 0; p < device->device->device->port_count; p++, port++) {
			set_port(port, device, device->device->device->ports[p], &search);
			if (view->ports)
				port->account = &view->ports[port - ports];
			set_peer(port);
			port->selftest =
				rna_selftest_find(view->selftests, device->device->device->name,
						  port->port, &tested);
		}
	}
}

struct rna_subject rna_subject_of_gid(const struct rna_subject *port, size_t i)
{
	struct rna_subject ret = *port;

	ret.gid = &port->gids->entries[i];
	return ret;
}

int rna_subjects_add_gids(struct rna_subjects *subjects)
{
	const struct rna_subject_list *ports = &subjects->scopes[RNA_SCOPE_PORT];
	struct rna_subject_list *gids = &subjects->scopes[RNA_SCOPE_GID];
	size_t count = 0, next = 0;

	for (size_t p = 0; p < ports->count; p++)
		count += ports->items[p].gids ? ports->items[p].gids->count : 0;
	if (set_count(gids, count) < 0)
		return -ENOMEM;
	for (size_t p = 0; p < ports->count; p++)
		for (size_t i = 0; ports->items[p].gids && i < ports->items[p].gids->count; i++)
			gids->items[next++] = rna_subject_of_gid(&ports->items[p], i);
	return 0;
}

struct rna_subject rna_subject_of_job(const struct rna_view *view, size_t i)
{
	return (struct rna_subject){
		.view = view,
		.job = &view->jobs[i],
		.finished = view->jobs[i].ran ? &view->jobs[i] : NULL,
	};
}

int rna_subjects_add_jobs(struct rna_subjects *subjects)
{
	const struct rna_view *view = subjects->scopes[RNA_SCOPE_NODE].items[0].view;
	struct rna_subject_list *jobs = &subjects->scopes[RNA_SCOPE_JOB];

	if (set_count(jobs, view->job_count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < view->job_count; i++)
		jobs->items[i] = rna_subject_of_job(view, i);
	return 0;
}

static int make_room(struct rna_subjects *subjects, const struct rna_view *view)
{
	const struct rna_snapshot *snapshot = view->snapshot;
	size_t counts[RNA_SCOPE_COUNT] = {
		[RNA_SCOPE_NODE] = 1,
		[RNA_SCOPE_CARD] = view->cards ? view->cards->count : 0,
		[RNA_SCOPE_DEVICE] = snapshot->device_count,
	};

	for (size_t i = 0; i < snapshot->device_count; i++)
		counts[RNA_SCOPE_PORT] += snapshot->devices[i].device->port_count;
	for (size_t scope = 0; scope < RNA_SCOPE_COUNT; scope++)
		if (set_count(&subjects->scopes[scope], counts[scope]) < 0)
			return -ENOMEM;
	return 0;
}

int rna_subjects_set(struct rna_subjects *subjects, const struct rna_view *view)
{
	const struct rna_snapshot *snapshot = view->snapshot;

	if (make_room(subjects, view) < 0)
		return -ENOMEM;
	subjects->scopes[RNA_SCOPE_NODE].items[0] = (struct rna_subject){
		.view = view,
		.process = rna_snapshot_process(snapshot),
		.presence = rna_snapshot_presence(snapshot),
		.readiness = rna_snapshot_readiness(snapshot),
		.web = view->agent.web.used ? &view->agent.web : NULL,
	};
	for (size_t i = 0; i < subjects->scopes[RNA_SCOPE_CARD].count; i++)
		subjects->scopes[RNA_SCOPE_CARD].items[i] =
			(struct rna_subject){.view = view, .card = &view->cards->items[i]};
	set_devices_and_ports(subjects, view);
	return 0;
}

void rna_subjects_deinit(struct rna_subjects *subjects)
{
	for (size_t scope = 0; scope < RNA_SCOPE_COUNT; scope++)
		free(subjects->scopes[scope].items);
	*subjects = RNA_SUBJECTS_INIT;
}

const struct rna_subject *rna_subjects_next_of_card(const struct rna_subjects *subjects,
						    const struct rna_card *card,
						    struct rna_card_cursor *next)
{
	const struct rna_view *view = subjects->scopes[RNA_SCOPE_NODE].items[0].view;

	for (; next->function < card->function_count; next->function++, next->port = 0) {
		int device = card->functions[next->function].device;
		size_t first;

		if (device == RNA_NO_DEVICE ||
		    next->port >= view->snapshot->devices[device].device->port_count)
			continue;
		first = view->cards->first_ports[device];
		return &subjects->scopes[RNA_SCOPE_PORT].items[first + next->port++];
	}
	return NULL;
}

struct rna_subject_list rna_subjects_ports_of(const struct rna_subjects *subjects,
					      const struct rna_subject *device, size_t *from)
{
	const struct rna_subject_list *ports = &subjects->scopes[RNA_SCOPE_PORT];
	struct rna_subject_list ret = {.items = ports->items + *from};

	while (*from < ports->count && ports->items[*from].device == device->device) {
		ret.count++;
		(*from)++;
	}
	return ret;
}
