// SPDX-License-Identifier: Apache-2.0
/* agent/core/topology: distances in hand-made trees, nearest NICs, the assignment, rails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/device.h"
#include "rna/model/topology.h"

enum {
	OBJECTS_MAX = 4096,
	GPUS_MAX = 100,
	NICS_MAX = 700,
	CONNECTX7 = 0x1021,
	CONNECTX6_DX = 0x101d,
};

/* A tree that grows by the functions below; nics have one device each, "n" and their index. */
struct node {
	struct rna_topology topology;
	struct rna_arena *arena;
	struct rna_pci_object objects[OBJECTS_MAX];
	struct rna_gpu gpus[GPUS_MAX];
	struct rna_nic nics[NICS_MAX];
	struct rna_known_rails *known;
	struct rna_nic_facts *facts;
};

static int setup(void **state)
{
	struct node *node = calloc(1, sizeof(*node));

	node->arena = rna_arena_new(4096);
	node->topology.objects = node->objects;
	node->topology.gpus = node->gpus;
	node->topology.nics = node->nics;
	*state = node;
	return 0;
}

static int teardown(void **state)
{
	struct node *node = *state;

	(void)rna_known_rails_unref(node->known);
	(void)rna_arena_free(node->arena);
	free(node);
	return 0;
}

static unsigned add(struct node *node, int parent, enum rna_pci_role role)
{
	unsigned index = (unsigned)node->topology.object_count++;
	struct rna_pci_object *object = &node->objects[index];

	*object = (struct rna_pci_object){
		.address = rna_arena_printf(node->arena, "%04x:%02x:00.0", index >> 8, index & 255),
		.role = role,
		.parent = parent,
		.numa_node = parent < 0 ? -1 : node->objects[parent].numa_node,
		.package = parent < 0 ? -1 : node->objects[parent].package,
	};
	return index;
}

static unsigned add_host_bridge(struct node *node, int numa_node)
{
	unsigned index = add(node, RNA_NO_OBJECT, RNA_PCI_HOST_BRIDGE);

	node->objects[index].numa_node = numa_node;
	return index;
}

/* A switch behind a link of parent; its downstream ports are added below the upstream port. */
static unsigned add_switch(struct node *node, unsigned parent)
{
	return add(node, (int)parent, RNA_PCI_UPSTREAM);
}

/* A root port, and a switch below it. */
static unsigned add_complex(struct node *node, int numa_node)
{
	unsigned root = add_host_bridge(node, numa_node);

	return add_switch(node, add(node, (int)root, RNA_PCI_ROOT_PORT));
}

static unsigned add_port(struct node *node, unsigned upstream)
{
	return add(node, (int)upstream, RNA_PCI_DOWNSTREAM);
}

/* Directly below a port or a host bridge. Index of gpus. */
static unsigned add_gpu(struct node *node, unsigned parent)
{
	unsigned index = (unsigned)node->topology.gpu_count++;

	node->gpus[index] = (struct rna_gpu){.object = add(node, (int)parent, RNA_PCI_GPU)};
	return index;
}

static unsigned add_nic_of(struct node *node, unsigned parent, uint32_t device_id)
{
	unsigned index = (unsigned)node->topology.nic_count++;
	const char **devices = rna_arena_array(node->arena, 2, sizeof(*devices));

	devices[0] = rna_arena_printf(node->arena, "n%u", index);
	node->nics[index] = (struct rna_nic){
		.object = add(node, (int)parent, RNA_PCI_NIC),
		.data_direct = RNA_NO_OBJECT,
		.devices = devices,
		.device_count = 1,
		.lag = -1,
	};
	node->objects[node->nics[index].object].vendor_id = 0x15b3;
	node->objects[node->nics[index].object].device_id = device_id;
	return index;
}

static unsigned add_nic(struct node *node, unsigned parent)
{
	return add_nic_of(node, parent, CONNECTX7);
}

static void assign(struct node *node)
{
	assert_int_equal(rna_topology_assign(&node->topology, node->nics, node->known, node->facts,
					     node->arena),
			 0);
}

static enum rna_path_class gpu_nic(const struct node *node, unsigned gpu, unsigned nic)
{
	enum rna_path_class there =
		rna_topology_path(&node->topology, node->gpus[gpu].object, node->nics[nic].object);

	assert_int_equal(there, rna_topology_path(&node->topology, node->nics[nic].object,
						  node->gpus[gpu].object));
	return there;
}

static int nic_of(const struct node *node, unsigned gpu)
{
	return node->topology.affinities[gpu].nic;
}

/* -- Distances --------------------------------------------------------------------------------- */

static void one_switch_is_pix(void **state)
{
	struct node *node = *state;
	unsigned upstream = add_complex(node, 0);
	unsigned gpu = add_gpu(node, add_port(node, upstream));
	unsigned nic = add_nic(node, add_port(node, upstream));

	assert_int_equal(gpu_nic(node, gpu, nic), RNA_PATH_PIX);
	assert_int_equal(rna_topology_path(&node->topology, node->gpus[0].object,
					   node->gpus[0].object),
			 RNA_PATH_SAME);
}

