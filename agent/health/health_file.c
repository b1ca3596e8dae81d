// SPDX-License-Identifier: Apache-2.0
/*
 * The file of health, as JSON.
 *
 * Realtime says when something began; it is what people are shown. Monotonic times say how long
 * ago, and mean something to the boot that wrote them only, whose id and time stand in front. Of
 * the windows those are kept in which something rose: the others tell nothing.
 */
#include "health_file.h"

#include <errno.h>
#include <string.h>

#include "rna/base/kept.h"
#include "rna/base/parse.h"

#include "tracked_finding.h"

enum {
	VERSION = 1,
	CONDITIONS_MAX = 65536,
	PASTS_MAX = 65536,
};

static const struct rna_json_limits limits = {
	.memory = 128 << 20,
	.levels = 8,
	.flags = JSON_REJECT_DUPLICATES,
};

/* -- What is kept ------------------------------------------------------------------------------ */

#define RULE_WORD(number) rna_rules[number]->name

/* One of a rule that is not known, or that is damaged, costs only itself. */
static void keep_finding(struct rna_kept *kept, void *record)
{
	struct rna_tracked_finding *tracked = record;
	struct rna_finding *finding = &tracked->finding;

	RNA_KEEP_WORD(kept, "rule", tracked->rule, RULE_WORD, RNA_RULE_COUNT);
	RNA_KEEP(kept, "device", tracked->device);
	RNA_KEEP(kept, "key", tracked->key);
	RNA_KEEP(kept, "port", finding->port);
	RNA_KEEP_WORD(kept, "severity", finding->severity, rna_severity_name, RNA_SEVERITY_COUNT);
	RNA_KEEP(kept, "since", finding->since.realtime);
	RNA_KEEP(kept, "monotonic", finding->since.monotonic);
	if (!kept->writes || tracked->told)
		RNA_KEEP_WORD(kept, "reported", tracked->told_severity, rna_severity_name,
			      RNA_SEVERITY_COUNT);
	RNA_KEEP(kept, "reported_text", tracked->told_text);
	RNA_KEEP(kept, "text", tracked->text);
	RNA_KEEP(kept, "remedy", tracked->remedy);
	rna_kept_want(kept, tracked->rule < RNA_RULE_COUNT &&
				    finding->severity < RNA_SEVERITY_COUNT &&
				    finding->since.realtime > 0 && finding->port <= UINT16_MAX &&
				    tracked->text && tracked->remedy);
}

/* Oldest first. */
static void keep_rises(struct rna_kept *kept, struct rna_window *window)
{
	const json_t *read = json_object_get(kept->object, "rises");
	json_t *rises = kept->writes ? json_array() : NULL;

	if (kept->reads)
		window->slot = RNA_WINDOW_SLOTS - 1;
	for (unsigned i = 0; i < RNA_WINDOW_SLOTS; i++) {
		uint64_t *rise = &window->rises[(window->slot + 1 + i) % RNA_WINDOW_SLOTS];
		json_int_t number = json_integer_value(json_array_get(read, i));

		if (kept->reads)
			*rise = number > 0 ? (uint64_t)number : 0;
		if (kept->writes)
			rna_json_append(kept->writer, rises, json_integer((json_int_t)*rise));
	}
	if (kept->writes)
		rna_json_set(kept->writer, kept->object, "rises", rises);
}

static void keep_window(struct rna_kept *kept, void *record)
{
	struct rna_window *window = record;
	int64_t last = kept->writes && window->known ? (int64_t)window->last : -1;

	if (!kept->writes || last >= 0)
		RNA_KEEP(kept, "last", last);
	RNA_KEEP(kept, "summands", window->summands);
	RNA_KEEP(kept, "when", window->when);
	RNA_KEEP(kept, "quarter", window->slot_start);
	keep_rises(kept, window);
	if (!kept->writes || window->over)
		RNA_KEEP(kept, "over", window->over);
	if (kept->reads) {
		window->known = last >= 0;
		window->last = window->known ? (uint64_t)last : 0;
	}
}

static void keep_past(struct rna_kept *kept, void *record)
{
	struct rna_past *past = record;
	int64_t index = kept->writes && past->nccl_known ? (int64_t)past->nccl_index : -1;

	RNA_KEEP(kept, "key", past->key);
	RNA_KEEP(kept, "port", past->port);
	RNA_KEEP(kept, "generation", past->generation);
	if (!kept->writes || index >= 0)
		RNA_KEEP(kept, "nccl_index", index);
	RNA_KEEP(kept, "nccl_moved", past->nccl_moved);
	if (!kept->reads)
		return;
	past->nccl_known = index >= 0 && index <= UINT16_MAX;
	past->nccl_index = past->nccl_known ? (unsigned)index : 0;
	past->nccl_moved = past->nccl_known ? past->nccl_moved : 0;
}

