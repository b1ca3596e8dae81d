// SPDX-License-Identifier: Apache-2.0
#include "objects.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "rna/base/parse.h"

#include "json/json_writer.h"
#include "view/text.h"

#define COMPONENT "rdma-node-agent"

enum {
	ARENA = 16 * 1024,  /* of a Node */
	MESSAGE_MAX = 1024, /* bytes of an Event's message, as events.k8s.io/v1 limits its note */
	SHOWN_MAX = 300,    /* bytes of an answer that are shown to people */
};

/*
 * A Node takes some 300 KiB, and one of the 1.5 MiB that etcd holds at most hardly more than 32
 * MiB; 8 MiB of brackets would take hundreds.
 */
const struct rna_json_limits rna_kube_reply_limits = {.memory = 32 << 20, .levels = 64};

int rna_kube_check_reply(const struct rna_strbuf *reply, struct rna_error *error)
{
	return reply->data ? rna_json_check(reply->data, reply->len, &rna_kube_reply_limits, error)
			   : 0;
}

/* 0, -EBADMSG: it is empty, not JSON, or beyond the limits; or -ENOMEM. *ret is NULL then. */
static int parse(const struct rna_strbuf *reply, json_t **ret)
{
	*ret = NULL;
	if (!reply->data)
		return -EBADMSG;
	return rna_json_parse(reply->data, reply->len, &rna_kube_reply_limits, ret, NULL);
}

/* -- Bodies ------------------------------------------------------------------------------------ */

/* name: also one that no server has seen yet. */
static json_t *new_node(struct rna_json_writer *writer, const char *name)
{
	json_t *object =
		json_pack("{s:s, s:s, s:{}}", "apiVersion", "v1", "kind", "Node", "metadata");

	rna_json_set_text(writer, json_object_get(object, "metadata"), "name", name);
	return object;
}

const char *rna_kube_label_of(const struct rna_kube_node *node, const char *key)
{
	for (size_t i = 0; i < node->label_count; i++)
		if (strcmp(node->labels[i].key, key) == 0)
			return node->labels[i].value;
	return NULL;
}

static json_t *label_object(struct rna_json_writer *writer, const struct rna_kube_words *words)
{
	json_t *labels = json_object();

	RNA_EACH (label, words->desired->labels, words->desired->label_count) {
		const char *value =
			label->value ? label->value : rna_kube_label_of(words->node, label->key);

		if (value && !rna_same_text(words->node->left_label, label->key))
			rna_json_set_text(writer, labels, label->key, value);
	}
	return labels;
}

void rna_kube_write_labels(const struct rna_kube_words *words, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *object = new_node(&writer, words->name);

	if (words->desired->label_count > 0)
		rna_json_set(&writer, json_object_get(object, "metadata"), "labels",
			     label_object(&writer, words));
	rna_json_write(&writer, object, RNA_JSON_INDENT, out);
}

const struct rna_node_condition *rna_kube_condition_of(const struct rna_kube_node *node,
						       const char *type)
{
	return RNA_FIND(i, node->conditions, node->condition_count,
			rna_same_text(node->conditions[i].type, type));
}

/* Plain, because clients of Kubernetes show it on terminals. Of at most max bytes. */
static void set_message(struct rna_json_writer *writer, json_t *object, const char *text,
			size_t max)
{
	RNA_STRBUF struct rna_strbuf plain = RNA_STRBUF_INIT;

	if (!text)
		return;
	rna_text_add(&plain, text, NULL);
	writer->failed |= !rna_strbuf_ok(&plain);
	if (rna_strbuf_ok(&plain))
		plain.data[rna_characters_cut(plain.data, max)] = '\0';
	rna_json_set_text(writer, object, "message", plain.data);
}

/* What is not decided is not seen either, so its heartbeat is the old one. */
static json_t *condition_object(struct rna_json_writer *writer,
				const struct rna_node_condition *condition, rna_usec now)
{
	static const char *const words[] = {
		[RNA_CONDITION_STATUS_FALSE] = "False",
		[RNA_CONDITION_STATUS_TRUE] = "True",
		[RNA_CONDITION_STATUS_UNKNOWN] = "Unknown",
	};
	json_t *object = json_object();

	rna_json_set_text(writer, object, "type", condition->type);
	rna_json_set_text(writer, object, "status", words[condition->status]);
	rna_json_set_text(writer, object, "reason", condition->reason);
	set_message(writer, object, condition->message, SIZE_MAX);
	if (now > 0)
		rna_json_set_time(writer, object, "lastHeartbeatTime",
				  condition->heartbeat > 0 ? condition->heartbeat : now);
	rna_json_set_time(writer, object, "lastTransitionTime", condition->since.realtime);
	return object;
}

