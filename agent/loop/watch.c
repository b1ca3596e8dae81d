// SPDX-License-Identifier: Apache-2.0
/*
 * The watch: events in, triggers out.
 *
 *	rtnetlink  an interface or an address of it: the devices that it serves
 *	uevents    RDMA devices that come, go or get another name: presence; PCI functions that do
 *		   so, or get another driver: topology, virtual functions
 *	kmsg       the log of the kernel
 *	verbs      ports, LIDs and GIDs of devices that are held open (verbs_watch.h)
 *
 * An event only means that something has to be read; its content is not used. If events were lost,
 * everything is read. Events that concern no target have no further effect.
 */
#include "watch.h"

#include <errno.h>
#include <string.h>

#include "rna/base/log.h"
#include "rna/monitor.h"

#include "debounce.h"
#include "trigger.h"
#include "verbs_watch.h"

enum { TIMER_ACCURACY_USEC = 1000 };

/*
 * For what an event has not made urgent. GID tables are filled from a work queue
 * (drivers/infiniband/core/roce_gid_mgmt.c) and polled rarely, so they are read a second time; and
 * reading a link asks the device, which a storm should not do four times a second.
 */
#define LATER RNA_USEC_PER_SEC

/* However many messages the kernel writes, they are read so often at most. */
#define MESSAGES_PAUSE RNA_USEC_PER_SEC

struct monitor {
	int fd;
	sd_event_source *source; /* NULL: not listened to */
};

struct rna_watch {
	sd_event *event;
	struct rna_schedule *schedule;
	struct monitor links;
	struct monitor uevents;
	struct monitor messages;
	struct rna_verbs_watch *verbs; /* NULL until it is wanted for the first time */
	enum rna_verbs_events_setting held;
	struct rna_debounce debounce;
	sd_event_source *timer; /* for what events have marked */
	sd_event_source *later; /* for the less urgent */
	void (*removed)(void *userdata);
	void *removed_userdata;
};

/* -- Triggers ---------------------------------------------------------------------------------- */

/* about: which device or interface, if not all. The table of collectors says what to read. */
static void trigger(struct rna_watch *watch, enum rna_source source, enum rna_event event,
		    struct rna_trigger about)
{
	const struct rna_settings *settings = watch->schedule->settings;
	rna_usec now = rna_clock_monotonic();
	rna_usec due;

	about.origin = (struct rna_origin){source, now};
	about.collectors = rna_collectors_for(event);
	about.later = rna_collectors_later_for(event);
	if (!rna_trigger(watch->schedule, &about))
		return;
	due = rna_debounce_add(&watch->debounce, settings->watch_debounce,
			       settings->watch_debounce_max, now);
	(void)sd_event_source_set_time(watch->timer, due);
	(void)sd_event_source_set_enabled(watch->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t at, void *userdata)
{
	struct rna_watch *watch = userdata;
	int armed = SD_EVENT_OFF;

	(void)source, (void)at;
	rna_debounce_reset(&watch->debounce);
	rna_schedule_read_triggered(watch->schedule);
	(void)sd_event_source_get_enabled(watch->later, &armed);
	if (armed == SD_EVENT_OFF) {
		(void)sd_event_source_set_time_relative(watch->later, LATER);
		(void)sd_event_source_set_enabled(watch->later, SD_EVENT_ONESHOT);
	}
	return 0;
}

static int on_delayed_trigger(sd_event_source *source, uint64_t at, void *userdata)
{
	const struct rna_watch *watch = userdata;

	(void)source, (void)at;
	rna_schedule_read_later(watch->schedule);
	return 0;
}

static struct monitor *monitor_of(struct rna_watch *watch, enum rna_source source)
{
	switch (source) {
	case RNA_SOURCE_RTNETLINK:
		return &watch->links;
	case RNA_SOURCE_UEVENT:
		return &watch->uevents;
	default:
		return &watch->messages;
	}
}

static struct rna_source_account *account(struct rna_watch *watch, enum rna_source source)
{
	return &watch->schedule->account.sources[source];
}

/* -- Rtnetlink, uevents and messages ----------------------------------------------------------- */

static void on_link_event(const struct rna_link_event *event, void *userdata)
{
	trigger(userdata, RNA_SOURCE_RTNETLINK,
		event->address ? RNA_EVENT_ADDRESS : RNA_EVENT_INTERFACE,
		(struct rna_trigger){.ifindex = event->ifindex});
}

static void trigger_all(struct rna_watch *watch, enum rna_source source, enum rna_event event)
{
	trigger(watch, source, event, (struct rna_trigger){0});
}

static void on_pci_event(struct rna_watch *watch, const char *action)
{
	static const char *const actions[] = {"add", "remove", "bind", "unbind"};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(actions); i++)
		if (strcmp(action, actions[i]) == 0)
			trigger_all(watch, RNA_SOURCE_UEVENT, RNA_EVENT_PCI);
}

