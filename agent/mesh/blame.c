// SPDX-License-Identifier: Apache-2.0
/*
 * The model is that of Flock (Harsh et al., PACMNET 1, 2023) with the pairs of probes as flows: an
 * explanation is a set of parts that are bad. A pair that crosses a bad part loses with probability
 * d, which is fitted to the part, but 0.9 at least; any other pair loses by chance, with
 * probability NOISE. So a part gains the logarithm of d by NOISE for each pair that loses and that
 * no other part explains, loses that of 1 - NOISE by 1 - d for each pair that answers, and pays
 * PENALTY, the logarithm of how rarely a part is bad. The part that gains most is blamed, what it
 * explains is taken from the others, and so on until none gains; 007 (Arzani et al., NSDI 2018)
 * takes votes of links from each other in the same way. Gains hardly rise meanwhile, so a heap of
 * old ones finds the largest.
 *
 * The shares of losses have to fit as well. A part that loses a share makes no pair silent, nor one
 * that loses three times as much; and a pair that loses a third of what the part does speaks
 * against it. So a dead port is seen through a bad spine.
 *
 * Unlike the flows of these papers pairs that answer have no names, for there are too many. Those
 * that a port sends to are counted; those that send to it are as many as the ports of its leaf, or
 * of the fleet, have on average. Agents list their worst pairs only: what others hide is not
 * counted as an answer.
 *
 * A part is blamed alone if each other part that its pairs cross gains less by SURE; otherwise it
 * is one of these. Leaves are what agents say of themselves: a port or host that loses as a larger
 * part does may be of that one if its leaf is wrong.
 *
 * Where leaves are unknown the pairs that lose show which ports are together. A port is bad if most
 * of it loses to ports that are sound: one that loses to bad ports only shows nothing of itself.
 * Bad ports of a rail, or all of some nodes, that lose alike become a leaf of their own, and the
 * model goes on with it as with the others. If links of a leaf lose, each pair that does has one
 * end at it, so that the ports are split by turns. If half of a rail could be either side, the
 * verdict names the rail and no port.
 */
#include "blame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/arena.h"
#include "rna/base/cleanup.h"

/* The scopes, in short. */
enum {
	LEAF = RNA_PROBE_LEAF,
	FABRIC = RNA_PROBE_FABRIC,
	HOST = RNA_PROBE_HOST,
	SCOPES = RNA_PROBE_SCOPE_COUNT,
};

/* Does a pair stay on its leaf? */
enum side { INNER, OUTER, SIDES };

enum {
	FIRST_ARENA = 65536,
	ROUNDS = 6,     /* until groups of ports hardly change */
	PLACES_MIN = 3, /* leaves: with two, a spine is a path between them */
};

#define NOISE            0.01  /* of pairs lose by themselves */
#define NOISE_SILENT     0.001 /* of pairs are silent by themselves */
#define PENALTY          9.0   /* one part of 8,000 is bad */
#define SURE             3.0   /* a factor of 20 */
#define MOST             0.6   /* of the pairs, ports or leaves of a part, for it to be blamed */
#define MOST_OF_LEAF     0.8 /* of the pairs within a leaf: one node of three may have a wrong leaf */
#define ALMOST_ALL       0.99
#define NEARLY_ALL       0.9 /* of the pairs of a bad part; of the probes of a dead one */
#define EXPLAINED_FACTOR 3.0 /* of the median share of losses */
#define ALIKE            2.0 /* two shares of losses */
#define ALIKE_LEAF       1.3 /* of the many pairs of a leaf */
#define EXCESS_SPREADS   8.0 /* of a leaf's losses behind a bad spine, for its uplink */
#define MOST_OF_FLEET    0.85
#define STRAY            0.1  /* of pairs, as of a port that is not known to be of a group */
#define HALF             0.36 /* or more of ports: the others may be at the bad leaf as well */
#define PAIR_SPREADS     6.0  /* of a pair's losses behind a bad spine, for another part */
#define EXCESS_MIN       0.12 /* of what is usual */

/* Of a port. */
struct load {
	uint32_t total[SCOPES], lose[SCOPES]; /* pairs that it sends to */
	uint32_t hidden[SCOPES];              /* of lose: not listed, and not explained yet */
	uint32_t answering[SCOPES];
	double incoming[SCOPES]; /* that others send to it and that answer: an estimate */
};

/* Ports by what they are on, and pairs by their ends. */
struct index {
	uint32_t *starts, *list;
};

enum by { BY_NODE, BY_LEAF, BY_RAIL, BY_NOTHING, INDEXES, BY_END = INDEXES };

/* A pair between two leaves: the lower one, the other one, and the pair. */
struct span {
	uint32_t low, high, pair;
};

/* A part that may be bad. */
struct suspect {
	struct rna_mesh_part part;
	double gain;        /* as it was when it was last looked at */
	size_t span, spans; /* of a path */
};

/* For and against a part. */
struct evidence {
	double lose[SIDES], answer[SIDES];
	double surprise[SIDES];  /* if the part is well: - the logarithm of the chance of losses */
	double rate;             /* the median share of losses */
	uint32_t ports, failing; /* with pairs; most of whose pairs lose */
	uint32_t node, far;      /* the first of failing ports, and the first leaf behind pairs */
	bool nodes, fars;        /* there are others */
};

struct solver {
	const struct rna_mesh *mesh;
	struct rna_arena *arena; /* of all but suspects and out */
	struct load *loads;
	struct index pairs_of; /* of each port, at either end */
	struct index ports_of[INDEXES];
	double ports_per_node;
	uint32_t *leaves;  /* of ports, those that were inferred behind those of the mesh */
	size_t leaf_count; /* with these */
	bool leaves_known; /* of a port at least */
	bool *bad;         /* ports that lose to ports that do not */
	bool *fuzzy;       /* rails in which no ports stand out, though pairs lose */
	bool *rack;        /* nodes all ports of which are at one leaf */
	bool *explained;   /* pairs */
	double *ratios;    /* for medians */
	double *fabric;    /* pairs that leave each leaf, */
	double *around;    /* those of each rail, and of all */
	uint32_t *rails;   /* of leaves; RNA_PROBE_RAIL_UNKNOWN: of several */
	uint32_t *port_rails;
	double (*shares)[SCOPES], *weights; /* of the pairs of each leaf, and behind them of all */
	struct span *spans;
	bool failed; /* no memory */
	struct suspect *suspects;
	size_t suspect_count;
	struct rna_blames *out;
};

static const char *const kind_names[RNA_BLAME_KIND_COUNT] = {
	[RNA_BLAME_SPINE] = "spine", [RNA_BLAME_LEAF] = "leaf", [RNA_BLAME_UPLINK] = "uplink",
	[RNA_BLAME_HOST] = "host",   [RNA_BLAME_PORT] = "port", [RNA_BLAME_PATH] = "path",
};

static const struct rna_mesh_part no_part = {
	.node = RNA_MESH_NONE,
	.port = RNA_MESH_NONE,
	.leaf = RNA_MESH_NONE,
	.other_leaf = RNA_MESH_NONE,
	.rail = RNA_PROBE_RAIL_UNKNOWN,
};

const char *rna_blame_kind_name(enum rna_blame_kind kind)
{
	return kind_names[kind];
}

void rna_blames_deinit(struct rna_blames *blames)
{
	free(blames->list);
	free(blames->left);
	free(blames->leaves);
	*blames = (struct rna_blames){0};
}

static void deinit_solver(struct solver *solver)
{
	(void)rna_arena_free(solver->arena);
	free(solver->suspects);
}

/* The first numbers that differ decide. */
static int compare_numbers(const uint32_t *a, const uint32_t *b, size_t count)
{
	size_t i = 0;

	while (i + 1 < count && a[i] == b[i])
		i++;
	return (a[i] > b[i]) - (a[i] < b[i]);
}

