// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "rna/base/json_document.h"
#include "rna/base/parse.h"
#include "rna/collector.h"
#include "rna/model/users.h"

/*
 * Also where the kubelet has another root directory, as with k0s and MicroK8s: the path is fixed
 * (DevicePluginPath in pkg/kubelet/apis/deviceplugin/v1beta1; kubernetes/kubernetes#68567).
 */
#define CHECKPOINT "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"

enum {
	BYTES_MAX = 4 * 1024 * 1024, /* answers of plugins are in it, too */
	ITEMS_MAX = 16384,
};

struct run {
	struct rna_arena *arena;
	struct rna_pod_resource *items;
	size_t count;
	bool failed;
};

static void add(struct run *run, const json_t *entry, const json_t *device)
{
	const char *uid = json_string_value(json_object_get(entry, "PodUID"));
	const char *container = json_string_value(json_object_get(entry, "ContainerName"));
	const char *resource = json_string_value(json_object_get(entry, "ResourceName"));
	const char *id = json_string_value(device);

	if (!uid || !resource || !id || run->count == ITEMS_MAX)
		return;
	run->items[run->count++] = (struct rna_pod_resource){
		.pod_uid = rna_arena_keep(run->arena, uid, &run->failed),
		.container = rna_arena_keep(run->arena, container, &run->failed),
		.resource = rna_arena_keep(run->arena, resource, &run->failed),
		.device_id = rna_arena_keep(run->arena, id, &run->failed),
	};
}

static void add_list(struct run *run, const json_t *entry, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		add(run, entry, json_array_get(list, i));
}

/* Since Kubernetes 1.20 a list for each NUMA node: {"0": ["0000:3b:00.2"]}; before, one list. */
static void add_entry(struct run *run, json_t *entry)
{
	json_t *devices = json_object_get(entry, "DeviceIDs"), *list;
	const char *node;

	add_list(run, entry, devices);
	json_object_foreach (devices, node, list) {
		add_list(run, entry, list);
	}
}

static int read_document(struct run *run, const char *text, size_t len)
{
	static const struct rna_json_limits limits = {.memory = 32 << 20, .levels = 16};
	RNA_CLEANUP(rna_json_free_p) json_t *document = NULL;
	int status = rna_json_parse(text, len, &limits, &document, NULL);
	json_t *entries;

	if (status < 0)
		return status;
	entries = json_object_get(json_object_get(document, "Data"), "PodDeviceEntries");
	for (size_t i = 0; i < json_array_size(entries); i++)
		add_entry(run, json_array_get(entries, i));
	return run->failed ? -ENOMEM : 0;
}

int rna_read_pod_resources(const struct rna_root *root, struct rna_arena *arena,
			   struct rna_pod_resources *ret)
{
	struct run run = {.arena = arena};
	RNA_FREE char *text = malloc(BYTES_MAX);
	ssize_t len;
	int status;

	*ret = (struct rna_pod_resources){0};
	run.items = rna_arena_array(arena, ITEMS_MAX, sizeof(*run.items));
	if (!text || !run.items)
		return -ENOMEM;
	len = rna_root_read(root, CHECKPOINT, text, BYTES_MAX);
	if (len < 0)
		return (int)len;
	status = read_document(&run, text, (size_t)len);
	ret->items = run.items;
	ret->count = run.count;
	return status;
}
