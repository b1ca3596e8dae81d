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

#include "rna/base/json_document.h"

#include "episodes/episodes_file.h"

#include "condition.h"

enum {
	VERSION = 1,
	INDENT = 1,
	CONDITIONS_MAX = 65536,
	PASTS_MAX = 65536,
};

static const struct rna_json_limits limits = {
	.memory = 128 << 20,
	.levels = 8,
	.flags = JSON_REJECT_DUPLICATES,
};

/* -- Writing ----------------------------------------------------------------------------------- */

static json_t *condition_object(struct rna_json_writer *writer,
				const struct rna_condition *condition)
{
	const struct rna_finding *finding = &condition->finding;
	json_t *object = json_object();

	rna_json_keep_text(writer, object, "rule", rna_rules[condition->rule]->name);
	rna_json_keep_text(writer, object, "device", condition->device);
	rna_json_keep_text(writer, object, "key", condition->key);
	rna_json_keep_number(writer, object, "port", finding->port);
	rna_json_keep_text(writer, object, "severity", rna_severity_name(finding->severity));
	rna_json_keep_number(writer, object, "since", finding->since.realtime);
	rna_json_keep_number(writer, object, "monotonic", finding->since.monotonic);
	if (condition->told)
		rna_json_keep_text(writer, object, "reported",
				   rna_severity_name(condition->told_severity));
	rna_json_keep_text(writer, object, "text", condition->text);
	rna_json_keep_text(writer, object, "remedy", condition->remedy);
	return object;
}

static bool is_telling(const struct rna_window *window)
{
	return window->over || rna_window_rise(window) > 0;
}

static json_t *window_object(struct rna_json_writer *writer, const struct rna_threshold *threshold,
			     const struct rna_window *window)
{
	json_t *object = json_object(), *rises = json_array();

	rna_json_keep_text(writer, object, "counter", threshold->name);
	rna_json_keep_number(writer, object, "window", threshold->window);
	if (window->known && window->last <= INT64_MAX)
		rna_json_set(writer, object, "last", json_integer((json_int_t)window->last));
	rna_json_keep_number(writer, object, "summands", window->summands);
	rna_json_keep_number(writer, object, "when", window->when);
	rna_json_keep_number(writer, object, "quarter", window->slot_start);
	for (unsigned i = 1; i <= RNA_WINDOW_SLOTS; i++) /* oldest first */
		rna_json_append(
			writer, rises,
			json_integer(
				(json_int_t)window->rises[(window->slot + i) % RNA_WINDOW_SLOTS]));
	rna_json_set(writer, object, "rises", rises);
	if (window->over)
		rna_json_set(writer, object, "over", json_true());
	return object;
}

