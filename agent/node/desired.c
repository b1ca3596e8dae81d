// SPDX-License-Identifier: Apache-2.0
#include "desired.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"

#include "device_taints.h"
#include "node_conditions.h"

#define TAINT "taint" /* the name under which it is remembered */

/* What the value of a label is while it is not known. */
#define UNKNOWN "unknown"

#define UNKNOWN_DELAY (600 * RNA_USEC_PER_SEC) /* of what cannot be read; it stays until then */

struct rna_label_options rna_label_options_of(const struct rna_settings *settings)
{
	return (struct rna_label_options){
		.roce_key = settings->kubernetes_roce_key,
		.roce_value = settings->kubernetes_roce_value,
		.prefix = settings->kubernetes_label_prefix,
		.virtual_functions = settings->health_virtual_functions,
	};
}

bool rna_settings_have_taint(const struct rna_settings *settings)
{
	return *settings->kubernetes_taint != '\0';
}

bool rna_settings_limit_taint(const struct rna_settings *settings)
{
	return rna_settings_have_taint(settings) &&
	       (*settings->kubernetes_taint_leases || settings->kubernetes_taint_dry_run);
}

/* -- Following --------------------------------------------------------------------------------- */

/* One pass over everything that is published on the Node. */
struct pass {
	struct rna_node_memory *memory;
	const struct rna_desired_input *in;
	bool changed;
	bool no_memory;
};

/* A taint takes a node away from its users, so what is not known never sets and never removes it.
 */
static rna_usec unknown_delay(const char *name, const struct rna_node_delays *delays)
{
	return strcmp(name, TAINT) == 0 ? RNA_USEC_NEVER : delays->unknown;
}

static struct rna_node_delays delays_of(const struct rna_desired_input *in)
{
	if (in->once)
		return (struct rna_node_delays){.unknown = 0};
	return (struct rna_node_delays){
		.up = in->settings->kubernetes_up_delay,
		.down = in->settings->kubernetes_down_delay,
		.unknown = UNKNOWN_DELAY,
		.settling = in->booting,
	};
}

static void follow(struct pass *pass, const char *name, const struct rna_node_verdict *verdict,
		   const char *message, const struct rna_node_delays *delays)
{
	struct rna_published *published = rna_published_find(pass->memory, name);

	if (!published)
		pass->no_memory = true;
	else
		pass->changed |= rna_published_follow(published, verdict, message, delays,
						      pass->in->view->snapshot->time);
}

/* It is too early to follow it; what waited is no more than a guess now. */
static void wait_for_rules(struct pass *pass, const char *name)
{
	struct rna_published *published = rna_published_find(pass->memory, name);

	if (published)
		rna_published_suspend(published);
	else
		pass->no_memory = true;
}

static bool has_settled(const struct pass *pass, enum rna_node_condition_id id)
{
	return pass->in->settled & RNA_CONDITION_BIT(id);
}

/* An agent that has just started has not found again what is wrong. */
static bool is_too_early(struct pass *pass, const struct rna_node_verdict *health)
{
	const struct rna_published *published =
		rna_published_find(pass->memory, rna_node_label_name(RNA_NODE_LABEL_HEALTH));

	return !has_settled(pass, RNA_CONDITION_NONE) && published && published->decided &&
	       health->rank > published->verdict.rank;
}

static void follow_labels(struct pass *pass, struct rna_node_verdict *verdicts)
{
	struct rna_node_delays delays = delays_of(pass->in);
	struct rna_node_verdict *health = &verdicts[RNA_NODE_LABEL_HEALTH];

	bool early = is_too_early(pass, health);

	if (early)
		*health = (struct rna_node_verdict){.kind = RNA_VERDICT_UNKNOWN};
	for (enum rna_node_label_id id = 0; id < RNA_NODE_LABEL_COUNT; id++)
		if (early && id == RNA_NODE_LABEL_HEALTH)
			wait_for_rules(pass, rna_node_label_name(id));
		else
			follow(pass, rna_node_label_name(id), &verdicts[id], NULL, &delays);
}

