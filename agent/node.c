// SPDX-License-Identifier: Apache-2.0
#include "node.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "feature_file.h"
#include "rna/log.h"
#include "wish.h"

struct rna_node {
	const struct rna_settings *settings;
	struct rna_memory *memory;
	sd_event_source *timer;
	void (*judge_again)(void *userdata);
	void *userdata;
	struct rna_node_events events;
	struct rna_node_wish *wish;    /* that the backends have; NULL: none yet */
	struct rna_feature_file *file; /* NULL: not used */
	bool misnamed; /* labels are called what no label can be called: nothing is told */
};

/* -- The view ---------------------------------------------------------------------------------- */

void rna_node_describe(struct rna_node *node, struct rna_view *view)
{
	struct rna_node_status *status;

	if (!node)
		return;
	status = rna_arena_alloc(view->arena, sizeof(*status));
	if (!status)
		return; /* said again with the next view */
	status->backends[RNA_NODE_BACKEND_NFD].used =
		node->settings->kubernetes_backend & RNA_NODE_BACKEND_BIT(NFD);
	if (node->file)
		rna_feature_file_status(node->file, &status->backends[RNA_NODE_BACKEND_NFD]);
	for (size_t id = 0; id < RNA_NODE_BACKEND_COUNT; id++)
		status->backends[id].problem |= status->backends[id].used && node->misnamed;
	view->node = status;
}

/* -- The wish ---------------------------------------------------------------------------------- */

void rna_node_hear(struct rna_node *node, const struct rna_rule *rule,
		   const struct rna_finding *finding, bool over)
{
	if (node && !node->misnamed)
		rna_node_events_take(&node->events, rule, finding, over, rna_clock_now());
}

/* Nothing is handed over until there is something to say, so that what was said before stays. */
static bool is_news(const struct rna_node *node, const struct rna_node_wish *wish)
{
	if (!wish->labels_decided && !wish->conditions_decided && !wish->taint_decided &&
	    wish->event_count == 0)
		return false;
	return wish->event_count > 0 || !rna_node_wish_is_same(node->wish, wish);
}

static void hand_over(struct rna_node *node, struct rna_node_wish *wish)
{
	bool other_labels = wish->labels_decided && !rna_node_wish_is_same(node->wish, wish);

	if (node->file && other_labels)
		rna_feature_file_want(node->file, wish);
	(void)rna_node_wish_unref(node->wish);
	node->wish = rna_node_wish_ref(wish);
}

static void arm_timer(struct rna_node *node)
{
	rna_usec due = rna_wish_due(&node->memory->node, node->settings);
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

void rna_node_follow(struct rna_node *node, const struct rna_view *view, bool booting, bool settled)
{
	const struct rna_wish_input in = {
		.settings = node ? node->settings : NULL,
		.view = view,
		.booting = booting,
		.settled = settled,
	};
	RNA_CLEANUP(rna_node_wish_unref_p) struct rna_node_wish *wish = NULL;
	bool events_due;

	if (!node || node->misnamed)
		return;
	events_due = rna_node_events_are_due(&node->events, view->snapshot->time.monotonic);
	if (rna_wish_follow(&node->memory->node, &in) > 0)
		node->memory->changed = true;
	wish = rna_wish_new(&node->memory->node, node->settings, events_due ? &node->events : NULL);
	if (!wish)
		return; /* no memory: the next view tries again */
	if (is_news(node, wish))
		hand_over(node, wish);
	if (events_due)
		rna_node_events_clear(&node->events);
	arm_timer(node);
}

/* -- Life -------------------------------------------------------------------------------------- */

static int on_timer(sd_event_source *source, uint64_t at, void *userdata)
{
	struct rna_node *node = userdata;

	(void)source, (void)at;
	node->judge_again(node->userdata);
	return 0;
}

static struct rna_node *free_node(struct rna_node *node)
{
	if (!node)
		return NULL;
	(void)sd_event_source_disable_unref(node->timer);
	rna_node_events_clear(&node->events);
	(void)rna_node_wish_unref(node->wish);
	free(node);
	return NULL;
}
RNA_DEFINE_CLEANUP(struct rna_node, free_node)

static void check_names(struct rna_node *node)
{
	const struct rna_label_options options = rna_label_options_of(node->settings);
	struct rna_error error = {0};
	int ret = rna_label_options_check(&options, &error);

	if (ret >= 0 && rna_settings_have_taint(node->settings))
		ret = rna_label_key_check("kubernetes.taint", node->settings->kubernetes_taint,
					  &error);
	node->misnamed = ret < 0;
	if (ret < 0)
		rna_log_error("%s; Kubernetes is told nothing of this node, all else goes on",
			      error.text);
}

static int start_file(struct rna_node *node, sd_event *event)
{
	const struct rna_settings *settings = node->settings;

	if (node->misnamed || !(settings->kubernetes_backend & RNA_NODE_BACKEND_BIT(NFD)))
		return 0;
	return rna_feature_file_new(event, settings->kubernetes_nfd_directory,
				    settings->kubernetes_nfd_expiry, &node->file);
}

int rna_node_start(sd_event *event, const struct rna_settings *settings, struct rna_memory *memory,
		   void (*judge_again)(void *userdata), void *userdata, struct rna_node **ret)
{
	RNA_CLEANUP(free_node_p) struct rna_node *node = NULL;
	int status;

	*ret = NULL;
	if (settings->kubernetes_backend == 0)
		return 0;
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->settings = settings;
	node->memory = memory;
	node->judge_again = judge_again;
	node->userdata = userdata;
	check_names(node);
	status = sd_event_add_time(event, &node->timer, CLOCK_MONOTONIC, 0, 0, on_timer, node);
	if (status >= 0)
		status = sd_event_source_set_enabled(node->timer, SD_EVENT_OFF);
	if (status >= 0)
		status = start_file(node, event);
	if (status < 0)
		return status;
	*ret = RNA_TAKE(node);
	return 0;
}

bool rna_node_stop(struct rna_node *node, rna_usec patience)
{
	if (!node)
		return true;
	if (!rna_feature_file_stop(node->file, patience))
		return false;
	(void)free_node(node);
	return true;
}
