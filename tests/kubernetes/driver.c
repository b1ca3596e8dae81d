// SPDX-License-Identifier: Apache-2.0
/*
 * The client on its own, for tests: desired states come as JSON, a line each, on standard input;
 *what becomes of them goes to standard output, a line of JSON for each status.
 *
 *	driver KEY=VALUE...          runs until its input ends
 *	driver once=apply ...        makes one desired state true and leaves; once=cleanup,
 *once=print
 *
 * Keys are the members of struct rna_kubernetes_options; times are milliseconds. In them, a label
 * that is null and a condition whose status is null are not decided yet.
 */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/kubernetes.h"

#define STOP_PATIENCE (5 * RNA_USEC_PER_SEC)

#define URGENT_LABEL "rdma-node-agent/health"

enum { LIST_MAX = 16, LINE_MAX_BYTES = 64 * 1024, ARENA = 4096 };

struct driver {
	struct rna_kubernetes_options options;
	const char *once;
	const char *resources[LIST_MAX + 1], *condition_types[LIST_MAX + 1];
	const char *label_keys[LIST_MAX + 1], *former_taints[LIST_MAX + 1];
};

/* -- Command line ------------------------------------------------------------------------------ */

static void split(char *text, const char **list)
{
	size_t count = 0;
	char *rest;

	for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
		if (count < LIST_MAX)
			list[count++] = word;
}

static bool set_time(struct rna_kubernetes_options *options, const char *key, const char *value)
{
	const struct {
		const char *key;
		rna_usec *place;
	} times[] = {
		{"first_delay", &options->first_delay}, {"spread", &options->spread},
		{"resync", &options->resync},           {"look", &options->look},
		{"event_pause", &options->event_pause}, {"heartbeat", &options->heartbeat},
	};
	uint64_t number;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(times); i++) {
		if (strcmp(times[i].key, key) != 0 || rna_parse_u64(value, &number) < 0)
			continue;
		*times[i].place = number * RNA_USEC_PER_MSEC;
		return true;
	}
	return false;
}

static bool set_text(struct driver *driver, const char *key, char *value)
{
	const struct {
		const char *key;
		const char **place;
	} texts[] = {
		{"node", &driver->options.node},
		{"kubeconfig", &driver->options.kubeconfig},
		{"service_account", &driver->options.service_account},
		{"server", &driver->options.server},
		{"taint_key", &driver->options.taint_key},
		{"taint_effect", &driver->options.taint_effect},
		{"shared_label", &driver->options.shared_label},
		{"taint_leases", &driver->options.taint_leases},
		{"device_taint_key", &driver->options.device_taint_key},
		{"device_taint_effect", &driver->options.device_taint_effect},
		{"once", &driver->once},
	};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		if (strcmp(texts[i].key, key) != 0)
			continue;
		*texts[i].place = value;
		return true;
	}
	return false;
}

static bool set_list(struct driver *driver, const char *key, char *value)
{
	const struct {
		const char *key;
		const char **list;
		const char *const **place;
	} lists[] = {
		{"resources", driver->resources, &driver->options.resources},
		{"label_keys", driver->label_keys, &driver->options.label_keys},
		{"former_taints", driver->former_taints, &driver->options.former_taints},
		{"condition_types", driver->condition_types, &driver->options.condition_types},
	};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(lists); i++) {
		if (strcmp(lists[i].key, key) != 0)
			continue;
		split(value, lists[i].list);
		*lists[i].place = lists[i].list[0] ? lists[i].list : NULL;
		return true;
	}
	return false;
}

static bool set_option(struct driver *driver, char *argument)
{
	char *value = strchr(argument, '=');

	if (!value)
		return false;
	*value++ = '\0';
	if (strcmp(argument, "taint_dry_run") == 0)
		return driver->options.taint_dry_run = true;
	return set_list(driver, argument, value) || set_text(driver, argument, value) ||
	       set_time(&driver->options, argument, value);
}

