// SPDX-License-Identifier: Apache-2.0
/* Metrics of the PCIe path of a device. */
#include "families_pcie.h"

#include "view/facts.h"

#include "families_parts.h"

/* Of the link of its own function. */
RNA_FAMILY_MEMBER(pcie_width, pcie, hops[0].link.width)
RNA_FAMILY_MEMBER(pcie_max_width, pcie, hops[0].link.max_width)
RNA_FAMILY_MEMBER(pcie_max_read_request, pcie, hops[0].max_read_request)
RNA_FAMILY_MEMBER(virtual_functions, pcie, virtual_functions)
RNA_FAMILY_MEMBER(max_virtual_functions, pcie, max_virtual_functions)

struct rna_value rna_family_pcie_speed(const struct rna_subject *device)
{
	return device->pcie ? rna_transfers_per_second(device->pcie->hops[0].link.speed)
			    : rna_no_value;
}

struct rna_value rna_family_pcie_max_speed(const struct rna_subject *device)
{
	return device->pcie ? rna_transfers_per_second(device->pcie->hops[0].link.max_speed)
			    : rna_no_value;
}

struct rna_value rna_family_pcie_rate(const struct rna_subject *device)
{
	return device->pcie ? rna_pcie_path_rate(device->pcie) : rna_no_value;
}

void rna_family_pcie_bottleneck(const struct rna_subject *device, struct rna_writer *writer)
{
	int hop = device->pcie ? rna_pcie_bottleneck(device->pcie) : -1;

	if (hop >= 0)
		rna_writer_sample_with(writer, device->labels, "address",
				       device->pcie->hops[hop].address, 1);
}

void rna_family_pcie_errors(const struct rna_subject *device, struct rna_writer *writer)
{
	for (enum rna_aer severity = 0; device->pcie && severity < RNA_AER_COUNT; severity++) {
		struct rna_value sum = rna_pcie_errors(device->pcie, severity);

		if (rna_value_is_known(sum))
			rna_writer_sample_with(writer, device->labels, "severity",
					       rna_aer_name(severity), sum.number);
	}
}
