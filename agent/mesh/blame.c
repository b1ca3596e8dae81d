// SPDX-License-Identifier: Apache-2.0
/*
 * From the large to the small: a spine, leaves and hosts, uplinks, ports, and paths between two
 * leaves. What a part explains no longer counts for the next, neither as a pair that loses nor as
 * one that crosses. A part that loses one probe in ten does not explain a pair that is silent: so a
 * dead port is seen through a bad spine.
 */
#include "blame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/cleanup.h"

/* The scopes, in short. */
enum {
	LEAF = RNA_PROBE_LEAF,
	FABRIC = RNA_PROBE_FABRIC,
	HOST = RNA_PROBE_HOST,
	SCOPES = RNA_PROBE_SCOPE_COUNT,
	PLACES_MIN = 3,       /* leaves: with two, a spine is a path between them */
	PORTS_FOR_MEDIAN = 8, /* of a leaf: with fewer, chance moves the median */
};

#define EXPLAINED_FACTOR  3.0  /* of the median share of losses */
#define MOST              0.6  /* of the pairs that cross a part */
#define LEAF_SHARE        0.3  /* of the ports of a leaf, as rdma:probe_leaf_suspect has it */
#define HOST_SHARE        0.5  /* of the ports of a node, as rdma:probe_host_suspect has it */
#define UPLINK_EXCESS     1.35 /* of a leaf's losses over those of all leaves, behind a bad spine */
#define UPLINK_EXCESS_FEW 2.0

/* Of a port: what no part explains yet. */
struct load {
	uint32_t total[SCOPES];  /* pairs that it sends to */
	uint32_t lose[SCOPES];   /* of these */
	uint32_t hidden[SCOPES]; /* of lose: those that are not listed */
	bool failing;
};

/* Of a leaf or node. */
struct tally {
	uint32_t ports, failing;
	uint32_t node; /* the first with a failing port */
	bool nodes;    /* there are others */
};

struct solver {
	const struct rna_mesh *mesh;
	struct load *loads;
	uint32_t *starts; /* of each port in links */
	uint32_t *links;  /* pairs of each port, at either end */
	bool *explained;  /* pairs */
	double *ratios;   /* for medians */
	struct tally *leaves, *nodes;
	struct rna_blames *out;
};

static const char *const kind_names[RNA_BLAME_KIND_COUNT] = {
	[RNA_BLAME_SPINE] = "spine", [RNA_BLAME_LEAF] = "leaf", [RNA_BLAME_UPLINK] = "uplink",
	[RNA_BLAME_HOST] = "host",   [RNA_BLAME_PORT] = "port", [RNA_BLAME_PATH] = "path",
};

const char *rna_blame_kind_name(enum rna_blame_kind kind)
{
	return kind_names[kind];
}

void rna_blames_deinit(struct rna_blames *blames)
{
	free(blames->list);
	free(blames->left);
	*blames = (struct rna_blames){0};
}

