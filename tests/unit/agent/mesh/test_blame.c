// SPDX-License-Identifier: Apache-2.0
/*
 * agent/mesh, blame: verdicts on hand-made meshes, and on simulated fabrics of 64 to 1,024 nodes
 * with 8 ports each, with agents that Prometheus does not scrape, and leaves that are unknown or
 * wrong. The real neighbours.c chooses who probes whom, the real rna_loss_is_real() says which
 * pairs lose, and the solver sees what agents would export: counts of each port, and the 12 worst
 * pairs of each node. BLAME_ROUNDS=3 takes three times as many trials, and as many for 1,024 nodes
 * as for 64; BLAME_SEED=1 takes other ones; BLAME_VERBOSE=1 prints each.
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
	NODES = 1024, /* at most, as the other limits */
	RAILS = 8,
	PORTS = NODES * RAILS,
	LEAVES = 256,
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
	RAIL, /* a leaf has one port of each of its nodes */
	RACK, /* a leaf has all ports of its nodes */
};

struct ground {
	enum layout layout;
	uint32_t nodes, per_leaf, spines; /* nodes of a leaf */
	bool host_mesh;
};

struct gaps {
	const char *name;
	double unseen, unknown, wrong; /* shares of nodes: not scraped; of leaves */
	double noise;                  /* share of pairs that lose, each by itself */
	bool unlisted;                 /* agents know their own leaf, and the list has none, */
	bool asked;                    /* but they have asked members along the ring for theirs */
};

struct probed {
	uint32_t from, to;
	enum rna_probe_scope scope;
};

#define NOISE_LOSS 0.02

static const struct ground *ground;
static const struct gaps *gaps;
static uint32_t leaf_count, port_count;
static uint32_t homes[PORTS]; /* the leaf that a port is on; ports[] has what its agent says */
static struct rna_mesh_port ports[PORTS];
static struct probed probed[PAIRS_MAX];
static size_t probed_count;

static uint32_t leaf_at(uint32_t node, uint32_t rail)
{
	uint32_t place = node / ground->per_leaf;

	return ground->layout == RAIL ? place * RAILS + rail : place;
}

static void add_probed(uint32_t from, uint32_t to, enum rna_probe_scope scope)
{
	probed[probed_count++] = (struct probed){from, to, scope};
}

/* As agent/mesh/peer_discovery.c does, until no question is left. */
static void ask_for_leaves(const struct rna_members *members, uint32_t node, const char *leaf)
{
	struct rna_member *asked;
	size_t *ring;
	int count = rna_ring_order(members, members->members[node].name, &ring);

	for (size_t i = 0; i < members->count; i++) {
		members->members[i].claims = false;
		members->members[i].ask_at = 0;
	}
	while ((asked = rna_neighbours_unknown(members, ring, (size_t)count, leaf, 3, 1))) {
		size_t other = (size_t)(asked - members->members);

		asked->ask_at = 2;
		asked->claims = ports[other * RAILS].leaf == ports[(size_t)node * RAILS].leaf;
	}
	free(ring);
}

static void add_neighbours(const struct rna_members *members, uint32_t node)
{
	const char *leaf = gaps->asked ? "its own" : members->members[node].leaf;
	struct rna_neighbours near;

	if (gaps->asked)
		ask_for_leaves(members, node, leaf);
	assert_int_equal(rna_neighbours_choose(members, members->members[node].name, leaf, 3,
					       &near),
			 0);
	for (size_t i = 0; i < near.count; i++)
		for (uint32_t rail = 0; rail < RAILS; rail++) {
			uint32_t from = node * RAILS + rail;
			uint32_t to = (uint32_t)near.members[i] * RAILS + rail;

			add_probed(from, to,
				   ports[from].leaf == ports[to].leaf &&
						   ports[from].leaf != RNA_MESH_NONE
					   ? RNA_PROBE_LEAF
					   : RNA_PROBE_FABRIC);
		}
}

