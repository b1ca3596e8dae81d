// SPDX-License-Identifier: Apache-2.0
/*
 * lldp: the neighbour at the other end of each Ethernet cable, from lldpd.
 *
 * It is a collector of the node, because lldpd answers for all interfaces at once. It is separate
 * from qos, which queries drivers, so that a hanging daemon or driver affects only one of them. A
 * neighbour that is no longer received stays for a day, marked as stale, to show where the cable
 * was.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"

#include "backend/backends.h"

#include "collectors.h"

#define REMEMBERED (24 * 60 * 60 * RNA_USEC_PER_SEC)

/* Makes a copy that does not point into the previous part. False: no memory. */
static bool copy_stale(const struct rna_lldp_neighbour *before, struct rna_arena *arena,
		       struct rna_lldp_neighbour *ret)
{
	struct rna_peer *peer = &ret->peer;
	const char **const texts[] = {&ret->netdev, &peer->guid, &peer->name, &peer->port,
				      &peer->port_description};
	bool failed = false;

	*ret = *before;
	peer->stale = true;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++)
		*texts[i] = rna_arena_keep(arena, *texts[i], &failed);
	return !failed;
}

/* Uses the wall clock: if that is corrected, stale neighbours may be dropped early. */
static bool is_forgotten(const struct rna_lldp_neighbour *before, const struct rna_part *part)
{
	return rna_usec_since(before->peer.seen.realtime, part->started.realtime) > REMEMBERED;
}

/* Joins the current neighbours and the earlier ones that are missing now. Number, or -ENOMEM. */
static ssize_t join(const struct rna_lldp_neighbours *now, const struct rna_lldp *before,
		    struct rna_part *part, struct rna_lldp_neighbour *ret)
{
	const struct rna_lldp current = {.count = now->count, .neighbours = now->items};
	size_t count = 0;

	for (size_t i = 0; i < now->count; i++) {
		ret[count] = now->items[i];
		ret[count++].peer.seen = part->started;
	}
	for (size_t i = 0; before && i < before->count && count < RNA_LLDP_MAX; i++)
		if (!is_forgotten(&before->neighbours[i], part) &&
		    !rna_lldp_find(&current, before->neighbours[i].netdev) &&
		    !copy_stale(&before->neighbours[i], part->arena, &ret[count++]))
			return -ENOMEM;
	qsort(ret, count, sizeof(*ret), rna_compare_name_items);
	return (ssize_t)count;
}

/* Without lldpd or its library the list is empty, which is normal. */
static int list(const struct rna_collect_input *in, struct rna_lldp *lldp,
		struct rna_lldp_neighbours *ret)
{
	int status = in->backends->lldp->list(in->root, lldp->part.arena, ret);

	lldp->running = status >= 0;
	if (status < 0)
		ret->count = 0; /* an incomplete list would report the others as removed */
	if (status < 0 && status != -EOPNOTSUPP && status != -ENOENT)
		rna_part_count_error(&lldp->part, status);
	return status == -ENOMEM ? status : 0;
}

static int read_all(const struct rna_collect_input *in, struct rna_lldp *lldp)
{
	struct rna_lldp_neighbour *all =
		rna_arena_array(lldp->part.arena, RNA_LLDP_MAX, sizeof(*all));
	struct rna_lldp_neighbours now = {0};
	ssize_t count = -ENOMEM;

	if (all && list(in, lldp, &now) == 0)
		count = join(&now, (const struct rna_lldp *)in->previous, &lldp->part, all);
	if (count < 0)
		return (int)count;
	lldp->neighbours = all;
	lldp->count = (size_t)count;
	return 0;
}

RNA_DEFINE_COLLECT(lldp, LLDP, struct rna_lldp, 1024, 0, "cannot query lldpd", read_all(in, part))
