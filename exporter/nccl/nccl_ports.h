/* SPDX-License-Identifier: Apache-2.0 */
/* Which ports of a node NCCL should use, and why not the others. */
#pragma once

#include "rna/model/nccl.h"

#include "view/subjects.h"

struct rna_nccl_ports {
	size_t count;
	const struct rna_subject **items; /* in the order of the view */
	const char *why;                  /* these */
	size_t left_out_count;
	const struct rna_nccl_left_out *left_out;
};

/* In arena; items are of subjects. 0 or -ENOMEM. */
int rna_nccl_ports_choose(const struct rna_subjects *subjects, struct rna_arena *arena,
			  struct rna_nccl_ports *ret);

/*
 * Does the default route use the port: by its own interface, by the bond that it is in, or by a
 * VLAN on either, whose addresses are in its GID table? False: no, or not known.
 */
bool rna_nccl_port_has_uplink(const struct rna_subject *port);

/* "mlx5_0/1" in arena; NULL: no memory. */
const char *rna_nccl_port_name(const struct rna_subject *port, struct rna_arena *arena);
