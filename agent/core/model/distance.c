// SPDX-License-Identifier: Apache-2.0
/*
 * Distances in the PCI tree, and which NIC serves which GPU.
 *
 * Switches can be counted without knowing port types. A link has one device at its end, so a bridge
 * with several bridges below it is the upstream port of a switch, and these are its downstream
 * ports; below them downstream and upstream ports alternate. A bridge with functions directly below
 * it is a port with a link to one card. So the number of bridges on both sides of the common
 * ancestor gives the distance, also if config space is not readable and port types are unknown.
 *
 * The assignment minimises a sum of costs: the Hungarian method (Kuhn 1955, with potentials as in
 * Jonker and Volgenant 1987), which is exact, and fast at the size of a node.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/card.h"
#include "rna/model/device.h"
#include "rna/model/topology.h"

const char *rna_path_class_name(enum rna_path_class path)
{
	static const char *const names[RNA_PATH_COUNT] = {
		[RNA_PATH_SAME] = "X",          [RNA_PATH_PIX] = "PIX",   [RNA_PATH_PXB] = "PXB",
		[RNA_PATH_PHB] = "PHB",         [RNA_PATH_NODE] = "NODE", [RNA_PATH_SYS] = "SYS",
		[RNA_PATH_UNKNOWN] = "unknown",
	};

	return names[path];
}

const char *rna_pci_role_name(enum rna_pci_role role)
{
	static const char *const names[RNA_PCI_ROLE_COUNT] = {
		[RNA_PCI_HOST_BRIDGE] = "host-bridge",
		[RNA_PCI_ROOT_PORT] = "root-port",
		[RNA_PCI_UPSTREAM] = "upstream",
		[RNA_PCI_DOWNSTREAM] = "downstream",
		[RNA_PCI_BRIDGE] = "bridge",
		[RNA_PCI_GPU] = "gpu",
		[RNA_PCI_NIC] = "nic",
		[RNA_PCI_DATA_DIRECT] = "data-direct",
	};

	return names[role];
}

/* -- Distances --------------------------------------------------------------------------------- */

struct distance {
	enum rna_path_class path;
	/* orders pairs of class SYS: another NUMA node may be in the same package */
	bool other_package;
	unsigned bridges;
};

/* Where two paths towards the root meet, and the number of bridges on each path below. */
struct meeting {
	int object; /* RNA_NO_OBJECT: they do not meet */
	unsigned bridges_a;
	unsigned bridges_b;
};

/* Parents have smaller indexes, so the larger of two indexes is not above the other. */
static struct meeting find_meeting(const struct rna_topology *topology, int a, int b)
{
	struct meeting ret = {0};
	int at_a = a, at_b = b;

	while (at_a != at_b) {
		if (at_a > at_b) {
			ret.bridges_a += at_a != a;
			at_a = topology->objects[at_a].parent;
		} else {
			ret.bridges_b += at_b != b;
			at_b = topology->objects[at_b].parent;
		}
	}
	ret.object = at_a;
	return ret;
}

static unsigned count_switches(const struct meeting *meeting)
{
	unsigned a = meeting->bridges_a, b = meeting->bridges_b;

	if (a > 0 && b > 0) /* the meeting point is an upstream port */
		return 1 + a / 2 + b / 2;
	return (a + 1) / 2 + (b + 1) / 2;
}

static bool in_other_packages(const struct rna_pci_object *a, const struct rna_pci_object *b)
{
	return a->package >= 0 && b->package >= 0 && a->package != b->package;
}

/* Is the host bridge above the object known? It is not in a tree that was copied without links. */
static bool has_host_bridge(const struct rna_topology *topology,
			    const struct rna_pci_object *object)
{
	while (object->parent != RNA_NO_OBJECT)
		object = &topology->objects[object->parent];
	return object->role == RNA_PCI_HOST_BRIDGE;
}

/* The distance of functions without a common bridge. */
static enum rna_path_class compare_locality(const struct rna_topology *topology,
					    const struct rna_pci_object *a,
					    const struct rna_pci_object *b)
{
	if (a->numa_node < 0 || b->numa_node < 0)
		return in_other_packages(a, b) ? RNA_PATH_SYS : RNA_PATH_UNKNOWN;
	if (a->numa_node != b->numa_node)
		return RNA_PATH_SYS;
	if (!has_host_bridge(topology, a) || !has_host_bridge(topology, b))
		return RNA_PATH_UNKNOWN;
	return RNA_PATH_NODE;
}

static struct distance measure(const struct rna_topology *topology, unsigned a, unsigned b)
{
	const struct rna_pci_object *from = &topology->objects[a], *to = &topology->objects[b];
	struct meeting meeting = find_meeting(topology, (int)a, (int)b);
	struct distance ret = {
		.other_package = in_other_packages(from, to),
		.bridges = meeting.bridges_a + meeting.bridges_b,
	};

	if (a == b)
		ret.path = RNA_PATH_SAME;
	else if (meeting.object == RNA_NO_OBJECT)
		ret.path = compare_locality(topology, from, to);
	else if (topology->objects[meeting.object].role == RNA_PCI_HOST_BRIDGE)
		ret.path = rna_pci_is_one_device(from->address, to->address) ? RNA_PATH_PIX
									     : RNA_PATH_PHB;
	else
		ret.path = count_switches(&meeting) <= 1 ? RNA_PATH_PIX : RNA_PATH_PXB;
	return ret;
}

