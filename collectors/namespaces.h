/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA devices in the network namespaces of other processes, for the collector presence. */
#pragma once

#include <stddef.h>

#include "rna/base/arena.h"
#include "rna/base/root.h"
#include "rna/model/device.h"

/* A device, and the process through whose root sysfs shows it. */
struct rna_device_elsewhere {
	const char *name;
	uint32_t process;
	uint64_t network_namespace;
};

struct rna_devices_elsewhere {
	size_t count;
	struct rna_device_elsewhere *items; /* by name; no name twice */
	struct rna_follow_reach reach;
};

/*
 * Lists the devices that only other network namespaces have: those of names, sorted by
 * rna_compare_names(), are in the agent's own. last: the part of the run before, whose processes
 * are taken again as long as they are there; NULL: none. In arena. -ENOMEM, -EMFILE and the like,
 * or 0: what cannot be read counts in reach.
 */
int rna_list_devices_elsewhere(const struct rna_root *root, char *const *names, size_t count,
			       const struct rna_presence *last, struct rna_arena *arena,
			       struct rna_devices_elsewhere *ret);
