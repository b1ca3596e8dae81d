// SPDX-License-Identifier: Apache-2.0
#include "pairs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"

#include "probe_memory.h"

/* A pair that was answered within this time is there. */
#define FRESH (10 * RNA_USEC_PER_SEC)
/* How long a port is closed after a flood: the first time; each further pause is twice as long. */
#define PAUSE_FIRST     (5 * RNA_USEC_PER_SEC)
#define PAUSE_LONGEST   (300 * RNA_USEC_PER_SEC)
#define PAUSE_FORGOTTEN PAUSE_LONGEST

/* -- Ports ------------------------------------------------------------------------------------- */

static bool is_same_port(const struct rna_probe_plan *a, const struct rna_probe_plan *b)
{
	return strcmp(a->device, b->device) == 0 && a->port == b->port;
}

/* With another address or class the prober has to open it anew. */
static bool is_same_address(const struct rna_probe_plan *a, const struct rna_probe_plan *b)
{
	return a->infiniband == b->infiniband && a->gid_index == b->gid_index &&
	       a->class.traffic_class == b->class.traffic_class &&
	       a->class.service_level == b->class.service_level &&
	       memcmp(a->gid, b->gid, sizeof(a->gid)) == 0 && (a->why == NULL) == (b->why == NULL);
}

static void set_port(struct rna_pairs *pairs, const struct rna_probe_plan *plan)
{
	struct rna_probing_port *place = NULL;

	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++) {
		struct rna_probing_port *port = &pairs->ports[i];

		if (is_same_port(&port->plan, plan)) {
			port->listed = port->id == 0 || is_same_address(&port->plan, plan);
			if (port->listed)
				port->plan = *plan;
			return;
		}
		if (!place && port->plan.device[0] == '\0')
			place = port;
	}
	if (place)
		*place = (struct rna_probing_port){.plan = *plan, .listed = true};
}

void rna_pairs_set_ports(struct rna_pairs *pairs, const struct rna_probe_plan *plans, size_t count)
{
	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		pairs->ports[i].listed = false;
	for (size_t i = 0; i < count; i++)
		set_port(pairs, &plans[i]);
}

struct rna_probing_port *rna_pairs_find_port(struct rna_pairs *pairs, uint32_t id)
{
	for (size_t i = 0; id != 0 && i < RNA_PROBING_PORTS_MAX; i++)
		if (pairs->ports[i].id == id)
			return &pairs->ports[i];
	return NULL;
}

void rna_pairs_pause(struct rna_probing_port *port, const struct rna_probe_flood *flood,
		     struct rna_time now)
{
	struct rna_probe_pauses *pauses = &port->pauses;
	rna_usec longer = 2 * port->pause;

	if (pauses->count++ == 0) {
		pauses->since = now.realtime;
		longer = PAUSE_FIRST;
	}
	port->pause = longer < PAUSE_LONGEST ? longer : PAUSE_LONGEST;
	port->again = now.monotonic + port->pause;
	pauses->until = now.realtime + port->pause;
	pauses->flood = *flood;
	(void)snprintf(port->text, sizeof(port->text), "flooded: %" PRIu64 " packets refused",
		       flood->packets);
}

void rna_pairs_forget_pauses(struct rna_pairs *pairs, rna_usec now)
{
	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		if (now >= pairs->ports[i].again + PAUSE_FORGOTTEN)
			pairs->ports[i].pauses = (struct rna_probe_pauses){0};
}

/* -- Peers ------------------------------------------------------------------------------------- */

struct rna_probing_peer *rna_pairs_peer(struct rna_pairs *pairs, const char *name)
{
	struct rna_probing_peer *place = NULL;

	for (size_t i = 0; i < RNA_PROBING_PEERS_MAX; i++) {
		if (strcmp(pairs->peers[i].name, name) == 0)
			return &pairs->peers[i];
		if (!place && pairs->peers[i].name[0] == '\0')
			place = &pairs->peers[i];
	}
	if (place)
		(void)snprintf(place->name, sizeof(place->name), "%s", name);
	return place;
}

