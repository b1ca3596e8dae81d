// SPDX-License-Identifier: Apache-2.0
/*
 * The kubelet's checkpoint of devices that it gave to pods. What is read of it, written as a
 * checkpoint again, is read as the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "rna/base/json_document.h"
#include "rna/collector.h"
#include "rna/model/users.h"

#include "fuzz.h"

enum {
	ITEMS_MAX = 16384,  /* as pod_resources.c has it */
	AGAIN_MAX = 1 << 19 /* bytes: what is written is longer than what was read */
};

static struct rna_root *root; /* its only file is the input */

static int open_input(void *file, const char *path, int flags)
{
	const char *name = strrchr(path, '/');
	int fd;

	FUZZ_WANT(name && strcmp(name, "/kubelet_internal_checkpoint") == 0);
	fd = open(file, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void start(void)
{
	static char path[32];
	RNA_CLEANUP(rna_root_close_p) struct rna_root *base = NULL;
	struct rna_error error;

	(void)snprintf(path, sizeof(path), "%s", fuzz_file(NULL, 0)); /* always the same one */
	FUZZ_WANT(rna_root_open(NULL, &base, &error) == 0);
	FUZZ_WANT(rna_root_open_through(base, open_input, path, &root, &error) == 0);
}

static int read_checkpoint(const void *data, size_t size, struct rna_arena *arena,
			   struct rna_pod_resources *ret)
{
	(void)fuzz_file(data, size);
	return rna_read_pod_resources(root, arena, ret);
}

static json_t *write_entry(struct rna_json_writer *writer, const struct rna_pod_resource *item)
{
	json_t *entry = json_object(), *nodes = json_object(), *list = json_array();

	rna_json_append(writer, list, json_string(item->device_id));
	rna_json_set(writer, nodes, "-1", list);
	rna_json_set(writer, entry, "PodUID", json_string(item->pod_uid));
	if (item->container)
		rna_json_set(writer, entry, "ContainerName", json_string(item->container));
	rna_json_set(writer, entry, "ResourceName", json_string(item->resource));
	rna_json_set(writer, entry, "DeviceIDs", nodes);
	return entry;
}

/* As the kubelet writes it since 1.20. */
static void write_checkpoint(const struct rna_pod_resources *resources, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *document = json_object(), *data = json_object(), *entries = json_array();

	for (size_t i = 0; i < resources->count; i++)
		rna_json_append(&writer, entries, write_entry(&writer, &resources->items[i]));
	rna_json_set(&writer, data, "PodDeviceEntries", entries);
	rna_json_set(&writer, document, "Data", data);
	rna_json_write(&writer, document, 0, out);
	FUZZ_WANT(rna_strbuf_ok(out));
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void want_same(const struct rna_pod_resources *a, const struct rna_pod_resources *b)
{
	FUZZ_WANT(a->count == b->count);
	for (size_t i = 0; i < a->count; i++)
		FUZZ_WANT(is_same(a->items[i].pod_uid, b->items[i].pod_uid) &&
			  is_same(a->items[i].container, b->items[i].container) &&
			  is_same(a->items[i].resource, b->items[i].resource) &&
			  is_same(a->items[i].device_id, b->items[i].device_id));
}

static void want_items(const struct rna_pod_resources *resources)
{
	FUZZ_WANT(resources->count <= ITEMS_MAX);
	for (size_t i = 0; i < resources->count; i++) {
		const struct rna_pod_resource *item = &resources->items[i], *found;

		FUZZ_WANT(item->pod_uid && item->resource && item->device_id);
		found = i < 16 ? rna_pod_resource_find(resources, item->pod_uid, item->device_id)
			       : item; /* it looks at all */
		FUZZ_WANT(found && is_same(found->pod_uid, item->pod_uid) &&
			  is_same(found->device_id, item->device_id));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_pod_resources resources, again;
	int status;

	FUZZ_WANT(arena);
	if (!root)
		start();
	status = read_checkpoint(data, size, arena, &resources);
	FUZZ_WANT(status == 0 || status == -EBADMSG || status == -EILSEQ);
	want_items(&resources);
	if (status < 0)
		return 0;
	write_checkpoint(&resources, &text);
	if (text.len > AGAIN_MAX)
		return 0;
	FUZZ_WANT(read_checkpoint(text.data, text.len, arena, &again) == 0);
	want_same(&resources, &again);
	return 0;
}
