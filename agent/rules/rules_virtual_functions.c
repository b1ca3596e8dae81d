// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about virtual functions: problems that only the physical function shows. Functions without
 * a driver are unused and not checked.
 */
#include "rna/model/virtual_functions.h"

#include "rules.h"

static bool holds(struct rna_value value)
{
	return rna_value_is_known(value) && value.number;
}

static bool is_used(const struct rna_virtual_function *function)
{
	return function->driver != NULL;
}

/* Without a GUID its port stays down. Ethernet drivers generate addresses themselves. */
static bool lacks_guid(const struct rna_virtual_function *function)
{
	return is_used(function) && !function->mac &&
	       holds(rna_vf_has(function, RNA_VF_UNASSIGNED));
}

static bool is_kept_down(const struct rna_virtual_function *function)
{
	return is_used(function) && holds(rna_vf_has(function, RNA_VF_LINK_IS_DOWN));
}

/* How many of them match, and the first. */
static size_t count_such(const struct rna_virtual_functions *functions,
			 bool (*is_so)(const struct rna_virtual_function *function),
			 const struct rna_virtual_function **ret_first)
{
	size_t count = 0;

	for (size_t i = 0; functions && i < functions->count; i++)
		if (is_so(&functions->functions[i]) && count++ == 0)
			*ret_first = &functions->functions[i];
	return count;
}

static const char *address_of(const struct rna_virtual_function *function)
{
	return function->pci_address ? function->pci_address : "?";
}

static bool is_infiniband(const struct rna_subject *device)
{
	const struct rna_port_identity *port = rna_port_identity(device->device, 1);

	return port && port->link_layer == RNA_LINK_LAYER_INFINIBAND;
}

/* NULL, no memory: the remedy of the rule stays. */
static void set_remedy(struct rna_finding *found, const char *remedy)
{
	if (remedy)
		found->remedy = remedy;
}

static void check_virtual_function_guid(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_virtual_function *first = NULL;
	const struct rna_virtual_functions *functions;
	struct rna_finding *found;
	size_t count;

	if (!in->subject || !is_infiniband(in->subject))
		return;
	functions = rna_device_virtual_functions(in->subject->device);
	count = count_such(functions, lacks_guid, &first);
	if (count == 0)
		return;
	found = rna_finds_add(
		out,
		"%zu of %zu virtual functions have a driver but no GUID, so their ports "
		"stay down; the first is %u (PCI %s)",
		count, functions->count, first->number, address_of(first));
	set_remedy(found, rna_arena_printf(
				  out->arena,
				  "Assign GUIDs (ip link set dev {netdev} vf %u node_guid G, then "
				  "port_guid G, or the policy of the SR-IOV operator), and rebind "
				  "the driver of the functions.",
				  first->number));
}

const struct rna_rule rna_rule_virtual_function_guid = {
	RNA_RULE_ROW("virtual-function-guid", DEVICE, WARNING, HOST, HOST, NOT_READY),
	.hold = "5m", /* operators bind first and configure then */
	.help = "Virtual functions of an InfiniBand device have a driver but no GUID; "
		"their ports stay down in any virtual machine or container.",
	.check = check_virtual_function_guid,
	.link_layer = RNA_LINK_LAYER_INFINIBAND,
	.remedy = "Assign GUIDs (ip link set dev {netdev} vf N node_guid G, then "
		  "port_guid G, or the policy of the SR-IOV operator), and rebind the "
		  "driver of the functions.",
	.message_id = "a42a610c83354e3aa17750564ac83df1",
};

static void check_virtual_function_link(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_virtual_function *first = NULL;
	const struct rna_virtual_functions *functions;
	struct rna_finding *found;
	size_t count;

	if (!in->subject)
		return;
	functions = rna_device_virtual_functions(in->subject->device);
	count = count_such(functions, is_kept_down, &first);
	if (count == 0)
		return;
	found = rna_finds_add(out,
			      "%zu of %zu virtual functions have a driver but are administratively "
			      "down; the first is %u (PCI %s)",
			      count, functions->count, first->number, address_of(first));
	set_remedy(found, rna_arena_printf(
				  out->arena,
				  "No action required if this is intended. Otherwise run: ip link "
				  "set dev {netdev} vf %u state auto, or change linkState in the "
				  "policy of the SR-IOV operator.",
				  first->number));
}

const struct rna_rule rna_rule_virtual_function_link = {
	RNA_RULE_ROW("virtual-function-link", DEVICE, INFO, HOST, HOST, NOT_READY),
	.hold = "5m",
	.help = "Virtual functions have a driver, but their link is administratively down.",
	.check = check_virtual_function_link,
	.remedy = "No action required if this is intended. Otherwise run: ip link set dev "
		  "{netdev} vf N state auto, or change linkState in the policy of the "
		  "SR-IOV operator.",
	.message_id = "f004fd0c23cb4d52b0f64cbfcf421818",
};