static void two_switches_are_pxb(void **state)
{
	struct node *node = *state;
	unsigned top = add_complex(node, 0);
	unsigned lower = add_switch(node, add_port(node, top));
	unsigned gpu = add_gpu(node, add_port(node, lower));
	unsigned near = add_nic(node, add_port(node, lower));
	unsigned far = add_nic(node, add_port(node, top));

	assert_int_equal(gpu_nic(node, gpu, near), RNA_PATH_PIX);
	assert_int_equal(gpu_nic(node, gpu, far), RNA_PATH_PXB);
}

/* MI250: each GPU has a switch of its own on the card. */
static void switch_on_the_card_counts(void **state)
{
	struct node *node = *state;
	unsigned top = add_complex(node, 0);
	unsigned card = add_switch(node, add_port(node, top));
	unsigned gpu = add_gpu(node, add_port(node, card));
	unsigned nic = add_nic(node, add_port(node, top));

	assert_int_equal(gpu_nic(node, gpu, nic), RNA_PATH_PXB);
}

/* What static files and hypervisors make of a switch: one bridge, all functions directly below. */
static void functions_below_one_bridge_are_pix(void **state)
{
	struct node *node = *state;
	unsigned root = add_host_bridge(node, 0);
	unsigned bridge = add(node, (int)root, RNA_PCI_BRIDGE);
	unsigned gpu = add_gpu(node, bridge), nic = add_nic(node, bridge);

	assert_int_equal(gpu_nic(node, gpu, nic), RNA_PATH_PIX);
}

/* AWS p4d, and plain VMs: no bridge at all. */
static void functions_below_the_host_bridge_are_phb(void **state)
{
	struct node *node = *state;
	unsigned root = add_host_bridge(node, -1);
	unsigned gpu = add_gpu(node, root), nic = add_nic(node, root);

	assert_int_equal(gpu_nic(node, gpu, nic), RNA_PATH_PHB);
	nic = add_nic(node, add(node, (int)root, RNA_PCI_ROOT_PORT));
	assert_int_equal(gpu_nic(node, gpu, nic), RNA_PATH_PHB);
}

static void functions_of_one_card_are_pix(void **state)
{
	struct node *node = *state;
	unsigned root = add_host_bridge(node, 0);
	unsigned a = add_nic(node, root), b = add_nic(node, root), c = add_nic(node, root);

	node->objects[node->nics[a].object].address = "0000:21:00.0";
	node->objects[node->nics[b].object].address = "0000:21:00.1";
	node->objects[node->nics[c].object].address = "0000:21:01.0";
	assert_int_equal(rna_topology_path(&node->topology, node->nics[a].object,
					   node->nics[b].object),
			 RNA_PATH_PIX);
	assert_int_equal(rna_topology_path(&node->topology, node->nics[a].object,
					   node->nics[c].object),
			 RNA_PATH_PHB);
}

static void locality_decides_between_host_bridges(void **state)
{
	struct node *node = *state;
	unsigned gpu = add_gpu(node, add_host_bridge(node, 0));
	unsigned same = add_nic(node, add_host_bridge(node, 0));
	unsigned other = add_nic(node, add_host_bridge(node, 1));
	unsigned unknown = add_nic(node, add_host_bridge(node, -1));
	unsigned package = add_nic(node, add_host_bridge(node, -1));

	node->objects[node->gpus[gpu].object].package = 0;
	node->objects[node->nics[package].object].package = 1;
	assert_int_equal(gpu_nic(node, gpu, same), RNA_PATH_NODE);
	assert_int_equal(gpu_nic(node, gpu, other), RNA_PATH_SYS);
	assert_int_equal(gpu_nic(node, gpu, unknown), RNA_PATH_UNKNOWN);
	assert_int_equal(gpu_nic(node, gpu, package), RNA_PATH_SYS);
	node->objects[node->nics[package].object].package = 0; /* which node of it? */
	assert_int_equal(gpu_nic(node, gpu, package), RNA_PATH_UNKNOWN);
}

static void data_direct_is_a_path_of_its_own(void **state)
{
	struct node *node = *state;
	unsigned upstream = add_complex(node, 0);
	unsigned gpu = add_gpu(node, add_port(node, upstream));
	unsigned nic = add_nic(node, add_host_bridge(node, 1));
	unsigned direct = add(node, (int)add_port(node, upstream), RNA_PCI_DATA_DIRECT);

	assert_int_equal(rna_topology_gpu_path(&node->topology, gpu, nic), RNA_PATH_SYS);
	node->nics[nic].data_direct = (int)direct;
	assert_int_equal(rna_topology_gpu_path(&node->topology, gpu, nic), RNA_PATH_PIX);
	assert_int_equal(gpu_nic(node, gpu, nic), RNA_PATH_SYS);
	assign(node);
	assert_int_equal(node->topology.affinities[gpu].path, RNA_PATH_PIX);
}

/* -- Nearest and assignment -------------------------------------------------------------------- */

