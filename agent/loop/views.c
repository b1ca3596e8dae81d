// SPDX-License-Identifier: Apache-2.0
/*
 * Views: when one is made, and what follows it. publish.c makes it.
 *
 * Code that has new data for a view calls rna_views_want(). The loop makes one view in its next
 * turn, regardless of the number of calls.
 */
#include <errno.h>

#include "rna/base/log.h"
#include "rna/exporter.h"

#include "memory/remember.h"

#include "guests.h"
#include "publish.h"

/* A view older than this is no proof of readiness. */
enum { READY_PERIODS = 3 };

enum { TIMER_ACCURACY_USEC = 100 * 1000 };

/* -- Followers --------------------------------------------------------------------------------- */

/*
 * What the profile declares goes before what is remembered. The profile is chosen by what topology
 * found, which therefore runs a second time. As long as it is not known which profile it is, what
 * was declared stays.
 */
static void follow_rails(struct rna_agent *agent, const struct rna_profile_status *profile)
{
	bool declared = profile->rail_count > 0 || (profile->undecided && agent->rails_declared);

	if (profile->rail_count > 0 &&
	    !rna_known_rails_are(agent->schedule.rails, profile->rails, profile->rail_count))
		rna_schedule_renumber_rails(&agent->schedule,
					    rna_known_rails_declare(profile->rails,
								    profile->rail_count,
								    profile->gpu_count));
	else if (!declared && agent->rails_declared)
		rna_schedule_renumber_rails(&agent->schedule, rna_rails_known(&agent->memory));
	else if (!declared && agent->memory.rails.version != agent->rails_version)
		rna_schedule_set_rails(&agent->schedule, rna_rails_known(&agent->memory));
	agent->rails_version = agent->memory.rails.version;
	agent->rails_declared = declared;
}

/* What devices tell is known when their ports are: topology runs later, or once more. */
static void follow_nic_facts(struct rna_agent *agent, const struct rna_view *view)
{
	RNA_CLEANUP(rna_nic_facts_unref_p)
	struct rna_nic_facts *facts = rna_nic_facts_make(view, agent->schedule.nic_facts);

	if (facts && !rna_nic_facts_are_same(facts, agent->schedule.nic_facts))
		rna_schedule_set_nic_facts(&agent->schedule, RNA_TAKE(facts));
}

static void follow_by_schedule(struct rna_agent *agent, const struct rna_view *view)
{
	if (view->snapshot->device_set != agent->device_set)
		rna_schedule_look_for(&agent->schedule, rna_memory_functions(&agent->memory));
	agent->device_set = view->snapshot->device_set;
	follow_rails(agent, &view->profile);
	follow_nic_facts(agent, view);
	rna_schedule_start_later(&agent->schedule);
}

static void follow_by_node(struct rna_agent *agent, const struct rna_view *view)
{
	rna_node_follow(agent->node, view, rna_health_is_booting(&agent->health, view),
			rna_health_settled(&agent->health, view));
}

static void follow_by_state(struct rna_agent *agent, const struct rna_view *view)
{
	(void)view;
	rna_quiesce_keep(agent->quiesce, &agent->memory);
	rna_state_keep(agent->state);
}

static void follow_by_http(struct rna_agent *agent, const struct rna_view *view)
{
	(void)view;
	rna_http_new_view(agent->server.http);
}

static void follow_by_watch(struct rna_agent *agent, const struct rna_view *view)
{
	rna_watch_follow(agent->watch, view->snapshot);
}

void rna_views_hold_tests(struct rna_agent *agent)
{
	const char *label = agent->settings.selftest_node_label;
	enum rna_skip why = RNA_SKIP_NONE;

	if (agent->schedule.quiet)
		why = RNA_SKIP_QUIESCED;
	else if (label[0] && !rna_node_has_label(agent->node, label))
		why = RNA_SKIP_NODE_GATE;
	rna_selftest_hold(agent->selftest, why);
	rna_measuring_hold(agent->measuring, why);
	rna_probing_hold(agent->probing, agent->schedule.quiet);
}

static void follow_by_tests(struct rna_agent *agent, const struct rna_view *view)
{
	rna_views_hold_tests(agent);
	rna_selftest_follow(agent->selftest, view);
	rna_probing_follow(agent->probing, view);
	rna_measuring_follow(agent->measuring, view);
}

static void follow_by_systemd(struct rna_agent *agent, const struct rna_view *view)
{
	if (!agent->once)
		rna_notify_status(&agent->notify, view);
}

static void follow_by_quiesce(struct rna_agent *agent, const struct rna_view *view)
{
	(void)view;
	rna_quiesce_follow_node(agent->quiesce, &agent->settings, rna_node_status(agent->node));
}

/* Called with each new view, in this order. */
static void (*const followers[])(struct rna_agent *agent, const struct rna_view *view) = {
	follow_by_schedule, /* looks for remembered devices; runs the later collectors */
	follow_by_node,     /* updates Kubernetes */
	follow_by_state,    /* writes what has changed to its files */
	follow_by_http,     /* answers with the new view */
	follow_by_watch,    /* opens verbs events of new devices */
	follow_by_tests,    /* tests its ports, probes with them, measures with those that probe */
	follow_by_systemd,  /* updates the status line */
	follow_by_quiesce,  /* heeds the label of the Node */
};

