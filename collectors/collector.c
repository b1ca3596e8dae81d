// SPDX-License-Identifier: Apache-2.0
/* What all collectors share: how one makes a part, and which of them apply to a device. */
#include "rna/collector.h"

#include <errno.h>

#include "rna/base/parse.h"

#include "parse/reader.h"

#include "collectors.h"

int rna_collect(const struct rna_part_plan *plan, const struct rna_collect_input *in,
		struct rna_part **ret, struct rna_error *error)
{
	RNA_CLEANUP(rna_part_unref_p)
	struct rna_part *part = rna_part_new(plan->id, plan->size, plan->room);
	RNA_CLEANUP(rna_arena_free_p)
	struct rna_arena *scratch = plan->scratch ? rna_arena_new(plan->scratch) : NULL;
	int status = -ENOMEM;

	if (part && (scratch || !plan->scratch)) {
		part->started = rna_clock_now();
		if (in->reader)
			rna_reader_start(in->reader, part->started.monotonic, in->period);
		status = plan->read(in, part, scratch);
	}
	if (status < 0)
		return rna_error_set(error, status, "%s%s%s", in->device ? in->device->name : "",
				     in->device ? ": " : "", plan->failure);
	part->taken = rna_clock_now();
	*ret = RNA_TAKE(part);
	return 0;
}

/*
 * False for virtual and scalable functions whose physical function is a device as well: it has the
 * same data, and there may be hundreds of them. Also if the physical function is unreadable: the
 * files of a virtual function have no link data.
 */
static bool has_own_path(const struct rna_presence *presence, const struct rna_device *device)
{
	if (!device->pci_address ||
	    (device->function == RNA_FUNCTION_VF && !device->physical_function))
		return false;
	for (size_t i = 0; device->physical_function && i < presence->device_count; i++) {
		const struct rna_device *other = &presence->devices[i];

		if (other != device && !other->physical_function &&
		    rna_same_text(other->pci_address, device->physical_function))
			return false;
	}
	return true;
}

static bool may_have_port_of(const struct rna_identity *identity, enum rna_link_layer layer)
{
	for (size_t i = 0; identity && i < identity->port_count; i++)
		if (identity->ports[i].link_layer == layer ||
		    identity->ports[i].link_layer == RNA_LINK_LAYER_UNKNOWN)
			return true;
	return !identity || identity->port_count == 0;
}

bool rna_collector_suits(const struct rna_collector *collector, const struct rna_presence *presence,
			 const struct rna_device *device, const struct rna_identity *identity)
{
	if (!collector->per_device)
		return false;
	if (collector->functions && !(collector->functions & 1U << device->function))
		return false;
	if (collector->own_path && !has_own_path(presence, device))
		return false;
	return collector->link_layer == RNA_LINK_LAYER_UNKNOWN ||
	       may_have_port_of(identity, collector->link_layer);
}