static void equally_near_nics_are_all_nearest(void **state)
{
	struct node *node = *state;
	unsigned upstream = add_complex(node, 0);
	unsigned lower = add_switch(node, add_port(node, upstream));
	unsigned far = add_nic(node, add_port(node, upstream));

	(void)add_gpu(node, add_port(node, lower));
	assign(node);
	assert_int_equal(node->topology.affinities[0].nearest_count, 1);
	assert_int_equal(node->topology.affinities[0].path, RNA_PATH_PXB);
	assert_int_equal(nic_of(node, 0), far);
	(void)add_nic(node, add_port(node, lower));
	(void)add_nic(node, add_port(node, lower));
	assign(node);
	assert_int_equal(node->topology.affinities[0].nearest_count, 2);
	assert_int_equal(node->topology.affinities[0].nearest[0], 1);
	assert_int_equal(node->topology.affinities[0].nearest[1], 2);
	assert_int_equal(node->topology.affinities[0].path, RNA_PATH_PIX);
}

/* The greedy way would give n0 to the first GPU, and the second would have none of its own. */
static void assignment_is_not_greedy(void **state)
{
	struct node *node = *state;
	unsigned top = add_complex(node, 0);
	unsigned left = add_switch(node, add_port(node, top));
	unsigned right = add_switch(node, add_port(node, top));
	unsigned n0 = add_nic(node, add_port(node, left));
	unsigned n1 = add_nic(node, add_port(node, right));

	(void)add_gpu(node, add_port(node, top));                    /* PXB of both */
	(void)add_gpu(node, add_switch(node, add_port(node, left))); /* PXB, n0 by fewer bridges */
	assign(node);
	assert_int_equal(nic_of(node, 0), n1);
	assert_int_equal(nic_of(node, 1), n0);
}

static void assignment_follows_addresses(void **state)
{
	struct node *node = *state;
	unsigned root = add_host_bridge(node, 0);

	for (unsigned i = 0; i < 8; i++) {
		(void)add_gpu(node, root);
		(void)add_nic(node, root);
	}
	assign(node);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(nic_of(node, i), i);
		assert_int_equal(node->nics[i].rail, i);
	}
}

static void gpus_share_where_nics_are_few(void **state)
{
	struct node *node = *state;
	int users[2] = {0};

	for (unsigned i = 0; i < 2; i++) {
		unsigned upstream = add_complex(node, 0);

		(void)add_nic(node, add_port(node, upstream));
		for (unsigned j = 0; j < 4; j++)
			(void)add_gpu(node, add_port(node, upstream));
	}
	assign(node);
	for (unsigned gpu = 0; gpu < 8; gpu++) {
		assert_int_equal(nic_of(node, gpu), gpu / 4);
		users[nic_of(node, gpu)]++;
	}
	assert_int_equal(users[0], 4);
}

/* Two GPUs at the only NIC of their switch, and a NIC to spare in the other socket. */
static void far_nic_is_not_taken_for_the_sake_of_having_one(void **state)
{
	struct node *node = *state;
	unsigned upstream = add_complex(node, 0);
	unsigned near = add_nic(node, add_port(node, upstream));
	unsigned far = add_nic(node, add_complex(node, 1));

	(void)add_gpu(node, add_port(node, upstream));
	(void)add_gpu(node, add_port(node, upstream));
	assign(node);
	assert_int_equal(nic_of(node, 0), near);
	assert_int_equal(nic_of(node, 1), near);
	assert_int_equal(node->nics[near].rail, 0);
	assert_int_equal(node->nics[far].rail, -1);
}

/* Dell XE9680: a ConnectX-7 and both ports of a ConnectX-6 Dx for storage on one switch. */
static void faster_nic_is_preferred_and_storage_has_no_rail(void **state)
{
	struct node *node = *state;
	unsigned upstream = add_complex(node, 0);
	unsigned card = add_port(node, upstream);

	(void)add_nic_of(node, card, CONNECTX6_DX);
	(void)add_nic_of(node, card, CONNECTX6_DX);
	(void)add_nic(node, add_port(node, upstream));
	(void)add_gpu(node, add_port(node, upstream));
	for (unsigned i = 0; i < 3; i++)
		node->objects[node->nics[i].object].link = (struct rna_pcie_link){
			.max_speed = rna_value_ok(i == 2 ? 32000 : 16000),
			.max_width = rna_value_ok(16),
		};
	assign(node);
	assert_int_equal(node->topology.affinities[0].nearest_count, 3);
	assert_int_equal(nic_of(node, 0), 2);
	assert_int_equal(node->nics[0].rail, -1);
	assert_int_equal(node->nics[1].rail, -1);
	assert_int_equal(node->nics[2].rail, 0);
}

/* AWS p5: four NICs at each GPU are all rails. */
static void several_nics_of_one_gpu_are_rails(void **state)
{
	struct node *node = *state;

	for (unsigned i = 0; i < 2; i++) {
		unsigned upstream = add_complex(node, 0);

		for (unsigned j = 0; j < 4; j++)
			(void)add_nic(node, add_port(node, upstream));
		(void)add_gpu(node, add_port(node, upstream));
	}
	assign(node);
	assert_int_equal(nic_of(node, 0), 0);
	assert_int_equal(nic_of(node, 1), 4);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(node->nics[i].rail, i);
}

