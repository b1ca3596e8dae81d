// SPDX-License-Identifier: Apache-2.0
/*
 * Health.
 *
 * A tracked finding is a problem that a rule found, from the first view that has it to the first
 * that does not. The finds of a view are sorted like them, by rule, device and port, and both
 * lists are merged: an entry in both continues, a new one begins, a missing one is resolved.
 */
#include "health.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "rna/base/characters.h"
#include "rna/base/duration.h"
#include "rna/base/parse.h"

#include "rules/fold.h"
#include "settings/silence.h"

#include "tracked_finding.h"

/* After a restart some rules need several readings to find again what they found before. */
#define SLOW_PATIENCE (5 * 60 * RNA_USEC_PER_SEC)

/*
 * For this time the first look waits for a device that does not answer, or answers too late: a
 * firmware command times out after 60 s, and may be tried twice (STALLED_CRITICAL in rules_read.c).
 */
#define LOOK_PATIENCE (2 * 60 * RNA_USEC_PER_SEC)

/* Text changes while a problem lasts, and how counters rise: the disk hears of it at this pace.
 */
#define RISES_PACE (5 * 60 * RNA_USEC_PER_SEC)

void rna_tracked_finding_deinit(struct rna_tracked_finding *tracked)
{
	free(tracked->device);
	free(tracked->key);
	free(tracked->text);
	free(tracked->remedy);
	free(tracked->told_text);
	*tracked = (struct rna_tracked_finding){0};
}

/* -- Settings ---------------------------------------------------------------------------------- */

static bool is_disabled(const struct rna_settings *settings, const struct rna_rule *rule)
{
	for (char *const *glob = settings->health_disable; glob && *glob; glob++)
		if (fnmatch(*glob, rule->name, 0) == 0)
			return true;
	return false;
}

/* The last matching entry applies. */
static rna_usec hold_of(const struct rna_settings *settings, const struct rna_rule *rule)
{
	rna_usec hold = 0;

	if (rule->hold)
		(void)rna_duration_parse(rule->hold, &hold); /* a unit test reads all of them */
	for (char *const *entry = settings->health_hold_down; entry && *entry; entry++) {
		char glob[RNA_RULE_GLOB_MAX];
		rna_usec given;

		if (rna_rule_split_hold(*entry, glob, &given) && fnmatch(glob, rule->name, 0) == 0)
			hold = given;
	}
	return hold;
}

int rna_health_reload(struct rna_health *health)
{
	const struct rna_settings *settings = health->settings;
	struct rna_thresholds *thresholds =
		rna_thresholds_new(settings->health_thresholds, settings->poll);

	if (!thresholds)
		return -ENOMEM;
	if (!health->thresholds || !rna_thresholds_same(health->thresholds, thresholds))
		rna_pasts_deinit(&health->pasts); /* its windows belong to the old thresholds */
	free(health->thresholds);
	health->thresholds = thresholds;
	for (size_t i = 0; i < RNA_RULE_COUNT; i++) {
		health->disabled[i] = is_disabled(settings, rna_rules[i]);
		health->holds[i] = hold_of(settings, rna_rules[i]);
	}
	return 0;
}

int rna_health_init(struct rna_health *health, const struct rna_settings *settings)
{
	*health = (struct rna_health){.settings = settings};
	return rna_health_reload(health);
}

void rna_health_deinit(struct rna_health *health)
{
	rna_pasts_deinit(&health->pasts);
	rna_episodes_deinit(&health->episodes);
	for (size_t i = 0; i < health->count; i++)
		rna_tracked_finding_deinit(&health->tracked[i]);
	free(health->tracked);
	free(health->thresholds);
	*health = (struct rna_health){0};
}

/* -- Results of the rules ---------------------------------------------------------------------- */

static int compare_objects(size_t rule, const struct rna_finding *finding, size_t other_rule,
			   const struct rna_finding *other)
{
	const char *device = finding->device ? finding->device : "";
	int order = strcmp(device, other->device ? other->device : "");

	if (rule != other_rule)
		return rule < other_rule ? -1 : 1;
	if (order != 0 || finding->port == other->port)
		return order;
	return finding->port < other->port ? -1 : 1;
}

static int compare_finds(const void *a, const void *b)
{
	const struct rna_find *x = a, *y = b;

	return compare_objects(x->rule, &x->finding, y->rule, &y->finding);
}