static json_t *condition_list(struct rna_json_writer *writer, const struct rna_kube_words *words)
{
	json_t *list = json_array();

	for (size_t i = 0; i < words->desired->condition_count; i++) {
		const struct rna_node_condition *condition = &words->desired->conditions[i];

		if (!condition->message)
			condition = rna_kube_condition_of(words->node, condition->type);
		if (condition)
			rna_json_append(writer, list,
					condition_object(writer, condition, words->now));
	}
	return list;
}

void rna_kube_write_conditions(const struct rna_kube_words *words, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *object = new_node(&writer, words->name);

	if (words->desired->condition_count > 0)
		rna_json_set(&writer, object, "status",
			     json_pack("{s:o}", "conditions", condition_list(&writer, words)));
	rna_json_write(&writer, object, RNA_JSON_INDENT, out);
}

static bool is_wanted(const char *name, const char *const *globs)
{
	for (; globs && *globs; globs++)
		if (fnmatch(*globs, name, 0) == 0)
			return true;
	return false;
}

const struct rna_node_label *rna_kube_desired_label(const struct rna_desired_node *desired,
						    const char *key)
{
	return RNA_FIND(i, desired->labels, desired->label_count,
			strcmp(desired->labels[i].key, key) == 0);
}

bool rna_kube_is_strange_label(const struct rna_kubernetes_options *options,
			       const struct rna_desired_node *desired,
			       const struct rna_kube_node *node, const char *key)
{
	bool shared = rna_same_text(options->shared_label, key) && !node->left_label;

	return (shared || is_wanted(key, options->label_keys)) &&
	       !rna_kube_desired_label(desired, key);
}

size_t rna_kube_write_label_removal(const struct rna_kubernetes_options *options,
				    const struct rna_kube_words *words, struct rna_strbuf *out)
{
	RNA_CLEANUP(rna_json_free_p) json_t *labels = json_object();
	struct rna_json_writer writer = {0};

	for (size_t i = 0; i < words->node->label_count; i++) {
		const char *key = words->node->labels[i].key;

		if (rna_kube_is_strange_label(options, words->desired, words->node, key))
			rna_json_set(&writer, labels, key, json_null());
	}
	rna_json_write(&writer, json_pack("{s:{s:O}}", "metadata", "labels", labels),
		       RNA_JSON_INDENT, out);
	return json_object_size(labels);
}

void rna_kube_write_condition_removal(const char *const *types, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *list = json_array();

	for (; types && *types; types++)
		rna_json_append(&writer, list,
				json_pack("{s:s, s:s}", "$patch", "delete", "type", *types));
	rna_json_write(&writer, json_pack("{s:{s:o}}", "status", "conditions", list),
		       RNA_JSON_INDENT, out);
}

static bool has_our_key(const json_t *taint, const struct rna_kubernetes_options *options)
{
	const char *key = rna_json_text_of(taint, "key");

	return key && options->taint_key && strcmp(key, options->taint_key) == 0;
}

static bool has_former_key(const json_t *taint, const struct rna_kubernetes_options *options)
{
	const char *key = rna_json_text_of(taint, "key");

	for (const char *const *former = options->former_taints; former && *former; former++)
		if (rna_same_text(key, *former))
			return true;
	return false;
}

static const char *effect_of(const struct rna_kubernetes_options *options)
{
	return options->taint_effect ? options->taint_effect : "NoSchedule";
}

/* The list that the Node shall have: others' taints as they are, and ours or not. */
static json_t *taint_list(struct rna_json_writer *writer,
			  const struct rna_kubernetes_options *options, bool taint,
			  const json_t *before)
{
	json_t *list = json_array();

	for (size_t i = 0; i < json_array_size(before); i++) {
		json_t *its = json_array_get(before, i);

		if (!has_our_key(its, options) && !has_former_key(its, options))
			rna_json_append(writer, list, json_incref(its));
	}
	if (taint)
		rna_json_append(writer, list,
				json_pack("{s:s, s:s}", "key", options->taint_key, "effect",
					  effect_of(options)));
	return list;
}