enum rna_path_class rna_topology_path(const struct rna_topology *topology, unsigned a, unsigned b)
{
	return measure(topology, a, b).path;
}

/* Are both of the same class, with SYS divided into two classes? */
static bool same_class(struct distance a, struct distance b)
{
	return a.path == b.path && a.other_package == b.other_package;
}

/*
 * Bridges count where data passes no host bridge: beyond it, that a NIC stands behind a switch of
 * its own costs nothing beside the way through the processor.
 */
static bool is_nearer(struct distance a, struct distance b)
{
	if (a.path != b.path)
		return a.path < b.path;
	if (a.other_package != b.other_package)
		return b.other_package;
	return a.path <= RNA_PATH_PXB && a.bridges < b.bridges;
}

static struct distance measure_nic(const struct rna_topology *topology, size_t gpu, size_t nic)
{
	unsigned object = topology->gpus[gpu].object;
	int data_direct = topology->nics[nic].data_direct;
	struct distance ret = measure(topology, object, topology->nics[nic].object), direct;

	if (data_direct == RNA_NO_OBJECT)
		return ret;
	direct = measure(topology, object, (unsigned)data_direct);
	return is_nearer(direct, ret) ? direct : ret;
}

enum rna_path_class rna_topology_gpu_path(const struct rna_topology *topology, unsigned gpu,
					  unsigned nic)
{
	return measure_nic(topology, gpu, nic).path;
}

/* -- Nearest ----------------------------------------------------------------------------------- */

enum {
	GPUS_MATCHED = 64, /* the run time is their square times the number of NICs */
	NICS_MATCHED = 4096,
};

/* The working data: the eligible NICs, and the distances of one GPU or of all. */
struct work {
	const struct rna_topology *topology;
	struct rna_gpu_affinity *affinities; /* one for each GPU */
	struct rna_arena *arena;
	const struct rna_nic_fact **facts; /* one for each NIC; NULL: none */
	unsigned *ranks;                   /* likewise: 0 for the NICs that GPUs should have */
	size_t serving_count;
	unsigned *serving;          /* indexes of nics */
	struct distance *distances; /* of the current GPU, one for each eligible NIC */
	int64_t *costs;             /* gpu_count rows of serving_count; NULL: too many to match */
};

static bool any_nic_has_device(const struct rna_topology *topology)
{
	for (size_t i = 0; i < topology->nic_count; i++)
		if (topology->nics[i].device_count > 0)
			return true;
	return false;
}

/*
 * A NIC that has lost its RDMA device, or whose device a container has: its model is that of one
 * with a device, and no setting turned it off. A second function need not have one of its own.
 */
static bool is_bare(const struct rna_topology *topology, const struct rna_nic *nic)
{
	const struct rna_pci_object *object = &topology->objects[nic->object];
	bool like = false;

	if (nic->rdma == RNA_NIC_RDMA_EXCLUDED || nic->rdma == RNA_NIC_RDMA_OFF)
		return false;
	for (size_t i = 0; i < topology->nic_count; i++) {
		const struct rna_pci_object *other = &topology->objects[topology->nics[i].object];

		if (topology->nics[i].device_count == 0 || object->vendor_id != other->vendor_id ||
		    object->device_id != other->device_id)
			continue;
		if (rna_pci_is_one_device(object->address, other->address))
			return false;
		like = true;
	}
	return like;
}

/* bare: those without a device as well; returns whether there are any. */
static bool find_serving(struct work *work, bool bare)
{
	const struct rna_topology *topology = work->topology;
	bool devices = any_nic_has_device(topology), any = false;

	work->serving_count = 0;
	for (size_t i = 0; i < topology->nic_count; i++) {
		const struct rna_nic *nic = &topology->nics[i];
		bool serves = nic->device_count > 0 || !devices;

		if (nic->switch_management || nic->lag >= 0 ||
		    (work->facts[i] && work->facts[i]->unused))
			continue;
		if (!serves && bare && is_bare(topology, nic))
			serves = any = true;
		if (serves)
			work->serving[work->serving_count++] = (unsigned)i;
	}
	return any;
}

static void measure_all(struct work *work, size_t gpu)
{
	for (size_t i = 0; i < work->serving_count; i++)
		work->distances[i] = measure_nic(work->topology, gpu, work->serving[i]);
}

static int find_nearest(struct work *work, size_t gpu)
{
	struct rna_gpu_affinity *affinity = &work->affinities[gpu];
	struct distance best = {.path = RNA_PATH_UNKNOWN};
	unsigned *nearest;
	size_t count = 0;

	*affinity = (struct rna_gpu_affinity){.path = RNA_PATH_UNKNOWN, .nic = -1};
	measure_all(work, gpu);
	for (size_t i = 0; i < work->serving_count; i++)
		if (is_nearer(work->distances[i], best))
			best = work->distances[i];
	if (best.path == RNA_PATH_UNKNOWN)
		return 0;
	for (size_t i = 0; i < work->serving_count; i++)
		count += !is_nearer(best, work->distances[i]);
	nearest = rna_arena_array(work->arena, count, sizeof(*nearest));
	if (!nearest)
		return -ENOMEM;
	for (size_t i = 0; i < work->serving_count; i++)
		if (!is_nearer(best, work->distances[i]))
			nearest[affinity->nearest_count++] = work->serving[i];
	affinity->nearest = nearest;
	affinity->path = best.path;
	affinity->nic = (int)nearest[0];
	return 0;
}

