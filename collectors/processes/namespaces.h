/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RDMA devices in the network namespaces of other processes, for the collector presence.
 *
 * What a process shows is a claim: its owner mounts what he likes. A device is believed as far as
 * the kernel proves it: the agent's own sysfs lists the name, and says in which directory the
 * device is; the process only says that its sysfs has this directory (rna/base/root.h).
 */
#pragma once

#include <stddef.h>

#include "rna/base/arena.h"
#include "rna/base/root.h"
#include "rna/collector.h"
#include "rna/model/device.h"

/* -- What the kernel says of all namespaces ---------------------------------------------------- */

/* A device that the classes of verbs or MADs list. */
struct rna_class_device {
	const char *name;
	const char *verbs_file; /* "uverbs3"; NULL: it has none */
	const char *parent; /* what it is below, in each sysfs: "sys/devices/.../0000:3b:00.0" */
};

struct rna_class_devices {
	size_t count;
	struct rna_class_device *items; /* by name; no name twice */
};

/*
 * The devices of all network namespaces: these classes are in none (uverbs_class of
 * core/uverbs_main.c and umad_class of core/user_mad.c, Linux 6.1 to 6.12). One that neither has is
 * not listed, as while ib_uverbs and ib_umad are not loaded. In arena. -ENOMEM, -EMFILE and the
 * like, or 0: what cannot be read is not in it.
 */
int rna_list_class_devices(const struct rna_root *root, struct rna_arena *arena,
			   struct rna_class_devices *ret);

/* Where the sysfs of its network namespace has it, in arena; NULL: no memory. */
const char *rna_class_device_path(const struct rna_class_device *device, struct rna_arena *arena);

/* NULL: it is not listed. */
const struct rna_class_device *rna_find_class_device(const struct rna_class_devices *devices,
						     const char *name);

/* -- Where they are ---------------------------------------------------------------------------- */

/* The number of the process's network namespace. -ENOENT: there is no such process; -EACCES. */
int rna_read_network_namespace(const struct rna_root *root, uint32_t process, uint64_t *ret);
int rna_read_own_network_namespace(const struct rna_root *root, uint64_t *ret); /* likewise */

/* A device in the agent's or another network namespace, as presence reads it. */
struct rna_listed_device {
	const char *name;
	/* Of one elsewhere, each as in struct rna_device: */
	uint32_t process;
	uint64_t network_namespace;
	const char *missing_file;
	const char *sysfs_path;
};

struct rna_devices_elsewhere {
	size_t count;
	struct rna_listed_device *items; /* by name; no name twice */
	/* Those that two namespaces have, which cannot be: none of these is in items. */
	size_t contested_count;
	struct rna_contested_device *contested;
	struct rna_follow_reach reach;
};

/*
 * Lists the devices that only other network namespaces have: those of names, sorted by
 * rna_compare_names(), are in the agent's own. A device is believed to be where the sysfs of a
 * process has the directory that the kernel's classes name. last: the part of the run before, whose
 * processes are taken again as long as they are there; NULL: none. In arena. -ENOMEM, -EMFILE and
 * the like, or 0: what cannot be read counts in reach.
 */
int rna_list_devices_elsewhere(const struct rna_root *root, char *const *names, size_t count,
			       const struct rna_presence *last, struct rna_arena *arena,
			       struct rna_devices_elsewhere *ret);

/*
 * Lists the devices that the sysfs of one process has, which may be those of the agent's own
 * namespace. -ESRCH: there is no such process.
 */
int rna_list_devices_of_process(const struct rna_root *root, uint32_t process,
				struct rna_arena *arena, struct rna_devices_elsewhere *ret);
