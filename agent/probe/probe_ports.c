// SPDX-License-Identifier: Apache-2.0
#include "probe_ports.h"

#include <stdio.h>
#include <string.h>

#include "rna/model/nccl.h"

#include "selftest/plan.h"

enum { NAME_MAX_LENGTH = 63 };

/* -- Settings ---------------------------------------------------------------------------------- */

static bool is_name(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789-._");

	return len > 0 && len <= NAME_MAX_LENGTH && text[len] == '\0';
}

bool rna_probe_name_or_none_is_valid(const char *text)
{
	return text[0] == '\0' || is_name(text);
}

bool rna_probe_leaf_is_valid(const char *entry)
{
	const char *equals = strchr(entry, '=');

	return equals && equals > entry && equals - entry < RNA_PROBER_NAME_MAX &&
	       !memchr(entry, ' ', (size_t)(equals - entry)) && is_name(equals + 1);
}

/* -- Plans ------------------------------------------------------------------------------------- */

/* That the operator names; else the switch at the other end of the cable. */
static void find_leaf(const struct rna_subject *subject, const struct rna_settings *settings,
		      char *ret, size_t size)
{
	const char *device = subject->device->device->name;
	const struct rna_peer *peer = subject->fabric ? subject->fabric->peer : NULL;
	const struct rna_snapshot *snapshot = subject->view->snapshot;
	size_t len = strlen(device);

	ret[0] = '\0';
	for (char **entry = settings->probe_leaf; entry && *entry; entry++)
		if (strncmp(*entry, device, len) == 0 && (*entry)[len] == '=') {
			(void)snprintf(ret, size, "%s", *entry + len + 1);
			return;
		}
	if (!peer)
		peer = rna_lldp_find_port(rna_snapshot_lldp(snapshot),
					  rna_snapshot_netdevs(snapshot), subject->rdma_device,
					  subject->netdev);
	if (peer && peer->guid)
		(void)snprintf(ret, size, "%s", peer->guid);
	else if (peer && peer->name)
		(void)snprintf(ret, size, "%s", peer->name);
}

/* Of the NICs that serve GPUs; without GPUs the number of the device in the view. */
static unsigned find_rail(const struct rna_subject *subject, unsigned number)
{
	const struct rna_topology *topology = rna_snapshot_topology(subject->view->snapshot);
	const struct rna_nic *nic =
		topology ? rna_topology_find_nic(topology, subject->device->device) : NULL;

	if (topology && topology->gpu_count > 0)
		return nic && nic->rail >= 0 ? (unsigned)nic->rail : RNA_PROBE_RAIL_UNKNOWN;
	return number < RNA_PROBE_RAIL_UNKNOWN ? number : RNA_PROBE_RAIL_UNKNOWN;
}

static const char *choose_address(const struct rna_subject *subject, struct rna_probe_plan *plan)
{
	const struct rna_port_gids *gids = subject->gids;
	const struct rna_gid_entry *entry;

	plan->gid_index = -1;
	if (plan->infiniband)
		return NULL;
	if (!gids)
		return "its GIDs are not known yet";
	plan->gid_index = (int)rna_nccl_gid_index(gids, false, &RNA_NCCL_STANDARD);
	entry = rna_port_gids_find(gids, (unsigned)plan->gid_index);
	if (!entry || entry->type != RNA_GID_TYPE_ROCE_V2)
		return "it has no GID of RoCE v2";
	memcpy(plan->gid, &entry->gid, sizeof(plan->gid));
	return NULL;
}

static const char *look(const struct rna_subject *subject, const struct rna_settings *settings,
			struct rna_probe_plan *plan)
{
	const struct rna_port_identity *identity = subject->port_identity;

	if (!identity)
		return "its link layer is not known yet";
	plan->infiniband = identity->link_layer == RNA_LINK_LAYER_INFINIBAND;
	plan->class = rna_probe_class_of_port(plan->class, identity->traffic_class, settings);
	if (!rna_subject_is_active(subject))
		return "the port is not ACTIVE";
	return choose_address(subject, plan);
}

/*
 * Virtual functions share their link; management functions and EFA have no datagrams for others;
 * and a device in another network namespace cannot be opened.
 */
static bool can_ever(const struct rna_snapshot_device *device)
{
	enum rna_function function = device->device->function;

	return !device->device->process && function != RNA_FUNCTION_VF &&
	       function != RNA_FUNCTION_SF && function != RNA_FUNCTION_SWITCH_MANAGEMENT &&
	       rna_device_node_type(device) == RNA_NODE_TYPE_CA;
}

size_t rna_probe_plans(const struct rna_view *view, const struct rna_settings *settings,
		       struct rna_probe_class class, struct rna_probe_plan *ret, size_t size)
{
	const struct rna_subject_list *ports = rna_view_ports(view);
	size_t count = 0;
	unsigned number = 0;

	for (size_t i = 0; count < size && i < ports->count; i++) {
		const struct rna_subject *port = &ports->items[i];
		struct rna_probe_plan *plan = &ret[count];

		if (!can_ever(port->device))
			continue;
		*plan = (struct rna_probe_plan){.port = port->port, .class = class};
		(void)snprintf(plan->device, sizeof(plan->device), "%s", port->rdma_device->name);
		plan->software = !port->rdma_device->pci_address;
		plan->card = port->card ? (int)(port->card - view->cards->items) : -1;
		plan->why = look(port, settings, plan);
		plan->rail = find_rail(port, number++);
		find_leaf(port, settings, plan->leaf, sizeof(plan->leaf));
		count++;
	}
	return count;
}