int rna_kube_write_taints(const struct rna_kubernetes_options *options, bool taint,
			  const struct rna_strbuf *reply, struct rna_strbuf *out)
{
	RNA_CLEANUP(rna_json_free_p) json_t *node = NULL;
	struct rna_json_writer writer = {0};
	int status = parse(reply, &node);
	json_t *object, *list;

	if (status < 0)
		return status;
	list = taint_list(&writer, options, taint,
			  json_object_get(json_object_get(node, "spec"), "taints"));
	object = json_pack("{s:{}, s:{s:o}}", "metadata", "spec", "taints", list);
	rna_json_set_text(&writer, json_object_get(object, "metadata"), "resourceVersion",
			  rna_json_text_of(json_object_get(node, "metadata"), "resourceVersion"));
	rna_json_write(&writer, object, RNA_JSON_INDENT, out);
	return 0;
}

void rna_kube_write_event(const char *node, const char *uid, const char *name,
			  const struct rna_kube_event *event, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *metadata = json_pack("{s:s, s:s}", "name", name, "namespace", "default");
	json_t *involved =
		json_pack("{s:s, s:s, s:s}", "apiVersion", "v1", "kind", "Node", "name", node);
	json_t *source = json_pack("{s:s, s:s}", "component", COMPONENT, "host", node);
	json_t *object =
		json_pack("{s:s, s:s, s:o, s:o, s:o}", "apiVersion", "v1", "kind", "Event",
			  "metadata", metadata, "involvedObject", involved, "source", source);

	rna_json_set_text(&writer, object, "type", event->warning ? "Warning" : "Normal");
	rna_json_set_text(&writer, object, "reason", event->reason);
	rna_json_set_text(&writer, object, "reportingComponent", COMPONENT);
	rna_json_set_text(&writer, object, "reportingInstance", node);
	rna_json_set_text(&writer, json_object_get(object, "involvedObject"), "uid", uid);
	set_message(&writer, object, event->message, MESSAGE_MAX);
	rna_json_set(&writer, object, "count", rna_json_number(event->count));
	rna_json_set_time(&writer, object, "firstTimestamp", event->first);
	rna_json_set_time(&writer, object, "lastTimestamp", event->last);
	rna_json_write(&writer, object, RNA_JSON_INDENT, out);
}

/* -- Replies ----------------------------------------------------------------------------------- */

struct reader {
	const struct rna_kubernetes_options *options;
	struct rna_arena *arena;
	bool failed; /* no memory */
};

static const char *keep(struct reader *reader, const char *text)
{
	return rna_arena_keep(reader->arena, text, &reader->failed);
}

static void *keep_array(struct reader *reader, size_t count, size_t size)
{
	void *array = rna_arena_array(reader->arena, count, size);

	reader->failed |= !array;
	return array;
}

static void read_labels(struct reader *reader, json_t *object, struct rna_kube_node *ret)
{
	struct rna_node_label *labels =
		keep_array(reader, json_object_size(object), sizeof(*labels));
	const char *key;
	json_t *value;

	if (!labels)
		return;
	json_object_foreach (object, key, value)
		labels[ret->label_count++] =
			(struct rna_node_label){keep(reader, key),
						keep(reader, json_string_value(value)), false};
	ret->labels = labels;
}

static enum rna_condition_status condition_status(const char *text)
{
	if (text && strcmp(text, "True") == 0)
		return RNA_CONDITION_STATUS_TRUE;
	return text && strcmp(text, "False") == 0 ? RNA_CONDITION_STATUS_FALSE
						  : RNA_CONDITION_STATUS_UNKNOWN;
}

