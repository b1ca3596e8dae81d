// SPDX-License-Identifier: Apache-2.0
#include "publish.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "rna/kubernetes.h"
#include "rna/model/subject.h"

#include "memory/remember.h"
#include "probe/probe_memory.h"

#include "rhythm.h"

/* -- Snapshot: the newest parts ---------------------------------------------------------------- */

/* After so many missed periods old content counts as absent. */
enum { MISSED_PERIODS = 3 };

/*
 * Is the slot's part young enough to be shown? The grace of one deadline keeps a device that is
 * slow, but answers, from flickering. Presence is exempt: it names the devices whose other parts
 * are read through paths of their own, and its age is a metric.
 */
static bool is_current(const struct rna_schedule *schedule, const struct rna_target *target,
		       enum rna_collector_id id, rna_usec now)
{
	rna_usec limit = MISSED_PERIODS * rna_rhythm_period(schedule, target, id);
	const struct rna_slot *slot = target->slots[id];

	if (!slot->part || rna_collectors[id].lists == RNA_LISTS_DEVICES)
		return slot->part;
	return rna_usec_since(slot->part->taken.monotonic, now) <=
	       limit + schedule->settings->poll_deadline;
}

static void copy_parts(const struct rna_schedule *schedule, const struct rna_target *target,
		       rna_usec now, const struct rna_part *parts[RNA_COLLECTOR_COUNT])
{
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if ((target->collectors & rna_collector_bit(id)) &&
		    is_current(schedule, target, id, now))
			parts[id] = rna_part_ref(target->slots[id]->part);
}

/*
 * The devices are those of the targets, in the order of presence. Each target's device lies in a
 * presence that the snapshot has to hold on to: nearly always the newest one, which is a part of
 * the snapshot anyway.
 */
static int add_snapshot(const struct rna_publish_input *in, struct rna_view *view)
{
	const struct rna_schedule *schedule = in->schedule;
	struct rna_snapshot *snapshot = rna_snapshot_new(schedule->device_count, in->time);
	enum rna_collector_id presence = rna_collector_listing(RNA_LISTS_DEVICES);
	size_t i = 0;

	if (!snapshot)
		return -ENOMEM;
	snapshot->device_set = schedule->device_set;
	for (const struct rna_target *t = schedule->nodes; t; t = t->next)
		copy_parts(schedule, t, in->time.monotonic, snapshot->parts);
	for (const struct rna_target *t = schedule->devices; t; t = t->next, i++) {
		struct rna_snapshot_device *device = &snapshot->devices[i];

		device->device = t->device;
		device->held = t->held;
		copy_parts(schedule, t, in->time.monotonic, device->parts);
		device->parts[presence] = rna_part_ref(t->presence);
	}
	view->snapshot = snapshot;
	return 0;
}

/* -- Cards ------------------------------------------------------------------------------------- */

static int add_cards(const struct rna_publish_input *in, struct rna_view *view)
{
	struct rna_cards *cards = rna_arena_alloc(view->arena, sizeof(*cards));

	(void)in;
	if (!cards)
		return -ENOMEM;
	view->cards = cards;
	return rna_cards_make(view->snapshot, view->arena, cards);
}

/* -- Jobs: how the collectors fare ------------------------------------------------------------- */

static size_t count_jobs(const struct rna_schedule *schedule)
{
	size_t count = 0;

	for (const struct rna_target *t = NULL; (t = rna_schedule_next(schedule, t));)
		count += (unsigned)__builtin_popcount(t->collectors);
	return count;
}

