// SPDX-License-Identifier: Apache-2.0
/* Rules about what the agent cannot see of other processes, although a setting asks for it. */
#include <inttypes.h>

#include "settings/settings.h"

#include "remedy.h"
#include "rules.h"

static bool misses_devices(const struct rna_presence *presence)
{
	for (size_t i = 0; i < presence->bare_count; i++)
		if (presence->bare[i].whereabouts == RNA_WHEREABOUTS_MOVED)
			return true;
	return false;
}

/*
 * What is missing; NULL: nothing. That some processes are closed to it means nothing as long as no
 * device is missing: AppArmor closes those of other profiles, which are not of pods.
 */
static const char *find_limit(const struct rna_presence *presence, struct rna_arena *arena)
{
	const struct rna_follow_reach *reach = &presence->reach;

	if (reach->own_namespace)
		return "it has a PID namespace of its own, without the processes of the node";
	if (reach->hidden)
		return "its /proc hides the processes of others (hidepid), and it has no "
		       "CAP_SYS_PTRACE";
	if (reach->refused > 0 && misses_devices(presence))
		return rna_arena_printf(arena,
					"%zu processes are closed to it, for lack of "
					"CAP_SYS_PTRACE or by a security module",
					reach->refused);
	return NULL;
}

void rna_check_namespaces_hidden(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_presence *presence = rna_snapshot_presence(in->view->snapshot);
	const char *limit = NULL;

	if (!presence) {
		rna_finds_add_unknown(out);
		return;
	}
	if (presence->reach.asked)
		limit = find_limit(presence, out->arena);
	if (limit)
		(void)rna_finds_add(out,
				    "the agent cannot follow devices into other network "
				    "namespaces: %s",
				    limit);
}

void rna_check_namespaces_crowded(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_presence *presence = rna_snapshot_presence(in->view->snapshot);
	const struct rna_follow_reach *reach = presence ? &presence->reach : NULL;

	if (!presence)
		rna_finds_add_unknown(out);
	else if (reach->left_out > 0)
		(void)rna_finds_add(out,
				    "the network namespace of process %u has more devices or ports "
				    "than the agent reads in one (follow.max_devices: %u, "
				    "follow.max_ports: %u); devices left out: %zu",
				    reach->crowded, in->settings->follow_max_devices,
				    in->settings->follow_max_ports, reach->left_out);
}

static void add_contested(const struct rna_contested_device *contested, struct rna_finds *out)
{
	const struct rna_remedy_names names = {.device = contested->name};
	struct rna_finding *found = rna_finds_add(
		out,
		"%s: the network namespaces of process %u and of process %u both have "
		"it; the agent believes neither",
		contested->name, contested->processes[0], contested->processes[1]);

	found->device = contested->name;
	found->remedy = rna_rule_fill_remedy(out->rule->remedy, &names, out->arena);
}

void rna_check_device_contested(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_presence *presence = rna_snapshot_presence(in->view->snapshot);

	if (!presence)
		rna_finds_add_unknown(out);
	for (size_t i = 0; presence && i < presence->contested_count; i++)
		add_contested(&presence->contested[i], out);
}

/* The device plugin or the DRA driver is to pass the file; "ibstat" works without it. */
void rna_check_device_node_pod(const struct rna_rule_input *in, struct rna_finds *out)
{
	const char *file = in->subject ? in->subject->device->device->missing_file : NULL;

	if (file)
		(void)rna_finds_add(out,
				    "it is in the network namespace of processes of which none "
				    "has /dev/infiniband/%s: verbs cannot open it there",
				    file);
}

/* The kernel names no process of another PID namespace: fill_res_name_pid() in core/nldev.c. */
void rna_check_users_hidden(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_users *users = in->subject ? rna_device_users(in->subject->device) : NULL;

	if (in->settings->metrics_users && users && users->unnamed[RNA_UNNAMED_HIDDEN] > 0)
		(void)rna_finds_add(out,
				    "processes that the agent does not see have it open "
				    "(contexts: %" PRIu64 ")",
				    users->unnamed[RNA_UNNAMED_HIDDEN]);
}