bool rna_pairs_choose(struct rna_pairs *pairs, const struct rna_peer_place *place, uint64_t choice)
{
	struct rna_probing_peer *peer = rna_pairs_peer(pairs, place->name);
	bool changed = peer && strcmp(peer->origin, place->origin) != 0;

	if (!peer)
		return false;
	memcpy(peer->origin, place->origin, sizeof(peer->origin));
	peer->choice = choice;
	return changed;
}

void rna_pairs_delay(struct rna_pairs *pairs, rna_usec standstill)
{
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++)
		if (pairs->pairs[i].port)
			rna_ledger_delay(&pairs->pairs[i].ledger, standstill);
}

void rna_pairs_hear(struct rna_probing_peer *peer, const struct rna_peer_news *news)
{
	memcpy(peer->host, news->host, sizeof(peer->host));
	peer->answered = news->answered;
	peer->refused = news->refused;
	(void)snprintf(peer->text, sizeof(peer->text), "%s", news->text);
	if (!news->answered) {
		peer->word.back = 0;
		return;
	}
	peer->word.asked = news->asked;
	/* A host that stood still was away, for as long as it says that. */
	if (peer->word.back == 0 || news->facts.late)
		peer->word.back = news->asked;
	peer->facts = news->facts;
}

void rna_pairs_drop_peers(struct rna_pairs *pairs, uint64_t choice)
{
	for (size_t i = 0; i < RNA_PROBING_PEERS_MAX; i++) {
		struct rna_probing_peer *peer = &pairs->peers[i];

		if (peer->name[0] == '\0' || peer->choice >= choice)
			continue;
		for (size_t k = 0; k < RNA_PROBING_PAIRS_MAX; k++)
			if (pairs->pairs[k].port && pairs->pairs[k].peer == peer)
				rna_pairs_drop(&pairs->pairs[k]);
		*peer = (struct rna_probing_peer){0};
	}
}

/* -- Pairs ------------------------------------------------------------------------------------- */

struct rna_probing_pair *rna_pairs_find(struct rna_pairs *pairs, uint32_t port, uint32_t target)
{
	for (size_t i = 0; target != 0 && i < RNA_PROBING_PAIRS_MAX; i++) {
		struct rna_probing_pair *pair = &pairs->pairs[i];

		if (pair->port && pair->id == target && pair->port->id == port)
			return pair;
	}
	return NULL;
}

struct rna_probing_pair *rna_pairs_find_gid(struct rna_pairs *pairs, uint32_t port,
					    const uint8_t gid[16])
{
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++) {
		struct rna_probing_pair *pair = &pairs->pairs[i];

		if (pair->port && pair->port->id == port &&
		    memcmp(pair->address.gid, gid, sizeof(pair->address.gid)) == 0)
			return pair;
	}
	return NULL;
}

void rna_pairs_drop(struct rna_probing_pair *pair)
{
	*pair = (struct rna_probing_pair){0};
}

/* other: of a pair of this node, the other port; else NULL. NULL: there are too many. */
static struct rna_probing_pair *get_pair(struct rna_pairs *pairs, struct rna_probing_port *port,
					 struct rna_probing_peer *peer,
					 const struct rna_probing_port *other)
{
	struct rna_probing_pair *place = NULL;

	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++) {
		struct rna_probing_pair *pair = &pairs->pairs[i];

		if (!place && !pair->port)
			place = pair;
		if (pair->port == port && pair->peer == peer &&
		    (!other || (strcmp(pair->device, other->plan.device) == 0 &&
				pair->number == other->plan.port)))
			return pair;
	}
	if (!place)
		return NULL;
	*place = (struct rna_probing_pair){.port = port,
					   .peer = peer,
					   .rail = RNA_PROBE_RAIL_UNKNOWN};
	rna_ledger_init(&place->ledger);
	return place;
}

/* Planes share a rail, and need not reach each other: the first one probes the first one. */
static size_t count_planes_before(const struct rna_pairs *pairs, const struct rna_probe_plan *plan)
{
	size_t count = 0;

	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++) {
		const struct rna_probe_plan *other = &pairs->ports[i].plan;

		count += pairs->ports[i].listed && other->rail == plan->rail &&
			 other->infiniband == plan->infiniband && other->port == plan->port &&
			 rna_compare_names(other->device, plan->device) < 0;
	}
	return count;
}