/* -- Making views ------------------------------------------------------------------------------ */

static void announce_first(struct rna_agent *agent)
{
	rna_log_info("watching %zu RDMA device%s below %s", agent->schedule.device_count,
		     agent->schedule.device_count == 1 ? "" : "s", agent->status.root);
	rna_notify_ready();
}

static void refresh_status(struct rna_agent *agent)
{
	agent->status.snapshots++;
	agent->status.web = rna_server_status(&agent->server);
	agent->status.http = rna_server_http_status(&agent->server);
	agent->status.quiesced = rna_quiesce_reason(agent->quiesce);
}

static const struct rna_view *make_view(struct rna_agent *agent)
{
	const struct rna_publish_input in = {
		.time = rna_clock_now(),
		.schedule = &agent->schedule,
		.status = &agent->status,
		.selftest = agent->selftest,
		.probing = agent->probing,
		.probes = &agent->probes,
		.measuring = agent->measuring,
		.memory = &agent->memory,
		.node = agent->node,
		.health = &agent->health,
		.baseline = &agent->baseline,
	};

	rna_account_published(&agent->schedule.account, in.time.monotonic);
	return rna_publish(&in);
}

static void show(struct rna_agent *agent, const struct rna_view *view)
{
	bool first = !agent->view && !agent->once;

	rna_http_forget_view(agent->server.http); /* else it would keep the parts of the old one */
	(void)rna_view_unref(agent->view);
	agent->view = view;
	if (first)
		announce_first(agent);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(followers); i++)
		followers[i](agent, view);
}

/* Without news, the next view is made when time alone changes something, or after a while. */
static void arm_timer(struct rna_agent *agent)
{
	rna_usec now = rna_clock_monotonic(), next = now + RNA_VIEW_PERIOD;
	rna_usec held = rna_health_next(&agent->health, now);

	if (agent->once)
		return;
	(void)sd_event_source_set_time(agent->ageing, held < next ? held : next);
	(void)sd_event_source_set_enabled(agent->ageing, SD_EVENT_ONESHOT);
}

/* No memory: the old view stays, and its age shows. */
static void publish(struct rna_agent *agent)
{
	const struct rna_view *view = NULL;

	if (agent->schedule.complete) {
		refresh_status(agent);
		view = make_view(agent);
	}
	if (view)
		show(agent, view);
	arm_timer(agent);
	if (agent->once && (agent->schedule.complete || rna_schedule_is_in_vain(&agent->schedule)))
		(void)sd_event_exit(agent->event, 0);
}

static int on_publish(sd_event_source *source, void *userdata)
{
	(void)source;
	publish(userdata);
	return 0;
}

static int on_age(sd_event_source *source, uint64_t at, void *userdata)
{
	(void)source, (void)at;
	publish(userdata);
	return 0;
}

void rna_views_want(void *userdata)
{
	struct rna_agent *agent = userdata;

	if (sd_event_source_set_enabled(agent->publishing, SD_EVENT_ONESHOT) < 0)
		publish(agent); /* no memory to do it later */
}

void rna_views_finish(struct rna_agent *agent)
{
	int wanted = SD_EVENT_OFF;

	(void)sd_event_source_get_enabled(agent->publishing, &wanted);
	if (wanted != SD_EVENT_OFF)
		publish(agent);
}

int rna_views_init(struct rna_agent *agent)
{
	int ret = sd_event_add_defer(agent->event, &agent->publishing, on_publish, agent);

	if (ret >= 0)
		ret = sd_event_source_set_enabled(agent->publishing, SD_EVENT_OFF);
	if (ret >= 0)
		ret = sd_event_add_time(agent->event, &agent->ageing, CLOCK_MONOTONIC, 0,
					TIMER_ACCURACY_USEC, on_age, agent);
	return ret < 0 ? ret : sd_event_source_set_enabled(agent->ageing, SD_EVENT_OFF);
}

/* -- For HTTP ---------------------------------------------------------------------------------- */

static const struct rna_view *newest_view(void *userdata)
{
	const struct rna_agent *agent = userdata;

	return agent->view;
}

static bool is_ready(void *userdata, const char **ret_reason)
{
	const struct rna_agent *agent = userdata;
	const struct rna_settings *settings = &agent->settings;
	rna_usec limit = READY_PERIODS * RNA_VIEW_PERIOD + settings->poll_deadline;

	if (!agent->view) {
		*ret_reason = "the first snapshot is not complete yet";
		return false;
	}
	if (rna_usec_since(agent->view->snapshot->time.monotonic, rna_clock_monotonic()) > limit) {
		*ret_reason = "the newest snapshot is too old";
		return false;
	}
	return true;
}

static struct rna_web *newest_web(void *userdata)
{
	const struct rna_agent *agent = userdata;

	return rna_server_web(&agent->server);
}

struct rna_http_source rna_views_source(struct rna_agent *agent)
{
	return (struct rna_http_source){newest_view, is_ready, newest_web, agent};
}