/* -- Assignment -------------------------------------------------------------------------------- */

/*
 * A cost is bridges, then the rank of the NIC, then the difference of the places of GPU and NIC in
 * the order of addresses. Each field is above all bits that the sum of the following fields over
 * all matched GPUs can need.
 */
enum {
	ORDER_MAX = 255, /* squared, so that the assignment in order of addresses is the cheapest */
	RANK_MAX = 511,
	BRIDGES_MAX = 63,
	RANK_SHIFT = 22,
	BRIDGES_SHIFT = 37,
	GENERATION_1 = 2500,   /* millions of transfers per second */
	LANE_RATE = 312500000, /* bytes per second of a lane of that */
};

#define NO_COST ((int64_t)1 << 50) /* more than all others together */

static bool same_kind(const struct rna_topology *topology, const struct rna_nic *a,
		      const struct rna_nic *b)
{
	const struct rna_pci_object *x = &topology->objects[a->object];
	const struct rna_pci_object *y = &topology->objects[b->object];

	/* includes the class: the same card has different classes for InfiniBand and Ethernet */
	return x->vendor_id == y->vendor_id && x->device_id == y->device_id &&
	       x->class_id == y->class_id;
}

static const char *address_of(const struct rna_topology *topology, const struct rna_nic *nic)
{
	return topology->objects[nic->object].address;
}

/* ".0" of "0000:3b:00.0" */
static const char *function_of(const struct rna_topology *topology, const struct rna_nic *nic)
{
	const char *dot = strrchr(address_of(topology, nic), '.');

	return dot ? dot : "";
}

/* Lanes of the first generation; 64 GT/s x16 is 410. 0: not known. */
static uint64_t lanes_of(const struct rna_pcie_link *link)
{
	return rna_value_is_known(link->max_speed) && rna_value_is_known(link->max_width)
		       ? link->max_speed.number / GENERATION_1 * link->max_width.number
		       : 0;
}

/*
 * What makes one of several equally near NICs that of a GPU, by weight. A rail that is slow because
 * of its cable is still a rail, so the rate is that of its kind.
 */
struct merit {
	unsigned nic;
	size_t kind;     /* the first of these merits that is of the same kind */
	uint64_t rate;   /* of its kind; where it is not known, what its link to the node carries */
	uint64_t lanes;  /* of that link */
	size_t gpus;     /* that are as near to a NIC of its kind */
	size_t alike;    /* NICs of its kind with the same board, and with its function number */
	uint64_t own;    /* its own rate */
	size_t last_gpu; /* of a kind, while GPUs are counted: the last one, from 1 */
};

static void find_kind(const struct work *work, struct merit *merits, size_t index)
{
	const struct rna_topology *topology = work->topology;
	const struct rna_nic *nic = &topology->nics[merits[index].nic];
	struct merit *kind = merits;

	while (!same_kind(topology, nic, &topology->nics[kind->nic]))
		kind++;
	merits[index].kind = (size_t)(kind - merits);
	if (kind->rate < merits[index].own)
		kind->rate = merits[index].own;
}

/* nearest is ascending, as merits are. */
static void count_gpus(const struct work *work, struct merit *merits, size_t gpu)
{
	const struct rna_gpu_affinity *affinity = &work->affinities[gpu];
	size_t at = 0;

	for (size_t i = 0; i < affinity->nearest_count; i++) {
		struct merit *kind;

		while (merits[at].nic != affinity->nearest[i])
			at++;
		kind = &merits[merits[at].kind];
		kind->gpus += kind->last_gpu != gpu + 1;
		kind->last_gpu = gpu + 1;
	}
}

static void take_from_kind(const struct work *work, struct merit *merits, size_t index)
{
	const struct rna_nic *nics = work->topology->nics;
	struct merit *merit = &merits[index], *kind = &merits[merit->kind];

	merit->gpus = kind->gpus;
	merit->rate = kind->rate > 0 ? kind->rate : merit->lanes * LANE_RATE;
	if (merit->own == 0) /* it is down, perhaps */
		merit->own = merit->rate;
	for (size_t i = 0; i < work->serving_count; i++) {
		const struct rna_nic *other = &nics[merits[i].nic];

		if (merits[i].kind != merit->kind)
			continue;
		merit->alike += other->subsystem == nics[merit->nic].subsystem;
		merit->alike += strcmp(function_of(work->topology, other),
				       function_of(work->topology, &nics[merit->nic])) == 0;
	}
}

static void find_merits(const struct work *work, struct merit *merits)
{
	const struct rna_topology *topology = work->topology;

	for (size_t i = 0; i < work->serving_count; i++) {
		unsigned nic = work->serving[i];

		merits[i].nic = nic;
		merits[i].own = work->facts[nic] ? work->facts[nic]->rate : 0;
		merits[i].lanes = lanes_of(&topology->objects[topology->nics[nic].object].link);
		find_kind(work, merits, i);
	}
	for (size_t gpu = 0; gpu < topology->gpu_count; gpu++)
		count_gpus(work, merits, gpu);
	for (size_t i = work->serving_count; i-- > 0;) /* the first of a kind after the others */
		take_from_kind(work, merits, i);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b); /* the larger one first */
}

