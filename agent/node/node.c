// SPDX-License-Identifier: Apache-2.0
#include "node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "rna/base/log.h"
#include "rna/base/parse.h"

#include "desired.h"
#include "feature_file.h"
#include "node_options.h"

/* How often backends that are to end are looked after. */
#define CHANGE_PERIOD (100 * RNA_USEC_PER_MSEC)

/* What is desired of an ignored Node. */
static struct rna_desired_node nothing = {.refs = 1, .labels_decided = true};

struct rna_node {
	struct rna_node_host host;
	sd_event_source *timer;
	struct rna_node_events events;
	struct rna_desired_node *desired;     /* that the backends have; NULL: none yet */
	struct rna_feature_file *file;        /* NULL: not used */
	struct rna_arena *options;            /* of the client */
	struct rna_kubernetes *client;        /* NULL: not used, or it could not be started */
	sd_event_source *news;                /* of the client */
	struct rna_kubernetes_status *status; /* its newest; NULL: none yet */
	bool misnamed;           /* the names of labels are invalid: nothing is published */
	sd_event_source *change; /* while backends of former settings end: when to look again */
};

/* -- The view ---------------------------------------------------------------------------------- */

/* The client's status goes with the next one, the view stays: it has its own resources. */
static const char *find_leaf(const struct rna_node *node, struct rna_arena *arena)
{
	const struct rna_kubernetes_status *status = node->status;
	const char *key = node->host.settings->probe_leaf_label;
	bool failed = false;

	for (size_t i = 0; status && i < status->label_count; i++)
		if (strcmp(status->labels[i].key, key) == 0)
			return rna_arena_keep(arena, status->labels[i].value, &failed);
	return NULL;
}

static void describe_client(const struct rna_node *node, struct rna_arena *arena,
			    struct rna_node_status *ret)
{
	struct rna_node_backend *backend = &ret->backends[RNA_NODE_BACKEND_API];
	const struct rna_kubernetes_status *status = node->status;
	bool failed = false;

	if (status)
		*ret = status->node;
	ret->label_held = rna_arena_keep(arena, ret->label_held, &failed);
	if (ret->resources_known)
		(void)rna_kubernetes_keep_resources(ret->resources, ret->resource_count, arena,
						    ret);
	backend->used = node->host.settings->kubernetes_backend & RNA_NODE_BACKEND_BIT(API);
	backend->in_step &= node->desired != NULL;
	ret->leaf = find_leaf(node, arena);
	ret->taint_limited = rna_settings_limit_taint(node->host.settings);
	if (!status)
		backend->problem = backend->used && !node->client;
}

void rna_node_describe(struct rna_node *node, struct rna_view *view)
{
	struct rna_node_status *status;
	struct rna_node_backend *file;

	if (!node || node->host.settings->kubernetes_backend == 0)
		return;
	status = rna_arena_alloc(view->arena, sizeof(*status));
	if (!status)
		return; /* said again with the next view */
	describe_client(node, view->arena, status);
	file = &status->backends[RNA_NODE_BACKEND_NFD];
	file->used = node->host.settings->kubernetes_backend & RNA_NODE_BACKEND_BIT(NFD);
	file->problem = file->used && node->misnamed;
	if (node->file)
		rna_feature_file_status(node->file, file);
	view->node = status;
}

const struct rna_kubernetes_status *rna_node_status(const struct rna_node *node)
{
	static const struct rna_kubernetes_status unread = {0};

	if (!node || !node->client)
		return NULL;
	return node->status ? node->status : &unread;
}

bool rna_node_has_label(const struct rna_node *node, const char *label)
{
	return node && rna_kubernetes_has_label(node->status, label);
}

/* -- The desired state ------------------------------------------------------------------------- */

static bool may_publish(const struct rna_node *node)
{
	return node->host.settings->kubernetes_backend != 0 && !node->misnamed && !node->change;
}

void rna_node_hear(struct rna_node *node, const struct rna_rule *rule,
		   const struct rna_finding *finding, bool over)
{
	if (node && may_publish(node))
		rna_node_events_take(&node->events, rule, finding, over, rna_clock_now());
}

/* Nothing is handed over until there is something to say, so that what was said before stays. */
static bool is_news(const struct rna_node *node, const struct rna_desired_node *desired)
{
	if (!desired->labels_decided && !desired->conditions_decided && !desired->taint_decided &&
	    desired->event_count == 0)
		return false;
	return desired->event_count > 0 || !rna_desired_node_is_same(node->desired, desired);
}

static bool is_ignored(const struct rna_node *node)
{
	return node->status && node->status->node.ignored;
}

