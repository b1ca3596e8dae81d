// SPDX-License-Identifier: Apache-2.0
/*
 * The ports of one GPU: those of the nearest NICs that remain. If several are equally near, each
 * GPU has a NIC of its own (struct rna_gpu_affinity), and a NIC that is no GPU's own serves all of
 * them: so GPUs do not share a NIC while others are idle, and no NIC is wasted.
 */
#include <errno.h>

#include "env_ports.h"

enum { NO_NIC = -1 };

struct gpu {
	const struct rna_topology *topology;
	unsigned index;
	enum rna_path_class nearest; /* of the ports that remain */
};

static int nic_of(const struct gpu *gpu, const struct rna_subject *port)
{
	const struct rna_nic *nic = rna_topology_find_nic(gpu->topology, port->device->device);

	return nic ? (int)(nic - gpu->topology->nics) : NO_NIC;
}

static enum rna_path_class path_to(const struct gpu *gpu, const struct rna_subject *port)
{
	int nic = nic_of(gpu, port);

	return nic == NO_NIC ? RNA_PATH_UNKNOWN
			     : rna_topology_gpu_path(gpu->topology, gpu->index, (unsigned)nic);
}

static enum rna_path_class find_nearest(const struct gpu *gpu, const struct rna_env_ports *ports)
{
	enum rna_path_class ret = RNA_PATH_UNKNOWN;

	for (size_t i = 0; i < ports->count; i++) {
		enum rna_path_class path = path_to(gpu, ports->items[i]);

		ret = path < ret ? path : ret;
	}
	return ret;
}

static int own_nic(const struct gpu *gpu, size_t of)
{
	return gpu->topology->affinities[of].nic;
}

static int rail_of(const struct gpu *gpu, int nic)
{
	return nic == NO_NIC ? -1 : gpu->topology->nics[nic].rail;
}

/* Is its NIC the own one of another GPU, and not of this one as well? Planes are of one NIC. */
static bool is_of_another(const struct gpu *gpu, const struct rna_subject *port)
{
	int nic = nic_of(gpu, port), own = own_nic(gpu, gpu->index);

	if (nic == NO_NIC || nic == own ||
	    (rail_of(gpu, nic) >= 0 && rail_of(gpu, nic) == rail_of(gpu, own)))
		return false;
	for (size_t i = 0; i < gpu->topology->gpu_count; i++)
		if (own_nic(gpu, i) == nic)
			return true;
	return false;
}

/* -- Two reasons to leave out ports ------------------------------------------------------------ */

typedef bool leave_out(const struct gpu *gpu, const struct rna_subject *port);

static bool is_farther(const struct gpu *gpu, const struct rna_subject *port)
{
	return path_to(gpu, port) != gpu->nearest;
}

/* kept, out: with room for all ports. Returns how many are kept. */
static size_t divide(const struct gpu *gpu, const struct rna_env_ports *ports, leave_out *applies,
		     const struct rna_subject **kept, const struct rna_subject **out)
{
	size_t count = 0, left = 0;

	for (size_t i = 0; i < ports->count; i++)
		if (!applies(gpu, ports->items[i]))
			kept[count++] = ports->items[i];
		else
			out[left++] = ports->items[i];
	return count;
}

static int add_left_out(struct rna_env_left_out *ret, const struct rna_subject **ports,
			size_t count, const char *reason, struct rna_arena *arena)
{
	*ret = (struct rna_env_left_out){
		.reason = reason,
		.count = count,
		.ports = rna_arena_array(arena, count, sizeof(*ret->ports)),
	};
	if (!ret->reason || !ret->ports)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (!(ret->ports[i] = rna_env_port_name(ports[i], arena)))
			return -ENOMEM;
	return 0;
}

/* left_out: those of ports, with room for one more. A reason for all ports is none. */
static int reduce(const struct gpu *gpu, struct rna_env_ports *ports, leave_out *applies,
		  struct rna_env_left_out *left_out, const char *reason, struct rna_arena *arena)
{
	const struct rna_subject **kept = rna_arena_array(arena, ports->count, sizeof(*kept));
	const struct rna_subject **out = rna_arena_array(arena, ports->count, sizeof(*out));
	size_t count;

	if (!kept || !out)
		return -ENOMEM;
	count = divide(gpu, ports, applies, kept, out);
	if (count == 0 || count == ports->count)
		return 0;
	if (add_left_out(&left_out[ports->left_out_count], out, ports->count - count, reason,
			 arena) < 0)
		return -ENOMEM;
	ports->left_out_count++;
	ports->items = kept;
	ports->count = count;
	return 0;
}

/* -- Texts ------------------------------------------------------------------------------------- */

static const char *between(enum rna_path_class path)
{
	static const char *const texts[RNA_PATH_COUNT] = {
		[RNA_PATH_SAME] = "one function",
		[RNA_PATH_PIX] = "at most one PCIe switch in between",
		[RNA_PATH_PXB] = "several PCIe switches in between",
		[RNA_PATH_PHB] = "a host bridge in between",
		[RNA_PATH_NODE] = "several host bridges of one NUMA node in between",
		[RNA_PATH_SYS] = "on another NUMA node",
		[RNA_PATH_UNKNOWN] = "unknown",
	};

	return texts[path];
}