int rna_tracked_finding_compare(const void *a, const void *b)
{
	const struct rna_tracked_finding *x = a, *y = b;

	return compare_objects(x->rule, &x->finding, y->rule, &y->finding);
}

static void free_finds(struct rna_finds *finds)
{
	free(finds->items);
}

/* CLOCK_MONOTONIC counts from boot. A recording has no boot, and its clock is of another machine.
 */
bool rna_health_is_booting(const struct rna_health *health, const struct rna_view *view)
{
	return view->agent.live &&
	       view->snapshot->time.monotonic < health->settings->health_boot_grace;
}

/*
 * Has every job run? Jobs of a device wait for one that stalls, possibly for ever: of such a device
 * nothing more is known for now.
 */
static bool has_all_jobs(const struct rna_view *view)
{
	for (size_t i = 0, next; i < view->job_count; i = next) {
		bool ran = true, stalled = false;

		for (next = i; next < view->job_count &&
			       strcmp(view->jobs[next].device, view->jobs[i].device) == 0;
		     next++) {
			ran = ran && view->jobs[next].ran;
			stalled = stalled || view->jobs[next].stalled > 0;
		}
		if (!ran && !stalled)
			return false;
	}
	return true;
}

static void run_rules(struct rna_health *health, struct rna_view *view, struct rna_finds *out)
{
	const struct rna_subject_list *devices = rna_view_devices(view);
	const struct rna_subject_list *ports = rna_view_ports(view);
	RNA_FREE struct rna_past **pasts =
		calloc(devices->count + ports->count + 1, sizeof(*pasts));
	bool booted = rna_health_is_booting(health, view);
	struct rna_rule_input in = {
		.view = view,
		.settings = health->settings,
		.thresholds = health->thresholds,
		.baseline = health->baseline,
		.episodes = &health->episodes,
		.devices = devices,
		.ports = ports,
		.pasts = pasts,
	};

	if (!pasts) {
		out->failed = true;
		return;
	}
	if (rna_pasts_update(&health->pasts, health->thresholds, view, pasts) < 0)
		out->failed = true;
	if (rna_episodes_update(&health->episodes, view, health->settings, has_all_jobs(view)) < 0)
		out->failed = true;
	for (size_t id = 0; id < RNA_RULE_COUNT; id++)
		if (!health->disabled[id] && !(booted && rna_rules[id]->settles))
			rna_rule_run(id, &in, out);
	rna_finds_fold(out);
	rna_finds_name_runbooks(out);
	if (out->count > 0)
		qsort(out->items, out->count, sizeof(*out->items), compare_finds);
}

/* -- Conditions -------------------------------------------------------------------------------- */

/*
 * Since when it holds. What the rule says wins, but it knows this process only: of a finding from
 * an earlier one, what it said first is when this process began to see it.
 */
static struct rna_time find_since(struct rna_tracked_finding *tracked, const struct rna_time *said,
				  struct rna_time now)
{
	if (!tracked->text)
		return said->monotonic ? *said : now;
	if (tracked->recalled && !tracked->found)
		tracked->heard = *said;
	if (said->monotonic == 0 ||
	    (tracked->recalled && said->monotonic == tracked->heard.monotonic))
		return tracked->finding.since;
	return *said;
}

/* Updates a tracked, which may be new (zeroed), from a find. False: no memory. */
static bool take_find(struct rna_health *health, struct rna_tracked_finding *tracked,
		      const struct rna_find *find, struct rna_time now)
{
	const struct rna_finding before = tracked->finding;
	struct rna_time since = find_since(tracked, &find->finding.since, now);

	if (!tracked->text && (!rna_text_set(&tracked->device, find->finding.device) ||
			       !rna_text_set(&tracked->key, find->key)))
		return false;
	if (!rna_text_set(&tracked->text, find->finding.text) ||
	    !rna_text_set(&tracked->remedy, find->finding.remedy))
		return false;
	tracked->rule = find->rule;
	tracked->finding = find->finding;
	tracked->finding.device = tracked->device;
	tracked->finding.text = tracked->text;
	tracked->finding.remedy = tracked->remedy;
	tracked->finding.since = since;
	tracked->found = true;
	health->changed |= !before.text || before.severity != tracked->finding.severity ||
			   before.since.realtime != since.realtime;
	return true;
}

