// SPDX-License-Identifier: Apache-2.0
/*
 * agent/mesh, blame: verdicts on hand-made meshes, and on a simulated fabric of 1,024 nodes with 8
 * ports each, 256 leaves and 16 spines. The real neighbours.c chooses who probes whom, the real
 * rna_loss_is_real() says which pairs lose, and the solver sees what agents would export: counts of
 * each port, and the 12 worst pairs of each node.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "mesh/blame.h"
#include "mesh/neighbours.h"
#include "probe/verdicts.h"

enum {
	NODES = 1024,
	RAILS = 8,
	PORTS = NODES * RAILS,
	PER_LEAF = 32, /* ports */
	LEAVES = PORTS / PER_LEAF,
	SPINES = 16,
	LABELS = 128,  /* source ports of a pair */
	PROBES = 1200, /* of a pair in ten minutes, two a second */
	LISTED = 12,   /* pairs of a node that have a series */
	PAIRS_MAX = PORTS * (6 + RAILS),
	FAULTS_MAX = 3,
	PER_CENT = 100,
};

/* -- Chance, the same in each run -------------------------------------------------------------- */

static uint64_t seed;

static uint64_t mix(uint64_t number)
{
	number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
	number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
	return number ^ (number >> 31);
}

static uint64_t draw(void)
{
	seed += 0x9e3779b97f4a7c15;
	return mix(seed);
}

static uint32_t draw_below(uint32_t limit)
{
	return (uint32_t)(draw() % limit);
}

static double draw_share(void)
{
	return (double)(draw() >> 11) * 0x1p-53;
}

/* How many of count are lost, each with that probability: by the distances between losses. */
static unsigned draw_lost(unsigned count, double probability)
{
	unsigned lost = 0;
	double at = 0;

	if (probability >= 1)
		return count;
	if (probability <= 0)
		return 0;
	for (;;) {
		at += floor(log(1 - draw_share()) / log1p(-probability)) + 1;
		if (at > count)
			return lost;
		lost++;
	}
}

/* -- The fabric -------------------------------------------------------------------------------- */

enum layout {
	RAIL, /* a leaf has one port of each of 32 nodes */
	RACK, /* a leaf has all ports of four nodes */
	LAYOUTS,
};

struct probed {
	uint32_t from, to;
	enum rna_probe_scope scope;
};

static struct rna_mesh_port ports[PORTS];
static struct probed probed[PAIRS_MAX];
static size_t probed_count;

static uint32_t leaf_at(enum layout layout, uint32_t node, uint32_t rail)
{
	return layout == RAIL ? node / PER_LEAF * RAILS + rail : node / (PER_LEAF / RAILS);
}

static void add_probed(uint32_t from, uint32_t to, enum rna_probe_scope scope)
{
	probed[probed_count++] = (struct probed){from, to, scope};
}

static void add_neighbours(const struct rna_members *members, uint32_t node)
{
	struct rna_neighbours near;

	assert_int_equal(rna_neighbours_choose(members, members->members[node].name,
					       members->members[node].leaf, 3, &near),
			 0);
	for (size_t i = 0; i < near.count; i++)
		for (uint32_t rail = 0; rail < RAILS; rail++)
			add_probed(node * RAILS + rail, (uint32_t)near.members[i] * RAILS + rail,
				   i < near.on_leaf ? RNA_PROBE_LEAF : RNA_PROBE_FABRIC);
}

static void make_fabric(enum layout layout, bool host_mesh)
{
	static struct rna_member list[NODES];
	static char names[NODES][16], leaves[NODES][16];
	const struct rna_members members = {NODES, list};

	probed_count = 0;
	for (uint32_t i = 0; i < NODES; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "node%04u", i);
		(void)snprintf(leaves[i], sizeof(leaves[i]), "leaf%u", leaf_at(layout, i, 0));
		list[i] = (struct rna_member){.name = names[i], .address = "", .leaf = leaves[i]};
		for (uint32_t rail = 0; rail < RAILS; rail++)
			ports[i * RAILS + rail] =
				(struct rna_mesh_port){.node = i,
						       .leaf = leaf_at(layout, i, rail),
						       .rail = rail};
	}
	for (uint32_t i = 0; i < NODES; i++) {
		add_neighbours(&members, i);
		for (uint32_t own = 0; host_mesh && own < RAILS; own++)
			for (uint32_t other = 0; other < RAILS; other++)
				if (own != other)
					add_probed(i * RAILS + own, i * RAILS + other,
						   RNA_PROBE_HOST);
	}
}

