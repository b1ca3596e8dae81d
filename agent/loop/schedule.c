// SPDX-License-Identifier: Apache-2.0
#include "schedule.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "rna/base/log.h"
#include "rna/base/parse.h"

#include "rhythm.h"

enum {
	TIMER_ACCURACY_USEC = 10 * 1000,
	BATCH_NAMES = 64, /* in a line of the log */
};

/* -- Targets ----------------------------------------------------------------------------------- */

struct rna_target *rna_schedule_next(const struct rna_schedule *schedule,
				     const struct rna_target *target)
{
	if (!target)
		return schedule->nodes;
	return target->next || target->device ? target->next : schedule->devices;
}

static struct rna_target *node_of(const struct rna_schedule *schedule, enum rna_collector_id id)
{
	struct rna_target *node = schedule->nodes;

	while (!(node->collectors & rna_collector_bit(id)))
		node = node->next;
	return node;
}

static struct rna_slot *listing_slot(const struct rna_schedule *schedule, enum rna_listing what)
{
	enum rna_collector_id id = rna_collector_listing(what);

	return node_of(schedule, id)->slots[id];
}

struct rna_part *rna_schedule_listing(const struct rna_schedule *schedule, enum rna_listing what)
{
	return listing_slot(schedule, what)->part;
}

/* -- Running ----------------------------------------------------------------------------------- */

/* Before the first run on a device, what an earlier process knew of it is its newest part. */
static void recall(const struct rna_schedule *schedule, struct rna_target *target,
		   enum rna_collector_id id)
{
	struct rna_slot *slot = target->slots[id];

	if (rna_collectors[id].recalled && !slot->part && !slot->inherited && schedule->recall)
		slot->inherited = schedule->recall(id, target->device, rna_target_identity(target),
						   schedule->userdata);
}

/* Libraries and netlink know nothing of a device in another network namespace. */
static const struct rna_backends *backends_for(const struct rna_schedule *schedule,
					       const struct rna_target *target)
{
	bool quiet = schedule->quiet || (target->device && target->device->process);

	return quiet ? rna_backends_quiet(schedule->backends) : schedule->backends;
}

static const struct rna_part *presence_of(const struct rna_schedule *schedule,
					  const struct rna_target *target)
{
	/* The device lies in the target's presence, which stays alive as long as the target. */
	return target->device ? target->presence
			      : rna_schedule_listing(schedule, RNA_LISTS_DEVICES);
}

static void hold_input(const struct rna_schedule *schedule, const struct rna_target *target,
		       struct rna_slot *slot)
{
	slot->held.presence = rna_part_ref(presence_of(schedule, target));
	slot->held.netdevs = rna_part_ref(rna_schedule_listing(schedule, RNA_LISTS_INTERFACES));
	slot->held.filter = rna_device_filter_ref(schedule->filter);
	slot->held.functions = rna_texts_ref(schedule->functions);
	slot->held.rails = rna_known_rails_ref(schedule->rails);
	slot->held.nic_facts = rna_nic_facts_ref(schedule->nic_facts);
	slot->held.statistics = rna_texts_ref(schedule->statistics);
}

static void fill_job(const struct rna_schedule *schedule, struct rna_target *target,
		     enum rna_collector_id id)
{
	struct rna_slot *slot = target->slots[id];