static const char *say_why(const struct gpu *gpu, struct rna_arena *arena)
{
	const struct rna_gpu *item = &gpu->topology->gpus[gpu->index];

	return rna_arena_printf(arena, "%s from GPU %u (%s): %s", rna_path_class_name(gpu->nearest),
				gpu->index, gpu->topology->objects[item->object].address,
				between(gpu->nearest));
}

static bool has_own(const struct gpu *gpu, const struct rna_env_ports *ports)
{
	for (size_t i = 0; i < ports->count; i++)
		if (nic_of(gpu, ports->items[i]) == own_nic(gpu, gpu->index))
			return true;
	return false;
}

/* "": all is well; NULL: no memory. */
static const char *say_warning(const struct gpu *gpu, const struct rna_env_ports *ports,
			       struct rna_arena *arena)
{
	int own = own_nic(gpu, gpu->index);
	const struct rna_nic *nic = own == NO_NIC ? NULL : &gpu->topology->nics[own];

	if (!nic || has_own(gpu, ports))
		return "";
	return rna_arena_printf(arena,
				"the NIC of GPU %u, %s, has no port that can be used; those listed "
				"%s",
				gpu->index,
				nic->device_count > 0 ? nic->devices[0]
						      : gpu->topology->objects[nic->object].address,
				is_of_another(gpu, ports->items[0])
					? "serve other GPUs, too"
					: "are the nearest of the others");
}

/* -- All of it --------------------------------------------------------------------------------- */

/* left_out of ports, with room for more; NULL: no memory. */
static struct rna_env_left_out *extend_left_out(struct rna_env_ports *ports,
						struct rna_arena *arena)
{
	enum { MORE = 2 };
	struct rna_env_left_out *left_out =
		rna_arena_array(arena, ports->left_out_count + MORE, sizeof(*left_out));

	for (size_t i = 0; left_out && i < ports->left_out_count; i++)
		left_out[i] = ports->left_out[i];
	if (left_out)
		ports->left_out = left_out;
	return left_out;
}

static int leave_out_farther(struct gpu *gpu, struct rna_env_ports *ports,
			     struct rna_env_left_out *left_out, struct rna_arena *arena)
{
	return reduce(gpu, ports, is_farther, left_out,
		      rna_arena_printf(arena, "farther from GPU %u than %s", gpu->index,
				       rna_path_class_name(gpu->nearest)),
		      arena);
}

static int choose(struct gpu *gpu, struct rna_env_ports *ports, struct rna_arena *arena)
{
	struct rna_env_left_out *left_out = extend_left_out(ports, arena);
	int status = left_out ? leave_out_farther(gpu, ports, left_out, arena) : -ENOMEM;

	if (status == 0)
		status = reduce(gpu, ports, is_of_another, left_out,
				rna_arena_printf(arena, "as near to GPU %u, but the NIC of another",
						 gpu->index),
				arena);
	return status;
}

int rna_env_ports_of_numa_node(const struct rna_topology *topology, unsigned index,
			       struct rna_arena *arena, struct rna_env_ports *ports)
{
	struct gpu gpu = {.topology = topology, .index = index};
	struct rna_env_left_out *left_out = extend_left_out(ports, arena);
	size_t count = ports->count;

	gpu.nearest = find_nearest(&gpu, ports);
	if (!left_out)
		return -ENOMEM;
	if (gpu.nearest == RNA_PATH_UNKNOWN)
		return 0;
	if (leave_out_farther(&gpu, ports, left_out, arena) < 0)
		return -ENOMEM;
	if (ports->count == count)
		return 0;
	ports->why = rna_arena_printf(arena,
				      "as near to GPU %u as the NUMA nodes of this virtual machine "
				      "tell: %s",
				      index, rna_path_class_name(gpu.nearest));
	return ports->why ? 0 : -ENOMEM;
}

int rna_env_ports_of_gpu(const struct rna_topology *topology, unsigned index,
			 struct rna_arena *arena, struct rna_env_ports *ports,
			 const char **ret_warning)
{
	struct gpu gpu = {.topology = topology, .index = index};
	const char *warning;

	*ret_warning = NULL;
	if (ports->count == 0)
		return 0;
	gpu.nearest = find_nearest(&gpu, ports);
	if (gpu.nearest == RNA_PATH_UNKNOWN) {
		ports->why =
			rna_arena_printf(arena, "which of them is nearest to GPU %u is not known",
					 index);
		*ret_warning = ports->why;
		return ports->why ? 0 : -ENOMEM;
	}
	if (choose(&gpu, ports, arena) < 0)
		return -ENOMEM;
	ports->are_nearest = true;
	ports->why = say_why(&gpu, arena);
	warning = say_warning(&gpu, ports, arena);
	if (!ports->why || !warning)
		return -ENOMEM;
	*ret_warning = *warning ? warning : NULL;
	return 0;
}
