// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about virtual functions: what keeps one from working, and can be seen only from the
 * physical one. A function that no driver has is meant for nobody yet, and is not judged.
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

/* Its port stays down without a GUID, whoever has it. Ethernet makes addresses up. */
static bool lacks_guid(const struct rna_virtual_function *function)
{
	return is_used(function) && !function->mac &&
	       holds(rna_vf_has(function, RNA_VF_UNASSIGNED));
}

static bool is_kept_down(const struct rna_virtual_function *function)
{
	return is_used(function) && holds(rna_vf_has(function, RNA_VF_LINK_IS_DOWN));
}

/* How many of them are so, and the first. */
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

static bool is_infiniband(const struct rna_rule_subject *device)
{
	const struct rna_port_identity *port = rna_port_identity(device->device, 1);

	return port && port->link_layer == RNA_LINK_LAYER_INFINIBAND;
}

void rna_check_virtual_function_guid(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_virtual_function *first = NULL;
	const struct rna_virtual_functions *functions;
	size_t count;

	if (!in->subject || !is_infiniband(in->subject))
		return;
	functions = rna_device_virtual_functions(in->subject->device);
	count = count_such(functions, lacks_guid, &first);
	if (count > 0)
		(void)rna_find(out,
			       "%zu of %zu virtual functions have a driver and no GUID, so that "
			       "their ports stay down; the first is %u (PCI %s)",
			       count, functions->count, first->number, address_of(first));
}

void rna_check_virtual_function_link(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_virtual_function *first = NULL;
	const struct rna_virtual_functions *functions;
	size_t count;

	if (!in->subject)
		return;
	functions = rna_device_virtual_functions(in->subject->device);
	count = count_such(functions, is_kept_down, &first);
	if (count > 0)
		(void)rna_find(
			out,
			"%zu of %zu virtual functions have a driver, and a link that somebody "
			"keeps down; the first is %u (PCI %s)",
			count, functions->count, first->number, address_of(first));
}
