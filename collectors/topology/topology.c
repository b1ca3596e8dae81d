// SPDX-License-Identifier: Apache-2.0
/*
 * topology: the PCI tree with its GPUs and NICs.
 *
 * The tree comes from /sys, which has all PCI domains and is cheap; hwloc adds locality that /sys
 * lacks. If a file of lstopo is configured, or /sys has no PCI functions (a recording with hwloc
 * data only), the tree comes from hwloc. hwloc takes hundreds of milliseconds on a large node, so
 * it is called once, and again only if a new function appears.
 */
#include <errno.h>
#include <string.h>

#include "rna/model/driver.h"

#include "backend/backends.h"

#include "builder.h"
#include "collectors.h"

/* Does the tree come from hwloc? Not on a live machine without PCI, where hwloc has none either. */
static bool follows_hwloc(const struct rna_topology_run *run)
{
	return run->in->backends->hwloc_xml || (!run->pci && !rna_root_is_live(run->in->root));
}

/* Did hwloc already cover all these functions? Then the previous part has its data. */
static bool is_known(const struct rna_topology_run *run)
{
	if (!run->last || !run->last->hwloc || follows_hwloc(run))
		return false;
	return !RNA_ANY(i, run->functions.count,
			rna_topology_find_object(run->last, run->functions.items[i].address) ==
				RNA_NO_OBJECT);
}

static void recall(struct rna_topology_run *run)
{
	const struct rna_topology *last = run->last;

	for (size_t i = 0; i < last->object_count; i++) {
		struct rna_pci_function *function = rna_pci_functions_add(run, &run->hwloc);

		if (!function)
			return;
		function->path = function->address =
			rna_topology_need(run,
					  rna_arena_strdup(run->scratch, last->objects[i].address));
		if (!function->address)
			return;
		function->class_id = last->objects[i].class_id;
		function->vendor_id = last->objects[i].vendor_id;
		function->device_id = last->objects[i].device_id;
		function->numa_node = last->objects[i].numa_node;
		function->package = last->objects[i].package;
	}
	for (size_t i = 0; i < last->gpu_count; i++) {
		struct rna_pci_function *function = &run->hwloc.items[last->gpus[i].object];

		function->os_devices = last->gpus[i].os_devices;
		function->model = last->gpus[i].model;
		function->uuid = last->gpus[i].uuid;
	}
}

static void add_names(struct rna_topology_run *run, struct rna_names *names,
		      const char *const *items)
{
	for (; *items; items++)
		rna_names_add(run, names, *items);
}

static void take(struct rna_topology_run *run, const struct rna_hwloc *hwloc)
{
	RNA_EACH (known, hwloc->functions, hwloc->count) {
		struct rna_pci_function *function = rna_pci_functions_add(run, &run->hwloc);
		const char *slash = strrchr(known->path, '/');

		if (!function)
			return;
		function->path = known->path;
		function->address = slash ? slash + 1 : known->path;
		function->class_id = known->class_id;
		function->vendor_id = known->vendor_id;
		function->device_id = known->device_id;
		function->numa_node = known->numa_node;
		function->package = known->package;
		function->os_devices = known->os_devices;
		function->model = known->model;
		function->uuid = known->uuid;
		add_names(run, &function->netdevs, known->netdevs);
		add_names(run, &function->devices, known->devices);
		rna_pci_function_classify(function);
	}
}

/* If hwloc fails, /sys alone is used. */
static void ask_hwloc(struct rna_topology_run *run, struct rna_topology *topology)
{
	const struct rna_backends *backends = run->in->backends;
	struct rna_error error = {0};
	struct rna_hwloc hwloc = {0};
	int status = -ENOENT;

	if (is_known(run)) {
		topology->hwloc = true;
		recall(run);
	} else if (run->functions.count > 0 || follows_hwloc(run)) {
		status = backends->hwloc->load(run->in->root, backends->hwloc_xml, run->scratch,
					       &hwloc, &error);
		topology->hwloc = status >= 0;
		take(run, &hwloc);
	}
	if (status == -ENOMEM)
		run->error = status;
	if (status < 0 && status != -ENOENT)
		topology->problem =
			rna_topology_need(run, rna_arena_strdup(run->part->arena, error.text));
	rna_pci_functions_sort(run, &run->hwloc);
}

/* -- Whose tree -------------------------------------------------------------------------------- */

/* Copies hwloc's path to a function, and data that /sys lacks. */
static void merge(struct rna_pci_function *function, const struct rna_pci_function *known)
{
	function->path = known->path;
	if (known->numa_node >= 0)
		function->numa_node = known->numa_node;
	if (known->package >= 0)
		function->package = known->package;
}

/* Is it a function of /sys that was omitted: a VF that is counted at its PF? */
static bool was_left_out(const struct rna_topology_run *run, const char *address)
{
	RNA_FREE char *path = NULL;

	if (asprintf(&path, "sys/bus/pci/devices/%s", address) < 0) {
		path = NULL;
		return false;
	}
	return rna_root_exists(run->in->root, path);
}

static void follow_hwloc(struct rna_topology_run *run)
{
	for (size_t i = 0; i < run->functions.count; i++) {
		struct rna_pci_function *function = &run->functions.items[i];
		const struct rna_pci_function *known =
			rna_pci_functions_find(&run->hwloc, function->address);

		if (known)
			merge(function, known);
	}
	RNA_EACH (known, run->hwloc.items, run->hwloc.count) {
		struct rna_pci_function *added;

		if ((!known->gpu && !known->nic && !known->data_direct) ||
		    rna_pci_functions_find(&run->functions, known->address) ||
		    was_left_out(run, known->address))
			continue;
		added = rna_pci_functions_add(run, &run->functions);
		if (added)
			*added = *known;
	}
	rna_pci_functions_sort(run, &run->functions);
}

