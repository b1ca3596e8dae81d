/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node made by hand, the health that judges it, and a clock of its own: for tests of what lasts.
 * The agent is ended and started by writing its file and reading it into a new health.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "health/health_file.h"

#include "health_view.h"

#define IB     RNA_LINK_LAYER_INFINIBAND
#define ROCE   RNA_LINK_LAYER_ETHERNET
#define SECOND RNA_USEC_PER_SEC
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)

/*
 * The reports from warning on, "+port-down" and "-port-down", separated by spaces; and how long
 * that of the last report lasted.
 */
static char told[1024];
static rna_usec told_lasted;

struct fixture {
	struct rna_settings settings;
	struct rna_health health;
	struct node node;
	struct rna_strbuf file; /* of the agent that was ended last */
	uint64_t sequence;      /* of the kernel's messages */
};

static inline void take_down(const struct rna_rule *rule, const struct rna_finding *finding,
			     enum rna_change_what what, bool news, void *userdata)
{
	const struct fixture *f = userdata;
	bool over = what == RNA_CHANGE_RESOLVED;
	size_t len = strlen(told);

	told_lasted = over ? rna_time_since(finding->since, f->health.judged) : 0;
	if (finding->severity > RNA_SEVERITY_INFO && news)
		(void)snprintf(told + len, sizeof(told) - len, "%s%c%s", len > 0 ? " " : "",
			       over ? '-' : '+', rule->name);
}

static inline void begin(struct fixture *f, const char *boot)
{
	assert_int_equal(rna_health_init(&f->health, &f->settings), 0);
	(void)snprintf(f->health.boot, sizeof(f->health.boot), "%s", boot);
	f->health.tell = take_down;
	f->health.userdata = f;
}

static inline struct fixture *fixture_new(enum rna_link_layer layer, size_t ports)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(rna_settings_init(&f->settings), 0);
	begin(f, "boot-1");
	node_init(&f->node, layer, ports);
	told[0] = '\0';
	return f;
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;

	rna_strbuf_deinit(&f->file);
	rna_health_deinit(&f->health);
	rna_settings_deinit(&f->settings);
	free(f);
	return 0;
}

static inline void halt(struct fixture *f)
{
	rna_strbuf_deinit(&f->file);
	rna_health_write(&f->health, &f->file);
	assert_true(rna_strbuf_ok(&f->file));
	rna_health_deinit(&f->health);
}

static inline void start(struct fixture *f, const char *boot)
{
	struct rna_error error = {0};

	begin(f, boot);
	if (rna_health_read(&f->health, f->file.data, f->file.len, &error) < 0)
		fail_msg("%s", error.text);
}

static inline void restart(struct fixture *f)
{
	halt(f);
	start(f, "boot-1");
}

/* The machine's clocks go on without the agent, and the monotonic one begins anew. */
static inline void reboot(struct fixture *f, rna_usec pause)
{
	halt(f);
	f->node.now.realtime += pause;
	f->node.now.monotonic = 20 * SECOND;
	start(f, "boot-2");
}

/* Time goes on, and the node is looked at. The caller unrefs the view. */
static inline struct rna_view *look_after(struct fixture *f, rna_usec span)
{
	struct rna_view *view;

	f->node.now.monotonic += span;
	f->node.now.realtime += span;
	view = node_view(&f->node);
	rna_health_judge(&f->health, joined_for(view, f->settings.health_virtual_functions));
	assert_false(view->findings_short);
	return view;
}

/* How many findings there are then. */
static inline size_t count_after(struct fixture *f, rna_usec span)
{
	struct rna_view *view = look_after(f, span);
	size_t count = view->finding_count;

	(void)rna_view_unref(view);
	return count;
}

/* Of which conditions it is known then what is wrong. */
static inline unsigned settled_after(struct fixture *f, rna_usec span)
{
	struct rna_view *view = look_after(f, span);
	unsigned settled = rna_health_settled(&f->health, view);

	(void)rna_view_unref(view);
	return settled;
}

static inline void set_port(struct fixture *f, uint64_t state)
{
	f->node.ports[0].state = rna_value_ok(state);
	f->node.ports[0].expectation =
		(struct rna_expectation){RNA_EXPECTED_UP, RNA_EXPECTATION_REMEMBERED};
}

/* The list ends with NULL, or is NULL while it is empty. */
static inline void add_setting(char ***list, const char *entry)
{
	size_t count = 0;

	while (*list && (*list)[count])
		count++;
	*list = realloc(*list, (count + 2) * sizeof(**list));
	assert_non_null(*list);
	(*list)[count] = strdup(entry);
	(*list)[count + 1] = NULL;
}
