// SPDX-License-Identifier: Apache-2.0
#include "probing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <systemd/sd-event.h>

#include "rna/base/file.h"
#include "rna/base/log.h"

#include "mesh/peer_discovery.h"

#include "pairs.h"
#include "probe_secret.h"
#include "prober_keeper.h"

#define TURN         RNA_USEC_PER_SEC
#define OPEN_AGAIN   (5 * RNA_USEC_PER_SEC)  /* a port that failed */
#define REST         (3 * RNA_USEC_PER_SEC)  /* after a device began to be removed */
#define CLASS_AGAIN  (10 * RNA_USEC_PER_SEC) /* how often the class of jobs is looked up */
#define ASK_SILENCE  2                       /* unanswered probes after which the peer is asked */
#define LEARN_PERIOD RNA_PROBE_RECENT        /* of the memory, while nothing changes */
#define ASK_LONG     (30 * RNA_USEC_PER_SEC) /* again and again, for this time at least */

/* Six times what labels wait for: a list of members is larger than a Node. */
#define FIRST_DELAY(settings) ((settings)->kubernetes_spread / 4 * 6)

struct rna_probing {
	sd_event *event;
	const struct rna_settings *settings;
	struct rna_probe_memory *memory;
	void (*news)(void *userdata);
	void *userdata;
	rna_usec learned;        /* monotonic: by the memory */
	sd_event_source *timer;  /* NULL: disabled */
	sd_event_source *source; /* of the peer discovery */
	struct rna_prober_keeper *keeper;
	struct rna_worker *discovery;
	struct rna_pairs *pairs; /* NULL: disabled */
	bool quiet;
	rna_usec rest;         /* monotonic: no prober until then */
	rna_usec turned, late; /* monotonic: the newest turn, and the newest one that was late */
	struct rna_probe_class class;
	rna_usec class_looked; /* monotonic; 0: never */
	char node[RNA_PEER_TEXT_SIZE];
	char leaf[RNA_PROBE_LEAF_SIZE];   /* of the first port that has one */
	char listed[RNA_PROBE_LEAF_SIZE]; /* of this node in the list of members */
	struct rna_probe_secret secret;
	struct stat secret_file;     /* as it was read */
	char stopped[RNA_ERROR_MAX]; /* why there is no key; "": there is one */
	size_t members;
	char member[RNA_PEER_TEXT_SIZE]; /* this node's name among them */
	char source_error[RNA_ERROR_MAX];
	rna_usec source_looked;                 /* realtime */
	uint64_t strangers[RNA_STRANGER_COUNT]; /* of the provers before, and of this one: */
	uint64_t current_strangers[RNA_STRANGER_COUNT];
	enum rna_probe_priority priority;
	struct rna_probes *results; /* NULL: to be made */
};

static void learn(struct rna_probing *probing)
{
	struct rna_time now = rna_clock_now();

	rna_probe_memory_learn(probing->memory, probing->pairs, now.realtime);
	probing->learned = now.monotonic;
}

static void forget_results(struct rna_probing *probing)
{
	if (probing->results)
		(void)rna_part_unref(&probing->results->part);
	probing->results = NULL;
}

/* -- The secret -------------------------------------------------------------------------------- */

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mode == b->st_mode && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Kubernetes replaces the files of a Secret behind a symbolic link: each turn looks at the file. */
static void look_at_secret(struct rna_probing *probing)
{
	const char *path = probing->settings->probe_secret_file;
	struct rna_error error;
	struct stat now = {0};

	(void)stat(path, &now); /* what is missing is all zero */
	if (probing->secret_file.st_nlink > 0 && is_same_file(&now, &probing->secret_file))
		return;
	probing->secret_file = now;
	probing->secret_file.st_nlink = 1; /* it was looked at */
	probing->stopped[0] = '\0';
	if (rna_probe_secret_read(&probing->secret, path, &error) == 0)
		return;
	(void)snprintf(probing->stopped, sizeof(probing->stopped), "%s", error.text);
	rna_log_error("no probes: %s", error.text);
}

/* -- The prober's ports and targets ------------------------------------------------------------ */

static uint64_t random_session(void)
{
	uint64_t session = 0;

	while (session == 0)
		if (getrandom(&session, sizeof(session), GRND_NONBLOCK) != sizeof(session))
			session = rna_clock_now().realtime; /* before there is entropy */
	return session;
}