/* The peer's port on the same rail; ports without a rail match by their name. */
static const struct rna_peer_port *find_opposite(const struct rna_pairs *pairs,
						 const struct rna_probing_port *port,
						 const struct rna_peer_facts *facts)
{
	const struct rna_probe_plan *plan = &port->plan;
	bool named = plan->rail == RNA_PROBE_RAIL_UNKNOWN;
	size_t skip = named ? 0 : count_planes_before(pairs, plan);

	for (size_t i = 0; i < facts->port_count; i++) {
		const struct rna_peer_port *other = &facts->ports[i];

		if (other->infiniband != plan->infiniband || other->rail != plan->rail)
			continue;
		if (named ? strcmp(other->device, plan->device) != 0 : other->port != plan->port)
			continue;
		if (skip-- == 0)
			return other;
	}
	return NULL;
}

/* A peer that goes, goes while probes are under way. What this host cannot send is another matter.
 */
static void set_state(struct rna_probing_pair *pair, enum rna_probe_state state, const char *text)
{
	bool gone = state == RNA_PROBE_PEER_DOWN || state == RNA_PROBE_PEER_REFUSED;

	if (gone && pair->state != state)
		rna_ledger_forgive(&pair->ledger);
	pair->state = state;
	(void)snprintf(pair->text, sizeof(pair->text), "%.*s", (int)sizeof(pair->text) - 1, text);
}

/* Why it cannot be probed at present; NULL: it can. */
static const char *look_at_peer(const struct rna_probing_peer *peer,
				const struct rna_pairs_terms *terms,
				const struct rna_peer_port *other, enum rna_probe_state *ret)
{
	*ret = RNA_PROBE_PEER_REFUSED;
	if (peer->refused)
		return peer->text;
	*ret = peer->text[0] != '\0' ? RNA_PROBE_PEER_DOWN : RNA_PROBE_WAITING;
	if (!peer->answered)
		return peer->text[0] != '\0' ? peer->text : "it was not asked yet";
	*ret = RNA_PROBE_PEER_REFUSED;
	if (strcmp(peer->facts.group, terms->group) != 0)
		return "it is of another group";
	if (peer->facts.runs && strcmp(peer->facts.key_check, terms->key_check) != 0)
		return "it has another secret";
	*ret = RNA_PROBE_PEER_DOWN;
	if (!peer->facts.runs)
		return peer->facts.why[0] != '\0' ? peer->facts.why : "its prober does not run";
	if (!other)
		return "it has no port on this rail";
	return other->open ? NULL : "its port is not open";
}

static enum rna_probe_scope scope_of(const struct rna_probing_port *port,
				     const struct rna_peer_port *other)
{
	return port->plan.leaf[0] != '\0' && strcmp(port->plan.leaf, other->leaf) == 0
		       ? RNA_PROBE_LEAF
		       : RNA_PROBE_FABRIC;
}

static void describe(struct rna_probing_pair *pair, const struct rna_peer_port *other)
{
	(void)snprintf(pair->device, sizeof(pair->device), "%s", other->device);
	(void)snprintf(pair->leaf, sizeof(pair->leaf), "%s", other->leaf);
	pair->number = other->port;
	pair->rail = other->rail;
	pair->scope = scope_of(pair->port, other);
	if (other->open)
		pair->address = other->address;
}

/* Probes are sent, unless this host cannot. */
static void set_running(struct rna_probing_pair *pair)
{
	int refusal = pair->ledger.refusal;

	if (refusal == EADDRINUSE)
		set_state(pair, RNA_PROBE_LOCAL, "the kernel delivers it without the cable");
	else if (refusal != 0 && !(pair->signs & RNA_PROBE_SILENT))
		set_state(pair, RNA_PROBE_NO_NEIGHBOUR, strerror(refusal));
	else
		set_state(pair, RNA_PROBE_RUNNING, "");
}

static void pair_with_peer(struct rna_pairs *pairs, struct rna_probing_port *port,
			   struct rna_probing_peer *peer, const struct rna_pairs_terms *terms)
{
	const struct rna_peer_port *other = find_opposite(pairs, port, &peer->facts);
	struct rna_probing_pair *pair = get_pair(pairs, port, peer, NULL);
	enum rna_probe_state state;
	const char *why;

