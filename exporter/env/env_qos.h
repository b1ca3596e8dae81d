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
};

struct rna_env_quality {
	const char *name; /* one of these variables; NULL: none is needed, or can be derived */
	const char *value;
	const char *reason;
	const char *warning; /* why there is none, if an administrator should know; else NULL */
};

/*
 * Pure; texts in arena. tagged: do the GIDs that the library uses belong to VLANs, on all ports?
 * Only then its packets have a tag. 0 or -ENOMEM.
 */
int rna_env_derive_quality(const struct rna_env_ports *ports, const struct rna_env_qos_names *names,
			   bool tagged, struct rna_arena *arena, struct rna_env_quality *ret);
