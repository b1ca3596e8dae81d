// SPDX-License-Identifier: Apache-2.0
#include "verbs_watch.h"

#include <errno.h>
#include <string.h>

#include "rna/base/log.h"

enum stage {
	STAGE_OPENING,
	STAGE_OPEN,
	STAGE_CLOSING,
	STAGE_CLOSED, /* failed to open, or closed: stays so until the device is registered again */
};

/* One device. It is in the list as long as it is wanted or a job of it is under way. */
struct held {
	struct held *next;
	struct rna_verbs_watch *watch;
	const struct rna_part *presence; /* that device lies in */
	const struct rna_device *device;
	enum stage stage;
	bool wanted;
	bool leaving; /* it was not wanted for a while: if wanted again, it is opened again */
	struct rna_job job;
	struct rna_verbs_context *context; /* when open or closing */
	sd_event_source *source;
};

struct rna_verbs_watch {
	sd_event *event;
	struct rna_schedule *schedule;
	void (*handle)(const char *device, enum rna_verbs_event event, void *userdata);
	void *userdata;
	struct rna_lanes *lanes;
	struct held *held;
	enum rna_verbs_events_setting which;
	uint64_t device_set; /* that held follows; 0: to be looked through again */
	uint64_t coverage;   /* likewise: an interface that goes leaves a device without events */
};

static void submit(struct held *held, const struct rna_collector *collector)
{
	held->job = (struct rna_job){
		.collector = collector,
		.input =
			{
				.root = held->watch->schedule->root,
				.device = held->device,
				.previous = held->context ? &held->context->part : NULL,
			},
		.owner = held,
	};
	rna_lanes_submit(held->watch->lanes, &held->job);
	(void)rna_lanes_flush(held->watch->lanes); /* no thread: it starts with the next job */
}

/* Its events tell of its ports from now on, or do not any more. */
static void set_open(struct held *held, bool open)
{
	struct rna_verbs_watch *watch = held->watch;
	bool any = open;

	for (const struct held *other = watch->held; other; other = other->next)
		any |= other != held && other->stage == STAGE_OPEN;
	watch->schedule->account.sources[RNA_SOURCE_VERBS].watched = any;
	rna_schedule_set_held(watch->schedule, held->device, open);
}

static void start_closing(struct held *held)
{
	if (held->stage == STAGE_OPEN)
		set_open(held, false);
	held->source = sd_event_source_disable_unref(held->source);
	held->stage = STAGE_CLOSING;
	submit(held, &rna_verbs_close);
}

static int on_events(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct held *held = userdata;
	enum rna_verbs_event event;

	(void)source, (void)fd, (void)events;
	while (held->stage == STAGE_OPEN && rna_verbs_read(held->context, &event) > 0) {
		held->watch->handle(held->device->name, event, held->watch->userdata);
		if (event == RNA_VERBS_GONE)
			start_closing(held);
	}
	return 0;
}

static void take_context(struct held *held)
{
	held->context = (struct rna_verbs_context *)RNA_TAKE(held->job.part);
	held->stage = STAGE_OPEN;
	set_open(held, true);
	if (!held->wanted || sd_event_add_io(held->watch->event, &held->source, held->context->fd,
					     EPOLLIN, on_events, held) < 0)
		start_closing(held);
}

static void log_failure(const struct held *held, const char *text)
{
	const struct rna_log_field fields[] = {
		{"DEVICE", held->device->name},
		{NULL, NULL},
	};

	/* Where devices cannot or should not be opened, auto is as good as never. */
	rna_log(held->watch->which == RNA_VERBS_EVENTS_AUTO ? LOG_INFO : LOG_WARNING, fields, "%s",
		text ? text : "cannot watch for verbs events");
}

static struct held *free_held(struct held *held)
{
	(void)sd_event_source_disable_unref(held->source);
	if (held->context)
		(void)rna_part_unref(&held->context->part);
	(void)rna_part_unref(held->presence);
	free(held);
	return NULL;
}

static void on_finished(struct rna_job *job, void *userdata)
{
	struct held *held = job->owner;
	RNA_FREE char *text = RNA_TAKE(job->error);

	(void)userdata;
	if (job->collector != &rna_verbs_close && job->status >= 0) {
		take_context(held); /* which may make use of the job again */
		return;
	}
	if (job->status < 0 && held->wanted)
		log_failure(held, text);
	if (held->context)
		held->context = (void *)rna_part_unref(&held->context->part);
	job->part = rna_part_unref(job->part);
	held->stage = STAGE_CLOSED;
}

/* No view waits for these jobs: the deadlines only hand the queue over to another lane. */
static void on_overdue(const struct rna_job *job, enum rna_lateness lateness, void *userdata)
{
	(void)job, (void)lateness, (void)userdata;
}

static void remove_unwanted(struct rna_verbs_watch *watch)
{
	for (struct held **link = &watch->held; *link;) {
		struct held *held = *link;

		if (!held->wanted && held->stage == STAGE_OPEN)
			start_closing(held);
		if (held->wanted || held->stage != STAGE_CLOSED) {
			link = &held->next;
			continue;
		}
		*link = held->next;
		(void)free_held(held);
	}
}

static void on_settled(void *userdata)
{
	remove_unwanted(userdata);
}

/* -- Which devices ----------------------------------------------------------------------------- */

static bool has_infiniband(const struct rna_snapshot_device *device)
{
	const struct rna_identity *identity = rna_device_identity(device);

	return RNA_ANY(i, identity ? identity->port_count : 0,
		       identity->ports[i].link_layer == RNA_LINK_LAYER_INFINIBAND);
}