/*
 * Findings have passed the hold-down of their rules, so they are published at once; but for those
 * that a new agent meets (look_for_the_first_time() in health.c), or one that has let the machine
 * boot, which may pass like other news.
 */
static struct rna_node_delays delays_of_findings(const struct rna_desired_input *in)
{
	struct rna_node_delays delays = delays_of(in);
	rna_usec began = rna_view_after_boot(in->view, in->view->agent.started.monotonic,
					     in->settings->health_boot_grace);

	if (rna_usec_since(began, in->view->snapshot->time.monotonic) >= delays.down)
		delays.down = 0;
	return delays;
}

/*
 * "Too early" is not "unknown": UNKNOWN_DELAY may be shorter than the time for which a problem is
 * held down.
 */
static void follow_conditions(struct pass *pass, bool observed)
{
	struct rna_condition_input see = {.view = pass->in->view, .observed = observed};
	const struct rna_node_delays delays = delays_of_findings(pass->in);

	for (enum rna_node_condition_id id = 1; id < RNA_CONDITION_COUNT; id++) {
		RNA_STRBUF struct rna_strbuf message = RNA_STRBUF_INIT;
		struct rna_node_verdict verdict;

		see.settled = has_settled(pass, id);
		rna_condition_see(id, &see, &verdict, &message);
		if (!see.settled && verdict.kind == RNA_VERDICT_UNKNOWN)
			wait_for_rules(pass, rna_condition_rows[id].type);
		else if (rna_strbuf_ok(&message))
			follow(pass, rna_condition_rows[id].type, &verdict, message.data, &delays);
		else
			pass->no_memory = true;
	}
}

static bool takes_node(const struct rna_desired_input *in)
{
	for (size_t i = 0; i < in->view->finding_count; i++)
		if (rna_finding_takes_node(&in->view->findings[i], (enum rna_taint_when)in->settings
									   ->kubernetes_taint_when))
			return true;
	return false;
}

/* health: of the label. Of a node that is not seen, or not yet, the taint stays as it is. */
static void follow_taint(struct pass *pass, const struct rna_node_verdict *health)
{
	bool bad = takes_node(pass->in);
	struct rna_node_verdict verdict = {.bad = bad, .rank = bad ? 0 : 1};
	struct rna_node_delays delays = delays_of(pass->in);

	delays.unknown = unknown_delay(TAINT, &delays);
	if (bad) {
		verdict.kind = RNA_VERDICT_VALUE;
		(void)rna_label_value_make("true", verdict.value);
	} else if (health->kind != RNA_VERDICT_UNKNOWN) {
		verdict.kind = RNA_VERDICT_NONE;
	}
	follow(pass, TAINT, &verdict, NULL, &delays);
}

/*
 * What a reload has turned off was taken from the Node. Turned on again, it is not to begin with
 * what was true then: a taint evicts pods.
 */
static void forget_conditions(struct pass *pass)
{
	for (enum rna_node_condition_id id = 1; id < RNA_CONDITION_COUNT; id++)
		pass->changed |= rna_published_forget(pass->memory, rna_condition_rows[id].type);
}

static void follow_devices(struct pass *pass)
{
	struct rna_node_delays delays;
	int changed;

	if (pass->in->settings->kubernetes_device_taints == RNA_DEVICE_TAINTS_OFF) {
		pass->changed |= rna_device_taints_forget(pass->memory);
		return;
	}
	delays = delays_of_findings(pass->in);
	delays.unknown = RNA_USEC_NEVER;
	changed = rna_device_taints_follow(pass->memory, pass->in, &delays);
	pass->no_memory |= changed < 0;
	pass->changed |= changed > 0;
}