static void read_conditions(struct reader *reader, const json_t *list, struct rna_kube_node *ret)
{
	size_t count = json_array_size(list);
	struct rna_node_condition *conditions = keep_array(reader, count, sizeof(*conditions));

	if (!conditions)
		return;
	for (size_t i = 0; i < count; i++) {
		const json_t *object = json_array_get(list, i);

		conditions[i] = (struct rna_node_condition){
			.type = keep(reader, rna_json_text_of(object, "type")),
			.status = condition_status(rna_json_text_of(object, "status")),
			.reason = keep(reader, rna_json_text_of(object, "reason")),
			.message = keep(reader, rna_json_text_of(object, "message")),
			.since.realtime =
				rna_text_parse_time(rna_json_text_of(object, "lastTransitionTime")),
			.heartbeat =
				rna_text_parse_time(rna_json_text_of(object, "lastHeartbeatTime")),
		};
	}
	ret->conditions = conditions;
	ret->condition_count = count;
}

/*
 * A quantity (apimachinery, resource.Quantity) as a whole number. 1000 is written "1k" there; of
 * parts of one ("100m") we want no more than that they are not 0.
 */
static uint64_t quantity(const json_t *value)
{
	static const struct {
		const char *suffix;
		uint64_t factor;
	} units[] = {
		{"k", 1000},        {"M", 1000 * 1000}, {"G", 1000 * 1000 * 1000},
		{"Ki", 1ULL << 10}, {"Mi", 1ULL << 20}, {"Gi", 1ULL << 30},
	};
	const char *text = json_string_value(value);
	uint64_t number;
	char *end;

	if (json_is_integer(value) && json_integer_value(value) > 0)
		return (uint64_t)json_integer_value(value);
	if (!text || !isdigit((unsigned char)*text))
		return 0;
	number = strtoull(text, &end, 10);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(units); i++)
		if (strcmp(end, units[i].suffix) == 0)
			return number < UINT64_MAX / units[i].factor ? number * units[i].factor
								     : UINT64_MAX;
	return number;
}

static int compare_resources(const void *a, const void *b)
{
	return strcmp(((const struct rna_kubernetes_resource *)a)->name,
		      ((const struct rna_kubernetes_resource *)b)->name);
}

/* From capacity: a resource that is not allocatable at all has its line there still. */
static void read_resources(struct reader *reader, json_t *status, struct rna_kube_node *ret)
{
	json_t *capacity = json_object_get(status, "capacity"), *value;
	const json_t *allocatable = json_object_get(status, "allocatable");
	struct rna_kubernetes_resource *resources =
		keep_array(reader, json_object_size(capacity), sizeof(*resources));
	const char *name;

	if (!resources)
		return;
	json_object_foreach (capacity, name, value) {
		if (!is_wanted(name, reader->options->resources))
			continue;
		resources[ret->resource_count++] = (struct rna_kubernetes_resource){
			.name = keep(reader, name),
			.capacity = quantity(value),
			.allocatable = quantity(json_object_get(allocatable, name)),
		};
	}
	if (!reader->failed)
		qsort(resources, ret->resource_count, sizeof(*resources), compare_resources);
	ret->resources = resources;
}

static void read_taints(const struct rna_kubernetes_options *options, const json_t *taints,
			struct rna_kube_node *ret)
{
	for (size_t i = 0; i < json_array_size(taints); i++) {
		const json_t *taint = json_array_get(taints, i);
		const char *effect = rna_json_text_of(taint, "effect");

		ret->tainted_formerly |= has_former_key(taint, options);
		if (!has_our_key(taint, options))
			continue;
		ret->tainted = true;
		ret->tainted_so |= effect && strcmp(effect, effect_of(options)) == 0;
	}
}

/* What a manager has, in managedFields; a list of taints has one owner. */
static bool has_field(const json_t *fields, const char *kind, const char *name)
{
	RNA_STRBUF struct rna_strbuf key = RNA_STRBUF_INIT;
	const json_t *metadata = json_object_get(fields, "f:metadata");
	const json_t *status = json_object_get(fields, "f:status");

	if (strcmp(kind, "taint") == 0)
		return json_object_get(json_object_get(fields, "f:spec"), "f:taints");
	if (strcmp(kind, "label") == 0) {
		rna_strbuf_printf(&key, "f:%s", name);
		return rna_strbuf_ok(&key) &&
		       json_object_get(json_object_get(metadata, "f:labels"), key.data);
	}
	rna_strbuf_printf(&key, "k:{\"type\":\"%s\"}", name);
	return rna_strbuf_ok(&key) &&
	       json_object_get(json_object_get(status, "f:conditions"), key.data);
}