	recall(schedule, target, id);
	/* A poll between an event and the run that it asked for is for the event as well. */
	slot->origin = slot->cause;
	if (!(target->triggered & rna_collector_bit(id)))
		slot->cause = (struct rna_origin){0};
	hold_input(schedule, target, slot);
	slot->job.collector = &rna_collectors[id];
	slot->job.urgent = slot->origin.source != RNA_SOURCE_POLL;
	slot->job.input = (struct rna_collect_input){
		.root = schedule->root,
		.backends = backends_for(schedule, target),
		.presence = (const void *)slot->held.presence,
		.netdevs = (const void *)slot->held.netdevs,
		.filter = slot->held.filter,
		.functions = slot->held.functions,
		.rails = slot->held.rails,
		.nic_facts = slot->held.nic_facts,
		.statistics = slot->held.statistics,
		.device = target->device,
		.reader = slot->reader,
		/* replaced when this very job is back */
		.previous = slot->part ? slot->part : slot->inherited,
		.options =
			{
				.counters_source = (unsigned)schedule->settings->counters_source,
				.hw_counters_source =
					(unsigned)schedule->settings->hw_counters_source,
				.kernel_log = (unsigned)schedule->settings->kernel_log_source,
				.no_mads = !schedule->settings->fabric_enabled,
				.inside = schedule->inside,
				.follow = schedule->settings->follow_enabled,
				.follow_devices = schedule->settings->follow_max_devices,
				.follow_ports = schedule->settings->follow_max_ports,
				.module_serial = schedule->settings->module_serial,
				.probe_gateways = schedule->settings->gateways_probe,
				.optional_counters =
					schedule->settings->hw_counters_optional_status,
			},
		.period = schedule->settings->poll[id],
	};
}

/* Submits what the target wants as one chain, in the order of the collectors. */
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

/* Collectors that have to wait are wanted again by rna_schedule_start_later() and start_needing().
 */
static void want(struct rna_schedule *schedule, struct rna_target *target, unsigned collectors,
		 rna_usec now)
{
	if (!schedule->later_may_run)
		collectors &= ~rna_collectors_later();
	collectors &= ~rna_collectors_needing(~schedule->read);
	target->wanted |= collectors & target->collectors;
	submit(schedule, target, now);
}

static void want_of_all(struct rna_schedule *schedule, unsigned collectors, rna_usec now)
{
	for (struct rna_target *t = NULL; (t = rna_schedule_next(schedule, t));)
		want(schedule, t, collectors, now);
}

/* The same, because of a part that was read for that event or poll, which is their cause as well.
 */
static void want_for(struct rna_schedule *schedule, struct rna_target *target, unsigned collectors,
		     const struct rna_origin *origin, rna_usec now)
{
	rna_target_set_cause(target, collectors & target->collectors, origin);
	want(schedule, target, collectors, now);
}

static void flush(struct rna_schedule *schedule)
{
	int ret = rna_lanes_flush(schedule->lanes);

	if (ret < 0)
		rna_log_error("cannot start a worker thread (%s); polling is delayed",
			      strerror(-ret));
}

static rna_usec next_due(const struct rna_schedule *schedule)
{
	rna_usec next = RNA_USEC_NEVER;

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (schedule->due[id] < next)
			next = schedule->due[id];
	for (const struct rna_target *t = NULL; (t = rna_schedule_next(schedule, t));)
		for (unsigned id = 0; t->settling && id < RNA_COLLECTOR_COUNT; id++)
			if ((t->settling & rna_collector_bit(id)) && t->slots[id]->due < next)
				next = t->slots[id]->due;
	return next;
}

static void arm_timer(struct rna_schedule *schedule)
{
	(void)sd_event_source_set_time(schedule->timer, next_due(schedule));
	(void)sd_event_source_set_enabled(schedule->timer, SD_EVENT_ONESHOT);
}

/*
 * Wants these when links have settled. Not at once, because a link that comes up is still being
 * configured, and not often, so that a link that flaps costs one run now and then.
 */
static void want_settled(struct rna_schedule *schedule, struct rna_target *target,
			 unsigned collectors, rna_usec now)
{
	unsigned added = collectors & target->collectors & ~target->settling;

	if (schedule->patient || !added)
		return;
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		const struct rna_collector *collector = &rna_collectors[id];
		struct rna_slot *slot = target->slots[id];

		if (!(added & rna_collector_bit(id)))
			continue;
		slot->due = now + collector->settles;
		if (slot->part && slot->part->started.monotonic + collector->pause > slot->due)
			slot->due = slot->part->started.monotonic + collector->pause;
	}
	target->settling |= added;
	arm_timer(schedule);
}

/* Wants whatever of the target follows the collector of part, which shows news. */
static void follow(struct rna_schedule *schedule, struct rna_target *target,
		   const struct rna_part *part)
{
	unsigned set = rna_collectors_following(part->collector, part->origin.source);
	unsigned settling = rna_collectors_settling();

	want_for(schedule, target, set & ~settling, &part->origin, part->taken.monotonic);
	want_settled(schedule, target, set & settling, part->taken.monotonic);
}

