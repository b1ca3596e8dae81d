// SPDX-License-Identifier: Apache-2.0
/*
 * dump ROOT [HWLOC-XML] - what the collector topology makes of a tree, as JSON: objects, gpus,
 * nics, pairs of all GPUs and NICs, nearest NICs. By the same calls that the agent makes.
 */
#include <errno.h>
#include <stdio.h>

#include "rna/collector.h"
#include "rna/model/topology.h"

static void print_text(const char *name, const char *text)
{
	if (text)
		printf(", \"%s\": \"%s\"", name, text);
}

static void print_names(const char *name, const char *const *items, size_t count)
{
	printf(", \"%s\": [", name);
	for (size_t i = 0; i < count; i++)
		printf("%s\"%s\"", i ? ", " : "", items[i]);
	putchar(']');
}

static void print_value(const char *name, struct rna_value value)
{
	if (rna_value_is_known(value))
		printf(", \"%s\": %ju", name, (uintmax_t)value.number);
}

static const char *address_of(const struct rna_topology *topology, unsigned object)
{
	return topology->objects[object].address;
}

static void print_objects(const struct rna_topology *topology)
{
	for (size_t i = 0; i < topology->object_count; i++) {
		const struct rna_pci_object *object = &topology->objects[i];

		printf("%s\n{\"address\": \"%s\", \"role\": \"%s\"", i ? "," : "", object->address,
		       rna_pci_role_name(object->role));
		if (object->parent >= 0)
			print_text("parent", address_of(topology, (unsigned)object->parent));
		printf(", \"class\": \"%04x\", \"vendor\": \"%04x\", \"device\": \"%04x\", "
		       "\"numa_node\": %d, \"package\": %d",
		       object->class_id, object->vendor_id, object->device_id, object->numa_node,
		       object->package);
		print_value("speed", object->link.speed);
		print_value("width", object->link.width);
		putchar('}');
	}
}

static void print_gpus(const struct rna_topology *topology)
{
	for (size_t i = 0; i < topology->gpu_count; i++) {
		const struct rna_gpu *gpu = &topology->gpus[i];

		printf("%s\n{\"address\": \"%s\", \"os_devices\": %u", i ? "," : "",
		       address_of(topology, gpu->object), gpu->os_devices);
		print_text("model", gpu->model);
		print_text("uuid", gpu->uuid);
		print_text("driver", gpu->driver);
		print_value("minor", gpu->minor);
		putchar('}');
	}
}

static void print_nics(const struct rna_topology *topology)
{
	for (size_t i = 0; i < topology->nic_count; i++) {
		const struct rna_nic *nic = &topology->nics[i];

		printf("%s\n{\"address\": \"%s\", \"rail\": %d, \"vfs\": %u, \"sfs\": %u, "
		       "\"switch_management\": %s",
		       i ? "," : "", address_of(topology, nic->object), nic->rail,
		       nic->virtual_functions, nic->scalable_functions,
		       nic->switch_management ? "true" : "false");
		if (nic->data_direct >= 0)
			print_text("data_direct", address_of(topology, (unsigned)nic->data_direct));
		if (nic->lag >= 0)
			print_text("lag", address_of(topology, topology->nics[nic->lag].object));
		print_names("devices", nic->devices, nic->device_count);
		print_names("netdevs", nic->netdevs, nic->netdev_count);
		putchar('}');
	}
}

/* Objects of all GPUs, then of all NICs. */
static unsigned end_of(const struct rna_topology *topology, size_t i)
{
	return i < topology->gpu_count ? topology->gpus[i].object
				       : topology->nics[i - topology->gpu_count].object;
}

static void print_pairs(const struct rna_topology *topology)
{
	size_t count = topology->gpu_count + topology->nic_count;
	const char *comma = "";

	for (size_t i = 0; i < count; i++) {
		for (size_t j = i + 1; j < count; j++) {
			unsigned a = end_of(topology, i), b = end_of(topology, j);

			printf("%s\n{\"a\": \"%s\", \"b\": \"%s\", \"class\": \"%s\"}", comma,
			       address_of(topology, a), address_of(topology, b),
			       rna_path_class_name(rna_topology_path(topology, a, b)));
			comma = ",";
		}
	}
}

static void print_nearest(const struct rna_topology *topology)
{
	for (size_t i = 0; i < topology->gpu_count; i++) {
		const struct rna_gpu_affinity *affinity = &topology->affinities[i];

		printf("%s\n{\"gpu\": \"%s\", \"class\": \"%s\", \"nics\": [", i ? "," : "",
		       address_of(topology, topology->gpus[i].object),
		       rna_path_class_name(affinity->path));
		for (size_t j = 0; j < affinity->nearest_count; j++)
			printf("%s\"%s\"", j ? ", " : "",
			       address_of(topology, topology->nics[affinity->nearest[j]].object));
		putchar(']');
		if (affinity->nic >= 0)
			print_text("nic",
				   address_of(topology, topology->nics[affinity->nic].object));
		putchar('}');
	}
}

static int collect(const struct rna_root *root, const char *hwloc_xml, struct rna_part **ret,
		   struct rna_error *error)
{
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = rna_backends_new(root);
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *presence = NULL;
	struct rna_collect_input input = {.root = root, .backends = backends};
	int status;

	if (!backends || (hwloc_xml && rna_backends_set_hwloc_xml(backends, hwloc_xml) < 0))
		return rna_error_set(error, -ENOMEM, "dump");
	status = rna_collectors[RNA_COLLECTOR_PRESENCE].collect(&input, &presence, error);
	if (status < 0)
		return status;
	input.presence = (const struct rna_presence *)presence;
	return rna_collectors[RNA_COLLECTOR_TOPOLOGY].collect(&input, ret, error);
}

int main(int argc, char **argv)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_topology *topology;
	struct rna_error error = {0};

	if (argc < 2 || argc > 3) {
		(void)fputs("usage: dump ROOT [HWLOC-XML]\n", stderr);
		return 2;
	}
	if (rna_root_open(argv[1], &root, &error) < 0 ||
	    collect(root, argc > 2 ? argv[2] : NULL, &part, &error) < 0) {
		(void)fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	topology = (const struct rna_topology *)part;
	printf("{\"hwloc\": %s", topology->hwloc ? "true" : "false");
	print_text("problem", topology->problem);
	printf(", \"objects\": [");
	print_objects(topology);
	printf("], \"gpus\": [");
	print_gpus(topology);
	printf("], \"nics\": [");
	print_nics(topology);
	printf("], \"pairs\": [");
	print_pairs(topology);
	printf("], \"nearest\": [");
	print_nearest(topology);
	puts("]}");
	return 0;
}