static bool has_held(const struct rna_health *health, const struct rna_tracked_finding *tracked,
		     struct rna_time now)
{
	return health->once || tracked->was_there ||
	       rna_time_since(tracked->finding.since, now) >= health->holds[tracked->rule];
}

/*
 * A hold-down keeps back what may pass by itself. A problem that is there when the agent starts has
 * most likely lasted: it is a finding as soon as every collector has run once, as it is for check
 * --once and status. While the machine boots, problems do pass. What the memory has goes on with
 * the hold-down that it had.
 */
static void look_for_the_first_time(struct rna_health *health, const struct rna_view *view)
{
	rna_usec now = view->snapshot->time.monotonic;
	bool all;

	if (health->saw_all)
		return;
	all = health->saw_all = has_all_jobs(view);
	if (health->looked || (!all && rna_usec_since(health->began, now) < LOOK_PATIENCE))
		return;
	health->looked = true;
	health->first_look = now;
	if (!all || rna_health_is_booting(health, view))
		return;
	for (size_t i = 0; i < health->count; i++)
		health->tracked[i].was_there |= !health->tracked[i].recalled;
}

static void end_finding(struct rna_health *health, struct rna_tracked_finding *tracked)
{
	if (tracked->told && health->tell)
		health->tell(rna_rules[tracked->rule], &tracked->finding, RNA_CHANGE_RESOLVED, true,
			     health->userdata);
	health->changed = true;
	rna_tracked_finding_deinit(tracked);
}

/* Has everything been read that its rule may look at? A device that is gone has no jobs. */
static bool is_read(const struct rna_health *health, const struct rna_tracked_finding *tracked,
		    const struct rna_view *view)
{
	for (size_t i = 0; tracked->device && i < view->job_count; i++)
		if (!view->jobs[i].ran && strcmp(view->jobs[i].device, tracked->device) == 0)
			return false;
	return tracked->device || health->saw_all;
}

/*
 * May a finding that was not made again hold all the same, because it is from an earlier process
 * and this one could not find it yet? Or because it is about an event, which this process did not
 * see.
 */
static bool may_hold(const struct rna_health *health, const struct rna_tracked_finding *tracked,
		     const struct rna_view *view)
{
	const struct rna_rule *rule = rna_rules[tracked->rule];
	struct rna_time now = view->snapshot->time;

	if (!tracked->recalled || tracked->found)
		return false;
	if (rule->lately)
		return rna_time_since(tracked->finding.since, now) <= rule->lately;
	if (!health->looked || !is_read(health, tracked, view) ||
	    (rule->settles && rna_health_is_booting(health, view)))
		return true;
	return rule->slow && rna_usec_since(health->first_look, now.monotonic) < SLOW_PATIENCE;
}

static bool is_shown(const struct rna_tracked_finding *tracked)
{
	return tracked->found || tracked->kept || !tracked->recalled ||
	       rna_rules[tracked->rule]->lately;
}

/* The first look at a machine that has booted. */
static rna_usec first_look_booted(const struct rna_health *health, const struct rna_view *view)
{
	return rna_view_after_boot(view, health->first_look, health->settings->health_boot_grace);
}

/* Since when a rule has looked: one that lets the machine boot first begins later. */
static rna_usec first_run(const struct rna_health *health, const struct rna_view *view,
			  const struct rna_rule *rule)
{
	return rule->settles ? first_look_booted(health, view) : health->first_look;
}

/*
 * Is it open whether the problem is a finding that the Node tells of? Nothing waits for problems
 * that come later.
 */
static bool is_open(const struct rna_health *health, const struct rna_tracked_finding *tracked,
		    const struct rna_view *view)
{
	const struct rna_time now = view->snapshot->time;
	rna_usec first = first_run(health, view, rna_rules[tracked->rule]);

	if (tracked->finding.severity < RNA_SEVERITY_WARNING)
		return false;
	if (!is_shown(tracked))
		return true;
	return !has_held(health, tracked, now) &&
	       rna_usec_since(first, now.monotonic) < health->holds[tracked->rule];
}

/*
 * The conditions of rules that let the links of a device come up. A device whose driver comes late
 * in a boot is waited for, and has all of its own boot_grace; what comes later still is news.
 */
static unsigned settling_of(const struct rna_health *health, const struct rna_view *view)
{
	rna_usec passed =
		rna_usec_since(first_look_booted(health, view), view->snapshot->time.monotonic);

	return passed < 2 * health->settings->health_boot_grace ? health->settling : 0;
}