/*
 * The state of a virtual function changes with that of its physical function (rhythm.h), unless its
 * own events tell.
 */
static void follow_physical_function(struct rna_schedule *schedule, const struct rna_target *target,
				     const struct rna_part *part)
{
	unsigned set = rna_collector_bit(part->collector);

	if (!target->device || !rna_collectors[part->collector].told_of_ports)
		return;
	for (struct rna_target *t = schedule->devices; t; t = t->next)
		if (t->device->function == RNA_FUNCTION_VF &&
		    rna_same_text(t->device->physical_function, target->device->pci_address))
			want_for(schedule, t, set, &part->origin, part->taken.monotonic);
}

/* What is node-wide depends on all devices, and all devices on what is node-wide. */
static void follow_on_all_targets(struct rna_schedule *schedule, struct rna_target *target,
				  const struct rna_part *part)
{
	for (struct rna_target *t = schedule->devices; t; t = t->next)
		if (!target->device || t == target)
			follow(schedule, t, part);
	for (struct rna_target *t = schedule->nodes; t; t = t->next)
		follow(schedule, t, part);
}

/* -- Results: devices come and go -------------------------------------------------------------- */

/* Devices that came or went at once make one line, of which one that is alone has the fields. */
struct batch {
	const char *what;
	size_t count;
	const struct rna_device *first;
	struct rna_strbuf names;
};

static void add_to_batch(struct batch *batch, const struct rna_device *device)
{
	if (batch->count == 0)
		batch->first = device;
	if (batch->count++ < BATCH_NAMES)
		rna_strbuf_printf(&batch->names, "%s%s", batch->count > 1 ? ", " : "",
				  device->name);
}

/* The devices must still be there. */
static void log_batch(struct batch *batch)
{
	const struct rna_device *first = batch->first;

	if (batch->count == 1) {
		const struct rna_log_field fields[] = {
			{"DEVICE", first->name},
			{"PCI_ADDRESS", first->pci_address},
			{NULL, NULL},
		};

		rna_log(LOG_INFO, fields, "%s: device %s", first->name, batch->what);
	} else if (batch->count > 1) {
		rna_log_info("%zu devices %s: %s%s", batch->count, batch->what,
			     rna_strbuf_ok(&batch->names) ? batch->names.data : "",
			     batch->count > BATCH_NAMES ? ", ..." : "");
	}
	rna_strbuf_deinit(&batch->names);
}

/* Other link layers may mean other collectors. */
static void follow_device(struct rna_schedule *schedule, struct rna_target *target,
			  const struct rna_origin *origin, rna_usec now)
{
	unsigned before = target->collectors, new;

	if (rna_target_choose_collectors(target, &new) < 0)
		rna_log_error("%s: out of memory, some collectors do not run",
			      target->device->name);
	if (target->collectors == before)
		return;
	schedule->device_set++;
	want_for(schedule, target, new, origin, now);
}

/* Drops targets whose device is gone. One with jobs under way is freed when they are back. */
static void drop_targets(struct rna_schedule *schedule, struct rna_target *list)
{
	struct batch batch = {.what = "removed or excluded", .names = RNA_STRBUF_INIT};

	for (const struct rna_target *target = list; target; target = target->next)
		add_to_batch(&batch, target->device);
	log_batch(&batch);
	while (list) {
		struct rna_target *target = list;

		list = target->next;
		if (target->running == 0) {
			(void)rna_target_free(target);
			continue;
		}
		target->gone = true;
		target->next = schedule->leaving;
		schedule->leaving = target;
	}
}

/* Half of what the process may have is for connections, sockets and children. */
static unsigned descriptors_for_readers(const struct rna_settings *settings)
{
	unsigned wanted = settings->reader_descriptors;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || wanted <= limit.rlim_cur / 2)
		return wanted;
	return (unsigned)(limit.rlim_cur / 2);
}

