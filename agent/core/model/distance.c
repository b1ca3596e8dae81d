// SPDX-License-Identifier: Apache-2.0
/*
 * Distances in the PCI tree, and which NIC is that of which GPU.
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

#include "nearest.h"

/* -- Distances --------------------------------------------------------------------------------- */

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

static struct rna_distance measure(const struct rna_topology *topology, unsigned a, unsigned b)
{
	const struct rna_pci_object *from = &topology->objects[a], *to = &topology->objects[b];
	struct meeting meeting = find_meeting(topology, (int)a, (int)b);
	struct rna_distance ret = {
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
static bool same_class(struct rna_distance a, struct rna_distance b)
{
	return a.path == b.path && a.other_package == b.other_package;
}

/*
 * Bridges count where data passes no host bridge: beyond it, that a NIC stands behind a switch of
 * its own costs nothing beside the way through the processor.
 */
static bool is_nearer(struct rna_distance a, struct rna_distance b)
{
	if (a.path != b.path)
		return a.path < b.path;
	if (a.other_package != b.other_package)
		return b.other_package;
	return a.path <= RNA_PATH_PXB && a.bridges < b.bridges;
}

static struct rna_distance measure_nic(const struct rna_topology *topology, size_t gpu, size_t nic)
{
	unsigned object = topology->gpus[gpu].object;
	int data_direct = topology->nics[nic].data_direct;
	struct rna_distance ret = measure(topology, object, topology->nics[nic].object), direct;

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

enum { NICS_MATCHED = 4096 };

static bool any_nic_has_device(const struct rna_topology *topology)
{
	return RNA_ANY(i, topology->nic_count, topology->nics[i].device_count > 0);
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

bool rna_nearest_serving(struct rna_nearest *work, bool bare)
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

static struct rna_distance *row_of(const struct rna_nearest *work, size_t gpu)
{
	return &work->distances[work->matches ? gpu * work->serving_count : 0];
}

static int find_nearest(struct rna_nearest *work, size_t gpu)
{
	struct rna_gpu_affinity *affinity = &work->affinities[gpu];
	struct rna_distance *row = row_of(work, gpu), best = {.path = RNA_PATH_UNKNOWN};
	unsigned *nearest;

	*affinity = (struct rna_gpu_affinity){.path = RNA_PATH_UNKNOWN, .nic = -1};
	for (size_t i = 0; i < work->serving_count; i++) {
		row[i] = measure_nic(work->topology, gpu, work->serving[i]);
		if (is_nearer(row[i], best))
			best = row[i];
	}
	if (work->matches)
		work->best[gpu] = best;
	if (best.path == RNA_PATH_UNKNOWN)
		return 0;
	for (size_t i = 0; i < work->serving_count; i++)
		affinity->nearest_count += !is_nearer(best, row[i]);
	nearest = rna_arena_array(work->arena, affinity->nearest_count, sizeof(*nearest));
	if (!nearest)
		return -ENOMEM;
	affinity->nearest = nearest;
	for (size_t i = 0; i < work->serving_count; i++)
		if (!is_nearer(best, row[i]))
			*nearest++ = work->serving[i];
	affinity->path = best.path;
	affinity->nic = (int)affinity->nearest[0];
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

bool rna_nearest_same_kind(const struct rna_topology *topology, const struct rna_nic *a,
			   const struct rna_nic *b)
{
	const struct rna_pci_object *x = &topology->objects[a->object];
	const struct rna_pci_object *y = &topology->objects[b->object];

	/* includes the class: the same card has different classes for InfiniBand and Ethernet */
	return x->vendor_id == y->vendor_id && x->device_id == y->device_id &&
	       x->class_id == y->class_id;
}

/* ".0" of "0000:3b:00.0" */
static const char *function_of(const struct rna_topology *topology, const struct rna_nic *nic)
{
	const char *dot = strrchr(topology->objects[nic->object].address, '.');

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
 * What makes one of several equally near NICs that of a GPU, by weight: the larger, the better. A
 * rail that is slow because of its cable is still a rail, so the rate is that of its kind.
 */
enum merit_of {
	KIND_RATE, /* where it is not known, what its link to the node carries */
	LANES,     /* of that link */
	GPUS,      /* that are as near to a NIC of its kind */
	ALIKE,     /* NICs of its kind with the same board, and with its function number */
	OWN_RATE,
	MERITS,
};

struct merit {
	unsigned nic;
	uint64_t values[MERITS];
	size_t kind;     /* the first of these merits that is of the same kind */
	size_t last_gpu; /* of a kind, while GPUs are counted: the last one, from 1 */
};

/* What a NIC has by itself, and the first of its kind has of all of them. */
static void begin_merit(const struct rna_nearest *work, struct merit *merits, size_t index)
{
	const struct rna_topology *topology = work->topology;
	struct merit *merit = &merits[index];
	const struct rna_nic *nic = &topology->nics[work->serving[index]];
	uint64_t *best;

	merit->nic = work->serving[index];
	merit->values[OWN_RATE] = work->facts[merit->nic] ? work->facts[merit->nic]->rate : 0;
	merit->values[LANES] = lanes_of(&topology->objects[nic->object].link);
	while (!rna_nearest_same_kind(topology, nic, &topology->nics[merits[merit->kind].nic]))
		merit->kind++;
	best = &merits[merit->kind].values[KIND_RATE];
	*best = merit->values[OWN_RATE] > *best ? merit->values[OWN_RATE] : *best;
}

/* nearest is ascending, as merits are. */
static void count_gpus(const struct rna_nearest *work, struct merit *merits, size_t gpu)
{
	const struct rna_gpu_affinity *affinity = &work->affinities[gpu];
	size_t at = 0;

	for (size_t i = 0; i < affinity->nearest_count; i++) {
		struct merit *kind;

		while (merits[at].nic != affinity->nearest[i])
			at++;
		kind = &merits[merits[at].kind];
		kind->values[GPUS] += kind->last_gpu != gpu + 1;
		kind->last_gpu = gpu + 1;
	}
}

static void take_from_kind(const struct rna_nearest *work, struct merit *merits, size_t index)
{
	const struct rna_nic *nics = work->topology->nics;
	struct merit *merit = &merits[index];
	const struct merit *kind = &merits[merit->kind];

	merit->values[GPUS] = kind->values[GPUS];
	merit->values[KIND_RATE] = kind->values[KIND_RATE] > 0 ? kind->values[KIND_RATE]
							       : merit->values[LANES] * LANE_RATE;
	if (merit->values[OWN_RATE] == 0) /* it is down, perhaps */
		merit->values[OWN_RATE] = merit->values[KIND_RATE];
	for (size_t i = 0; i < work->serving_count; i++) {
		const struct rna_nic *other = &nics[merits[i].nic];

		if (merits[i].kind != merit->kind)
			continue;
		merit->values[ALIKE] += other->subsystem == nics[merit->nic].subsystem;
		merit->values[ALIKE] += strcmp(function_of(work->topology, other),
					       function_of(work->topology, &nics[merit->nic])) == 0;
	}
}

static int compare_merits(const void *a, const void *b)
{
	const struct merit *x = a, *y = b;

	for (size_t i = 0; i < MERITS; i++)
		if (x->values[i] != y->values[i])
			return x->values[i] > y->values[i] ? -1 : 1;
	return 0;
}

/* Which NICs are chosen depends on the order of their ranks alone. */
static int rank_nics(struct rna_nearest *work)
{
	RNA_FREE struct merit *merits = calloc(work->serving_count + 1, sizeof(*merits));
	unsigned rank = 0;

	if (!merits)
		return -ENOMEM;
	for (size_t i = 0; i < work->serving_count; i++)
		begin_merit(work, merits, i);
	for (size_t gpu = 0; gpu < work->topology->gpu_count; gpu++)
		count_gpus(work, merits, gpu);
	for (size_t i = work->serving_count; i-- > 0;) /* the first of a kind after the others */
		take_from_kind(work, merits, i);
	qsort(merits, work->serving_count, sizeof(*merits), compare_merits);
	for (size_t i = 0; i < work->serving_count; i++) {
		if (i > 0 && rank < RANK_MAX && compare_merits(&merits[i - 1], &merits[i]) != 0)
			rank++;
		work->ranks[merits[i].nic] = rank;
	}
	return 0;
}

static uint64_t limit(uint64_t number, uint64_t most)
{
	return number < most ? number : most;
}

/* Call after rank_nics(). NICs of a farther class are not eligible, nor is what is no NIC. */
static int64_t cost(const struct rna_nearest *work, size_t gpu, size_t serving)
{
	uint64_t order = limit(gpu > serving ? gpu - serving : serving - gpu, ORDER_MAX);
	struct rna_distance distance;

	if (serving >= work->serving_count)
		return NO_COST;
	distance = row_of(work, gpu)[serving];
	if (!same_class(distance, work->best[gpu]))
		return NO_COST;
	if (distance.path > RNA_PATH_PXB)
		distance.bridges = 0;
	return (int64_t)((limit(distance.bridges, BRIDGES_MAX) << BRIDGES_SHIFT) +
			 ((uint64_t)work->ranks[work->serving[serving]] << RANK_SHIFT) +
			 order * order);
}

/* A column: an eligible NIC, or for each GPU one that means no NIC; from 1, 0 begins a new row. */
struct column {
	int64_t potential;
	int64_t slack; /* remaining cost to reach it */
	size_t row;    /* that is assigned; 0: free */
	size_t from;   /* previous column on the path */
	bool reached;
};

/* One run of the method. Rows are the unassigned GPUs, from 1. */
struct matching {
	const struct rna_nearest *work;
	const size_t *waiting;
	size_t count; /* of columns, with 0 */
	struct column *columns;
	int64_t *rows; /* potentials */
};

/* Extends the path by the cheapest column, which it returns. */
static size_t extend_to_cheapest(struct matching *matching, size_t at)
{
	struct column *columns = matching->columns;
	size_t row = columns[at].row, next = 0;
	int64_t least = INT64_MAX;

	columns[at].reached = true;
	for (size_t j = 1; j < matching->count; j++) {
		struct column *column = &columns[j];
		int64_t reduced;

		if (column->reached)
			continue;
		reduced = cost(matching->work, matching->waiting[row - 1], j - 1) -
			  matching->rows[row] - column->potential;
		if (reduced < column->slack) {
			column->slack = reduced;
			column->from = at;
		}
		if (column->slack < least) {
			least = column->slack;
			next = j;
		}
	}
	for (size_t j = 0; j < matching->count; j++) {
		if (columns[j].reached) {
			matching->rows[columns[j].row] += least;
			columns[j].potential -= least;
		} else {
			columns[j].slack -= least;
		}
	}
	return next;
}

static void match_row(struct matching *matching, size_t row)
{
	struct column *columns = matching->columns;
	size_t at = 0;

	for (size_t j = 0; j < matching->count; j++) {
		columns[j].slack = INT64_MAX / 2;
		columns[j].reached = false;
	}
	columns[0].row = row;
	do
		at = extend_to_cheapest(matching, at);
	while (columns[at].row != 0);
	for (; at != 0; at = columns[at].from)
		columns[at].row = columns[columns[at].from].row;
}

/* Assigns a NIC of its own to as many unassigned GPUs as possible. */
static int match_round(const struct rna_nearest *work, const size_t *waiting, size_t count)
{
	size_t columns = 1 + work->serving_count + count;
	RNA_FREE struct column *list = calloc(columns, sizeof(*list));
	RNA_FREE int64_t *rows = calloc(count + 1, sizeof(*rows));
	struct matching matching = {work, waiting, columns, list, rows};

	if (!list || !rows)
		return -ENOMEM;
	for (size_t row = 1; row <= count; row++)
		match_row(&matching, row);
	for (size_t i = 0; i < work->serving_count; i++) {
		size_t row = list[i + 1].row;

		if (row > 0 && cost(work, waiting[row - 1], i) < NO_COST)
			work->affinities[waiting[row - 1]].nic = (int)work->serving[i];
	}
	return 0;
}

/* In each further round the remaining GPUs share NICs with GPUs of earlier rounds. */
static int match(const struct rna_nearest *work)
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

int rna_nearest_find(struct rna_nearest *work)
{
	const size_t gpus = work->topology->gpu_count;
	int status = 0;

	work->matches = gpus <= RNA_GPUS_MATCHED && work->serving_count <= NICS_MATCHED;
	work->affinities = rna_arena_array(work->arena, gpus + 1, sizeof(*work->affinities));
	free(work->distances);
	work->distances = calloc((work->matches ? gpus : 1) * work->serving_count + 1,
				 sizeof(*work->distances));
	if (!work->affinities || !work->distances)
		return -ENOMEM;
	for (size_t gpu = 0; gpu < gpus && status == 0; gpu++)
		status = find_nearest(work, gpu);
	if (status == 0 && work->matches)
		status = rank_nics(work);
	return status == 0 && work->matches ? match(work) : status;
}

/* -- Searches ---------------------------------------------------------------------------------- */

static bool has_device(const struct rna_nic *nic, const char *name)
{
	return RNA_ANY(i, nic->device_count, strcmp(nic->devices[i], name) == 0);
}

const struct rna_nic *rna_topology_nic_at(const struct rna_topology *topology, const char *address)
{
	return RNA_FIND(i, topology->nics, topology ? topology->nic_count : 0,
			rna_same_text(topology->objects[topology->nics[i].object].address,
				      address));
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