/* On an ignored Node, the file has nothing (on_client_status()); the client sees to it itself. */
static void send_desired(struct rna_node *node, struct rna_desired_node *desired)
{
	if (node->file && !is_ignored(node) && desired->labels_decided &&
	    !rna_desired_node_has_same_labels(node->desired, desired))
		rna_feature_file_want(node->file, desired);
	if (node->client)
		rna_kubernetes_want(node->client, desired);
	(void)rna_desired_node_unref(node->desired);
	node->desired = rna_desired_node_ref(desired);
}

static void arm_timer(struct rna_node *node)
{
	rna_usec due = rna_desired_due(&node->host.memory->node, node->host.settings);
	rna_usec events = rna_node_events_due(&node->events);

	if (events < due)
		due = events;
	if (due == RNA_USEC_NEVER) {
		(void)sd_event_source_set_enabled(node->timer, SD_EVENT_OFF);
		return;
	}
	(void)sd_event_source_set_time(node->timer, due);
	(void)sd_event_source_set_enabled(node->timer, SD_EVENT_ONESHOT);
}

void rna_node_follow(struct rna_node *node, const struct rna_view *view, bool booting,
		     unsigned settled)
{
	const struct rna_desired_input in = {
		.settings = node ? node->host.settings : NULL,
		.view = view,
		.booting = booting,
		.settled = settled,
	};
	RNA_CLEANUP(rna_desired_node_unref_p) struct rna_desired_node *desired = NULL;
	bool events_due;

	if (!node || !may_publish(node))
		return;
	events_due = rna_node_events_are_due(&node->events, view->snapshot->time.monotonic);
	if (rna_desired_follow(&node->host.memory->node, &in) > 0)
		node->host.memory->changed = true;
	desired = rna_desired_new(&node->host.memory->node, &in, events_due ? &node->events : NULL);
	if (!desired)
		return; /* no memory: the next view tries again */
	if (is_news(node, desired))
		send_desired(node, desired);
	if (events_due)
		rna_node_events_clear(&node->events);
	arm_timer(node);
}

/* -- Life -------------------------------------------------------------------------------------- */

static int on_timer(sd_event_source *source, uint64_t at, void *userdata)
{
	struct rna_node *node = userdata;

	(void)source, (void)at;
	node->host.judge_again(node->host.userdata);
	return 0;
}

/* Once per change. */
static void say_problem(const char *before, const char *now)
{
	if (now && (!before || strcmp(before, now) != 0))
		rna_log_warning("%s", now);
	else if (before && !now)
		rna_log_notice("Kubernetes API updates have recovered");
}

static void say_held(const char *before, const char *now)
{
	if (now && !rna_same_text(before, now))
		rna_log_notice("another client has a label of the Node: %s; the agent leaves it, "
			       "unless kubernetes.roce_label is own",
			       now);
}

/* Each change once: a client that does not give up would fill the log. */
static void say_reverted(const char *before, const char *now)
{
	if (now && !rna_same_text(before, now))
		rna_log_notice("another client changed the Node: %s; the agent writes its own "
			       "again, unless the Node gets the annotation " RNA_KUBERNETES_IGNORE
			       ": \"true\"",
			       now);
}

static void say_ignored(bool before, bool now)
{
	if (now && !before)
		rna_log_notice("the Node has the annotation " RNA_KUBERNETES_IGNORE
			       ": \"true\": the agent takes back what it wrote there, and "
			       "publishes nothing until the annotation is gone");
	else if (before && !now)
		rna_log_notice("the Node has no annotation " RNA_KUBERNETES_IGNORE
			       " any more: the agent publishes again");
}

/* What is behind under former names needs no remembering any more. */
static void note_former(struct rna_node *node)
{
	if (node->change)
		return; /* the client that tells so knows the settings before, which had other names
			 */
	if (node->status->former_gone &&
	    rna_node_names_forget_former(&node->host.memory->node, node->host.settings))
		node->host.memory->changed = true;
}

static int on_client_status(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_node *node = userdata;
	struct rna_kubernetes_status *status = rna_kubernetes_take_status(node->client);
	bool was_ignored = is_ignored(node);

	(void)source, (void)fd, (void)events;
	if (!status)
		return 0;
	say_problem(node->status ? node->status->problem : NULL, status->problem);
	say_reverted(node->status ? node->status->reverted : NULL, status->reverted);
	say_held(node->status ? node->status->node.label_held : NULL, status->node.label_held);
	say_ignored(was_ignored, status->node.ignored);
	(void)rna_kubernetes_status_free(node->status);
	node->status = status;
	note_former(node);
	if (node->file && status->node.ignored && !was_ignored)
		rna_feature_file_want(node->file, &nothing);
	else if (node->file && node->desired && was_ignored && !status->node.ignored)
		rna_feature_file_want(node->file, node->desired);
	return 0;
}

