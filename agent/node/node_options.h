/* SPDX-License-Identifier: Apache-2.0 */
/* What the client of the API server has to know, by the settings. */
#pragma once

#include "rna/kubernetes.h"

#include "memory/node_memory.h"
#include "settings/settings.h"

/*
 * In arena, except for texts, which belong to the settings and to memory: names that the settings
 * no longer have are to be removed from the Node. NULL: no memory.
 */
const struct rna_kubernetes_options *rna_node_options(const struct rna_settings *settings,
						      const struct rna_node_memory *memory,
						      struct rna_arena *arena);
