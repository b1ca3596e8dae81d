// SPDX-License-Identifier: Apache-2.0
/* Rules about what the agent cannot see of other processes, although a setting asks for it. */
#include <inttypes.h>

#include "settings/settings.h"

#include "remedy.h"
#include "rules.h"

static bool misses_devices(const struct rna_presence *presence)
{
	return RNA_ANY(i, presence->bare_count,
		       presence->bare[i].whereabouts == RNA_WHEREABOUTS_MOVED);
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

static void check_namespaces_hidden(const struct rna_rule_input *in, struct rna_finds *out)
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

const struct rna_rule rna_rule_namespaces_hidden = {
	RNA_RULE_ROW("namespaces-hidden", NODE, WARNING, AGENT, HOST, NOT_OBSERVED),
	.hold = "30s",
	.help = "follow.enabled is true, but the agent lacks a right that it needs to "
		"follow devices into other network namespaces.",
	.check = check_namespaces_hidden,
	.remedy = "Give the agent CAP_SYS_PTRACE and the PID namespace of the node: by "
		  "follow.enabled of the chart, or the profile follow of the systemd unit. "
		  "AppArmor has to allow ptrace (read). Or set follow.enabled to false.",
	.message_id = "3700ebe65478413e9b722ff1bc322176",
};

static void check_namespaces_crowded(const struct rna_rule_input *in, struct rna_finds *out)
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

const struct rna_rule rna_rule_namespaces_crowded = {
	RNA_RULE_ROW("namespaces-crowded", NODE, WARNING, AGENT, JOB, NOT_OBSERVED),
	.hold = "30s",
	.help = "A network namespace has more RDMA devices than follow.max_devices, or "
		"more ports than follow.max_ports. The agent does not read the others.",
	.check = check_namespaces_crowded,
	.remedy = "If the pod is meant to have so many devices, set follow.max_devices and "
		  "follow.max_ports to more; each device takes memory of the agent.",
	.message_id = "0222c9bbbe2447059eff2905831dae50",
};

static void add_contested(const struct rna_contested_device *contested, struct rna_finds *out)
{
	const struct rna_remedy_place place = {.device = contested->name};
	struct rna_finding *found = rna_finds_add(
		out,
		"%s: the network namespaces of process %u and of process %u both have "
		"it; the agent believes neither",
		contested->name, contested->processes[0], contested->processes[1]);

	found->device = contested->name;
	found->remedy = rna_rule_fill_remedy(out->rule->remedy, &place, out->arena);
}

static void check_device_contested(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_presence *presence = rna_snapshot_presence(in->view->snapshot);

	if (!presence)
		rna_finds_add_unknown(out);
	for (size_t i = 0; presence && i < presence->contested_count; i++)
		add_contested(&presence->contested[i], out);
}

const struct rna_rule rna_rule_device_contested = {
	RNA_RULE_ROW("device-contested", NODE, WARNING, AGENT, JOB, NOT_OBSERVED),
	.hold = "30s",
	.help = "Two network namespaces have the same RDMA device, although a device is in "
		"one at a time. The agent believes neither and does not read the device.",
	.check = check_device_contested,
	.remedy = "Find the namespace that has {device}: nsenter --net --target PID rdma "
		  "dev, for both processes. Compare what they mount on /sys: "
		  "/proc/PID/mountinfo.",
	.message_id = "49753d9f67c0467682ee4fa321fe0a4a",
};

/* The device plugin or the DRA driver is to pass the file; "ibstat" works without it. */
static void check_device_node_pod(const struct rna_rule_input *in, struct rna_finds *out)
{
	const char *file = in->subject ? in->subject->device->device->missing_file : NULL;

	if (file)
		(void)rna_finds_add(out,
				    "it is in the network namespace of processes of which none "
				    "has /dev/infiniband/%s: verbs cannot open it there",
				    file);
}

const struct rna_rule rna_rule_device_node_pod = {
	RNA_RULE_ROW("device-node-pod", DEVICE, WARNING, HOST, JOB, NOT_READY),
	.settles = true,
	.hold = "2m", /* containers of a pod start one after the other */
	.help = "A device is in the network namespace of a pod, but none of its containers "
		"has the file of verbs, so that they see the device and cannot use it. "
		"Checked with follow.enabled.",
	.check = check_device_node_pod,
	.remedy = "Look into the container: ls -l /dev/infiniband, and rdma-node-agent "
		  "status --pid. The device plugin or the DRA driver has to pass the file, "
		  "with rdma_cm: enable RDMA in its configuration (isRdma of the SR-IOV "
		  "plugin), and request its resource in the container that needs it.",
	.message_id = "09f7a5c6f450456fb3bd40d1e5343c0f",
};

/* The kernel names no process of another PID namespace: fill_res_name_pid() in core/nldev.c. */
static void check_users_hidden(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_users *users = in->subject ? rna_device_users(in->subject->device) : NULL;

	if (in->settings->metrics_users && users && users->unnamed[RNA_UNNAMED_HIDDEN] > 0)
		(void)rna_finds_add(out,
				    "processes that the agent does not see have it open "
				    "(contexts: %" PRIu64 ")",
				    users->unnamed[RNA_UNNAMED_HIDDEN]);
}

const struct rna_rule rna_rule_users_hidden = {
	RNA_RULE_ROW("users-hidden", DEVICE, INFO, AGENT, HOST, NOT_OBSERVED),
	.hold = "30s",
	.help = "metrics.users is true, but processes that have a device open are in "
		"another PID namespace, so that the agent cannot name their users.",
	.check = check_users_hidden,
	.remedy = "Give the agent the PID namespace of the node: by users.enabled of the "
		  "chart. Or set metrics.users to false.",
	.message_id = "2e835d99e79545e4904fb9b7faf90239",
};
