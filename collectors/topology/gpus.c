// SPDX-License-Identifier: Apache-2.0
/*
 * Model, UUID and driver of each GPU, from files of its driver, without CUDA, NVML or ROCm.
 *
 *	NVIDIA	/proc/driver/nvidia/gpus/ADDRESS/information
 *	AMD	unique_id and product_name of the function, the nodes of /sys/class/kfd
 *	others	the DRM render node of the function
 */
#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"

#include "builder.h"

#define KFD_NODES "sys/class/kfd/kfd/topology/nodes"

enum { LOCATION_MASK = 0xffff };

/* The value after "Name:" at the start of a line, in arena; NULL: none. */
static const char *find_line(struct rna_topology_run *run, const char *text, const char *name,
			     struct rna_arena *arena)
{
	size_t len = strlen(name);

	while (text) {
		if (strncmp(text, name, len) == 0 && text[len] == ':') {
			text += len + 1;
			text += strspn(text, " \t");
			len = strcspn(text, "\n");
			while (len > 0 && strchr(" \t", text[len - 1]))
				len--;
			return len > 0 ? rna_topology_need(run, rna_arena_printf(arena, "%.*s",
										 (int)len, text))
				       : NULL;
		}
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

static void read_nvidia(struct rna_topology_run *run, const struct rna_pci_function *function,
			struct rna_gpu *gpu)
{
	const char *directory =
		rna_topology_need(run, rna_arena_printf(run->scratch, "proc/driver/nvidia/gpus/%s",
							function->address));
	const char *text =
		directory ? rna_topology_read_text(run, directory, "information", run->scratch)
			  : NULL;
	const char *minor;
	uint64_t number;

	if (!text)
		return;
	gpu->model = find_line(run, text, "Model", run->part->arena);
	gpu->uuid = find_line(run, text, "GPU UUID", run->part->arena);
	minor = find_line(run, text, "Device Minor", run->scratch);
	if (minor && rna_parse_u64(minor, &number) == 0)
		gpu->minor = rna_value_ok(number);
}

/* A GPU of the driver in /sys/class/kfd: each partition has one. */
struct kfd_node {
	uint64_t domain;
	uint64_t location; /* bus, device and function */
};

struct kfd {
	size_t count;
	struct kfd_node *nodes;
};

static bool find_number(const char *text, const char *name, uint64_t *ret)
{
	size_t len = strlen(name);

	while (text && (strncmp(text, name, len) != 0 || text[len] != ' ')) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text && rna_parse_leading_u64(text + len + 1, ret) == 0;
}

static void read_kfd(struct rna_topology_run *run, struct kfd *kfd)
{
	char **names;
	ssize_t count = rna_root_list(run->in->root, KFD_NODES, run->scratch, &names);

	if (count <= 0)
		return;
	kfd->nodes = rna_topology_need(run, rna_arena_array(run->scratch, (size_t)count,
							    sizeof(*kfd->nodes)));
	for (ssize_t i = 0; kfd->nodes && i < count; i++) {
		const char *directory =
			rna_topology_need(run, rna_arena_printf(run->scratch, KFD_NODES "/%s",
								names[i]));
		const char *text = directory ? rna_topology_read_text(run, directory, "properties",
								      run->scratch)
					     : NULL;
		struct kfd_node node;
		uint64_t simds;

		/* a processor has no SIMD units */
		if (text && find_number(text, "simd_count", &simds) && simds > 0 &&
		    find_number(text, "location_id", &node.location) &&
		    find_number(text, "domain", &node.domain))
			kfd->nodes[kfd->count++] = node;
	}
}

/*
 * A location is bus, device and function; newer drivers put the partition into its highest bits,
 * others into the function (drivers/gpu/drm/amd/amdkfd/kfd_topology.c).
 */
static unsigned count_partitions(const struct kfd *kfd, const char *address)
{
	unsigned domain, bus, device, count = 0;

	if (sscanf(address, "%x:%x:%x", &domain, &bus, &device) != 3)
		return 0;
	for (size_t i = 0; i < kfd->count; i++)
		count += kfd->nodes[i].domain == domain &&
			 (kfd->nodes[i].location & LOCATION_MASK) >> 3 == (bus << 5 | device);
	return count;
}

static void read_amd(struct rna_topology_run *run, const struct rna_pci_function *function,
		     struct rna_gpu *gpu)
{
	const char *id =
		rna_topology_read_text(run, function->directory, "unique_id", run->scratch);

	gpu->model =
		rna_topology_read_text(run, function->directory, "product_name", run->part->arena);
	if (id) /* the format of rocm-smi and hwloc */
		gpu->uuid =
			rna_topology_need(run, rna_arena_printf(run->part->arena, "GPU-%s", id));
}

/* drm/renderD128 */
static void read_render_node(struct rna_topology_run *run, const struct rna_pci_function *function,
			     struct rna_gpu *gpu)
{
	static const char prefix[] = "renderD";
	const char *directory = rna_topology_need(run, rna_arena_printf(run->scratch, "%s/drm",
									function->directory));
	char **names;
	ssize_t count =
		directory ? rna_root_list(run->in->root, directory, run->scratch, &names) : 0;
	uint64_t number;

	for (ssize_t i = 0; i < count; i++) {
		if (strncmp(names[i], prefix, sizeof(prefix) - 1) != 0 ||
		    rna_parse_u64(names[i] + sizeof(prefix) - 1, &number) < 0)
			continue;
		gpu->minor = rna_value_ok(number);
		return;
	}
}

static void read_gpu(struct rna_topology_run *run, const struct rna_pci_function *function,
		     const struct kfd *kfd, struct rna_gpu *gpu)
{
	const struct rna_pci_function *known =
		rna_pci_functions_find(&run->hwloc, function->address);

	gpu->os_devices = count_partitions(kfd, function->address);
	if (function->directory) {
		gpu->driver = rna_topology_read_link_name(run, function->directory, "driver",
							  run->part->arena);
		read_nvidia(run, function, gpu);
		if (!gpu->uuid)
			read_amd(run, function, gpu);
		if (gpu->minor.state == RNA_VALUE_ABSENT)
			read_render_node(run, function, gpu);
	}
	if (!gpu->model && known && known->model)
		gpu->model =
			rna_topology_need(run, rna_arena_strdup(run->part->arena, known->model));
	if (!gpu->uuid && known && known->uuid)
		gpu->uuid = rna_topology_need(run, rna_arena_strdup(run->part->arena, known->uuid));
	if (gpu->os_devices == 0 && known)
		gpu->os_devices = known->os_devices;
	if (gpu->os_devices == 0)
		gpu->os_devices = gpu->driver != NULL;
}

int rna_topology_read_gpus(struct rna_topology_run *run, struct rna_topology *topology)
{
	struct rna_gpu *gpus =
		rna_arena_array(run->part->arena, run->functions.count + 1, sizeof(*gpus));
	struct kfd kfd = {0};

	if (!gpus)
		return -ENOMEM;
	for (size_t i = 0; i < run->functions.count; i++) {
		const struct rna_pci_function *function = run->functions.by_address[i];

		if (!function->gpu)
			continue;
		if (topology->gpu_count == 0)
			read_kfd(run, &kfd);
		gpus[topology->gpu_count].object = (unsigned)function->object;
		read_gpu(run, function, &kfd, &gpus[topology->gpu_count++]);
	}
	topology->gpus = gpus;
	return run->error;
}