	if (!pair)
		return;
	pair->listed = true;
	why = look_at_peer(peer, terms, other, &state);
	if (other)
		describe(pair, other);
	else
		pair->scope = RNA_PROBE_FABRIC;
	pair->word = peer->word;
	pair->word.runs = !why;
	if (why) {
		set_state(pair, state, why);
		return;
	}
	if (pair->session != other->session)
		rna_ledger_forgive(&pair->ledger); /* it was opened again */
	pair->session = other->session;
	set_running(pair);
}

/* Is its GID an IPv4 address? IBTA A17.4.5.2: as RFC 4291 maps it. */
static bool has_ipv4(const struct rna_probe_plan *plan)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(plan->gid, prefix, sizeof(prefix)) == 0;
}

/*
 * Why probes between two ports of this node would not use their cables; NULL: they may. With RoCE
 * the kernel routes an address handle out of the network device of the source GID
 * (set_addr_netns_by_gid_rcu(), drivers/infiniband/core/addr.c, torvalds/linux 010e85f9e47c). So
 * an IPv4 address of another interface is reached through a gateway; without one, ARP stays
 * without an answer, because the sender's address is local there (accept_local,
 * Documentation/networking/ip-sysctl.rst). An IPv6 address is routed to lo all the same, and the
 * frame is then addressed to the sender's own MAC (addr_resolve_neigh()). The ports of one card
 * may have an embedded switch between them.
 */
static const char *why_local(const struct rna_probe_plan *own, const struct rna_probe_plan *other)
{
	if (own->infiniband)
		return NULL;
	if (own->software || other->software)
		return "software devices deliver it without the cable";
	if (own->card < 0 || own->card == other->card)
		return "ports of one card may deliver it without the cable";
	if (!has_ipv4(own) || !has_ipv4(other))
		return "the kernel routes IPv6 addresses of this node to itself";
	return NULL;
}

static void pair_with_own(struct rna_pairs *pairs, struct rna_probing_port *port,
			  const struct rna_probing_port *other)
{
	struct rna_probing_pair *pair = get_pair(pairs, port, NULL, other);
	const char *local;

	if (!pair)
		return;
	(void)snprintf(pair->device, sizeof(pair->device), "%s", other->plan.device);
	(void)snprintf(pair->leaf, sizeof(pair->leaf), "%s", other->plan.leaf);
	pair->listed = true;
	pair->number = other->plan.port;
	pair->rail = other->plan.rail;
	pair->scope = RNA_PROBE_HOST;
	pair->address = other->address;
	pair->session = other->session;
	local = why_local(&port->plan, &other->plan);
	if (local)
		set_state(pair, RNA_PROBE_LOCAL, local);
	else
		set_running(pair);
}

void rna_pairs_make(struct rna_pairs *pairs, const struct rna_pairs_terms *terms)
{
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++)
		pairs->pairs[i].listed = false;
	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++) {
		struct rna_probing_port *port = &pairs->ports[i];

		if (!port->open || !port->listed)
			continue;
		for (size_t k = 0; k < RNA_PROBING_PEERS_MAX; k++)
			if (pairs->peers[k].name[0] != '\0')
				pair_with_peer(pairs, port, &pairs->peers[k], terms);
		for (size_t k = 0; terms->host_mesh && k < RNA_PROBING_PORTS_MAX; k++)
			if (k != i && pairs->ports[k].open && pairs->ports[k].listed &&
			    pairs->ports[k].plan.infiniband == port->plan.infiniband)
				pair_with_own(pairs, port, &pairs->ports[k]);
	}
}

/* -- Counts ------------------------------------------------------------------------------------ */

/* A port counts what its pairs have counted, also after they are gone. */
static void pass_on(struct rna_probing_pair *pair)
{
	struct rna_probe_counts *port = &pair->port->counts[pair->scope];
	struct rna_probe_counts *total = &pair->ledger.total, *counted = &pair->counted;

	for (size_t i = 0; i < RNA_PROBE_COUNTS; i++)
		*rna_probe_count_of(port, i) +=
			*rna_probe_count_of(total, i) - *rna_probe_count_of(counted, i);
	*counted = *total;
}

