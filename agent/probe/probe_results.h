/* SPDX-License-Identifier: Apache-2.0 */
/* The part that views show, made of what the guest knows. Thread: the loop's. */
#pragma once

#include "pairs.h"

struct rna_probe_results {
	const char *node, *member, *group, *stopped, *key_check;
	bool runs;
	uint64_t restarts;
	rna_usec heard, late;
	const char *source_kind;  /* "file", "dns", "kubernetes" */
	const char *source;       /* "": none */
	const char *source_error; /* NULL: none */
	rna_usec source_looked;   /* realtime */
	size_t members;
	const uint64_t *strangers;
};

/* NULL: no memory. */
struct rna_probes *rna_probe_results_make(const struct rna_pairs *pairs,
					  const struct rna_probe_results *results,
					  struct rna_time now);
