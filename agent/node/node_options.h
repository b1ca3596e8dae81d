/* SPDX-License-Identifier: Apache-2.0 */
/* What the client of the API server has to know, by the settings. */
#pragma once

#include "rna/kubernetes.h"

#include "memory/node_memory.h"
#include "settings/settings.h"

/*
 * Lies in arena, but for texts, which are the settings' and memory's: what was told under names
 * that settings do not have is to go. NULL: no memory.
 */
const struct rna_kubernetes_options *rna_node_options(const struct rna_settings *settings,
						      const struct rna_node_memory *memory,
						      struct rna_arena *arena);
