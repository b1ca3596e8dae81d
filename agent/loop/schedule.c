// SPDX-License-Identifier: Apache-2.0
#include "schedule.h"

#include <errno.h>
#include <string.h>

#include "rna/base/log.h"
#include "rna/base/parse.h"
#include "rna/model/topology.h"

#include "part_changes.h"

enum { TIMER_ACCURACY_USEC = 10 * 1000 };

#define FIRST_PAUSE   RNA_USEC_PER_SEC
#define LONGEST_PAUSE (300 * RNA_USEC_PER_SEC)

/* Between an event and the MADs that it asks for, and from one round of them to the next. */
#define FABRIC_SETTLES RNA_USEC_PER_SEC
#define FABRIC_PAUSE   (10 * RNA_USEC_PER_SEC)

/* -- Running ----------------------------------------------------------------------------------- */

static struct rna_part *newest_presence(const struct rna_schedule *schedule)
{
	return schedule->node[RNA_COLLECTOR_PRESENCE]->slots[RNA_COLLECTOR_PRESENCE]->part;
}

static const struct rna_slot *netdev_slot(const struct rna_schedule *schedule)
{
	return schedule->node[RNA_COLLECTOR_NETDEV]->slots[RNA_COLLECTOR_NETDEV];
}

/* The first time, and the identity of the device has been read before: fabric runs later. */
static void recall_fabric(const struct rna_schedule *schedule, struct rna_target *target)
{
	const struct rna_part *identity = target->slots[RNA_COLLECTOR_IDENTITY]->part;
	struct rna_slot *slot = target->slots[RNA_COLLECTOR_FABRIC];

	if (!slot->part && !slot->inherited && schedule->recall)
		slot->inherited = schedule->recall(target->device, (const void *)identity,
						   schedule->userdata);
}

static void fill_job(const struct rna_schedule *schedule, struct rna_target *target,
		     enum rna_collector_id id)
{
	struct rna_slot *slot = target->slots[id];
	/* The device lies in the target's presence, which stays alive as long as the target. */
	struct rna_part *presence = target->device ? target->presence : newest_presence(schedule);

	if (id == RNA_COLLECTOR_FABRIC)
		recall_fabric(schedule, target);
	/* A poll between an event and the run that it asked for is for the event as well. */
	slot->origin = slot->cause;
	if (!(target->triggered & rna_collector_bit(id)))
		slot->cause = (struct rna_origin){0};
	slot->presence = rna_part_ref(presence);
	slot->netdevs = rna_part_ref(netdev_slot(schedule)->part);
	slot->filter = rna_device_filter_ref(schedule->filter);
	slot->functions = rna_texts_ref(schedule->functions);
	slot->statistics = rna_texts_ref(schedule->statistics);
	slot->job.collector = &rna_collectors[id];
	slot->job.urgent = slot->origin.source != RNA_SOURCE_POLL;
	slot->job.input = (struct rna_collect_input){
		.root = schedule->root,
		.backends = schedule->quiet ? rna_backends_quiet(schedule->backends)
					    : schedule->backends,
		.presence = (const void *)presence,
		.netdevs = (const void *)slot->netdevs,
		.filter = slot->filter,
		.functions = slot->functions,
		.statistics = slot->statistics,
		.device = target->device,
		.reader = slot->reader,
		/* replaced when this very job is back */
		.previous = slot->part ? slot->part : slot->inherited,
		.options =
			{
				.counters_source = (unsigned)schedule->settings->counters_source,
				.hw_counters_source =
					(unsigned)schedule->settings->hw_counters_source,
				.module_serial = schedule->settings->module_serial,
				.optional_counters =
					schedule->settings->hw_counters_optional_status,
			},
		.period = schedule->settings->poll[id],
	};
}

/* Sends what the target wants on its way, in the order of the collectors, as one chain. */
static void submit(struct rna_schedule *schedule, struct rna_target *target, rna_usec now)
{
	struct rna_job *chain = NULL, **tail = &chain;

	if (target->running > 0 || !target->wanted || now < target->resume)
		return;
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		if (!(target->wanted & rna_collector_bit(id)))
			continue;
		fill_job(schedule, target, id);
		*tail = &target->slots[id]->job;
		tail = &target->slots[id]->job.then;
		target->running++;
	}
	*tail = NULL;
	target->loud = !schedule->quiet;
	target->wanted = 0;
	rna_lanes_submit(schedule->lanes, chain);
}