unsigned rna_health_settled(const struct rna_health *health, const struct rna_view *view)
{
	unsigned open;

	if (health->once)
		return RNA_CONDITION_ALL_BITS;
	if (!health->looked || rna_health_is_booting(health, view))
		return 0;
	open = settling_of(health, view);
	if (!health->saw_all)
		open |= RNA_CONDITION_BIT(RNA_CONDITION_NOT_OBSERVED);
	if (open)
		open |= RNA_CONDITION_BIT(RNA_CONDITION_NONE);
	for (size_t i = 0; i < health->count; i++) {
		if (!is_open(health, &health->tracked[i], view))
			continue;
		open |= RNA_CONDITION_BIT(rna_rules[health->tracked[i].rule]->condition);
		if (!is_shown(&health->tracked[i]))
			open |= RNA_CONDITION_BIT(RNA_CONDITION_NONE);
	}
	return RNA_CONDITION_ALL_BITS & ~open;
}

/*
 * Merges finds into those that are tracked; the result replaces them. A find for which there is no
 * memory is dropped, and found again with the next view. Returns false if that happened.
 */
static bool merge(struct rna_health *health, const struct rna_finds *finds,
		  const struct rna_view *view)
{
	struct rna_time now = view->snapshot->time;
	struct rna_tracked_finding *merged =
		calloc(health->count + finds->count + 1, sizeof(*merged));
	size_t old = 0, next = 0, count = 0;
	bool whole = true;

	if (!merged)
		return false;
	for (size_t i = 0; i < health->count; i++) { /* they were of the view before */
		health->tracked[i].finding.others = NULL;
		health->tracked[i].finding.other_count = 0;
	}
	while (old < health->count || next < finds->count) {
		struct rna_tracked_finding *was =
			old < health->count ? &health->tracked[old] : NULL;
		const struct rna_find *find = next < finds->count ? &finds->items[next] : NULL;
		int order = old == health->count   ? 1
			    : next == finds->count ? -1
						   : compare_objects(was->rule, &was->finding,
								     find->rule, &find->finding);

		old += order <= 0;
		next += order >= 0;
		if (order < 0) {
			if (may_hold(health, was, view))
				merged[count++] = *was;
			else
				end_finding(health, was);
			continue;
		}
		if (order == 0)
			merged[count] = *was;
		else if (find->unknown)
			continue;
		merged[count].kept |=
			find->unknown && !find->settling && (health->looked || health->once);
		if (find->unknown || take_find(health, &merged[count], find, now)) {
			count++;
			continue;
		}
		rna_tracked_finding_deinit(&merged[count]);
		whole = false;
	}
	free(health->tracked);
	health->tracked = merged;
	health->count = count;
	return whole;
}

/* -- Findings ---------------------------------------------------------------------------------- */

/* No memory: it keeps the old text, or has none until the next view. */
static void freeze_text(struct rna_tracked_finding *tracked)
{
	if (rna_text_set(&tracked->told_text, tracked->text))
		tracked->told_text[rna_characters_cut(tracked->text, RNA_TOLD_TEXT_MAX)] = '\0';
}

/* Reports a finding when it appears, and when its severity changes: for the worse, it is news. */
static void report(struct rna_health *health, struct rna_tracked_finding *tracked)
{
	enum rna_severity severity = tracked->finding.severity;
	bool worse = !tracked->told || severity > tracked->told_severity;
	enum rna_change_what what = tracked->told ? RNA_CHANGE_ALTERED : RNA_CHANGE_RAISED;

	if (tracked->finding.silenced)
		return;
	if (worse || !tracked->told_text) /* the files of older versions have none */
		freeze_text(tracked);
	if (!worse && severity == tracked->last_severity)
		return;
	tracked->told = true;
	tracked->last_severity = severity;
	if (worse)
		tracked->told_severity = severity;
	health->changed = true;
	if (health->tell)
		health->tell(rna_rules[tracked->rule], &tracked->finding, what, worse,
			     health->userdata);
}

static int compare_findings(const void *a, const void *b)
{
	return rna_finding_compare(a, b);
}