static void order_open(struct rna_probing *probing, struct rna_probing_port *port)
{
	struct rna_prober_order order = {
		.kind = RNA_PROBER_PORT_OPEN,
		.port_id = ++probing->pairs->last_id,
		.port = {.port = port->plan.port,
			 .gid_index = port->plan.gid_index,
			 .service_level = port->plan.class.service_level,
			 .traffic_class = port->plan.class.traffic_class,
			 .session = random_session()},
	};

	memcpy(order.port.device, port->plan.device, sizeof(order.port.device));
	memcpy(order.port.gid, port->plan.gid, sizeof(order.port.gid));
	if (rna_prober_keeper_order(probing->keeper, &order) < 0)
		return; /* the next turn tries again */
	port->id = order.port_id;
	port->session = order.port.session;
}

static void order_close(struct rna_probing *probing, struct rna_probing_port *port)
{
	const struct rna_prober_order order = {.kind = RNA_PROBER_PORT_CLOSE, .port_id = port->id};

	if (!port->closing && rna_prober_keeper_order(probing->keeper, &order) == 0)
		port->closing = true;
}

/* The prober has it no more. Its pairs begin anew with the next one. */
static void forget_port(struct rna_probing *probing, struct rna_probing_port *port)
{
	port->id = 0;
	port->open = port->closing = false;
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++)
		if (probing->pairs->pairs[i].port == port)
			rna_pairs_drop(&probing->pairs->pairs[i]);
	if (!port->listed)
		*port = (struct rna_probing_port){0};
}

static void follow_ports(struct rna_probing *probing, rna_usec now)
{
	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++) {
		struct rna_probing_port *port = &probing->pairs->ports[i];

		if (port->plan.device[0] == '\0')
			continue;
		if (port->id != 0 && (!port->listed || port->plan.why))
			order_close(probing, port);
		else if (port->id == 0 && !port->listed)
			forget_port(probing, port);
		else if (port->id == 0 && !port->plan.why && now >= port->again)
			order_open(probing, port);
	}
}

static bool is_wanted(const struct rna_probing_pair *pair)
{
	return pair->port && pair->listed &&
	       (pair->state == RNA_PROBE_RUNNING || pair->state == RNA_PROBE_NO_NEIGHBOUR);
}

/* That of the setting; a longer one where the pairs of a port would exceed its rate. */
static rna_usec period_of(const struct rna_probing *probing, const struct rna_probing_port *port)
{
	rna_usec wanted = probing->settings->probe_period, least;
	unsigned count = 0;

	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++)
		count += probing->pairs->pairs[i].port == port &&
			 is_wanted(&probing->pairs->pairs[i]);
	least = count * RNA_USEC_PER_SEC / RNA_PROBER_RATE_MAX;
	return wanted > least ? wanted : least;
}

static void order_target(struct rna_probing *probing, struct rna_probing_pair *pair,
			 rna_usec period)
{
	struct rna_prober_order order = {
		.kind = RNA_PROBER_TARGET_SET,
		.port_id = pair->port->id,
		.target_id = pair->id != 0 ? pair->id : ++probing->pairs->last_id,
		.target = {.address = pair->address,
			   .session = pair->session,
			   .period = period,
			   .large_every = probing->settings->probe_large_every},
	};

	if (rna_prober_keeper_order(probing->keeper, &order) < 0)
		return; /* the next turn tries again */
	pair->id = order.target_id;
	pair->ordered = order.target;
}

static void order_clear(struct rna_probing *probing, struct rna_probing_pair *pair)
{
	const struct rna_prober_order order = {
		.kind = RNA_PROBER_TARGET_CLEAR,
		.port_id = pair->port->id,
		.target_id = pair->id,
	};

	if (rna_prober_keeper_order(probing->keeper, &order) == 0)
		pair->id = 0;
}

static bool is_ordered(const struct rna_probing *probing, const struct rna_probing_pair *pair,
		       rna_usec period)
{
	return pair->id != 0 && pair->ordered.session == pair->session &&
	       pair->ordered.period == period &&
	       pair->ordered.large_every == probing->settings->probe_large_every &&
	       memcmp(&pair->ordered.address, &pair->address, sizeof(pair->address)) == 0;
}

