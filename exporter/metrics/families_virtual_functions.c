// SPDX-License-Identifier: Apache-2.0
/*
 * Metrics of virtual functions. A card may have hundreds of them, on each of which a job of the
 * neighbours may run: so they are counted, and only on demand have a series each.
 */
#include "families_virtual_functions.h"

#include "rna/model/virtual_functions.h"

enum { SERIES_MAX = 256 }; /* of one device */

void rna_family_vf_properties(const struct rna_subject *device, struct rna_writer *writer)
{
	const struct rna_virtual_functions *functions =
		rna_device_virtual_functions(device->device);

	for (enum rna_vf_property i = 0; functions && i < RNA_VF_PROPERTY_COUNT; i++) {
		struct rna_value count = rna_vf_count(functions, i);

		if (rna_value_is_known(count))
			rna_writer_sample_with(writer, device->labels, "property",
					       rna_vf_property_name(i), count.number);
	}
}

/* "yes", "no", or nothing where it is not known. */
static void add_answer(struct rna_strbuf *labels, const char *name, struct rna_value value)
{
	if (rna_value_is_known(value))
		rna_label_add(labels, name, value.number ? "yes" : "no");
}

static void write_function(const struct rna_subject *device,
			   const struct rna_virtual_function *function, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	rna_labels_begin(&labels, device->labels);
	rna_label_add_number(&labels, "vf", function->number);
	rna_label_add(&labels, "pci_address", function->pci_address);
	rna_label_add(&labels, "driver", function->driver);
	rna_label_add(&labels, "vf_device", function->device);
	rna_label_add(&labels, "representor", function->representor);
	rna_label_add(&labels, "mac", function->mac);
	rna_label_add(&labels, "port_guid", function->port_guid);
	if (rna_value_is_known(function->link))
		rna_label_add(&labels, "link", rna_vf_link_name(function->link.number));
	add_answer(&labels, "spoof_check", function->spoof_check);
	add_answer(&labels, "trust", function->trust);
	if (rna_value_is_known(function->vlan) && function->vlan.number > 0)
		rna_label_add_number(&labels, "vlan", function->vlan.number);
	rna_writer_sample_labels(writer, &labels, 1);
}

void rna_family_vf_info(const struct rna_subject *device, struct rna_writer *writer)
{
	const struct rna_virtual_functions *functions =
		rna_device_virtual_functions(device->device);

	if (!device->view->metrics.virtual_functions)
		return;
	for (size_t i = 0; functions && i < functions->count && i < SERIES_MAX; i++)
		write_function(device, &functions->functions[i], writer);
}