/* What is read of all devices together, from the newest presence, and after each that is new. */
static const unsigned of_presence = 1u << RNA_COLLECTOR_NETDEV | 1u << RNA_COLLECTOR_TOPOLOGY;

static unsigned later_collectors(void)
{
	unsigned set = 0;

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (rna_collectors[id].later)
			set |= rna_collector_bit(id);
	return set;
}

static unsigned collectors_of_netdevs(void)
{
	unsigned set = 0;

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (rna_collectors[id].of_netdevs)
			set |= rna_collector_bit(id);
	return set;
}

/* Who runs once waits for all; a daemon has its first view without the slow ones. */
static bool waits_for_first_view(const struct rna_schedule *schedule)
{
	return !schedule->complete && !schedule->patient;
}

static void want(struct rna_schedule *schedule, struct rna_target *target, unsigned collectors,
		 rna_usec now)
{
	if (waits_for_first_view(schedule))
		collectors &= ~later_collectors(); /* start_later() asks for all of these */
	if (!newest_presence(schedule)) /* slow, maybe; follow_presence() asks for these */
		collectors &= ~of_presence;
	if (!netdev_slot(schedule)->ran) /* on_finished() asks for these */
		collectors &= ~collectors_of_netdevs();
	target->wanted |= collectors & target->collectors;
	submit(schedule, target, now);
}

static void want_of_devices(struct rna_schedule *schedule, unsigned collectors, rna_usec now)
{
	for (struct rna_target *t = schedule->devices; t; t = t->next)
		want(schedule, t, collectors, now);
}

/* The same, as a consequence of part: what made that be read is the cause of these too. */
static void want_after(struct rna_schedule *schedule, struct rna_target *target,
		       unsigned collectors, const struct rna_part *part)
{
	rna_target_set_cause(target, collectors & target->collectors, &part->origin);
	want(schedule, target, collectors, part->taken.monotonic);
}

static void flush(struct rna_schedule *schedule)
{
	int ret = rna_lanes_flush(schedule->lanes);

	if (ret < 0)
		rna_log_error("cannot start a worker thread, polling waits: %s", strerror(-ret));
}

static rna_usec next_due(const struct rna_schedule *schedule)
{
	rna_usec next = RNA_USEC_NEVER;

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (schedule->due[id] < next)
			next = schedule->due[id];
	for (const struct rna_target *t = schedule->devices; t; t = t->next)
		if (t->fabric_due && t->fabric_due < next)
			next = t->fabric_due;
	return next;
}

static void arm_timer(struct rna_schedule *schedule)
{
	(void)sd_event_source_set_time(schedule->timer, next_due(schedule));
	(void)sd_event_source_set_enabled(schedule->timer, SD_EVENT_ONESHOT);
}

/* -- Results: devices come and go -------------------------------------------------------------- */

static void log_device(const char *what, const struct rna_device *device)
{
	const struct rna_log_field fields[] = {
		{"DEVICE", device->name},
		{"PCI_ADDRESS", device->pci_address},
		{NULL, NULL},
	};

	rna_log(LOG_INFO, fields, "%s: %s", device->name, what);
}

/* What is known of a device may have changed, and with it what there is to ask of it. */
static void follow_device(struct rna_schedule *schedule, struct rna_target *target,
			  const struct rna_origin *origin, rna_usec now)
{
	unsigned before = target->collectors, new;

	if (rna_target_choose_collectors(target, &new) < 0)
		rna_log_error("%s: no memory to run all collectors", target->device->name);
	if (target->collectors == before)
		return;
	schedule->device_set++;
	rna_target_set_cause(target, new, origin);
	want(schedule, target, new, now);
}