static int compare_ratios(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

/* Sorts them. NAN: there are none. */
static double median(double *ratios, size_t count)
{
	if (count == 0)
		return NAN;
	qsort(ratios, count, sizeof(*ratios), compare_ratios);
	return ratios[count / 2];
}

/* More stands out. Reorders the values. */
static double find_limit(double *values, size_t count, double spreads)
{
	double usual = median(values, count);

	for (size_t i = 0; i < count; i++)
		values[i] = fabs(values[i] - usual);
	return usual + fmax(spreads * median(values, count), EXCESS_MIN * usual);
}

/* The ratio is of ten minutes: a silence may be younger. */
static double loss_of(const struct rna_mesh_pair *pair)
{
	return pair->sign == RNA_PROBE_SILENT ? 1 : pair->ratio;
}

static uint32_t leaf_of(const struct solver *solver, uint32_t port)
{
	return solver->leaves[port];
}

/* It is one that was inferred, or none. */
static bool is_unknown(const struct solver *solver, uint32_t leaf)
{
	return leaf >= solver->mesh->leaf_count;
}

/* Pairs of a node are of the fabric, unless its leaves are one. */
static enum side side_of(const struct solver *solver, uint32_t from, enum rna_probe_scope scope)
{
	return scope == RNA_PROBE_LEAF || (scope == RNA_PROBE_HOST &&
					   solver->rack[solver->mesh->ports[from].node])
		       ? INNER
		       : OUTER;
}

static uint32_t far_end(const struct rna_mesh_pair *pair, uint32_t port)
{
	return pair->from == port ? pair->to : pair->from;
}

static void note(uint32_t value, uint32_t *first, bool *others)
{
	if (*first == RNA_MESH_NONE)
		*first = value;
	else if (*first != value)
		*others = true;
}

/* -- Indexes ----------------------------------------------------------------------------------- */

static uint32_t key_of(const struct solver *solver, uint32_t number, enum by by)
{
	const struct rna_mesh *mesh = solver->mesh;

	switch (by) {
	case BY_NODE:
		return mesh->ports[number].node;
	case BY_LEAF:
		return leaf_of(solver, number);
	case BY_RAIL:
		return solver->port_rails[number] < RNA_PROBE_RAIL_UNKNOWN
			       ? solver->port_rails[number]
			       : RNA_MESH_NONE;
	case BY_END:
		return number % 2 ? mesh->pairs[number / 2].to : mesh->pairs[number / 2].from;
	default:
		return 0;
	}
}

static void fill_index(const struct solver *solver, enum by by, size_t places, struct index *ret)
{
	size_t items = by == BY_END ? 2 * solver->mesh->pair_count : solver->mesh->port_count;

	memset(ret->starts, 0, (places + 2) * sizeof(*ret->starts));
	for (uint32_t i = 0; i < items; i++)
		if (key_of(solver, i, by) != RNA_MESH_NONE)
			ret->starts[key_of(solver, i, by) + 2]++;
	for (size_t i = 2; i < places + 2; i++)
		ret->starts[i] += ret->starts[i - 1];
	/* each start moves to that of the place behind it */
	for (uint32_t i = 0; i < items; i++)
		if (key_of(solver, i, by) != RNA_MESH_NONE)
			ret->list[ret->starts[key_of(solver, i, by) + 1]++] =
				by == BY_END ? i / 2 : i;
}

static int make_index(const struct solver *solver, enum by by, size_t places, struct index *ret)
{
	size_t items = by == BY_END ? 2 * solver->mesh->pair_count : solver->mesh->port_count;

	ret->starts = rna_arena_array(solver->arena, places + 2, sizeof(*ret->starts));
	ret->list = rna_arena_array(solver->arena, items + 1, sizeof(*ret->list));
	if (!ret->starts || !ret->list)
		return -ENOMEM;
	fill_index(solver, by, places, ret);
	return 0;
}

/* Of a part, or a path: none. */
static const uint32_t *ports_of(const struct solver *solver, const struct rna_mesh_part *part,
				size_t *ret_count)
{
	static const enum by keys[RNA_BLAME_KIND_COUNT] = {
		[RNA_BLAME_SPINE] = BY_RAIL,
		[RNA_BLAME_LEAF] = BY_LEAF,
		[RNA_BLAME_UPLINK] = BY_LEAF,
		[RNA_BLAME_HOST] = BY_NODE,
	};
	const struct index *index = &solver->ports_of[keys[part->kind]];
	uint32_t place = part->kind == RNA_BLAME_HOST    ? part->node
			 : part->kind == RNA_BLAME_SPINE ? part->rail
							 : part->leaf;

	*ret_count = part->kind == RNA_BLAME_PORT;
	if (part->kind == RNA_BLAME_PORT)
		return &part->port;
	if (part->kind == RNA_BLAME_PATH)
		return NULL;
	if (part->kind == RNA_BLAME_SPINE && place == RNA_PROBE_RAIL_UNKNOWN) {
		index = &solver->ports_of[BY_NOTHING];
		place = 0;
	}
	*ret_count = index->starts[place + 1] - index->starts[place];
	return &index->list[index->starts[place]];
}

/* Which nodes have one leaf. Of an agent that is not scraped, only ports that lose are known. */
static void look_at_nodes(struct solver *solver)
{
	double ports = 0, nodes = 0;

	for (uint32_t i = 0; i < solver->mesh->node_count; i++) {
		const struct rna_mesh_part host = {.kind = RNA_BLAME_HOST, .node = i};
		uint32_t leaf = RNA_MESH_NONE;
		size_t count, known = 0;
		const uint32_t *list = ports_of(solver, &host, &count);
		bool others = false;

		for (size_t p = 0; p < count; p++) {
			const struct rna_mesh_port *port = &solver->mesh->ports[list[p]];

			note(leaf_of(solver, list[p]), &leaf, &others);
			known += port->losing + port->answering > 0;
		}
		solver->rack[i] = !others && leaf != RNA_MESH_NONE;
		ports += (double)known;
		nodes += known > 0;
	}
	solver->ports_per_node = ports / fmax(nodes, 1);
}

/* -- Loads ------------------------------------------------------------------------------------- */

/* Shares of the pairs of a port by scope: each pair is sent to as often as the others. */
static bool add_shares(const struct rna_mesh_port *port, double *shares)
{
	double sum = 0;

	for (int i = 0; i < SCOPES; i++)
		sum += port->sent[i];
	for (int i = 0; i < SCOPES && sum > 0; i++)
		shares[i] += port->sent[i] / sum;
	return sum > 0;
}

static void split_pairs(const double *shares, double weight, uint32_t pairs, struct load *load)
{
	uint32_t left = pairs;

	for (int i = 0; i < SCOPES; i++) {
		uint32_t part =
			i == FABRIC ? left : (uint32_t)lround(shares[i] / weight * (double)pairs);

		part = part > left ? left : part;
		load->total[i] = load->lose[i] > part ? load->lose[i] : part;
		left -= part;
	}
}

/* Agents list the worst pairs: where a leaf's uplinks lose, those on the leaf are hidden last. */
static void add_hidden(const struct rna_mesh_port *port, struct load *load)
{
	static const enum rna_probe_scope order[SCOPES] = {RNA_PROBE_FABRIC, RNA_PROBE_HOST,
							   RNA_PROBE_LEAF};
	uint32_t listed = load->lose[HOST] + load->lose[LEAF] + load->lose[FABRIC];
	uint32_t hidden = port->losing > listed ? port->losing - listed : 0;

	for (int i = 0; i < SCOPES; i++) {
		enum rna_probe_scope scope = order[i];
		uint32_t room = load->total[scope] - load->lose[scope];
		uint32_t count = hidden < room ? hidden : room;

		load->hidden[scope] = count;
		load->lose[scope] += count;
		load->answering[scope] = room - count;
		hidden -= count;
	}
}

/* Ports whose scopes are unknown have those of the others on their leaf, or of all. */
static void fill_loads(struct solver *solver)
{
	const struct rna_mesh *mesh = solver->mesh;
	double(*shares)[SCOPES] = solver->shares, *weights = solver->weights;
	size_t all = mesh->leaf_count;

	for (size_t i = 0; i < mesh->pair_count; i++)
		solver->loads[mesh->pairs[i].from].lose[mesh->pairs[i].scope]++;
	for (size_t i = 0; i < mesh->port_count; i++) {
		uint32_t leaf = mesh->ports[i].leaf;

		weights[all] += add_shares(&mesh->ports[i], shares[all]);
		if (leaf != RNA_MESH_NONE)
			weights[leaf] += add_shares(&mesh->ports[i], shares[leaf]);
	}
	for (uint32_t i = 0; i < mesh->port_count; i++) {
		const struct rna_mesh_port *port = &mesh->ports[i];
		size_t place =
			port->leaf != RNA_MESH_NONE && weights[port->leaf] > 0 ? port->leaf : all;
		double own[SCOPES] = {0};
		bool known = add_shares(port, own);

		split_pairs(known ? own : shares[place], known ? 1 : fmax(weights[place], 1),
			    port->losing + port->answering, &solver->loads[i]);
		add_hidden(port, &solver->loads[i]);
	}
}

/* Of a port without pairs nothing can be said. */
static bool is_known(const struct solver *solver, uint32_t port)
{
	const struct rna_mesh_port *own = &solver->mesh->ports[port];

	return own->losing + own->answering > 0 ||
	       solver->pairs_of.starts[port] < solver->pairs_of.starts[port + 1];
}

/* Pairs that others send to the port, of those that are listed. */
static unsigned count_listed(const struct solver *solver, uint32_t port, enum rna_probe_scope scope)
{
	const struct index *index = &solver->pairs_of;
	unsigned count = 0;

	for (uint32_t i = index->starts[port]; i < index->starts[port + 1]; i++) {
		const struct rna_mesh_pair *pair = &solver->mesh->pairs[index->list[i]];

		count += pair->to == port && pair->scope == scope;
	}
	return count;
}

/*
 * As many as these ports have on average; but pairs that others hide may all be to this port. All
 * together are no more than answer.
 */
static void fill_incoming(struct solver *solver, const uint32_t *list, size_t count,
			  enum rna_probe_scope scope)
{
	double ports = 0, pairs = 0, lose = 0, hidden = 0, sum = 0;

	for (size_t i = 0; i < count; i++) {
		ports += is_known(solver, list[i]);
		pairs += solver->loads[list[i]].total[scope];
		lose += solver->loads[list[i]].lose[scope];
		hidden += solver->loads[list[i]].hidden[scope];
	}
	for (size_t i = 0; i < count; i++) {
		struct load *load = &solver->loads[list[i]];

		load->incoming[scope] =
			fmax(pairs / fmax(ports, 1) - count_listed(solver, list[i], scope) -
				     (hidden - load->hidden[scope]),
			     0);
		sum += load->incoming[scope];
	}
	for (size_t i = 0; i < count && sum > pairs - lose; i++)
		solver->loads[list[i]].incoming[scope] *= (pairs - lose) / sum;
}

/* Each leaf is of the rail of its ports; RNA_PROBE_RAIL_UNKNOWN: of several. */
static void find_rails(struct solver *solver)
{
	const struct rna_mesh *mesh = solver->mesh;

	for (size_t i = 0; i < solver->leaf_count; i++)
		solver->rails[i] = RNA_MESH_NONE;
	for (uint32_t i = 0; i < mesh->port_count; i++) {
		uint32_t leaf = leaf_of(solver, i), rail = solver->port_rails[i];
		bool others = false;

		if (leaf == RNA_MESH_NONE || rail == RNA_PROBE_RAIL_UNKNOWN)
			continue;
		note(rail, &solver->rails[leaf], &others);
		if (others)
			solver->rails[leaf] = RNA_PROBE_RAIL_UNKNOWN;
	}
}

/* Pairs that leave each leaf, the leaves of each rail, and all. */
static void fill_fabric(struct solver *solver)
{
	const struct rna_mesh *mesh = solver->mesh;
	double *sums = solver->around;

	memset(solver->fabric, 0, solver->leaf_count * sizeof(*solver->fabric));
	memset(sums, 0, (RNA_PROBE_RAIL_UNKNOWN + 1) * sizeof(*sums));
	for (uint32_t i = 0; i < mesh->port_count; i++) {
		uint32_t leaf = leaf_of(solver, i);
		double pairs = solver->loads[i].total[FABRIC];

		if (leaf == RNA_MESH_NONE)
			continue;
		solver->fabric[leaf] += pairs;
		sums[RNA_PROBE_RAIL_UNKNOWN] += pairs;
		if (solver->rails[leaf] < RNA_PROBE_RAIL_UNKNOWN)
			sums[solver->rails[leaf]] += pairs;
	}
}

/* -- Evidence ---------------------------------------------------------------------------------- */

bool rna_blame_has_port(const struct rna_blames *blames, const struct rna_mesh *mesh,
			const struct rna_mesh_part *part, uint32_t port)
{
	const struct rna_mesh_port *own = &mesh->ports[port];

	switch (part->kind) {
	case RNA_BLAME_SPINE:
		return part->rail == RNA_PROBE_RAIL_UNKNOWN || own->rail == part->rail;
	case RNA_BLAME_LEAF:
	case RNA_BLAME_UPLINK:
		return blames->leaves[port] == part->leaf;
	case RNA_BLAME_HOST:
		return own->node == part->node;
	default:
		return port == part->port;
	}
}

static enum side first_side(const struct rna_mesh_part *part)
{
	return part->kind == RNA_BLAME_SPINE || part->kind == RNA_BLAME_UPLINK ? OUTER : INNER;
}

/* May the part explain the pair, at each port of it? */
static bool may_explain(const struct solver *solver, const struct rna_mesh_part *part,
			uint32_t number)
{
	const struct rna_mesh_pair *pair = &solver->mesh->pairs[number];

	return !solver->explained[number] &&
	       side_of(solver, pair->from, pair->scope) >= first_side(part);
}

/* A part that loses a share only makes no pair silent. */
static bool is_by(const struct rna_mesh_pair *pair, double rate)
{
	return pair->sign == RNA_PROBE_SILENT ? rate > NEARLY_ALL
					      : pair->ratio <= EXPLAINED_FACTOR * rate;
}

/* The share that pairs of the port lose that it does not list. NAN: it does not say. */
static double counted_loss(const struct solver *solver, uint32_t number, enum rna_probe_scope scope)
{
	const struct rna_mesh_port *port = &solver->mesh->ports[number];
	const struct load *load = &solver->loads[number];

	if (port->sent[scope] <= 0 || load->lose[scope] == 0)
		return NAN;
	/* each is extrapolated by itself */
	return fmin(port->lost[scope] / port->sent[scope] * load->total[scope] / load->lose[scope],
		    1);
}

static size_t list_losses(const struct solver *solver, const struct rna_mesh_part *part,
			  uint32_t port, double *ret)
{
	const struct index *pairs = &solver->pairs_of;
	size_t count = 0;

	for (uint32_t i = pairs->starts[port]; i < pairs->starts[port + 1]; i++)
		if (may_explain(solver, part, pairs->list[i]))
			ret[count++] = loss_of(&solver->mesh->pairs[pairs->list[i]]);
	for (enum rna_probe_scope scope = 0; scope < RNA_PROBE_SCOPE_COUNT; scope++) {
		double loss = counted_loss(solver, port, scope);

		if (solver->loads[port].hidden[scope] > 0 && !isnan(loss) &&
		    side_of(solver, port, scope) >= first_side(part))
			ret[count++] = loss;
	}
	return count;
}

static double rate_of(const struct solver *solver, const struct rna_mesh_part *part)
{
	size_t port_count, count = 0;
	const uint32_t *list = ports_of(solver, part, &port_count);

	for (size_t p = 0; p < port_count; p++)
		count += list_losses(solver, part, list[p], &solver->ratios[count]);
	return count > 0 ? median(solver->ratios, count) : 1;
}

static double surprise_of(const struct rna_mesh_pair *pair)
{
	return -log(pair->sign == RNA_PROBE_SILENT ? NOISE_SILENT : NOISE);
}

static double losing(const struct evidence *evidence)
{
	return evidence->lose[INNER] + evidence->lose[OUTER];
}

static double crossing(const struct evidence *evidence)
{
	return losing(evidence) + evidence->answer[INNER] + evidence->answer[OUTER];
}

/* Most of its pairs lose, on its leaf as well, as rdma:probe_port_suspect has it. */
static bool is_failing(const struct evidence *evidence)
{
	return losing(evidence) > 0 && losing(evidence) >= MOST * crossing(evidence) &&
	       evidence->lose[INNER] >= evidence->answer[INNER];
}

/*
 * Does the pair speak against a part of the port that loses that share? It does if it loses far
 * less. Where the leaf of the port is unknown one that another part explains does so, too, if it
 * loses less or is not silent: pairs that answer are fewer there.
 */
static bool is_answer(const struct solver *solver, uint32_t number, uint32_t port, double rate)
{
	const struct rna_mesh_pair *pair = &solver->mesh->pairs[number];

	if (!solver->explained[number] || !is_unknown(solver, leaf_of(solver, port)))
		return EXPLAINED_FACTOR * loss_of(pair) < rate;
	return ALIKE_LEAF * loss_of(pair) < rate ||
	       (rate > NEARLY_ALL && pair->sign != RNA_PROBE_SILENT);
}

/* A pair that loses far less than the part answers; one that loses far more is not evidence. */
static void look_at_pairs(const struct solver *solver, const struct rna_mesh_part *part,
			  uint32_t port, struct evidence *own)
{
	const struct index *pairs = &solver->pairs_of;

	for (uint32_t i = pairs->starts[port]; i < pairs->starts[port + 1]; i++) {
		const struct rna_mesh_pair *pair = &solver->mesh->pairs[pairs->list[i]];
		enum side side = side_of(solver, pair->from, pair->scope);

		if (side < first_side(part))
			continue;
		if (is_answer(solver, pairs->list[i], port, own->rate)) {
			own->answer[side]++;
			continue;
		}
		if (solver->explained[pairs->list[i]] || !is_by(pair, own->rate))
			continue;
		own->lose[side]++;
		own->surprise[side] += surprise_of(pair);
		note(leaf_of(solver, far_end(pair, port)), &own->far, &own->fars);
	}
}

static const struct evidence no_evidence = {.node = RNA_MESH_NONE, .far = RNA_MESH_NONE};

static void look_at_port(const struct solver *solver, const struct rna_mesh_part *part,
			 uint32_t port, struct evidence *sum)
{
	const struct load *load = &solver->loads[port];
	struct evidence own = no_evidence;

	own.rate = sum->rate;
	look_at_pairs(solver, part, port, &own);
	for (enum rna_probe_scope scope = 0; scope < RNA_PROBE_SCOPE_COUNT; scope++) {
		enum side side = side_of(solver, port, scope);

		if (side < first_side(part))
			continue;
		own.lose[side] += load->hidden[scope];
		own.surprise[side] -= load->hidden[scope] * log(NOISE);
		if (scope == RNA_PROBE_HOST && first_side(part) == OUTER &&
		    leaf_of(solver, port) == RNA_MESH_NONE)
			continue; /* they may stay on its leaf */
		own.answer[side] += load->answering[scope] + load->incoming[scope];
	}
	for (enum side side = first_side(part); side < SIDES; side++) {
		sum->surprise[side] += own.surprise[side];
		sum->lose[side] += own.lose[side];
		sum->answer[side] += own.answer[side];
	}
	sum->ports += is_known(solver, port);
	if (own.far != RNA_MESH_NONE)
		note(own.far, &sum->far, &sum->fars);
	sum->fars |= own.fars;
	if (!is_failing(&own) || (is_unknown(solver, leaf_of(solver, port)) && !solver->bad[port]))
		return;
	sum->failing++;
	note(solver->mesh->ports[port].node, &sum->node, &sum->nodes);
}

/* Of pairs with both ends on the part, which were looked at twice. */
static void halve(struct evidence *evidence, enum side side)
{
	evidence->lose[side] /= 2;
	evidence->answer[side] /= 2;
	evidence->surprise[side] /= 2;
}

static void look_at_part(const struct solver *solver, const struct rna_mesh_part *part,
			 struct evidence *ret)
{
	size_t count;
	const uint32_t *list = ports_of(solver, part, &count);

	*ret = no_evidence;
	ret->rate = rate_of(solver, part);
	for (size_t i = 0; i < count; i++)
		look_at_port(solver, part, list[i], ret);
	if (part->kind == RNA_BLAME_LEAF)
		halve(ret, INNER);
	if (part->kind == RNA_BLAME_SPINE)
		halve(ret, OUTER);
}

static double gain_of(const struct evidence *evidence, double penalty)
{
	double pairs = crossing(evidence), lose = losing(evidence);
	double share = fmin(fmax(lose / fmax(pairs, 1), NEARLY_ALL), ALMOST_ALL);

	return evidence->surprise[INNER] + evidence->surprise[OUTER] + lose * log(share) +
	       (pairs - lose) * (log(1 - share) - log(1 - NOISE)) - penalty;
}

/* -- Suspects ---------------------------------------------------------------------------------- */

static struct rna_mesh_part make_part(const struct solver *solver, enum rna_blame_kind kind,
				      uint32_t place)
{
	struct rna_mesh_part ret = no_part;

	ret.kind = kind;
	switch (kind) {
	case RNA_BLAME_SPINE:
		ret.rail = place;
		break;
	case RNA_BLAME_HOST:
		ret.node = place;
		break;
	case RNA_BLAME_PORT:
		ret.port = place;
		ret.node = solver->mesh->ports[place].node;
		ret.leaf = leaf_of(solver, place);
		ret.rail = solver->port_rails[place];
		break;
	default:
		ret.leaf = place;
	}
	return ret;
}

static bool has_spine(const struct solver *solver, uint32_t rail)
{
	for (size_t i = 0; i < solver->out->count; i++) {
		const struct rna_mesh_part *part = &solver->out->list[i].part;

		if (part->kind == RNA_BLAME_SPINE &&
		    (part->rail == rail || part->rail == RNA_PROBE_RAIL_UNKNOWN))
			return true;
	}
	return false;
}

/*
 * Do most leaves lose what crosses the fabric? A port the leaf of which is unknown counts only if
 * all are, as a leaf. A spine is one of several paths: no pair is silent by it.
 */
static bool is_spine(const struct solver *solver, const struct rna_mesh_part *spine, double rate)
{
	size_t seen = 0, failing = 0, count;
	const uint32_t *list = ports_of(solver, spine, &count);
	bool known;

	for (uint32_t i = 0; i < solver->mesh->leaf_count; i++) {
		struct rna_mesh_part uplink = make_part(solver, RNA_BLAME_UPLINK, i);
		struct evidence evidence;

		if (spine->rail != RNA_PROBE_RAIL_UNKNOWN && spine->rail != solver->rails[i])
			continue;
		look_at_part(solver, &uplink, &evidence);
		seen += solver->fabric[i] > 0;
		failing += is_failing(&evidence);
	}
	known = seen > 0 || spine->rail != RNA_PROBE_RAIL_UNKNOWN;
	for (size_t i = 0; !known && i < count; i++) {
		struct evidence evidence = no_evidence;

		evidence.rate = fmin(rate, NEARLY_ALL);
		look_at_port(solver, spine, list[i], &evidence);
		seen += evidence.ports;
		failing += is_failing(&evidence);
	}
	return solver->fuzzy[spine->rail] ||
	       (seen >= PLACES_MIN && (double)failing >= MOST * (double)seen);
}

/*
 * Behind a spine that loses, ports of a leaf that loses besides do not all stand out: one that does
 * so may be one of these.
 */
static bool is_vague(const struct solver *solver, const struct rna_mesh_part *part, double rate)
{
	size_t count;
	const uint32_t *list = ports_of(solver, part, &count);

	return count > 0 && rate <= NEARLY_ALL && is_unknown(solver, leaf_of(solver, list[0])) &&
	       has_spine(solver, solver->port_rails[list[0]]);
}

/* Without a reason to prefer it: other parts are asked for it as well that explain the same. */
static double weigh_part(const struct solver *solver, const struct rna_mesh_part *part,
			 struct evidence *ret)
{
	bool fits;

	look_at_part(solver, part, ret);
	switch (part->kind) {
	case RNA_BLAME_SPINE:
		fits = losing(ret) > 0 && !has_spine(solver, part->rail) &&
		       is_spine(solver, part, ret->rate);
		break;
	case RNA_BLAME_HOST:
		fits = ret->failing >= 2 && !is_vague(solver, part, ret->rate) &&
		       ret->failing >= MOST * fmax(ret->ports, solver->ports_per_node);
		break;
	case RNA_BLAME_LEAF:
		fits = ret->failing > 0 && ret->failing >= MOST * ret->ports &&
		       ret->lose[INNER] >= MOST_OF_LEAF * (ret->lose[INNER] + ret->answer[INNER]);
		break;
	case RNA_BLAME_PORT:
		fits = ret->failing > 0 && !is_vague(solver, part, ret->rate);
		break;
	default:
		fits = is_failing(ret);
	}
	return fits ? gain_of(ret, PENALTY) : 0;
}

/* Pairs that leave the leaves that the two can reach. */
static double fabric_around(const struct solver *solver, uint32_t low, uint32_t high)
{
	uint32_t rail = solver->rails[low], other = solver->rails[high];

	if (rail < RNA_PROBE_RAIL_UNKNOWN && other < RNA_PROBE_RAIL_UNKNOWN && rail != other)
		return 0;
	return solver
		->around[rail < RNA_PROBE_RAIL_UNKNOWN && rail == other ? rail
									: RNA_PROBE_RAIL_UNKNOWN];
}

/* The share of the pairs that leave one leaf and enter the other, if it probes all alike. */
static double share_between(const struct solver *solver, uint32_t from, uint32_t to)
{
	double all = fabric_around(solver, from, to) - solver->fabric[from];

	return all > 0 ? fmin(solver->fabric[to] / all, 1) : 0;
}

/* How many pairs of two leaves are probed. */
static double expect_pairs(const struct solver *solver, uint32_t low, uint32_t high)
{
	return solver->fabric[low] * share_between(solver, low, high) +
	       solver->fabric[high] * share_between(solver, high, low);
}

static uint32_t node_at(const struct solver *solver, const struct rna_mesh_pair *pair,
			uint32_t leaf)
{
	return solver->mesh->ports[leaf_of(solver, pair->from) == leaf ? pair->from : pair->to]
		.node;
}

/* At least two nodes at either end: otherwise it may be the one that they share. */
static double weigh_path(const struct solver *solver, const struct suspect *path,
			 struct evidence *ret)
{
	uint32_t low = RNA_MESH_NONE, high = RNA_MESH_NONE;
	bool lows = false, highs = false;
	double paths = (double)solver->mesh->leaf_count * (double)solver->mesh->leaf_count / 2;
	size_t count = 0;

	*ret = no_evidence;
	for (size_t i = path->span; i < path->span + path->spans; i++) {
		const struct span *span = &solver->spans[i];
		const struct rna_mesh_pair *pair = &solver->mesh->pairs[span->pair];

		if (solver->explained[span->pair])
			continue;
		note(node_at(solver, pair, span->low), &low, &lows);
		note(node_at(solver, pair, span->high), &high, &highs);
		ret->surprise[OUTER] += surprise_of(pair);
		solver->ratios[count++] = loss_of(pair);
	}
	ret->rate = median(solver->ratios, count);
	ret->lose[OUTER] = (double)count;
	ret->answer[OUTER] =
		fmax(expect_pairs(solver, path->part.leaf, path->part.other_leaf) - (double)count,
		     0);
	return lows && highs && is_failing(ret) ? gain_of(ret, PENALTY + log(paths)) : 0;
}

/* A leaf or uplink has to be lost by ports of two nodes, an uplink to two leaves. */
static double weigh(const struct solver *solver, const struct suspect *suspect,
		    struct evidence *ret)
{
	enum rna_blame_kind kind = suspect->part.kind;
	double gain = kind == RNA_BLAME_PATH ? weigh_path(solver, suspect, ret)
					     : weigh_part(solver, &suspect->part, ret);

	if ((kind == RNA_BLAME_LEAF || kind == RNA_BLAME_UPLINK) && !ret->nodes)
		return 0;
	return kind == RNA_BLAME_UPLINK && !ret->fars && !is_unknown(solver, suspect->part.leaf)
		       ? 0
		       : gain;
}

static int add_suspect(struct solver *solver, struct suspect suspect)
{
	struct evidence evidence;
	struct suspect *added;

	suspect.gain = weigh(solver, &suspect, &evidence);
	if (suspect.gain <= 0)
		return 0;
	added = RNA_GROW(solver->suspects, solver->suspect_count, NULL);
	if (!added)
		return -ENOMEM;
	*added = suspect;
	solver->suspect_count++;
	return 0;
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *first = a, *second = b;

	return compare_numbers((const uint32_t[]){first->low, first->high, first->pair},
			       (const uint32_t[]){second->low, second->high, second->pair}, 3);
}

static size_t list_spans(const struct solver *solver, struct span *ret)
{
	const struct rna_mesh *mesh = solver->mesh;
	size_t count = 0;

	for (uint32_t i = 0; i < mesh->pair_count; i++) {
		const struct rna_mesh_pair *pair = &mesh->pairs[i];
		struct span span = {leaf_of(solver, pair->from), leaf_of(solver, pair->to), i};

		if (pair->scope != RNA_PROBE_FABRIC || span.low == span.high ||
		    is_unknown(solver, span.low) || is_unknown(solver, span.high))
			continue;
		if (span.low > span.high)
			span = (struct span){span.high, span.low, i};
		ret[count++] = span;
	}
	if (count > 0)
		qsort(ret, count, sizeof(*ret), compare_spans);
	return count;
}

static int suspect_paths(struct solver *solver)
{
	size_t count = list_spans(solver, solver->spans);
	int status = 0;

	for (size_t i = 0, end; status == 0 && i < count; i = end) {
		struct suspect path = {.part = no_part, .span = i};

		for (end = i; end < count && solver->spans[end].low == solver->spans[i].low &&
			      solver->spans[end].high == solver->spans[i].high;)
			end++;
		path.spans = end - i;
		path.part.kind = RNA_BLAME_PATH;
		path.part.leaf = solver->spans[i].low;
		path.part.other_leaf = solver->spans[i].high;
		status = add_suspect(solver, path);
	}
	return status;
}

static int suspect_all(struct solver *solver)
{
	const struct rna_mesh *mesh = solver->mesh;
	const size_t places[RNA_BLAME_KIND_COUNT] = {
		[RNA_BLAME_SPINE] = RNA_PROBE_RAIL_UNKNOWN + 1,
		[RNA_BLAME_LEAF] = solver->leaf_count,
		[RNA_BLAME_UPLINK] = solver->leaf_count,
		[RNA_BLAME_HOST] = mesh->node_count,
		[RNA_BLAME_PORT] = mesh->port_count,
	};
	int status;

	solver->suspect_count = 0;
	status = suspect_paths(solver);
	for (enum rna_blame_kind kind = 0; kind < RNA_BLAME_KIND_COUNT; kind++)
		for (uint32_t i = 0; status == 0 && i < places[kind]; i++)
			status = add_suspect(solver,
					     (struct suspect){.part = make_part(solver, kind, i)});
	return status;
}

enum { ORDERED = 6 };

static void list_numbers(const struct rna_mesh_part *part, uint32_t ret[ORDERED])
{
	const uint32_t numbers[ORDERED] = {part->kind, part->leaf, part->other_leaf,
					   part->node, part->port, part->rail};

	memcpy(ret, numbers, sizeof(numbers));
}

static int compare_parts(const struct rna_mesh_part *first, const struct rna_mesh_part *second)
{
	uint32_t a[ORDERED], b[ORDERED];

	list_numbers(first, a);
	list_numbers(second, b);
	return compare_numbers(a, b, ORDERED);
}

/* Of two that gain the same the larger part, so that answers do not depend on the order. */
static bool is_before(const struct suspect *first, const struct suspect *second)
{
	if (first->gain != second->gain)
		return first->gain > second->gain;
	return compare_parts(&first->part, &second->part) < 0;
}

static void sift_down(struct suspect *heap, size_t count, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		struct suspect moved = heap[at];

		if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &moved))
			return;
		heap[at] = heap[child];
		heap[child] = moved;
	}
}

