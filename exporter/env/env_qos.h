/* SPDX-License-Identifier: Apache-2.0 */
/* The variable that makes a library's packets use the lossless priority. */
#pragma once

#include "rna/model/nccl.h"

#include "env_ports.h"

/* The entry that a library uses of a port, and its index. NULL: that index is empty. */
typedef const struct rna_gid_entry *rna_env_select_gid(const struct rna_port_gids *gids,
						       const struct rna_nccl_settings *settings,
						       unsigned *ret_index);

/* The variables of a library, and what it does without them. */
struct rna_env_qos_names {
	const char *title;         /* "NCCL" */
	const char *traffic_class; /* NCCL_IB_TC */
	const char *level;         /* NCCL_IB_SL */
	unsigned standard;         /* traffic class of its RoCE packets, if left alone */
	rna_env_select_gid *select;
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