static bool is_telling(const struct rna_window *window)
{
	return window->over || rna_window_rise(window) > 0;
}

static json_t *window_object(struct rna_json_writer *writer, const struct rna_threshold *threshold,
			     const struct rna_window *window)
{
	json_t *object = rna_kept_write(writer, keep_window, window);

	rna_json_set(writer, object, "counter", json_string(threshold->name));
	rna_json_set(writer, object, "window", json_integer((json_int_t)threshold->window));
	return object;
}

/* NULL: there is nothing to say of it. */
static json_t *past_object(struct rna_json_writer *writer, const struct rna_past *past,
			   const struct rna_thresholds *thresholds)
{
	json_t *object = rna_kept_write(writer, keep_past, past), *windows = json_array();
	bool tells = past->nccl_known;

	for (size_t i = 0; past->windows && i < thresholds->count; i++)
		if (is_telling(&past->windows[i])) {
			rna_json_append(writer, windows,
					window_object(writer, &thresholds->items[i],
						      &past->windows[i]));
			tells = true;
		}
	rna_json_set(writer, object, "windows", windows);
	return tells ? object : rna_json_free(object);
}

static void write_pasts(struct rna_kept *kept, const struct rna_health *health)
{
	json_t *list = json_array();

	for (size_t i = 0; i < health->pasts.count; i++) {
		json_t *past =
			past_object(kept->writer, health->pasts.items[i], health->thresholds);

		if (past)
			rna_json_append(kept->writer, list, past);
	}
	rna_json_set(kept->writer, kept->object, "counters", list);
}

/* What was read, until all of it is good. */
struct found {
	struct rna_health *health;
	char *boot;
	bool same_boot;
	struct rna_time written;
	size_t count;
	struct rna_tracked_finding *findings;
	struct rna_pasts pasts;
	struct rna_episodes episodes;
};

static void keep_file(struct rna_kept *kept, void *record)
{
	struct found *found = record;

	RNA_KEEP(kept, "boot", found->boot);
	RNA_KEEP(kept, "time", found->written.realtime);
	RNA_KEEP(kept, "monotonic", found->written.monotonic);
	RNA_KEEP_ARRAY(kept, "problems", keep_finding, found->findings, found->count,
		       CONDITIONS_MAX, false);
	if (!kept->writes)
		return;
	write_pasts(kept, found->health);
	rna_json_set(kept->writer, kept->object, "episodes",
		     rna_episodes_write(kept->writer, &found->health->episodes));
}

/* -- Writing ----------------------------------------------------------------------------------- */

void rna_health_write(struct rna_health *health, struct rna_strbuf *out)
{
	const struct found found = {
		.health = health,
		.boot = health->boot,
		.written = health->judged,
		.count = health->count,
		.findings = health->tracked,
	};

	rna_kept_write_file(keep_file, &found, VERSION, out);
	health->written = health->judged;
	health->pasts.rose = false;
	health->episodes.changed = health->episodes.grew = false;
}

/* -- Reading ----------------------------------------------------------------------------------- */

static void found_deinit(struct found *found)
{
	rna_pasts_deinit(&found->pasts);
	rna_episodes_deinit(&found->episodes);
	rna_kept_free(keep_file, found, sizeof(*found));
}

static rna_usec earlier(rna_usec a, rna_usec b)
{
	return a < b ? a : b;
}

static void finish_finding(const struct found *found, struct rna_tracked_finding *tracked)
{
	struct rna_finding *finding = &tracked->finding;
	struct rna_time since = finding->since;

	/* Nothing began after it was written. */
	finding->since = (struct rna_time){
		.realtime = earlier(since.realtime, found->written.realtime),
		.monotonic =
			found->same_boot ? earlier(since.monotonic, found->written.monotonic) : 0,
	};
	tracked->told = tracked->told_severity < RNA_SEVERITY_COUNT;
	tracked->last_severity = finding->severity;
	tracked->was_there = tracked->told; /* it had held */
	tracked->recalled = true;
	finding->rule = rna_rules[tracked->rule]->name;
	finding->impact = rna_rules[tracked->rule]->impact;
	finding->cause = rna_rules[tracked->rule]->cause;
	finding->device = tracked->device;
	finding->text = tracked->text;
	finding->remedy = tracked->remedy;
	finding->runbook =
		rna_rule_find_runbook(finding->rule, RNA_LINK_LAYER_UNKNOWN, finding->severity);
}

