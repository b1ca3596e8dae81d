// SPDX-License-Identifier: Apache-2.0
/*
 * Replies of peers at /api/v1/probe, and all that is made of them: pairs, targets for the prober,
 * verdicts, findings, and texts for people and programs. The guest of the loop
 *(agent/probe/probing.c) runs as it is, over doubles of the thread that asks peers, of the prober,
 *of timers and clocks. Each line of the input happens before a turn of the loop:
 *
 *	list NAME...	      the members that were chosen
 *	reply NAME JSON	      the peer answers
 *	fails NAME TEXT	      it does not answer
 *	refuses NAME TEXT     it answers, but is of no use
 *	answers NUMBER	      so many probes were sent to each target, and answered
 *	loses NUMBER	      or lost
 *	closes	      the prober reports that a port failed
 *	stands SECONDS	      this host stands still
 */
#include <errno.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "rna/base/json_document.h"
#include "rna/base/log.h"
#include "rna/base/parse.h"
#include "rna/check.h"
#include "rna/exporter.h"

#include "health/health.h"
#include "mesh/peer_discovery.h"
#include "probe/probe_ports.h"
#include "probe/probe_secret.h"
#include "probe/prober_keeper.h"
#include "probe/probing.h"

#include "fuzz.h"
#include "health_view.h"

enum {
	PORTS = 4, /* of this node */
	TARGETS_MAX = 512,
	LINES_MAX = 32,
};

#define PERIOD_MIN (50 * RNA_USEC_PER_MSEC) /* as prober.c takes them */
#define PERIOD_MAX (3600 * RNA_USEC_PER_SEC)
#define KEY_CHECK  "0123abcd"

struct ordered {
	uint32_t port, id;
	struct rna_prober_target target;
};

static struct {
	struct rna_time now;
	struct rna_settings settings;
	struct rna_health health;
	struct rna_probing *probing;
	struct rna_probe_memory memory;
	sd_event_time_handler_t on_timer;
	sd_event_io_handler_t on_news;
	struct rna_peer_news *news;
	uint64_t choice;
	struct rna_prober_handlers handlers;
	bool wanted;
	uint32_t opened[PORTS]; /* ids that are not reported yet */
	size_t opened_count;
	uint32_t open[PORTS];
	size_t open_count;
	struct ordered ordered[TARGETS_MAX];
	size_t ordered_count;
} world;

/* -- Clocks, timers, ports ----------------------------------------------------------------------
 */

struct rna_time __wrap_rna_clock_now(void);
rna_usec __wrap_rna_clock_monotonic(void);
int __wrap_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t handler, void *userdata);
int __wrap_sd_event_add_io(sd_event *event, sd_event_source **ret, int fd, uint32_t events,
			   sd_event_io_handler_t handler, void *userdata);
sd_event_source *__wrap_sd_event_source_disable_unref(sd_event_source *source);
int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);
int __wrap_sd_event_source_set_enabled(sd_event_source *source, int mode);
size_t __wrap_rna_probe_plans(const struct rna_view *view, const struct rna_settings *settings,
			      struct rna_probe_class class, struct rna_probe_plan *ret,
			      size_t size);
struct rna_probe_class __wrap_rna_probe_class_of_jobs(const struct rna_view *view,
						      const struct rna_settings *settings);
int __wrap_rna_probe_secret_read(struct rna_probe_secret *secret, const char *path,
				 struct rna_error *error);

struct rna_time __wrap_rna_clock_now(void)
{
	return world.now;
}

rna_usec __wrap_rna_clock_monotonic(void)
{
	return world.now.monotonic;
}

int __wrap_sd_event_add_time_relative(sd_event *event, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t handler, void *userdata)
{
	(void)event, (void)clock, (void)usec, (void)accuracy, (void)userdata;
	world.on_timer = handler;
	*ret = NULL;
	return 0;
}

int __wrap_sd_event_add_io(sd_event *event, sd_event_source **ret, int fd, uint32_t events,
			   sd_event_io_handler_t handler, void *userdata)
{
	(void)event, (void)fd, (void)events, (void)userdata;
	world.on_news = handler;
	*ret = NULL;
	return 0;
}

sd_event_source *__wrap_sd_event_source_disable_unref(sd_event_source *source)
{
	FUZZ_WANT(!source);
	return NULL;
}