static void remove_first(struct solver *solver)
{
	solver->suspects[0] = solver->suspects[--solver->suspect_count];
	sift_down(solver->suspects, solver->suspect_count, 0);
}

/* The one that gains most now; NULL: none gains. */
static const struct suspect *find_worst(struct solver *solver, struct evidence *ret)
{
	while (solver->suspect_count > 0) {
		struct suspect *first = &solver->suspects[0];
		double gain = weigh(solver, first, ret);
		bool falls = gain < first->gain;

		first->gain = gain;
		if (!falls)
			return first;
		if (gain <= 0)
			remove_first(solver);
		else
			sift_down(solver->suspects, solver->suspect_count, 0);
	}
	return NULL;
}

/* -- Leaves that are unknown ------------------------------------------------------------------- */

/* What a port whose leaf is unknown loses. */
struct loser {
	uint32_t rail, node, port; /* rail: RNA_MESH_NONE: so do other ports of the node */
	double rate;
};

/* Pairs of a node may stay on its leaf, and show nothing of what is beyond it. */
static bool leaves_node(const struct rna_mesh_pair *pair)
{
	return pair->scope != RNA_PROBE_HOST;
}

/* Does no part explain it, and is the far end sound? */
static bool is_to_sound(const struct solver *solver, uint32_t number, uint32_t port,
			const bool *bad)
{
	const struct rna_mesh_pair *pair = &solver->mesh->pairs[number];

	return leaves_node(pair) && !solver->explained[number] && !bad[far_end(pair, port)];
}