static void deinit_solver(struct solver *solver)
{
	free(solver->loads);
	free(solver->starts);
	free(solver->links);
	free(solver->explained);
	free(solver->ratios);
	free(solver->leaves);
	free(solver->nodes);
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

/* The ratio is of ten minutes: a silence may be younger. */
static double loss_of(const struct rna_mesh_pair *pair)
{
	return pair->sign == RNA_PROBE_SILENT ? 1 : pair->ratio;
}

static uint32_t leaf_of(const struct solver *solver, uint32_t port)
{
	return solver->mesh->ports[port].leaf;
}

/* Does the pair leave its leaf? */
static bool crosses_fabric(const struct solver *solver, const struct rna_mesh_pair *pair)
{
	uint32_t from = leaf_of(solver, pair->from), to = leaf_of(solver, pair->to);

	if (pair->scope == RNA_PROBE_HOST)
		return from != to && from != RNA_MESH_NONE && to != RNA_MESH_NONE;
	return pair->scope == RNA_PROBE_FABRIC;
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
	static const int order[SCOPES] = {FABRIC, HOST, LEAF};
	uint32_t listed = load->lose[HOST] + load->lose[LEAF] + load->lose[FABRIC];
	uint32_t hidden = port->losing > listed ? port->losing - listed : 0;

	for (int i = 0; i < SCOPES; i++) {
		int scope = order[i];
		uint32_t room = load->total[scope] - load->lose[scope];
		uint32_t count = hidden < room ? hidden : room;

		load->hidden[scope] = count;
		load->lose[scope] += count;
		hidden -= count;
	}
}

static void count_listed(struct solver *solver)
{
	for (size_t i = 0; i < solver->mesh->pair_count; i++) {
		const struct rna_mesh_pair *pair = &solver->mesh->pairs[i];

		solver->loads[pair->from].lose[pair->scope]++;
	}
}

/* Ports whose scopes are unknown have those of the others on their leaf, or of all. */
static void fill_loads(struct solver *solver, double (*shares)[SCOPES], double *weights)
{
	const struct rna_mesh *mesh = solver->mesh;
	size_t all = mesh->leaf_count;

	for (size_t i = 0; i < mesh->port_count; i++) {
		uint32_t leaf = mesh->ports[i].leaf;

		weights[all] += add_shares(&mesh->ports[i], shares[all]);
		if (leaf != RNA_MESH_NONE)
			weights[leaf] += add_shares(&mesh->ports[i], shares[leaf]);
	}
	for (size_t i = 0; i < mesh->port_count; i++) {
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

static void link_pairs(struct solver *solver)
{
	const struct rna_mesh *mesh = solver->mesh;
	uint32_t *starts = solver->starts;

	for (size_t i = 0; i < mesh->pair_count; i++) {
		starts[mesh->pairs[i].from + 1]++;
		starts[mesh->pairs[i].to + 1]++;
	}
	for (size_t i = 0; i < mesh->port_count; i++)
		starts[i + 1] += starts[i];
	for (size_t i = mesh->pair_count; i-- > 0;) {
		solver->links[--starts[mesh->pairs[i].from + 1]] = (uint32_t)i;
		solver->links[--starts[mesh->pairs[i].to + 1]] = (uint32_t)i;
	}
	/* each start has moved to that of the port before it */
	memmove(starts, starts + 1, mesh->port_count * sizeof(*starts));
	starts[mesh->port_count] = (uint32_t)(2 * mesh->pair_count);
}

static int init_solver(struct solver *solver, const struct rna_mesh *mesh, struct rna_blames *out)
{
	size_t ports = mesh->port_count, pairs = mesh->pair_count;
	RNA_FREE double(*shares)[SCOPES] = calloc(mesh->leaf_count + 1, sizeof(*shares));
	RNA_FREE double *weights = calloc(mesh->leaf_count + 1, sizeof(*weights));

	*solver = (struct solver){
		.mesh = mesh,
		.loads = calloc(ports + 1, sizeof(*solver->loads)),
		.starts = calloc(ports + 2, sizeof(*solver->starts)),
		.links = calloc(2 * pairs + 1, sizeof(*solver->links)),
		.explained = calloc(pairs + 1, sizeof(*solver->explained)),
		.ratios = calloc(2 * pairs + ports + mesh->leaf_count + 1, sizeof(double)),
		.leaves = calloc(mesh->leaf_count + 1, sizeof(*solver->leaves)),
		.nodes = calloc(mesh->node_count + 1, sizeof(*solver->nodes)),
		.out = out,
	};
	if (!shares || !weights || !solver->loads || !solver->starts || !solver->links ||
	    !solver->explained || !solver->ratios || !solver->leaves || !solver->nodes)
		return -ENOMEM;
	count_listed(solver);
	fill_loads(solver, shares, weights);
	link_pairs(solver);
	return 0;
}

/* -- A part and what it explains --------------------------------------------------------------- */

bool rna_blame_has_port(const struct rna_blame *blame, const struct rna_mesh *mesh, uint32_t port)
{
	const struct rna_mesh_port *own = &mesh->ports[port];

	switch (blame->kind) {
	case RNA_BLAME_SPINE:
		return blame->rail == RNA_PROBE_RAIL_UNKNOWN || own->rail == blame->rail;
	case RNA_BLAME_LEAF:
	case RNA_BLAME_UPLINK:
		return own->leaf == blame->leaf;
	case RNA_BLAME_HOST:
		return own->node == blame->node;
	default:
		return port == blame->port;
	}
}

static bool only_fabric(const struct rna_blame *blame)
{
	return blame->kind == RNA_BLAME_SPINE || blame->kind == RNA_BLAME_UPLINK;
}

static void explain_pair(struct solver *solver, uint32_t number, struct rna_blame *blame)
{
	const struct rna_mesh_pair *pair = &solver->mesh->pairs[number];
	struct load *load = &solver->loads[pair->from];

	solver->explained[number] = true;
	load->lose[pair->scope]--;
	load->total[pair->scope]--;
	blame->explained++;
	blame->signs |= pair->sign;
}

static void explain_hidden(struct solver *solver, uint32_t port, struct rna_blame *blame)
{
	struct load *load = &solver->loads[port];

	for (int i = 0; i < SCOPES; i++) {
		if (i != FABRIC && only_fabric(blame))
			continue;
		load->lose[i] -= load->hidden[i];
		load->total[i] -= load->hidden[i];
		blame->explained += load->hidden[i];
		load->hidden[i] = 0;
	}
}

/* Pairs that the part may explain, at each port of it. */
static bool may_explain(const struct solver *solver, const struct rna_blame *blame, uint32_t pair)
{
	return !solver->explained[pair] &&
	       (!only_fabric(blame) || crosses_fabric(solver, &solver->mesh->pairs[pair]));
}

static void count_port(const struct load *load, struct rna_blame *blame)
{
	uint32_t losing = 0;

	blame->ports++;
	for (int i = 0; i < SCOPES; i++) {
		if (i != FABRIC && only_fabric(blame))
			continue;
		losing += load->lose[i];
		blame->pairs += load->total[i];
	}
	blame->losing += losing;
	blame->losing_ports += only_fabric(blame) ? losing > 0 : load->failing;
}

/* What ports say of their probes, if no pair is listed. */
static double counted_loss(const struct solver *solver, const struct rna_blame *blame,
			   uint32_t first, uint32_t last)
{
	double sent = 0, lost = 0;

	for (uint32_t i = first; i < last; i++)
		for (int s = 0; s < SCOPES && rna_blame_has_port(blame, solver->mesh, i); s++) {
			sent += solver->mesh->ports[i].sent[s];
			lost += solver->mesh->ports[i].lost[s];
		}
	return sent > 0 ? fmin(lost / sent, 1) : 1; /* each is extrapolated by itself */
}

/* first to last: the ports to look at; a part has no others. */
static void measure(struct solver *solver, struct rna_blame *blame, uint32_t first, uint32_t last)
{
	size_t count = 0;

	for (uint32_t port = first; port < last; port++) {
		if (!rna_blame_has_port(blame, solver->mesh, port))
			continue;
		count_port(&solver->loads[port], blame);
		for (uint32_t i = solver->starts[port]; i < solver->starts[port + 1]; i++)
			if (may_explain(solver, blame, solver->links[i]))
				solver->ratios[count++] =
					loss_of(&solver->mesh->pairs[solver->links[i]]);
	}
	blame->ratio = median(solver->ratios, count);
	if (count == 0)
		blame->ratio = counted_loss(solver, blame, first, last);
}

static void explain(struct solver *solver, struct rna_blame *blame, uint32_t first, uint32_t last)
{
	for (uint32_t port = first; port < last; port++) {
		if (!rna_blame_has_port(blame, solver->mesh, port))
			continue;
		for (uint32_t i = solver->starts[port]; i < solver->starts[port + 1]; i++) {
			uint32_t pair = solver->links[i];

			if (may_explain(solver, blame, pair) &&
			    loss_of(&solver->mesh->pairs[pair]) <= EXPLAINED_FACTOR * blame->ratio)
				explain_pair(solver, pair, blame);
		}
		explain_hidden(solver, port, blame);
	}
}

static int add_blame(struct rna_blames *out, const struct rna_blame *blame)
{
	struct rna_blame *added = RNA_GROW(out->list, out->count, NULL);

	if (!added)
		return -ENOMEM;
	*added = *blame;
	out->count++;
	return 0;
}

static const struct rna_blame nothing = {
	.node = RNA_MESH_NONE,
	.port = RNA_MESH_NONE,
	.leaf = RNA_MESH_NONE,
	.other_leaf = RNA_MESH_NONE,
	.rail = RNA_PROBE_RAIL_UNKNOWN,
};

/* Measures the part, takes what it explains off the loads, and adds it to the verdicts. */
static int put_blame(struct solver *solver, struct rna_blame blame)
{
	uint32_t first = blame.kind == RNA_BLAME_PORT ? blame.port : 0;
	uint32_t last =
		blame.kind == RNA_BLAME_PORT ? blame.port + 1 : (uint32_t)solver->mesh->port_count;

	measure(solver, &blame, first, last);
	explain(solver, &blame, first, last);
	return add_blame(solver->out, &blame);
}

/* -- A spine, and uplinks ---------------------------------------------------------------------- */

/* Of a leaf, or of all leaves of a rail: pairs by scope. */
struct crossing {
	uint32_t total[SCOPES], lose[SCOPES];
	uint32_t ports;     /* that lose beyond the leaf */
	uint32_t node, far; /* the first node, and the first leaf at the other end */
	bool nodes, fars;   /* there are others */
	double ratio;       /* the median of its ports, beyond the leaf */
};

static void note(uint32_t value, uint32_t *first, bool *others)
{
	if (*first == RNA_MESH_NONE)
		*first = value;
	else if (*first != value)
		*others = true;
}

static void note_fars(const struct solver *solver, uint32_t port, struct crossing *crossing)
{
	for (uint32_t i = solver->starts[port]; i < solver->starts[port + 1]; i++) {
		const struct rna_mesh_pair *pair = &solver->mesh->pairs[solver->links[i]];
		uint32_t other = pair->from == port ? pair->to : pair->from;

		if (!solver->explained[solver->links[i]] && crosses_fabric(solver, pair))
			note(leaf_of(solver, other), &crossing->far, &crossing->fars);
	}
}

static void add_crossing(const struct solver *solver, uint32_t port, const struct load *load,
			 struct crossing *leaf)
{
	for (int i = 0; i < SCOPES; i++) {
		leaf->total[i] += load->total[i];
		leaf->lose[i] += load->lose[i];
	}
	if (load->lose[FABRIC] == 0)
		return;
	leaf->ports++;
	note(solver->mesh->ports[port].node, &leaf->node, &leaf->nodes);
	note_fars(solver, port, leaf);
}

static struct crossing *make_crossings(const struct solver *solver)
{
	const struct rna_mesh *mesh = solver->mesh;
	struct crossing *leaves = calloc(mesh->leaf_count + 1, sizeof(*leaves));

	for (size_t i = 0; leaves && i < mesh->leaf_count; i++)
		leaves[i].node = leaves[i].far = RNA_MESH_NONE;
	for (uint32_t i = 0; leaves && i < mesh->port_count; i++) {
		const struct load *load = &solver->loads[i];

		if (leaf_of(solver, i) != RNA_MESH_NONE)
			add_crossing(solver, i, load, &leaves[leaf_of(solver, i)]);
	}
	return leaves;
}

/* What crosses the fabric loses, and what stays on the leaf arrives. */
static bool loses_beyond(const struct crossing *leaf)
{
	return leaf->ports > 0 && leaf->lose[FABRIC] >= MOST * leaf->total[FABRIC] &&
	       2 * leaf->lose[LEAF] <= leaf->total[LEAF];
}

static bool is_uplink(const struct crossing *leaf)
{
	return loses_beyond(leaf) && leaf->nodes && leaf->fars;
}

/* Each leaf is of the rail of its ports; RNA_PROBE_RAIL_UNKNOWN: of several. */
static uint32_t *find_rails(const struct rna_mesh *mesh)
{
	uint32_t *rails = malloc((mesh->leaf_count + 1) * sizeof(*rails));

	for (size_t i = 0; rails && i < mesh->leaf_count; i++)
		rails[i] = RNA_MESH_NONE;
	for (size_t i = 0; rails && i < mesh->port_count; i++) {
		uint32_t leaf = mesh->ports[i].leaf, rail = mesh->ports[i].rail;

		if (leaf != RNA_MESH_NONE)
			rails[leaf] = rails[leaf] == RNA_MESH_NONE || rails[leaf] == rail
					      ? rail
					      : RNA_PROBE_RAIL_UNKNOWN;
	}
	return rails;
}

/* Is a pair of the port silent? Then it says nothing about a share of its paths. */
static bool has_silence(const struct solver *solver, uint32_t port)
{
	for (uint32_t i = solver->starts[port]; i < solver->starts[port + 1]; i++)
		if (solver->mesh->pairs[solver->links[i]].sign == RNA_PROBE_SILENT)
			return true;
	return false;
}

static bool is_of_rail(uint32_t rail, uint32_t wanted)
{
	return wanted == RNA_PROBE_RAIL_UNKNOWN || rail == wanted;
}

/* Without leaves each port stands for itself. A spine is one of several paths: none is silent. */
static void count_ports(const struct solver *solver, uint32_t rail, size_t *seen, size_t *losing)
{
	for (uint32_t i = 0; i < solver->mesh->port_count; i++) {
		const struct load *load = &solver->loads[i];

		if (leaf_of(solver, i) != RNA_MESH_NONE || load->total[FABRIC] == 0 ||
		    !is_of_rail(solver->mesh->ports[i].rail, rail))
			continue;
		*seen += 1;
		*losing +=
			load->lose[FABRIC] >= MOST * load->total[FABRIC] && !has_silence(solver, i);
	}
}

/* Do most leaves lose what crosses the fabric? rail: RNA_PROBE_RAIL_UNKNOWN: of all rails. */
static bool is_spine(const struct solver *solver, const struct crossing *leaves,
		     const uint32_t *rails, uint32_t rail)
{
	size_t seen = 0, losing = 0;

	for (size_t i = 0; i < solver->mesh->leaf_count; i++) {
		if (leaves[i].total[FABRIC] == 0 || !is_of_rail(rails[i], rail))
			continue;
		seen++;
		losing += loses_beyond(&leaves[i]);
	}
	count_ports(solver, rail, &seen, &losing);
	return seen >= PLACES_MIN && (double)losing >= MOST * (double)seen;
}

/* The median of its ports, those with a dead end aside. */
static double port_median(struct solver *solver, uint32_t leaf)
{
	const struct rna_mesh *mesh = solver->mesh;
	size_t count = 0;

	for (uint32_t i = 0; i < mesh->port_count; i++)
		if (mesh->ports[i].leaf == leaf && mesh->ports[i].sent[FABRIC] > 0 &&
		    !has_silence(solver, i))
			solver->ratios[count++] =
				mesh->ports[i].lost[FABRIC] / mesh->ports[i].sent[FABRIC];
	return median(solver->ratios, count);
}

static double excess_of(const struct crossing *leaf)
{
	return leaf->ports < PORTS_FOR_MEDIAN ? UPLINK_EXCESS_FEW : UPLINK_EXCESS;
}

/* Behind a spine that loses, a leaf whose uplink loses as well stands out by its share. */
static int blame_excess(struct solver *solver, const struct crossing *leaves, const uint32_t *rails,
			uint32_t rail)
{
	size_t leaf_count = solver->mesh->leaf_count, seen = 0;
	RNA_FREE double *shares = calloc(leaf_count + 1, sizeof(*shares));
	RNA_FREE double *sorted = calloc(leaf_count + 1, sizeof(*sorted));
	int status = shares && sorted ? 0 : -ENOMEM;
	double usual;

	for (uint32_t i = 0; status == 0 && i < leaf_count; i++) {
		shares[i] = is_of_rail(rails[i], rail) && loses_beyond(&leaves[i])
				    ? port_median(solver, i)
				    : NAN;
		if (!isnan(shares[i]))
			sorted[seen++] = shares[i];
	}
	if (status < 0)
		return status;
	usual = median(sorted, seen);
	for (uint32_t i = 0; status == 0 && i < leaf_count; i++) {
		struct rna_blame blame = nothing;

		if (!(shares[i] > excess_of(&leaves[i]) * usual))
			continue; /* or unknown */
		blame.kind = RNA_BLAME_UPLINK;
		blame.leaf = i;
		status = put_blame(solver, blame);
	}
	return status;
}

static int blame_spine(struct solver *solver, uint32_t rail, bool *ret_found)
{
	RNA_FREE struct crossing *leaves = make_crossings(solver);
	RNA_FREE uint32_t *rails = find_rails(solver->mesh);
	struct rna_blame blame = nothing;
	int status;

	if (!leaves || !rails)
		return -ENOMEM;
	*ret_found = is_spine(solver, leaves, rails, rail);
	if (!*ret_found)
		return 0;
	blame.kind = RNA_BLAME_SPINE;
	blame.rail = rail;
	status = blame_excess(solver, leaves, rails, rail);
	return status < 0 ? status : put_blame(solver, blame);
}

static int blame_spines(struct solver *solver)
{
	bool found;
	int status = blame_spine(solver, RNA_PROBE_RAIL_UNKNOWN, &found);
	uint32_t last = 0;

	for (size_t i = 0; i < solver->mesh->port_count; i++)
		if (solver->mesh->ports[i].rail != RNA_PROBE_RAIL_UNKNOWN &&
		    solver->mesh->ports[i].rail >= last)
			last = solver->mesh->ports[i].rail + 1;
	for (uint32_t rail = 0; status == 0 && !found && rail < last; rail++) {
		bool own;

		status = blame_spine(solver, rail, &own);
	}
	return status;
}

static int blame_uplinks(struct solver *solver)
{
	int status = 0;

	for (bool more = true; more && status == 0;) {
		RNA_FREE struct crossing *leaves = make_crossings(solver);
		struct rna_blame blame = nothing;
		uint32_t best = 0;

		if (!leaves)
			return -ENOMEM;
		for (uint32_t i = 0; i < solver->mesh->leaf_count; i++)
			if (is_uplink(&leaves[i]) && leaves[i].lose[FABRIC] > best) {
				best = leaves[i].lose[FABRIC];
				blame.leaf = i;
			}
		more = best > 0;
		blame.kind = RNA_BLAME_UPLINK;
		if (more)
			status = put_blame(solver, blame);
	}
	return status;
}

/* -- Leaves, hosts and ports ------------------------------------------------------------------- */

/* Do pairs of two other nodes at least lose that lead to it? */
static bool is_lost_by_others(const struct solver *solver, uint32_t port)
{
	uint32_t first = RNA_MESH_NONE;
	bool others = false;

	for (uint32_t i = solver->starts[port]; i < solver->starts[port + 1]; i++) {
		const struct rna_mesh_pair *pair = &solver->mesh->pairs[solver->links[i]];

		if (pair->to == port && !solver->explained[solver->links[i]])
			note(solver->mesh->ports[pair->from].node, &first, &others);
	}
	return others;
}

/*
 * Most of its pairs lose, on its leaf as well, as rdma:probe_port_suspect has it. A port that has
 * no results of its own is judged by those of others: its agent may not be scraped.
 */
static bool is_failing(const struct solver *solver, uint32_t port)
{
	const struct load *load = &solver->loads[port];
	const struct rna_mesh_port *own = &solver->mesh->ports[port];
	uint32_t total = 0, lose = 0;

	if (own->losing + own->answering == 0)
		return is_lost_by_others(solver, port);
	for (int i = 0; i < SCOPES; i++) {
		total += load->total[i];
		lose += load->lose[i];
	}
	return lose >= 2 && 2 * lose > total && 2 * load->lose[LEAF] >= load->total[LEAF];
}

/* Of a port without pairs nothing can be said. */
static bool is_known(const struct solver *solver, uint32_t port)
{
	const struct rna_mesh_port *own = &solver->mesh->ports[port];

	return own->losing + own->answering > 0 || solver->starts[port] < solver->starts[port + 1];
}

static void add_to_tally(const struct rna_mesh_port *port, bool failing, struct tally *tally)
{
	tally->ports++;
	if (!failing)
		return;
	if (tally->failing++ == 0)
		tally->node = port->node;
	tally->nodes |= tally->node != port->node;
}

static void tally_up(struct solver *solver)
{
	const struct rna_mesh *mesh = solver->mesh;

	memset(solver->leaves, 0, mesh->leaf_count * sizeof(*solver->leaves));
	memset(solver->nodes, 0, mesh->node_count * sizeof(*solver->nodes));
	for (uint32_t i = 0; i < mesh->port_count; i++) {
		bool failing = is_failing(solver, i);

		if (!is_known(solver, i))
			continue;
		solver->loads[i].failing = failing;
		add_to_tally(&mesh->ports[i], failing, &solver->nodes[mesh->ports[i].node]);
		if (mesh->ports[i].leaf != RNA_MESH_NONE)
			add_to_tally(&mesh->ports[i], failing,
				     &solver->leaves[mesh->ports[i].leaf]);
	}
}

/* Ports that fail, less the more of the others are well. */
static double weigh(const struct tally *tally)
{
	return (double)tally->failing * tally->failing / tally->ports;
}

/* The leaf or host that explains most failing ports. False: none does. */
static bool find_heaviest(const struct solver *solver, struct rna_blame *ret)
{
	double best = 0;

	*ret = nothing;
	for (uint32_t i = 0; i < solver->mesh->node_count; i++) {
		const struct tally *node = &solver->nodes[i];

		if (node->failing >= 2 && node->failing >= HOST_SHARE * node->ports &&
		    weigh(node) > best) {
			best = weigh(node);
			ret->kind = RNA_BLAME_HOST;
			ret->node = i;
		}
	}
	for (uint32_t i = 0; i < solver->mesh->leaf_count; i++) {
		const struct tally *leaf = &solver->leaves[i];

		if (leaf->nodes && leaf->failing >= LEAF_SHARE * leaf->ports &&
		    weigh(leaf) > best) {
			best = weigh(leaf);
			ret->kind = RNA_BLAME_LEAF;
			ret->node = RNA_MESH_NONE;
			ret->leaf = i;
		}
	}
	return best > 0;
}

static int blame_switches_and_hosts(struct solver *solver)
{
	struct rna_blame blame;
	int status = 0;

	for (tally_up(solver); status == 0 && find_heaviest(solver, &blame); tally_up(solver))
		status = put_blame(solver, blame);
	return status;
}

struct weight {
	uint32_t port, links;
};

static int compare_weights(const void *a, const void *b)
{
	const struct weight *first = a, *second = b;

	if (first->links != second->links)
		return first->links > second->links ? -1 : 1;
	return first->port < second->port ? -1 : first->port > second->port;
}

/* The one with most pairs first; whether the next still fails is looked at when its turn comes. */
static int blame_ports(struct solver *solver)
{
	const struct rna_mesh *mesh = solver->mesh;
	RNA_FREE struct weight *weights = calloc(mesh->port_count + 1, sizeof(*weights));
	size_t count = 0;
	int status = weights ? 0 : -ENOMEM;

	for (uint32_t i = 0; status == 0 && i < mesh->port_count; i++)
		if (is_failing(solver, i))
			weights[count++] =
				(struct weight){i, solver->starts[i + 1] - solver->starts[i]};
	if (count > 0)
		qsort(weights, count, sizeof(*weights), compare_weights);
	for (size_t i = 0; status == 0 && i < count; i++) {
		uint32_t port = weights[i].port;
		struct rna_blame blame = nothing;

		if (!is_failing(solver, port))
			continue;
		solver->loads[port].failing = true;
		blame.kind = RNA_BLAME_PORT;
		blame.port = port;
		blame.node = mesh->ports[port].node;
		blame.leaf = mesh->ports[port].leaf;
		blame.rail = mesh->ports[port].rail;
		status = put_blame(solver, blame);
	}
	return status;
}

/* -- Paths, and what is left ------------------------------------------------------------------- */

/* A pair between two leaves, the lower one first. */
struct span {
	uint32_t low, high;           /* leaves */
	uint32_t low_port, high_port; /* at them */
	uint32_t pair;
};

static int compare_spans(const void *a, const void *b)
{
	const struct span *first = a, *second = b;

	if (first->low != second->low)
		return first->low < second->low ? -1 : 1;
	if (first->high != second->high)
		return first->high < second->high ? -1 : 1;
	return first->pair < second->pair ? -1 : first->pair > second->pair;
}

static size_t list_spans(const struct solver *solver, struct span *ret)
{
	size_t count = 0;

	for (uint32_t i = 0; i < solver->mesh->pair_count; i++) {
		const struct rna_mesh_pair *pair = &solver->mesh->pairs[i];
		struct span span = {leaf_of(solver, pair->from), leaf_of(solver, pair->to),
				    pair->from, pair->to, i};

		if (solver->explained[i] || span.low == span.high || span.low == RNA_MESH_NONE ||
		    span.high == RNA_MESH_NONE)
			continue;
		if (span.low > span.high)
			span = (struct span){span.high, span.low, span.high_port, span.low_port, i};
		ret[count++] = span;
	}
	if (count > 0)
		qsort(ret, count, sizeof(*ret), compare_spans);
	return count;
}

/* At least two ports at either end: otherwise it may be the one that they share. */
static int blame_path(struct solver *solver, const struct span *spans, size_t count)
{
	struct rna_blame blame = nothing;
	uint32_t low = RNA_MESH_NONE, high = RNA_MESH_NONE;
	bool lows = false, highs = false;

	for (size_t i = 0; i < count; i++) {
		note(spans[i].low_port, &low, &lows);
		note(spans[i].high_port, &high, &highs);
		solver->ratios[i] = loss_of(&solver->mesh->pairs[spans[i].pair]);
	}
	if (!lows || !highs)
		return 0;
	blame.kind = RNA_BLAME_PATH;
	blame.leaf = spans[0].low;
	blame.other_leaf = spans[0].high;
	blame.ratio = median(solver->ratios, count);
	for (size_t i = 0; i < count; i++)
		explain_pair(solver, spans[i].pair, &blame);
	return add_blame(solver->out, &blame);
}

static int blame_paths(struct solver *solver)
{
	RNA_FREE struct span *spans = calloc(solver->mesh->pair_count + 1, sizeof(*spans));
	size_t count = spans ? list_spans(solver, spans) : 0;
	int status = spans ? 0 : -ENOMEM;

	for (size_t i = 0, end; status == 0 && i < count; i = end) {
		for (end = i; end < count && spans[end].low == spans[i].low &&
			      spans[end].high == spans[i].high;)
			end++;
		status = blame_path(solver, &spans[i], end - i);
	}
	return status;
}

struct left {
	double loss;
	uint32_t pair;
};

static int compare_left(const void *a, const void *b)
{
	const struct left *first = a, *second = b;

	if (first->loss != second->loss)
		return first->loss > second->loss ? -1 : 1;
	return first->pair < second->pair ? -1 : first->pair > second->pair;
}

static int list_left(struct solver *solver)
{
	const struct rna_mesh *mesh = solver->mesh;
	struct rna_blames *out = solver->out;
	RNA_FREE struct left *list = calloc(mesh->pair_count + 1, sizeof(*list));

	out->left = calloc(mesh->pair_count + 1, sizeof(*out->left));
	if (!list || !out->left)
		return -ENOMEM;
	for (uint32_t i = 0; i < mesh->pair_count; i++)
		if (!solver->explained[i])
			list[out->left_count++] = (struct left){loss_of(&mesh->pairs[i]), i};
	qsort(list, out->left_count, sizeof(*list), compare_left);
	for (size_t i = 0; i < out->left_count; i++)
		out->left[i] = list[i].pair;
	return 0;
}

static int compare_blames(const void *a, const void *b)
{
	const struct rna_blame *first = a, *second = b;

	if (first->explained != second->explained)
		return first->explained > second->explained ? -1 : 1;
	if (first->kind != second->kind)
		return first->kind < second->kind ? -1 : 1;
	if (first->leaf != second->leaf)
		return first->leaf < second->leaf ? -1 : 1;
	return first->port < second->port ? -1 : first->port > second->port;
}

int rna_mesh_blame(const struct rna_mesh *mesh, struct rna_blames *ret)
{
	RNA_CLEANUP(deinit_solver) struct solver solver = {0};
	int status;

	*ret = (struct rna_blames){0};
	status = init_solver(&solver, mesh, ret);
	if (status == 0)
		status = blame_spines(&solver);
	if (status == 0)
		status = blame_switches_and_hosts(&solver);
	if (status == 0)
		status = blame_uplinks(&solver);
	if (status == 0)
		status = blame_ports(&solver);
	if (status == 0)
		status = blame_paths(&solver);
	if (status == 0)
		status = list_left(&solver);
	if (ret->count > 0)
		qsort(ret->list, ret->count, sizeof(*ret->list), compare_blames);
	return status;
}