/* -- Faults ------------------------------------------------------------------------------------ */

enum fault_kind {
	PORT_DEAD,
	PORT_LOSSY,
	PORT_ONE_WAY,
	PORT_LOSSY_ONE_WAY,
	HOST_DEAD,
	LEAF_DEAD,
	LEAF_LOSSY,
	LINK_DEAD,
	LINK_ONE_WAY,
	LINK_LOSSY,
	SPINE_DEAD,
	SPINE_LOSSY,
	FAULT_KINDS,
};

static const struct {
	const char *name;
	enum rna_blame_kind kind;
	double out, in; /* loss to the spines, and from them */
} faults[FAULT_KINDS] = {
	[PORT_DEAD] = {"port dead", RNA_BLAME_PORT, 1, 1},
	[PORT_LOSSY] = {"port 1 %", RNA_BLAME_PORT, 0.01, 0.01},
	[PORT_ONE_WAY] = {"port dead one way", RNA_BLAME_PORT, 1, 0},
	[PORT_LOSSY_ONE_WAY] = {"port 1 % one way", RNA_BLAME_PORT, 0, 0.01},
	[HOST_DEAD] = {"host, all ports", RNA_BLAME_HOST, 1, 1},
	[LEAF_DEAD] = {"leaf dead", RNA_BLAME_LEAF, 1, 1},
	[LEAF_LOSSY] = {"leaf 1 %", RNA_BLAME_LEAF, 0.01, 0.01},
	[LINK_DEAD] = {"link dead", RNA_BLAME_UPLINK, 1, 1},
	[LINK_ONE_WAY] = {"link dead one way", RNA_BLAME_UPLINK, 0, 1},
	[LINK_LOSSY] = {"link 20 %", RNA_BLAME_UPLINK, 0.2, 0.2},
	[SPINE_DEAD] = {"spine dead", RNA_BLAME_SPINE, 1, 1},
	[SPINE_LOSSY] = {"spine 20 %", RNA_BLAME_SPINE, 0.2, 0.2},
};

struct fault {
	enum fault_kind kind;
	uint32_t place, spine; /* a port, node, leaf; of a link and a spine also the spine */
};

/* Losses of each part in each direction; links by leaf and spine. */
struct losses {
	double port_out[PORTS], port_in[PORTS];
	double leaf[LEAVES];
	double link_out[LEAVES][SPINES], link_in[LEAVES][SPINES];
	double spine[SPINES];
	bool fabric[LEAVES]; /* a link of it loses, or a spine */
};

static struct losses losses;
static bool stopped[NODES]; /* neither probes nor answers, and its peers know */
static bool unseen[NODES];  /* works, but Prometheus does not scrape its agent */

static void set_port(uint32_t port, enum fault_kind kind)
{
	losses.port_out[port] = fmax(losses.port_out[port], faults[kind].out);
	losses.port_in[port] = fmax(losses.port_in[port], faults[kind].in);
}

static void apply(const struct fault *fault)
{
	enum fault_kind kind = fault->kind;

	switch (faults[kind].kind) {
	case RNA_BLAME_PORT:
		set_port(fault->place, kind);
		break;
	case RNA_BLAME_HOST:
		for (uint32_t i = 0; i < RAILS; i++)
			set_port(fault->place * RAILS + i, kind);
		break;
	case RNA_BLAME_LEAF:
		losses.leaf[fault->place] = faults[kind].out;
		break;
	case RNA_BLAME_UPLINK:
		losses.link_out[fault->place][fault->spine] = faults[kind].out;
		losses.link_in[fault->place][fault->spine] = faults[kind].in;
		losses.fabric[fault->place] = true;
		break;
	default:
		losses.spine[fault->spine] = faults[kind].out;
		memset(losses.fabric, 1, sizeof(losses.fabric));
	}
}

/* -- What is lost ------------------------------------------------------------------------------ */

static double pass(uint32_t from, uint32_t to)
{
	double ret = (1 - losses.port_out[from]) * (1 - losses.port_in[to]);

	ret *= 1 - losses.leaf[ports[from].leaf];
	return ports[from].leaf == ports[to].leaf ? ret : ret * (1 - losses.leaf[ports[to].leaf]);
}