/* What the agent of the node says of its leaves. */
static void make_node(uint32_t node)
{
	double draw = draw_share();
	uint32_t place = draw < gaps->wrong ? draw_below(ground->nodes) : node;
	bool unknown = draw > 1 - gaps->unknown;

	for (uint32_t rail = 0; rail < RAILS; rail++) {
		homes[node * RAILS + rail] = leaf_at(node, rail);
		ports[node * RAILS + rail] = (struct rna_mesh_port){
			.node = node,
			.leaf = unknown ? RNA_MESH_NONE : leaf_at(place, rail),
			.rail = rail,
		};
	}
}

static void make_fabric(void)
{
	static struct rna_member list[NODES];
	static char names[NODES][16], leaves[NODES][16];
	const struct rna_members members = {ground->nodes, list};

	probed_count = 0;
	leaf_count = leaf_at(ground->nodes - 1, RAILS - 1) + 1;
	port_count = ground->nodes * RAILS;
	for (uint32_t i = 0; i < ground->nodes; i++) {
		make_node(i);
		(void)snprintf(names[i], sizeof(names[i]), "node%04u", i);
		leaves[i][0] = '\0';
		if (ports[i * RAILS].leaf != RNA_MESH_NONE && !gaps->unlisted)
			(void)snprintf(leaves[i], sizeof(leaves[i]), "leaf%u",
				       ports[i * RAILS].leaf);
		list[i] = (struct rna_member){.name = names[i], .address = "", .leaf = leaves[i]};
	}
	for (uint32_t i = 0; i < ground->nodes; i++) {
		add_neighbours(&members, i);
		for (uint32_t own = 0; ground->host_mesh && own < RAILS; own++)
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

	ret *= 1 - losses.leaf[homes[from]];
	return homes[from] == homes[to] ? ret : ret * (1 - losses.leaf[homes[to]]);
}

/* Each leaf chooses the spine by a hash of the addresses and the source port. */
static double pass_fabric(uint32_t from, uint32_t to, uint32_t label)
{
	uint32_t spine = (uint32_t)(mix(((uint64_t)from << 40) ^ ((uint64_t)to << 16) ^ label) %
				    ground->spines);

	return (1 - losses.link_out[homes[from]][spine]) * (1 - losses.spine[spine]) *
	       (1 - losses.link_in[homes[to]][spine]);
}

static unsigned lose_probes(const struct probed *pair)
{
	uint32_t from = pair->from, to = pair->to;
	double there_and_back = pass(from, to) * pass(to, from);
	bool fabric = homes[from] != homes[to] &&
		      (losses.fabric[homes[from]] || losses.fabric[homes[to]]);
	unsigned lost = 0;

	if (draw_share() < gaps->noise)
		there_and_back *= 1 - NOISE_LOSS;
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
	for (size_t i = 0; i < port_count; i++)
		if (ports[i].losing == 0)
			for (size_t s = 0; s < RNA_PROBE_SCOPE_COUNT; s++)
				ports[i].sent[s] = ports[i].lost[s] = 0;
}

static struct rna_mesh export_all(void)
{
	size_t start = 0;

	listed_count = 0;
	for (size_t i = 0; i < port_count; i++)
		ports[i] = (struct rna_mesh_port){
			.node = ports[i].node,
			.leaf = ports[i].leaf,
			.rail = unseen[i / RAILS] ? RNA_PROBE_RAIL_UNKNOWN : i % RAILS,
		};
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
	return (struct rna_mesh){ground->nodes, leaf_count, port_count,
				 listed_count,  ports,      listed};
}

/* -- Trials ------------------------------------------------------------------------------------ */

struct tally {
	unsigned wanted, found, hidden;
};

static struct rna_mesh simulated;
static struct tally tallies[FAULT_KINDS];
static struct tally alone; /* faults without a bad spine beside them */
static unsigned wrong[RNA_BLAME_KIND_COUNT], right, vague;

static struct fault draw_fault(enum fault_kind kind)
{
	const uint32_t places[RNA_BLAME_KIND_COUNT] = {
		[RNA_BLAME_SPINE] = 1,           [RNA_BLAME_LEAF] = leaf_count,
		[RNA_BLAME_UPLINK] = leaf_count, [RNA_BLAME_HOST] = ground->nodes,
		[RNA_BLAME_PORT] = port_count,
	};

	return (struct fault){kind, draw_below(places[faults[kind].kind]),
			      draw_below(ground->spines)};
}

/* Is the port on the part? */
static bool has_port(const struct fault *fault, uint32_t port)
{
	switch (faults[fault->kind].kind) {
	case RNA_BLAME_PORT:
		return fault->place == port;
	case RNA_BLAME_HOST:
		return fault->place == ports[port].node;
	case RNA_BLAME_LEAF:
	case RNA_BLAME_UPLINK:
		return fault->place == homes[port];
	default:
		return true;
	}
}

static bool is_of_fabric(enum rna_blame_kind kind)
{
	return kind == RNA_BLAME_UPLINK || kind == RNA_BLAME_SPINE;
}

/* Pairs across the part that an agent would export results of. */
static unsigned count_witnesses(const struct fault *fault)
{
	bool fabric = is_of_fabric(faults[fault->kind].kind);
	unsigned count = 0;

	for (size_t i = 0; i < probed_count; i++) {
		uint32_t from = probed[i].from, to = probed[i].to;

		count += (has_port(fault, from) || has_port(fault, to)) &&
			 (!fabric || homes[from] != homes[to]) && !stopped[from / RAILS] &&
			 !stopped[to / RAILS] && !unseen[from / RAILS];
	}
	return count;
}

/* Does the other fault cover this one: a leaf or a host its ports, a leaf or a spine a link? */
static bool covers(const struct fault *other, const struct fault *fault)
{
	enum rna_blame_kind kind = faults[fault->kind].kind, larger = faults[other->kind].kind;

	if (kind == RNA_BLAME_PORT)
		return !is_of_fabric(larger) && has_port(other, fault->place);
	if (kind == RNA_BLAME_HOST)
		return larger == RNA_BLAME_LEAF && ground->layout == RACK &&
		       has_port(other, fault->place * RAILS);
	return kind == RNA_BLAME_UPLINK &&
	       ((larger == RNA_BLAME_LEAF && fault->place == other->place) ||
		(larger == RNA_BLAME_SPINE && fault->spine == other->spine &&
		 faults[other->kind].out >= faults[fault->kind].in));
}

/*
 * No pair can show it: fewer than two pairs cross it, or a larger fault, or one as large, covers
 * it: a port of a host or leaf that is dead, a link of a dead leaf, and a second spine or a second
 * link of one leaf, which make the same verdict.
 */
static bool is_hidden(const struct fault *list, size_t count, size_t which)
{
	const struct fault *fault = &list[which];
	enum rna_blame_kind kind = faults[fault->kind].kind;

	if (count_witnesses(fault) < 2)
		return true;
	for (size_t i = 0; i < count; i++) {
		bool same = kind == faults[list[i].kind].kind &&
			    (kind == RNA_BLAME_SPINE || fault->place == list[i].place);

		if (i != which && (same ? i < which : covers(&list[i], fault)))
			return true;
	}
	return false;
}

/* A path is a link of one of its leaves, or a spine, which two leaves cannot tell apart. */
static bool is_path_of(const struct rna_mesh_part *path, const struct fault *fault)
{
	return faults[fault->kind].kind == RNA_BLAME_SPINE ||
	       (faults[fault->kind].kind == RNA_BLAME_UPLINK &&
		(path->leaf == fault->place || path->other_leaf == fault->place));
}

/* What a verdict is judged by. */
static struct {
	const struct rna_blames *blames;
	const struct fault *faults;
	size_t count;
	bool most; /* a fault of several ports has to be named by half of them */
} judged;

static bool is_behind_a_fault(uint32_t port)
{
	for (size_t i = 0; i < judged.count; i++)
		if (faults[judged.faults[i].kind].kind != RNA_BLAME_SPINE &&
		    has_port(&judged.faults[i], port))
			return true;
	return false;
}

/*
 * An inferred leaf is the ports that the verdict lists: all but a tenth have to be behind faults,
 * and one behind this one. Some pairs lose by their far ends alone, so that a port cannot be told
 * from those of the leaf.
 */
static bool is_inferred_leaf_of(const struct rna_mesh_part *leaf, const struct fault *fault)
{
	unsigned named = 0, sound = 0, ours = 0, all = 0;

	for (uint32_t i = 0; i < port_count; i++) {
		bool of = has_port(fault, i) && !stopped[i / RAILS];
		bool on = rna_blame_has_port(judged.blames, &simulated, leaf, i);

		named += on;
		all += of;
		ours += on && of;
		sound += on && !is_behind_a_fault(i);
	}
	return PER_CENT / 10 * sound <= named && ours > 0 && (!judged.most || 2 * ours >= all);
}

/* One of the leaves of a rail, or of all: links of it. */
static bool is_some_uplink(const struct rna_mesh_part *part, const struct fault *fault)
{
	return faults[fault->kind].kind == RNA_BLAME_UPLINK &&
	       (part->rail == RNA_PROBE_RAIL_UNKNOWN || ground->layout == RACK ||
		fault->place % RAILS == part->rail);
}

static bool is_unknown_leaf_of(const struct rna_mesh_part *part, const struct fault *fault)
{
	return part->leaf == RNA_MESH_NONE ? is_some_uplink(part, fault)
					   : faults[fault->kind].kind != RNA_BLAME_SPINE &&
						     is_inferred_leaf_of(part, fault);
}

static bool is_part_of(const struct rna_mesh_part *part, const struct fault *fault)
{
	if (part->kind == RNA_BLAME_PATH)
		return is_path_of(part, fault);
	if ((part->kind == RNA_BLAME_LEAF || part->kind == RNA_BLAME_UPLINK) &&
	    part->leaf >= leaf_count)
		return is_unknown_leaf_of(part, fault);
	if (part->kind != faults[fault->kind].kind)
		return false;
	switch (part->kind) {
	case RNA_BLAME_PORT:
		return part->port == fault->place;
	case RNA_BLAME_HOST:
		return part->node == fault->place;
	case RNA_BLAME_LEAF:
	case RNA_BLAME_UPLINK:
		return part->leaf == fault->place;
	default:
		return true;
	}
}

static bool is_about(const struct rna_blame *blame, const struct fault *fault)
{
	for (uint32_t i = 0; i < blame->other_count; i++)
		if (is_part_of(&blame->others[i], fault))
			return true;
	return is_part_of(&blame->part, fault);
}

static bool is_found(const struct rna_blames *blames, const struct fault *fault)
{
	bool ret = false;

	judged.most = true;
	for (size_t i = 0; i < blames->count; i++)
		ret |= is_about(&blames->list[i], fault);
	judged.most = false;
	return ret;
}

static bool is_right(const struct rna_blame *blame, const struct fault *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_about(blame, &list[i]))
			return true;
	return false;
}

