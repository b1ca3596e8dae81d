// SPDX-License-Identifier: Apache-2.0
#include "peer_discovery.h"

#include <errno.h>
#include <ifaddrs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rna/https.h"

#define TURN          RNA_USEC_PER_SEC        /* of the thread */
#define ASK_PERIOD    (30 * RNA_USEC_PER_SEC) /* of a peer that is well */
#define ASK_SOONER    (5 * RNA_USEC_PER_SEC)  /* of one that does not answer */
#define ASK_FIRST     (2 * RNA_USEC_PER_SEC)  /* of one that still opens ports; doubled each time */
#define ASK_PAUSE     RNA_USEC_PER_SEC        /* at least, also when the loop wants to know */
#define PATIENCE      (1500 * RNA_USEC_PER_MSEC)
#define PATIENCE_ONCE (500 * RNA_USEC_PER_MSEC)      /* with a member that is no neighbour */
#define TOLD          (24 * 3600 * RNA_USEC_PER_SEC) /* how long what it told is believed */
#define NOT_TOLD      (600 * RNA_USEC_PER_SEC)
#define SLOW_ANSWER   RNA_USEC_PER_SEC /* of a host that stands still now and then */

enum {
	STACK = 512 << 10, /* libcurl and a resolver */
	PEERS_MAX = 2 * RNA_NEIGHBOURS_MAX,
	QUESTIONS_MAX = 2 * PEERS_MAX, /* while a peer or the resolver takes its time */
};

/* A neighbour that is asked. */
struct peer {
	struct rna_peer_place place;
	char host[RNA_PEER_TEXT_SIZE];
	rna_usec asked;
	rna_usec pause;   /* after that it is asked again */
	unsigned unready; /* answers in a row without all ports open */
	bool wanted;      /* the loop asks for it */
};

/* The thread's own. */
struct work {
	struct rna_worker *worker;
	struct rna_worker *source;
	char *node;
	char leaf[RNA_PEER_TEXT_SIZE];
	struct rna_member_list *list; /* the newest good one; NULL: none yet */
	size_t *ring;                 /* its order behind this node */
	size_t ring_count;
	rna_usec asked_leaf;               /* a member, for its leaf */
	char own[RNA_PEER_TEXT_SIZE];      /* name in the list */
	char own_leaf[RNA_PEER_TEXT_SIZE]; /* in the list; "": it has none */
	unsigned neighbours;
	uint64_t choice;
	size_t count;
	struct peer peers[PEERS_MAX];
};

/* A peer that the loop wants to be asked, or the leaf of this node. */
struct question {
	struct rna_work work;
	bool is_leaf;
	char name[RNA_PEER_TEXT_SIZE];
};

/* -- Findings ---------------------------------------------------------------------------------- */

static void hand_over(struct work *work, const struct rna_peer_news *finding)
{
	struct rna_peer_news *copy = malloc(sizeof(*copy));

	if (!copy)
		return; /* the next answer tells as much */
	*copy = *finding;
	rna_worker_return(work->worker, &copy->work);
}

/* -- Members ----------------------------------------------------------------------------------- */

static struct peer make_peer(const struct work *work, const struct rna_member *member)
{
	struct peer peer = {0};

	(void)snprintf(peer.place.name, sizeof(peer.place.name), "%s", member->name);
	(void)snprintf(peer.place.origin, sizeof(peer.place.origin), "%s://%s",
		       member->https ? "https" : "http", member->address);
	rna_member_host(member, peer.host, sizeof(peer.host));
	for (size_t i = 0; i < work->count; i++)
		if (strcmp(work->peers[i].place.name, peer.place.name) == 0 &&
		    strcmp(work->peers[i].place.origin, peer.place.origin) == 0)
			return work->peers[i]; /* with what is known of it */
	return peer;
}

/* As the list before a restart had it. */
static struct peer recall_peer(const struct rna_peer_place *place)
{
	const char *address = strstr(place->origin, "://");
	const struct rna_member member = {.address = address ? address + 3 : place->origin};
	struct peer peer = {.place = *place};

	rna_member_host(&member, peer.host, sizeof(peer.host));
	return peer;
}

