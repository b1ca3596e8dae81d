/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the client of the API server has to know, by the settings; and the names that the agent has
 * used on the Node: keys of labels and of the taint. After a change of the settings, the agent
 * still has to remove what it wrote under former names. They are stored with the published values,
 * before anything is written under them. Thread: the loop's.
 */
#pragma once

#include "rna/kubernetes.h"

#include "memory/node_memory.h"
#include "settings/settings.h"

/*
 * All in arena. Names that the settings no longer have are to be removed from the Node. NULL: no
 * memory.
 */
const struct rna_kubernetes_options *rna_node_options(const struct rna_settings *settings,
						      const struct rna_node_memory *memory,
						      struct rna_arena *arena);

/* Remembers the names that settings have. True: one of them is new. */
bool rna_node_names_note(struct rna_node_memory *memory, const struct rna_settings *settings);

/* The former ones have been taken away from the Node. True: there were some. */
bool rna_node_names_forget_former(struct rna_node_memory *memory,
				  const struct rna_settings *settings);

/*
 * The remembered keys of labels, or of taints, that settings do not have. ret has room for all
 * names; texts are memory's.
 */
void rna_node_names_list_former(const struct rna_node_memory *memory,
				const struct rna_settings *settings, bool taints, const char **ret);