/* Drops targets whose device is no longer there; one with jobs under way leaves when they do. */
static void drop_targets(struct rna_schedule *schedule, struct rna_target *list)
{
	while (list) {
		struct rna_target *target = list;

		list = target->next;
		log_device("device is gone or excluded", target->device);
		if (target->running == 0) {
			(void)rna_target_free(target);
			continue;
		}
		target->gone = true;
		target->next = schedule->leaving;
		schedule->leaving = target;
	}
}

/* Makes the list of targets follow the newest presence. */
static void follow_presence(struct rna_schedule *schedule, struct rna_part *part)
{
	const struct rna_presence *presence = (const void *)part;
	unsigned devices = presence->device_count > 0 ? (unsigned)presence->device_count : 1;
	unsigned share = schedule->settings->reader_descriptors / devices;
	struct rna_target *old = schedule->devices, **tail = &schedule->devices;
	bool changed = false;

	schedule->devices = NULL;
	schedule->device_count = 0;
	for (size_t i = 0; i < presence->device_count; i++) {
		const struct rna_device *device = &presence->devices[i];
		struct rna_target *target = rna_target_take(&old, device);

		if (target) {
			rna_target_move(target, part, device);
			follow_device(schedule, target, &part->origin, part->taken.monotonic);
		} else {
			target = rna_target_new_device(schedule->root, part, device, share);
			if (!target)
				continue; /* no memory: the next presence tries again */
			rna_target_inherit(target, old);
			log_device("device found", device);
			want_after(schedule, target, target->collectors, part);
			changed = true;
		}
		*tail = target;
		tail = &target->next;
		schedule->device_count++;
	}
	drop_targets(schedule, old);
	if (!changed && !old && schedule->device_set > 0)
		return;
	schedule->device_set++;
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (of_presence & rna_collector_bit(id))
			want_after(schedule, schedule->node[id], rna_collector_bit(id), part);
}

/* -- Results: the account of a slot ------------------------------------------------------------ */

static void log_slot(int level, const struct rna_target *target, const struct rna_job *job,
		     const char *text)
{
	const struct rna_log_field fields[] = {
		{"DEVICE", rna_target_name(target)},
		{"COLLECTOR", job->collector->name},
		{NULL, NULL},
	};

	rna_log(level, fields, "%s", text);
}

static void log_success(const struct rna_target *target, const struct rna_slot *slot)
{
	char text[RNA_ERROR_MAX];

	(void)snprintf(text, sizeof(text), "%s: collector %s works again", rna_target_name(target),
		       slot->job.collector->name);
	log_slot(LOG_NOTICE, target, &slot->job, text);
}

/*
 * A cable or a subnet manager may be another one by now. Not at once, for a link that comes up is
 * still being configured; and a link that flaps costs no more than a round of MADs now and then.
 */
static void want_fabric_soon(struct rna_schedule *schedule, struct rna_target *target, rna_usec now)
{
	const struct rna_part *last;
	rna_usec due = now + FABRIC_SETTLES;

	if (schedule->patient || target->fabric_due ||
	    !(target->collectors & rna_collector_bit(RNA_COLLECTOR_FABRIC)))
		return;
	last = target->slots[RNA_COLLECTOR_FABRIC]->part;
	if (last && last->started.monotonic + FABRIC_PAUSE > due)
		due = last->started.monotonic + FABRIC_PAUSE;
	target->fabric_due = due;
	arm_timer(schedule);
}

/* What new, just read, makes to be read or written anew. old: before; NULL: it is the first. */
static void follow_changes(struct rna_schedule *schedule, struct rna_target *target,
			   const struct rna_part *old, const struct rna_part *new)
{
	const unsigned gids = rna_collector_bit(RNA_COLLECTOR_GIDS);
	unsigned changed = rna_part_changed_states(old, new);

	if (changed > 0) {
		schedule->sources[new->origin.source].changes += changed;
		want_after(schedule, target, rna_collector_bit(RNA_COLLECTOR_LINK) | gids, new);
		if (new->origin.source != RNA_SOURCE_RTNETLINK) /* else it has been read as well */
			want_after(schedule, schedule->node[RNA_COLLECTOR_NETDEV],
				   rna_collector_bit(RNA_COLLECTOR_NETDEV), new);
	}
	if (changed > 0 || rna_part_changes_lids(old, new))
		want_fabric_soon(schedule, target, new->taken.monotonic);
	if (!rna_part_changes_labels(old, new))
		return;
	schedule->device_set++;
	if (!old || new->collector != RNA_COLLECTOR_NETDEV)
		return;
	for (struct rna_target *t = schedule->devices; t; t = t->next)
		want_after(schedule, t, gids | collectors_of_netdevs(), new);
	want_after(schedule, schedule->node[RNA_COLLECTOR_TOPOLOGY],
		   rna_collector_bit(RNA_COLLECTOR_TOPOLOGY), new); /* which are a LAG */
}