/* This node may be listed by an address, or by a longer name. */
static void find_own(struct work *work, const struct rna_members *members)
{
	struct ifaddrs *addresses = NULL;

	if (getifaddrs(&addresses) < 0)
		addresses = NULL; /* then by its name alone */
	(void)snprintf(work->own, sizeof(work->own), "%s",
		       rna_members_own_name(members, work->node, addresses));
	if (addresses)
		freeifaddrs(addresses);
}

static void find_own_leaf(struct work *work, const struct rna_members *members)
{
	work->own_leaf[0] = '\0';
	for (size_t i = 0; i < members->count; i++)
		if (strcmp(members->members[i].name, work->own) == 0)
			(void)snprintf(work->own_leaf, sizeof(work->own_leaf), "%s",
				       members->members[i].leaf);
}

/* With the leaves of one source: those of the list, if it has one for this node. */
static const char *leaf_of(const struct work *work)
{
	return work->own_leaf[0] != '\0' ? work->own_leaf : work->leaf;
}

static void choose(struct work *work)
{
	const struct rna_members *members = &work->list->members;
	struct rna_neighbours neighbours;
	struct peer peers[PEERS_MAX];

	if (rna_neighbours_choose(members, work->own, leaf_of(work), work->neighbours,
				  &neighbours) < 0)
		return;
	for (size_t i = 0; i < neighbours.count; i++)
		peers[i] = make_peer(work, &members->members[neighbours.members[i]]);
	memcpy(work->peers, peers, neighbours.count * sizeof(peers[0]));
	work->count = neighbours.count;
}

/* Among the list that there is. list: the newest look, which may have failed. */
static void tell_choice(struct work *work, const struct rna_member_list *list)
{
	struct rna_peer_news finding = {
		.choice = ++work->choice,
		.looked = list->looked,
		.members = list->members.count,
	};

	memcpy(finding.text, list->error, sizeof(finding.text));
	memcpy(finding.own, work->own, sizeof(finding.own));
	memcpy(finding.leaf, work->own_leaf, sizeof(finding.leaf));
	finding.place_count = work->count;
	for (size_t i = 0; i < work->count; i++)
		finding.places[i] = work->peers[i].place;
	hand_over(work, &finding);
}

static void choose_again(struct work *work)
{
	if (!work->list)
		return;
	choose(work);
	tell_choice(work, work->list);
}

static void use_list(struct work *work, struct rna_member_list *list)
{
	if (work->list)
		rna_members_keep_claims(&list->members, &work->list->members);
	(void)rna_member_list_free(work->list);
	work->list = list;
	find_own(work, &list->members);
	find_own_leaf(work, &list->members);
	free(work->ring);
	work->ring = NULL;
	work->ring_count = 0;
	choose_again(work);
}

/* A list that cannot be had leaves the choice as it is. */
static void take_list(struct work *work)
{
	struct rna_member_list *list = rna_member_source_take(work->source);

	if (!list)
		return;
	if (list->error[0] == '\0') {
		use_list(work, list);
		return;
	}
	tell_choice(work, list);
	(void)rna_member_list_free(list);
}

static void take_leaf(struct work *work, const char *leaf)
{
	if (strcmp(work->leaf, leaf) == 0)
		return;
	(void)snprintf(work->leaf, sizeof(work->leaf), "%s", leaf);
	for (size_t i = 0; work->list && i < work->list->members.count; i++) {
		work->list->members.members[i].claims = false; /* it was about another leaf */
		work->list->members.members[i].ask_at = 0;
	}
	choose_again(work);
}

/* -- Peers ------------------------------------------------------------------------------------- */

static void refuse(struct rna_peer_news *finding, const char *text)
{
	finding->refused = true;
	(void)snprintf(finding->text, sizeof(finding->text), "%s", text);
}

static void read_reply(const struct rna_https_reply *reply, struct rna_peer_news *finding)
{
	struct rna_error error = {0};
	char text[RNA_PEER_TEXT_SIZE];

	if (reply->status == 404) {
		refuse(finding, "it has no /api/v1/probe: an agent of an older version, or none");
	} else if (reply->status == 401 || reply->status == 403) {
		refuse(finding, "its HTTP server wants a user, and gives none access without");
	} else if (reply->status != 200) {
		(void)snprintf(text, sizeof(text), "it answers with HTTP status %u", reply->status);
		refuse(finding, text);
	} else if (rna_peer_facts_parse(reply->body.data, reply->body.len, &finding->facts,
					&error) < 0) {
		refuse(finding, error.text);
	} else {
		finding->answered = true;
	}
}