/* Sorted, and each of them once. */
static void finish_findings(struct found *found)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++)
		finish_finding(found, &found->findings[i]);
	if (found->count > 0)
		qsort(found->findings, found->count, sizeof(*found->findings),
		      rna_tracked_finding_compare);
	for (size_t i = 0; i < found->count; i++) {
		struct rna_tracked_finding *next = &found->findings[i];

		if (next->finding.since.realtime == 0 ||
		    (kept > 0 &&
		     rna_tracked_finding_compare(&found->findings[kept - 1], next) == 0))
			rna_tracked_finding_deinit(next);
		else
			found->findings[kept++] = *next;
	}
	found->count = kept;
}

/* Into the window of the same threshold: of another length it would say something else. */
static void read_window(const struct found *found, struct rna_past *past, const json_t *object)
{
	const struct rna_thresholds *thresholds = found->health->thresholds;
	const char *counter = rna_kept_text(object, "counter");
	uint64_t length = rna_kept_number(object, "window");

	for (size_t i = 0; counter && i < thresholds->count; i++) {
		struct rna_window *window = &past->windows[i];

		if (strcmp(thresholds->items[i].name, counter) != 0 ||
		    thresholds->items[i].window != length)
			continue;
		*window = (struct rna_window){0};
		(void)rna_kept_read(object, keep_window, window, NULL); /* it is all of numbers */
		window->when = earlier(window->when, found->written.monotonic);
		window->slot_start = earlier(window->slot_start, found->written.monotonic);
	}
}

static int read_past(struct found *found, const json_t *object)
{
	const char *key = rna_kept_text(object, "key");
	const json_t *windows = json_object_get(object, "windows");
	uint64_t port = rna_kept_number(object, "port");
	struct rna_past *past;

	if (!key || port > UINT16_MAX)
		return 0;
	past = rna_pasts_recall(&found->pasts, found->health->thresholds, key, (unsigned)port);
	if (!past || rna_kept_read(object, keep_past, past, NULL) == -ENOMEM)
		return -ENOMEM;
	past->nccl_moved = earlier(past->nccl_moved, found->written.monotonic);
	for (size_t i = 0; i < json_array_size(windows); i++)
		read_window(found, past, json_array_get(windows, i));
	return 0;
}

static int check_file(const json_t *file, struct rna_error *error)
{
	const json_t *problems = json_object_get(file, "problems");
	const json_t *counters = json_object_get(file, "counters");

	if (!json_is_array(problems) || !json_is_array(counters))
		return rna_error_say(error, -EBADMSG, "not a file of problems");
	if (json_array_size(problems) > CONDITIONS_MAX || json_array_size(counters) > PASTS_MAX)
		return rna_error_say(error, -EBADMSG,
				     "%zu problems of %zu ports; at most %d and %d are read",
				     json_array_size(problems), json_array_size(counters),
				     CONDITIONS_MAX, PASTS_MAX);
	return 0;
}

static int read_all(struct found *found, const json_t *file)
{
	const json_t *counters = json_object_get(file, "counters");
	int status = rna_kept_read(file, keep_file, found, NULL);

	if (status < 0)
		return status;
	found->same_boot = rna_clock_same_boot(found->boot, found->health->boot);
	finish_findings(found);
	for (size_t i = 0; status == 0 && i < json_array_size(counters); i++)
		status = read_past(found, json_array_get(counters, i));
	if (status == 0 && found->same_boot)
		status = rna_episodes_read(&found->episodes, json_object_get(file, "episodes"));
	return status;
}

int rna_health_read(struct rna_health *health, const char *text, size_t len,
		    struct rna_error *error)
{
	RNA_CLEANUP(rna_json_free_p) json_t *file = NULL;
	RNA_CLEANUP(found_deinit) struct found found = {.health = health};
	int status = rna_kept_read_file(text, len, &limits, VERSION, &file, error);

	if (status == 0)
		status = check_file(file, error);
	if (status < 0)
		return status;
	if (read_all(&found, file) < 0)
		return rna_error_set(error, -ENOMEM, "cannot read the problems");
	health->count = found.count;
	health->tracked = RNA_TAKE(found.findings);
	health->pasts = found.pasts;
	health->episodes = found.episodes;
	health->same_boot = found.same_boot;
	health->written = found.written;
	found.count = 0;
	found.pasts = (struct rna_pasts){0};
	found.episodes = (struct rna_episodes){0};
	return 0;
}
