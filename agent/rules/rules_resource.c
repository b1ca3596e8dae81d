// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about the Node in Kubernetes: its taint, and resources of device plugins. If a device
 * plugin has died or considers a NIC unhealthy, the node looks healthy but no RDMA pod starts: the
 * kubelet reports an allocatable of 0, or less than the capacity.
 *
 * A resource of k8s-rdma-shared-dev-plugin counts users (rdmaHcaMax), not devices: 63 of it say
 * nothing about 8 devices. If there is such a resource for each device, their number does.
 */
#include <string.h>

#include "settings/settings.h"

#include "rules.h"

/* Functions of the most common model: NICs for storage are often not advertised. */
static size_t count_functions(const struct rna_rule_input *in)
{
	size_t most = 0;

	RNA_EACH (port, in->ports->items, in->ports->count) {
		size_t count = 0;

		for (size_t k = 0; port->model > 0 && k < in->ports->count; k++)
			count += in->ports->items[k].model == port->model &&
				 in->ports->items[k].port == port->port;
		if (count > most)
			most = count;
	}
	return most;
}

static const struct rna_kubernetes_resource *find_resource(const struct rna_node_status *node,
							   const char *name)
{
	return RNA_FIND(i, node->resources, node->resource_count,
			strcmp(node->resources[i].name, name) == 0);
}

static void begin(struct rna_strbuf *out)
{
	if (out->len > 0)
		rna_strbuf_puts(out, "; ");
}

/* Resources that kubernetes.resources names without a glob must exist. */
static void look_for_named(const struct rna_rule_input *in, struct rna_strbuf *out)
{
	char *const *name = in->settings->kubernetes_resources;

	for (; name && *name; name++) {
		if (strpbrk(*name, "*?[") || find_resource(in->view->node, *name))
			continue;
		begin(out);
		rna_strbuf_printf(out, "%s is missing", *name);
	}
}

/* Returns how many can be allocated. */
static uint64_t look_at(const struct rna_kubernetes_resource *resource, struct rna_strbuf *out)
{
	if (resource->allocatable == 0) {
		begin(out);
		rna_strbuf_printf(out, "%s: none allocatable", resource->name);
	} else if (resource->allocatable < resource->capacity) {
		begin(out);
		rna_strbuf_printf(out, "%s: %ju of %ju allocatable", resource->name,
				  (uintmax_t)resource->allocatable, (uintmax_t)resource->capacity);
	}
	return resource->allocatable;
}

/* What the node advertises for all of its devices. */
static void compare(const struct rna_node_status *node, uint64_t sum, size_t functions,
		    struct rna_strbuf *out)
{
	size_t shared = 0;

	for (size_t i = 0; i < node->resource_count; i++)
		shared += node->resources[i].capacity > functions;
	if (node->resource_count > 0 && shared == 0 && sum < functions)
		rna_strbuf_printf(out, "%ju in total for %zu devices", (uintmax_t)sum, functions);
	/* Few ones may be groups of devices: compute and storage, or those of a NUMA node. */
	if (shared < functions && shared > functions / 2 && shared > 2)
		rna_strbuf_printf(out, "%zu shared resources for %zu devices", shared, functions);
}

static void check_resources_missing(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_node_status *node = in->view->node;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	size_t functions = count_functions(in);
	uint64_t sum = 0;

	if (!node || !node->backends[RNA_NODE_BACKEND_API].used)
		return;
	if (!node->resources_known) {
		rna_finds_add_unknown(out);
		return;
	}
	look_for_named(in, &text);
	for (size_t i = 0; i < node->resource_count; i++)
		sum += look_at(&node->resources[i], &text);
	if (text.len == 0)
		compare(node, sum, functions, &text);
	if (text.failed)
		out->failed = true;
	else if (text.len > 0 && in->devices->count > 0)
		rna_finds_add(out, "device plugins advertise less than the node has: %s",
			      text.data);
}

const struct rna_rule rna_rule_resources_missing = {
	RNA_RULE_ROW("resources-missing", NODE, WARNING, HOST, PLATFORM, RESOURCES_MISSING),
	.hold = "0s", /* the Node is looked at rarely */
	.help = "Device plugins advertise none, or fewer, of the RDMA resources that the "
		"node has. Checked with kubernetes.backend api or both.",
	.check = check_resources_missing,
	.remedy = "Read the logs of the device plugin on this node and of the kubelet; "
		  "kubectl describe node shows the allocatable resources.",
	.message_id = "96b6569d987a4a24a205a717a8c17dc5",
};

/* With the setting, the node was to be taken from its users, and is not. */
static void check_taint_withheld(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_node_status *node = in->view->node;

	if (node && node->taint_withheld != RNA_WITHHELD_NOTHING)
		rna_finds_add(out, "the Node does not get the taint %s: %s",
			      in->settings->kubernetes_taint,
			      rna_withheld_reason(node->taint_withheld));
}

const struct rna_rule rna_rule_taint_withheld = {
	RNA_RULE_ROW("taint-withheld", NODE, WARNING, AGENT, PLATFORM, TAINT_WITHHELD),
	.help = "The Node should have the taint, and does not get it: other nodes hold all Leases "
		"of kubernetes.taint_leases, there are none, the API server refuses them, or "
		"kubernetes.taint_dry_run is true.",
	.check = check_taint_withheld,
	.remedy = "If many nodes are sick at once, look for a cause that they share before you "
		  "raise the limit. To keep jobs from this node meanwhile, cordon it.",
	.message_id = "7b061a56bbc248c99c5d3b53c1fbf668",
};

static void check_label_held(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_node_status *node = in->view->node;

	if (node && node->label_held)
		rna_finds_add(out, "another client has a label of the Node: %s", node->label_held);
}

const struct rna_rule rna_rule_label_held = {
	RNA_RULE_ROW("label-held", NODE, INFO, AGENT, PLATFORM, NOT_READY),
	.help = "The label kubernetes.roce_key of the Node has another value than the agent would "
		"give it. Another client has written it, and kubernetes.roce_label is "
		"only-if-unset.",
	.check = check_label_held,
	.remedy = "Decide who sets the label: set kubernetes.roce_label to own or off, or take the "
		  "label out of the other client (a NodeFeatureRule, a script).",
	.message_id = "3dc8010627ce438388e8d02f0362547a",
};
