/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view with a topology made by hand, for the tests of what shows it:
 *
 *   socket 0: a switch with GPU0 and NIC0 (mlx5_0, up), and behind a second switch NIC1, which has
 *             16 virtual functions and no RDMA device, and a link of 8 lanes where 16 could be
 *   socket 1: GPU1 and NIC2 (mlx5_1, down) on root ports of one host bridge; GPU1 is idle
 */
#pragma once

#include "rna/model/topology.h"

#include "exporter_view.h"

enum { TOPOLOGY_OBJECTS = 20 };

/* What objects are made with that have nothing special. */
static const struct rna_pcie_link topology_link = {
	.speed = {32000, RNA_VALUE_OK},
	.width = {16, RNA_VALUE_OK},
	.max_speed = {32000, RNA_VALUE_OK},
	.max_width = {16, RNA_VALUE_OK},
};

static inline unsigned add_object(struct rna_topology *topology, const char *address,
				  enum rna_pci_role role, int parent)
{
	struct rna_pci_object *objects = (void *)(uintptr_t)topology->objects;
	int socket = topology->object_count > 10;

	assert(topology->object_count < TOPOLOGY_OBJECTS);
	objects[topology->object_count] = (struct rna_pci_object){
		.address = address,
		.role = role,
		.parent = parent,
		.vendor_id = role == RNA_PCI_GPU ? 0x10de : 0x15b3,
		.device_id = 0x2330,
		.numa_node = socket,
		.package = socket,
		.link = topology_link,
	};
	if (role == RNA_PCI_HOST_BRIDGE)
		objects[topology->object_count].link = (struct rna_pcie_link){0};
	return (unsigned)topology->object_count++;
}

static inline struct rna_pci_object *object_at(struct rna_topology *topology, unsigned object)
{
	return (void *)(uintptr_t)&topology->objects[object];
}

static inline void fill_objects(struct rna_topology *topology, struct rna_gpu *gpus,
				struct rna_nic *nics)
{
	add_object(topology, "pci0000:10", RNA_PCI_HOST_BRIDGE, RNA_NO_OBJECT);
	add_object(topology, "0000:10:01.0", RNA_PCI_ROOT_PORT, 0);
	add_object(topology, "0000:11:00.0", RNA_PCI_UPSTREAM, 1);
	add_object(topology, "0000:12:00.0", RNA_PCI_DOWNSTREAM, 2);
	gpus[0].object = add_object(topology, "0000:13:00.0", RNA_PCI_GPU, 3);
	add_object(topology, "0000:12:01.0", RNA_PCI_DOWNSTREAM, 2);
	nics[0].object = add_object(topology, "0000:14:00.0", RNA_PCI_NIC, 5);
	add_object(topology, "0000:12:02.0", RNA_PCI_DOWNSTREAM, 2);
	add_object(topology, "0000:15:00.0", RNA_PCI_UPSTREAM, 7);
	add_object(topology, "0000:16:00.0", RNA_PCI_DOWNSTREAM, 8);
	nics[1].object = add_object(topology, "0000:17:00.0", RNA_PCI_NIC, 9);
	add_object(topology, "pci0000:80", RNA_PCI_HOST_BRIDGE, RNA_NO_OBJECT);
	add_object(topology, "0000:80:01.0", RNA_PCI_ROOT_PORT, 11);
	gpus[1].object = add_object(topology, "0000:81:00.0", RNA_PCI_GPU, 12);
	add_object(topology, "0000:80:02.0", RNA_PCI_ROOT_PORT, 11);
	nics[2].object = add_object(topology, "0000:82:00.0", RNA_PCI_NIC, 14);
	object_at(topology, nics[1].object)->link.width.number = 8;
	object_at(topology, gpus[1].object)->link.speed.number = 2500;
}

static inline struct rna_topology *new_topology(void)
{
	static const char *up[] = {"mlx5_0"}, *down[] = {"mlx5_1"};
	static const char *plain[] = {"enp23s0np0"}, *both[] = {"ib0", "ib1"};
	struct rna_topology *topology = new_part(RNA_COLLECTOR_TOPOLOGY, sizeof(*topology));
	struct rna_arena *arena = topology->part.arena;
	struct rna_gpu *gpus = rna_arena_array(arena, 2, sizeof(*gpus));
	struct rna_nic *nics = rna_arena_array(arena, 3, sizeof(*nics));

	topology->objects = rna_arena_array(arena, TOPOLOGY_OBJECTS, sizeof(*topology->objects));
	assert(topology->objects && gpus && nics);
	gpus[0] = (struct rna_gpu){.model = "H100 <&\"SXM\">", .uuid = "GPU-1", .os_devices = 1};
	gpus[0].minor = rna_value_ok(0);
	gpus[1] = (struct rna_gpu){.os_devices = 6};
	for (size_t i = 0; i < 3; i++)
		nics[i] = (struct rna_nic){.data_direct = RNA_NO_OBJECT, .lag = -1};
	nics[0].devices = up;
	nics[0].netdevs = both;
	nics[0].netdev_count = 2;
	nics[1].netdevs = plain;
	nics[1].netdev_count = 1;
	nics[1].virtual_functions = 16;
	nics[2].devices = down;
	nics[0].device_count = nics[2].device_count = 1;
	topology->hwloc = true;
	topology->gpus = gpus;
	topology->gpu_count = 2;
	topology->nics = nics;
	topology->nic_count = 3;
	fill_objects(topology, gpus, nics);
	assert(rna_topology_assign(topology, nics, NULL, NULL, arena) == 0);
	return topology;
}

static inline struct rna_view *new_topology_view(void)
{
	struct rna_view *view = new_view(2);

	own_snapshot(view)->parts[RNA_COLLECTOR_TOPOLOGY] = &new_topology()->part;
	return view;
}