static void nics_that_do_not_serve_are_passed_over(void **state)
{
	struct node *node = *state;
	unsigned upstream = add_complex(node, 0);
	unsigned management = add_nic(node, add_port(node, upstream));
	unsigned bare = add_nic(node, add_port(node, upstream));
	unsigned leader = add_nic(node, add_port(node, upstream));
	unsigned member = add_nic(node, add_port(node, upstream));

	(void)add_gpu(node, add_port(node, upstream));
	node->nics[management].switch_management = true;
	node->nics[bare].device_count = 0;
	node->nics[member].lag = (int)leader;
	assign(node);
	assert_int_equal(node->topology.affinities[0].nearest_count, 1);
	assert_int_equal(nic_of(node, 0), leader);
	assert_int_equal(node->nics[management].rail, -1);
	assert_int_equal(node->nics[bare].rail, 0); /* its number stays its own */
	assert_int_equal(node->nics[leader].rail, 1);
	assert_int_equal(node->nics[member].rail, 1);
}

/* Four GPUs with a NIC each behind their switches, and a storage NIC; then one NIC is gone. */
static void a_lost_nic_moves_no_rail(void **state)
{
	struct node *node = *state;
	unsigned storage = add_nic(node, add_port(node, add_complex(node, 0)));
	unsigned nics[4];

	for (unsigned i = 0; i < 4; i++) {
		unsigned upstream = add_complex(node, 0);

		if (i != 1)
			nics[i] = add_nic(node, add_port(node, upstream));
		(void)add_gpu(node, add_port(node, upstream));
	}
	assign(node);
	assert_int_equal(node->nics[storage].rail, -1);
	assert_int_equal(nic_of(node, 1), storage); /* the nearest that is left */
	assert_int_equal(node->nics[nics[0]].rail, 0);
	assert_int_equal(node->nics[nics[2]].rail, 2);
	assert_int_equal(node->nics[nics[3]].rail, 3);
}

/* Nor does one whose Data Direct function is gone: the way to it is longer, its place is the same.
 */
static void a_lost_data_direct_function_moves_no_rail(void **state)
{
	struct node *node = *state;
	unsigned nics[4], direct;

	for (unsigned i = 0; i < 4; i++) {
		unsigned upstream = add_complex(node, 0);

		direct = add(node, (int)add_port(node, upstream), RNA_PCI_DATA_DIRECT);
		(void)add_gpu(node, add_port(node, upstream));
		nics[i] = add_nic(node, add_port(node, add_complex(node, 0)));
		if (i != 1)
			node->nics[nics[i]].data_direct = (int)direct;
	}
	assign(node);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(node->nics[nics[i]].rail, i);
}

/* -- What devices tell of NICs ----------------------------------------------------------------- */

static struct rna_nic_fact *fact_of(struct node *node, unsigned nic)
{
	struct rna_nic_fact *fact;

	if (!node->facts) {
		node->facts = rna_arena_alloc(node->arena, sizeof(*node->facts));
		node->facts->items =
			rna_arena_array(node->arena, NICS_MAX, sizeof(*node->facts->items));
	}
	fact = &node->facts->items[node->facts->count++]; /* in the order of addresses */
	fact->address = node->objects[node->nics[nic].object].address;
	return fact;
}

/* Four complexes, each with a card of two functions and that many GPUs. */
static void add_dual_port_cards(struct node *node, unsigned gpus)
{
	for (unsigned i = 0; i < 4; i++) {
		unsigned upstream = add_complex(node, 0), card = add_port(node, upstream);

		(void)add_nic(node, card);
		(void)add_nic(node, card);
		for (unsigned gpu = 0; gpu < gpus; gpu++)
			(void)add_gpu(node, add_port(node, upstream));
	}
}

/* Dual-port cards with one cable each: the second port is no rail, and the nearest of no GPU. */
static void functions_that_no_card_uses_are_no_rails(void **state)
{
	struct node *node = *state;

	add_dual_port_cards(node, 2);
	for (unsigned i = 1; i < 8; i += 2)
		fact_of(node, i)->unused = true;
	assign(node);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(node->nics[i].rail, i % 2 ? -1 : (int)i / 2);
		assert_int_equal(node->topology.affinities[i].nearest_count, 1);
		assert_int_equal(nic_of(node, i), i / 2 * 2);
	}
}

static void planes_of_one_card_are_one_rail(void **state)
{
	struct node *node = *state;

	add_dual_port_cards(node, 1);
	for (unsigned i = 1; i < 8; i += 2)
		fact_of(node, i)->rail_of = node->objects[node->nics[i - 1].object].address;
	assign(node);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(node->nics[i].rail, i / 2);
	assert_int_equal(node->topology.affinities[0].nearest_count, 2);
}