static bool has_spine(const struct fault *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (faults[list[i].kind].kind == RNA_BLAME_SPINE)
			return true;
	return false;
}

static void judge(const struct rna_blames *blames, const struct fault *list, size_t count)
{
	judged.blames = blames;
	judged.faults = list;
	judged.count = count;
	for (size_t i = 0; i < count; i++) {
		struct tally *tally = &tallies[list[i].kind];
		bool hidden = is_hidden(list, count, i);

		tally->hidden += hidden;
		tally->wanted += !hidden;
		tally->found += !hidden && is_found(blames, &list[i]);
		alone.wanted += !hidden && !has_spine(list, count);
		alone.found += !hidden && !has_spine(list, count) && is_found(blames, &list[i]);
	}
	for (size_t k = 0; k < blames->count; k++) {
		bool about = is_right(&blames->list[k], list, count);

		right += about;
		vague += about && blames->list[k].other_count > 0;
		wrong[blames->list[k].part.kind] += !about;
	}
}

static void print_part(const struct rna_mesh_part *part)
{
	printf(" %s node %d leaf %d %d port %d rail %u", rna_blame_kind_name(part->kind),
	       (int)part->node, (int)part->leaf, (int)part->other_leaf, (int)part->port,
	       part->rail);
}

/* What is wrong with it has an exclamation mark. */
static void report_trial(unsigned trial, const struct rna_blames *blames, const struct fault *list,
			 size_t count)
{
	if (!getenv("BLAME_VERBOSE"))
		return;
	printf("trial %u:", trial);
	for (size_t i = 0; i < count; i++)
		printf(" [%s %u/%u%s]", faults[list[i].kind].name, list[i].place, list[i].spine,
		       is_hidden(list, count, i)    ? " hidden"
		       : is_found(blames, &list[i]) ? ""
						    : " missed!");
	printf(" ->");
	for (size_t i = 0; i < blames->count; i++) {
		const struct rna_blame *blame = &blames->list[i];

		printf(" (");
		print_part(&blame->part);
		for (uint32_t k = 0; k < blame->other_count; k++) {
			printf(" or");
			print_part(&blame->others[k]);
		}
		printf(" ratio %.3f, %u of %u%s)", blame->ratio, blame->losing, blame->pairs,
		       is_right(blame, list, count) ? "" : " wrong!");
	}
	printf(" left %zu\n", blames->left_count);
}

