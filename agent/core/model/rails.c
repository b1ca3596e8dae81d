// SPDX-License-Identifier: Apache-2.0
/*
 * Rails: which NICs serve GPUs, and their numbers. A GPU's own NIC has a rail, and so has one of
 * its kind that is as near; but not what each GPU has without it. Numbers are those of places, so
 * that a NIC that is lost moves no other.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"

#include "nearest.h"

static const char *address_of(const struct rna_topology *topology, const struct rna_nic *nic)
{
	return topology->objects[nic->object].address;
}

/* -- NICs that serve GPUs ---------------------------------------------------------------------- */

enum { NO_RAIL = -1, RAIL = 0 }; /* used as marks while roles are determined */

static bool is_kind_of_rail(const struct rna_nearest *work, const struct rna_nic *nic)
{
	const struct rna_topology *topology = work->topology;

	for (size_t gpu = 0; gpu < topology->gpu_count; gpu++) {
		int own = work->affinities[gpu].nic;

		if (own >= 0 && rna_nearest_same_kind(topology, nic, &topology->nics[own]))
			return true;
	}
	return false;
}

static bool has_near_nic(const struct rna_nearest *work, size_t gpu)
{
	return work->affinities[gpu].path <= RNA_PATH_PXB && work->affinities[gpu].nic >= 0;
}

/*
 * Have most GPUs a NIC behind their switch? Then one that has none has lost it: what is nearest to
 * it now, a storage NIC perhaps, is no rail.
 */
static bool each_has_its_nic(const struct rna_nearest *work)
{
	size_t near = 0;

	for (size_t gpu = 0; gpu < work->topology->gpu_count; gpu++)
		near += has_near_nic(work, gpu);
	return near * 2 > work->topology->gpu_count;
}

/* The NIC of a GPU that is far from it, where others have theirs near by Data Direct functions. */
static bool is_its_own(const struct rna_nearest *work, const struct rna_nic *nics, size_t gpu)
{
	int own = work->affinities[gpu].nic;

	if (own < 0 || nics[own].data_direct >= 0)
		return false;
	for (size_t i = 0; i < work->topology->gpu_count; i++)
		if (has_near_nic(work, i) && nics[work->affinities[i].nic].data_direct >= 0 &&
		    rna_nearest_same_kind(work->topology, &nics[own],
					  &nics[work->affinities[i].nic]))
			return true;
	return false;
}

/* near: have most GPUs theirs near? */
static bool has_rail(const struct rna_nearest *work, const struct rna_nic *nics, bool near,
		     size_t gpu)
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
static bool is_candidate(const struct rna_nearest *work, unsigned nic)
{
	return is_kind_of_rail(work, &work->topology->nics[nic]) &&
	       !(work->facts[nic] && work->facts[nic]->rail_of);
}

/* Of a GPU that has no NIC behind its switch: none. */
static struct share share_of(const struct rna_nearest *work, size_t gpu)
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

static bool is_own_of_any(const struct rna_nearest *work, unsigned nic)
{
	return RNA_ANY(gpu, work->topology->gpu_count, work->affinities[gpu].nic == (int)nic);
}

/* Does a come before b, where one of them is one too many? */
static bool has_precedence(const struct rna_nearest *work, unsigned a, unsigned b)
{
	bool own = is_own_of_any(work, a);

	if (own != is_own_of_any(work, b))
		return own;
	return work->ranks[a] != work->ranks[b] ? work->ranks[a] < work->ranks[b] : a < b;
}

/* Is it slower, or on a rarer board, than the NIC of any GPU? */
static bool is_lesser(const struct rna_nearest *work, unsigned nic)
{
	return !RNA_ANY(gpu, work->topology->gpu_count,
			work->affinities[gpu].nic >= 0 &&
				work->ranks[nic] <= work->ranks[work->affinities[gpu].nic]);
}

/*
 * Where each GPU has as many NICs as the others, and one has more of the same model behind its
 * switch, the others are for storage, or odd. A switch that only lacks a GPU has no more NICs than
 * other switches.
 */
static bool is_surplus(const struct rna_nearest *work, const struct usual *usual,
		       struct share share, size_t gpu, unsigned nic)
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

static void mark_nearest(const struct rna_nearest *work, const struct share *shares,
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
static int mark_rails_of_gpus(const struct rna_nearest *work, bool near, struct rna_nic *nics)
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

static size_t count_of_kind(const struct rna_nearest *work, const struct rna_nic *nics, unsigned of)
{
	return RNA_COUNT(i, work->serving_count,
			 rna_nearest_same_kind(work->topology, &nics[work->serving[i]], &nics[of]));
}

/* Fallback if no GPU has a NIC: the NICs of the most frequent kind. */
static void mark_most_common(const struct rna_nearest *work, struct rna_nic *nics)
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
static bool is_place_without_nic(const struct rna_nearest *work, const struct rna_nic *nics,
				 size_t gpu)
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
static int find_leader(const struct rna_nearest *work, size_t nic)
{
	const struct rna_nic_fact *fact = work->facts[nic];
	const struct rna_nic *leader =
		fact && fact->rail_of ? rna_topology_nic_at(work->topology, fact->rail_of) : NULL;

	return leader ? (int)(leader - work->topology->nics) : -1;
}

/* A card whose functions are one rail is at the place of the first of these. */
static void mark_leaders(const struct rna_nearest *work, struct rna_nic *nics)
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
static int number_rails(const struct rna_nearest *work, struct rna_nic *nics)
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
	return RNA_FIND(i, known->nics, known->count, strcmp(known->nics[i].address, address) == 0);
}

/* Is anything missing without which rails would be numbered otherwise? */
static bool is_disturbed(const struct rna_topology *topology, const struct rna_known_rails *known)
{
	bool disturbed = topology->gpu_count < known->gpu_count, any = false;

	for (size_t i = 0; i < known->count; i++) {
		const struct rna_nic *nic = rna_topology_nic_at(topology, known->nics[i].address);

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
	return RNA_ANY(i, known->count,
		       known->nics[i].rail >= 0 && is_same_model(topology, nic, &known->nics[i]));
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
		any |= rna_topology_nic_at(topology, known->nics[i].address) != NULL;
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

static void share_rails(const struct rna_nearest *work, struct rna_nic *nics)
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
	RNA_FREE const struct rna_nic_fact **of_nics = calloc(room, sizeof(*of_nics));
	struct rna_nearest work = {
		.topology = topology,
		.arena = arena,
		.facts = of_nics,
		.ranks = ranks,
		.serving = serving,
	};
	int status = -ENOMEM;
	bool bare = false;

	if (serving && ranks && of_nics) {
		for (size_t i = 0; i < topology->nic_count; i++)
			of_nics[i] = rna_nic_facts_find(facts, address_of(topology, &nics[i]));
		bare = rna_nearest_serving(&work, topology->gpu_count > 0);
		status = rna_nearest_find(&work);
	}
	if (status == 0)
		status = number_rails(&work, nics);
	if (status == 0 && bare) { /* a GPU is served by what has a device */
		(void)rna_nearest_serving(&work, false);
		status = rna_nearest_find(&work);
	}
	free(work.distances);
	if (status < 0)
		return status;
	recall_rails(topology, nics, known);
	share_rails(&work, nics);
	topology->affinities = work.affinities;
	return 0;
}