/* The share of such pairs among those of these ports that are listed. NAN: none is. */
static double sound_share(const struct solver *solver, const uint32_t *list, size_t count,
			  const bool *bad)
{
	const struct index *pairs = &solver->pairs_of;
	double listed = 0, sound = 0;

	for (size_t p = 0; p < count; p++)
		for (uint32_t i = pairs->starts[list[p]]; i < pairs->starts[list[p] + 1]; i++) {
			listed += leaves_node(&solver->mesh->pairs[pairs->list[i]]);
			sound += is_to_sound(solver, pairs->list[i], list[p], bad);
		}
	return listed > 0 ? sound / listed : NAN;
}

/* Of pairs that are not listed: as of the others of the port, or of its node. */
static double hidden_to_sound(const struct solver *solver, uint32_t port, const bool *bad)
{
	const struct rna_mesh_part host = {.kind = RNA_BLAME_HOST,
					   .node = solver->mesh->ports[port].node};
	size_t count;
	const uint32_t *list = ports_of(solver, &host, &count);
	double share = sound_share(solver, &port, 1, bad);

	if (isnan(share))
		share = sound_share(solver, list, count, bad);
	return solver->loads[port].hidden[FABRIC] * (isnan(share) ? 1 : share);
}

/* Does most of it lose, to ports that are sound? Sets the share that is lost. */
static bool loses_to_sound(const struct solver *solver, uint32_t port, const bool *bad,
			   double *ret_rate)
{
	const struct index *pairs = &solver->pairs_of;
	const struct load *load = &solver->loads[port];
	double loss = counted_loss(solver, port, RNA_PROBE_FABRIC);
	double lose = hidden_to_sound(solver, port, bad);
	double answer = load->answering[FABRIC] + load->incoming[FABRIC];
	size_t count = 0;

	for (uint32_t i = pairs->starts[port]; i < pairs->starts[port + 1]; i++)
		if (is_to_sound(solver, pairs->list[i], port, bad))
			solver->ratios[count++] = loss_of(&solver->mesh->pairs[pairs->list[i]]);
	if (count == 0 && lose > 0 && !isnan(loss))
		solver->ratios[count++] = loss;
	if (count == 0)
		return false;
	*ret_rate = median(solver->ratios, count);
	for (uint32_t i = pairs->starts[port]; i < pairs->starts[port + 1]; i++) {
		bool answers = leaves_node(&solver->mesh->pairs[pairs->list[i]]) &&
			       is_answer(solver, pairs->list[i], port, *ret_rate);

		answer += answers;
		lose += !answers && is_to_sound(solver, pairs->list[i], port, bad);
	}
	return lose > 0 && lose >= MOST * (lose + answer);
}