static int compare_merits(const void *a, const void *b)
{
	const struct merit *x = a, *y = b;
	int order = compare_numbers(x->rate, y->rate);

	if (order == 0)
		order = compare_numbers(x->lanes, y->lanes);
	if (order == 0)
		order = compare_numbers(x->gpus, y->gpus);
	if (order == 0)
		order = compare_numbers(x->alike, y->alike);
	return order != 0 ? order : compare_numbers(x->own, y->own);
}

/* Which NICs are chosen depends on the order of their ranks alone. */
static int rank_nics(struct work *work)
{
	RNA_FREE struct merit *merits = calloc(work->serving_count + 1, sizeof(*merits));
	unsigned rank = 0;

	if (!merits)
		return -ENOMEM;
	find_merits(work, merits);
	qsort(merits, work->serving_count, sizeof(*merits), compare_merits);
	for (size_t i = 0; i < work->serving_count; i++) {
		if (i > 0 && rank < RANK_MAX && compare_merits(&merits[i - 1], &merits[i]) != 0)
			rank++;
		work->ranks[merits[i].nic] = rank;
	}
	return 0;
}

static int64_t cost(const struct work *work, size_t gpu, size_t serving)
{
	const struct distance *distance = &work->distances[serving];
	unsigned bridges = distance->path <= RNA_PATH_PXB ? distance->bridges : 0;
	size_t order = gpu > serving ? gpu - serving : serving - gpu;

	if (bridges > BRIDGES_MAX)
		bridges = BRIDGES_MAX;
	if (order > ORDER_MAX)
		order = ORDER_MAX;
	return ((int64_t)bridges << BRIDGES_SHIFT) +
	       ((int64_t)work->ranks[work->serving[serving]] << RANK_SHIFT) +
	       (int64_t)(order * order);
}

/* Call after rank_nics(). NICs of a farther class get no cost and are not eligible. */
static void set_costs(struct work *work, size_t gpu)
{
	const struct rna_gpu_affinity *affinity = &work->affinities[gpu];
	int64_t *row = work->costs + gpu * work->serving_count;
	struct distance best = {0};

	measure_all(work, gpu);
	for (size_t i = 0; i < work->serving_count; i++)
		if (affinity->nearest_count > 0 && work->serving[i] == affinity->nearest[0])
			best = work->distances[i];
	for (size_t i = 0; i < work->serving_count; i++)
		row[i] = affinity->nearest_count > 0 && same_class(work->distances[i], best)
				 ? cost(work, gpu, i)
				 : NO_COST;
}

/*
 * One run of the method. Rows are the unassigned GPUs. Columns are the eligible NICs, and for each
 * GPU one that means no NIC. Both count from 1; column 0 is the start of a new row.
 */
struct matching {
	const struct work *work;
	const size_t *waiting;
	size_t columns;
	int64_t *row_potential;
	int64_t *column_potential;
	int64_t *slack; /* of each column: remaining cost to reach it */
	size_t *row_of; /* column -> its assigned row; 0: free */
	size_t *from;   /* column -> previous column on the path */
	bool *reached;
};

static int64_t reduced_cost(const struct matching *matching, size_t row, size_t column)
{
	const struct work *work = matching->work;
	size_t gpu = matching->waiting[row - 1];
	int64_t plain = column <= work->serving_count
				? work->costs[gpu * work->serving_count + column - 1]
				: NO_COST;

	return plain - matching->row_potential[row] - matching->column_potential[column];
}

/* Extends the path by the cheapest column, which it returns. */
static size_t extend_to_cheapest(struct matching *matching, size_t column)
{
	int64_t least = INT64_MAX;
	size_t next = 0;

	matching->reached[column] = true;
	for (size_t j = 1; j <= matching->columns; j++) {
		int64_t reduced;

		if (matching->reached[j])
			continue;
		reduced = reduced_cost(matching, matching->row_of[column], j);
		if (reduced < matching->slack[j]) {
			matching->slack[j] = reduced;
			matching->from[j] = column;
		}
		if (matching->slack[j] < least) {
			least = matching->slack[j];
			next = j;
		}
	}
	for (size_t j = 0; j <= matching->columns; j++) {
		if (matching->reached[j]) {
			matching->row_potential[matching->row_of[j]] += least;
			matching->column_potential[j] -= least;
		} else {
			matching->slack[j] -= least;
		}
	}
	return next;
}

static void match_row(struct matching *matching, size_t row)
{
	size_t column = 0;

	for (size_t j = 0; j <= matching->columns; j++) {
		matching->slack[j] = INT64_MAX / 2;
		matching->reached[j] = false;
	}
	matching->row_of[0] = row;
	do
		column = extend_to_cheapest(matching, column);
	while (matching->row_of[column] != 0);
	for (; column != 0; column = matching->from[column])
		matching->row_of[column] = matching->row_of[matching->from[column]];
}

static void take_matches(const struct matching *matching)
{
	const struct work *work = matching->work;

	for (size_t column = 1; column <= work->serving_count; column++) {
		size_t row = matching->row_of[column];
		size_t gpu = row > 0 ? matching->waiting[row - 1] : 0;

		if (row > 0 && work->costs[gpu * work->serving_count + column - 1] < NO_COST)
			work->affinities[gpu].nic = (int)work->serving[column - 1];
	}
}

