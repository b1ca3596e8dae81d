/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nearest NICs of GPUs, and the one that is a GPU's own: what distance.c finds, and rails.c
 * makes rails of.
 */
#pragma once

#include "rna/model/topology.h"

struct rna_distance {
	enum rna_path_class path;
	/* orders pairs of class SYS: another NUMA node may be in the same package */
	bool other_package;
	unsigned bridges;
};

enum { RNA_GPUS_MATCHED = 64 }; /* the run time is their square times the number of NICs */

struct rna_nearest {
	const struct rna_topology *topology;
	struct rna_gpu_affinity *affinities; /* one for each GPU */
	struct rna_arena *arena;
	const struct rna_nic_fact **facts; /* one for each NIC; NULL: none */
	unsigned *ranks;                   /* likewise: 0 for the NICs that GPUs should have */
	size_t serving_count;
	unsigned *serving; /* indexes of nics that are eligible */
	bool matches;      /* each GPU gets a NIC of its own; false: there are too many */
	struct rna_distance *distances; /* of eligible NICs; a row for each GPU if it matches */
	struct rna_distance best[RNA_GPUS_MATCHED];
};

/*
 * Chooses the eligible NICs. bare: those that should have an RDMA device and have none as well;
 * returns whether there are any.
 */
bool rna_nearest_serving(struct rna_nearest *work, bool bare);

/* Makes affinities, in the arena, and ranks. The caller frees distances. 0 or -ENOMEM. */
int rna_nearest_find(struct rna_nearest *work);

/* Have both vendor, device and class in common? */
bool rna_nearest_same_kind(const struct rna_topology *topology, const struct rna_nic *a,
			   const struct rna_nic *b);