void rna_pairs_add(struct rna_pairs *pairs, struct rna_probing_pair *pair,
		   const struct rna_prober_target_report *report, rna_usec now)
{
	rna_ledger_add(&pair->ledger, report, pair->port->plan.class.dscp, now);
	pass_on(pair);
	for (uint32_t i = 0; i < report->sample_count; i++)
		rna_probe_rtt_add(&pairs->rtt[pair->scope], report->samples[i]);
}

/* -- Judging ----------------------------------------------------------------------------------- */

static int compare_rtts(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

	return (first > second) - (first < second);
}

/* The pairs of a port in one scope. */
struct rail {
	size_t pairs, moved; /* moved: their hop limits have changed */
	size_t count;        /* of medians: the round trips that are known, sorted */
	uint64_t medians[RNA_PROBING_PORTS_MAX];
};

/* What pairs are compared with: made once, so that judging takes as long as there are pairs. */
struct surroundings {
	struct rail rails[RNA_PROBING_PORTS_MAX][RNA_PROBE_SCOPE_COUNT];
};

static struct rail *rail_of(const struct rna_pairs *pairs, struct surroundings *around,
			    const struct rna_probing_pair *pair)
{
	return &around->rails[pair->port - pairs->ports][pair->scope];
}

static void survey(const struct rna_pairs *pairs, struct surroundings *around)
{
	*around = (struct surroundings){0};
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++) {
		const struct rna_probing_pair *pair = &pairs->pairs[i];
		struct rail *rail;

		if (!pair->port)
			continue;
		rail = rail_of(pairs, around, pair);
		rail->pairs++;
		rail->moved += pair->ledger.hops.length > 0;
		if (pair->median > 0 && rail->count < RNA_PROBING_PORTS_MAX)
			rail->medians[rail->count++] = pair->median;
	}
	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		for (size_t k = 0; k < RNA_PROBE_SCOPE_COUNT; k++)
			qsort(around->rails[i][k].medians, around->rails[i][k].count,
			      sizeof(uint64_t), compare_rtts);
}

/* Without one that is own; 0: none is known. */
static uint64_t median_without(const struct rail *rail, uint64_t own)
{
	size_t before = 0, others = rail->count;

	while (own > 0 && before < rail->count && rail->medians[before] != own)
		before++;
	if (own > 0 && before < rail->count)
		others--;
	if (others == 0)
		return 0;
	return rail->medians[others / 2 + (others < rail->count && others / 2 >= before)];
}

/* Of the other ports, each with the median of its pairs. */
static uint64_t median_of_node(const struct surroundings *around, size_t port,
			       enum rna_probe_scope scope)
{
	struct rail node = {0};

	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		if (i != port && around->rails[i][scope].count > 0)
			node.medians[node.count++] = median_without(&around->rails[i][scope], 0);
	qsort(node.medians, node.count, sizeof(node.medians[0]), compare_rtts);
	return median_without(&node, 0);
}

/* The others on the rail are those of the same port, which the same cable leads to. */
static void look_around(const struct rna_pairs *pairs, struct surroundings *around,
			const struct rna_probing_pair *own, struct rna_judged_pair *judged)
{
	const struct rail *rail = rail_of(pairs, around, own);
	size_t others = rail->pairs - 1;
	size_t moved = rail->moved - (own->ledger.hops.length > 0);

	judged->rail_median = median_without(rail, own->median);
	judged->node_median =
		median_of_node(around, (size_t)(own->port - pairs->ports), own->scope);
	judged->rail_moved = others > 0 && 2 * moved >= others;
}

/* -- What is recalled -------------------------------------------------------------------------- */

/* In that time each sign is seen again, but for losses, which count on. */
#define RECALLED (120 * RNA_USEC_PER_SEC)

/* Nothing began after now, whatever the clock was set to meanwhile. */
static rna_usec earlier(rna_usec since, rna_usec now)
{
	return since < now ? since : now;
}