/* NULL: there is nothing to say of it. */
static json_t *past_object(struct rna_json_writer *writer, const struct rna_past *past,
			   const struct rna_thresholds *thresholds)
{
	json_t *object = json_object(), *windows = json_array();
	bool tells = past->nccl_known;

	rna_json_keep_text(writer, object, "key", past->key);
	rna_json_keep_number(writer, object, "port", past->port);
	rna_json_keep_number(writer, object, "generation", past->generation);
	if (past->nccl_known)
		rna_json_set(writer, object, "nccl_index", json_integer(past->nccl_index));
	rna_json_keep_number(writer, object, "nccl_moved", past->nccl_moved);
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

void rna_health_write(struct rna_health *health, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *file = rna_json_new_file(&writer, VERSION);
	json_t *conditions = json_array(), *pasts = json_array();

	rna_json_keep_text(&writer, file, "boot", health->boot);
	rna_json_keep_number(&writer, file, "time", health->judged.realtime);
	rna_json_keep_number(&writer, file, "monotonic", health->judged.monotonic);
	for (size_t i = 0; i < health->count; i++)
		rna_json_append(&writer, conditions,
				condition_object(&writer, &health->conditions[i]));
	rna_json_set(&writer, file, "problems", conditions);
	for (size_t i = 0; i < health->pasts.count; i++) {
		json_t *past = past_object(&writer, health->pasts.items[i], health->thresholds);

		if (past)
			rna_json_append(&writer, pasts, past);
	}
	rna_json_set(&writer, file, "counters", pasts);
	rna_json_set(&writer, file, "episodes", rna_episodes_write(&writer, &health->episodes));
	rna_json_write(&writer, file, INDENT, out);
	health->written = health->judged;
	health->pasts.rose = false;
	health->episodes.changed = health->episodes.grew = false;
}

/* -- Reading ----------------------------------------------------------------------------------- */

/* What was read, until all of it is good. */
struct found {
	struct rna_health *health;
	bool same_boot;
	struct rna_time written;
	size_t count;
	struct rna_condition *conditions;
	struct rna_pasts pasts;
	struct rna_episodes episodes;
};

static void found_deinit(struct found *found)
{
	for (size_t i = 0; i < found->count; i++)
		rna_condition_deinit(&found->conditions[i]);
	free(found->conditions);
	rna_pasts_deinit(&found->pasts);
	rna_episodes_deinit(&found->episodes);
}

static enum rna_severity find_severity(const char *name)
{
	enum rna_severity severity = 0;

	while (severity < RNA_SEVERITY_COUNT &&
	       (!name || strcmp(rna_severity_name(severity), name) != 0))
		severity++;
	return severity;
}

/* False: no memory. */
static bool copy(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return !text || *ret;
}

static rna_usec earlier(rna_usec a, rna_usec b)
{
	return a < b ? a : b;
}

/* Nothing began after it was written. */
static struct rna_time read_since(const struct found *found, const json_t *object)
{
	rna_usec since = rna_json_kept_number(object, "since");
	rna_usec monotonic = rna_json_kept_number(object, "monotonic");

	return (struct rna_time){
		.realtime = earlier(since, found->written.realtime),
		.monotonic = found->same_boot ? earlier(monotonic, found->written.monotonic) : 0,
	};
}

/* 0, or -ENOMEM. One of a rule that is not known, or that is damaged, costs only itself. */
static int read_condition(struct found *found, const json_t *object)
{
	struct rna_condition *condition = &found->conditions[found->count];
	const char *reported = rna_json_kept_text(object, "reported");
	uint64_t port = rna_json_kept_number(object, "port");
	struct rna_finding *finding = &condition->finding;

	condition->rule = rna_rule_find(rna_json_kept_text(object, "rule"));
	finding->severity = find_severity(rna_json_kept_text(object, "severity"));
	finding->since = read_since(found, object);
	if (condition->rule == RNA_RULE_COUNT || finding->severity == RNA_SEVERITY_COUNT ||
	    finding->since.realtime == 0 || port > UINT16_MAX ||
	    !rna_json_kept_text(object, "text") || !rna_json_kept_text(object, "remedy")) {
		*condition = (struct rna_condition){0};
		return 0;
	}
	found->count++; /* from here on it is freed */
	if (!copy(rna_json_kept_text(object, "device"), &condition->device) ||
	    !copy(rna_json_kept_text(object, "key"), &condition->key) ||
	    !copy(rna_json_kept_text(object, "text"), &condition->text) ||
	    !copy(rna_json_kept_text(object, "remedy"), &condition->remedy))
		return -ENOMEM;
	condition->told_severity = find_severity(reported);
	condition->told = condition->told_severity < RNA_SEVERITY_COUNT;
	condition->was_there = condition->told; /* it had held */
	condition->recalled = true;
	finding->rule = rna_rules[condition->rule]->name;
	finding->device = condition->device;
	finding->port = (unsigned)port;
	finding->text = condition->text;
	finding->remedy = condition->remedy;
	finding->runbook = rna_rule_find_runbook(finding->rule, RNA_LINK_LAYER_UNKNOWN);
	return 0;
}

static int read_conditions(struct found *found, const json_t *list)
{
	size_t count = json_array_size(list), kept = 0;

	found->conditions = calloc(count + 1, sizeof(*found->conditions));
	if (!found->conditions)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (read_condition(found, json_array_get(list, i)) < 0)
			return -ENOMEM;
	if (found->count > 0)
		qsort(found->conditions, found->count, sizeof(*found->conditions),
		      rna_condition_compare);
	for (size_t i = 0; i < found->count; i++) { /* each of them once */
		struct rna_condition *next = &found->conditions[i];

		if (kept > 0 && rna_condition_compare(&found->conditions[kept - 1], next) == 0)
			rna_condition_deinit(next);
		else
			found->conditions[kept++] = *next;
	}
	found->count = kept;
	return 0;
}

static uint64_t read_rise(const json_t *rise)
{
	json_int_t number = json_integer_value(rise);

	return number > 0 ? (uint64_t)number : 0;
}

static void read_window(const struct found *found, struct rna_past *past, const json_t *object)
{
	const struct rna_thresholds *thresholds = found->health->thresholds;
	const char *counter = rna_json_kept_text(object, "counter");
	const json_t *rises = json_object_get(object, "rises");
	const json_t *last = json_object_get(object, "last");
	rna_usec written = found->written.monotonic;

	for (size_t i = 0; counter && i < thresholds->count; i++) {
		if (strcmp(thresholds->items[i].name, counter) != 0 ||
		    thresholds->items[i].window != rna_json_kept_number(object, "window"))
			continue; /* of another length it would say something else */
		past->windows[i] = (struct rna_window){
			.known = json_is_integer(last) && json_integer_value(last) >= 0,
			.over = json_is_true(json_object_get(object, "over")),
			.last = rna_json_kept_number(object, "last"),
			.summands = rna_json_kept_number(object, "summands"),
			.when = earlier(rna_json_kept_number(object, "when"), written),
			.slot_start = earlier(rna_json_kept_number(object, "quarter"), written),
			.slot = RNA_WINDOW_SLOTS - 1,
		};
		for (size_t k = 0; k < RNA_WINDOW_SLOTS; k++)
			past->windows[i].rises[k] = read_rise(json_array_get(rises, k));
	}
}

static int read_past(struct found *found, const json_t *object)
{
	const struct rna_thresholds *thresholds = found->health->thresholds;
	const char *key = rna_json_kept_text(object, "key");
	const json_t *index = json_object_get(object, "nccl_index");
	const json_t *windows = json_object_get(object, "windows");
	uint64_t port = rna_json_kept_number(object, "port");
	struct rna_past *past;

	if (!key || port > UINT16_MAX)
		return 0;
	past = rna_pasts_recall(&found->pasts, thresholds, key, (unsigned)port);
	if (!past)
		return -ENOMEM;
	past->generation = rna_json_kept_number(object, "generation");
	past->nccl_known = json_is_integer(index) && json_integer_value(index) >= 0 &&
			   json_integer_value(index) <= UINT16_MAX;
	if (past->nccl_known) {
		past->nccl_index = (unsigned)json_integer_value(index);
		past->nccl_moved = earlier(rna_json_kept_number(object, "nccl_moved"),
					   found->written.monotonic);
	}
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
	int status;

	found->same_boot =
		rna_clock_same_boot(rna_json_kept_text(file, "boot"), found->health->boot);
	found->written.realtime = rna_json_kept_number(file, "time");
	found->written.monotonic = rna_json_kept_number(file, "monotonic");
	status = read_conditions(found, json_object_get(file, "problems"));
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
	int status = rna_json_read_file(text, len, &limits, VERSION, &file, error);

	if (status == 0)
		status = check_file(file, error);
	if (status < 0)
		return status;
	if (read_all(&found, file) < 0)
		return rna_error_set(error, -ENOMEM, "cannot read the problems");
	health->count = found.count;
	health->conditions = RNA_TAKE(found.conditions);
	health->pasts = found.pasts;
	health->episodes = found.episodes;
	health->same_boot = found.same_boot;
	health->written = found.written;
	found.count = 0;
	found.pasts = (struct rna_pasts){0};
	found.episodes = (struct rna_episodes){0};
	return 0;
}