/*
 * The first part of a device that is read for an event is what the event was about: state comes
 * before all else. Interfaces and topology are a consequence.
 */
static void account_event(struct rna_schedule *schedule, struct rna_target *target,
			  const struct rna_part *part)
{
	rna_usec *unpublished = &schedule->unpublished[part->origin.source];

	if (part->origin.seen <= target->shown || of_presence & rna_collector_bit(part->collector))
		return;
	target->shown = part->origin.seen;
	if (*unpublished == 0 || part->origin.seen < *unpublished)
		*unpublished = part->origin.seen;
}

/* A file of hwloc that is of no use is told of once, and again when something else is wrong. */
static void log_problem(const struct rna_target *target, const struct rna_job *job,
			const struct rna_part *old, const struct rna_part *new)
{
	const struct rna_topology *before = (const void *)old, *now = (const void *)new;

	if (new->collector == RNA_COLLECTOR_TOPOLOGY && now->problem &&
	    (!before || !rna_same_text(before->problem, now->problem)))
		log_slot(LOG_WARNING, target, job, now->problem);
}

static void account_success(struct rna_schedule *schedule, struct rna_target *target,
			    struct rna_slot *slot)
{
	struct rna_part *part = RNA_TAKE(slot->job.part);

	if (slot->ran && !slot->success)
		log_success(target, slot);
	for (unsigned reason = 0; reason < RNA_REASON_COUNT; reason++)
		slot->errors[reason] += part->errors[reason];
	part->origin = slot->origin;
	account_event(schedule, target, part);
	follow_changes(schedule, target, slot->part, part);
	log_problem(target, &slot->job, slot->part, part);
	(void)rna_part_unref(slot->part);
	slot->part = part;
	slot->inherited = rna_part_unref(slot->inherited);
	slot->success = true;
}

static void account_failure(struct rna_target *target, struct rna_slot *slot)
{
	RNA_FREE char *text = RNA_TAKE(slot->job.error);

	slot->errors[rna_reason_from_errno(slot->job.status)]++;
	if ((!slot->ran || slot->success) && !target->gone)
		log_slot(LOG_WARNING, target, &slot->job, text ? text : "collector failed");
	slot->success = false;
}

/* A device that came back late is asked again after a pause that grows with each such time. */
static void account_lateness(struct rna_schedule *schedule, struct rna_target *target,
			     struct rna_slot *slot)
{
	char text[RNA_ERROR_MAX];

	target->slow = false;
	if (!slot->overdue) {
		target->pause = 0;
		return;
	}
	slot->overdue = 0;
	schedule->overdue--;
	target->pause = target->pause ? target->pause * 2 : FIRST_PAUSE;
	if (target->pause > LONGEST_PAUSE)
		target->pause = LONGEST_PAUSE;
	target->resume = slot->job.finished + target->pause;
	(void)snprintf(text, sizeof(text), "%s: %s answered after %.1f s, next try in %.0f s",
		       rna_target_name(target), slot->job.collector->name,
		       rna_seconds(slot->duration), rna_seconds(target->pause));
	log_slot(LOG_NOTICE, target, &slot->job, text);
}