static void let_go(struct rna_watch *watch, const char *node)
{
	rna_verbs_watch_let_go(watch->verbs, node);
	if (watch->removed)
		watch->removed(watch->removed_userdata);
}

/* A device whose node was added can be held open again. */
static void on_uevent_event(const struct rna_uevent *event, void *userdata)
{
	struct rna_watch *watch = userdata;

	if (strcmp(event->subsystem, "infiniband") == 0)
		trigger_all(watch, RNA_SOURCE_UEVENT, RNA_EVENT_DEVICE);
	else if (strcmp(event->subsystem, "pci") == 0)
		on_pci_event(watch, event->action);
	else if (strcmp(event->subsystem, "infiniband_verbs") != 0)
		return;
	else if (strcmp(event->action, "remove") == 0)
		let_go(watch, event->name);
	else
		rna_verbs_watch_retry(watch->verbs);
}

static void close_monitor(struct rna_watch *watch, enum rna_source source)
{
	struct monitor *monitor = monitor_of(watch, source);

	if (!monitor->source)
		return;
	monitor->source = sd_event_source_disable_unref(monitor->source);
	rna_close_p(&monitor->fd);
	account(watch, source)->watched = false;
	rna_schedule_look_at_events(watch->schedule);
}

static void close_monitors(struct rna_watch *watch)
{
	close_monitor(watch, RNA_SOURCE_RTNETLINK);
	close_monitor(watch, RNA_SOURCE_UEVENT);
	close_monitor(watch, RNA_SOURCE_KMSG);
}

/* count: as rna_*_monitor_read() returns it. A socket that fails for good would spin the loop. */
static void account_batch(struct rna_watch *watch, enum rna_source source, int count)
{
	if (count >= 0) {
		account(watch, source)->events += (uint64_t)count;
		return;
	}
	account(watch, source)->overruns++;
	trigger_all(watch, source, RNA_EVENT_LOST);
	if (count == -ENOBUFS)
		return;
	rna_log_warning("%s event socket failed (%s); falling back to polling",
			rna_source_name(source), strerror(-count));
	close_monitor(watch, source);
}

static int on_links(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_watch *watch = userdata;

	(void)source, (void)events;
	account_batch(watch, RNA_SOURCE_RTNETLINK, rna_link_monitor_read(fd, on_link_event, watch));
	return 0;
}

static int on_uevents(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_watch *watch = userdata;

	(void)source, (void)events;
	account_batch(watch, RNA_SOURCE_UEVENT,
		      rna_uevent_monitor_read(fd, on_uevent_event, watch));
	return 0;
}

/* What was written until now is read because of this event; what comes later is the next one. */
static int on_message(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_watch *watch = userdata;
	int status = rna_kmsg_monitor_skip(fd);

	(void)source, (void)events;
	account_batch(watch, RNA_SOURCE_KMSG, status < 0 ? status : 1);
	trigger_all(watch, RNA_SOURCE_KMSG, RNA_EVENT_MESSAGE);
	return 0;
}

/*
 * Takes over fd. pause: after each look it is left alone for that time, and then read as a batch:
 * in a storm, one wake-up for each event would cost more than all that is done about them.
 */
static void open_monitor(struct rna_watch *watch, enum rna_source source, int fd, rna_usec pause,
			 sd_event_io_handler_t handler)
{
	struct monitor *monitor = monitor_of(watch, source);
	int ret = sd_event_add_io(watch->event, &monitor->source, fd, EPOLLIN, handler, watch);

	monitor->fd = fd;
	if (ret >= 0)
		ret = sd_event_source_set_ratelimit(monitor->source, pause, 1);
	if (ret < 0) {
		rna_log_warning("cannot watch %s events (%s); falling back to polling",
				rna_source_name(source), strerror(-ret));
		monitor->source = sd_event_source_disable_unref(monitor->source);
		rna_close_p(&monitor->fd);
		return;
	}
	account(watch, source)->watched = true;
	rna_schedule_look_at_events(watch->schedule);
}

static void open_socket(struct rna_watch *watch, enum rna_source source,
			int (*open_fd)(struct rna_error *error), sd_event_io_handler_t handler)
{
	struct rna_error error = {0};
	int fd;

	if (monitor_of(watch, source)->source)
		return;
	fd = open_fd(&error);
	if (fd < 0)
		rna_log_warning("%s; falling back to polling", error.text);
	else
		open_monitor(watch, source, fd, watch->schedule->settings->watch_debounce / 2,
			     handler);
}

