// SPDX-License-Identifier: Apache-2.0
/*
 * resources: the numbers of RDMA objects on a device, who uses it (processes/), and its enabled
 * optional counters.
 *
 * One RDMA netlink request, which the kernel answers from its own lists. Single objects are never
 * requested, because the kernel would query each queue pair by a firmware command. The exception
 * are contexts, which cost no command: those of the agent itself (watch.verbs_events) and of its
 * children (probes, self-tests) do not count as use of the device.
 */
#include "rna/model/resources.h"

#include <errno.h>
#include <string.h>

#include "backend/backends.h"
#include "processes/device_users.h"

#include "collectors.h"

/* a module that supports it may be loaded later */
#define REFUSED_PAUSE (60 * 60 * RNA_USEC_PER_SEC)

/*
 * While no process has the device open, all objects belong to the kernel. Their number can change
 * with an IPoIB interface or a mounted file system, so the newest counts are kept.
 */
static void set_idle(struct rna_resources *resources, const struct rna_resources *before)
{
	struct rna_value users = rna_resources_users(&resources->now);

	if (rna_value_is_known(users) && users.number == 0)
		memcpy(resources->idle, resources->now.of, sizeof(resources->idle));
	else if (before)
		memcpy(resources->idle, before->idle, sizeof(resources->idle));
}

/* EINVAL: the driver has no optional counters, or the kernel does not support them. */
static int read_optional(const struct rna_collect_input *in, struct rna_rdma_numbers *numbers,
			 struct rna_resources *resources)
{
	const struct rna_device *device = in->device;
	struct rna_port_optional_counters *ports =
		rna_arena_array(resources->part.arena, device->port_count, sizeof(*ports));

	if (!ports)
		return -ENOMEM;
	for (size_t i = 0; i < device->port_count; i++) {
		int status;

		ports[i].number = device->ports[i];
		status = in->backends->rdma_netlink->get_optional(numbers, device->name,
								  resources->part.arena, &ports[i]);
		if (status == -ENOMEM)
			return status;
		if (status < 0 && status != -EINVAL && status != -ENOENT)
			rna_part_count_error(&resources->part, status);
	}
	resources->ports = ports;
	resources->port_count = device->port_count;
	return 0;
}

/* A kernel that does not support the request is not queried in every run. */
static int read_counts(const struct rna_collect_input *in, struct rna_rdma_numbers *numbers,
		       const struct rna_resources *before, struct rna_resources *resources,
		       struct rna_context_list *contexts)
{
	rna_usec now = resources->part.started.monotonic;
	int status;

	if (before && before->retry > now) {
		resources->retry = before->retry;
		return 0;
	}
	status = in->backends->rdma_netlink->get_resources(numbers, in->device->name,
							   &resources->now, contexts);
	if (status < 0 && rna_reason_from_errno(status) == RNA_REASON_UNSUPPORTED)
		resources->retry = now + REFUSED_PAUSE;
	return status;
}

static bool tells_users(const struct rna_resource_counts *counts)
{
	struct rna_value users = rna_resources_users(counts);

	return rna_value_is_known(users) &&
	       (users.number == 0 || rna_value_is_known(counts->own_contexts));
}

/* Of a device that no process has open there is an empty list. */
static int find_users(const struct rna_collect_input *in, const struct rna_context_list *contexts,
		      const struct rna_resources *before, struct rna_resources *resources)
{
	struct rna_users *found;

	/* what a process sees, others may see as well */
	if (in->options.inside || (!in->device->process && !tells_users(&resources->now)))
		return 0;
	found = rna_arena_array(resources->part.arena, 1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	resources->users = found;
	if (in->device->process)
		return rna_find_holder(in->root, in->device->process, resources->part.arena, found);
	return rna_resources_users(&resources->now).number > 0
		       ? rna_find_users(in->root, contexts, before ? before->users : NULL, found)
		       : 0;
}

/* It is normal in a container that the kernel cannot be queried; then all values are absent. */
static int read_all(const struct rna_collect_input *in, struct rna_resources *resources)
{
	RNA_CLEANUP(rna_rdma_numbers_free) struct rna_rdma_numbers numbers = {.root = in->root};
	const struct rna_resources *before = (const void *)in->previous;
	struct rna_context_list contexts = {.arena = resources->part.arena};
	int status = read_counts(in, &numbers, before, resources, &contexts);

	if (status == -ENOMEM)
		return status;
	if (status < 0 && status != -ENOENT)
		rna_part_count_error(&resources->part, status);
	set_idle(resources, before);
	status = find_users(in, &contexts, before, resources);
	if (status < 0)
		return status;
	return in->options.optional_counters ? read_optional(in, &numbers, resources) : 0;
}

RNA_DEFINE_COLLECT(resources, RESOURCES, struct rna_resources, 64, 0, "cannot read resources",
		   read_all(in, part))