/*
 * Models of which functions without an RDMA device matter, too: those of functions that have one,
 * and beside GPUs those that make RDMA devices and are more than a server has ports.
 */
struct models {
	size_t count;
	struct {
		uint32_t vendor_id, device_id;
		size_t cards; /* functions that are the first of a card */
		bool listed;
	} items[64]; /* of further ones, only functions with a device are kept */
};

static bool is_listed(const struct models *models, const struct rna_pci_function *function)
{
	for (size_t i = 0; i < models->count; i++)
		if (models->items[i].vendor_id == function->vendor_id &&
		    models->items[i].device_id == function->device_id)
			return models->items[i].listed;
	return false;
}

static void count_model(struct models *models, const struct rna_pci_function *function, bool gpus)
{
	const char *dot = strrchr(function->address, '.');
	size_t i = 0;

	while (i < models->count && (models->items[i].vendor_id != function->vendor_id ||
				     models->items[i].device_id != function->device_id))
		i++;
	if (i == RNA_ARRAY_SIZE(models->items))
		return;
	if (i == models->count) {
		models->items[i].vendor_id = function->vendor_id;
		models->items[models->count++].device_id = function->device_id;
	}
	models->items[i].cards += dot && strcmp(dot, ".0") == 0;
	models->items[i].listed |=
		function->rdma || (gpus && models->items[i].cards >= RNA_DRIVER_CARDS_MANY);
}

/* The driver decides; where none is bound, the numbers do. */
static bool makes_rdma_devices(struct rna_topology_run *run,
			       const struct rna_pci_function *function)
{
	const char *driver = function->nic && function->directory
				     ? rna_topology_read_link_name(run, function->directory,
								   "driver", run->scratch)
				     : NULL;

	return function->nic && rna_driver_of(driver, function->vendor_id, function->device_id);
}

static void list_models(struct rna_topology_run *run, bool gpus, struct models *ret)
{
	RNA_EACH (function, run->functions.items, run->functions.count)
		if (function->vendor_id != 0 &&
		    (function->rdma || (gpus && makes_rdma_devices(run, function))))
			count_model(ret, function, gpus);
}

/* Do both lie below one root port? "pci0000:04/0000:04:01.0/" begins both paths. */
static bool share_root_port(const char *a, const char *b)
{
	size_t common = 0, slashes = 0;

	for (; a[common] && a[common] == b[common]; common++)
		slashes += a[common] == '/';
	return slashes >= 2;
}

static bool is_near_gpu(const struct rna_pci_functions *functions,
			const struct rna_pci_function *function)
{
	return RNA_ANY(i, functions->count,
		       functions->items[i].gpu &&
			       share_root_port(functions->items[i].path, function->path));
}

static bool has_gpu(const struct rna_pci_functions *functions)
{
	return RNA_ANY(i, functions->count, functions->items[i].gpu);
}

static bool is_relevant(struct rna_topology_run *run, const struct models *models,
			const struct rna_pci_function *function)
{
	return function->gpu || function->data_direct || function->devices.count > 0 ||
	       rna_pci_function_is_fabric(function) || is_listed(models, function) ||
	       (is_near_gpu(&run->functions, function) && makes_rdma_devices(run, function));
}

static void drop_irrelevant(struct rna_topology_run *run)
{
	struct rna_pci_functions *functions = &run->functions;
	struct models models = {0};
	size_t kept = 0;

	list_models(run, has_gpu(functions), &models);
	/* GPUs are kept, so that each function still finds them. */
	for (size_t i = 0; i < functions->count; i++)
		if (is_relevant(run, &models, &functions->items[i]))
			functions->items[kept++] = functions->items[i];
	functions->count = kept;
	rna_pci_functions_sort(run, functions);
}

static void read_devices_and_filter(struct rna_topology_run *run)
{
	rna_topology_read_netdevs(run);
	rna_topology_read_devices(run);
	drop_irrelevant(run);
}

/*
 * Only kept functions decide whether to call hwloc: an ordinary NIC is not in the previous part, so
 * it would seem new each time.
 */
static void read_functions(struct rna_topology_run *run, struct rna_topology *topology)
{
	rna_topology_read_functions(run);
	if (!follows_hwloc(run)) {
		read_devices_and_filter(run);
		ask_hwloc(run, topology);
		return;
	}
	ask_hwloc(run, topology);
	follow_hwloc(run);
	read_devices_and_filter(run);
}

static int read_all(struct rna_topology_run *run, struct rna_topology *topology)
{
	struct rna_nic *nics = NULL;
	int status;

	read_functions(run, topology);
	if (run->error < 0)
		return run->error;
	rna_topology_find_lags(run);
	rna_topology_find_rdma(run);
	if (run->error < 0)
		return run->error;
	status = rna_topology_build(run, topology);
	if (status == 0)
		status = rna_topology_read_gpus(run, topology);
	if (status == 0)
		status = rna_topology_make_nics(run, topology, &nics);
	if (status == 0)
		status = rna_topology_assign(topology, nics, run->in->rails, run->in->nic_facts,
					     run->part->arena);
	return status;
}

static int fill(const struct rna_collect_input *in, struct rna_topology *topology,
		struct rna_arena *scratch)
{
	struct rna_topology_run run = {
		.in = in,
		.part = &topology->part,
		.scratch = scratch,
		.last = (const struct rna_topology *)in->previous,
	};

	return read_all(&run, topology);
}

RNA_DEFINE_COLLECT(topology, TOPOLOGY, struct rna_topology, 8192, 64 * 1024,
		   "cannot read the PCI topology", fill(in, part, scratch))