/* Makes the list of targets follow the newest list of devices. */
static void follow_presence(struct rna_schedule *schedule, struct rna_target *node,
			    struct rna_part *part)
{
	const struct rna_presence *presence = (const void *)part;
	unsigned share = rna_target_share(descriptors_for_readers(schedule->settings),
					  presence->device_count);
	struct rna_target *old = schedule->devices, **tail = &schedule->devices;
	struct batch found = {.what = "found", .names = RNA_STRBUF_INIT};
	bool changed;

	schedule->devices = NULL;
	schedule->device_count = 0;
	RNA_EACH (device, presence->devices, presence->device_count) {
		struct rna_target *target = rna_target_take(&old, device);

		if (target) {
			rna_target_move(target, part, device);
			follow_device(schedule, target, &part->origin, part->taken.monotonic);
		} else {
			target = rna_target_new_device(schedule->root, part, device, share);
			if (!target) {
				rna_log_error("%s: out of memory, the device is left out until "
					      "presence runs again",
					      device->name);
				continue;
			}
			rna_target_inherit(target, old);
			add_to_batch(&found, device);
			want_for(schedule, target, target->collectors, &part->origin,
				 part->taken.monotonic);
		}
		*tail = target;
		tail = &target->next;
		schedule->device_count++;
	}
	log_batch(&found);
	changed = found.count > 0 || old;
	drop_targets(schedule, old);
	if (!changed && schedule->device_set > 0)
		return;
	schedule->device_set++;
	follow_on_all_targets(schedule, node, part);
}

/* -- Results ----------------------------------------------------------------------------------- */