/* If almost all are bad it is a spine, and none of them stands out. */
static bool stand_out(const struct solver *solver)
{
	size_t count = solver->mesh->port_count, known = 0, bad = 0;

	for (uint32_t i = 0; i < count; i++) {
		known += is_known(solver, i);
		bad += solver->bad[i];
	}
	return (double)bad < MOST_OF_FLEET * (double)known;
}

/* A port that loses only to such ports is sound itself, so each may show that others are. */
static void find_bad(struct solver *solver, bool *before)
{
	size_t count = solver->mesh->port_count;
	double rate;

	memset(solver->bad, 0, count * sizeof(*solver->bad));
	for (int round = 0; round < ROUNDS; round++) {
		memcpy(before, solver->bad, count * sizeof(*before));
		for (uint32_t i = 0; i < count; i++)
			solver->bad[i] = loses_to_sound(solver, i, before, &rate);
		if (!stand_out(solver))
			memset(solver->bad, 0, count * sizeof(*solver->bad));
		if (memcmp(before, solver->bad, count * sizeof(*before)) == 0)
			return;
	}
}

static int compare_losers(const void *a, const void *b)
{
	const struct loser *first = a, *second = b;

	if (first->rail != second->rail)
		return first->rail < second->rail ? -1 : 1;
	if (first->rate != second->rate)
		return first->rate < second->rate ? -1 : 1;
	return compare_numbers(&first->port, &second->port, 1);
}

/* Bad ports of the node, each with its share or, if the whole node is bad, the median of all. */
static size_t list_losers(struct solver *solver, uint32_t node, struct loser *ret)
{
	struct rna_mesh_part host = make_part(solver, RNA_BLAME_HOST, node);
	size_t ports, known = 0, count = 0;
	const uint32_t *list = ports_of(solver, &host, &ports);

	for (size_t i = 0; i < ports; i++) {
		uint32_t port = list[i], rail = solver->port_rails[port];
		double rate;

		known += is_known(solver, port);
		if (leaf_of(solver, port) != RNA_MESH_NONE || !solver->bad[port] ||
		    !loses_to_sound(solver, port, solver->bad, &rate))
			continue;
		ret[count++] = (struct loser){rail, node, port, rate};
	}
	if (count < 2 || (double)count < MOST * fmax((double)known, solver->ports_per_node))
		return count;
	for (size_t i = 0; i < count; i++)
		solver->ratios[i] = ret[i].rate;
	for (size_t i = 0; i < count; i++) {
		ret[i].rail = RNA_MESH_NONE;
		ret[i].rate = i == 0 ? median(solver->ratios, count) : ret[0].rate;
	}
	return count;
}

static bool are_together(const struct loser *first, const struct loser *second)
{
	return first->rail == second->rail &&
	       (first->rate > NEARLY_ALL) == (second->rate > NEARLY_ALL) &&
	       second->rate <= ALIKE * first->rate;
}

/* Ports that lose alike, which may be at one leaf. */
struct group {
	uint32_t leaf;
	bool hosts; /* all ports of nodes; otherwise those of a rail */
	const uint32_t *list;
	size_t count; /* ports that may be of it */
	double rate;
	double share; /* of them that are */
	double inner; /* the chance that a pair with both ends in it loses */
};

/* Pairs of a port as the group would explain them. */
struct ties {
	double inside, outside, answer; /* lose, to ports of the group and to others; do not */
};

static bool is_of_group(const struct rna_mesh_pair *pair, const struct group *group)
{
	return leaves_node(pair) && is_by(pair, group->rate) &&
	       EXPLAINED_FACTOR * loss_of(pair) >= group->rate;
}

static void add_ties(const struct solver *solver, const struct group *group, uint32_t port,
		     struct ties *sum)
{
	const struct index *pairs = &solver->pairs_of;
	const struct load *load = &solver->loads[port];
	double inside = 0, outside = 0, hidden = load->hidden[FABRIC];

	for (uint32_t i = pairs->starts[port]; i < pairs->starts[port + 1]; i++) {
		const struct rna_mesh_pair *pair = &solver->mesh->pairs[pairs->list[i]];
		uint32_t leaf = leaf_of(solver, far_end(pair, port));

		if (solver->explained[pairs->list[i]] && leaves_node(pair))
			sum->answer += is_answer(solver, pairs->list[i], port, group->rate);
		if (solver->explained[pairs->list[i]] || !is_of_group(pair, group))
			continue;
		inside += leaf == group->leaf;
		outside += leaf != group->leaf && leaf < solver->mesh->leaf_count;
		outside += leaf == RNA_MESH_NONE;
	}
	if (inside + outside > 0)
		hidden /= inside + outside;
	sum->inside += inside * (1 + hidden);
	sum->outside += outside * (1 + hidden);
	sum->answer += load->answering[FABRIC] + load->incoming[FABRIC];
}

/* By the logarithm of how much likelier its pairs are if it is of the group than if it is not. */
static bool fits_group(const struct group *group, const struct ties *ties)
{
	double share = group->share, inner = group->inner;
	double there = share * (1 - inner) + (1 - share) * (1 - NEARLY_ALL);
	double not_there = share * (1 - NEARLY_ALL) + (1 - share) * (1 - STRAY);

	return ties->outside * log(NEARLY_ALL / STRAY) + ties->inside * log(inner / NEARLY_ALL) +
		       ties->answer * log(there / not_there) >
	       0;
}

static void measure_group(const struct solver *solver, struct group *group)
{
	double members = 0, pairs = 0;
	struct ties ties = {0};

	for (size_t i = 0; i < group->count; i++) {
		if (leaf_of(solver, group->list[i]) != group->leaf)
			continue;
		members++;
		pairs += solver->loads[group->list[i]].total[FABRIC];
		add_ties(solver, group, group->list[i], &ties);
	}
	group->share = fmax(members - 1, 0) / fmax((double)group->count - 1, 1);
	pairs *= group->share;
	group->inner = pairs < 1 ? 0.5 : fmin(fmax(ties.inside / 2 / pairs, NOISE), 1 - NOISE);
}