static void recall_pair(const struct rna_pairs *pairs, struct rna_probing_pair *pair,
			struct rna_time now)
{
	const struct rna_kept_pair *kept = rna_probe_memory_pair(pairs->memory, pair);
	struct rna_ledger *ledger = &pair->ledger;
	rna_usec ago;

	pair->began = now.monotonic;
	if (!kept)
		return;
	ago = rna_usec_since(kept->when, now.realtime);
	ledger->answered |= kept->answered;
	ledger->usual = kept->usual;
	ledger->usual_of = kept->usual > 0 ? RNA_LEDGER_HOUR : 0;
	ledger->usual_at = now.monotonic;
	ledger->hops_usual = (uint8_t)kept->hops_usual;
	rna_ledger_recall(ledger, kept->pasts, ago, now.monotonic);
	if (kept->signs == 0 || ago >= RNA_PROBE_MEMORY_SIGNS)
		return;
	if (kept->signs & RNA_PROBE_MTU_HOLE)
		rna_paths_recall(&ledger->hole);
	if (kept->signs & RNA_PROBE_DSCP)
		rna_paths_recall(&ledger->dscp);
	pair->recalled = kept->signs;
	pair->recalled_since = earlier(kept->since, now.realtime);
}

static void recall_port(const struct rna_pairs *pairs, struct rna_probing_port *port,
			struct rna_time now)
{
	const struct rna_kept_port *kept = rna_probe_memory_port(pairs->memory, port);

	port->recalled = true;
	if (!kept)
		return;
	port->former = kept->verdict;
	port->former_since = earlier(kept->since, now.realtime);
}

/* An answer refutes a silence. A peer that went meanwhile takes everything with it. */
static unsigned signs_recalled(struct rna_probing_pair *pair, rna_usec now)
{
	if (pair->state == RNA_PROBE_PEER_DOWN || pair->state == RNA_PROBE_PEER_REFUSED ||
	    rna_usec_since(pair->began, now) >= RECALLED)
		pair->recalled = 0;
	if (pair->ledger.last_answer > 0)
		pair->recalled &= ~(unsigned)RNA_PROBE_SILENT;
	return pair->recalled;
}

static bool judge_pair(const struct rna_pairs *pairs, struct surroundings *around,
		       struct rna_probing_pair *pair, struct rna_time now)
{
	struct rna_judged_pair judged = {
		.ledger = &pair->ledger,
		.peer = pair->peer ? &pair->word : NULL,
		.hardware_times = pair->port->hardware_times,
		.dscp = pair->port->plan.class.dscp,
	};
	unsigned signs = 0;

	pass_on(pair);
	look_around(pairs, around, pair, &judged);
	rna_ledger_set_slow(&pair->ledger, rna_pair_is_slower(&judged), now.monotonic);
	rna_ledger_set_confirmed(&pair->ledger, rna_pair_is_confirmed(&judged), now.monotonic);
	if (pair->state == RNA_PROBE_RUNNING || pair->state == RNA_PROBE_NO_NEIGHBOUR)
		signs = rna_pair_signs(&judged, now.monotonic);
	signs |= signs_recalled(pair, now.monotonic);
	rna_ledger_set_silent(&pair->ledger, signs & RNA_PROBE_SILENT, now.monotonic);
	if (signs == pair->signs)
		return false;
	if (signs == 0 || pair->signs == 0)
		pair->since = signs == 0                 ? 0
			      : pair->recalled_since > 0 ? pair->recalled_since
							 : now.realtime;
	pair->recalled_since = 0;
	pair->signs = signs;
	return true;
}

static bool is_fresh(const struct rna_probing_pair *pair, rna_usec now)
{
	return pair->ledger.last_answer > 0 &&
	       rna_usec_since(pair->ledger.last_answer, now) < FRESH;
}

/* All that was sent to it until a second ago has come back. */
static bool is_answering(const struct rna_probing_pair *pair, rna_usec now)
{
	return is_fresh(pair, now) && pair->ledger.unanswered == 0;
}

/* The ports of this node that an end answers: one of them, and whether there are others. */
struct answered {
	const struct rna_probing_port *port;
	bool others;
};

/* For each peer, and for each port of this node. */
struct answering {
	struct answered peers[RNA_PROBING_PEERS_MAX];
	struct answered ports[RNA_PROBING_PORTS_MAX];
};