int rna_desired_follow(struct rna_node_memory *memory, const struct rna_desired_input *in)
{
	const struct rna_label_options options = rna_label_options_of(in->settings);
	struct rna_node_verdict verdicts[RNA_NODE_LABEL_COUNT];
	struct pass pass = {.memory = memory, .in = in};
	int ret;

	ret = rna_node_labels_decide(in->view, &options, verdicts);
	if (ret < 0)
		return ret;
	follow_labels(&pass, verdicts);
	if (in->settings->kubernetes_conditions)
		follow_conditions(&pass,
				  verdicts[RNA_NODE_LABEL_PORTS_UP].kind != RNA_VERDICT_UNKNOWN);
	else
		forget_conditions(&pass);
	if (rna_settings_have_taint(in->settings))
		follow_taint(&pass, &verdicts[RNA_NODE_LABEL_HEALTH]);
	else
		pass.changed |= rna_published_forget(memory, TAINT);
	follow_devices(&pass);
	return pass.no_memory ? -ENOMEM : pass.changed;
}

/* What a reload has turned off stays in memory, and waits for nothing. */
static bool is_followed(const char *name, const struct rna_settings *settings)
{
	if (strcmp(name, TAINT) == 0)
		return rna_settings_have_taint(settings);
	if (rna_device_taints_own(name))
		return settings->kubernetes_device_taints != RNA_DEVICE_TAINTS_OFF;
	for (enum rna_node_condition_id id = 1; id < RNA_CONDITION_COUNT; id++)
		if (strcmp(name, rna_condition_rows[id].type) == 0)
			return settings->kubernetes_conditions;
	return true;
}

rna_usec rna_desired_due(const struct rna_node_memory *memory, const struct rna_settings *settings)
{
	const struct rna_desired_input in = {.settings = settings};
	const struct rna_node_delays common = delays_of(&in);
	rna_usec first = RNA_USEC_NEVER;

	for (size_t i = 0; i < memory->count; i++) {
		struct rna_node_delays delays = common;
		rna_usec due;

		delays.unknown = unknown_delay(memory->items[i].name, &common);
		due = is_followed(memory->items[i].name, settings)
			      ? rna_published_due(&memory->items[i], &delays)
			      : RNA_USEC_NEVER;
		if (due < first)
			first = due;
	}
	return first;
}

/* -- Making ------------------------------------------------------------------------------------ */

/* NULL: nothing is published under that name yet, or no memory. */
static const struct rna_published *published_of(struct rna_node_memory *memory, const char *name)
{
	const struct rna_published *published = rna_published_find(memory, name);

	return published && published->decided ? published : NULL;
}

/* published: NULL: it is not decided yet. False: no memory. */
static bool add_label(struct rna_desired_node *desired, struct rna_node_label *label,
		      const char *key, const struct rna_published *published)
{
	label->key = rna_arena_strdup(desired->arena, key);
	desired->label_count++;
	if (!published)
		return label->key;
	label->value =
		rna_arena_strdup(desired->arena, published->verdict.kind == RNA_VERDICT_UNKNOWN
							 ? UNKNOWN
							 : published->verdict.value);
	return label->key && label->value;
}

/*
 * The label of RoCE is true or absent: a selector by its existence takes "unknown" for true. What
 * cannot be observed is in the agent's own labels.
 */
static bool has_label(enum rna_node_label_id id, const struct rna_published *published,
		      const struct rna_settings *settings)
{
	bool roce = id == RNA_NODE_LABEL_ROCE;

	if (roce && settings->kubernetes_roce_label == RNA_ROCE_LABEL_OFF)
		return false;
	if (!published)
		return true;
	return published->verdict.kind != RNA_VERDICT_NONE &&
	       !(roce && published->verdict.kind == RNA_VERDICT_UNKNOWN);
}