/* Assigns a NIC of its own to as many unassigned GPUs as possible. */
static int match_round(const struct work *work, const size_t *waiting, size_t rows)
{
	size_t columns = work->serving_count + rows;
	RNA_FREE int64_t *numbers = calloc(rows + 1 + 2 * (columns + 1), sizeof(*numbers));
	RNA_FREE size_t *links = calloc(2 * (columns + 1), sizeof(*links));
	RNA_FREE bool *reached = calloc(columns + 1, sizeof(*reached));
	struct matching matching = {
		.work = work,
		.waiting = waiting,
		.columns = columns,
		.row_potential = numbers,
		.row_of = links,
		.reached = reached,
	};

	if (!numbers || !links || !reached)
		return -ENOMEM;
	matching.column_potential = numbers + rows + 1;
	matching.slack = matching.column_potential + columns + 1;
	matching.from = links + columns + 1;
	for (size_t row = 1; row <= rows; row++)
		match_row(&matching, row);
	take_matches(&matching);
	return 0;
}

/* In each further round the remaining GPUs share NICs with GPUs of earlier rounds. */
static int match(const struct work *work)
{
	struct rna_gpu_affinity *affinities = work->affinities;
	size_t count = 0, left;
	RNA_FREE size_t *waiting = calloc(work->topology->gpu_count + 1, sizeof(*waiting));
	int status = waiting ? 0 : -ENOMEM;

	for (size_t gpu = 0; status == 0 && gpu < work->topology->gpu_count; gpu++) {
		if (affinities[gpu].nearest_count == 0)
			continue;
		affinities[gpu].nic = -1;
		waiting[count++] = gpu;
	}
	while (status == 0 && count > 0) {
		status = match_round(work, waiting, count);
		left = 0;
		for (size_t i = 0; i < count; i++)
			if (affinities[waiting[i]].nic < 0)
				waiting[left++] = waiting[i];
		count = left;
	}
	return status;
}

static int find_affinities(struct work *work)
{
	size_t gpus = work->topology->gpu_count;

	free(work->costs);
	work->costs = NULL;
	work->affinities = rna_arena_array(work->arena, gpus + 1, sizeof(*work->affinities));
	if (!work->affinities)
		return -ENOMEM;

	if (gpus <= GPUS_MATCHED && work->serving_count <= NICS_MATCHED) {
		work->costs = calloc(gpus * work->serving_count + 1, sizeof(*work->costs));
		if (!work->costs)
			return -ENOMEM;
	}
	for (size_t gpu = 0; gpu < gpus; gpu++)
		if (find_nearest(work, gpu) < 0)
			return -ENOMEM;
	if (!work->costs)
		return 0;
	if (rank_nics(work) < 0)
		return -ENOMEM;
	for (size_t gpu = 0; gpu < gpus; gpu++)
		set_costs(work, gpu);
	return match(work);
}

/* -- Rails ------------------------------------------------------------------------------------- */

enum { NO_RAIL = -1, RAIL = 0 }; /* used as marks while roles are determined */

static bool is_kind_of_rail(const struct work *work, const struct rna_nic *nic)
{
	const struct rna_topology *topology = work->topology;

	for (size_t gpu = 0; gpu < topology->gpu_count; gpu++) {
		int own = work->affinities[gpu].nic;

		if (own >= 0 && same_kind(topology, nic, &topology->nics[own]))
			return true;
	}
	return false;
}

static bool has_near_nic(const struct work *work, size_t gpu)
{
	return work->affinities[gpu].path <= RNA_PATH_PXB && work->affinities[gpu].nic >= 0;
}

/*
 * Have most GPUs a NIC behind their switch? Then one that has none has lost it: what is nearest to
 * it now, a storage NIC perhaps, is no rail.
 */
static bool each_has_its_nic(const struct work *work)
{
	size_t near = 0;

	for (size_t gpu = 0; gpu < work->topology->gpu_count; gpu++)
		near += has_near_nic(work, gpu);
	return near * 2 > work->topology->gpu_count;
}

/* The NIC of a GPU that is far from it, where others have theirs near by Data Direct functions. */
static bool is_its_own(const struct work *work, const struct rna_nic *nics, size_t gpu)
{
	int own = work->affinities[gpu].nic;

	if (own < 0 || nics[own].data_direct >= 0)
		return false;
	for (size_t i = 0; i < work->topology->gpu_count; i++)
		if (has_near_nic(work, i) && nics[work->affinities[i].nic].data_direct >= 0 &&
		    same_kind(work->topology, &nics[own], &nics[work->affinities[i].nic]))
			return true;
	return false;
}

/* near: have most GPUs theirs near? */
static bool has_rail(const struct work *work, const struct rna_nic *nics, bool near, size_t gpu)
{
	return work->affinities[gpu].nic >= 0 &&
	       (!near || has_near_nic(work, gpu) || is_its_own(work, nics, gpu));
}

/* The NICs near a GPU that may be rails, and the GPUs that share them. */
struct share {
	size_t nics, gpus;
};

static bool shares_all(const struct rna_gpu_affinity *a, const struct rna_gpu_affinity *b)
{
	return a->nearest_count == b->nearest_count &&
	       memcmp(a->nearest, b->nearest, a->nearest_count * sizeof(*a->nearest)) == 0;
}