static void on_overdue(const struct rna_job *job, enum rna_lateness lateness, void *userdata)
{
	struct rna_schedule *schedule = userdata;
	struct rna_target *target = job->owner;
	struct rna_slot *slot = target->slots[job->collector->id];

	target->slow = lateness == RNA_OVERDUE || !schedule->patient;
	schedule->news = true;
	if (lateness == RNA_OVERDUE)
		rna_account_overdue(&schedule->account, target, slot,
				    schedule->settings->poll_deadline);
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

/* What the schedule itself takes from a run: a new list of devices, or of their link layers. */
static void read_listing(struct rna_schedule *schedule, struct rna_target *target,
			 const struct rna_slot *slot)
{
	switch (slot->job.collector->lists) {
	case RNA_LISTS_DEVICES:
		if (slot->success)
			follow_presence(schedule, target, slot->part);
		break;
	case RNA_LISTS_LINK_LAYERS:
		follow_device(schedule, target, &slot->origin, slot->job.finished);
		break;
	default:
		break;
	}
}

/*
 * Wants what has waited for the first run of a node-wide collector. That may have failed, unless it
 * lists devices: without these nothing can run.
 */
static void start_needing(struct rna_schedule *schedule, const struct rna_target *target,
			  const struct rna_slot *slot)
{
	const struct rna_collector *collector = slot->job.collector;
	unsigned own = rna_collector_bit(collector->id);

	if (target->device || (schedule->read & own) ||
	    (collector->lists == RNA_LISTS_DEVICES && !slot->success))
		return;
	schedule->read |= own;
	want_of_all(schedule, rna_collectors_needing(own), slot->job.finished);
}

/* What was known before the result of a run. */
struct before {
	bool told; /* events should have told of what it shows */
	bool ran, well;
	uint64_t device_set;
};

static bool is_well(const struct rna_slot *slot)
{
	return slot->success && slot->overdue == 0;
}

static struct before look_before(const struct rna_schedule *schedule,
				 const struct rna_target *target, enum rna_collector_id id)
{
	const struct rna_slot *slot = target->slots[id];

	return (struct before){rna_rhythm_is_told(schedule, target, id), slot->ran, is_well(slot),
			       schedule->device_set};
}

/* Is there anything to show? And if events tell of changes, did they tell of this one? */
static void take_news(struct rna_schedule *schedule, const struct rna_target *target,
		      const struct rna_slot *slot, const struct before *before,
		      const struct rna_news *news)
{
	bool polled = slot->origin.source == RNA_SOURCE_POLL;
	bool changed = news->content || schedule->device_set != before->device_set;
	bool same = slot->job.collector->compares_all && polled && before->ran &&
		    before->well == is_well(slot) && !changed && !news->text && !news->problem;

	schedule->news |= !same;
	if (changed && polled && before->told)
		rna_account_missed(&schedule->account, target, slot);
	schedule->look |= schedule->device_set != before->device_set ||
			  slot->job.collector->lists == RNA_LISTS_INTERFACES;
}

static void on_finished(struct rna_job *job, void *userdata)
{
	struct rna_schedule *schedule = userdata;
	struct rna_target *target = job->owner;
	struct rna_slot *slot = target->slots[job->collector->id];
	const struct before before = look_before(schedule, target, job->collector->id);
	struct rna_news news;

	news = rna_account_run(&schedule->account, target, slot);
	rna_slot_release(slot);
	if (news.content) {
		follow_on_all_targets(schedule, target, slot->part);
		follow_physical_function(schedule, target, slot->part);
	}
	schedule->device_set += news.labels;
	read_listing(schedule, target, slot);
	start_needing(schedule, target, slot);
	take_news(schedule, target, slot, &before, &news);
	if (--target->running > 0)
		return;
	if (target->gone)
		remove_leaving(schedule, target);
	else
		submit(schedule, target, job->finished);
}

/* -- The clock --------------------------------------------------------------------------------- */

/* Has each of these collectors run on the target, or is it too slow to wait for? */
static bool target_is_complete(const struct rna_target *target, unsigned collectors)
{
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if ((target->collectors & collectors & rna_collector_bit(id)) &&
		    !target->slots[id]->ran && !target->slow)
			return false;
	return true;
}

/* Where every lane is stuck, what still waits for one is as slow as those. */
static bool is_complete(const struct rna_schedule *schedule)
{
	unsigned needed = schedule->patient ? ~0u : ~rna_collectors_later();

	if (schedule->account.overdue >= schedule->settings->lanes_max)
		return true;
	for (const struct rna_target *t = NULL; (t = rna_schedule_next(schedule, t));)
		if (!target_is_complete(t, needed))
			return false;
	return true;
}

bool rna_schedule_is_in_vain(const struct rna_schedule *schedule)
{
	const struct rna_slot *slot = listing_slot(schedule, RNA_LISTS_DEVICES);

	return slot->ran && !slot->part;
}

void rna_schedule_start_later(struct rna_schedule *schedule)
{
	if (schedule->later_may_run)
		return;
	schedule->later_may_run = true;
	want_of_all(schedule, rna_collectors_later(), rna_clock_monotonic());
	flush(schedule);
}

/* Never prolongs what is due: else frequent reloads would postpone polls for ever. */
static void shorten_due_times(struct rna_schedule *schedule, rna_usec now)
{
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		rna_usec next = rna_rhythm_next(schedule, id, now, now);

		if (schedule->due[id] > next)
			schedule->due[id] = next;
	}
}

void rna_schedule_look_at_events(struct rna_schedule *schedule)
{
	schedule->look = false;
	if (!schedule->started || schedule->patient)
		return;
	rna_rhythm_look(schedule);
	shorten_due_times(schedule, rna_clock_monotonic());
	arm_timer(schedule);
}

void rna_schedule_set_held(struct rna_schedule *schedule, const struct rna_device *device,
			   bool held)
{
	for (struct rna_target *t = schedule->devices; t; t = t->next)
		if (t->device->generation == device->generation &&
		    strcmp(t->device->name, device->name) == 0)
			t->held = held;
	rna_schedule_look_at_events(schedule);
}

static void on_settled(void *userdata)
{
	struct rna_schedule *schedule = userdata;

	flush(schedule); /* results may have started new chains */
	if (schedule->look)
		rna_schedule_look_at_events(schedule);
	if (!schedule->complete && is_complete(schedule)) {
		schedule->complete = schedule->news = true;
		rna_lanes_hasten(schedule->lanes, false);
	}
	if (schedule->news || schedule->patient) {
		schedule->news = false;
		schedule->on_settled(schedule->userdata);
	}
}