/* Each GPU has its NIC; behind one switch there is another one of the model, in front of it. */
static void a_storage_nic_behind_the_switch_of_a_gpu_is_no_rail(void **state)
{
	struct node *node = *state;
	unsigned storage = 0, rails[4];

	for (unsigned i = 0; i < 4; i++) {
		unsigned upstream = add_complex(node, 0);

		if (i == 1)
			storage = add_nic(node, add_port(node, upstream));
		rails[i] = add_nic(node, add_port(node, upstream));
		node->nics[rails[i]].subsystem = 0x15b30041;
		(void)add_gpu(node, add_port(node, upstream));
	}
	assign(node);
	assert_int_equal(node->nics[storage].rail, -1);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(node->nics[rails[i]].rail, i);
		assert_int_equal(nic_of(node, i), rails[i]);
	}
}

/* One card of the model has a second function, which no other has. */
static void an_odd_function_is_no_rail(void **state)
{
	struct node *node = *state;
	unsigned odd = 0, rails[4];

	for (unsigned i = 0; i < 4; i++) {
		unsigned upstream = add_complex(node, 0), card = add_port(node, upstream);

		rails[i] = add_nic(node, card);
		if (i != 2)
			continue;
		odd = add_nic(node, card);
		node->objects[node->nics[odd].object].address =
			rna_arena_printf(node->arena, "%.*s.1", 10,
					 node->objects[node->nics[rails[i]].object].address);
	}
	for (unsigned i = 0; i < 4; i++)
		(void)add_gpu(node,
			      (unsigned)node
				      ->objects[node->objects[node->nics[rails[i]].object].parent]
				      .parent);
	assign(node);
	assert_int_equal(node->nics[odd].rail, -1);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(node->nics[rails[i]].rail, i);
}

/* Two GPUs and two NICs behind each switch; one GPU is gone, and its NIC is a rail all the same. */
static void a_lost_gpu_takes_no_rail(void **state)
{
	struct node *node = *state;

	for (unsigned i = 0; i < 4; i++) {
		unsigned upstream = add_complex(node, 0);

		(void)add_nic(node, add_port(node, upstream));
		(void)add_nic(node, add_port(node, upstream));
		(void)add_gpu(node, add_port(node, upstream));
		if (i != 1)
			(void)add_gpu(node, add_port(node, upstream));
	}
	assign(node);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(node->nics[i].rail, i);
}

/* Of two GPUs neither has what is usual: a slower NIC is one too many, an equal one is not. */
static void of_two_gpus_only_a_lesser_nic_is_one_too_many(void **state)
{
	struct node *node = *state;
	unsigned nics[3], first = add_complex(node, 0), second = add_complex(node, 1);

	nics[0] = add_nic(node, add_port(node, first));
	(void)add_gpu(node, add_port(node, first));
	nics[1] = add_nic(node, add_port(node, second));
	nics[2] = add_nic(node, add_port(node, second));
	(void)add_gpu(node, add_port(node, second));
	assign(node);
	assert_int_equal(node->nics[nics[2]].rail, 2);
	for (unsigned i = 0; i < 3; i++)
		fact_of(node, nics[i])->rate = i == 1 ? 25000000000 : 50000000000;
	assign(node);
	assert_int_equal(node->nics[nics[0]].rail, 0);
	assert_int_equal(node->nics[nics[1]].rail, -1);
	assert_int_equal(node->nics[nics[2]].rail, 1);
}

/* Without its device the rail is still the rail, and keeps its number. */
static void nor_is_it_one_while_the_rail_beside_it_is_dead(void **state)
{
	struct node *node = *state;
	unsigned storage = 0, rails[4];

	for (unsigned i = 0; i < 4; i++) {
		unsigned upstream = add_complex(node, 0);

		rails[i] = add_nic(node, add_port(node, upstream));
		if (i == 1)
			storage = add_nic(node, add_port(node, upstream));
		fact_of(node, rails[i])->rate = i == 1 ? 0 : 50000000000;
		if (i == 1)
			fact_of(node, storage)->rate = 25000000000;
		(void)add_gpu(node, add_port(node, upstream));
	}
	node->nics[rails[1]].device_count = 0;
	assign(node);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(node->nics[rails[i]].rail, i);
	assert_int_equal(node->nics[storage].rail, -1);
	assert_int_equal(nic_of(node, 1), storage); /* what serves the GPU has a device */
}

/* All are behind host bridges of their own, on links of one speed. */
static void the_faster_kind_of_equally_near_nics_is_the_rail(void **state)
{
	struct node *node = *state;
	unsigned slow[2], fast[2];

	for (unsigned i = 0; i < 2; i++) {
		slow[i] = add_nic_of(node, add_complex(node, 0), CONNECTX6_DX);
		fact_of(node, slow[i])->rate = 25000000000;
	}
	for (unsigned i = 0; i < 2; i++) {
		fast[i] = add_nic(node, add_complex(node, 0));
		/* one has a bad cable */
		fact_of(node, fast[i])->rate = i == 1 ? 12500000000 : 50000000000;
		(void)add_gpu(node, add_complex(node, 0));
	}
	assign(node);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(node->nics[slow[i]].rail, -1);
		assert_int_equal(node->nics[fast[i]].rail, i);
	}
}