/* The slot's go on counting. -ENOMEM, or 0 with *ret NULL if there are none. */
static int copy_errors(const struct rna_slot *slot, struct rna_arena *arena, const uint64_t **ret)
{
	uint64_t *copy;

	*ret = NULL;
	if (!slot->errors)
		return 0;
	copy = rna_arena_array(arena, RNA_REASON_COUNT, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	*ret = memcpy(copy, slot->errors, RNA_REASON_COUNT * sizeof(*copy));
	return 0;
}

static int set_job(const struct rna_schedule *schedule, const struct rna_target *target,
		   enum rna_collector_id id, struct rna_arena *arena, struct rna_job_status *ret)
{
	const struct rna_slot *slot = target->slots[id];

	*ret = (struct rna_job_status){
		.collector = id,
		.name = rna_collectors[id].name,
		.device = rna_target_name(target), /* lies in a part that the snapshot holds */
		.ran = slot->ran,
		.success = slot->success,
		.duration = slot->duration,
		.period = rna_rhythm_period(schedule, target, id),
		.taken = slot->part ? slot->part->taken.monotonic : 0,
		.stalled = slot->overdue,
	};
	return copy_errors(slot, arena, &ret->errors);
}

static int add_jobs_of(const struct rna_schedule *schedule, const struct rna_target *target,
		       struct rna_view *view, struct rna_job_status *jobs)
{
	int status = 0;

	for (unsigned id = 0; status == 0 && id < RNA_COLLECTOR_COUNT; id++)
		if (target->collectors & rna_collector_bit(id))
			status = set_job(schedule, target, id, view->arena,
					 &jobs[view->job_count++]);
	return status;
}

static int add_jobs(const struct rna_publish_input *in, struct rna_view *view)
{
	struct rna_job_status *jobs =
		rna_arena_array(view->arena, count_jobs(in->schedule), sizeof(*jobs));

	if (!jobs)
		return -ENOMEM;
	view->jobs = jobs;
	for (const struct rna_target *t = NULL; (t = rna_schedule_next(in->schedule, t));)
		if (add_jobs_of(in->schedule, t, view, jobs) < 0)
			return -ENOMEM;
	return 0;
}

/* -- Status: the agent itself ------------------------------------------------------------------ */

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
		(void)gethostname(host, sizeof(host) - 1); /* "" if it fails */
		name = host;
	}
	return rna_arena_strdup(arena, name);
}

/* The texts of the status, which the view has of its own. 0 or -ENOMEM. */
static int copy_texts(const struct rna_settings *settings, const struct rna_agent_status *status,
		      struct rna_agent_status *copy, struct rna_arena *arena)
{
	bool no_memory = false;

	copy->name = name_node(settings, status, arena);
	if (status->live) { /* not that of a recording */
		copy->pod = rna_arena_keep(arena, getenv("POD_NAME"), &no_memory);
		copy->pod_namespace = rna_arena_keep(arena, getenv("POD_NAMESPACE"), &no_memory);
	}
	copy->root = rna_arena_keep(arena, status->root, &no_memory);
	copy->quiesced = rna_arena_keep(arena, status->quiesced, &no_memory);
	copy->config_error = rna_arena_keep(arena, status->config_error, &no_memory);
	return copy->name && !no_memory ? 0 : -ENOMEM;
}

static int add_status(const struct rna_publish_input *in, struct rna_view *view)
{
	const struct rna_schedule *schedule = in->schedule;
	const struct rna_settings *settings = schedule->settings;

	view->agent = *in->status;
	view->agent.missed_changes = schedule->account.missed;
	view->agent.lanes = rna_lanes_count(schedule->lanes);
	view->agent.lanes_stalled = schedule->account.overdue;
	memcpy(view->agent.sources, schedule->account.sources, sizeof(view->agent.sources));
	view->metrics = (struct rna_metrics_options){
		.all_jobs = settings->metrics_collectors,
		.details = settings->metrics_details,
		.gid_info = settings->metrics_gid_info,
		.fec_lanes = settings->metrics_fec_lanes,
		.finding_text = settings->metrics_finding_text,
		.priorities = settings->metrics_priorities,
		.node_exporter_names = settings->metrics_node_exporter_names,
		.qos_details = settings->metrics_qos_details,
		.virtual_functions = settings->metrics_virtual_functions,
		.users = settings->metrics_users,
		.gpu_nic_paths = (enum rna_path_class)settings->metrics_gpu_nic_paths,
	};
	return copy_texts(settings, in->status, &view->agent, view->arena);
}

/* -- The other rooms --------------------------------------------------------------------------- */

static int add_selftests(const struct rna_publish_input *in, struct rna_view *view)
{
	view->selftests = rna_selftest_results(in->selftest);
	return 0;
}

static int add_probes(const struct rna_publish_input *in, struct rna_view *view)
{
	view->probes = rna_probing_results(in->probing);
	view->bandwidths = rna_measuring_results(in->measuring);
	if (view->probes)
		view->probed =
			(struct rna_probe_pairs){view->probes->pair_count, view->probes->pairs};
	else if (in->probes)
		return rna_probe_memory_pairs(in->probes, in->time.realtime, view->arena,
					      &view->probed);
	return 0;
}

static int add_memory(const struct rna_publish_input *in, struct rna_view *view)
{
	const struct rna_remember_input what = {in->schedule->settings, in->schedule->filter};

	if (in->memory)
		(void)rna_remember(in->memory, &what, view); /* no memory: the next view has it */
	return 0;
}

