// SPDX-License-Identifier: Apache-2.0
#include "probe_ports.h"

#include <stdio.h>
#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"
#include "rna/model/env.h"
#include "rna/model/nccl.h"

#include "selftest/plan.h"

enum { NAME_MAX_LENGTH = 63 };
enum { CLASS_MAX = 255, LEVEL_MAX = 15, DSCP_SHIFT = 2, DSCP_UNKNOWN = 255, ARENA = 4096 };

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

/* -- Classes ----------------------------------------------------------------------------------- */

/* One of the two numbers: its variable of NCCL, and its largest value. */
struct number {
	enum rna_nccl_file_variable variable;
	uint64_t max;
};

static const struct number traffic_class = {RNA_NCCL_FILE_IB_TC, CLASS_MAX};
static const struct number service_level = {RNA_NCCL_FILE_IB_SL, LEVEL_MAX};

static bool take(const struct number *number, const char *text, uint8_t *ret)
{
	uint64_t value;

	if (!text || rna_parse_u64(text, &value) < 0 || value > number->max)
		return false;
	*ret = (uint8_t)value;
	return true;
}

static bool is_auto(const char *text)
{
	return strcmp(text, "auto") == 0;
}

static bool is_valid(const struct number *number, const char *text)
{
	uint8_t value;

	return is_auto(text) || take(number, text, &value);
}

bool rna_probe_traffic_class_is_valid(const char *text)
{
	return is_valid(&traffic_class, text);
}

bool rna_probe_service_level_is_valid(const char *text)
{
	return is_valid(&service_level, text);
}

/* -- NCCL -------------------------------------------------------------------------------------- */

static const char *find_variable(const struct rna_env_advice *advice, const char *name)
{
	for (size_t i = 0; i < advice->variable_count; i++)
		if (strcmp(advice->variables[i].name, name) == 0)
			return advice->variables[i].value;
	return NULL;
}

/* That of the file comes first: NCCL reads it if the environment of a job says nothing. */
static uint8_t ask_nccl(const struct rna_view *view, const struct rna_env_advice *advice,
			const struct number *number)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(view->snapshot);
	uint8_t ret = 0;

	if (!readiness || !take(number, readiness->nccl_file.values[number->variable], &ret))
		(void)take(number, find_variable(advice, rna_nccl_file_names[number->variable]),
			   &ret);
	return ret;
}

struct rna_probe_class rna_probe_class_of_jobs(const struct rna_view *view,
					       const struct rna_settings *settings)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	const struct rna_env_request request = {.library = RNA_ENV_NCCL, .gpu = RNA_ENV_NODE};
	struct rna_env_advice advice = {0};
	struct rna_probe_class ret;

	if (!arena || rna_env_advise(view, &request, arena, &advice) < 0)
		advice = (struct rna_env_advice){0}; /* without memory it is that of the file */
	if (!take(&traffic_class, settings->probe_traffic_class, &ret.traffic_class))
		ret.traffic_class = ask_nccl(view, &advice, &traffic_class);
	if (!take(&service_level, settings->probe_service_level, &ret.service_level))
		ret.service_level = ask_nccl(view, &advice, &service_level);
	ret.dscp = ret.traffic_class >> DSCP_SHIFT;
	return ret;
}

/* -- The driver -------------------------------------------------------------------------------- */

struct rna_probe_class rna_probe_class_of_port(struct rna_probe_class jobs, struct rna_value driver,
					       const struct rna_settings *settings)
{
	if (driver.state != RNA_VALUE_OK || driver.number > CLASS_MAX ||
	    driver.number == jobs.traffic_class)
		return jobs;
	if (is_auto(settings->probe_traffic_class)) {
		jobs.traffic_class = (uint8_t)driver.number;
		jobs.dscp = jobs.traffic_class >> DSCP_SHIFT;
	} else {
		jobs.dscp = DSCP_UNKNOWN;
	}
	return jobs;
}

/* -- Plans ------------------------------------------------------------------------------------- */

/*
 * That the operator names; else the switch at the other end of the cable; else what the Node is
 * labelled with.
 */
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
	else if (subject->view->node && subject->view->node->leaf)
		(void)snprintf(ret, size, "%s", subject->view->node->leaf);
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
	plan->gid_index = rna_value_is_known(subject->nccl_index)
				  ? (int)subject->nccl_index.number
				  : (int)rna_nccl_gid_index(gids, false, &RNA_NCCL_STANDARD);
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

size_t rna_probe_plans(const struct rna_view *view, const struct rna_settings *settings,
		       struct rna_probe_class class, struct rna_probe_plan *ret, size_t size)
{
	const struct rna_subject_list *ports = rna_view_ports(view);
	size_t count = 0;
	unsigned number = 0;

	for (size_t i = 0; count < size && i < ports->count; i++) {
		const struct rna_subject *port = &ports->items[i];
		struct rna_probe_plan *plan = &ret[count];

		if (rna_test_look_at_device(port->device) != RNA_SKIP_NONE)
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