static void follow_pairs(struct rna_probing *probing)
{
	rna_usec periods[RNA_PROBING_PORTS_MAX];

	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		periods[i] = period_of(probing, &probing->pairs->ports[i]);
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++) {
		struct rna_probing_pair *pair = &probing->pairs->pairs[i];
		rna_usec period;

		if (!pair->port)
			continue;
		period = periods[pair->port - probing->pairs->ports];
		if (is_wanted(pair) && !is_ordered(probing, pair, period))
			order_target(probing, pair, period);
		else if (!is_wanted(pair) && pair->id != 0)
			order_clear(probing, pair);
		if (!pair->listed && pair->id == 0)
			rna_pairs_drop(pair);
	}
}

/* The pairs that there are now, so that no view shows a port as if it had none. */
static void judge(struct rna_probing *probing, struct rna_time now)
{
	const struct rna_pairs_terms terms = {
		.group = probing->settings->probe_group,
		.key_check = probing->secret.check,
		.host_mesh = probing->settings->probe_host_mesh,
	};

	rna_pairs_make(probing->pairs, &terms);
	follow_pairs(probing);
	if (rna_pairs_judge(probing->pairs, now)) {
		learn(probing);
		probing->news(probing->userdata);
	}
	forget_results(probing);
}

/* -- The prober -------------------------------------------------------------------------------- */

static void take_port_report(struct rna_probing *probing, const struct rna_prober_report *report)
{
	struct rna_probing_port *port = rna_pairs_find_port(probing->pairs, report->port_id);

	if (!port)
		return;
	port->open = report->port.use == RNA_PROBE_OPEN;
	port->paused = report->port.use == RNA_PROBE_PAUSED;
	if (port->open) {
		port->address = report->port.address;
		port->hardware_times = report->port.hardware_times;
		port->text[0] = '\0';
	} else if (port->paused) {
		rna_pairs_pause(port, &report->port.flood, rna_clock_now());
	} else if (report->port.use == RNA_PROBE_FAILED) {
		if (strcmp(port->text, report->port.text) != 0)
			rna_log_notice("probes: %s", report->port.text);
		memcpy(port->text, report->port.text, sizeof(port->text));
		port->again = rna_clock_monotonic() + OPEN_AGAIN;
	}
	if (port->open)
		judge(probing, rna_clock_now());
	else
		forget_port(probing, port);
	probing->news(probing->userdata); /* peers are to know before they judge its silence */
}

static void on_report(const struct rna_prober_report *report, void *userdata)
{
	struct rna_probing *probing = userdata;
	struct rna_probing_pair *pair;

	switch (report->kind) {
	case RNA_PROBER_PORT_REPORT:
		take_port_report(probing, report);
		break;
	case RNA_PROBER_TARGET_REPORT:
		pair = rna_pairs_find(probing->pairs, report->port_id, report->target_id);
		if (pair)
			rna_pairs_add(probing->pairs, pair, &report->target, rna_clock_monotonic());
		break;
	case RNA_PROBER_VISITOR_REPORT:
		pair = rna_pairs_find_gid(probing->pairs, report->port_id, report->visitor.gid);
		if (pair)
			rna_ledger_visited(&pair->ledger, report->visitor.heard,
					   report->visitor.missing);
		break;
	case RNA_PROBER_CHILD_REPORT:
		probing->priority = report->child.priority;
		memcpy(probing->current_strangers, report->child.strangers,
		       sizeof(probing->current_strangers));
		break;
	default:
		break;
	}
	forget_results(probing);
}

static void on_started(void *userdata)
{
	struct rna_probing *probing = userdata;

	follow_ports(probing, rna_clock_monotonic());
}

static void on_ended(const char *why, void *userdata)
{
	struct rna_probing *probing = userdata;

	(void)why;
	learn(probing);
	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		if (probing->pairs->ports[i].plan.device[0] != '\0')
			forget_port(probing, &probing->pairs->ports[i]);
	for (size_t i = 0; i < RNA_STRANGER_COUNT; i++) {
		probing->strangers[i] += probing->current_strangers[i];
		probing->current_strangers[i] = 0;
	}
	forget_results(probing);
}

/* -- Introductions ----------------------------------------------------------------------------- */

/* The setting that names the source, and its name for people. "": there is none. */
static struct rna_member_source_options find_source(const struct rna_settings *settings)
{
	const struct rna_member_source_options sources[] = {
		{.kind = RNA_MEMBERS_FILE, .place = settings->probe_members_file},
		{.kind = RNA_MEMBERS_DNS, .place = settings->probe_members_dns},
		{
			.kind = RNA_MEMBERS_KUBERNETES,
			.place = settings->probe_members_kubernetes,
			.kubeconfig = settings->kubernetes_kubeconfig,
			.server = settings->kubernetes_server,
			.first_delay = FIRST_DELAY(settings),
		},
	};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(sources); i++)
		if (sources[i].place[0] != '\0')
			return sources[i];
	return sources[0];
}