/* Each leaf chooses the spine by a hash of the addresses and the source port. */
static double pass_fabric(uint32_t from, uint32_t to, uint32_t label)
{
	uint32_t spine = mix(((uint64_t)from << 40) ^ ((uint64_t)to << 16) ^ label) % SPINES;

	return (1 - losses.link_out[ports[from].leaf][spine]) * (1 - losses.spine[spine]) *
	       (1 - losses.link_in[ports[to].leaf][spine]);
}

static unsigned lose_probes(const struct probed *pair)
{
	uint32_t from = pair->from, to = pair->to;
	double there_and_back = pass(from, to) * pass(to, from);
	bool fabric = ports[from].leaf != ports[to].leaf &&
		      (losses.fabric[ports[from].leaf] || losses.fabric[ports[to].leaf]);
	unsigned lost = 0;

	if (!fabric)
		return draw_lost(PROBES, 1 - there_and_back);
	for (unsigned i = 0; i < LABELS; i++) {
		double passes =
			there_and_back * pass_fabric(from, to, i) * pass_fabric(to, from, i);

		lost += draw_lost(PROBES / LABELS + (i < PROBES % LABELS), 1 - passes);
	}
	return lost;
}

/* -- What agents export ------------------------------------------------------------------------ */

static struct rna_mesh_pair listed[PAIRS_MAX];
static size_t listed_count;

static int compare_listed(const void *a, const void *b)
{
	double first = ((const struct rna_mesh_pair *)a)->ratio;
	double second = ((const struct rna_mesh_pair *)b)->ratio;

	return (first < second) - (first > second);
}

/* The worst of a node, whose pairs are those from start on. */
static void cut_list(size_t start)
{
	qsort(&listed[start], listed_count - start, sizeof(listed[0]), compare_listed);
	if (listed_count > start + LISTED)
		listed_count = start + LISTED;
}

static void export_pair(const struct probed *pair, unsigned lost)
{
	struct rna_mesh_port *port = &ports[pair->from];

	port->sent[pair->scope] += (double)PROBES;
	port->lost[pair->scope] += lost;
	if (lost < PROBES && !rna_loss_is_real(lost, PROBES)) {
		port->answering++;
		return;
	}
	port->losing++;
	listed[listed_count++] =
		(struct rna_mesh_pair){pair->from, pair->to, pair->scope,
				       lost == PROBES ? RNA_PROBE_SILENT : RNA_PROBE_LOSS,
				       lost / (double)PROBES};
}

/* What the command does not ask for: probes of ports without a pair that loses. */
static void hide_counts(void)
{
	for (size_t i = 0; i < PORTS; i++)
		if (ports[i].losing == 0)
			for (size_t s = 0; s < RNA_PROBE_SCOPE_COUNT; s++)
				ports[i].sent[s] = ports[i].lost[s] = 0;
}

static struct rna_mesh export_all(void)
{
	size_t start = 0;

	listed_count = 0;
	for (size_t i = 0; i < PORTS; i++)
		ports[i] = (struct rna_mesh_port){.node = ports[i].node,
						  .leaf = ports[i].leaf,
						  .rail = ports[i].rail};
	for (size_t i = 0; i < probed_count; i++) {
		uint32_t from = probed[i].from / RAILS, to = probed[i].to / RAILS;

		if (i > 0 && from != probed[i - 1].from / RAILS) {
			cut_list(start);
			start = listed_count;
		}
		if (!stopped[from] && !stopped[to] && !unseen[from])
			export_pair(&probed[i], lose_probes(&probed[i]));
	}
	cut_list(start);
	hide_counts();
	return (struct rna_mesh){NODES, LEAVES, PORTS, listed_count, ports, listed};
}

/* -- Trials ------------------------------------------------------------------------------------ */

struct tally {
	unsigned wanted, found, hidden;
};

static struct tally tallies[FAULT_KINDS];
static unsigned wrong[RNA_BLAME_KIND_COUNT], right;