/* Four GPUs have theirs behind a switch; a fifth has none, and two kinds are as far from it. */
static void between_equals_the_model_of_the_other_rails_is_taken(void **state)
{
	struct node *node = *state;
	unsigned other = add_nic_of(node, add_complex(node, 0), CONNECTX6_DX), same;

	for (unsigned i = 0; i < 3; i++) {
		unsigned root = add_complex(node, 1);

		(void)add_nic(node, add_port(node, root));
		(void)add_gpu(node, add_port(node, root));
	}
	same = add_nic(node, add_complex(node, 0));
	(void)add_gpu(node, add_complex(node, 0));
	assign(node);
	assert_int_equal(node->topology.affinities[3].nearest_count, 2);
	assert_int_equal(nic_of(node, 3), same);
	assert_int_not_equal(nic_of(node, 3), other);
}

/* HPE Slingshot has no RDMA devices at all; its NICs are near GPUs all the same. */
static void without_any_device_all_nics_serve(void **state)
{
	struct node *node = *state;
	unsigned upstream = add_complex(node, 0);
	unsigned nic = add_nic(node, add_port(node, upstream));

	(void)add_gpu(node, add_port(node, upstream));
	node->nics[nic].device_count = 0;
	assign(node);
	assert_int_equal(nic_of(node, 0), nic);
	assert_int_equal(node->nics[nic].rail, 0);
}

static void nothing_is_near_where_nothing_is_known(void **state)
{
	struct node *node = *state;
	unsigned nic = add_nic(node, add_host_bridge(node, -1));

	(void)add_gpu(node, add_host_bridge(node, -1));
	assign(node);
	assert_int_equal(node->topology.affinities[0].nearest_count, 0);
	assert_int_equal(node->topology.affinities[0].path, RNA_PATH_UNKNOWN);
	assert_int_equal(nic_of(node, 0), -1);
	assert_int_equal(node->nics[nic].rail, 0); /* as on a node without GPUs */
}

static void nodes_without_gpus_or_nics_are_fine(void **state)
{
	struct node *node = *state;
	unsigned root = add_host_bridge(node, 0);

	assign(node);
	(void)add_gpu(node, root);
	assign(node);
	assert_int_equal(nic_of(node, 0), -1);
	node->topology.gpu_count = 0;
	(void)add_nic(node, root);
	(void)add_nic(node, root);
	assign(node);
	assert_int_equal(node->nics[0].rail, 0);
	assert_int_equal(node->nics[1].rail, 1);
}

/* A VM that shows no tree: four InfiniBand NICs, and one of the same model for Ethernet. */
static void without_gpus_the_most_common_kind_are_rails(void **state)
{
	struct node *node = *state;
	unsigned root = add_host_bridge(node, 0);

	for (unsigned i = 0; i < 5; i++) {
		unsigned nic = add_nic(node, root);

		node->objects[node->nics[nic].object].class_id = i == 1 ? 0x0200 : 0x0207;
	}
	assign(node);
	for (int i = 0; i < 5; i++)
		assert_int_equal(node->nics[i].rail, i == 1 ? -1 : i > 1 ? i - 1 : i);
}

/* -- Rails that are remembered ---------------------------------------------------------------- */

/* Eight GPUs with a NIC each, and two of the same model for storage. */
static void make_whole(struct node *node)
{
	for (unsigned i = 0; i < 10; i++) {
		unsigned upstream = add_complex(node, i < 5 ? 0 : 1);

		if (i != 4 && i != 9)
			(void)add_gpu(node, add_port(node, upstream));
		(void)add_nic(node, add_port(node, upstream));
	}
}

static const char *address_at(const struct node *node, unsigned nic)
{
	return node->objects[node->nics[nic].object].address;
}

/* Remembers the rails as they are. */
static void remember(struct node *node)
{
	size_t count = node->topology.nic_count;

	(void)rna_known_rails_unref(node->known);
	node->known = rna_known_rails_new(count);
	assert_non_null(node->known);
	node->known->gpu_count = node->topology.gpu_count;
	node->known->count = count;
	for (unsigned i = 0; i < count; i++)
		node->known->nics[i] = (struct rna_known_nic){
			.address = address_at(node, i),
			.vendor_id = node->objects[node->nics[i].object].vendor_id,
			.device_id = node->objects[node->nics[i].object].device_id,
			.had_device = node->nics[i].device_count > 0,
			.rail = node->nics[i].rail,
		};
}

static void remove_nic(struct node *node, unsigned nic)
{
	size_t behind = --node->topology.nic_count - nic;

	memmove(&node->nics[nic], &node->nics[nic + 1], behind * sizeof(node->nics[0]));
}

static void expect_rails(const struct node *node, const int *rails)
{
	for (unsigned i = 0; i < node->topology.nic_count; i++)
		if (node->nics[i].rail != rails[i])
			fail_msg("NIC %u has rail %d, not %d", i, node->nics[i].rail, rails[i]);
}

static const int whole[] = {0, 1, 2, 3, -1, 4, 5, 6, 7, -1};

