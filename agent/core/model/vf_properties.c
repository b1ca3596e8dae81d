// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "rna/model/virtual_functions.h"

static struct rna_value is(struct rna_value value, bool holds)
{
	return rna_value_is_known(value) ? rna_value_ok(holds) : value;
}

/* Properties from sysfs are unknown if the function is not in this node's PCI tree. */
static struct rna_value has(const struct rna_virtual_function *function, const char *text)
{
	return function->pci_address ? rna_value_ok(text != NULL) : (struct rna_value){0};
}

struct rna_value rna_vf_has(const struct rna_virtual_function *function,
			    enum rna_vf_property property)
{
	bool passed = function->driver && strcmp(function->driver, "vfio-pci") == 0;

	switch (property) {
	case RNA_VF_BOUND:
		return has(function, passed ? NULL : function->driver);
	case RNA_VF_PASSED:
		return has(function, passed ? function->driver : NULL);
	case RNA_VF_RDMA:
		return has(function, function->device);
	case RNA_VF_REPRESENTED:
		return rna_value_ok(function->representor != NULL);
	case RNA_VF_UNASSIGNED:
		return is(function->assigned, function->assigned.number == 0);
	case RNA_VF_LINK_IS_DOWN:
		return is(function->link, function->link.number == RNA_VF_LINK_DOWN);
	case RNA_VF_TRUSTED:
		return function->trust;
	case RNA_VF_SPOOF_UNCHECKED:
		return is(function->spoof_check, function->spoof_check.number == 0);
	default:
		return (struct rna_value){0};
	}
}

struct rna_value rna_vf_count(const struct rna_virtual_functions *functions,
			      enum rna_vf_property property)
{
	struct rna_value ret = {0};

	for (size_t i = 0; i < functions->count; i++) {
		struct rna_value value = rna_vf_has(&functions->functions[i], property);

		if (value.state == RNA_VALUE_UNREADABLE)
			return value;
		if (rna_value_is_known(value))
			ret = rna_value_ok(ret.number + value.number);
	}
	return ret;
}