/* All ports of the node that may be of the group, or the port: are they? */
static bool move(struct solver *solver, const struct group *group, const uint32_t *list,
		 size_t count)
{
	struct ties ties = {0};
	bool fits, ret = false;

	for (size_t i = 0; i < count; i++)
		add_ties(solver, group, list[i], &ties);
	fits = ties.outside > 0 && fits_group(group, &ties);
	for (size_t i = 0; i < count; i++) {
		uint32_t *leaf = &solver->leaves[list[i]];

		if (*leaf != RNA_MESH_NONE && *leaf != group->leaf)
			continue;
		ret |= fits != (*leaf == group->leaf);
		*leaf = fits ? group->leaf : RNA_MESH_NONE;
		solver->bad[list[i]] =
			fits || (solver->bad[list[i]] && ties.inside + ties.outside <= 0);
	}
	return ret;
}

/* Until no port has to move. */
static void refine_group(struct solver *solver, struct group *group)
{
	bool moved = true;

	for (int round = 0; moved && round < ROUNDS; round++) {
		moved = false;
		measure_group(solver, group);
		for (size_t i = 0, end; i < group->count; i = end) {
			for (end = i + 1; group->hosts && end < group->count &&
					  solver->mesh->ports[group->list[end]].node ==
						  solver->mesh->ports[group->list[i]].node;)
				end++;
			moved |= move(solver, group, &group->list[i], end - i);
		}
	}
	measure_group(solver, group);
}

/*
 * If half of the ports are of it, and pairs between them answer, it may be the others: links
 * between two leaves look alike from both.
 */
static void check_group(struct solver *solver, const struct group *group, uint32_t rail)
{
	uint32_t node = RNA_MESH_NONE;
	bool nodes = false, fuzzy = group->share > HALF && group->inner < MOST;

	for (size_t i = 0; i < group->count; i++)
		if (leaf_of(solver, group->list[i]) == group->leaf)
			note(solver->mesh->ports[group->list[i]].node, &node, &nodes);
	for (size_t i = 0; i < group->count && (fuzzy || !nodes); i++) {
		struct ties ties = {0};

		add_ties(solver, group, group->list[i], &ties);
		if (leaf_of(solver, group->list[i]) == group->leaf)
			solver->leaves[group->list[i]] = RNA_MESH_NONE;
		if (fuzzy && ties.inside + ties.outside > 0)
			solver->bad[group->list[i]] = false;
	}
	solver->fuzzy[group->hosts ? RNA_PROBE_RAIL_UNKNOWN : rail] |= fuzzy;
}

/* Ports that pairs of a group connect, to be told apart. */
struct split {
	enum { NEITHER, IN, OUT } * sides; /* of each port */
	uint32_t *queue;
	size_t lose, within; /* pairs, and those with both ends on one side */
};

/* Ports that hang together, which take turns from the first on: the fewer are in the group. */
static void split_from(const struct solver *solver, const struct group *group, uint32_t first,
		       struct split *split)
{
	const struct index *pairs = &solver->pairs_of;
	size_t head = 0, tail = 1, out = 0;

	split->queue[0] = first;
	split->sides[first] = IN;
	while (head < tail) {
		uint32_t port = split->queue[head++];

		for (uint32_t i = pairs->starts[port]; i < pairs->starts[port + 1]; i++) {
			const struct rna_mesh_pair *pair = &solver->mesh->pairs[pairs->list[i]];
			uint32_t far = far_end(pair, port);

			if (solver->explained[pairs->list[i]] || !is_of_group(pair, group))
				continue;
			split->lose++;
			split->within += split->sides[far] == split->sides[port];
			if (split->sides[far] != NEITHER)
				continue;
			split->sides[far] = split->sides[port] == IN ? OUT : IN;
			out += split->sides[far] == OUT;
			split->queue[tail++] = far;
		}
	}
	for (size_t i = 0; i < tail && 2 * out < tail; i++)
		split->sides[split->queue[i]] = split->sides[split->queue[i]] == IN ? OUT : IN;
	if (tail < PLACES_MIN)
		split->sides[first] = OUT;
}

/*
 * Links of a leaf lose pairs with other leaves: each such pair has one end in the group. Where that
 * is not so, as behind a dead leaf, the group stays.
 */
static int split_group(struct solver *solver, const struct group *group)
{
	size_t ports = solver->mesh->port_count;
	RNA_FREE uint32_t *queue = calloc(ports + 1, sizeof(*queue));
	struct split split = {.queue = queue};
	RNA_FREE void *sides = calloc(ports + 1, sizeof(*split.sides));

	split.sides = sides;
	if (!queue || !sides)
		return -ENOMEM;
	for (size_t i = 0; i < group->count; i++)
		if (split.sides[group->list[i]] == NEITHER)
			split_from(solver, group, group->list[i], &split);
	for (size_t i = 0; (double)split.within <= NOISE * (double)split.lose && i < group->count;
	     i++) {
		uint32_t *leaf = &solver->leaves[group->list[i]];

		if (*leaf == RNA_MESH_NONE || *leaf == group->leaf)
			*leaf = split.sides[group->list[i]] == IN ? group->leaf : RNA_MESH_NONE;
	}
	return 0;
}

static int make_group(struct solver *solver, const struct loser *list, size_t count)
{
	struct rna_mesh_part all = no_part;
	struct group group = {.leaf = (uint32_t)solver->leaf_count++,
			      .hosts = list[0].rail == RNA_MESH_NONE,
			      .rate = list[count / 2].rate};
	int status;

	all.kind = RNA_BLAME_SPINE;
	if (!group.hosts)
		all.rail = list[0].rail;
	group.list = ports_of(solver, &all, &group.count);
	for (size_t i = 0; i < count; i++)
		solver->leaves[list[i].port] = group.leaf;
	status = group.hosts ? 0 : split_group(solver, &group);
	refine_group(solver, &group);
	check_group(solver, &group, all.rail);
	return status;
}

/* Ports of two nodes that lose alike, in one rail or as all ports of their nodes do. */
static int group_losers(struct solver *solver, const struct loser *list, size_t count)
{
	int status = 0;

	for (size_t i = 0, end; status == 0 && i < count; i = end) {
		uint32_t first = RNA_MESH_NONE;
		bool nodes = false;

		for (end = i; end < count && (end == i || are_together(&list[end - 1], &list[end]));
		     end++)
			note(list[end].node, &first, &nodes);
		if (nodes)
			status = make_group(solver, &list[i], end - i);
	}
	return status;
}

static void index_leaves(struct solver *solver)
{
	fill_index(solver, BY_LEAF, solver->leaf_count, &solver->ports_of[BY_LEAF]);
	look_at_nodes(solver);
	find_rails(solver);
	fill_fabric(solver);
}

/* Which ports whose leaf is unknown may be at one. */
static int infer_leaves(struct solver *solver)
{
	size_t count = 0, ports = solver->mesh->port_count;
	RNA_FREE bool *before = calloc(ports + 1, sizeof(*before));
	RNA_FREE struct loser *list = calloc(ports + 1, sizeof(*list));
	int status;

	if (!before || !list)
		return -ENOMEM;
	find_bad(solver, before);
	for (uint32_t i = 0; i < solver->mesh->node_count; i++)
		count += list_losers(solver, i, &list[count]);
	if (count > 0)
		qsort(list, count, sizeof(*list), compare_losers);
	status = group_losers(solver, list, count);
	index_leaves(solver);
	return status;
}

/* -- Verdicts ---------------------------------------------------------------------------------- */

static void add_other(struct rna_blame *blame, const struct rna_mesh_part *part)
{
	if (blame->other_count < RNA_BLAME_OTHERS_MAX)
		blame->others[blame->other_count++] = *part;
}

static void compare_with(const struct solver *solver, enum rna_blame_kind kind, uint32_t place,
			 double gain, struct rna_blame *blame)
{
	struct rna_mesh_part part;
	struct evidence evidence;

	if (place == RNA_MESH_NONE)
		return;
	part = make_part(solver, kind, place);
	if (weigh_part(solver, &part, &evidence) > gain - SURE)
		add_other(blame, &part);
}

/* Parts that the same pairs cross. */
static void find_others(const struct solver *solver, double gain, struct rna_blame *blame)
{
	const struct rna_mesh_part *part = &blame->part;
	uint32_t leaf = part->leaf;
	size_t count;
	const uint32_t *list = ports_of(solver, part, &count);

	if (part->kind == RNA_BLAME_HOST && solver->rack[part->node])
		leaf = leaf_of(solver, list[0]);
	if (part->kind == RNA_BLAME_PORT)
		compare_with(solver, RNA_BLAME_HOST, part->node, gain, blame);
	if (part->kind == RNA_BLAME_SPINE && solver->fuzzy[part->rail]) {
		struct rna_mesh_part uplink = make_part(solver, RNA_BLAME_UPLINK, RNA_MESH_NONE);

		uplink.rail = part->rail;
		add_other(blame, &uplink);
	}
	if (part->kind == RNA_BLAME_SPINE || part->kind == RNA_BLAME_PATH)
		return;
	if (part->kind != RNA_BLAME_LEAF)
		compare_with(solver, RNA_BLAME_LEAF, leaf, gain, blame);
	if (part->kind != RNA_BLAME_UPLINK)
		compare_with(solver, RNA_BLAME_UPLINK, leaf, gain, blame);
	for (uint32_t i = 0; part->kind == RNA_BLAME_UPLINK && i < solver->mesh->leaf_count; i++)
		if (i != leaf && share_between(solver, leaf, i) > MOST)
			compare_with(solver, RNA_BLAME_UPLINK, i, SURE, blame);
}

static void explain_pair(struct solver *solver, uint32_t number, struct rna_blame *blame)
{
	solver->explained[number] = true;
	blame->explained++;
	blame->signs |= solver->mesh->pairs[number].sign;
}

static void explain_port(struct solver *solver, uint32_t port, double rate, double limit,
			 struct rna_blame *blame)
{
	const struct index *pairs = &solver->pairs_of;
	struct load *load = &solver->loads[port];