static struct fault draw_fault(enum fault_kind kind)
{
	static const uint32_t places[RNA_BLAME_KIND_COUNT] = {
		[RNA_BLAME_SPINE] = 1,    [RNA_BLAME_LEAF] = LEAVES, [RNA_BLAME_UPLINK] = LEAVES,
		[RNA_BLAME_HOST] = NODES, [RNA_BLAME_PORT] = PORTS,
	};

	return (struct fault){kind, draw_below(places[faults[kind].kind]), draw_below(SPINES)};
}

static bool has_port(const struct fault *fault, uint32_t port)
{
	switch (faults[fault->kind].kind) {
	case RNA_BLAME_PORT:
		return fault->place == port;
	case RNA_BLAME_HOST:
		return fault->place == ports[port].node;
	case RNA_BLAME_LEAF:
		return fault->place == ports[port].leaf;
	default:
		return false;
	}
}

/* Pairs of the port that an agent would export results of. */
static unsigned count_witnesses(uint32_t port)
{
	unsigned count = 0;

	for (size_t i = 0; i < probed_count; i++) {
		uint32_t from = probed[i].from, to = probed[i].to;

		count += (from == port || to == port) && !stopped[from / RAILS] &&
			 !stopped[to / RAILS] && !unseen[from / RAILS];
	}
	return count;
}

/*
 * No pair can show it: the node is stopped, fewer than two pairs of the port are there, or a larger
 * fault, or one as large, covers it: a port of a host or leaf that is dead, a link of a dead leaf,
 * and a second spine or a second link of one leaf, which make the same verdict.
 */
static bool is_hidden(const struct fault *list, size_t count, size_t which)
{
	const struct fault *fault = &list[which];
	enum rna_blame_kind kind = faults[fault->kind].kind;

	if (kind == RNA_BLAME_HOST && stopped[fault->place])
		return true;
	if (kind == RNA_BLAME_PORT && count_witnesses(fault->place) < 2)
		return true;
	for (size_t i = 0; i < count; i++) {
		const struct fault *other = &list[i];
		enum rna_blame_kind kind_there = faults[other->kind].kind;

		if (i == which)
			continue;
		if (kind == RNA_BLAME_PORT && has_port(other, fault->place) &&
		    (kind_there != kind || i < which))
			return true;
		if (kind == RNA_BLAME_UPLINK && kind_there == RNA_BLAME_LEAF &&
		    fault->place == other->place)
			return true;
		if (kind == RNA_BLAME_UPLINK && kind_there == RNA_BLAME_SPINE &&
		    fault->spine == other->spine)
			return true;
		if (kind == kind_there && i < which &&
		    (kind == RNA_BLAME_SPINE || fault->place == other->place))
			return true;
	}
	return false;
}

static bool is_about(const struct rna_blame *blame, const struct fault *fault)
{
	if (blame->kind != faults[fault->kind].kind)
		return false;
	switch (blame->kind) {
	case RNA_BLAME_PORT:
		return blame->port == fault->place;
	case RNA_BLAME_HOST:
		return blame->node == fault->place;
	case RNA_BLAME_LEAF:
	case RNA_BLAME_UPLINK:
		return blame->leaf == fault->place;
	default:
		return true;
	}
}

static void judge(const struct rna_blames *blames, const struct fault *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tally *tally = &tallies[list[i].kind];
		bool found = false;

		for (size_t k = 0; k < blames->count; k++)
			found |= is_about(&blames->list[k], &list[i]);
		if (is_hidden(list, count, i)) {
			tally->hidden++;
			continue;
		}
		tally->wanted++;
		tally->found += found;
	}
	for (size_t k = 0; k < blames->count; k++) {
		bool about = false;

		for (size_t i = 0; i < count; i++)
			about |= is_about(&blames->list[k], &list[i]);
		right += about;
		wrong[blames->list[k].kind] += !about;
	}
}

static void report_trial(unsigned trial, const struct rna_blames *blames, const struct fault *list,
			 size_t count)
{
	if (!getenv("BLAME_VERBOSE"))
		return;
	printf("trial %u:", trial);
	for (size_t i = 0; i < count; i++)
		printf(" [%s %u/%u%s]", faults[list[i].kind].name, list[i].place, list[i].spine,
		       is_hidden(list, count, i) ? " hidden" : "");
	printf(" ->");
	for (size_t i = 0; i < blames->count; i++)
		printf(" (%s node %d leaf %d port %d ratio %.3f)",
		       rna_blame_kind_name(blames->list[i].kind), (int)blames->list[i].node,
		       (int)blames->list[i].leaf, (int)blames->list[i].port, blames->list[i].ratio);
	printf(" left %zu\n", blames->left_count);
}