/* -- Desired states ---------------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static void *array(struct rna_arena *arena, size_t count, size_t size)
{
	void *memory = rna_arena_array(arena, count, size);

	if (!memory)
		abort();
	return memory;
}

static void read_labels(json_t *object, struct rna_desired_node *desired)
{
	struct rna_node_label *labels =
		array(desired->arena, json_object_size(object), sizeof(*labels));
	const char *key;
	json_t *value;

	json_object_foreach (object, key, value)
		labels[desired->label_count++] = (struct rna_node_label){
			rna_arena_strdup(desired->arena, key),
			json_is_null(value)
				? NULL
				: rna_arena_strdup(desired->arena, json_string_value(value)),
			strcmp(key, URGENT_LABEL) == 0,
		};
	desired->labels = labels;
}

static void read_conditions(const json_t *list, struct rna_desired_node *desired)
{
	size_t count = json_array_size(list);
	struct rna_node_condition *conditions = array(desired->arena, count, sizeof(*conditions));

	for (size_t i = 0; i < count; i++) {
		const json_t *object = json_array_get(list, i);
		const char *status = text_of(object, "status");

		if (json_is_null(json_object_get(object, "status"))) {
			conditions[i].type =
				rna_arena_strdup(desired->arena, text_of(object, "type"));
			continue;
		}
		conditions[i] = (struct rna_node_condition){
			.type = rna_arena_strdup(desired->arena, text_of(object, "type")),
			.status = strcmp(status, "True") == 0    ? RNA_CONDITION_STATUS_TRUE
				  : strcmp(status, "False") == 0 ? RNA_CONDITION_STATUS_FALSE
								 : RNA_CONDITION_STATUS_UNKNOWN,
			.reason = rna_arena_strdup(desired->arena, text_of(object, "reason")),
			.message = rna_arena_strdup(desired->arena, text_of(object, "message")),
			.since.realtime =
				(rna_usec)json_integer_value(json_object_get(object, "since")) *
				RNA_USEC_PER_SEC,
		};
	}
	desired->conditions = conditions;
	desired->condition_count = count;
}

static void read_events(const json_t *list, struct rna_desired_node *desired)
{
	size_t count = json_array_size(list);
	struct rna_node_event *events = array(desired->arena, count, sizeof(*events));

	for (size_t i = 0; i < count; i++) {
		const json_t *object = json_array_get(list, i);
		rna_usec age = (rna_usec)json_integer_value(json_object_get(object, "age"));

		events[i] = (struct rna_node_event){
			.warning = json_is_true(json_object_get(object, "warning")),
			.reason = rna_arena_strdup(desired->arena, text_of(object, "reason")),
			.message = rna_arena_strdup(desired->arena, text_of(object, "message")),
			.time = rna_clock_now(),
		};
		events[i].time.realtime -= age * RNA_USEC_PER_SEC;
	}
	desired->events = events;
	desired->event_count = count;
}

static void read_devices(const json_t *list, struct rna_desired_node *desired)
{
	size_t count = json_array_size(list);
	struct rna_node_device_taint *devices = array(desired->arena, count, sizeof(*devices));

	for (size_t i = 0; i < count; i++) {
		const json_t *object = json_array_get(list, i);
		const json_t *functions = json_object_get(object, "functions");

		devices[i] = (struct rna_node_device_taint){
			.device = rna_arena_strdup(desired->arena, text_of(object, "device")),
			.pci_address = rna_arena_strdup(desired->arena, text_of(object, "pci")),
			.reason = rna_arena_strdup(desired->arena, text_of(object, "reason")),
			.function_count = json_array_size(functions),
			.functions = array(desired->arena, json_array_size(functions),
					   sizeof(*devices[i].functions)),
		};
		for (size_t j = 0; j < devices[i].function_count; j++)
			devices[i].functions[j] =
				rna_arena_strdup(desired->arena,
						 json_string_value(json_array_get(functions, j)));
	}
	desired->device_taints = devices;
	desired->device_taint_count = count;
}

static void read_desired(const char *line, struct rna_desired_node *desired)
{
	json_t *object = json_loads(line, 0, NULL);

	if (!object) {
		(void)fprintf(stderr, "driver: no JSON: %s\n", line);
		abort();
	}
	read_labels(json_object_get(object, "labels"), desired);
	read_conditions(json_object_get(object, "conditions"), desired);
	read_events(json_object_get(object, "events"), desired);
	read_devices(json_object_get(object, "devices"), desired);
	desired->device_taints_complete = !json_is_false(json_object_get(object, "all_devices"));
	desired->taint = json_is_true(json_object_get(object, "taint"));
	desired->labels_decided = json_is_object(json_object_get(object, "labels"));
	desired->conditions_decided = json_is_array(json_object_get(object, "conditions"));
	desired->taint_decided = json_is_boolean(json_object_get(object, "taint"));
	json_decref(object);
}

/* NULL: the input has ended. */
static struct rna_desired_node *next_desired(void)
{
	static char line[LINE_MAX_BYTES];
	struct rna_arena *arena;
	struct rna_desired_node *desired;

	if (!fgets(line, sizeof(line), stdin))
		return NULL;
	arena = rna_arena_new(ARENA);
	desired = arena ? rna_arena_alloc(arena, sizeof(*desired)) : NULL;
	if (!desired)
		abort();
	desired->refs = 1;
	desired->arena = arena;
	read_desired(line, desired);
	return desired;
}

/* -- Running ----------------------------------------------------------------------------------- */