/* May it be a rail of its own, as near as it is to a GPU? */
static bool is_candidate(const struct work *work, unsigned nic)
{
	return is_kind_of_rail(work, &work->topology->nics[nic]) &&
	       !(work->facts[nic] && work->facts[nic]->rail_of);
}

/* Of a GPU that has no NIC behind its switch: none. */
static struct share share_of(const struct work *work, size_t gpu)
{
	const struct rna_gpu_affinity *affinity = &work->affinities[gpu];
	struct share ret = {0};

	if (affinity->path > RNA_PATH_PXB)
		return (struct share){0, 1};
	for (size_t i = 0; i < affinity->nearest_count; i++)
		ret.nics += is_candidate(work, affinity->nearest[i]);
	for (size_t i = 0; i < work->topology->gpu_count; i++)
		ret.gpus += shares_all(affinity, &work->affinities[i]);
	return ret;
}

/* Has a GPU more NICs in a than in b? */
static bool is_more(struct share a, struct share b)
{
	return a.nics * b.gpus > b.nics * a.gpus;
}

/* What GPUs have usually: more than half of them, or, less surely, those that have least. */
struct usual {
	struct share share;
	bool sure;
};

static struct usual find_usual_share(const struct share *shares, size_t count)
{
	struct usual ret = {0};

	for (size_t gpu = 0; gpu < count; gpu++) {
		struct share largest = {0};
		size_t alike = 0;

		for (size_t i = 0; i < count; i++) {
			if (is_more(shares[i], shares[gpu]) || is_more(shares[gpu], shares[i]))
				continue;
			alike++;
			largest = shares[i].nics > largest.nics ? shares[i] : largest;
		}
		if (alike * 2 > count)
			return (struct usual){largest, true};
		if (gpu == 0 || is_more(ret.share, shares[gpu]))
			ret.share = shares[gpu];
	}
	return ret;
}

static bool is_own_of_any(const struct work *work, unsigned nic)
{
	for (size_t gpu = 0; gpu < work->topology->gpu_count; gpu++)
		if (work->affinities[gpu].nic == (int)nic)
			return true;
	return false;
}

/* Does a come before b, where one of them is one too many? */
static bool has_precedence(const struct work *work, unsigned a, unsigned b)
{
	bool own = is_own_of_any(work, a);

	if (own != is_own_of_any(work, b))
		return own;
	return work->ranks[a] != work->ranks[b] ? work->ranks[a] < work->ranks[b] : a < b;
}

/* Is it slower, or on a rarer board, than the NIC of any GPU? */
static bool is_lesser(const struct work *work, unsigned nic)
{
	for (size_t gpu = 0; gpu < work->topology->gpu_count; gpu++)
		if (work->affinities[gpu].nic >= 0 &&
		    work->ranks[nic] <= work->ranks[work->affinities[gpu].nic])
			return false;
	return true;
}

/*
 * Where each GPU has as many NICs as the others, and one has more of the same model behind its
 * switch, the others are for storage, or odd. A switch that only lacks a GPU has no more NICs than
 * other switches.
 */
static bool is_surplus(const struct work *work, const struct usual *usual, struct share share,
		       size_t gpu, unsigned nic)
{
	const struct rna_gpu_affinity *affinity = &work->affinities[gpu];
	size_t before = 0;

	if (usual->share.nics == 0 || usual->share.nics < usual->share.gpus || share.nics == 0 ||
	    !is_candidate(work, nic) || (!usual->sure && !is_lesser(work, nic)))
		return false;
	for (size_t i = 0; i < affinity->nearest_count; i++)
		before += is_candidate(work, affinity->nearest[i]) &&
			  has_precedence(work, affinity->nearest[i], nic);
	return before >= usual->share.nics &&
	       before * usual->share.gpus >= usual->share.nics * share.gpus;
}

static void mark_nearest(const struct work *work, const struct share *shares,
			 const struct usual *usual, size_t gpu, struct rna_nic *nics)
{
	const struct rna_gpu_affinity *affinity = &work->affinities[gpu];

	nics[affinity->nic].rail = RAIL;
	for (size_t i = 0; i < affinity->nearest_count; i++) {
		struct rna_nic *nic = &nics[affinity->nearest[i]];

		if (nic->rail == NO_RAIL && is_kind_of_rail(work, nic) &&
		    !is_surplus(work, usual, shares[gpu], gpu, affinity->nearest[i]))
			nic->rail = RAIL;
	}
}

/* 1, or 0: no GPU has a NIC; or -ENOMEM. */
static int mark_rails_of_gpus(const struct work *work, bool near, struct rna_nic *nics)
{
	size_t count = work->topology->gpu_count;
	RNA_FREE struct share *shares = calloc(count + 1, sizeof(*shares));
	struct usual usual;
	int any = 0;

	if (!shares)
		return -ENOMEM;
	for (size_t gpu = 0; gpu < count; gpu++)
		shares[gpu] = share_of(work, gpu);
	usual = find_usual_share(shares, count);
	for (size_t gpu = 0; gpu < count; gpu++)
		if (has_rail(work, nics, near, gpu)) {
			mark_nearest(work, shares, &usual, gpu, nics);
			any = 1;
		}
	return any;
}