int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec)
{
	(void)source, (void)usec;
	return 0;
}

int __wrap_sd_event_source_set_enabled(sd_event_source *source, int mode)
{
	(void)source, (void)mode;
	return 0;
}

/* Two rails of RoCE, one of InfiniBand, and a port whose rail is not known. */
size_t __wrap_rna_probe_plans(const struct rna_view *view, const struct rna_settings *settings,
			      struct rna_probe_class class, struct rna_probe_plan *ret, size_t size)
{
	(void)view, (void)settings;
	FUZZ_WANT(size >= PORTS);
	for (unsigned i = 0; i < PORTS; i++) {
		ret[i] = (struct rna_probe_plan){
			.port = 1,
			.infiniband = i == 2,
			.card = (int)i,
			.gid_index = i == 2 ? -1 : 3,
			.gid = {[10] = 0xff, 0xff, 10, 0, 0, (uint8_t)(1 + i)},
			.class = class,
			.rail = i == 3 ? RNA_PROBE_RAIL_UNKNOWN : i,
		};
		(void)snprintf(ret[i].device, sizeof(ret[i].device), "mlx5_%u", i);
		(void)snprintf(ret[i].leaf, sizeof(ret[i].leaf), "leaf-%u", i);
	}
	return PORTS;
}

struct rna_probe_class __wrap_rna_probe_class_of_jobs(const struct rna_view *view,
						      const struct rna_settings *settings)
{
	(void)view, (void)settings;
	return (struct rna_probe_class){.traffic_class = 104, .dscp = 26};
}

int __wrap_rna_probe_secret_read(struct rna_probe_secret *secret, const char *path,
				 struct rna_error *error)
{
	(void)path, (void)error;
	(void)strcpy(secret->check, KEY_CHECK);
	return 0;
}

/* -- The thread that asks peers ---------------------------------------------------------------- */

int rna_peer_discovery_start(const struct rna_peer_discovery_options *options,
			     struct rna_worker **ret, struct rna_error *error)
{
	const struct rna_worker_options thread = {.name = "fuzz"};

	(void)options, (void)error;
	return rna_worker_new(&thread, ret); /* its thread is never started */
}

struct rna_peer_news *rna_peer_discovery_take(struct rna_worker *discovery)
{
	struct rna_peer_news *news = world.news;

	(void)discovery;
	world.news = NULL;
	return news;
}

void rna_peer_discovery_set_leaf(struct rna_worker *discovery, const char *leaf)
{
	(void)discovery, (void)leaf;
}

void rna_peer_discovery_ask(struct rna_worker *discovery, const char *name)
{
	(void)discovery;
	FUZZ_WANT(*name);
}

static struct rna_peer_news *make_news(const char *name)
{
	struct rna_peer_news *news = calloc(1, sizeof(*news));

	FUZZ_WANT(news);
	(void)snprintf(news->name, sizeof(news->name), "%s", name);
	(void)snprintf(news->host, sizeof(news->host), "%s", name);
	news->asked = world.now.monotonic;
	return news;
}

static void tell(struct rna_peer_news *news)
{
	world.news = news;
	if (world.on_news)
		(void)world.on_news(NULL, -1, 0, world.probing);
	free(world.news); /* while no peer is asked */
	world.news = NULL;
}

/* As peer_discovery.c takes what the peer says. */
static void reply(const char *name, const char *json)
{
	struct rna_peer_news *news = make_news(name);
	struct rna_error error = {0};
	int status = rna_peer_facts_parse(json, strlen(json), &news->facts, &error);

	fuzz_want_error(status, &error);
	news->answered = status == 0;
	news->refused = status < 0;
	if (status < 0)
		(void)snprintf(news->text, sizeof(news->text), "%s", error.text);
	tell(news);
}

static void list(char *names)
{
	struct rna_peer_news *news = make_news("");
	char *name;

	news->choice = ++world.choice;
	news->looked = world.now.realtime;
	(void)strcpy(news->own, "this");
	while (names && (name = strsep(&names, " ")) &&
	       news->place_count < RNA_ARRAY_SIZE(news->places))
		if (*name) /* members.c takes no other */
			(void)snprintf(news->places[news->place_count++].name,
				       sizeof(news->places[0].name), "%s", name);
	news->members = news->place_count;
	tell(news);
}

