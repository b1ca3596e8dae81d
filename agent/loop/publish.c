// SPDX-License-Identifier: Apache-2.0
#include "publish.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "rna/kubernetes.h"

/* After so many missed periods old content counts as absent. */
enum { MISSED_PERIODS = 3 };

/*
 * Is the slot's part young enough to be shown? The grace of one deadline keeps a device that is
 * slow, but answers, from flickering. Presence is exempt: it names the devices whose other parts
 * are read through paths of their own, and its age is a metric.
 */
static bool is_current(const struct rna_schedule *schedule, const struct rna_slot *slot,
		       enum rna_collector_id id, rna_usec now)
{
	rna_usec limit = MISSED_PERIODS * schedule->settings->poll[id];

	if (!slot->part || rna_collectors[id].lists == RNA_LISTS_DEVICES)
		return slot->part;
	return rna_usec_since(slot->part->taken.monotonic, now) <=
	       limit + schedule->settings->poll_deadline;
}

static void copy_parts(const struct rna_schedule *schedule, const struct rna_target *target,
		       rna_usec now, struct rna_part *parts[RNA_COLLECTOR_COUNT])
{
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if ((target->collectors & rna_collector_bit(id)) &&
		    is_current(schedule, target->slots[id], id, now))
			parts[id] = rna_part_ref(target->slots[id]->part);
}

/*
 * The devices are those of the targets, in the order of presence. Each target's device lies in a
 * presence that the snapshot has to hold on to: nearly always the newest one, which is a part of
 * the snapshot anyway.
 */
static struct rna_snapshot *make_snapshot(const struct rna_schedule *schedule, struct rna_time time)
{
	struct rna_snapshot *snapshot = rna_snapshot_new(schedule->device_count, time);
	enum rna_collector_id presence = rna_collector_listing(RNA_LISTS_DEVICES);
	size_t i = 0;

	if (!snapshot)
		return NULL;
	snapshot->device_set = schedule->device_set;
	for (const struct rna_target *t = schedule->nodes; t; t = t->next)
		copy_parts(schedule, t, time.monotonic, snapshot->parts);
	for (const struct rna_target *t = schedule->devices; t; t = t->next, i++) {
		struct rna_snapshot_device *device = &snapshot->devices[i];

		device->device = t->device;
		copy_parts(schedule, t, time.monotonic, device->parts);
		device->parts[presence] = rna_part_ref(t->presence);
	}
	return snapshot;
}

static size_t count_jobs(const struct rna_schedule *schedule)
{
	size_t count = 0;

	for (const struct rna_target *t = NULL; (t = rna_schedule_next(schedule, t));)
		count += (unsigned)__builtin_popcount(t->collectors);
	return count;
}

static void add_jobs(const struct rna_target *target, struct rna_view *view)
{
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		const struct rna_slot *slot = target->slots[id];
		struct rna_job_status *status = &view->jobs[view->job_count];

		if (!(target->collectors & rna_collector_bit(id)))
			continue;
		*status = (struct rna_job_status){
			.collector = id,
			.name = rna_collectors[id].name,
			.device = target->device ? target->device->name : "node",
			.ran = slot->ran,
			.success = slot->success,
			.duration = slot->duration,
			.taken = slot->part ? slot->part->taken.monotonic : 0,
			.stalled = slot->overdue,
		};
		memcpy(status->errors, slot->errors, sizeof(status->errors));
		view->job_count++;
	}
}

/* The last name of a path, in arena; "" of "/". NULL: no memory. */
static const char *last_name(const char *path, struct rna_arena *arena)
{
	size_t end = strlen(path), start;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/';)
		start--;
	return rna_arena_printf(arena, "%.*s", (int)(end - start), path + start);
}

/*
 * In arena; NULL: no memory. Asked for each time, for DHCP may name a host when the agent runs
 * already. A recording has no name that it may tell: it is called as its directory is.
 */
static const char *name_node(const struct rna_settings *settings,
			     const struct rna_agent_status *status, struct rna_arena *arena)
{
	const char *name = rna_kubernetes_node_name(settings->kubernetes_node_name);
	char host[HOST_NAME_MAX + 1] = "";

	if (!status->live)
		return last_name(status->root, arena);
	if (!name) {
		(void)gethostname(host, sizeof(host) - 1); /* "": then nobody knows */
		name = host;
	}
	return rna_arena_strdup(arena, name);
}

/* What the status tells in words, which the view has of its own. */
static int copy_texts(const struct rna_settings *settings, const struct rna_agent_status *status,
		      struct rna_view *view, struct rna_arena *arena)
{
	struct rna_agent_status *copy = &view->agent;

	copy->name = name_node(settings, status, arena);
	copy->root = rna_arena_strdup(arena, status->root);
	if (status->quiesced)
		copy->quiesced = rna_arena_strdup(arena, status->quiesced);
	if (status->config_error)
		copy->config_error = rna_arena_strdup(arena, status->config_error);
	return copy->name && copy->root && (!status->quiesced || copy->quiesced) &&
			       (!status->config_error || copy->config_error)
		       ? 0
		       : -ENOMEM;
}

/* The names in jobs lie in presence parts, which the snapshot holds. */
struct rna_view *rna_publish(const struct rna_schedule *schedule,
			     const struct rna_agent_status *status, struct rna_time time)
{
	size_t jobs = count_jobs(schedule) * sizeof(struct rna_job_status);
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = NULL;
	struct rna_view *view;

	arena = rna_arena_new(sizeof(*view) + jobs + 256);
	view = arena ? rna_arena_alloc(arena, sizeof(*view)) : NULL;
	if (!view)
		return NULL;
	view->refs = 1;
	view->agent = *status;
	view->metrics = (struct rna_metrics_options){
		.gid_info = schedule->settings->metrics_gid_info,
		.fec_lanes = schedule->settings->metrics_fec_lanes,
		.priorities = schedule->settings->metrics_priorities,
		.node_exporter_names = schedule->settings->metrics_node_exporter_names,
		.qos_details = schedule->settings->metrics_qos_details,
		.virtual_functions = schedule->settings->metrics_virtual_functions,
		.gpu_nic_paths = (enum rna_path_class)schedule->settings->metrics_gpu_nic_paths,
	};
	view->agent.lanes = rna_lanes_count(schedule->lanes);
	view->agent.lanes_stalled = schedule->overdue;
	memcpy(view->agent.sources, schedule->sources, sizeof(view->agent.sources));
	view->jobs = rna_arena_alloc(arena, jobs);
	view->snapshot = make_snapshot(schedule, time);
	if (copy_texts(schedule->settings, status, view, arena) < 0 || !view->jobs ||
	    !view->snapshot) {
		(void)rna_snapshot_unref(view->snapshot);
		return NULL;
	}
	for (const struct rna_target *t = NULL; (t = rna_schedule_next(schedule, t));)
		add_jobs(t, view);
	view->arena = RNA_TAKE(arena);
	return view;
}