/* For the status it has a name of its own (api.c). */
static bool is_own_manager(const char *manager)
{
	return strncmp(manager, COMPONENT, strlen(COMPONENT)) == 0;
}

/* The last client but us that has it; NULL: none. */
static const char *manager_of(const json_t *node, const char *kind, const char *name)
{
	const json_t *list = json_object_get(json_object_get(node, "metadata"), "managedFields");
	const char *found = NULL;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);
		const char *manager = rna_json_text_of(entry, "manager");

		if (manager && !is_own_manager(manager) &&
		    has_field(json_object_get(entry, "fieldsV1"), kind, name))
			found = manager;
	}
	return found;
}

static void read_holder(struct reader *reader, const json_t *node, struct rna_kube_node *ret)
{
	const char *key = reader->options->shared_label;
	const char *holder = key ? manager_of(node, "label", key) : NULL;

	if (!holder)
		return;
	ret->left_label = keep(reader, key);
	ret->left_to = keep(reader, holder);
}

int rna_kube_read_node(const struct rna_strbuf *reply, const struct rna_kubernetes_options *options,
		       struct rna_kube_node *ret)
{
	RNA_CLEANUP(rna_json_free_p) json_t *node = NULL;
	int read = parse(reply, &node);
	json_t *metadata = json_object_get(node, "metadata");
	json_t *status = json_object_get(node, "status");
	struct reader reader = {.options = options};

	rna_kube_node_deinit(ret);
	if (read < 0)
		return read;
	reader.arena = ret->arena = rna_arena_new(ARENA);
	if (!ret->arena)
		return -ENOMEM;
	ret->uid = keep(&reader, rna_json_text_of(metadata, "uid"));
	ret->ignored = rna_same_text(rna_json_text_of(json_object_get(metadata, "annotations"),
						      RNA_KUBERNETES_IGNORE),
				     "true");
	read_taints(options, json_object_get(json_object_get(node, "spec"), "taints"), ret);
	read_labels(&reader, json_object_get(metadata, "labels"), ret);
	read_holder(&reader, node, ret);
	read_conditions(&reader, json_object_get(status, "conditions"), ret);
	read_resources(&reader, status, ret);
	if (reader.failed)
		return -ENOMEM;
	return ret->uid ? 0 : -EBADMSG;
}

void rna_kube_write_manager(const struct rna_strbuf *reply, const char *kind, const char *name,
			    struct rna_strbuf *out)
{
	RNA_CLEANUP(rna_json_free_p) json_t *node = NULL;
	const char *found = NULL;

	if (parse(reply, &node) == 0)
		found = manager_of(node, kind, name);
	if (found)
		rna_strbuf_printf(out, " (written by %.100s)", found);
}

int rna_kube_read_names(const struct rna_strbuf *reply, struct rna_strbuf *names,
			struct rna_strbuf *place)
{
	RNA_CLEANUP(rna_json_free_p) json_t *list = NULL;
	int status = parse(reply, &list);
	const json_t *items = json_object_get(list, "items");
	const char *next = rna_json_text_of(json_object_get(list, "metadata"), "continue");

	if (status < 0)
		return status;
	if (!json_is_array(items) && !json_is_null(items)) /* as an empty list of metadata is */
		return -EBADMSG;
	for (size_t i = 0; i < json_array_size(items); i++) {
		const char *name =
			rna_json_text_of(json_object_get(json_array_get(items, i), "metadata"),
					 "name");

		if (name)
			rna_strbuf_printf(names, "%s\n", name);
	}
	place->len = 0;
	rna_strbuf_puts(place, next ? next : "");
	return rna_strbuf_ok(names) && rna_strbuf_ok(place) ? 0 : -ENOMEM;
}

void rna_kube_read_message(const struct rna_strbuf *reply, struct rna_strbuf *out)
{
	RNA_CLEANUP(rna_json_free_p) json_t *status = NULL;
	const char *text = NULL;
	size_t len;

	if (parse(reply, &status) == 0)
		text = rna_json_text_of(status, "message");
	if (!text)
		text = reply->data ? reply->data : "";
	len = strcspn(text, "\r\n");
	rna_strbuf_add(out, text, rna_characters_cut(text, len < SHOWN_MAX ? len : SHOWN_MAX));
}