static struct rna_node *free_node(struct rna_node *node)
{
	if (!node)
		return NULL;
	(void)sd_event_source_disable_unref(node->timer);
	(void)sd_event_source_disable_unref(node->news);
	(void)sd_event_source_disable_unref(node->change);
	(void)rna_kubernetes_status_free(node->status);
	(void)rna_arena_free(node->options);
	rna_node_events_clear(&node->events);
	(void)rna_desired_node_unref(node->desired);
	free(node);
	return NULL;
}
RNA_DEFINE_CLEANUP(struct rna_node, free_node)

static void check_names(struct rna_node *node)
{
	struct rna_error error = {0};

	node->misnamed = node->host.settings->kubernetes_backend != 0 &&
			 rna_settings_check_names(node->host.settings, &error) < 0;
	if (!node->misnamed)
		return;
	rna_config_point(node->host.config, &error);
	rna_log_error("%s; the agent publishes nothing to Kubernetes; monitoring continues",
		      error.text);
}

static int start_file(struct rna_node *node)
{
	const struct rna_settings *settings = node->host.settings;

	if (node->misnamed || !(settings->kubernetes_backend & RNA_NODE_BACKEND_BIT(NFD)))
		return 0;
	return rna_feature_file_new(node->host.event, settings->kubernetes_nfd_directory,
				    RNA_NFD_EXPIRY, &node->file);
}

/* A client that cannot be started is logged, and has no other effect. */
static int start_client(struct rna_node *node)
{
	const struct rna_kubernetes_options *options = NULL;
	struct rna_memory *memory = node->host.memory;
	struct rna_error error = {0};

	if (node->misnamed ||
	    !(node->host.settings->kubernetes_backend & RNA_NODE_BACKEND_BIT(API)))
		return 0;
	memory->changed |= rna_node_names_note(&memory->node, node->host.settings);
	node->options = rna_arena_new(4096);
	if (node->options)
		options = rna_node_options(node->host.settings, &memory->node, node->options);
	if (!options)
		return -ENOMEM;
	if (rna_kubernetes_start(options, &node->client, &error) < 0) {
		rna_log_error("%s; the agent sends nothing to the API server; monitoring continues",
			      error.text);
		return 0;
	}
	return sd_event_add_io(node->host.event, &node->news, rna_kubernetes_fd(node->client),
			       EPOLLIN, on_client_status, node);
}

static int start_backends(struct rna_node *node)
{
	int status;

	check_names(node);
	status = start_file(node);
	return status < 0 ? status : start_client(node);
}

int rna_node_start(const struct rna_node_host *host, struct rna_node **ret)
{
	RNA_CLEANUP(free_node_p) struct rna_node *node = calloc(1, sizeof(*node));
	int status;

	*ret = NULL;
	if (!node)
		return -ENOMEM;
	node->host = *host;
	status =
		sd_event_add_time(host->event, &node->timer, CLOCK_MONOTONIC, 0, 0, on_timer, node);
	if (status >= 0)
		status = sd_event_source_set_enabled(node->timer, SD_EVENT_OFF);
	if (status >= 0)
		status = start_backends(node);
	if (status < 0)
		return status;
	*ret = RNA_TAKE(node);
	return 0;
}

/* -- Reload and end ---------------------------------------------------------------------------- */

static bool end_backends(struct rna_node *node, rna_usec patience)
{
	node->news = sd_event_source_disable_unref(node->news); /* its descriptor goes first */
	if (node->file && !rna_feature_file_stop(node->file, patience))
		return false;
	node->file = NULL;
	if (node->client && !rna_kubernetes_stop(node->client, patience))
		return false;
	node->client = NULL;
	node->options = rna_arena_free(node->options);
	return true;
}

/* Publishes everything again, because new backends have no data yet. */
static void publish_everything_again(struct rna_node *node)
{
	int status;

	node->change = sd_event_source_disable_unref(node->change);
	node->status = rna_kubernetes_status_free(node->status);
	node->desired = rna_desired_node_unref(node->desired);
	status = start_backends(node);
	if (status < 0)
		rna_log_error("cannot start Kubernetes updates; monitoring continues: %s",
			      strerror(-status));
	node->host.judge_again(node->host.userdata);
}

static int on_change(sd_event_source *source, uint64_t at, void *userdata)
{
	struct rna_node *node = userdata;

	(void)at;
	if (end_backends(node, 0)) {
		publish_everything_again(node);
		return 0;
	}
	(void)sd_event_source_set_time_relative(source, CHANGE_PERIOD);
	(void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

void rna_node_reload(struct rna_node *node)
{
	if (!node || node->change)
		return; /* those that come next will have the newest settings */
	if (sd_event_add_time_relative(node->host.event, &node->change, CLOCK_MONOTONIC, 0, 0,
				       on_change, node) < 0)
		rna_log_error("no memory for a timer; Kubernetes updates keep the settings from "
			      "before the reload");
}

bool rna_node_stop(struct rna_node *node, rna_usec patience)
{
	if (!node)
		return true;
	if (!end_backends(node, patience))
		return false;
	(void)free_node(node);
	return true;
}