static bool is_ready(const struct rna_peer_facts *facts)
{
	for (size_t i = 0; i < facts->port_count; i++)
		if (!facts->ports[i].open)
			return false;
	return facts->runs;
}

/* A peer that starts will soon have its ports open; one that cannot open them is asked rarely. */
static rna_usec next_pause(struct peer *peer, const struct rna_peer_news *finding)
{
	rna_usec pause = ASK_FIRST << peer->unready;

	if (finding->answered && !is_ready(&finding->facts)) {
		if (pause >= ASK_PERIOD)
			return ASK_PERIOD;
		peer->unready++;
		return pause;
	}
	peer->unready = 0;
	return finding->answered ? ASK_PERIOD : ASK_SOONER;
}

static struct rna_peer_news ask_agent(struct work *work, const struct peer *peer, rna_usec patience)
{
	RNA_HTTPS_REPLY struct rna_https_reply reply = RNA_HTTPS_REPLY_INIT;
	RNA_CLEANUP(rna_https_close_p) struct rna_https *https = NULL;
	const struct rna_https_request request = {.method = "GET", .path = "/api/v1/probe"};
	const struct rna_https_peer server = {
		.origin = peer->place.origin,
		.connect_deadline = patience,
		.deadline = patience,
		.reply_max = RNA_PEER_FACTS_BYTES,
		.cancel = rna_worker_stopped(work->worker),
	};
	struct rna_peer_news finding = {.asked = rna_clock_monotonic()};
	struct rna_error error = {0};

	(void)snprintf(finding.name, sizeof(finding.name), "%s", peer->place.name);
	memcpy(finding.host, peer->host, sizeof(finding.host));
	if (rna_https_open(&server, &https, &error) < 0 ||
	    rna_https_ask(https, &request, &reply, &error) < 0)
		(void)snprintf(finding.text, sizeof(finding.text), "%s", error.text);
	else
		read_reply(&reply, &finding);
	finding.facts.late |= rna_usec_since(finding.asked, rna_clock_monotonic()) >= SLOW_ANSWER;
	return finding;
}

/* What it tells of its leaves is a claim: nothing but the choice of neighbours rests on it. */
static void hear_leaf(struct work *work, struct rna_member *member,
		      const struct rna_peer_news *finding)
{
	bool before = member->claims;

	bool told = finding->answered && rna_peer_facts_tell_leaves(&finding->facts);

	member->ask_at = finding->asked + (told ? TOLD : NOT_TOLD);
	if (!told)
		return; /* it is quiesced, for example: what it told before holds */
	member->claims = rna_peer_facts_have_leaf(&finding->facts, work->leaf);
	if (member->claims != before)
		choose_again(work);
}

static int compare_name(const void *name, const void *member)
{
	return strcmp(name, ((const struct rna_member *)member)->name);
}

static void ask(struct work *work, struct peer *peer)
{
	const struct rna_peer_news finding = ask_agent(work, peer, PATIENCE);
	struct rna_member *member = NULL;

	peer->asked = finding.asked;
	peer->wanted = false;
	peer->pause = next_pause(peer, &finding);
	hand_over(work, &finding);
	if (work->list && work->list->members.count > 0)
		member = bsearch(finding.name, work->list->members.members,
				 work->list->members.count, sizeof(*member), compare_name);
	if (member)
		hear_leaf(work, member, &finding); /* from here on peer may be another one */
}

static bool is_due(const struct peer *peer, rna_usec now)
{
	rna_usec waited = rna_usec_since(peer->asked, now);

	if (waited < ASK_PAUSE && peer->asked > 0)
		return false;
	return peer->wanted || waited >= peer->pause;
}

/* -- Leaves ------------------------------------------------------------------------------------ */

