/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process finds of RDMA besides the devices in its /sys: its limits, and the files that it
 * could open. Whether a device cgroup lets it open them is not known: the rules of cgroup v2 are
 * programs, which cannot be read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/users.h"
#include "rna/model/value.h"

enum rna_inside_access {
	RNA_INSIDE_MISSING, /* there is no such file below its root */
	RNA_INSIDE_CLOSED,  /* owner and mode do not let it read and write */
	RNA_INSIDE_OPEN,
};

/* A file of /dev/infiniband. */
struct rna_inside_file {
	const char *name;   /* "uverbs3" */
	const char *device; /* "mlx5_3"; NULL: rdma_cm, which is for all */
	enum rna_inside_access access;
	struct rna_value opened; /* descriptors that it has of it; absent: they cannot be listed */
};

struct rna_inside {
	uint32_t process;
	const char *command;    /* of /proc/PID/comm; NULL: unreadable */
	struct rna_users users; /* for whom it works: one, or none that its group names */
	bool of_node;           /* its network namespace is the agent's */
	uint64_t network_namespace;
	struct rna_value memlock; /* bytes, RNA_MEMLOCK_INFINITY: no limit */
	bool may_lock_all;        /* CAP_IPC_LOCK */
	size_t file_count;
	const struct rna_inside_file *files; /* rdma_cm, and uverbs of each device */
};
