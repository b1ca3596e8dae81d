/* SPDX-License-Identifier: Apache-2.0 */
/* The variable that makes NCCL's packets use the lossless priority. */
#pragma once

#include "nccl_ports.h"

struct rna_nccl_quality {
	const char *name; /* NCCL_IB_TC or NCCL_IB_SL; NULL: none can be derived */
	const char *value;
	const char *reason;
	const char *warning; /* why there is none, if an administrator should know; else NULL */
};

/* Pure; texts in arena. 0 or -ENOMEM. */
int rna_nccl_derive_quality(const struct rna_nccl_ports *ports, struct rna_arena *arena,
			    struct rna_nccl_quality *ret);