/* Do only its own events tell when a port goes down? */
static bool needs_holding(const struct rna_verbs_watch *watch,
			  const struct rna_snapshot_device *device)
{
	const struct rna_target *target = watch->schedule->devices;

	while (target && strcmp(target->device->name, device->device->name) != 0)
		target = target->next;
	return target && !target->covered && has_infiniband(device);
}

static bool may_hold(const struct rna_verbs_watch *watch, const struct rna_device *device)
{
	char **more = watch->schedule->settings->watch_verbs_drivers;

	if (!device->driver || device->process ||
	    device->function == RNA_FUNCTION_SWITCH_MANAGEMENT)
		return false;
	for (; more && *more; more++)
		if (strcmp(*more, device->driver) == 0)
			return true;
	return rna_verbs_lets_go(device->driver);
}

static struct held *find(struct rna_verbs_watch *watch, const struct rna_device *device)
{
	for (struct held *held = watch->held; held; held = held->next)
		if (!held->leaving && held->device->generation == device->generation &&
		    strcmp(held->device->name, device->name) == 0)
			return held;
	return NULL;
}

static void hold(struct rna_verbs_watch *watch, const struct rna_snapshot_device *device)
{
	struct held *held = calloc(1, sizeof(*held));

	if (!held)
		return; /* no memory: polling goes on */
	held->watch = watch;
	held->presence = rna_part_ref(device->parts[rna_collector_listing(RNA_LISTS_DEVICES)]);
	held->device = device->device;
	held->wanted = true;
	held->next = watch->held;
	watch->held = held;
	held->stage = STAGE_OPENING;
	submit(held, watch->which == RNA_VERBS_EVENTS_AUTO ? &rna_verbs_open_without_openibd
							   : &rna_verbs_open);
}

static bool is_wanted(const struct rna_verbs_watch *watch, const struct rna_snapshot_device *device)
{
	if (watch->which == RNA_VERBS_EVENTS_NEVER || !may_hold(watch, device->device))
		return false;
	return watch->which == RNA_VERBS_EVENTS_ALWAYS || needs_holding(watch, device);
}

static void want(struct rna_verbs_watch *watch, const struct rna_snapshot_device *device)
{
	struct held *held = find(watch, device->device);

	if (held)
		held->wanted = true;
	else
		hold(watch, device);
}

void rna_verbs_watch_follow(struct rna_verbs_watch *watch, const struct rna_snapshot *snapshot,
			    enum rna_verbs_events_setting which)
{
	if (!watch || (watch->device_set == snapshot->device_set &&
		       watch->coverage == watch->schedule->coverage))
		return;
	watch->device_set = snapshot->device_set;
	watch->coverage = watch->schedule->coverage;
	for (struct held *held = watch->held; held; held = held->next) {
		held->leaving |= !held->wanted || watch->which != which;
		held->wanted = false;
	}
	watch->which = which;
	for (size_t i = 0; i < snapshot->device_count; i++)
		if (is_wanted(watch, &snapshot->devices[i]))
			want(watch, &snapshot->devices[i]);
	remove_unwanted(watch);
}

const char *rna_verbs_watch_holds(const struct rna_verbs_watch *watch)
{
	for (const struct held *held = watch ? watch->held : NULL; held; held = held->next)
		if (held->stage != STAGE_CLOSED)
			return held->device->name;
	return NULL;
}

void rna_verbs_watch_let_go(struct rna_verbs_watch *watch, const char *node)
{
	for (struct held *held = watch ? watch->held : NULL; held; held = held->next)
		if (held->stage == STAGE_OPEN && strcmp(held->context->node, node) == 0)
			start_closing(held);
}

void rna_verbs_watch_retry(struct rna_verbs_watch *watch)
{
	if (!watch)
		return;
	for (struct held *held = watch->held; held; held = held->next)
		held->wanted &= held->stage != STAGE_CLOSED;
	remove_unwanted(watch);
	watch->device_set = 0;
}

/* -- Life -------------------------------------------------------------------------------------- */

int rna_verbs_watch_new(sd_event *event, struct rna_schedule *schedule,
			void (*handle)(const char *device, enum rna_verbs_event event,
				       void *userdata),
			void *userdata, struct rna_verbs_watch **ret, struct rna_error *error)
{
	struct rna_verbs_watch *watch = calloc(1, sizeof(*watch));
	const struct rna_lanes_callbacks callbacks = {on_finished, on_overdue, on_settled, watch};
	const struct rna_lanes_limits limits = rna_lanes_limits_of(schedule->settings);
	int status;

	if (!watch)
		return rna_error_set(error, -ENOMEM, "cannot watch for verbs events");
	watch->event = event;
	watch->schedule = schedule;
	watch->handle = handle;
	watch->userdata = userdata;
	status = rna_lanes_new(event, &limits, &callbacks, &watch->lanes, error);
	if (status < 0) {
		free(watch);
		return status;
	}
	*ret = watch;
	return 0;
}

bool rna_verbs_watch_stop(struct rna_verbs_watch *watch, rna_usec patience)
{
	if (!watch)
		return true;
	if (!rna_lanes_stop(watch->lanes, patience))
		return false;
	/* The kernel closes what is still open with the process, which is about to end. */
	while (watch->held) {
		struct held *held = watch->held;

		watch->held = held->next;
		(void)free_held(held);
	}
	free(watch);
	return true;
}
