// SPDX-License-Identifier: Apache-2.0
/*
 * The ports of one GPU: those of the nearest NICs that remain. If several are equally near, each
 * GPU has a NIC of its own (struct rna_gpu_affinity), and a NIC that is no GPU's own serves all of
 * them: so GPUs do not share a NIC while others are idle, and no NIC is wasted.
 */
#include <errno.h>

#include "env_ports.h"

enum { NO_NIC = -1 };

static int nic_of(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	const struct rna_nic *nic = rna_topology_find_nic(choice->topology, port->device->device);

	return nic ? (int)(nic - choice->topology->nics) : NO_NIC;
}

static enum rna_path_class path_to(const struct rna_env_choice *choice,
				   const struct rna_subject *port)
{
	int nic = nic_of(choice, port);

	return nic == NO_NIC ? RNA_PATH_UNKNOWN
			     : rna_topology_gpu_path(choice->topology, choice->gpu, (unsigned)nic);
}

static enum rna_path_class find_nearest(const struct rna_env_choice *choice)
{
	enum rna_path_class ret = RNA_PATH_UNKNOWN;

	for (size_t i = 0; i < choice->ports->count; i++) {
		enum rna_path_class path = path_to(choice, choice->ports->items[i]);

		ret = path < ret ? path : ret;
	}
	return ret;
}

static int own_nic(const struct rna_env_choice *choice, size_t of)
{
	return choice->topology->affinities[of].nic;
}

static int rail_of(const struct rna_env_choice *choice, int nic)
{
	return nic == NO_NIC ? -1 : choice->topology->nics[nic].rail;
}

/* Is its NIC the own one of another GPU, and not of this one as well? Planes are of one NIC. */
static bool is_of_another(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	int nic = nic_of(choice, port), own = own_nic(choice, choice->gpu);

	if (nic == NO_NIC || nic == own ||
	    (rail_of(choice, nic) >= 0 && rail_of(choice, nic) == rail_of(choice, own)))
		return false;
	return RNA_ANY(i, choice->topology->gpu_count, own_nic(choice, i) == nic);
}

static bool is_farther(const struct rna_env_choice *choice, const struct rna_subject *port)
{
	return path_to(choice, port) != choice->nearest;
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

static const char *say_why(const struct rna_env_choice *choice, struct rna_arena *arena)
{
	const struct rna_gpu *item = &choice->topology->gpus[choice->gpu];

	return rna_arena_printf(arena, "%s from GPU %u (%s): %s",
				rna_path_class_name(choice->nearest), choice->gpu,
				choice->topology->objects[item->object].address,
				between(choice->nearest));
}

static bool has_own(const struct rna_env_choice *choice)
{
	return RNA_ANY(i, choice->ports->count,
		       nic_of(choice, choice->ports->items[i]) == own_nic(choice, choice->gpu));
}

/* "": all is well; NULL: no memory. */
static const char *say_warning(const struct rna_env_choice *choice, struct rna_arena *arena)
{
	int own = own_nic(choice, choice->gpu);
	const struct rna_nic *nic = own == NO_NIC ? NULL : &choice->topology->nics[own];

	if (!nic || has_own(choice))
		return "";
	return rna_arena_printf(arena,
				"the NIC of GPU %u, %s, has no port that can be used; those listed "
				"%s",
				choice->gpu,
				nic->device_count > 0
					? nic->devices[0]
					: choice->topology->objects[nic->object].address,
				is_of_another(choice, choice->ports->items[0])
					? "serve other GPUs, too"
					: "are the nearest of the others");
}

/* -- All of it --------------------------------------------------------------------------------- */

static int leave_out_farther(struct rna_env_choice *choice, struct rna_arena *arena)
{
	return rna_env_leave_out(choice,
				 rna_arena_printf(arena, "farther from GPU %u than %s", choice->gpu,
						  rna_path_class_name(choice->nearest)),
				 is_farther, false, arena);
}

int rna_env_ports_of_numa_node(const struct rna_topology *topology, unsigned gpu,
			       struct rna_arena *arena, struct rna_env_ports *ports)
{
	struct rna_env_choice choice = {.ports = ports, .topology = topology, .gpu = gpu};
	size_t count = ports->count;

	choice.nearest = find_nearest(&choice);
	if (choice.nearest == RNA_PATH_UNKNOWN)
		return 0;
	if (leave_out_farther(&choice, arena) < 0)
		return -ENOMEM;
	if (ports->count == count)
		return 0;
	ports->why = rna_arena_printf(arena,
				      "as near to GPU %u as the NUMA nodes of this virtual machine "
				      "tell: %s",
				      gpu, rna_path_class_name(choice.nearest));
	return ports->why ? 0 : -ENOMEM;
}

int rna_env_ports_of_gpu(const struct rna_topology *topology, unsigned gpu, struct rna_arena *arena,
			 struct rna_env_ports *ports, const char **ret_warning)
{
	struct rna_env_choice choice = {.ports = ports, .topology = topology, .gpu = gpu};
	const char *warning;

	*ret_warning = NULL;
	if (ports->count == 0)
		return 0;
	choice.nearest = find_nearest(&choice);
	if (choice.nearest == RNA_PATH_UNKNOWN) {
		ports->why =
			rna_arena_printf(arena, "which of them is nearest to GPU %u is not known",
					 gpu);
		*ret_warning = ports->why;
		return ports->why ? 0 : -ENOMEM;
	}
	if (leave_out_farther(&choice, arena) < 0 ||
	    rna_env_leave_out(&choice,
			      rna_arena_printf(arena, "as near to GPU %u, but the NIC of another",
					       gpu),
			      is_of_another, false, arena) < 0)
		return -ENOMEM;
	ports->are_nearest = true;
	ports->why = say_why(&choice, arena);
	warning = say_warning(&choice, arena);
	if (!ports->why || !warning)
		return -ENOMEM;
	*ret_warning = *warning ? warning : NULL;
	return 0;
}
