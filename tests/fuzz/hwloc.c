// SPDX-License-Identifier: Apache-2.0
/*
 * A file of lstopo, as --hwloc-xml and recordings have it: the limits of the agent in front of
 * libhwloc, libhwloc itself, the tree that the agent makes of its answer, the findings about that,
 * and the outputs of the command topology. libhwloc has no sanitizers: coverage is that of the
 * agent, and of libhwloc only a crash or a long time is seen.
 */
#include <string.h>
#include <unistd.h>

#include "rna/base/json_document.h"
#include "rna/collector.h"
#include "rna/exporter.h"
#include "rna/model/subject.h"

#include "health/health.h"

#include "fuzz.h"

enum { PATHS_MAX = 64 /* objects whose distances are compared: the square of it */ };

const char *__lsan_default_suppressions(void); /* called by LeakSanitizer, which declares none */

/* libhwloc (2.9) loses objects when it rejects a file. Unit tests see what the agent loses. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libhwloc.so";
}

static struct rna_root *root; /* without files, so that all comes from the input */

static void start(void)
{
	char place[] = "/tmp/rna-fuzz-XXXXXX";
	struct rna_error error;

	FUZZ_WANT(mkdtemp(place));
	FUZZ_WANT(rna_root_open(place, &root, &error) == 0);
	FUZZ_WANT(rmdir(place) == 0);
}

static struct rna_part *collect(enum rna_collector_id id, const struct rna_collect_input *in)
{
	struct rna_part *part = NULL;
	struct rna_error error = {0};

	FUZZ_WANT(rna_collectors[id].collect(in, &part, &error) == 0);
	FUZZ_WANT(part);
	return part;
}

/* Parents come first, so that each walk up the tree ends. */
static void want_tree(const struct rna_topology *topology)
{
	for (size_t i = 0; i < topology->object_count; i++) {
		const struct rna_pci_object *object = &topology->objects[i];

		FUZZ_WANT(object->address && *object->address);
		FUZZ_WANT(object->role < RNA_PCI_ROLE_COUNT);
		FUZZ_WANT(object->parent >= RNA_NO_OBJECT && object->parent < (int)i);
		FUZZ_WANT(object->numa_node >= -1 && object->package >= -1);
	}
}

static void want_functions(const struct rna_topology *topology)
{
	for (size_t i = 0; i < topology->gpu_count; i++) {
		const struct rna_gpu_affinity *affinity = &topology->affinities[i];

		FUZZ_WANT(topology->gpus[i].object < topology->object_count);
		FUZZ_WANT(affinity->nic >= -1 && affinity->nic < (int)topology->nic_count);
		for (size_t near = 0; near < affinity->nearest_count; near++)
			FUZZ_WANT(affinity->nearest[near] < topology->nic_count);
	}
	for (size_t i = 0; i < topology->nic_count; i++) {
		const struct rna_nic *nic = &topology->nics[i];

		FUZZ_WANT(nic->object < topology->object_count);
		FUZZ_WANT(nic->data_direct < (int)topology->object_count);
		FUZZ_WANT(nic->lag < (int)topology->nic_count);
		for (size_t k = 0; k < nic->device_count; k++)
			FUZZ_WANT(nic->devices[k]);
		for (size_t k = 0; k < nic->netdev_count; k++)
			FUZZ_WANT(nic->netdevs[k]);
	}
}

static void want_distances(const struct rna_topology *topology)
{
	size_t count = topology->object_count < PATHS_MAX ? topology->object_count : PATHS_MAX;

	for (unsigned a = 0; a < count; a++)
		for (unsigned b = 0; b <= a; b++) {
			enum rna_path_class path = rna_topology_path(topology, a, b);

			FUZZ_WANT(path < RNA_PATH_COUNT);
			FUZZ_WANT(path == rna_topology_path(topology, b, a));
			FUZZ_WANT((path == RNA_PATH_SAME) == (a == b));
		}
}

/* As the loop makes it, without devices: no file of the machine is read. */
static struct rna_view *new_view(struct rna_part *presence, struct rna_part *topology)
{
	const struct rna_time now = {1000 * RNA_USEC_PER_SEC, 1763716800 * RNA_USEC_PER_SEC};
	struct rna_arena *arena = rna_arena_new(8192);
	struct rna_view *view = arena ? rna_arena_alloc(arena, sizeof(*view)) : NULL;
	struct rna_cards *cards = view ? rna_arena_alloc(arena, sizeof(*cards)) : NULL;
	struct rna_snapshot *snapshot = rna_snapshot_new(0, now);

	FUZZ_WANT(cards && snapshot);
	FUZZ_WANT(((const struct rna_presence *)presence)->device_count == 0);
	snapshot->parts[RNA_COLLECTOR_PRESENCE] = rna_part_ref(presence);
	snapshot->parts[RNA_COLLECTOR_TOPOLOGY] = rna_part_ref(topology);
	*view = (struct rna_view){.refs = 1, .arena = arena, .snapshot = snapshot, .cards = cards};
	FUZZ_WANT(rna_cards_make(snapshot, arena, cards) == 0 &&
		  rna_subjects_join(view, false, NULL) == 0);
	return view;
}

static void judge(struct rna_view *view)
{
	struct rna_settings settings;
	struct rna_health health;

	FUZZ_WANT(rna_settings_init(&settings) == 0 && rna_health_init(&health, &settings) == 0);
	health.once = true;
	rna_health_judge(&health, view);
	FUZZ_WANT(!view->findings_short);
	rna_health_deinit(&health);
	rna_settings_deinit(&settings);
}

static void write_text(const struct rna_view *view, struct rna_strbuf *out)
{
	rna_write_topology(view, &(struct rna_table_options){.width = 80}, out);
}

static void want_outputs(const struct rna_view *view)
{
	static const struct {
		void (*write)(const struct rna_view *view, struct rna_strbuf *out);
		bool json;
	} outputs[] = {
		{write_text},     {rna_write_topology_dot},        {rna_write_topology_svg},
		{rna_write_page}, {rna_write_topology_json, true}, {rna_write_findings, true},
	};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(outputs); i++) {
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
		RNA_CLEANUP(rna_json_free_p) json_t *document = NULL;

		outputs[i].write(view, &text);
		FUZZ_WANT(rna_strbuf_ok(&text));
		fuzz_want_printable(text.data, text.len);
		if (outputs[i].json)
			document = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
		FUZZ_WANT(document || !outputs[i].json);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	const char *file = fuzz_file(data, size);
	const struct rna_topology *topology;
	struct rna_collect_input in = {.period = RNA_USEC_PER_SEC};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = NULL;
	struct rna_part *presence, *part;

	if (!root)
		start();
	backends = rna_backends_new(root);
	FUZZ_WANT(backends && rna_backends_set_hwloc_xml(backends, file) == 0);
	in.root = root;
	in.backends = backends;
	presence = collect(RNA_COLLECTOR_PRESENCE, &in);
	in.presence = (const struct rna_presence *)presence;
	part = collect(RNA_COLLECTOR_TOPOLOGY, &in);
	topology = (const struct rna_topology *)part;
	/* either it is a topology, or the user reads what is wrong with which file */
	FUZZ_WANT(topology->hwloc == !topology->problem);
	FUZZ_WANT(topology->hwloc || strncmp(topology->problem, file, strlen(file)) == 0);
	want_tree(topology);
	want_functions(topology);
	want_distances(topology);
	view = new_view(presence, part);
	judge(view);
	want_outputs(view);
	(void)rna_part_unref(part);
	(void)rna_part_unref(presence);
	return 0;
}