static unsigned take_due(struct rna_schedule *schedule, rna_usec now)
{
	unsigned set = 0;

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		if (schedule->due[id] > now)
			continue;
		set |= rna_collector_bit(id);
		schedule->due[id] = rna_rhythm_next(schedule, id, schedule->due[id], now);
	}
	return set;
}

/* The same for what has settled by now. */
static void want_settled_now(struct rna_schedule *schedule, struct rna_target *target, rna_usec now)
{
	unsigned set = 0;

	for (unsigned id = 0; target->settling && id < RNA_COLLECTOR_COUNT; id++)
		if ((target->settling & rna_collector_bit(id)) && target->slots[id]->due <= now)
			set |= rna_collector_bit(id);
	target->settling &= ~set;
	if (set)
		want(schedule, target, set, now);
}

static int on_timer(sd_event_source *source, uint64_t at, void *userdata)
{
	struct rna_schedule *schedule = userdata;
	rna_usec now = rna_clock_monotonic();
	unsigned set = take_due(schedule, now);

	(void)source, (void)at;
	for (struct rna_target *t = NULL; (t = rna_schedule_next(schedule, t));) {
		want(schedule, t, set & ~rna_rhythm_fresh(schedule, t, now), now);
		want_settled_now(schedule, t, now);
	}
	flush(schedule);
	arm_timer(schedule);
	if (schedule->account.overdue > 0) /* the age of a stall has to be published */
		schedule->on_settled(schedule->userdata);
	return 0;
}

/* -- Events ------------------------------------------------------------------------------------ */

/* marked: of target; they are marked no longer. */
static void read_marked(struct rna_schedule *schedule, struct rna_target *target, unsigned *marked,
			rna_usec now)
{
	unsigned settling = *marked & rna_collectors_settling();
	unsigned others = *marked & ~settling;

	*marked = 0;
	want_settled(schedule, target, settling, now);
	if (others)
		want(schedule, target, others, now);
}

void rna_schedule_read_triggered(struct rna_schedule *schedule)
{
	rna_usec now = rna_clock_monotonic();

	for (struct rna_target *t = NULL; (t = rna_schedule_next(schedule, t));)
		read_marked(schedule, t, &t->triggered, now);
	flush(schedule);
}

void rna_schedule_read_later(struct rna_schedule *schedule)
{
	rna_usec now = rna_clock_monotonic();

	for (struct rna_target *t = NULL; (t = rna_schedule_next(schedule, t));) {
		rna_target_set_cause(t, t->later, &t->later_for);
		read_marked(schedule, t, &t->later, now);
	}
	flush(schedule);
}

static const char *find_running_reported(const struct rna_target *list)
{
	for (const struct rna_target *t = list; t; t = t->next)
		if (t->running > 0 && t->loud)
			return rna_target_name(t);
	return NULL;
}

const char *rna_schedule_loud(const struct rna_schedule *schedule)
{
	const char *name = find_running_reported(schedule->devices);

	if (!name)
		name = find_running_reported(schedule->leaving);
	return name ? name : find_running_reported(schedule->nodes);
}

/* -- Life -------------------------------------------------------------------------------------- */

/* One target for each node-wide collector, in the order of the table. 0 or -ENOMEM. */
static int make_nodes(struct rna_schedule *schedule)
{
	struct rna_target **tail = &schedule->nodes;

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		if (rna_collectors[id].per_device)
			continue;
		*tail = rna_target_new(schedule->root, rna_collector_bit(id));
		if (!*tail)
			return -ENOMEM;
		tail = &(*tail)->next;
	}
	return 0;
}