/* Faults of trial n: kinds take turns, so that each occurs as often. */
static void run_trial(unsigned trial, unsigned count)
{
	struct fault list[FAULTS_MAX];
	struct rna_blames blames;

	memset(&losses, 0, sizeof(losses));
	memset(stopped, 0, sizeof(stopped));
	memset(unseen, 0, sizeof(unseen));
	make_fabric();
	for (uint32_t i = draw_below(ground->nodes / 50); i > 0; i--)
		stopped[draw_below(ground->nodes)] = true;
	for (uint32_t i = 0; i < ground->nodes; i++)
		unseen[i] = draw_share() < gaps->unseen;
	for (size_t i = 0; i < count; i++) {
		list[i] = draw_fault(i == 0 ? trial / FAULTS_MAX % FAULT_KINDS
					    : draw_below(FAULT_KINDS));
		apply(&list[i]);
	}
	simulated = export_all();
	assert_int_equal(rna_mesh_blame(&simulated, &blames), 0);
	judge(&blames, list, count);
	report_trial(trial, &blames, list, count);
	rna_blames_deinit(&blames);
}

static unsigned of_environment(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static const struct ground grounds[] = {
	{RAIL, 64, 32, 4, false},    {RAIL, 64, 16, 2, false},   {RAIL, 64, 4, 4, false},
	{RACK, 64, 4, 4, false},     {RACK, 64, 4, 2, true},     {RACK, 128, 4, 4, false},
	{RAIL, 256, 32, 8, false},   {RACK, 256, 4, 8, false},   {RAIL, 1024, 64, 8, true},
	{RAIL, 1024, 32, 16, false}, {RACK, 1024, 4, 16, false},
};

/* Trials of a ground: the shares of right verdicts and of found faults, in per cent. */
static void try_ground(unsigned trials, double *ret_precision, double *ret_recall)
{
	unsigned wanted = 0, found = 0, bad = 0;

	memset(tallies, 0, sizeof(tallies));
	memset(wrong, 0, sizeof(wrong));
	memset(&alone, 0, sizeof(alone));
	right = vague = 0;
	for (unsigned trial = 0; trial < trials; trial++)
		run_trial(trial, 1 + trial % FAULTS_MAX);
	for (size_t i = 0; i < FAULT_KINDS; i++) {
		wanted += tallies[i].wanted;
		found += tallies[i].found;
		if (getenv("BLAME_VERBOSE"))
			printf("#   %-18s %u of %u found, %u that no pair shows\n", faults[i].name,
			       tallies[i].found, tallies[i].wanted, tallies[i].hidden);
	}
	*ret_recall = (double)PER_CENT * found / wanted;
	printf("# %-12s %s %4u nodes, %2u of a leaf, %2u spines%s:", gaps->name,
	       ground->layout == RAIL ? "rail" : "rack", ground->nodes, ground->per_leaf,
	       ground->spines, ground->host_mesh ? ", host mesh" : "");
	for (size_t i = 0; i < RNA_BLAME_KIND_COUNT; i++)
		bad += wrong[i];
	*ret_precision = (double)PER_CENT * right / (right + bad);
	printf(" precision %.1f %%, recall %.1f %% of %u; %u \"one of\"", *ret_precision,
	       *ret_recall, wanted, vague);
	for (size_t i = 0; i < RNA_BLAME_KIND_COUNT; i++)
		if (wrong[i] > 0)
			printf(", %u wrong %s", wrong[i],
			       rna_blame_kind_name((enum rna_blame_kind)i));
	printf("; without a bad spine %u of %u found\n", alone.found, alone.wanted);
}

static void try_all(const struct gaps *with, double precision_wanted, double recall_wanted)
{
	unsigned rounds = of_environment("BLAME_ROUNDS", 0);

	gaps = with;
	seed = of_environment("BLAME_SEED", 21);
	for (size_t i = 0; i < sizeof(grounds) / sizeof(grounds[0]); i++) {
		double precision, recall;

		ground = &grounds[i];
		try_ground(rounds > 0              ? rounds * FAULTS_MAX * FAULT_KINDS
			   : ground->nodes < NODES ? FAULTS_MAX * FAULT_KINDS
						   : FAULT_KINDS,
			   &precision, &recall);
		assert_true(precision >= precision_wanted);
		assert_true(recall >= recall_wanted);
		assert_true(PER_CENT * alone.found >= 90 * alone.wanted);
	}
}

static void test_faults_are_found(void **state)
{
	static const struct gaps none_but_some = {"all known", 0.003, 0, 0, 0, false, false};

	(void)state;
	try_all(&none_but_some, 97, 95);
}

static void test_faults_are_found_with_gaps(void **state)
{
	static const struct gaps all = {"gaps", 0.1, 0.1, 0.03, 0, false, false};

	(void)state;
	try_all(&all, 95, 90);
}

/* As it is where members come from DNS or Kubernetes: hardly a pair stays on a leaf. */
static void test_faults_are_found_without_leaves_in_the_list(void **state)
{
	static const struct gaps unlisted = {"unlisted", 0.003, 0, 0, 0, true, false};

	(void)state;
	try_all(&unlisted, 95, 85);
}

/* The same, some minutes later. */
static void test_faults_are_found_once_members_were_asked(void **state)
{
	static const struct gaps asked = {"asked", 0.003, 0, 0, 0, true, true};

	(void)state;
	try_all(&asked, 97, 95);
}

/*
 * A leaf and its links are then one verdict, of the ports behind them. What is missed loses 1 or
 * 20 % behind a spine that loses, too, so that hardly a pair stands out.
 */
static void test_faults_are_found_without_leaves(void **state)
{
	static const struct gaps unknown = {"no leaves", 0.003, 1, 0, 0, false, false};

	(void)state;
	try_all(&unknown, 95, 85);
}

/* Pairs that lose each by itself are no evidence of a part: six times ten minutes. */
static void test_noise_is_no_part(void **state)
{
	static const struct gaps noise = {"noise", 0, 0, 0, 0.01, false, false};
	unsigned hours = of_environment("BLAME_ROUNDS", 1);

	(void)state;
	gaps = &noise;
	seed = of_environment("BLAME_SEED", 21);
	memset(wrong, 0, sizeof(wrong));
	for (unsigned i = 0; i < 6 * hours; i++) {
		ground = &grounds[i % 2 ? 9 : 10];
		run_trial(i, 0);
	}
	for (size_t i = 0; i < RNA_BLAME_KIND_COUNT; i++) {
		if (wrong[i] > 0)
			printf("# noise: %u of kind %s\n", wrong[i],
			       rna_blame_kind_name((enum rna_blame_kind)i));
		assert_int_equal(wrong[i], 0);
	}
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
	assert_string_equal(rna_blame_kind_name(blames.list[0].part.kind),
			    rna_blame_kind_name(kind));
	assert_int_equal(blames.list[0].part.node, node);
	assert_int_equal(blames.list[0].part.port, port);
	assert_int_equal(blames.list[0].part.leaf, leaf);
	assert_int_equal(blames.list[0].other_count, 0);
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

/* What is left if the agent of the node is not scraped. */
static struct rna_mesh unscrape(struct rna_mesh mesh, uint32_t node)
{
	static struct rna_mesh_pair seen[SMALL_PORTS * SMALL_NODES];
	size_t count = 0;

	for (size_t i = 0; i < mesh.pair_count; i++)
		if (ports[mesh.pairs[i].from].node != node)
			seen[count++] = mesh.pairs[i];
	for (uint32_t i = node * SMALL_RAILS; i < (node + 1) * SMALL_RAILS; i++)
		ports[i] = (struct rna_mesh_port){.node = node,
						  .leaf = ports[i].leaf,
						  .rail = RNA_PROBE_RAIL_UNKNOWN};
	mesh.pairs = seen;
	mesh.pair_count = count;
	return mesh;
}

/* Its node is not scraped, and its peers see what is wrong with it. */
static void test_a_port_without_results(void **state)
{
	struct rna_mesh mesh = unscrape(make_small(two_leaves_a_rail, of_port_5), 2);

	(void)state;
	assert_only(&mesh, RNA_BLAME_PORT, 2, 5, 1);
}

/* A port whose agent is not scraped is lost by others, but not on its leaf: the fault is beyond. */
static void test_a_sound_port_without_results(void **state)
{
	struct rna_mesh mesh = unscrape(make_small(two_leaves_a_rail, between_leaves), 3);

	(void)state;
	assert_only(&mesh, RNA_BLAME_PATH, RNA_MESH_NONE, RNA_MESH_NONE, 0);
}

static uint32_t leaf_of_each(uint32_t port)
{
	return port / SMALL_RAILS;
}

/* Where a leaf has one node only, its pairs cannot tell which of them it is. */
static void test_one_of_these(void **state)
{
	struct rna_mesh mesh = make_small(leaf_of_each, of_node_3);
	struct rna_blames blames;

	(void)state;
	assert_int_equal(rna_mesh_blame(&mesh, &blames), 0);
	assert_int_equal(blames.count, 1);
	assert_int_equal(blames.list[0].part.kind, RNA_BLAME_HOST);
	assert_int_equal(blames.list[0].part.node, 3);
	assert_int_equal(blames.list[0].other_count, 2);
	assert_int_equal(blames.list[0].others[0].kind, RNA_BLAME_LEAF);
	assert_int_equal(blames.list[0].others[0].leaf, 3);
	assert_int_equal(blames.list[0].others[1].kind, RNA_BLAME_UPLINK);
	assert_int_equal(blames.list[0].others[1].leaf, 3);
	rna_blames_deinit(&blames);
}

/* Two hosts that lose alike may be behind one leaf, if leaves are unknown. */
static void test_an_unknown_leaf(void **state)
{
	struct rna_mesh mesh = make_small(NULL, of_rack_1);
	struct rna_blames blames;

	(void)state;
	assert_int_equal(rna_mesh_blame(&mesh, &blames), 0);
	assert_int_equal(blames.count, 1);
	assert_int_equal(blames.list[0].part.kind, RNA_BLAME_LEAF);
	assert_true(blames.list[0].part.leaf >= mesh.leaf_count);
	assert_int_equal(blames.list[0].other_count, 1);
	assert_int_equal(blames.list[0].others[0].kind, RNA_BLAME_UPLINK);
	assert_int_equal(blames.left_count, 0);
	for (uint32_t i = 0; i < SMALL_PORTS; i++)
		assert_int_equal(rna_blame_has_port(&blames, &mesh, &blames.list[0].part, i),
				 rack_of_two(i) == 1);
	rna_blames_deinit(&blames);
}

/* Four of eight nodes are behind one leaf, and which four cannot be told: no port is blamed. */
static void test_half_of_unknown_leaves(void **state)
{
	struct rna_mesh mesh = make_small(NULL, between_leaves);
	struct rna_blames blames;

	(void)state;
	assert_int_equal(rna_mesh_blame(&mesh, &blames), 0);
	for (size_t i = 0; i < blames.count; i++)
		assert_true(blames.list[i].part.kind == RNA_BLAME_SPINE);
	rna_blames_deinit(&blames);
}

static double of_node_3_and_port_5(uint32_t from, uint32_t to)
{
	return of_node_3(from, to) > 0 || of_port_5(from, to) > 0;
}

/* One port is not at the leaf of all ports of a node. */
static void test_a_port_beside_a_host(void **state)
{
	struct rna_mesh mesh = make_small(NULL, of_node_3_and_port_5);
	struct rna_blames blames;

	(void)state;
	assert_int_equal(rna_mesh_blame(&mesh, &blames), 0);
	assert_int_equal(blames.count, 2);
	assert_int_equal(blames.list[0].part.kind, RNA_BLAME_HOST);
	assert_int_equal(blames.list[0].part.node, 3);
	assert_int_equal(blames.list[1].part.kind, RNA_BLAME_PORT);
	assert_int_equal(blames.list[1].part.port, 5);
	rna_blames_deinit(&blames);
}

static double of_all(uint32_t from, uint32_t to)
{
	return from / SMALL_RAILS < 2 && to / SMALL_RAILS < 2;
}

/* Of two members that do not reach each other either may be it: neither is blamed alone. */
static void test_two_members(void **state)
{
	struct rna_mesh mesh = make_small(NULL, of_all);
	struct rna_blames blames;

	(void)state;
	for (uint32_t i = 0; i < SMALL_PORTS; i++)
		ports[i].answering = 0;
	assert_int_equal(rna_mesh_blame(&mesh, &blames), 0);
	assert_int_equal(blames.count, 0);
	assert_int_equal(blames.left_count, mesh.pair_count);
	rna_blames_deinit(&blames);
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
	assert_int_equal(blames.list[0].part.port, 5);
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
	assert_int_equal(blames.list[0].part.kind, RNA_BLAME_SPINE);
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
		cmocka_unit_test(test_a_sound_port_without_results),
		cmocka_unit_test(test_one_of_these),
		cmocka_unit_test(test_an_unknown_leaf),
		cmocka_unit_test(test_half_of_unknown_leaves),
		cmocka_unit_test(test_a_port_beside_a_host),
		cmocka_unit_test(test_two_members),
		cmocka_unit_test(test_lists_and_counts_that_differ),
		cmocka_unit_test(test_more_is_lost_than_sent),
		cmocka_unit_test(test_a_host_or_its_rack),
		cmocka_unit_test(test_a_path_or_a_spine),
		cmocka_unit_test(test_noise_is_no_part),
		cmocka_unit_test(test_faults_are_found),
		cmocka_unit_test(test_faults_are_found_with_gaps),
		cmocka_unit_test(test_faults_are_found_without_leaves_in_the_list),
		cmocka_unit_test(test_faults_are_found_once_members_were_asked),
		cmocka_unit_test(test_faults_are_found_without_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