/* NULL: it is no port of this node any more. */
static struct answered *end_of(const struct rna_pairs *pairs, struct answering *answering,
			       const struct rna_probing_pair *pair)
{
	if (pair->peer)
		return &answering->peers[pair->peer - pairs->peers];
	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		if (pairs->ports[i].plan.port == pair->number &&
		    strcmp(pairs->ports[i].plan.device, pair->device) == 0)
			return &answering->ports[i];
	return NULL;
}

static void find_answering(const struct rna_pairs *pairs, struct answering *ret, rna_usec now)
{
	*ret = (struct answering){0};
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++) {
		const struct rna_probing_pair *pair = &pairs->pairs[i];
		struct answered *end;

		if (!pair->port || !is_answering(pair, now))
			continue;
		end = end_of(pairs, ret, pair);
		if (!end)
			continue;
		end->others |= end->port && end->port != pair->port;
		end->port = pair->port;
	}
}

static bool has_others(const struct rna_pairs *pairs, struct answering *answering,
		       const struct rna_probing_pair *own)
{
	const struct answered *end = end_of(pairs, answering, own);

	return end && (end->others || (end->port && end->port != own->port));
}

/*
 * A peer says that it is there. A port of this node cannot: a path that has never worked may be one
 * that the network does not offer.
 */
static bool is_judged(const struct rna_probing_pair *pair, rna_usec now)
{
	if (pair->peer ? !pair->word.runs : !pair->ledger.answered)
		return false;
	return (pair->signs & RNA_PROBE_SILENT) || is_fresh(pair, now);
}

static bool judge_port(const struct rna_pairs *pairs, struct answering *answering,
		       struct rna_probing_port *port, struct rna_time now)
{
	struct rna_port_evidence evidence[RNA_PROBING_PEERS_MAX + RNA_PROBING_PORTS_MAX];
	struct rna_port_verdict verdict;
	size_t count = 0;
	unsigned silent = 0; /* as recalled */
	bool changed;

	if (!port->recalled)
		recall_port(pairs, port, now);
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX && count < RNA_ARRAY_SIZE(evidence); i++) {
		const struct rna_probing_pair *pair = &pairs->pairs[i];

		if (pair->port != port)
			continue;
		silent += (pair->recalled & RNA_PROBE_SILENT) != 0;
		evidence[count++] = (struct rna_port_evidence){
			.ledger = &pair->ledger,
			.signs = pair->signs,
			.judged = is_judged(pair, now.monotonic),
			.peer_has_others = has_others(pairs, answering, pair),
		};
	}
	verdict = rna_port_judge(evidence, count);
	if (verdict.verdict == RNA_PROBE_UNKNOWN && silent > 0 && port->former_since > 0 &&
	    port->former == RNA_PROBE_UNREACHABLE) {
		verdict.verdict = RNA_PROBE_UNREACHABLE;
		verdict.bad = verdict.judged = silent;
	}
	changed = verdict.verdict != port->verdict.verdict;
	if (changed)
		port->since = port->former_since > 0 && verdict.verdict == port->former
				      ? port->former_since
				      : now.realtime;
	if (verdict.verdict != RNA_PROBE_UNKNOWN)
		port->former_since = 0;
	port->verdict = verdict;
	return changed;
}

bool rna_pairs_judge(struct rna_pairs *pairs, struct rna_time now)
{
	struct surroundings around;
	struct answering answering;
	bool changed = false;

	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++) {
		struct rna_probing_pair *pair = &pairs->pairs[i];

		if (!pair->port)
			continue;
		if (pair->began == 0)
			recall_pair(pairs, pair, now);
		rna_ledger_advance(&pair->ledger, now.monotonic);
		pair->median = rna_ledger_rtt(&pair->ledger, 50);
	}
	survey(pairs, &around);
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++)
		if (pairs->pairs[i].port)
			changed |= judge_pair(pairs, &around, &pairs->pairs[i], now);
	find_answering(pairs, &answering, now.monotonic);
	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		if (pairs->ports[i].plan.device[0] != '\0')
			changed |= judge_port(pairs, &answering, &pairs->ports[i], now);
	return changed;
}