static void fail(const char *name, const char *text, bool refuses)
{
	struct rna_peer_news *news = make_news(name);

	(void)snprintf(news->text, sizeof(news->text), "%s", *text ? text : "it does not answer");
	news->refused = refuses;
	tell(news);
}

/* -- The prober -------------------------------------------------------------------------------- */

struct rna_prober_keeper *rna_prober_keeper_new(sd_event *event,
						const struct rna_prober_handlers *handlers,
						const struct rna_prober_order *setup)
{
	(void)event, (void)setup;
	world.handlers = *handlers;
	return (struct rna_prober_keeper *)(void *)&world;
}

struct rna_prober_keeper *rna_prober_keeper_free(struct rna_prober_keeper *keeper)
{
	(void)keeper;
	return NULL;
}

void rna_prober_keeper_want(struct rna_prober_keeper *keeper,
			    const uint8_t key[RNA_PROBER_KEY_SIZE])
{
	(void)keeper;
	world.wanted = key;
}

void rna_prober_keeper_look(struct rna_prober_keeper *keeper, rna_usec now)
{
	(void)keeper, (void)now;
}

bool rna_prober_keeper_runs(const struct rna_prober_keeper *keeper)
{
	(void)keeper;
	return world.wanted;
}

rna_usec rna_prober_keeper_heard(const struct rna_prober_keeper *keeper)
{
	(void)keeper;
	return world.now.monotonic;
}

uint64_t rna_prober_keeper_restarts(const struct rna_prober_keeper *keeper)
{
	(void)keeper;
	return 0;
}

const char *rna_prober_keeper_why(const struct rna_prober_keeper *keeper)
{
	(void)keeper;
	return world.wanted ? NULL : "it is starting";
}

bool rna_prober_keeper_holds(const struct rna_prober_keeper *keeper)
{
	(void)keeper;
	return world.wanted;
}

static struct ordered *find_ordered(uint32_t port, uint32_t id)
{
	for (size_t i = 0; i < world.ordered_count; i++)
		if (world.ordered[i].port == port && world.ordered[i].id == id)
			return &world.ordered[i];
	return NULL;
}

/* One that it does not take ends the prober, and with it the probes of all ports. */
static void want_target(const struct rna_prober_order *order)
{
	const struct rna_prober_target *target = &order->target;

	FUZZ_WANT(order->target_id != 0 && target->session != 0);
	FUZZ_WANT(target->period >= PERIOD_MIN && target->period <= PERIOD_MAX);
	FUZZ_WANT(target->address.mtu >= 256 && target->address.mtu <= 4096);
	FUZZ_WANT(target->address.qpn_count > 0 && target->address.qpn_count <= RNA_PROBE_QPS_MAX);
	for (size_t i = 0; i < target->address.qpn_count; i++)
		FUZZ_WANT(target->address.qpns[i] >= 2 && target->address.qpns[i] <= 0xffffff);
}

static void set_target(const struct rna_prober_order *order)
{
	struct ordered *ordered = find_ordered(order->port_id, order->target_id);

	want_target(order);
	if (!ordered && world.ordered_count < TARGETS_MAX)
		ordered = &world.ordered[world.ordered_count++];
	FUZZ_WANT(ordered);
	*ordered = (struct ordered){order->port_id, order->target_id, order->target};
}

static void clear_target(const struct rna_prober_order *order)
{
	struct ordered *ordered = find_ordered(order->port_id, order->target_id);

	FUZZ_WANT(ordered);
	*ordered = world.ordered[--world.ordered_count];
}

int rna_prober_keeper_order(struct rna_prober_keeper *keeper, const struct rna_prober_order *order)
{
	(void)keeper;
	if (order->kind == RNA_PROBER_PORT_OPEN) {
		FUZZ_WANT(world.opened_count < PORTS && order->port.session != 0);
		world.opened[world.opened_count++] = order->port_id;
	} else if (order->kind == RNA_PROBER_TARGET_SET) {
		set_target(order);
	} else if (order->kind == RNA_PROBER_TARGET_CLEAR) {
		clear_target(order);
	}
	return 0;
}