static void on_late(const struct rna_job *job, enum rna_lateness lateness, void *userdata)
{
	struct rna_schedule *schedule = userdata;
	struct rna_target *target = job->owner;
	struct rna_slot *slot = target->slots[job->collector->id];
	char text[RNA_ERROR_MAX];

	target->slow = lateness == RNA_OVERDUE || !schedule->patient;
	if (lateness != RNA_OVERDUE)
		return;
	slot->overdue = rna_clock_monotonic() - schedule->settings->poll_deadline;
	schedule->overdue++;
	(void)snprintf(text, sizeof(text),
		       "%s: %s is stalled: no answer for %.1f s; the device is left alone until it "
		       "returns",
		       rna_target_name(target), job->collector->name,
		       rna_seconds(schedule->settings->poll_deadline));
	log_slot(LOG_WARNING, target, job, text);
}

static void remove_leaving(struct rna_schedule *schedule, struct rna_target *target)
{
	for (struct rna_target **link = &schedule->leaving; *link; link = &(*link)->next) {
		if (*link != target)
			continue;
		*link = target->next;
		(void)rna_target_free(target);
		return;
	}
}

static void on_finished(struct rna_job *job, void *userdata)
{
	struct rna_schedule *schedule = userdata;
	struct rna_target *target = job->owner;
	struct rna_slot *slot = target->slots[job->collector->id];
	bool first;

	slot->duration = rna_usec_since(job->started, job->finished);
	account_lateness(schedule, target, slot);
	if (job->status >= 0)
		account_success(schedule, target, slot);
	else
		account_failure(target, slot);
	first = !slot->ran;
	slot->ran = true;
	slot->presence = rna_part_unref(slot->presence);
	slot->netdevs = rna_part_unref(slot->netdevs);
	slot->filter = rna_device_filter_unref(slot->filter);
	slot->functions = rna_texts_unref(slot->functions);
	slot->statistics = rna_texts_unref(slot->statistics);
	if (job->status >= 0 && job->collector->id == RNA_COLLECTOR_PRESENCE)
		follow_presence(schedule, slot->part);
	if (job->collector->id == RNA_COLLECTOR_IDENTITY)
		follow_device(schedule, target, &slot->origin, job->finished);
	if (first && job->collector->id == RNA_COLLECTOR_NETDEV) /* or could not be read */
		want_of_devices(schedule, collectors_of_netdevs(), job->finished);
	if (--target->running > 0)
		return;
	if (target->gone)
		remove_leaving(schedule, target);
	else
		submit(schedule, target, job->finished);
}

/* -- The clock --------------------------------------------------------------------------------- */

/* Has each of these collectors run that the target has, or is it too slow to wait for? */
static bool target_is_complete(const struct rna_target *target, unsigned collectors)
{
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if ((target->collectors & collectors & rna_collector_bit(id)) &&
		    !target->slots[id]->ran && !target->slow)
			return false;
	return true;
}

static bool is_complete(const struct rna_schedule *schedule)
{
	unsigned needed = schedule->patient ? ~0u : ~later_collectors();

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (schedule->node[id] && !target_is_complete(schedule->node[id], needed))
			return false;
	for (const struct rna_target *t = schedule->devices; t; t = t->next)
		if (!target_is_complete(t, needed))
			return false;
	return true;
}

bool rna_schedule_is_in_vain(const struct rna_schedule *schedule)
{
	const struct rna_target *node = schedule->node[RNA_COLLECTOR_PRESENCE];

	return node->slots[RNA_COLLECTOR_PRESENCE]->ran && !newest_presence(schedule);
}

/* The first view is out: what was not to be waited for gets its turn. */
static void start_later(struct rna_schedule *schedule)
{
	rna_usec now = rna_clock_monotonic();

	if (schedule->patient)
		return; /* it has run */
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (schedule->node[id])
			want(schedule, schedule->node[id], later_collectors(), now);
	want_of_devices(schedule, later_collectors(), now);
	flush(schedule);
}

static void on_settled(void *userdata)
{
	struct rna_schedule *schedule = userdata;

	bool first;

	flush(schedule); /* results may have started new chains */
	first = !schedule->complete && is_complete(schedule);
	schedule->complete |= first;
	schedule->on_settled(schedule->userdata);
	if (first)
		start_later(schedule);
}