static bool add_labels(struct rna_desired_node *desired, struct rna_node_memory *memory,
		       const struct rna_settings *settings)
{
	const struct rna_label_options options = rna_label_options_of(settings);
	struct rna_node_label *labels =
		rna_arena_array(desired->arena, RNA_NODE_LABEL_COUNT, sizeof(*labels));
	bool ok = labels;

	for (enum rna_node_label_id id = 0; ok && id < RNA_NODE_LABEL_COUNT; id++) {
		const struct rna_published *published =
			published_of(memory, rna_node_label_name(id));
		char key[RNA_LABEL_KEY_MAX + 1];

		rna_node_label_key(id, &options, key);
		desired->labels_decided |= published != NULL;
		labels[desired->label_count].urgent = id == RNA_NODE_LABEL_HEALTH;
		if (has_label(id, published, settings))
			ok = add_label(desired, &labels[desired->label_count], key, published);
	}
	if (ok)
		qsort(labels, desired->label_count, sizeof(*labels), rna_compare_text_items);
	desired->labels = labels;
	return ok;
}

/* published: NULL: it is not decided yet. False: no memory. */
static bool add_condition(struct rna_desired_node *desired, struct rna_node_condition *condition,
			  const struct rna_condition_row *row,
			  const struct rna_published *published)
{
	enum rna_condition_status status;

	desired->condition_count++;
	condition->type = row->type;
	if (!published)
		return true;
	status = rna_condition_status_of(&published->verdict);
	*condition = (struct rna_node_condition){
		.type = row->type,
		.status = status,
		.reason = row->reasons[status],
		.message = rna_arena_strdup(
			desired->arena,
			published->message
				? published->message
				: "The data for this condition could not be read for a long time."),
		.since.realtime = published->since,
	};
	return condition->message;
}

static bool add_conditions(struct rna_desired_node *desired, struct rna_node_memory *memory)
{
	struct rna_node_condition *conditions =
		rna_arena_array(desired->arena, RNA_CONDITION_COUNT, sizeof(*conditions));
	bool ok = conditions;

	for (enum rna_node_condition_id id = 1; ok && id < RNA_CONDITION_COUNT; id++) {
		const struct rna_condition_row *row = &rna_condition_rows[id];
		const struct rna_published *published = published_of(memory, row->type);

		if (row->needs >= RNA_CONDITION_NEEDS_RESOURCES && published &&
		    published->verdict.kind == RNA_VERDICT_UNKNOWN)
			continue;
		desired->conditions_decided |= published != NULL;
		ok = add_condition(desired, &conditions[desired->condition_count], row, published);
	}
	if (ok)
		qsort(conditions, desired->condition_count, sizeof(*conditions),
		      rna_compare_text_items);
	desired->conditions = conditions;
	return ok;
}

static void set_taint(struct rna_desired_node *desired, struct rna_node_memory *memory,
		      const struct rna_settings *settings)
{
	const struct rna_published *published = NULL;

	desired->taint_decided = true;
	if (!rna_settings_have_taint(settings))
		return;
	published = published_of(memory, TAINT);
	desired->taint_decided = published && published->confirmed;
	desired->taint = published && published->verdict.kind == RNA_VERDICT_VALUE;
}

struct rna_desired_node *rna_desired_new(struct rna_node_memory *memory,
					 const struct rna_desired_input *in,
					 const struct rna_node_events *events)
{
	const struct rna_settings *settings = in->settings;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(8192);
	struct rna_desired_node *desired = arena ? rna_arena_alloc(arena, sizeof(*desired)) : NULL;

	if (!desired)
		return NULL;
	*desired =
		(struct rna_desired_node){.refs = 1,
					  .arena = arena,
					  .conditions_decided = !settings->kubernetes_conditions};
	if (!add_labels(desired, memory, settings) ||
	    (settings->kubernetes_conditions && !add_conditions(desired, memory)))
		return NULL;
	set_taint(desired, memory, settings);
	if (settings->kubernetes_device_taints != RNA_DEVICE_TAINTS_OFF &&
	    !rna_device_taints_add(memory, in, desired))
		return NULL;
	if (events && settings->kubernetes_events && !rna_node_events_add(events, desired))
		return NULL;
	(void)RNA_TAKE(arena); /* the desired state has it */
	return desired;
}