static void ask_for_leaf(struct work *work, rna_usec now)
{
	struct rna_member *member;
	struct rna_peer_news finding;
	struct peer peer;
	int count;

	if (!work->list || work->leaf[0] == '\0' || rna_usec_since(work->asked_leaf, now) < TURN)
		return;
	if (!work->ring) {
		count = rna_ring_order(&work->list->members, work->own, &work->ring);
		work->ring_count = count < 0 ? 0 : (size_t)count;
	}
	member = rna_neighbours_unknown(&work->list->members, work->ring, work->ring_count,
					leaf_of(work), work->neighbours, now);
	if (!member)
		return;
	work->asked_leaf = now;
	peer = make_peer(work, member);
	finding = ask_agent(work, &peer, PATIENCE_ONCE);
	hear_leaf(work, member, &finding);
}

/* -- The thread -------------------------------------------------------------------------------- */

static void take_question(struct work *work)
{
	struct question *question = (struct question *)rna_worker_next(work->worker, 0);

	if (question && question->is_leaf)
		take_leaf(work, question->name);
	for (size_t i = 0; question && i < work->count; i++)
		work->peers[i].wanted |= strcmp(work->peers[i].place.name, question->name) == 0;
	free(question);
}

/* Waits for a turn at most. */
static void take_news(struct work *work)
{
	struct pollfd waiting[] = {
		{.fd = rna_worker_wake_fd(work->worker), .events = POLLIN},
		{.fd = rna_worker_fd(work->source), .events = POLLIN},
	};
	int timeout = (int)(TURN / RNA_USEC_PER_MSEC);

	while (!*rna_worker_stopped(work->worker) &&
	       poll(waiting, RNA_ARRAY_SIZE(waiting), timeout) > 0) {
		take_list(work);
		take_question(work);
		timeout = 0;
	}
}

static void discover(struct rna_worker *worker, void *userdata)
{
	struct work *work = userdata;

	work->worker = worker;
	while (!*rna_worker_stopped(worker)) {
		for (size_t i = 0; i < work->count && !*rna_worker_stopped(worker); i++)
			if (is_due(&work->peers[i], rna_clock_monotonic()))
				ask(work, &work->peers[i]);
		ask_for_leaf(work, rna_clock_monotonic());
		take_news(work);
	}
}

static void free_work(void *userdata)
{
	struct work *work = userdata;

	(void)rna_worker_stop(work->source);
	(void)rna_member_list_free(work->list);
	free(work->ring);
	free(work->node);
	free(work);
}

/* -- The loop's side --------------------------------------------------------------------------- */

static struct work *make_work(const struct rna_peer_discovery_options *options)
{
	struct work *work = calloc(1, sizeof(*work));

	if (!work)
		return NULL;
	work->node = strdup(options->node);
	work->neighbours = options->neighbours;
	for (; work->count < options->remembered_count && work->count < PEERS_MAX; work->count++)
		work->peers[work->count] = recall_peer(&options->remembered[work->count]);
	if (work->node && rna_member_source_start(&options->source, &work->source, NULL) == 0)
		return work;
	free_work(work);
	return NULL;
}

int rna_peer_discovery_start(const struct rna_peer_discovery_options *options,
			     struct rna_worker **ret, struct rna_error *error)
{
	struct work *work = make_work(options);
	const struct rna_worker_options thread = {
		.name = "rna-probe-peers",
		.stack = STACK,
		.most = QUESTIONS_MAX,
		.userdata = work,
		.run = discover,
		.release = free_work,
	};
	int status = work ? rna_worker_start_new(&thread, ret) : -ENOMEM;

	return status < 0 ? rna_error_set(error, status, "cannot ask peers for their ports") : 0;
}

struct rna_peer_news *rna_peer_discovery_take(struct rna_worker *discovery)
{
	return (struct rna_peer_news *)rna_worker_take(discovery);
}

static void give(struct rna_worker *discovery, const char *name, bool is_leaf)
{
	struct question *question = calloc(1, sizeof(*question));

	if (!question)
		return;
	question->is_leaf = is_leaf;
	(void)snprintf(question->name, sizeof(question->name), "%s", name);
	if (rna_worker_give(discovery, &question->work) < 0)
		free(question);
}

void rna_peer_discovery_ask(struct rna_worker *discovery, const char *name)
{
	give(discovery, name, false);
}

void rna_peer_discovery_set_leaf(struct rna_worker *discovery, const char *leaf)
{
	give(discovery, leaf, true);
}