/* DNS is asked all the time: only changes are logged. */
static void note_source(struct rna_probing *probing, const struct rna_peer_news *news)
{
	struct rna_member_source_options source = find_source(probing->settings);
	const char *kind = rna_member_source_kind_name(source.kind);

	if (strcmp(probing->source_error, news->text) == 0)
		return;
	if (news->text[0] == '\0')
		rna_log_notice("probe.members_%s: the list of members can be read again", kind);
	else
		rna_log_warning("probe.members_%s: %s%s", kind, news->text,
				probing->source_looked > 0 ? "; the list before stays in use" : "");
	(void)snprintf(probing->source_error, sizeof(probing->source_error), "%s", news->text);
}

static void take_news(struct rna_probing *probing, const struct rna_peer_news *news)
{
	struct rna_probing_peer *peer;
	bool changed = false;

	if (news->choice == 0) {
		peer = rna_pairs_peer(probing->pairs, news->name);
		if (peer)
			rna_pairs_hear(peer, news);
		return;
	}
	note_source(probing, news);
	if (news->text[0] != '\0')
		return;
	probing->source_looked = news->looked;
	probing->members = news->members;
	memcpy(probing->member, news->own, sizeof(probing->member));
	(void)snprintf(probing->listed, sizeof(probing->listed), "%.*s",
		       (int)sizeof(probing->listed) - 1, news->leaf);
	for (size_t i = 0; i < news->place_count; i++)
		changed |= rna_pairs_choose(probing->pairs, &news->places[i], news->choice);
	rna_pairs_drop_peers(probing->pairs, news->choice);
	judge(probing, rna_clock_now());
	if (changed)
		learn(probing);
}

static int on_news(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_probing *probing = userdata;
	struct rna_peer_news *news;

	(void)source;
	(void)fd;
	(void)events;
	while ((news = rna_peer_discovery_take(probing->discovery))) {
		take_news(probing, news);
		free(news);
	}
	forget_results(probing);
	return 0;
}

static void stop_discovery(struct rna_probing *probing)
{
	probing->source = sd_event_source_disable_unref(probing->source);
	probing->discovery = rna_worker_stop(probing->discovery);
}

static void start_discovery(struct rna_probing *probing)
{
	const struct rna_peer_discovery_options options = {
		.source = find_source(probing->settings),
		.node = probing->node,
		.neighbours = probing->settings->probe_neighbours,
		.remembered = probing->memory->peers,
		.remembered_count = probing->memory->peer_count,
	};
	struct rna_error error = {0};

	if (options.source.place[0] == '\0' || probing->node[0] == '\0' || probing->discovery)
		return;
	if (rna_peer_discovery_start(&options, &probing->discovery, &error) < 0) {
		rna_log_error("probes: %s", error.text);
		return;
	}
	if (sd_event_add_io(probing->event, &probing->source, rna_worker_fd(probing->discovery),
			    EPOLLIN, on_news, probing) < 0)
		stop_discovery(probing);
	else
		rna_peer_discovery_set_leaf(probing->discovery, probing->leaf);
}

/*
 * Its answer decides whether silence is a fault. It may change: the peer's prober gets a processor
 * again, or another one is started.
 */
static bool is_to_be_asked(const struct rna_probing_pair *pair, rna_usec now)
{
	const struct rna_ledger *ledger = &pair->ledger;

	if (ledger->unanswered < ASK_SILENCE && ledger->refusal == 0)
		return false;
	return rna_usec_since(ledger->last_answer, now) < ASK_LONG ||
	       pair->peer->word.asked <= ledger->last_answer + RNA_PAIR_NOTICED;
}

/* Is the peer still there? */
static void ask_about_silence(struct rna_probing *probing, rna_usec now)
{
	for (size_t i = 0; probing->discovery && i < RNA_PROBING_PAIRS_MAX; i++) {
		const struct rna_probing_pair *pair = &probing->pairs->pairs[i];

		if (pair->port && pair->peer && pair->listed && is_to_be_asked(pair, now))
			rna_peer_discovery_ask(probing->discovery, pair->peer->name);
	}
}

/* -- Turns ------------------------------------------------------------------------------------- */