static size_t count_of_kind(const struct work *work, const struct rna_nic *nics, unsigned of)
{
	size_t count = 0;

	for (size_t i = 0; i < work->serving_count; i++)
		count += same_kind(work->topology, &nics[work->serving[i]], &nics[of]);
	return count;
}

/* Fallback if no GPU has a NIC: the NICs of the most frequent kind. */
static void mark_most_common(const struct work *work, struct rna_nic *nics)
{
	size_t most = 0;

	for (size_t i = 0; i < work->serving_count; i++) {
		size_t count = count_of_kind(work, nics, work->serving[i]);

		most = count > most ? count : most;
	}
	for (size_t i = 0; i < work->serving_count; i++)
		if (count_of_kind(work, nics, work->serving[i]) == most)
			nics[work->serving[i]].rail = RAIL;
}

/*
 * Does the place beside this GPU lack its NIC, where most have theirs near? GPUs behind one switch
 * share the place; the first of them stands for it.
 */
static bool is_place_without_nic(const struct work *work, const struct rna_nic *nics, size_t gpu)
{
	const struct rna_topology *topology = work->topology;

	if (has_rail(work, nics, true, gpu))
		return false;
	for (size_t i = 0; i < gpu; i++)
		if (!has_rail(work, nics, true, i) &&
		    rna_topology_path(topology, topology->gpus[i].object,
				      topology->gpus[gpu].object) <= RNA_PATH_PXB)
			return false;
	return true;
}

/* Whose rail is that of this NIC as well? -1: it has its own. */
static int find_leader(const struct work *work, size_t nic)
{
	const struct rna_nic_fact *fact = work->facts[nic];

	for (size_t i = 0; fact && fact->rail_of && i < work->topology->nic_count; i++)
		if (strcmp(address_of(work->topology, &work->topology->nics[i]), fact->rail_of) ==
		    0)
			return (int)i;
	return -1;
}

/* A card whose functions are one rail is at the place of the first of these. */
static void mark_leaders(const struct work *work, struct rna_nic *nics)
{
	for (size_t i = 0; i < work->topology->nic_count; i++) {
		int leader = find_leader(work, i);

		if (leader >= 0 && nics[i].rail != NO_RAIL)
			nics[leader].rail = RAIL;
		if (leader >= 0)
			nics[i].rail = NO_RAIL;
	}
}

/* By their places, so that a NIC that is lost moves no other. 0 or -ENOMEM. */
static int number_rails(const struct work *work, struct rna_nic *nics)
{
	const struct rna_topology *topology = work->topology;
	RNA_FREE const char **places =
		calloc(topology->nic_count + topology->gpu_count + 1, sizeof(*places));
	bool near = each_has_its_nic(work);
	size_t count = 0;
	int any;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < topology->nic_count; i++)
		nics[i].rail = NO_RAIL;
	any = mark_rails_of_gpus(work, near, nics);
	if (any < 0)
		return any;
	if (!any)
		mark_most_common(work, nics);
	mark_leaders(work, nics);
	for (size_t i = 0; i < topology->nic_count; i++)
		if (nics[i].rail != NO_RAIL)
			places[count++] = address_of(topology, &nics[i]);
	for (size_t gpu = 0; near && gpu < topology->gpu_count; gpu++)
		if (is_place_without_nic(work, nics, gpu))
			places[count++] = topology->objects[topology->gpus[gpu].object].address;
	qsort(places, count, sizeof(*places), rna_compare_text_items);
	for (size_t i = 0; i < topology->nic_count; i++) {
		const char *address = address_of(topology, &nics[i]), **place;

		if (nics[i].rail == NO_RAIL)
			continue;
		place = bsearch(&address, places, count, sizeof(*places), rna_compare_text_items);
		nics[i].rail = (int)(place - places);
	}
	return 0;
}

static const struct rna_known_nic *find_known(const struct rna_known_rails *known,
					      const char *address)
{
	for (size_t i = 0; i < known->count; i++)
		if (strcmp(known->nics[i].address, address) == 0)
			return &known->nics[i];
	return NULL;
}

static const struct rna_nic *find_address(const struct rna_topology *topology, const char *address)
{
	for (size_t i = 0; i < topology->nic_count; i++)
		if (strcmp(address_of(topology, &topology->nics[i]), address) == 0)
			return &topology->nics[i];
	return NULL;
}

/* Is anything missing without which rails would be numbered otherwise? */
static bool is_disturbed(const struct rna_topology *topology, const struct rna_known_rails *known)
{
	bool disturbed = topology->gpu_count < known->gpu_count, any = false;

	for (size_t i = 0; i < known->count; i++) {
		const struct rna_nic *nic = find_address(topology, known->nics[i].address);

		any |= nic != NULL;
		if (known->nics[i].rail >= 0 &&
		    (!nic || (known->nics[i].had_device && nic->device_count == 0 && nic->lag < 0)))
			disturbed = true;
	}
	return any && disturbed;
}

static bool is_same_model(const struct rna_topology *topology, const struct rna_nic *nic,
			  const struct rna_known_nic *known)
{
	const struct rna_pci_object *object = &topology->objects[nic->object];

	return object->vendor_id == known->vendor_id && object->device_id == known->device_id;
}

