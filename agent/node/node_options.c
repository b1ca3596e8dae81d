// SPDX-License-Identifier: Apache-2.0
#include "node_options.h"

#include <stdlib.h>
#include <string.h>

#include "rna/base/texts.h"

#include "desired.h"
#include "node_conditions.h"

/* -- Names ------------------------------------------------------------------------------------- */

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

/* -- Options ----------------------------------------------------------------------------------- */

/* Resources that belong to RDMA wherever they are; settings add more. */
static const char *const known_resources[] = {
	"rdma/*",                /* k8s-rdma-shared-dev-plugin */
	"nvidia.com/hostdev*",   /* sriov-network-device-plugin, as the network operator has it */
	"vpc.amazonaws.com/efa", /* aws-efa-k8s-device-plugin */
};

static const char *const effects[] = {
	[RNA_TAINT_NO_SCHEDULE] = "NoSchedule",
	[RNA_TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
	[RNA_TAINT_NO_EXECUTE] = "NoExecute",
};

static const char *const device_effects[] = {
	[RNA_DEVICE_TAINTS_OFF] = NULL,
	[RNA_DEVICE_TAINTS_REPORT] = "None",
	[RNA_DEVICE_TAINTS_TAINT] = "NoSchedule",
};

static const char **list_resources(const struct rna_settings *settings, struct rna_arena *arena)
{
	size_t known = RNA_ARRAY_SIZE(known_resources);
	size_t more = rna_texts_len(settings->kubernetes_resources);
	const char **list = rna_arena_array(arena, known + more + 1, sizeof(*list));

	if (!list)
		return NULL;
	memcpy(list, known_resources, sizeof(known_resources));
	for (size_t i = 0; i < more; i++)
		list[known + i] = settings->kubernetes_resources[i];
	return list;
}

static bool is_prefix(const char *former)
{
	return *former && former[strlen(former) - 1] == '/';
}

/* Of former names that are remembered each is given: by now, others may have that prefix. */
static const char **list_keys(const struct rna_settings *settings,
			      const struct rna_node_memory *memory, struct rna_arena *arena)
{
	size_t given = rna_texts_len(settings->kubernetes_former_names), count = 0;
	const char *prefix = settings->kubernetes_label_prefix;
	const char **list = rna_arena_array(arena, 3 + given + memory->name_count, sizeof(*list));

	if (!list)
		return NULL;
	if (settings->kubernetes_roce_label == RNA_ROCE_LABEL_OWN)
		list[count++] = settings->kubernetes_roce_key;
	list[count] = rna_arena_printf(arena, "%.*s/*", (int)rna_label_prefix_len(prefix), prefix);
	if (!list[count++])
		return NULL;
	for (size_t i = 0; i < given; i++, count++) {
		const char *name = settings->kubernetes_former_names[i];

		list[count] = is_prefix(name) ? rna_arena_printf(arena, "%s*", name) : name;
		if (!list[count])
			return NULL;
	}
	rna_node_names_list_former(memory, settings, false, list + count);
	return list;
}

static const char **list_former_taints(const struct rna_settings *settings,
				       const struct rna_node_memory *memory,
				       struct rna_arena *arena)
{
	size_t given = rna_texts_len(settings->kubernetes_former_names), count = 0;
	const char **list = rna_arena_array(arena, given + memory->name_count + 1, sizeof(*list));

	if (!list)
		return NULL;
	for (size_t i = 0; i < given; i++) {
		const char *name = settings->kubernetes_former_names[i];

		if (!is_prefix(name) && strcmp(name, settings->kubernetes_taint) != 0)
			list[count++] = name;
	}
	rna_node_names_list_former(memory, settings, true, list + count);
	return list;
}

static const char *shared_label_of(const struct rna_settings *settings)
{
	return settings->kubernetes_roce_label == RNA_ROCE_LABEL_ONLY_IF_UNSET
		       ? settings->kubernetes_roce_key
		       : NULL;
}

static void keep_all(struct rna_arena *arena, const char **list, bool *failed)
{
	for (; *list; list++)
		*list = rna_arena_keep(arena, *list, failed);
}

const struct rna_kubernetes_options *rna_node_options(const struct rna_settings *settings,
						      const struct rna_node_memory *memory,
						      struct rna_arena *arena)
{
	struct rna_kubernetes_options *options = rna_arena_alloc(arena, sizeof(*options));
	const char **resources = list_resources(settings, arena),
		   **keys = list_keys(settings, memory, arena),
		   **former = list_former_taints(settings, memory, arena);
	const char *taint = rna_settings_have_taint(settings) ? settings->kubernetes_taint : NULL;
	const char *leases =
		*settings->kubernetes_taint_leases ? settings->kubernetes_taint_leases : NULL;
	const char *prefix = settings->kubernetes_label_prefix;
	const char **types = rna_arena_array(arena, RNA_CONDITION_COUNT, sizeof(*types));
	bool failed = false;

	if (!options || !resources || !keys || !former || !types)
		return NULL;
	rna_condition_list_types(types);
	keep_all(arena, resources, &failed);
	keep_all(arena, keys, &failed);
	keep_all(arena, former, &failed);
	*options = (struct rna_kubernetes_options){
		.node = rna_arena_keep(arena, settings->kubernetes_node_name, &failed),
		.kubeconfig = rna_arena_keep(arena, settings->kubernetes_kubeconfig, &failed),
		.server = rna_arena_keep(arena, settings->kubernetes_server, &failed),
		.taint_key = rna_arena_keep(arena, taint, &failed),
		.taint_effect = effects[settings->kubernetes_taint_effect],
		.taint_leases = rna_arena_keep(arena, leases, &failed),
		.taint_dry_run = settings->kubernetes_taint_dry_run,
		.device_taint_key = rna_arena_printf(arena, "%.*s/unhealthy",
						     (int)rna_label_prefix_len(prefix), prefix),
		.device_taint_effect = device_effects[settings->kubernetes_device_taints],
		.resources = resources,
		.label_keys = keys,
		.shared_label = rna_arena_keep(arena, shared_label_of(settings), &failed),
		.former_taints = former[0] ? former : NULL,
		.condition_types = types,
		.first_delay = settings->kubernetes_spread / 4,
		.spread = settings->kubernetes_spread,
		.resync = RNA_KUBERNETES_RESYNC,
		.look = settings->kubernetes_refresh,
		.heartbeat = RNA_KUBERNETES_HEARTBEAT,
		.event_pause = RNA_KUBERNETES_EVENT_PAUSE,
		.burst = settings->kubernetes_changes,
		.reserve = settings->kubernetes_urgent_changes,
		.refill = RNA_KUBERNETES_REFILL,
	};
	return options->device_taint_key && !failed ? options : NULL;
}