int rna_schedule_init(struct rna_schedule *schedule, sd_event *event,
		      const struct rna_settings *settings, const struct rna_root *root,
		      const struct rna_backends *backends, struct rna_error *error)
{
	const struct rna_lanes_callbacks callbacks = {on_finished, on_overdue, on_settled,
						      schedule};
	struct rna_lanes_limits limits = rna_lanes_limits_of(settings);
	int ret;

	schedule->settings = settings;
	schedule->root = root;
	schedule->backends = backends;
	schedule->filter =
		rna_device_filter_new(settings->devices_include, settings->devices_exclude);
	schedule->statistics = rna_texts_copy(settings->ethernet_statistics);
	if (!schedule->filter || !schedule->statistics || make_nodes(schedule) < 0)
		return rna_error_set(error, -ENOMEM, "cannot start polling");
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		schedule->due[id] = RNA_USEC_NEVER;
	ret = sd_event_add_time(event, &schedule->timer, CLOCK_MONOTONIC, 0, TIMER_ACCURACY_USEC,
				on_timer, schedule);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(schedule->timer, SD_EVENT_OFF);
	if (ret < 0)
		return rna_error_set(error, ret, "cannot start polling");
	return rna_lanes_new(event, &limits, &callbacks, &schedule->lanes, error);
}

int rna_schedule_start(struct rna_schedule *schedule, bool once, struct rna_error *error)
{
	rna_usec now = rna_clock_monotonic();
	int ret;

	schedule->started = true;
	schedule->patient = schedule->later_may_run = once;
	rna_lanes_hasten(schedule->lanes, true); /* until the first view is complete */
	for (struct rna_target *t = schedule->nodes; t; t = t->next)
		want(schedule, t, t->collectors, now);
	ret = rna_lanes_flush(schedule->lanes);
	if (ret < 0)
		return rna_error_set(error, ret, "cannot start a worker thread");
	shorten_due_times(schedule, now);
	if (!once)
		arm_timer(schedule);
	return 0;
}

void rna_schedule_reload(struct rna_schedule *schedule, struct rna_device_filter *filter,
			 struct rna_texts *statistics)
{
	struct rna_lanes_limits limits = rna_lanes_limits_of(schedule->settings);
	rna_usec now = rna_clock_monotonic();

	(void)rna_device_filter_unref(schedule->filter);
	schedule->filter = filter;
	(void)rna_texts_unref(schedule->statistics);
	schedule->statistics = statistics;
	rna_lanes_set_limits(schedule->lanes, &limits);
	shorten_due_times(schedule, now);
	want_of_all(schedule, rna_collector_bit(rna_collector_listing(RNA_LISTS_DEVICES)), now);
	flush(schedule);
	arm_timer(schedule);
}

void rna_schedule_look_for(struct rna_schedule *schedule, struct rna_texts *functions)
{
	(void)rna_texts_unref(schedule->functions);
	schedule->functions = functions;
}

void rna_schedule_set_rails(struct rna_schedule *schedule, struct rna_known_rails *rails)
{
	(void)rna_known_rails_unref(schedule->rails);
	schedule->rails = rails;
}

static void number_rails_anew(struct rna_schedule *schedule)
{
	unsigned set = rna_collectors_numbering_rails();

	for (struct rna_target *t = schedule->nodes; schedule->patient && t; t = t->next)
		for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
			if (t->collectors & set & rna_collector_bit(id)) {
				t->slots[id]->ran = false;
				schedule->complete = false;
			}
	want_of_all(schedule, set, rna_clock_monotonic());
	flush(schedule);
}

void rna_schedule_renumber_rails(struct rna_schedule *schedule, struct rna_known_rails *rails)
{
	rna_schedule_set_rails(schedule, rails);
	number_rails_anew(schedule);
}

void rna_schedule_set_nic_facts(struct rna_schedule *schedule, struct rna_nic_facts *facts)
{
	(void)rna_nic_facts_unref(schedule->nic_facts);
	schedule->nic_facts = facts;
	number_rails_anew(schedule);
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
	if (schedule->account.overdue > 0) /* a job that is stuck will hardly end now */
		patience /= 10;
	if (!rna_lanes_stop(schedule->lanes, patience))
		return false;
	schedule->lanes = NULL;
	free_list(schedule->devices);
	free_list(schedule->leaving);
	free_list(schedule->nodes);
	(void)rna_device_filter_unref(schedule->filter);
	(void)rna_texts_unref(schedule->functions);
	(void)rna_known_rails_unref(schedule->rails);
	(void)rna_nic_facts_unref(schedule->nic_facts);
	(void)rna_texts_unref(schedule->statistics);
	*schedule = (struct rna_schedule){0};
	return true;
}
