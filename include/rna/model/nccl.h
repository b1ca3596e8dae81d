/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL: which GID it uses of a port, and which environment it needs on a node.
 *
 * Its choice of a GID is made anew by each job, by index, and differs from that of the kernel and
 * of other libraries. A wrong one is not refused: the job hangs, or crosses no router. Source: NCCL
 * src/transport/net_ib/connect.cc, src/misc/param.cc (2.30.7).
 */
#pragma once

#include <stdbool.h>

#include "rna/base/arena.h"
#include "rna/model/gid.h"

struct rna_view;

/* -- The GID ----------------------------------------------------------------------------------- */

/* What the environment of a job says of GIDs, as texts; NULL: it says nothing. */
struct rna_nccl_environment {
	const char *gid_index;    /* NCCL_IB_GID_INDEX */
	const char *addr_family;  /* NCCL_IB_ADDR_FAMILY: AF_INET or AF_INET6 */
	const char *addr_range;   /* NCCL_IB_ADDR_RANGE: ADDRESS/BITS */
	const char *roce_version; /* NCCL_IB_ROCE_VERSION_NUM: 1 or 2 */
	const char *flid_index;   /* NCCL_IB_ROUTABLE_FLID_GID_INDEX */
};

/* The same, understood. */
struct rna_nccl_settings {
	int gid_index; /* below 0: chosen */
	enum rna_gid_family family;
	int roce_version;
	struct rna_gid range; /* an IPv4 range in the last four bytes */
	int range_bits;       /* of an address of the family; 0: any; below 0: none */
	int flid_index;
};

#define RNA_NCCL_STANDARD                                                                          \
	((struct rna_nccl_settings){                                                               \
		.gid_index = -1,                                                                   \
		.family = RNA_GID_IPV4,                                                            \
		.roce_version = 2,                                                                 \
		.flid_index = 1,                                                                   \
	})

/*
 * What NCCL makes of these texts. It refuses none: a number ends where no digit follows, so that
 * "auto" is 0; an unknown family and a range that is none are as if they were not there.
 */
struct rna_nccl_settings rna_nccl_settings_parse(const struct rna_nccl_environment *environment);

/*
 * The index of the table that NCCL uses. Without a GID that fits the answer is 0, as NCCL's is: the
 * link-local one of RoCE v1, which no router carries. It may be the index of an empty entry.
 */
unsigned rna_nccl_gid_index(const struct rna_port_gids *gids, bool infiniband,
			    const struct rna_nccl_settings *settings);

/* -- The environment of a node ----------------------------------------------------------------- */

struct rna_nccl_variable {
	const char *name;
	const char *value;
	const char *reason;
};

/* Ports that are left out for one reason. */
struct rna_nccl_left_out {
	const char *reason;
	size_t count;
	const char **ports; /* "mlx5_1/1" */
};

/*
 * What a job on this node needs to be told, and what somebody should look at. Where NCCL finds out
 * by itself there is no variable, and nothing is guessed.
 */
struct rna_nccl_advice {
	size_t port_count; /* that NCCL can use; 0: then there are no variables */
	size_t variable_count;
	const struct rna_nccl_variable *variables;
	size_t left_out_count;
	const struct rna_nccl_left_out *left_out;
	size_t warning_count;
	const char *const *warnings;
};

/*
 * Pure; all in arena, but names of devices stay those of view. given: what the environment of the
 * caller says already, of which it is warned where it harms. 0 or -ENOMEM.
 */
int rna_nccl_advise(const struct rna_view *view, const struct rna_nccl_environment *given,
		    struct rna_arena *arena, struct rna_nccl_advice *ret);
