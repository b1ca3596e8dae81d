// SPDX-License-Identifier: Apache-2.0
/*
 * The tree: one object for each component of the paths to the kept functions. The functions are
 * sorted by path, so each path is compared only with the previous one.
 */
#include <errno.h>
#include <string.h>

#include "parse/pci.h"
#include "parse/pci_config.h"
#include "parse/pcie_texts.h"

#include "builder.h"

enum { DEPTH_MAX = 64 }; /* components of a path; deeper than any machine; the rest is left out */

struct tree {
	struct rna_topology_run *run;
	struct rna_pci_object *objects;
	size_t count;
	/* The path to the previous function: ends of its components, and their objects. */
	const char *path;
	size_t depth;
	size_t ends[DEPTH_MAX];
	unsigned indexes[DEPTH_MAX];
};

static struct rna_pci_object *add_object(struct tree *tree)
{
	struct rna_pci_object *object =
		rna_topology_need(tree->run,
				  RNA_GROW(tree->objects, tree->count, tree->run->scratch));

	tree->count += object != NULL;
	return object;
}

static enum rna_pci_role role_of_function(const struct rna_pci_function *function)
{
	if (function->gpu)
		return RNA_PCI_GPU;
	return function->data_direct ? RNA_PCI_DATA_DIRECT : RNA_PCI_NIC;
}

static struct rna_value read_value(struct rna_topology_run *run, const char *directory,
				   const char *name, int (*parse)(const char *, uint64_t *))
{
	const char *text = rna_topology_read_text(run, directory, name, run->scratch);
	uint64_t number;

	return text && parse(text, &number) == 0 ? rna_value_ok(number) : (struct rna_value){0};
}

static struct rna_pcie_link read_link(struct rna_topology_run *run, const char *directory)
{
	return (struct rna_pcie_link){
		.speed = read_value(run, directory, "current_link_speed", rna_pcie_parse_speed),
		.width = read_value(run, directory, "current_link_width", rna_pcie_parse_width),
		.max_speed = read_value(run, directory, "max_link_speed", rna_pcie_parse_speed),
		.max_width = read_value(run, directory, "max_link_width", rna_pcie_parse_width),
	};
}

/* Fills a bridge from /sys, or from hwloc if /sys lacks it. */
static void read_bridge(struct rna_topology_run *run, const char *directory,
			const struct rna_pci_object *parent, struct rna_pci_object *object)
{
	struct rna_pci_config config = {.type = RNA_PCI_PORT_UNKNOWN};
	const struct rna_pci_function *known = rna_pci_functions_find(&run->hwloc, object->address);
	bool has_link = true; /* hwloc does not say */

	if (known) {
		object->class_id = known->class_id;
		object->vendor_id = known->vendor_id;
		object->device_id = known->device_id;
	}
	if (directory) {
		/* on failure: unknown */
		(void)rna_pci_config_read(run->in->root, directory, &config);
		object->class_id = rna_topology_read_bridge_id(run, directory, "class",
							       object->class_id << 8) >>
				   8;
		object->vendor_id =
			rna_topology_read_bridge_id(run, directory, "vendor", object->vendor_id);
		object->device_id =
			rna_topology_read_bridge_id(run, directory, "device", object->device_id);
		object->numa_node = rna_topology_read_node(run, directory);
		object->link = read_link(run, directory);
		has_link = rna_value_is_known(object->link.max_speed) &&
			   object->class_id == RNA_PCI_CLASS_BRIDGE;
	}
	object->role =
		rna_pci_port_role(config.type, has_link, parent ? parent->role : RNA_PCI_BRIDGE);
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = text ? strlen(text) : 0, end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/*
 * The directory of the component that ends at end: a prefix of the function's. NULL: not in /sys.
 */
static const char *find_directory(struct rna_topology_run *run,
				  const struct rna_pci_function *function, size_t end)
{
	size_t below = strlen(function->path + end);

	if (!function->directory)
		return NULL;
	return rna_topology_need(run, rna_arena_printf(run->scratch, "%.*s",
						       (int)(strlen(function->directory) - below),
						       function->directory));
}

/* Adds the component of function's path that ends at end. 0, or run->error. */
static int add_component(struct tree *tree, const struct rna_pci_function *function, size_t end)
{
	struct rna_topology_run *run = tree->run;
	size_t start = tree->depth > 0 ? tree->ends[tree->depth - 1] + 1 : 0;
	bool last = function->path[end] == '\0';
	const char *directory = NULL;
	struct rna_pci_object *object = add_object(tree), *parent;

	if (!object)
		return run->error;
	*object = (struct rna_pci_object){
		.address = rna_topology_need(run, rna_arena_printf(run->part->arena, "%.*s",
								   (int)(end - start),
								   function->path + start)),
		.role = RNA_PCI_HOST_BRIDGE,
		.parent = tree->depth > 0 ? (int)tree->indexes[tree->depth - 1] : RNA_NO_OBJECT,
		.numa_node = -1,
		.package = -1,
	};
	parent = object->parent >= 0 ? &tree->objects[object->parent] : NULL;
	if (last || ends_with(function->directory, function->path))
		directory = find_directory(run, function, end);
	if (run->error < 0)
		return run->error;
	if (last) {
		object->role = role_of_function(function);
		object->class_id = function->class_id;
		object->vendor_id = function->vendor_id;
		object->device_id = function->device_id;
		object->numa_node = function->numa_node;
		object->package = function->package;
		if (directory)
			object->link = read_link(run, directory);
	} else if (!rna_pci_is_host_bridge(object->address)) {
		read_bridge(run, directory, parent, object);
	}
	return 0;
}

/* The number of leading components that function's path shares with the previous path. */
static size_t count_common(const struct tree *tree, const struct rna_pci_function *function)
{
	size_t common = 0;

	while (common < tree->depth) {
		size_t end = tree->ends[common];

		if (strncmp(tree->path, function->path, end) != 0 ||
		    (function->path[end] != '/' && function->path[end] != '\0'))
			break;
		common++;
	}
	return common;
}

static int add_path(struct tree *tree, struct rna_pci_function *function)
{
	size_t end;

	tree->depth = tree->path ? count_common(tree, function) : 0;
	end = tree->depth > 0 ? tree->ends[tree->depth - 1] : 0;
	tree->path = function->path;
	while (function->path[end] != '\0' && tree->depth < DEPTH_MAX) {
		end += function->path[end] == '/';
		end += strcspn(function->path + end, "/");
		if (add_component(tree, function, end) < 0)
			return tree->run->error;
		tree->ends[tree->depth] = end;
		tree->indexes[tree->depth++] = (unsigned)tree->count - 1;
	}
	function->object = (int)tree->indexes[tree->depth - 1];
	return 0;
}

int rna_topology_build(struct rna_topology_run *run, struct rna_topology *topology)
{
	struct tree tree = {.run = run};
	struct rna_pci_object *objects;

	for (size_t i = 0; i < run->functions.count; i++)
		if (add_path(&tree, &run->functions.items[i]) < 0)
			return run->error;
	objects = rna_topology_need(run, rna_arena_array(run->part->arena, tree.count + 1,
							 sizeof(*objects)));
	if (!objects)
		return run->error;
	if (tree.count > 0)
		memcpy(objects, tree.objects, tree.count * sizeof(*objects));
	rna_topology_locate(run, objects, tree.count);
	topology->objects = objects;
	topology->object_count = tree.count;
	return run->error;
}