static int add_kubernetes(const struct rna_publish_input *in, struct rna_view *view)
{
	rna_node_describe(in->node, view);
	return 0;
}

/* For the label of a profile. The Node is read some time after the start, or never. */
static int has_label(const char *label, void *node)
{
	const struct rna_kubernetes_status *status = rna_node_status(node);

	if (status && status->looked.monotonic == 0)
		return -1;
	return rna_node_has_label(node, label);
}

static void describe_rails(const struct rna_baseline_choice *choice, struct rna_view *view,
			   bool *no_memory)
{
	const struct rna_profile_node *node = choice->profile ? &choice->profile->node : NULL;
	const char **rails;

	if (!node || !choice->alarms || node->rails.count == 0)
		return;
	rails = rna_arena_array(view->arena, node->rails.count, sizeof(*rails));
	*no_memory |= !rails;
	for (size_t i = 0; rails && i < node->rails.count; i++)
		rails[i] = rna_arena_keep(view->arena, ((const char *const *)node->rails.items)[i],
					  no_memory);
	view->profile.rails = rails;
	view->profile.rail_count = rails ? node->rails.count : 0;
	view->profile.gpu_count = rna_value_is_known(node->gpus) ? node->gpus.number : 0;
}

/* The profiles may be read again while the view is shown. */
static int describe_profile(const struct rna_baseline_choice *choice, struct rna_view *view)
{
	bool no_memory = false;

	view->profile = (struct rna_profile_status){
		.name = rna_arena_keep(view->arena, choice->profile ? choice->profile->name : NULL,
				       &no_memory),
		.source = rna_arena_keep(view->arena, choice->path, &no_memory),
		.problem = rna_arena_keep(view->arena, choice->problem, &no_memory),
		.alarms = choice->alarms,
		.undecided = choice->unknown,
	};
	describe_rails(choice, view, &no_memory);
	return no_memory ? -ENOMEM : 0;
}

static int add_profile(const struct rna_publish_input *in, struct rna_view *view)
{
	struct rna_baseline_choice *choice;
	int status;

	if (!in->baseline)
		return 0;
	choice = rna_arena_alloc(view->arena, sizeof(*choice));
	if (!choice)
		return -ENOMEM;
	status = rna_baseline_choose(in->baseline, view->snapshot, has_label, in->node, view->arena,
				     choice);
	if (status < 0)
		return status;
	if (in->health)
		in->health->baseline = choice;
	return describe_profile(choice, view);
}

static int add_subjects(const struct rna_publish_input *in, struct rna_view *view)
{
	const struct rna_settings *settings = in->schedule->settings;

	return rna_subjects_join(view, settings->health_virtual_functions,
				 settings->fabric_networks);
}

static int add_findings(const struct rna_publish_input *in, struct rna_view *view)
{
	if (in->health)
		rna_health_judge(in->health, view);
	if (in->health)
		in->health->baseline = NULL; /* it lies in the view */
	return 0;
}

static int add_changes(const struct rna_publish_input *in, struct rna_view *view)
{
	if (in->memory)
		(void)rna_remember_changes(in->memory, view); /* as add_memory() */
	return 0;
}

/* -- The stages -------------------------------------------------------------------------------- */

const struct rna_publish_stage rna_publish_stages[RNA_PUBLISH_STAGES] = {
	{"snapshot", add_snapshot},     /* snapshot */
	{"cards", add_cards},           /* cards */
	{"jobs", add_jobs},             /* jobs */
	{"status", add_status},         /* agent, metrics */
	{"selftests", add_selftests},   /* selftests */
	{"probes", add_probes},         /* probes, bandwidths */
	{"memory", add_memory},         /* ports, missing */
	{"kubernetes", add_kubernetes}, /* node */
	{"profile", add_profile},       /* profile */
	{"subjects", add_subjects},     /* subjects */
	{"findings", add_findings},     /* findings */
	{"changes", add_changes},       /* changes, those of findings included */
};

const struct rna_view *rna_publish(const struct rna_publish_input *in)
{
	size_t jobs = count_jobs(in->schedule) * sizeof(struct rna_job_status);
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = NULL;
	struct rna_arena *arena = rna_arena_new(sizeof(*view) + jobs + 256);

	if (!arena)
		return NULL;
	view = rna_arena_alloc(arena, sizeof(*view)); /* there is room for it */
	view->refs = 1;
	view->arena = arena;
	for (size_t i = 0; i < RNA_PUBLISH_STAGES; i++)
		if (rna_publish_stages[i].fill_in(in, view) < 0)
			return NULL;
	return RNA_TAKE(view);
}