/* Where that is refused, the collector says so. */
static void open_messages(struct rna_watch *watch)
{
	int setting = watch->schedule->settings->kernel_log_source;
	int fd = -1;

	if (watch->messages.source)
		return;
	if (setting == RNA_KERNEL_LOG_SETTING_AUTO || setting == RNA_KERNEL_LOG_SETTING_KMSG)
		fd = rna_kmsg_monitor_open(watch->schedule->root);
	if (fd >= 0)
		open_monitor(watch, RNA_SOURCE_KMSG, fd, MESSAGES_PAUSE, on_message);
}

/* -- Verbs ------------------------------------------------------------------------------------- */

static void on_verbs_event(const char *device, enum rna_verbs_event event, void *userdata)
{
	static const enum rna_event events[] = {
		[RNA_VERBS_PORT] = RNA_EVENT_PORT,
		[RNA_VERBS_LINK] = RNA_EVENT_LID,
		[RNA_VERBS_GIDS] = RNA_EVENT_GID,
		[RNA_VERBS_GONE] = RNA_EVENT_GONE,
	};
	struct rna_watch *watch = userdata;

	account(watch, RNA_SOURCE_VERBS)->events++;
	if (event != RNA_VERBS_OTHER)
		trigger(watch, RNA_SOURCE_VERBS, events[event],
			(struct rna_trigger){.device = device});
}

static void update_verbs(struct rna_watch *watch, enum rna_verbs_events_setting which)
{
	struct rna_error error = {0};

	if (which != RNA_VERBS_EVENTS_NEVER && !watch->verbs &&
	    rna_verbs_watch_new(watch->event, watch->schedule, on_verbs_event, watch, &watch->verbs,
				&error) < 0)
		rna_log_warning("%s; falling back to polling", error.text);
	watch->held = which;
	rna_verbs_watch_retry(watch->verbs);
}

/* -- Life -------------------------------------------------------------------------------------- */

void rna_watch_follow(struct rna_watch *watch, const struct rna_snapshot *snapshot)
{
	if (watch)
		rna_verbs_watch_follow(watch->verbs, snapshot, watch->held);
}

void rna_watch_update(struct rna_watch *watch)
{
	const struct rna_settings *settings = watch->schedule->settings;
	bool live = rna_root_is_live(watch->schedule->root);

	account(watch, RNA_SOURCE_POLL)->watched = true;
	if (live && settings->watch_events) {
		open_socket(watch, RNA_SOURCE_RTNETLINK, rna_link_monitor_open, on_links);
		open_socket(watch, RNA_SOURCE_UEVENT, rna_uevent_monitor_open, on_uevents);
		open_messages(watch);
	} else {
		close_monitors(watch);
	}
	update_verbs(watch, live && settings->watch_events && !watch->schedule->quiet
				    ? (enum rna_verbs_events_setting)settings->watch_verbs_events
				    : RNA_VERBS_EVENTS_NEVER);
}

const char *rna_watch_holds(const struct rna_watch *watch)
{
	return watch ? rna_verbs_watch_holds(watch->verbs) : NULL;
}

static int add_timer(struct rna_watch *watch, sd_event_source **ret,
		     sd_event_time_handler_t handler)
{
	int status = sd_event_add_time(watch->event, ret, CLOCK_MONOTONIC, 0, TIMER_ACCURACY_USEC,
				       handler, watch);

	return status < 0 ? status : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

void rna_watch_set_removal(struct rna_watch *watch, void (*removed)(void *userdata), void *userdata)
{
	watch->removed = removed;
	watch->removed_userdata = userdata;
}

struct rna_watch *rna_watch_new(sd_event *event, struct rna_schedule *schedule)
{
	struct rna_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->event = event;
	watch->schedule = schedule;
	if (add_timer(watch, &watch->timer, on_timer) < 0 ||
	    add_timer(watch, &watch->later, on_delayed_trigger) < 0) {
		(void)rna_watch_stop(watch, 0);
		return NULL;
	}
	return watch;
}

bool rna_watch_stop(struct rna_watch *watch, rna_usec patience)
{
	if (!watch)
		return true;
	close_monitors(watch);
	watch->timer = sd_event_source_disable_unref(watch->timer);
	watch->later = sd_event_source_disable_unref(watch->later);
	if (!rna_verbs_watch_stop(watch->verbs, patience))
		return false;
	free(watch);
	return true;
}