static void report_open(void)
{
	for (; world.opened_count > 0; world.opened_count--) {
		uint32_t id = world.opened[world.opened_count - 1];
		const struct rna_prober_report report = {
			.kind = RNA_PROBER_PORT_REPORT,
			.port_id = id,
			.port = {.use = RNA_PROBE_OPEN,
				 .address = {.gid = {[10] = 0xff, 0xff, 10, 0, 0, (uint8_t)id},
					     .lid = (uint16_t)id,
					     .mtu = 4096,
					     .qpn_count = 1,
					     .qpns = {17}}},
		};

		FUZZ_WANT(world.open_count < PORTS);
		world.open[world.open_count++] = id;
		world.handlers.report(&report, world.probing);
	}
}

static void report_closed(void)
{
	struct rna_prober_report report = {
		.kind = RNA_PROBER_PORT_REPORT,
		.port = {.use = RNA_PROBE_FAILED, .text = "mlx5_0/1: it is removed"},
	};
	size_t kept = 0;

	if (world.open_count == 0)
		return;
	report.port_id = world.open[--world.open_count];
	for (size_t i = 0; i < world.ordered_count; i++)
		if (world.ordered[i].port != report.port_id)
			world.ordered[kept++] = world.ordered[i];
	world.ordered_count = kept;
	world.handlers.report(&report, world.probing);
}

static void report_probes(uint64_t sent, bool lost)
{
	for (size_t i = 0; i < world.ordered_count; i++) {
		struct rna_prober_report report = {
			.kind = RNA_PROBER_TARGET_REPORT,
			.port_id = world.ordered[i].port,
			.target_id = world.ordered[i].id,
			.target = {.counts = {.sent = sent},
				   .there = {26, 0, 64},
				   .back = {26, 0, 64}},
		};
		struct rna_prober_target_report *target = &report.target;

		target->counts.lost = lost ? sent : 0;
		target->counts.answered = lost ? 0 : sent;
		target->unanswered = lost ? (uint32_t)sent : 0;
		target->last_answer = lost || sent == 0 ? 0 : world.now.monotonic;
		target->sample_count = !lost && sent > 0;
		target->samples[0] = 4000;
		world.handlers.report(&report, world.probing);
	}
}

/* -- What is made of it ------------------------------------------------------------------------ */

/* All targets of a port together send no more than it may. */
static void want_rates(void)
{
	for (size_t i = 0; i < world.open_count; i++) {
		double rate = 0;
		size_t count = 0;

		for (size_t k = 0; k < world.ordered_count; k++) {
			const struct ordered *ordered = &world.ordered[k];

			if (ordered->port != world.open[i])
				continue;
			rate += 1 / rna_seconds(ordered->target.period);
			count++;
		}
		FUZZ_WANT(rate <= RNA_PROBER_RATE_MAX + 0.001);
		FUZZ_WANT(count <= RNA_PROBER_TARGETS_MAX);
	}
}

typedef void writer(const struct rna_view *view, struct rna_strbuf *out);

static void want_tables(const struct rna_view *view)
{
	static writer *const writers[] = {rna_write_probes_table, rna_write_probes_wide};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(writers); i++) {
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

		writers[i](view, &text);
		FUZZ_WANT(rna_strbuf_ok(&text));
		fuzz_want_printable(text.data, text.len);
	}
}

static void want_json(const struct rna_view *view)
{
	static writer *const writers[] = {rna_write_probes_json, rna_write_findings};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(writers); i++) {
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
		RNA_CLEANUP(rna_json_free_p) json_t *document = NULL;

		writers[i](view, &text);
		FUZZ_WANT(rna_strbuf_ok(&text));
		document = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
		FUZZ_WANT(document);
	}
}

/* What this agent tells peers is what they can read. */
static void want_own_reply(const struct rna_view *view)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_error error = {0};
	struct rna_peer_facts facts;

	rna_write_probe_json(view, &text);
	FUZZ_WANT(rna_peer_facts_parse(text.data, text.len, &facts, &error) == 0);
	FUZZ_WANT(facts.runs == (view->probes->stopped == NULL));
	for (size_t i = 0, open = 0; i < facts.port_count; i++) {
		open += facts.ports[i].open;
		FUZZ_WANT(i + 1 < facts.port_count || open == world.open_count);
	}
}