/* The collectors whose time has come. Missed periods are skipped, the rhythm is kept. */
static unsigned take_due(struct rna_schedule *schedule, rna_usec now)
{
	unsigned set = 0;

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		rna_usec period = schedule->settings->poll[id];

		if (schedule->due[id] > now)
			continue;
		set |= rna_collector_bit(id);
		schedule->due[id] += ((now - schedule->due[id]) / period + 1) * period;
	}
	return set;
}

static void take_fabric_due(struct rna_schedule *schedule, rna_usec now)
{
	for (struct rna_target *t = schedule->devices; t; t = t->next) {
		if (!t->fabric_due || t->fabric_due > now)
			continue;
		t->fabric_due = 0;
		want(schedule, t, rna_collector_bit(RNA_COLLECTOR_FABRIC), now);
	}
}

static int on_timer(sd_event_source *source, uint64_t at, void *userdata)
{
	struct rna_schedule *schedule = userdata;
	rna_usec now = rna_clock_monotonic();
	unsigned set = take_due(schedule, now);

	(void)source, (void)at;
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (schedule->node[id])
			want(schedule, schedule->node[id], set, now);
	want_of_devices(schedule, set, now);
	take_fabric_due(schedule, now);
	flush(schedule);
	arm_timer(schedule);
	if (schedule->overdue > 0) /* the age of what stalls is news by itself */
		schedule->on_settled(schedule->userdata);
	return 0;
}

/* -- Events ------------------------------------------------------------------------------------ */

static void read_triggered(struct rna_schedule *schedule, struct rna_target *target, rna_usec now)
{
	unsigned collectors = target->triggered;

	target->triggered = 0;
	if (collectors)
		want(schedule, target, collectors, now);
}

void rna_schedule_read_triggered(struct rna_schedule *schedule)
{
	rna_usec now = rna_clock_monotonic();

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (schedule->node[id])
			read_triggered(schedule, schedule->node[id], now);
	for (struct rna_target *t = schedule->devices; t; t = t->next)
		read_triggered(schedule, t, now);
	flush(schedule);
}

static const char *find_loud(const struct rna_target *list)
{
	for (const struct rna_target *t = list; t; t = t->next)
		if (t->running > 0 && t->loud)
			return rna_target_name(t);
	return NULL;
}

const char *rna_schedule_loud(const struct rna_schedule *schedule)
{
	const char *name = find_loud(schedule->devices);

	if (!name)
		name = find_loud(schedule->leaving);
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT && !name; id++)
		name = find_loud(schedule->node[id]);
	return name;
}

static void read_later(struct rna_schedule *schedule, struct rna_target *target, rna_usec now)
{
	unsigned fabric = rna_collector_bit(RNA_COLLECTOR_FABRIC);
	unsigned collectors = target->later & ~fabric;

	if (target->later & fabric)
		want_fabric_soon(schedule, target, now);
	target->later = 0;
	if (collectors)
		want(schedule, target, collectors, now);
}

void rna_schedule_read_later(struct rna_schedule *schedule)
{
	rna_usec now = rna_clock_monotonic();

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (schedule->node[id])
			read_later(schedule, schedule->node[id], now);
	for (struct rna_target *t = schedule->devices; t; t = t->next)
		read_later(schedule, t, now);
	flush(schedule);
}

void rna_schedule_note_published(struct rna_schedule *schedule, rna_usec now)
{
	for (unsigned source = 0; source < RNA_SOURCE_COUNT; source++) {
		if (schedule->unpublished[source] == 0)
			continue;
		rna_histogram_add(&schedule->sources[source].latency,
				  rna_usec_since(schedule->unpublished[source], now));
		schedule->unpublished[source] = 0;
	}
}

/* -- Life -------------------------------------------------------------------------------------- */

static struct rna_lanes_limits lanes_limits(const struct rna_settings *settings)
{
	return (struct rna_lanes_limits){
		.max = settings->lanes_max,
		.handover = settings->poll_handover,
		.deadline = settings->poll_deadline,
	};
}

