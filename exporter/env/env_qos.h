/* SPDX-License-Identifier: Apache-2.0 */
/* The variable that makes a library's packets use the lossless priority. */
#pragma once

#include "env_ports.h"

/* The variables of a library, and what it does without them. */
struct rna_env_qos_names {
	const char *title;         /* "NCCL" */
	const char *traffic_class; /* NCCL_IB_TC */
	const char *level;         /* NCCL_IB_SL */
	unsigned standard;         /* traffic class of its RoCE packets, if left alone */
	/* The GID of a RoCE port that it uses. NULL: it has none. */
	const struct rna_gid_entry *(*gid_of)(const struct rna_subject *port);
};

struct rna_env_quality {
	const char *name; /* one of these variables; NULL: none is needed, or can be derived */
	const char *value;
	const char *reason;
	const char *warning; /* why there is none, if an administrator should know; else NULL */
};

/* Pure; texts in arena. 0 or -ENOMEM. */
int rna_env_derive_quality(const struct rna_env_ports *ports, const struct rna_env_qos_names *names,
			   struct rna_arena *arena, struct rna_env_quality *ret);

/* The GID that NCCL uses, and libraries that have its algorithm. */
const struct rna_gid_entry *rna_env_nccl_gid_of(const struct rna_subject *port);
