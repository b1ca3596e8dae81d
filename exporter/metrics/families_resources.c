// SPDX-License-Identifier: Apache-2.0
/* Metrics of the RDMA objects on a device, and of the optional counters of its ports. */
#include "families_resources.h"

#include "rna/model/resources.h"

struct rna_value rna_family_in_use(const struct rna_subject *device)
{
	const struct rna_resources *resources = rna_device_resources(device->device);
	struct rna_value users = {0};

	if (resources)
		users = rna_resources_users(&resources->now);
	return rna_value_is_known(users) ? rna_value_ok(users.number > 0) : users;
}

static void write_counts(const struct rna_subject *device, const struct rna_value *counts,
			 struct rna_writer *writer)
{
	for (enum rna_resource i = 0; i < RNA_RESOURCE_COUNT; i++)
		if (rna_value_is_known(counts[i]))
			rna_writer_sample_with(writer, device->labels, "resource",
					       rna_resource_name(i), counts[i].number);
}

void rna_family_resources(const struct rna_subject *device, struct rna_writer *writer)
{
	const struct rna_resources *resources = rna_device_resources(device->device);

	if (resources)
		write_counts(device, resources->now.of, writer);
}

void rna_family_idle_resources(const struct rna_subject *device, struct rna_writer *writer)
{
	const struct rna_resources *resources = rna_device_resources(device->device);

	if (resources)
		write_counts(device, resources->idle, writer);
}

void rna_family_optional_counters(const struct rna_subject *port, struct rna_writer *writer)
{
	const struct rna_port_optional_counters *counters =
		rna_port_optional_counters(port->device, port->port);

	for (size_t i = 0; counters && i < counters->count; i++)
		rna_writer_sample_with(writer, port->labels, "counter", counters->items[i].name,
				       counters->items[i].enabled);
}