static void want_metrics(const struct rna_view *view)
{
	RNA_CLEANUP(rna_renderer_free_p) struct rna_renderer *renderer = rna_renderer_new();
	struct rna_body *body = NULL;

	FUZZ_WANT(renderer);
	FUZZ_WANT(rna_renderer_metrics(renderer, joined(view), RNA_EXPOSITION_CLASSIC, &body) == 0);
	fuzz_want_printable(body->data, body->len);
	(void)rna_body_unref(body);
}

/* judges: all that takes long, too. */
static void show(bool judges)
{
	struct rna_probes *probes = rna_probing_results(world.probing);
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = NULL;
	struct node node;

	FUZZ_WANT(probes);
	node_init(&node, RNA_LINK_LAYER_ETHERNET, PORTS);
	node.now = world.now;
	node.probes = probes;
	view = node_view(&node);
	view->agent.name = "this";
	if (judges)
		rna_health_judge(&world.health, joined(view));
	FUZZ_WANT(!view->findings_short);
	want_tables(view);
	want_json(view);
	want_own_reply(view);
	if (judges)
		want_metrics(view);
	(void)rna_part_unref(&probes->part);
}

/* -- Lines ------------------------------------------------------------------------------------- */

static uint64_t read_number(const char *text)
{
	uint64_t number = 0;

	return rna_parse_u64(text, &number) == 0 ? number % 1000 : 1;
}

static void obey(char *line)
{
	const char *verb = strsep(&line, " ");
	char nothing[] = "", *rest = line ? line : nothing;
	const char *name;

	if (strcmp(verb, "list") == 0) {
		list(rest);
	} else if (strcmp(verb, "answers") == 0 || strcmp(verb, "loses") == 0) {
		report_probes(read_number(rest), *verb == 'l');
	} else if (strcmp(verb, "closes") == 0) {
		report_closed();
	} else if (strcmp(verb, "stands") == 0) {
		world.now.monotonic += read_number(rest) * RNA_USEC_PER_SEC;
	} else if (line) {
		name = strsep(&line, " ");
		if (!line || !*name)
			return;
		if (strcmp(verb, "reply") == 0)
			reply(name, line);
		else
			fail(name, line, strcmp(verb, "refuses") == 0);
	}
}

static void turn(void)
{
	world.now.monotonic += RNA_USEC_PER_SEC;
	world.now.realtime += RNA_USEC_PER_SEC;
	(void)world.on_timer(NULL, 0, world.probing);
	report_open();
	want_rates();
}

static void on_news(void *userdata)
{
	(void)userdata;
}

static void start(void)
{
	struct rna_snapshot snapshot = {.time = world.now};
	struct rna_view view = {.snapshot = &snapshot, .agent = {.name = "this"}};

	if (!world.settings.probe_group) {
		rna_log_set_level(-1);
		FUZZ_WANT(rna_settings_init(&world.settings) == 0);
		world.settings.probe_enabled = true;
		world.settings.probe_host_mesh = true;
		free(world.settings.probe_members_file);
		world.settings.probe_members_file = strdup("members");
		FUZZ_WANT(world.settings.probe_members_file);
	}
	FUZZ_WANT(rna_health_init(&world.health, &world.settings) == 0);
	world.health.once = true;
	world.probing = rna_probing_new(&(const struct rna_probing_host){
		.settings = &world.settings,
		.memory = &world.memory,
		.news = on_news,
	});
	FUZZ_WANT(world.probing);
	rna_probing_follow(world.probing, &view);
	turn();
	turn();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_FREE char *text = fuzz_text(data, size);
	const struct rna_settings settings = world.settings;
	char *rest = text, *line;

	memset(&world, 0, sizeof(world));
	world.settings = settings;
	world.now = (struct rna_time){1000 * RNA_USEC_PER_SEC, 1763716800 * RNA_USEC_PER_SEC};
	start();
	for (int lines = 0; lines < LINES_MAX && (line = fuzz_line(&rest)); lines++) {
		obey(line);
		turn();
	}
	show(size % 2 == 0);
	world.probing = rna_probing_free(world.probing);
	rna_probe_memory_deinit(&world.memory);
	rna_health_deinit(&world.health);
	return 0;
}