int rna_schedule_init(struct rna_schedule *schedule, sd_event *event,
		      const struct rna_settings *settings, const struct rna_root *root,
		      const struct rna_backends *backends, struct rna_error *error)
{
	const struct rna_lanes_callbacks callbacks = {on_finished, on_late, on_settled, schedule};
	struct rna_lanes_limits limits = lanes_limits(settings);
	int ret;

	schedule->settings = settings;
	schedule->root = root;
	schedule->backends = backends;
	schedule->filter =
		rna_device_filter_new(settings->devices_include, settings->devices_exclude);
	schedule->statistics = rna_texts_copy(settings->ethernet_statistics);
	if (!schedule->filter || !schedule->statistics)
		return rna_error_set(error, -ENOMEM, "cannot start polling");
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		schedule->due[id] = RNA_USEC_NEVER;
		if (rna_collectors[id].per_device)
			continue;
		schedule->node[id] = rna_target_new(rna_collector_bit(id));
		if (!schedule->node[id])
			return rna_error_set(error, -ENOMEM, "cannot start polling");
	}
	ret = sd_event_add_time(event, &schedule->timer, CLOCK_MONOTONIC, 0, TIMER_ACCURACY_USEC,
				on_timer, schedule);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(schedule->timer, SD_EVENT_OFF);
	if (ret < 0)
		return rna_error_set(error, ret, "cannot start polling");
	return rna_lanes_new(event, &limits, &callbacks, &schedule->lanes, error);
}

/* What is due sooner stays so: else reloads that come often would put off what is rare for ever. */
static void set_rhythm(struct rna_schedule *schedule, rna_usec now)
{
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (schedule->due[id] > now + schedule->settings->poll[id])
			schedule->due[id] = now + schedule->settings->poll[id];
}

int rna_schedule_start(struct rna_schedule *schedule, bool once, struct rna_error *error)
{
	rna_usec now = rna_clock_monotonic();
	int ret;

	schedule->patient = once;
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (schedule->node[id])
			want(schedule, schedule->node[id], rna_collector_bit(id), now);
	ret = rna_lanes_flush(schedule->lanes);
	if (ret < 0)
		return rna_error_set(error, ret, "cannot start a worker thread");
	set_rhythm(schedule, now);
	if (!once)
		arm_timer(schedule);
	return 0;
}

void rna_schedule_reload(struct rna_schedule *schedule, struct rna_device_filter *filter,
			 struct rna_texts *statistics)
{
	struct rna_lanes_limits limits = lanes_limits(schedule->settings);
	rna_usec now = rna_clock_monotonic();

	(void)rna_device_filter_unref(schedule->filter);
	schedule->filter = filter;
	(void)rna_texts_unref(schedule->statistics);
	schedule->statistics = statistics;
	rna_lanes_set_limits(schedule->lanes, &limits);
	set_rhythm(schedule, now);
	want(schedule, schedule->node[RNA_COLLECTOR_PRESENCE],
	     rna_collector_bit(RNA_COLLECTOR_PRESENCE), now);
	flush(schedule);
	arm_timer(schedule);
}

void rna_schedule_look_for(struct rna_schedule *schedule, struct rna_texts *functions)
{
	(void)rna_texts_unref(schedule->functions);
	schedule->functions = functions;
}

static void free_list(struct rna_target *list)
{
	while (list) {
		struct rna_target *target = list;

		list = target->next;
		(void)rna_target_free(target);
	}
}

bool rna_schedule_stop(struct rna_schedule *schedule, rna_usec patience)
{
	schedule->timer = sd_event_source_disable_unref(schedule->timer);
	if (schedule->overdue > 0) /* what is stuck already will hardly end just now */
		patience /= 10;
	if (!rna_lanes_stop(schedule->lanes, patience))
		return false;
	schedule->lanes = NULL;
	free_list(schedule->devices);
	free_list(schedule->leaving);
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		(void)rna_target_free(schedule->node[id]);
	(void)rna_device_filter_unref(schedule->filter);
	(void)rna_texts_unref(schedule->functions);
	(void)rna_texts_unref(schedule->statistics);
	*schedule = (struct rna_schedule){0};
	return true;
}