	for (uint32_t i = pairs->starts[port]; i < pairs->starts[port + 1]; i++) {
		uint32_t number = pairs->list[i];

		if (may_explain(solver, &blame->part, number) &&
		    is_by(&solver->mesh->pairs[number], rate) &&
		    loss_of(&solver->mesh->pairs[number]) <= limit)
			explain_pair(solver, number, blame);
	}
	for (enum rna_probe_scope scope = 0; scope < RNA_PROBE_SCOPE_COUNT; scope++) {
		if (side_of(solver, port, scope) < first_side(&blame->part))
			continue;
		blame->explained += load->hidden[scope];
		if (blame->part.kind == RNA_BLAME_SPINE &&
		    is_unknown(solver, leaf_of(solver, port)) &&
		    counted_loss(solver, port, scope) <= limit)
			load->answering[scope] += load->hidden[scope]; /* as far as others go */
		load->hidden[scope] = 0;
	}
}

/* Of what the ports of the part send, what no part explains yet. */
static void count_pairs(const struct solver *solver, struct rna_blame *blame)
{
	const struct index *pairs = &solver->pairs_of;
	size_t count;
	const uint32_t *list = ports_of(solver, &blame->part, &count);

	for (size_t p = 0; p < count; p++) {
		const struct load *load = &solver->loads[list[p]];

		for (uint32_t i = pairs->starts[list[p]]; i < pairs->starts[list[p] + 1]; i++)
			blame->losing += solver->mesh->pairs[pairs->list[i]].from == list[p] &&
					 may_explain(solver, &blame->part, pairs->list[i]);
		for (enum rna_probe_scope scope = 0; scope < RNA_PROBE_SCOPE_COUNT; scope++) {
			if (side_of(solver, list[p], scope) < first_side(&blame->part))
				continue;
			blame->losing += load->hidden[scope];
			blame->pairs += load->answering[scope];
		}
	}
	blame->pairs += blame->losing;
}

/* What a part explains that was not seen before is added to its verdict. */
static struct rna_blame *find_blame(struct rna_blames *out, const struct rna_mesh_part *part)
{
	for (size_t i = 0; i < out->count; i++)
		if (compare_parts(&out->list[i].part, part) == 0)
			return &out->list[i];
	return NULL;
}

static struct rna_blame *make_blame(struct solver *solver, const struct suspect *suspect,
				    const struct evidence *evidence)
{
	struct rna_blame *ret = RNA_GROW(solver->out->list, solver->out->count, NULL);

	if (!ret)
		return NULL;
	solver->out->count++;
	*ret = (struct rna_blame){.part = suspect->part,
				  .losing_ports = evidence->failing,
				  .ports = evidence->ports,
				  .ratio = evidence->rate};
	find_others(solver, suspect->gain, ret);
	count_pairs(solver, ret);
	return ret;
}

/* All pairs across spines lose alike: one that stands out crosses something else. */
static double limit_of(const struct solver *solver, const struct rna_mesh_part *part)
{
	size_t count = 0;

	if (part->kind != RNA_BLAME_SPINE || solver->leaves_known)
		return 1;
	for (uint32_t i = 0; i < solver->mesh->pair_count; i++) {
		const struct rna_mesh_pair *pair = &solver->mesh->pairs[i];

		if (may_explain(solver, part, i) && pair->sign != RNA_PROBE_SILENT &&
		    (part->rail == RNA_PROBE_RAIL_UNKNOWN ||
		     solver->port_rails[pair->from] == part->rail))
			solver->ratios[count++] = pair->ratio;
	}
	return count > 0 ? find_limit(solver->ratios, count, PAIR_SPREADS) : 1;
}

static int put_blame(struct solver *solver, const struct suspect *suspect,
		     const struct evidence *evidence)
{
	struct rna_blame *blame = find_blame(solver->out, &suspect->part);
	double limit;
	size_t count;
	const uint32_t *list = ports_of(solver, &suspect->part, &count);

	if (!blame)
		blame = make_blame(solver, suspect, evidence);
	if (!blame)
		return -ENOMEM;
	limit = limit_of(solver, &suspect->part);
	for (size_t i = 0; i < count; i++)
		explain_port(solver, list[i], evidence->rate, limit, blame);
	for (size_t i = suspect->span; i < suspect->span + suspect->spans; i++)
		if (!solver->explained[solver->spans[i].pair])
			explain_pair(solver, solver->spans[i].pair, blame);
	return 0;
}

/* -- Uplinks behind a spine -------------------------------------------------------------------- */

/* The median share of the pairs that leave the leaf, those with a dead end aside. NAN: too few. */
static double measure_leaf(struct solver *solver, const struct rna_mesh_part *uplink)
{
	const struct index *pairs = &solver->pairs_of;
	size_t ports, count = 0;
	const uint32_t *list = ports_of(solver, uplink, &ports);

	for (size_t p = 0; p < ports; p++)
		for (uint32_t i = pairs->starts[list[p]]; i < pairs->starts[list[p] + 1]; i++) {
			const struct rna_mesh_pair *pair = &solver->mesh->pairs[pairs->list[i]];

			if (may_explain(solver, uplink, pairs->list[i]) &&
			    pair->scope == RNA_PROBE_FABRIC && pair->sign != RNA_PROBE_SILENT)
				solver->ratios[count++] = pair->ratio;
		}
	return count >= ports ? median(solver->ratios, count) : NAN;
}

/* The leaf that stands out most; RNA_MESH_NONE: none does. */
static uint32_t find_excess(struct solver *solver, const struct rna_mesh_part *spine)
{
	double *shares = solver->weights; /* of which there is no more need */
	uint32_t ret = RNA_MESH_NONE;
	double most;
	size_t seen = 0;

	for (uint32_t i = 0; i < solver->mesh->leaf_count; i++) {
		struct rna_mesh_part uplink = make_part(solver, RNA_BLAME_UPLINK, i);
		bool behind =
			spine->rail == RNA_PROBE_RAIL_UNKNOWN || solver->rails[i] == spine->rail;

		shares[i] = behind ? measure_leaf(solver, &uplink) : NAN;
	}
	for (size_t i = 0; i < solver->mesh->leaf_count; i++)
		if (!isnan(shares[i]))
			solver->ratios[seen++] = shares[i];
	most = find_limit(solver->ratios, seen, EXCESS_SPREADS);
	for (uint32_t i = 0; i < solver->mesh->leaf_count; i++)
		if (shares[i] > most) {
			most = shares[i];
			ret = i;
		}
	return ret;
}

/* Behind a spine that loses, a leaf stands out if its uplink loses as well. */
static int blame_excess(struct solver *solver, const struct rna_mesh_part *spine)
{
	int status = 0;
	uint32_t worst;

	while (status == 0 && (worst = find_excess(solver, spine)) != RNA_MESH_NONE) {
		struct suspect uplink = {.part = make_part(solver, RNA_BLAME_UPLINK, worst)};
		struct evidence evidence;

		uplink.gain = weigh_part(solver, &uplink.part, &evidence);
		if (uplink.gain <= 0 || !evidence.nodes)
			break;
		status = put_blame(solver, &uplink, &evidence);
	}
	return status;
}

/* Until none is left, or a spine is blamed, behind which others look new. */
static int blame_suspects(struct solver *solver)
{
	struct evidence evidence;
	const struct suspect *worst;
	bool spine = false;
	int status = infer_leaves(solver);

	if (status == 0)
		status = suspect_all(solver);

	for (size_t i = solver->suspect_count; i-- > 0;)
		sift_down(solver->suspects, solver->suspect_count, i);
	while (status == 0 && !spine && (worst = find_worst(solver, &evidence))) {
		spine = worst->part.kind == RNA_BLAME_SPINE;
		if (spine)
			status = blame_excess(solver, &worst->part);
		if (status == 0)
			status = put_blame(solver, worst, &evidence);
		remove_first(solver);
	}
	return status;
}

static int compare_blames(const void *a, const void *b)
{
	const struct rna_blame *first = a, *second = b;

	if (first->explained != second->explained)
		return first->explained > second->explained ? -1 : 1;
	return compare_parts(&first->part, &second->part);
}

/* -- Leaves that are unknown or wrong ---------------------------------------------------------- */

static bool are_alike(const struct rna_blame *first, const struct rna_blame *second, double factor)
{
	return (first->ratio > NEARLY_ALL) == (second->ratio > NEARLY_ALL) &&
	       first->ratio <= factor * second->ratio && second->ratio <= factor * first->ratio;
}

/* A leaf, or links of one, that was inferred from its ports. */
static bool is_inferred(const struct solver *solver, const struct rna_mesh_part *part)
{
	return (part->kind == RNA_BLAME_LEAF || part->kind == RNA_BLAME_UPLINK) &&
	       is_unknown(solver, part->leaf);
}

/* A path is not a small part, though its kind comes last. What is inferred may be a named leaf's.
 */
static enum rna_blame_kind size_of(const struct solver *solver, const struct rna_mesh_part *part)
{
	if (is_inferred(solver, part))
		return RNA_BLAME_HOST;
	return part->kind == RNA_BLAME_PATH ? RNA_BLAME_UPLINK : part->kind;
}

/* Could the port or host be on the leaf, or behind the spine, if agents say its leaf wrongly? */
static bool may_be_on(const struct solver *solver, const struct rna_blame *small,
		      const struct rna_blame *large)
{
	bool spine = large->part.kind == RNA_BLAME_SPINE;
	bool inferred = is_inferred(solver, &small->part);
	uint32_t rail, own = inferred ? solver->rails[small->part.leaf] : small->part.rail;

	if (size_of(solver, &large->part) >= RNA_BLAME_HOST ||
	    size_of(solver, &large->part) >= size_of(solver, &small->part) || (spine && inferred) ||
	    !are_alike(small, large,
		       small->part.kind == RNA_BLAME_LEAF && !inferred ? ALIKE_LEAF : ALIKE))
		return false;
	rail = spine ? large->part.rail : solver->rails[large->part.leaf];
	return rail >= RNA_PROBE_RAIL_UNKNOWN || own == rail;
}

static uint32_t some_leaf(const struct solver *solver, const struct rna_mesh_part *part)
{
	size_t count;
	const uint32_t *list = ports_of(solver, part, &count);

	return leaf_of(solver, list[0]);
}