/*
 * A host that stands still answers no probes, nor does a prober that gets no CPU; peers have to be
 * told before they judge.
 */
static void look_at_clock(struct rna_probing *probing, rna_usec now)
{
	rna_usec passed = probing->turned > 0 ? rna_usec_since(probing->turned, now) : 0;
	bool stood = passed >= 2 * TURN;
	bool starves = rna_prober_keeper_runs(probing->keeper) &&
		       rna_usec_since(rna_prober_keeper_heard(probing->keeper), now) >= 2 * TURN;

	if (stood || starves) {
		probing->late = now;
		probing->news(probing->userdata);
	}
	if (passed >= TURN + TURN / 2)
		rna_pairs_delay(probing->pairs, passed);
	probing->turned = now;
}

static void turn(struct rna_probing *probing)
{
	struct rna_time now = rna_clock_now();
	bool may_run;

	look_at_clock(probing, now.monotonic);
	look_at_secret(probing);
	may_run = !probing->quiet && probing->secret.check[0] != '\0' &&
		  now.monotonic >= probing->rest;
	rna_prober_keeper_want(probing->keeper, may_run ? probing->secret.key : NULL);
	rna_prober_keeper_look(probing->keeper, now.monotonic);
	start_discovery(probing);
	rna_pairs_forget_pauses(probing->pairs, now.monotonic);
	if (rna_prober_keeper_runs(probing->keeper))
		follow_ports(probing, now.monotonic);
	judge(probing, now);
	ask_about_silence(probing, now.monotonic);
	if (rna_usec_since(probing->learned, now.monotonic) >= LEARN_PERIOD)
		learn(probing);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)usec;
	turn(userdata);
	(void)sd_event_source_set_time_relative(source, TURN);
	(void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

/* -- The guest --------------------------------------------------------------------------------- */

static void disable(struct rna_probing *probing)
{
	probing->timer = sd_event_source_disable_unref(probing->timer);
	stop_discovery(probing);
	if (probing->pairs)
		learn(probing);
	probing->keeper = rna_prober_keeper_free(probing->keeper);
	free(probing->pairs);
	probing->pairs = NULL;
	probing->secret_file = (struct stat){0};
	probing->class_looked = 0;
	probing->turned = 0;
	probing->source_looked = 0;
	probing->member[0] = '\0';
	probing->source_error[0] = '\0';
	rna_probe_secret_clear(&probing->secret);
	forget_results(probing);
}

static int enable(struct rna_probing *probing)
{
	const struct rna_prober_handlers handlers = {on_report, on_ended, on_started, probing};

	probing->pairs = calloc(1, sizeof(*probing->pairs));
	probing->keeper = rna_prober_keeper_new(
		probing->event, &handlers,
		&(const struct rna_prober_order){
			.setup.confine = probing->settings->security_seccomp != RNA_SECCOMP_OFF,
			.setup.priority = probing->settings->probe_priority,
		});
	if (!probing->pairs || !probing->keeper)
		return -ENOMEM;
	probing->pairs->memory = probing->memory;
	for (size_t i = 0; i < probing->memory->peer_count; i++)
		(void)rna_pairs_choose(probing->pairs, &probing->memory->peers[i], 0);
	return sd_event_add_time_relative(probing->event, &probing->timer, CLOCK_MONOTONIC, TURN,
					  100 * RNA_USEC_PER_MSEC, on_timer, probing);
}

void rna_probing_update(struct rna_probing *probing)
{
	if (!probing)
		return;
	/* What the prober and the peer discovery were given may have changed. */
	disable(probing);
	if (probing->settings->probe_enabled && enable(probing) < 0) {
		disable(probing);
		rna_log_error("out of memory: no probes until the next reload");
	}
}

static void look_at_class(struct rna_probing *probing, const struct rna_view *view)
{
	rna_usec now = view->snapshot->time.monotonic;

	if (probing->class_looked > 0 && rna_usec_since(probing->class_looked, now) < CLASS_AGAIN)
		return;
	probing->class_looked = now;
	probing->class = rna_probe_class_of_jobs(view, probing->settings);
}

/*
 * A port for which nothing else names a leaf has that of the list. The ring is that of the first
 * port that has one.
 */
static void follow_leaves(struct rna_probing *probing, struct rna_probe_plan *plans, size_t count)
{
	const char *leaf = "";

	for (size_t i = 0; i < count; i++) {
		if (plans[i].leaf[0] == '\0')
			memcpy(plans[i].leaf, probing->listed, sizeof(plans[i].leaf));
		if (leaf[0] == '\0')
			leaf = plans[i].leaf;
	}
	if (leaf[0] == '\0' || strcmp(leaf, probing->leaf) == 0)
		return; /* while nothing is read, it is where it was */
	(void)snprintf(probing->leaf, sizeof(probing->leaf), "%s", leaf);
	if (probing->discovery)
		rna_peer_discovery_set_leaf(probing->discovery, probing->leaf);
}

void rna_probing_follow(struct rna_probing *probing, const struct rna_view *view)
{
	struct rna_probe_plan plans[RNA_PROBING_PORTS_MAX];
	size_t count;

	if (!probing || !probing->pairs)
		return;
	look_at_class(probing, view);
	count = rna_probe_plans(view, probing->settings, probing->class, plans,
				RNA_ARRAY_SIZE(plans));
	follow_leaves(probing, plans, count);
	rna_pairs_set_ports(probing->pairs, plans, count);
	(void)snprintf(probing->node, sizeof(probing->node), "%s", view->agent.name);
}

void rna_probing_hold(struct rna_probing *probing, bool quiet)
{
	if (!probing)
		return;
	probing->quiet = quiet;
	if (quiet && probing->keeper)
		rna_prober_keeper_want(probing->keeper, NULL);
}

void rna_probing_let_go(struct rna_probing *probing)
{
	if (!probing || !probing->keeper)
		return;
	rna_prober_keeper_want(probing->keeper, NULL);
	probing->rest = rna_clock_monotonic() + REST;
}

const char *rna_probing_holds(const struct rna_probing *probing)
{
	return probing && probing->keeper && rna_prober_keeper_holds(probing->keeper) ? "the prober"
										      : NULL;
}

const struct rna_pairs *rna_probing_pairs(const struct rna_probing *probing)
{
	return probing ? probing->pairs : NULL;
}

const uint8_t *rna_probing_key(const struct rna_probing *probing)
{
	return probing && probing->secret.check[0] != '\0' ? probing->secret.key : NULL;
}

struct rna_probing *rna_probing_new(const struct rna_probing_host *host)
{
	struct rna_probing *probing = calloc(1, sizeof(*probing));

	if (!probing)
		return NULL;
	probing->event = host->event;
	probing->settings = host->settings;
	probing->memory = host->memory;
	probing->news = host->news;
	probing->userdata = host->userdata;
	rna_probing_update(probing);
	return probing;
}

struct rna_probing *rna_probing_free(struct rna_probing *probing)
{
	if (!probing)
		return NULL;
	disable(probing);
	free(probing);
	return NULL;
}

/* -- Results ----------------------------------------------------------------------------------- */

static const char *why_stopped(const struct rna_probing *probing)
{
	if (probing->quiet)
		return "the agent is quiesced";
	if (probing->stopped[0] != '\0')
		return probing->stopped;
	return rna_prober_keeper_why(probing->keeper);
}

/* What is known beside ports and pairs. */
static struct rna_probes describe_node(const struct rna_probing *probing)
{
	struct rna_member_source_options source = find_source(probing->settings);
	struct rna_probes ret = {
		.node = probing->node,
		.member = probing->member,
		.group = probing->settings->probe_group,
		.stopped = why_stopped(probing),
		.runs = rna_prober_keeper_runs(probing->keeper),
		.restarts = rna_prober_keeper_restarts(probing->keeper),
		.priority = probing->priority,
		.heard = rna_prober_keeper_heard(probing->keeper),
		.late = probing->late,
		.source = {.kind = rna_member_source_kind_name(source.kind),
			   .name = source.place,
			   .error = probing->source_error[0] != '\0' ? probing->source_error : NULL,
			   .looked = probing->source_looked,
			   .members = probing->members},
	};

	memcpy(ret.key_check, probing->secret.check, sizeof(ret.key_check));
	for (size_t i = 0; i < RNA_STRANGER_COUNT; i++)
		ret.strangers[i] = probing->strangers[i] + probing->current_strangers[i];
	return ret;
}

struct rna_probes *rna_probing_results(struct rna_probing *probing)
{
	struct rna_probes node;

	if (!probing || !probing->pairs)
		return NULL;
	if (!probing->results) {
		node = describe_node(probing);
		probing->results = rna_pairs_results(probing->pairs, &node, rna_clock_now());
	}
	if (probing->results)
		(void)rna_part_ref(&probing->results->part);
	return probing->results;
}