static void print_status(const struct rna_kubernetes_status *status)
{
	const struct rna_node_status *node = &status->node;
	const struct rna_node_backend *api = &node->backends[RNA_NODE_BACKEND_API];
	json_t *object = json_object(), *requests = json_object(), *resources = json_object(),
	       *labels = json_object();

	(void)json_object_set_new(object, "in_step", json_boolean(api->in_step));
	(void)json_object_set_new(object, "former_gone", json_boolean(status->former_gone));
	(void)json_object_set_new(object, "ignored", json_boolean(node->ignored));
	if (node->label_held)
		(void)json_object_set_new(object, "held", json_string(node->label_held));
	if (node->taint_withheld != RNA_WITHHELD_NOTHING)
		(void)json_object_set_new(object, "withheld",
					  json_string(rna_withheld_reason(node->taint_withheld)));
	(void)json_object_set_new(object, "device_taints",
				  json_integer((json_int_t)node->device_taints));
	(void)json_object_set_new(object, "reverts", json_integer((json_int_t)node->reverts));
	(void)json_object_set_new(object, "reverted", json_string(status->reverted));
	(void)json_object_set_new(object, "problem", json_string(status->problem));
	(void)json_object_set_new(object, "events_sent",
				  json_integer((json_int_t)node->events_sent));
	(void)json_object_set_new(object, "events_dropped",
				  json_integer((json_int_t)node->events_dropped));
	for (int i = 0; i < RNA_KUBERNETES_RESULT_COUNT; i++)
		(void)json_object_set_new(requests,
					  rna_kubernetes_result_name((enum rna_kubernetes_result)i),
					  json_integer((json_int_t)api->requests[i]));
	(void)json_object_set_new(object, "requests", requests);
	for (size_t i = 0; i < node->resource_count; i++)
		(void)json_object_set_new(resources, node->resources[i].name,
					  json_pack("[I, I]",
						    (json_int_t)node->resources[i].capacity,
						    (json_int_t)node->resources[i].allocatable));
	(void)json_object_set_new(object, "resources", resources);
	for (size_t i = 0; i < status->label_count; i++)
		(void)json_object_set_new(labels, status->labels[i].key,
					  json_string(status->labels[i].value));
	(void)json_object_set_new(object, "labels", labels);
	(void)json_dumpf(object, stdout, JSON_COMPACT);
	(void)putchar('\n');
	(void)fflush(stdout);
	json_decref(object);
}

static void tell(struct rna_kubernetes *client)
{
	RNA_CLEANUP(rna_kubernetes_status_free_p)
	struct rna_kubernetes_status *status = rna_kubernetes_take_status(client);

	if (status)
		print_status(status);
}

static void serve(struct rna_kubernetes *client)
{
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			       {.fd = rna_kubernetes_fd(client), .events = POLLIN}};
	bool more = true;

	while (more && poll(fds, RNA_ARRAY_SIZE(fds), -1) >= 0) {
		if (fds[1].revents)
			tell(client);
		if (fds[0].revents) {
			struct rna_desired_node *desired = next_desired();

			more = desired;
			if (desired)
				rna_kubernetes_want(client, desired);
			(void)rna_desired_node_unref(desired);
		}
	}
}

static int do_once(const struct driver *driver, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_CLEANUP(rna_desired_node_unref_p) struct rna_desired_node *desired = NULL;
	int ret;

	if (strcmp(driver->once, "cleanup") == 0)
		return rna_kubernetes_cleanup(&driver->options, error);
	desired = next_desired();
	if (!desired)
		return rna_error_say(error, -EINVAL, "no desired state");
	if (strcmp(driver->once, "apply") == 0) {
		ret = rna_kubernetes_apply(&driver->options, desired, error);
	} else {
		rna_kubernetes_write_requests(&driver->options, desired, &text);
		ret = fputs(text.data, stdout) < 0 ? -EIO : 0;
	}
	return ret;
}

int main(int argc, char **argv)
{
	struct driver driver = {
		.options = {.burst = RNA_KUBERNETES_BURST,
			    .reserve = RNA_KUBERNETES_RESERVE,
			    .refill = RNA_KUBERNETES_REFILL},
	};
	struct rna_kubernetes *client;
	struct rna_error error = {0};
	int ret;

	(void)setvbuf(stdin, NULL, _IONBF, 0); /* poll() sees what is unread */
	for (int i = 1; i < argc; i++)
		if (!set_option(&driver, argv[i])) {
			(void)fprintf(stderr, "driver: what is %s?\n", argv[i]);
			return 2;
		}
	ret = driver.once ? do_once(&driver, &error)
			  : rna_kubernetes_start(&driver.options, &client, &error);
	if (ret < 0) {
		(void)fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	if (driver.once)
		return 0;
	serve(client);
	return rna_kubernetes_stop(client, STOP_PATIENCE) ? 0 : 3;
}