/* Faults of trial n: kinds take turns, so that each occurs as often. */
static void run_trial(unsigned trial)
{
	struct fault list[FAULTS_MAX];
	size_t count = 1 + trial % FAULTS_MAX;
	struct rna_blames blames;
	struct rna_mesh mesh;

	memset(&losses, 0, sizeof(losses));
	memset(stopped, 0, sizeof(stopped));
	memset(unseen, 0, sizeof(unseen));
	for (uint32_t i = draw_below(20); i > 0; i--)
		stopped[draw_below(NODES)] = true;
	for (uint32_t i = draw_below(5); i > 0; i--)
		unseen[draw_below(NODES)] = true;
	for (size_t i = 0; i < count; i++) {
		list[i] = draw_fault(i == 0 ? trial / FAULTS_MAX % FAULT_KINDS
					    : draw_below(FAULT_KINDS));
		apply(&list[i]);
	}
	mesh = export_all();
	assert_int_equal(rna_mesh_blame(&mesh, &blames), 0);
	judge(&blames, list, count);
	report_trial(trial, &blames, list, count);
	rna_blames_deinit(&blames);
}

static void print_tallies(unsigned *ret_wanted, unsigned *ret_found, unsigned *ret_wrong)
{
	*ret_wanted = *ret_found = *ret_wrong = 0;
	for (size_t i = 0; i < FAULT_KINDS; i++) {
		printf("# %-18s %u of %u found, %u that no pair shows\n", faults[i].name,
		       tallies[i].found, tallies[i].wanted, tallies[i].hidden);
		*ret_wanted += tallies[i].wanted;
		*ret_found += tallies[i].found;
	}
	for (size_t i = 0; i < RNA_BLAME_KIND_COUNT; i++) {
		if (wrong[i] > 0)
			printf("# %u wrong verdicts of kind %s\n", wrong[i],
			       rna_blame_kind_name((enum rna_blame_kind)i));
		*ret_wrong += wrong[i];
	}
}

static void test_faults_are_found_in_a_large_fabric(void **state)
{
	unsigned trials = 8 * FAULTS_MAX * FAULT_KINDS, wanted, found, bad;

	(void)state;
	seed = 21;
	for (unsigned trial = 0; trial < trials; trial++) {
		unsigned part = trial * 4 / trials;

		if (trial == 0 || part != (trial - 1) * 4 / trials)
			make_fabric(part % LAYOUTS, part >= LAYOUTS);
		run_trial(trial);
	}
	print_tallies(&wanted, &found, &bad);
	printf("# %u trials: precision %.2f %%, recall %.2f %%\n", trials,
	       100.0 * right / (right + bad), 100.0 * found / wanted);
	assert_true(found * PER_CENT >= 98 * wanted);
	assert_true(right * PER_CENT >= 98 * (right + bad));
}

/* -- By hand ----------------------------------------------------------------------------------- */

enum { SMALL_NODES = 8, SMALL_RAILS = 2, SMALL_PORTS = SMALL_NODES * SMALL_RAILS };

/* Which share the pair loses. */
typedef double small_loss(uint32_t from, uint32_t to);

/*
 * Eight nodes of two rails; each port probes that of each other node. leaf_of: NULL: leaves are
 * unknown.
 */
static struct rna_mesh make_small(uint32_t (*leaf_of)(uint32_t port), small_loss *loss)
{
	static struct rna_mesh_pair pairs[SMALL_PORTS * SMALL_NODES];
	size_t count = 0;