/* One of several devices is silenced only with all of them. */
static bool is_silenced(char *const *windows, const struct rna_finding *finding, rna_usec now)
{
	bool silenced = rna_silence_holds(windows, finding->device, now);

	for (size_t i = 0; silenced && i < finding->other_count; i++)
		silenced = rna_silence_holds(windows, finding->others[i], now);
	return silenced;
}

static void fill_in(struct rna_health *health, struct rna_view *view)
{
	char *const *windows = health->settings->health_silence;
	struct rna_time now = view->snapshot->time;
	struct rna_finding *findings =
		rna_arena_array(view->arena, health->count, sizeof(*findings));
	size_t count = 0;

	view->findings_short |= !findings;
	for (size_t i = 0; findings && i < health->count; i++) {
		struct rna_tracked_finding *tracked = &health->tracked[i];
		struct rna_finding *finding = &findings[count];

		if (!is_shown(tracked) || !has_held(health, tracked, now))
			continue;
		tracked->finding.silenced = is_silenced(windows, &tracked->finding, now.realtime);
		report(health, tracked);
		*finding = tracked->finding;
		finding->text = rna_arena_strdup(view->arena, tracked->text);
		finding->remedy = rna_arena_strdup(view->arena, tracked->remedy);
		finding->told_text =
			rna_arena_keep(view->arena, tracked->told_text, &view->findings_short);
		if (tracked->device)
			finding->device = rna_arena_strdup(view->arena, tracked->device);
		if (finding->text && finding->remedy && (finding->device || !tracked->device))
			count++;
		else
			view->findings_short = true;
	}
	if (count > 0)
		qsort(findings, count, sizeof(*findings), compare_findings);
	view->findings = findings;
	view->finding_count = count;
}

/* -- From an earlier process ------------------------------------------------------------------- */

static const char *name_now(const struct rna_tracked_finding *tracked,
			    const struct rna_snapshot *snapshot)
{
	const char *ret = tracked->device;

	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct rna_device *device = snapshot->devices[i].device;

		if (strcmp(device->key, tracked->key) == 0)
			return device->name;
		if (strcmp(device->name, tracked->device) == 0)
			ret = tracked->key; /* another device has its name now */
	}
	return ret;
}

/* Names of devices may change with a reboot. No memory: the finding keeps the old name. */
static void follow_names(struct rna_health *health, const struct rna_snapshot *snapshot)
{
	for (size_t i = 0; i < health->count; i++) {
		struct rna_tracked_finding *tracked = &health->tracked[i];
		const char *name = tracked->device && tracked->key ? name_now(tracked, snapshot)
								   : tracked->device;

		if (!rna_same_text(name, tracked->device) && rna_text_set(&tracked->device, name))
			(void)rna_text_set(&tracked->told_text, NULL); /* it has the old name */
		tracked->finding.device = tracked->device;
	}
	if (health->count > 0)
		qsort(health->tracked, health->count, sizeof(*health->tracked),
		      rna_tracked_finding_compare);
}

static void begin(struct rna_health *health, const struct rna_view *view)
{
	if (!health->pasts.begun) {
		follow_names(health, view->snapshot);
		rna_pasts_carry_over(&health->pasts, health->thresholds,
				     health->same_boot ? NULL : &health->written,
				     view->snapshot->time);
		health->began = view->snapshot->time.monotonic;
	}
	health->judged = view->snapshot->time;
}

void rna_health_judge(struct rna_health *health, struct rna_view *view)
{
	RNA_CLEANUP(free_finds) struct rna_finds finds = {.arena = view->arena};
	rna_usec now = view->snapshot->time.monotonic;

	begin(health, view);
	run_rules(health, view, &finds);
	health->settling = finds.settling;
	/* An incomplete list would make findings look resolved that were not checked. */
	view->findings_short = finds.failed || !merge(health, &finds, view);
	look_for_the_first_time(health, view);
	fill_in(health, view);
	health->changed |= health->episodes.changed;
	health->changed |= (health->pasts.rose || health->episodes.grew) &&
			   rna_usec_since(health->written.monotonic, now) >= RISES_PACE;
}

rna_usec rna_health_next(const struct rna_health *health, rna_usec now)
{
	rna_usec next = RNA_USEC_NEVER;

	RNA_EACH (tracked, health->tracked, health->count) {
		rna_usec end = tracked->finding.since.monotonic + health->holds[tracked->rule];

		if (tracked->finding.since.monotonic > 0 && end > now && end < next)
			next = end;
	}
	return next;
}