static void a_nic_that_vanishes_leaves_its_number_free(void **state)
{
	static const int rails[] = {0, 1, 3, -1, 4, 5, 6, 7, -1};
	struct node *node = *state;
	struct rna_nic vanished;

	make_whole(node);
	assign(node);
	expect_rails(node, whole);
	remember(node);
	assign(node);
	expect_rails(node, whole);
	assert_false(node->topology.rails_recalled);
	vanished = node->nics[2];
	remove_nic(node, 2);
	assign(node);
	assert_true(node->topology.rails_recalled);
	expect_rails(node, rails); /* without a memory the NIC for storage takes its place */
	memmove(&node->nics[3], &node->nics[2], 7 * sizeof(node->nics[0]));
	node->nics[2] = vanished;
	node->topology.nic_count++;
	node->topology.rails_recalled = false;
	assign(node);
	expect_rails(node, whole);
	assert_false(node->topology.rails_recalled);
}

static void a_nic_without_its_device_keeps_its_number(void **state)
{
	struct node *node = *state;

	make_whole(node);
	assign(node);
	remember(node);
	node->nics[2].device_count = 0;
	assign(node);
	expect_rails(node, whole);
	assert_true(node->topology.rails_recalled);
}

static void a_gpu_that_vanishes_moves_no_rail(void **state)
{
	struct node *node = *state;

	make_whole(node);
	assign(node);
	remember(node);
	node->topology.gpu_count--;
	assign(node);
	expect_rails(node, whole);
	assert_true(node->topology.rails_recalled);
}

/* Another model in a slot of a rail, while a third NIC is missing. */
static void a_card_that_is_replaced_keeps_the_rail(void **state)
{
	static const int rails[] = {0, 1, 3, -1, 4, 5, 6, 7, -1};
	struct node *node = *state;

	make_whole(node);
	assign(node);
	remember(node);
	remove_nic(node, 2);
	node->objects[node->nics[0].object].device_id = 0x1023;
	assign(node);
	expect_rails(node, rails);
}

static void a_new_nic_is_numbered_behind_while_another_is_missing(void **state)
{
	static const int rails[] = {0, 1, 3, -1, 4, 5, 6, 7, -1, 8, -1};
	struct node *node = *state;
	unsigned upstream;

	make_whole(node);
	assign(node);
	remember(node);
	remove_nic(node, 2);
	upstream = add_complex(node, 1);
	(void)add_gpu(node, add_port(node, upstream));
	(void)add_nic(node, add_port(node, upstream));
	upstream = add_complex(node, 1);
	(void)add_gpu(node, add_port(node, upstream));
	(void)add_nic_of(node, add_port(node, upstream), CONNECTX6_DX);
	assign(node);
	expect_rails(node, rails);
}

static void a_first_look_that_was_too_early_is_corrected(void **state)
{
	struct node *node = *state;

	make_whole(node);
	for (unsigned i = 3; i < 10; i++)
		node->nics[i].device_count = 0; /* their driver is not loaded yet */
	assign(node);
	remember(node);
	for (unsigned i = 3; i < 10; i++)
		node->nics[i].device_count = 1;
	assign(node);
	expect_rails(node, whole);
	assert_false(node->topology.rails_recalled);
}

static void a_memory_of_another_machine_is_of_no_use(void **state)
{
	struct node *node = *state;

	make_whole(node);
	assign(node);
	remember(node);
	for (unsigned i = 0; i < 10; i++)
		node->known->nics[i].address = "0001:00:00.0";
	assign(node);
	expect_rails(node, whole);
	assert_false(node->topology.rails_recalled);
}

/* By a profile: also at the first look, at which nothing is remembered. */
static void declared_rails_are_as_declared(void **state)
{
	static const int missing[] = {0, 1, 3, -1, 4, 5, 6, 7, -1};
	static const int swapped[] = {1, 0, 2, 3, -1, 4, 5, 6, 7, -1};
	struct node *node = *state;
	const char *addresses[8];
	size_t count = 0;

	make_whole(node);
	for (unsigned i = 0; i < 10; i++)
		if (whole[i] >= 0)
			addresses[count++] = address_at(node, i);
	node->known = rna_known_rails_declare(addresses, count, 8);
	assert_true(rna_known_rails_are(node->known, addresses, count));
	assert_false(rna_known_rails_are(node->known, addresses, count - 1));
	assert_false(rna_known_rails_are(NULL, addresses, count));
	assign(node);
	expect_rails(node, whole);
	assert_false(node->topology.rails_recalled);
	node->known->nics[0].rail = 1;
	node->known->nics[1].rail = 0;
	assign(node);
	expect_rails(node, swapped);
	node->known->nics[0].rail = 0;
	node->known->nics[1].rail = 1;
	remove_nic(node, 2);
	assign(node);
	expect_rails(node, missing);
	assert_true(node->topology.rails_recalled);
}

static void rails_declared_for_another_machine_are_of_no_use(void **state)
{
	static const char *const addresses[] = {"0001:00:00.0", "0001:00:00.1"};
	struct node *node = *state;

	make_whole(node);
	node->known = rna_known_rails_declare(addresses, 2, 8);
	assign(node);
	expect_rails(node, whole);
}