static void merge(struct rna_blame *into, const struct rna_blame *blame)
{
	into->explained += blame->explained;
	into->signs |= blame->signs;
}

static bool is_other(const struct rna_blame *blame, const struct rna_mesh_part *part)
{
	for (uint32_t i = 0; i < blame->other_count; i++)
		if (compare_parts(&blame->others[i], part) == 0)
			return true;
	return false;
}

/* Is the verdict one of a larger part, which stands before it? */
static bool is_covered(const struct solver *solver, struct rna_blame *blame, size_t before)
{
	bool unknown = is_unknown(solver, some_leaf(solver, &blame->part));

	for (size_t i = 0; i < before; i++) {
		struct rna_blame *large = &solver->out->list[i];
		bool on = may_be_on(solver, blame, large);

		if (is_other(large, &blame->part) ||
		    (on && (unknown || large->part.kind == RNA_BLAME_SPINE))) {
			merge(large, blame);
			return true;
		}
		if (!on)
			continue;
		add_other(blame, &large->part);
		for (uint32_t k = 0; k < large->other_count; k++)
			add_other(blame, &large->others[k]);
	}
	return false;
}

static void put_at(struct solver *solver, const struct rna_mesh_part *part, uint32_t leaf)
{
	size_t count;
	const uint32_t *list = ports_of(solver, part, &count);

	for (size_t i = 0; i < count; i++)
		solver->leaves[list[i]] = leaf;
}

/* Ports of a rail, or hosts, that are blamed each by itself and lose alike may be at one leaf. */
static bool is_joined(struct solver *solver, const struct rna_blame *blame, size_t before)
{
	uint32_t rail = blame->part.rail;

	if (some_leaf(solver, &blame->part) != RNA_MESH_NONE)
		return false;
	for (size_t i = 0; i < before; i++) {
		struct rna_blame *first = &solver->out->list[i];
		bool leaf = is_inferred(solver, &first->part) &&
			    solver->rails[first->part.leaf] == rail;

		if (!are_alike(first, blame, ALIKE) ||
		    !(leaf || (first->part.kind == blame->part.kind && first->part.rail == rail &&
			       first->part.node != blame->part.node &&
			       some_leaf(solver, &first->part) == RNA_MESH_NONE)))
			continue;
		if (!leaf) {
			uint32_t number = (uint32_t)solver->leaf_count++;

			solver->rails[number] = rail;
			put_at(solver, &first->part, number);
			first->part = make_part(solver, RNA_BLAME_LEAF, number);
			first->other_count = 0;
			add_other(first,
				  &(struct rna_mesh_part){RNA_BLAME_UPLINK, RNA_MESH_NONE,
							  RNA_MESH_NONE, number, RNA_MESH_NONE,
							  RNA_PROBE_RAIL_UNKNOWN});
		}
		put_at(solver, &blame->part, first->part.leaf);
		first->ports += blame->ports;
		first->losing_ports += blame->losing_ports;
		first->losing += blame->losing;
		first->pairs += blame->pairs;
		merge(first, blame);
		return true;
	}
	return false;
}

static int compare_sizes(const void *a, const void *b, void *userdata)
{
	const struct rna_blame *first = a, *second = b;
	enum rna_blame_kind size = size_of(userdata, &first->part);
	enum rna_blame_kind other = size_of(userdata, &second->part);

	if (size != other)
		return size < other ? -1 : 1;
	return compare_blames(a, b);
}

/* Of ports and hosts: what may be a larger part's. */
static void doubt_leaves(struct solver *solver)
{
	struct rna_blames *out = solver->out;
	size_t kept = 0;

	if (out->count > 0)
		qsort_r(out->list, out->count, sizeof(*out->list), compare_sizes, solver);
	for (size_t i = 0; i < out->count; i++) {
		struct rna_blame *blame = &out->list[i];
		bool small =
			is_inferred(solver, &blame->part) || blame->part.kind == RNA_BLAME_LEAF ||
			blame->part.kind == RNA_BLAME_HOST || blame->part.kind == RNA_BLAME_PORT;

		if (small && (is_covered(solver, blame, kept) || is_joined(solver, blame, kept)))
			continue;
		out->list[kept++] = *blame;
	}
	out->count = kept;
}

/* -- What is left ------------------------------------------------------------------------------ */

static int compare_left(const void *a, const void *b, void *userdata)
{
	const struct rna_mesh_pair *pairs = userdata;
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	double loss = loss_of(&pairs[first]), other = loss_of(&pairs[second]);

	if (loss != other)
		return loss > other ? -1 : 1;
	return compare_numbers(&first, &second, 1);
}

static int list_left(struct solver *solver)
{
	const struct rna_mesh *mesh = solver->mesh;
	struct rna_blames *out = solver->out;

	out->left = calloc(mesh->pair_count + 1, sizeof(*out->left));
	if (!out->left)
		return -ENOMEM;
	for (uint32_t i = 0; i < mesh->pair_count; i++)
		if (!solver->explained[i])
			out->left[out->left_count++] = i;
	qsort_r(out->left, out->left_count, sizeof(*out->left), compare_left,
		(void *)(uintptr_t)mesh->pairs);
	return 0;
}

/* -- All --------------------------------------------------------------------------------------- */

/* Of an agent that is not scraped it is that of the ports that probe it. */
static void find_port_rails(struct solver *solver)
{
	const struct rna_mesh *mesh = solver->mesh;

	for (size_t i = 0; i < mesh->port_count; i++)
		solver->port_rails[i] = mesh->ports[i].rail;
	for (size_t i = 0; i < mesh->pair_count; i++) {
		const struct rna_mesh_pair *pair = &mesh->pairs[i];

		if (solver->port_rails[pair->to] == RNA_PROBE_RAIL_UNKNOWN &&
		    pair->scope != RNA_PROBE_HOST)
			solver->port_rails[pair->to] = mesh->ports[pair->from].rail;
	}
}

static int make_indexes(struct solver *solver)
{
	const struct rna_mesh *mesh = solver->mesh;
	const size_t places[INDEXES] = {
		[BY_NODE] = mesh->node_count,
		[BY_LEAF] = mesh->leaf_count + mesh->port_count,
		[BY_RAIL] = RNA_PROBE_RAIL_UNKNOWN,
		[BY_NOTHING] = 1,
	};
	int status = make_index(solver, BY_END, mesh->port_count, &solver->pairs_of);

	find_port_rails(solver);
	for (enum by by = 0; status == 0 && by < INDEXES; by++)
		status = make_index(solver, by, places[by], &solver->ports_of[by]);
	return status;
}

static void *new_array(struct solver *solver, size_t count, size_t size)
{
	void *ret = rna_arena_array(solver->arena, count + 1, size);

	solver->failed |= !ret;
	return ret;
}

static int init_solver(struct solver *solver, const struct rna_mesh *mesh, struct rna_blames *out)
{
	size_t ports = mesh->port_count, pairs = mesh->pair_count;
	size_t leaves = mesh->leaf_count + ports; /* at most */

	*solver = (struct solver){.mesh = mesh,
				  .out = out,
				  .leaf_count = mesh->leaf_count,
				  .arena = rna_arena_new(FIRST_ARENA)};
	out->leaves = calloc(ports + 1, sizeof(*out->leaves));
	solver->leaves = out->leaves;
	if (!solver->arena || !out->leaves)
		return -ENOMEM;
	for (size_t i = 0; i < ports; i++) {
		solver->leaves[i] = mesh->ports[i].leaf;
		solver->leaves_known |= mesh->ports[i].leaf != RNA_MESH_NONE;
	}
	solver->loads = new_array(solver, ports, sizeof(*solver->loads));
	solver->rack = new_array(solver, mesh->node_count, sizeof(*solver->rack));
	solver->explained = new_array(solver, pairs, sizeof(*solver->explained));
	solver->ratios = new_array(solver, 2 * pairs + SIDES * ports + leaves, sizeof(double));
	solver->fabric = new_array(solver, leaves, sizeof(double));
	solver->around = new_array(solver, RNA_PROBE_RAIL_UNKNOWN, sizeof(double));
	solver->bad = new_array(solver, ports, sizeof(*solver->bad));
	solver->fuzzy = new_array(solver, RNA_PROBE_RAIL_UNKNOWN, sizeof(*solver->fuzzy));
	solver->rails = new_array(solver, leaves, sizeof(*solver->rails));
	solver->port_rails = new_array(solver, ports, sizeof(*solver->port_rails));
	solver->spans = new_array(solver, pairs, sizeof(*solver->spans));
	solver->shares = new_array(solver, leaves, sizeof(*solver->shares));
	solver->weights = new_array(solver, leaves, sizeof(double));
	return solver->failed ? -ENOMEM : make_indexes(solver);
}

static void fill_solver(struct solver *solver)
{
	const struct rna_mesh *mesh = solver->mesh;

	look_at_nodes(solver);
	find_rails(solver);
	fill_loads(solver);
	for (uint32_t i = 0; i < mesh->leaf_count; i++) {
		struct rna_mesh_part leaf = make_part(solver, RNA_BLAME_LEAF, i);
		size_t count;
		const uint32_t *list = ports_of(solver, &leaf, &count);

		fill_incoming(solver, list, count, RNA_PROBE_LEAF);
	}
	fill_incoming(solver, solver->ports_of[BY_NOTHING].list, mesh->port_count,
		      RNA_PROBE_FABRIC);
	fill_fabric(solver);
}

int rna_mesh_blame(const struct rna_mesh *mesh, struct rna_blames *ret)
{
	RNA_CLEANUP(deinit_solver) struct solver solver = {0};
	size_t count;
	int status;

	*ret = (struct rna_blames){0};
	status = init_solver(&solver, mesh, ret);
	if (status == 0)
		fill_solver(&solver);
	do {
		count = ret->count;
		if (status == 0)
			status = blame_suspects(&solver);
	} while (status == 0 && ret->count > count);
	if (status == 0)
		doubt_leaves(&solver);
	if (status == 0)
		status = list_left(&solver);
	if (ret->count > 0)
		qsort(ret->list, ret->count, sizeof(*ret->list), compare_blames);
	return status;
}