	memset(ports, 0, SMALL_PORTS * sizeof(ports[0]));
	for (uint32_t i = 0; i < SMALL_PORTS; i++) {
		ports[i].node = i / SMALL_RAILS;
		ports[i].rail = i % SMALL_RAILS;
		ports[i].leaf = leaf_of ? leaf_of(i) : RNA_MESH_NONE;
	}
	for (uint32_t i = 0; i < SMALL_PORTS * SMALL_NODES; i++) {
		uint32_t from = i / SMALL_NODES;
		uint32_t to = i % SMALL_NODES * SMALL_RAILS + from % SMALL_RAILS;
		enum rna_probe_scope scope = leaf_of && ports[from].leaf == ports[to].leaf
						     ? RNA_PROBE_LEAF
						     : RNA_PROBE_FABRIC;
		double share = loss(from, to);

		if (from == to)
			continue;
		ports[from].sent[scope] += (double)PROBES;
		ports[from].lost[scope] += (double)PROBES * share;
		ports[from].answering += share <= 0;
		ports[from].losing += share > 0;
		if (share > 0)
			pairs[count++] = (struct rna_mesh_pair){from, to, scope,
								share < 1 ? RNA_PROBE_LOSS
									  : RNA_PROBE_SILENT,
								share};
	}
	return (struct rna_mesh){SMALL_NODES, SMALL_PORTS, SMALL_PORTS, count, ports, pairs};
}

static uint32_t two_leaves_a_rail(uint32_t port)
{
	return port / SMALL_RAILS / 4 * SMALL_RAILS + port % SMALL_RAILS;
}

static uint32_t rack_of_two(uint32_t port)
{
	return port / SMALL_RAILS / 2;
}

static void assert_only(const struct rna_mesh *mesh, enum rna_blame_kind kind, uint32_t node,
			uint32_t port, uint32_t leaf)
{
	struct rna_blames blames;

	assert_int_equal(rna_mesh_blame(mesh, &blames), 0);
	assert_int_equal(blames.count, 1);
	assert_string_equal(rna_blame_kind_name(blames.list[0].kind), rna_blame_kind_name(kind));
	assert_int_equal(blames.list[0].node, node);
	assert_int_equal(blames.list[0].port, port);
	assert_int_equal(blames.list[0].leaf, leaf);
	assert_int_equal(blames.left_count, 0);
	rna_blames_deinit(&blames);
}

static double none(uint32_t from, uint32_t to)
{
	(void)from;
	(void)to;
	return 0;
}

static double of_port_5(uint32_t from, uint32_t to)
{
	return from == 5 || to == 5;
}

static double of_node_3(uint32_t from, uint32_t to)
{
	return from / SMALL_RAILS == 3 || to / SMALL_RAILS == 3;
}

static double of_one_pair(uint32_t from, uint32_t to)
{
	return from == 2 && to == 4 ? 0.5 : 0;
}

static double of_rack_1(uint32_t from, uint32_t to)
{
	return rack_of_two(from) == 1 || rack_of_two(to) == 1;
}

static double between_leaves(uint32_t from, uint32_t to)
{
	return from % SMALL_RAILS == 0 && two_leaves_a_rail(from) != two_leaves_a_rail(to) ? 0.12
											   : 0;
}

static double between_racks(uint32_t from, uint32_t to)
{
	return rack_of_two(from) != rack_of_two(to) ? 0.12 : 0;
}

static void test_nothing_is_blamed_if_nothing_loses(void **state)
{
	struct rna_mesh mesh = make_small(two_leaves_a_rail, none);
	struct rna_blames blames;

	(void)state;
	assert_int_equal(rna_mesh_blame(&mesh, &blames), 0);
	assert_int_equal(blames.count + blames.left_count, 0);
	rna_blames_deinit(&blames);
	mesh = (struct rna_mesh){0};
	assert_int_equal(rna_mesh_blame(&mesh, &blames), 0);
	assert_int_equal(blames.count + blames.left_count, 0);
	rna_blames_deinit(&blames);
}

static void test_one_pair_is_no_part(void **state)
{
	struct rna_mesh mesh = make_small(two_leaves_a_rail, of_one_pair);
	struct rna_blames blames;

	(void)state;
	assert_int_equal(rna_mesh_blame(&mesh, &blames), 0);
	assert_int_equal(blames.count, 0);
	assert_int_equal(blames.left_count, 1);
	assert_int_equal(mesh.pairs[blames.left[0]].from, 2);
	rna_blames_deinit(&blames);
}

static void test_unknown_leaves(void **state)
{
	struct rna_mesh mesh = make_small(NULL, of_port_5);

	(void)state;
	assert_only(&mesh, RNA_BLAME_PORT, 2, 5, RNA_MESH_NONE);
	mesh = make_small(NULL, of_node_3);
	assert_only(&mesh, RNA_BLAME_HOST, 3, RNA_MESH_NONE, RNA_MESH_NONE);
	mesh = make_small(NULL, between_racks);
	assert_only(&mesh, RNA_BLAME_SPINE, RNA_MESH_NONE, RNA_MESH_NONE, RNA_MESH_NONE);
}