static bool is_model_of_rail(const struct rna_topology *topology, const struct rna_nic *nic,
			     const struct rna_known_rails *known)
{
	for (size_t i = 0; i < known->count; i++)
		if (known->nics[i].rail >= 0 && is_same_model(topology, nic, &known->nics[i]))
			return true;
	return false;
}

/* The rail of a NIC that has been numbered without the memory. *next: the first unused number. */
static int recall_rail(const struct rna_topology *topology, const struct rna_nic *nic,
		       const struct rna_known_rails *known, int *next)
{
	const struct rna_known_nic *before = find_known(known, address_of(topology, nic));

	if (before && before->rail >= 0)
		return nic->rail >= 0 || is_same_model(topology, nic, before) ? before->rail
									      : NO_RAIL;
	if (before || nic->rail < 0 || !is_model_of_rail(topology, nic, known))
		return NO_RAIL;
	return (*next)++;
}

/* What a profile declares for another machine, none of whose NICs is here, is of no use. */
static void take_declared(struct rna_topology *topology, struct rna_nic *nics,
			  const struct rna_known_rails *known)
{
	bool any = false;

	for (size_t i = 0; i < known->count; i++)
		any |= find_address(topology, known->nics[i].address) != NULL;
	for (size_t i = 0; any && i < topology->nic_count; i++) {
		const struct rna_known_nic *nic = find_known(known, address_of(topology, &nics[i]));

		nics[i].rail = nic ? nic->rail : NO_RAIL;
	}
}

static void recall_rails(struct rna_topology *topology, struct rna_nic *nics,
			 const struct rna_known_rails *known)
{
	int next = 0;

	if (!known)
		return;
	topology->rails_recalled = is_disturbed(topology, known);
	if (known->declared)
		take_declared(topology, nics, known);
	if (known->declared || !topology->rails_recalled)
		return;
	for (size_t i = 0; i < known->count; i++)
		if (known->nics[i].rail >= next)
			next = known->nics[i].rail + 1;
	for (size_t i = 0; i < topology->nic_count; i++)
		if (nics[i].lag < 0)
			nics[i].rail = recall_rail(topology, &nics[i], known, &next);
}

static void share_rails(const struct work *work, struct rna_nic *nics)
{
	for (size_t i = 0; i < work->topology->nic_count; i++) {
		int leader = find_leader(work, i);

		if (nics[i].lag >= 0)
			nics[i].rail = nics[nics[i].lag].rail;
		else if (leader >= 0 && nics[i].rail == NO_RAIL) /* else it is declared */
			nics[i].rail = nics[leader].rail;
	}
}

int rna_topology_assign(struct rna_topology *topology, struct rna_nic *nics,
			const struct rna_known_rails *known, const struct rna_nic_facts *facts,
			struct rna_arena *arena)
{
	size_t room = topology->nic_count + 1;
	RNA_FREE unsigned *serving = calloc(room, sizeof(*serving));
	RNA_FREE unsigned *ranks = calloc(room, sizeof(*ranks));
	RNA_FREE struct distance *distances = calloc(room, sizeof(*distances));
	RNA_FREE const struct rna_nic_fact **of_nics = calloc(room, sizeof(*of_nics));
	struct work work = {
		.topology = topology,
		.arena = arena,
		.facts = of_nics,
		.ranks = ranks,
		.serving = serving,
		.distances = distances,
	};
	int status = -ENOMEM;
	bool bare = false;

	if (serving && ranks && distances && of_nics) {
		for (size_t i = 0; i < topology->nic_count; i++)
			of_nics[i] = rna_nic_facts_find(facts, address_of(topology, &nics[i]));
		bare = find_serving(&work, topology->gpu_count > 0);
		status = find_affinities(&work);
	}
	if (status == 0)
		status = number_rails(&work, nics);
	if (status == 0 && bare) { /* a GPU is served by what has a device */
		(void)find_serving(&work, false);
		status = find_affinities(&work);
	}
	free(work.costs);
	if (status < 0)
		return status;
	recall_rails(topology, nics, known);
	share_rails(&work, nics);
	topology->affinities = work.affinities;
	return 0;
}

/* -- Searches ---------------------------------------------------------------------------------- */

static bool has_device(const struct rna_nic *nic, const char *name)
{
	for (size_t i = 0; i < nic->device_count; i++)
		if (strcmp(nic->devices[i], name) == 0)
			return true;
	return false;
}

const struct rna_nic *rna_topology_nic_at(const struct rna_topology *topology, const char *address)
{
	for (size_t i = 0; topology && i < topology->nic_count; i++)
		if (rna_same_text(topology->objects[topology->nics[i].object].address, address))
			return &topology->nics[i];
	return NULL;
}

/* Returns the first match, so for a LAG the function that has the device. */
const struct rna_nic *rna_topology_find_nic(const struct rna_topology *topology,
					    const struct rna_device *device)
{
	const char *function =
		device->physical_function ? device->physical_function : device->pci_address;

	for (size_t i = 0; i < topology->nic_count; i++)
		if (topology->nics[i].lag < 0 && has_device(&topology->nics[i], device->name))
			return &topology->nics[i];
	return rna_topology_nic_at(topology, function);
}

int rna_topology_find_object(const struct rna_topology *topology, const char *address)
{
	for (size_t i = 0; i < topology->object_count; i++)
		if (strcmp(topology->objects[i].address, address) == 0)
			return (int)i;
	return RNA_NO_OBJECT;
}
