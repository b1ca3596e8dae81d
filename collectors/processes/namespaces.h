/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA devices in the network namespaces of other processes, for the collector presence. */
#pragma once

#include <stddef.h>

#include "rna/base/arena.h"
#include "rna/base/root.h"
#include "rna/collector.h"
#include "rna/model/device.h"

/* A device, and the process through whose root sysfs shows it; each as in struct rna_device. */
struct rna_listed_device {
	const char *name;
	uint32_t process;
	uint64_t network_namespace;
	const char *missing_file;
};

struct rna_devices_elsewhere {
	size_t count;
	struct rna_listed_device *items; /* by name; no name twice */
	struct rna_follow_reach reach;
};

/* The number of the process's network namespace. -ENOENT: there is no such process; -EACCES. */
int rna_read_network_namespace(const struct rna_root *root, uint32_t process, uint64_t *ret);
int rna_read_own_network_namespace(const struct rna_root *root, uint64_t *ret); /* likewise */

struct rna_verbs_file {
	const char *name; /* "uverbs3" */
	const char *device;
};

/* The files of verbs of all network namespaces, by one look at their class. */
struct rna_verbs_files {
	size_t count;
	struct rna_verbs_file *items;
};

/* In arena. What cannot be read is not in it. */
struct rna_verbs_files rna_list_verbs_files(const struct rna_root *root, struct rna_arena *arena);

/* "uverbs3"; NULL: the device has none, or none known. */
const char *rna_verbs_file_of(const struct rna_verbs_files *files, const char *device);

/*
 * Lists the devices that only other network namespaces have: those of names, sorted by
 * rna_compare_names(), are in the agent's own. last: the part of the run before, whose processes
 * are taken again as long as they are there; NULL: none. In arena. -ENOMEM, -EMFILE and the like,
 * or 0: what cannot be read counts in reach.
 */
int rna_list_devices_elsewhere(const struct rna_root *root, char *const *names, size_t count,
			       const struct rna_presence *last, struct rna_arena *arena,
			       struct rna_devices_elsewhere *ret);