/* Its node is not scraped, and its peers see what is wrong with it. */
static void test_a_port_without_results(void **state)
{
	static struct rna_mesh_pair seen[SMALL_PORTS * SMALL_NODES];
	struct rna_mesh mesh = make_small(two_leaves_a_rail, of_port_5);
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < mesh.pair_count; i++)
		if (mesh.pairs[i].from != 5)
			seen[count++] = mesh.pairs[i];
	ports[5].losing = 0;
	mesh.pairs = seen;
	mesh.pair_count = count;
	assert_only(&mesh, RNA_BLAME_PORT, 2, 5, 1);
}

/* Agents list some pairs only, or say of a pair that it loses before they count it. */
static void test_lists_and_counts_that_differ(void **state)
{
	struct rna_mesh mesh = make_small(two_leaves_a_rail, of_port_5);

	(void)state;
	assert_int_equal(mesh.pairs[mesh.pair_count - 1].to, 5);
	mesh.pair_count--;
	assert_only(&mesh, RNA_BLAME_PORT, 2, 5, 1);
	mesh = make_small(two_leaves_a_rail, of_port_5);
	for (size_t i = 0; i < SMALL_PORTS; i++)
		ports[i].losing = i == 5;
	assert_only(&mesh, RNA_BLAME_PORT, 2, 5, 1);
}

/* Prometheus extrapolates each count: more may be lost than was sent, and no list says how much. */
static void test_more_is_lost_than_sent(void **state)
{
	struct rna_mesh mesh = make_small(NULL, of_port_5);
	struct rna_blames blames;

	(void)state;
	mesh.pair_count = 0;
	ports[5].lost[RNA_PROBE_FABRIC] = ports[5].sent[RNA_PROBE_FABRIC] + 1;
	assert_int_equal(rna_mesh_blame(&mesh, &blames), 0);
	assert_int_equal(blames.count, 1);
	assert_int_equal(blames.list[0].port, 5);
	assert_true(blames.list[0].ratio <= 1);
	rna_blames_deinit(&blames);
}

/* Where all ports of a node are at one leaf, the other nodes there say which of the two it is. */
static void test_a_host_or_its_rack(void **state)
{
	struct rna_mesh mesh = make_small(rack_of_two, of_node_3);

	(void)state;
	assert_only(&mesh, RNA_BLAME_HOST, 3, RNA_MESH_NONE, RNA_MESH_NONE);
	mesh = make_small(rack_of_two, of_rack_1);
	assert_only(&mesh, RNA_BLAME_LEAF, RNA_MESH_NONE, RNA_MESH_NONE, 1);
}

/* Between two leaves uplinks and spines look the same; among four they do not. */
static void test_a_path_or_a_spine(void **state)
{
	struct rna_mesh mesh = make_small(two_leaves_a_rail, between_leaves);
	struct rna_blames blames;

	(void)state;
	assert_only(&mesh, RNA_BLAME_PATH, RNA_MESH_NONE, RNA_MESH_NONE, 0);
	mesh = make_small(rack_of_two, between_racks);
	assert_int_equal(rna_mesh_blame(&mesh, &blames), 0);
	assert_int_equal(blames.count, 1);
	assert_int_equal(blames.list[0].kind, RNA_BLAME_SPINE);
	assert_int_equal(blames.list[0].explained, mesh.pair_count);
	assert_true(fabs(blames.list[0].ratio - 0.12) < 0.001);
	rna_blames_deinit(&blames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_blamed_if_nothing_loses),
		cmocka_unit_test(test_one_pair_is_no_part),
		cmocka_unit_test(test_unknown_leaves),
		cmocka_unit_test(test_a_port_without_results),
		cmocka_unit_test(test_lists_and_counts_that_differ),
		cmocka_unit_test(test_more_is_lost_than_sent),
		cmocka_unit_test(test_a_host_or_its_rack),
		cmocka_unit_test(test_a_path_or_a_spine),
		cmocka_unit_test(test_faults_are_found_in_a_large_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
