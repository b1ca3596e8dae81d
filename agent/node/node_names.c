// SPDX-License-Identifier: Apache-2.0
#include "node_names.h"

#include <stdlib.h>
#include <string.h>

#include "wish.h"

static bool has_label(const struct rna_settings *settings, const char *key)
{
	const struct rna_label_options options = rna_label_options_of(settings);
	char own[RNA_LABEL_KEY_MAX + 1];

	for (enum rna_node_label_id id = 0; id < RNA_NODE_LABEL_COUNT; id++) {
		rna_node_label_key(id, &options, own);
		if (strcmp(key, own) == 0)
			return true;
	}
	return false;
}

static bool is_former(const struct rna_node_name *name, const struct rna_settings *settings)
{
	if (name->taint)
		return strcmp(name->key, settings->kubernetes_taint) != 0;
	return !has_label(settings, name->key);
}

bool rna_node_names_note(struct rna_node_memory *memory, const struct rna_settings *settings)
{
	const struct rna_label_options options = rna_label_options_of(settings);
	size_t before = memory->name_count;

	for (enum rna_node_label_id id = 0; id < RNA_NODE_LABEL_COUNT; id++) {
		char key[RNA_LABEL_KEY_MAX + 1];

		rna_node_label_key(id, &options, key);
		(void)rna_node_name_note(memory, false, key); /* no memory: with the next client */
	}
	if (rna_settings_have_taint(settings))
		(void)rna_node_name_note(memory, true, settings->kubernetes_taint);
	return memory->name_count > before;
}

bool rna_node_names_forget_former(struct rna_node_memory *memory,
				  const struct rna_settings *settings)
{
	size_t before = memory->name_count, kept = 0;

	for (size_t i = 0; i < before; i++)
		if (is_former(&memory->names[i], settings))
			free(memory->names[i].key);
		else
			memory->names[kept++] = memory->names[i];
	memory->name_count = kept;
	return kept < before;
}

void rna_node_names_list_former(const struct rna_node_memory *memory,
				const struct rna_settings *settings, bool taints, const char **ret)
{
	for (size_t i = 0; i < memory->name_count; i++)
		if (memory->names[i].taint == taints && is_former(&memory->names[i], settings))
			*ret++ = memory->names[i].key;
}