static void members_of_a_lag_share_a_remembered_rail(void **state)
{
	static const int rails[] = {0, 0, -1};
	struct node *node = *state;
	unsigned upstream = add_complex(node, 0);

	for (unsigned i = 0; i < 3; i++)
		(void)add_nic(node, add_port(node, upstream));
	(void)add_gpu(node, add_port(node, upstream));
	(void)add_gpu(node, add_port(node, upstream));
	assign(node);
	remember(node);
	node->known->nics[2].rail = -1;
	node->nics[1].lag = 0;
	node->topology.gpu_count = 1;
	assign(node);
	expect_rails(node, rails);
}

/* Every cost is a tie, and half of the GPUs wait for a second round. */
static void large_nodes_are_matched(void **state)
{
	struct node *node = *state;
	unsigned root = add_host_bridge(node, 0);
	unsigned users[32] = {0};

	for (unsigned i = 0; i < 64; i++)
		(void)add_gpu(node, root);
	for (unsigned i = 0; i < 32; i++)
		(void)add_nic(node, root);
	assign(node);
	for (unsigned i = 0; i < 64; i++)
		users[nic_of(node, i)]++;
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(users[i], 2);
	for (unsigned i = 32; i < NICS_MAX; i++)
		(void)add_nic(node, root);
	assign(node);
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(nic_of(node, i), i);
	(void)add_gpu(node, root); /* too many: the first nearest is as good */
	assign(node);
	assert_int_equal(nic_of(node, 64), 0);
}

/* -- Searches ---------------------------------------------------------------------------------- */

static void nics_are_found_by_device_and_function(void **state)
{
	struct node *node = *state;
	unsigned root = add_host_bridge(node, 0);
	unsigned leader = add_nic(node, root), member = add_nic(node, root);
	const char *pf = node->objects[node->nics[member].object].address;
	const struct rna_device by_name = {.name = "n0"}, nobody = {.name = "rxe0"};
	const struct rna_device vf = {.name = "v0",
				      .pci_address = "0000:ff:00.2",
				      .physical_function = pf};

	assert_ptr_equal(rna_topology_find_nic(&node->topology, &by_name), &node->nics[leader]);
	assert_ptr_equal(rna_topology_find_nic(&node->topology, &vf), &node->nics[member]);
	assert_null(rna_topology_find_nic(&node->topology, &nobody));
	assert_int_equal(rna_topology_find_object(&node->topology, pf), node->nics[member].object);
	assert_int_equal(rna_topology_find_object(&node->topology, "0000:fe:00.0"), RNA_NO_OBJECT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_switch_is_pix),
		TEST(two_switches_are_pxb),
		TEST(switch_on_the_card_counts),
		TEST(functions_below_one_bridge_are_pix),
		TEST(functions_below_the_host_bridge_are_phb),
		TEST(functions_of_one_card_are_pix),
		TEST(locality_decides_between_host_bridges),
		TEST(data_direct_is_a_path_of_its_own),
		TEST(equally_near_nics_are_all_nearest),
		TEST(assignment_is_not_greedy),
		TEST(assignment_follows_addresses),
		TEST(gpus_share_where_nics_are_few),
		TEST(far_nic_is_not_taken_for_the_sake_of_having_one),
		TEST(faster_nic_is_preferred_and_storage_has_no_rail),
		TEST(several_nics_of_one_gpu_are_rails),
		TEST(without_gpus_the_most_common_kind_are_rails),
		TEST(a_nic_that_vanishes_leaves_its_number_free),
		TEST(a_nic_without_its_device_keeps_its_number),
		TEST(a_gpu_that_vanishes_moves_no_rail),
		TEST(a_card_that_is_replaced_keeps_the_rail),
		TEST(a_new_nic_is_numbered_behind_while_another_is_missing),
		TEST(a_first_look_that_was_too_early_is_corrected),
		TEST(a_memory_of_another_machine_is_of_no_use),
		TEST(declared_rails_are_as_declared),
		TEST(rails_declared_for_another_machine_are_of_no_use),
		TEST(members_of_a_lag_share_a_remembered_rail),
		TEST(nics_that_do_not_serve_are_passed_over),
		TEST(a_lost_nic_moves_no_rail),
		TEST(a_lost_data_direct_function_moves_no_rail),
		TEST(functions_that_no_card_uses_are_no_rails),
		TEST(planes_of_one_card_are_one_rail),
		TEST(a_storage_nic_behind_the_switch_of_a_gpu_is_no_rail),
		TEST(an_odd_function_is_no_rail),
		TEST(a_lost_gpu_takes_no_rail),
		TEST(of_two_gpus_only_a_lesser_nic_is_one_too_many),
		TEST(nor_is_it_one_while_the_rail_beside_it_is_dead),
		TEST(the_faster_kind_of_equally_near_nics_is_the_rail),
		TEST(between_equals_the_model_of_the_other_rails_is_taken),
		TEST(without_any_device_all_nics_serve),
		TEST(nothing_is_near_where_nothing_is_known),
		TEST(nodes_without_gpus_or_nics_are_fine),
		TEST(large_nodes_are_matched),
		TEST(nics_are_found_by_device_and_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
