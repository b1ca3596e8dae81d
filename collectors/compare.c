// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include "rna/base/parse.h"
#include "rna/model/gid.h"
#include "rna/model/kernel_log.h"
#include "rna/model/netdev.h"
#include "rna/model/topology.h"

static bool same_value(struct rna_value a, struct rna_value b)
{
	return a.state == b.state && a.number == b.number;
}

static void tell_problem(const char *before, const char *now, struct rna_news *ret)
{
	if (now && !rna_same_text(before, now))
		ret->problem = now;
}

void rna_compare_presences(const struct rna_part *old, const struct rna_part *new,
			   struct rna_news *ret)
{
	const struct rna_presence *before = (const void *)old, *now = (const void *)new;

	tell_problem(before ? before->problem : NULL, now->problem, ret);
}

/* A change of state may change links, GIDs and interfaces. */
void rna_compare_states(const struct rna_part *old, const struct rna_part *new,
			struct rna_news *ret)
{
	const struct rna_state *a = (const void *)old, *b = (const void *)new;

	for (size_t i = 0; a && i < a->port_count && i < b->port_count; i++)
		ret->states += !same_value(a->ports[i].state, b->ports[i].state) ||
			       !same_value(a->ports[i].physical_state, b->ports[i].physical_state);
	ret->content = ret->states > 0;
}

/* Another LID, or another subnet manager: the port may be in another fabric. */
void rna_compare_links(const struct rna_part *old, const struct rna_part *new, struct rna_news *ret)
{
	const struct rna_link *a = (const void *)old, *b = (const void *)new;

	for (size_t i = 0; a && i < a->port_count && i < b->port_count; i++)
		ret->content |= !same_value(a->ports[i].lid, b->ports[i].lid) ||
				!same_value(a->ports[i].sm_lid, b->ports[i].sm_lid);
}

void rna_compare_gids(const struct rna_part *old, const struct rna_part *new, struct rna_news *ret)
{
	ret->labels = !old || !rna_gids_same_entries((const void *)old, (const void *)new);
}

void rna_compare_netdevs(const struct rna_part *old, const struct rna_part *new,
			 struct rna_news *ret)
{
	ret->labels = !old || !rna_netdevs_same_names((const void *)old, (const void *)new);
	ret->content = old && ret->labels;
}

/* Identity is read so rarely that a comparison would cost more than preparing the text again. */
void rna_compare_identities(const struct rna_part *old, const struct rna_part *new,
			    struct rna_news *ret)
{
	(void)old, (void)new;
	ret->labels = true;
}

void rna_compare_topologies(const struct rna_part *old, const struct rna_part *new,
			    struct rna_news *ret)
{
	const struct rna_topology *before = (const void *)old, *now = (const void *)new;

	ret->labels = true; /* as above */
	tell_problem(before ? before->problem : NULL, now->problem, ret);
}

void rna_compare_kernel_logs(const struct rna_part *old, const struct rna_part *new,
			     struct rna_news *ret)
{
	const struct rna_kernel_log *before = (const void *)old, *now = (const void *)new;

	/* Lines of no pattern are only counted. */
	ret->text = !before || before->source != now->source || before->error != now->error ||
		    before->matched != now->matched || before->lost != now->lost ||
		    before->dropped != now->dropped;
	tell_problem(before ? before->problem : NULL, now->problem, ret);
}
