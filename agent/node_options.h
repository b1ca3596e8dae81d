/* SPDX-License-Identifier: Apache-2.0 */
/* What the client of the API server has to know, by the settings. */
#pragma once

#include "rna/kubernetes.h"
#include "settings.h"

/* Lies in arena, but for texts, which are the settings'. NULL: no memory. */
const struct rna_kubernetes_options *rna_node_options(const struct rna_settings *settings,
						      struct rna_arena *arena);

/* May labels and the taint be called as the settings say? 0, or -EINVAL with error. */
int rna_node_names_check(const struct rna_settings *settings, struct rna_error *error);
