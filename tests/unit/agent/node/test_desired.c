// SPDX-License-Identifier: Apache-2.0
/*
 * agent/node/desired.c, node_conditions.c, node_events.c: from views to what the Node shall say;
 * and exporter/kubernetes/desired_node.c and nfd.c: when that is something else, and as a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "rna/check.h"

#include "memory/memory.h"
#include "node/desired.h"
#include "node/node_conditions.h"
#include "node/node_options.h"

#include "health_view.h"

#define ROCE   RNA_LINK_LAYER_ETHERNET
#define SECOND RNA_USEC_PER_SEC

struct fixture {
	struct rna_settings settings;
	struct rna_memory memory;
	struct node node;
	bool settled, booting;
	rna_usec started; /* the agent */
	size_t finding_count;
	size_t missing_count;
	struct rna_missing_device missing[1];
	struct rna_finding findings[8];
	struct rna_node_events events;
	struct rna_desired_input in; /* of the last look */
	struct rna_view *view;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(rna_settings_init(&f->settings), 0);
	node_init(&f->node, ROCE, 2);
	for (size_t i = 0; i < f->node.count; i++)
		f->node.ports[i].expectation =
			(struct rna_expectation){RNA_EXPECTED_UP, RNA_EXPECTATION_REMEMBERED};
	f->settled = true;
	f->in.settings = &f->settings;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	(void)rna_view_unref(f->view);
	rna_node_events_clear(&f->events);
	rna_memory_deinit(&f->memory);
	rna_settings_deinit(&f->settings);
	free(f);
	return 0;
}

static void find(struct fixture *f, const char *rule, const char *device,
		 enum rna_severity severity)
{
	size_t id = rna_rule_find(rule);

	f->findings[f->finding_count++] = (struct rna_finding){
		.rule = rule,
		.severity = severity,
		.impact = id < RNA_RULE_COUNT ? rna_rules[id]->impact : RNA_IMPACT_ERRORS,
		.cause = id < RNA_RULE_COUNT ? rna_rules[id]->cause : RNA_CAUSE_CARD,
		.device = device,
		.port = device ? 1 : 0,
		.text = "it is so",
	};
}

static void set_ports(struct fixture *f, struct rna_value port_state)
{
	for (size_t i = 0; i < f->node.count; i++)
		f->node.ports[i].state = port_state;
}

static void lose_ports(struct fixture *f)
{
	set_ports(f, rna_value_ok(RNA_PORT_DOWN));
	f->finding_count = 0;
	find(f, "port-down", "mlx5_0", RNA_SEVERITY_CRITICAL);
	find(f, "port-down", "mlx5_1", RNA_SEVERITY_CRITICAL);
}

static void get_ports_back(struct fixture *f)
{
	set_ports(f, rna_value_ok(RNA_PORT_ACTIVE));
	f->finding_count = 0;
}

/* Time goes on by a second at a time, and the node is looked at each time. */
static void look_for(struct fixture *f, unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++) {
		struct rna_view *view;

		f->in = (struct rna_desired_input){.settings = &f->settings,
						   .booting = f->booting,
						   .settled =
							   f->settled ? RNA_CONDITION_ALL_BITS : 0};
		f->node.now.monotonic += SECOND;
		f->node.now.realtime += SECOND;
		(void)rna_view_unref(f->view);
		f->in.view = f->view = view = node_view(&f->node);
		own_snapshot(view)->parts[RNA_COLLECTOR_TOPOLOGY] =
			rna_part_new(RNA_COLLECTOR_TOPOLOGY, sizeof(struct rna_topology),
				     0); /* no NIC */
		assert_non_null(view->snapshot->parts[RNA_COLLECTOR_TOPOLOGY]);
		view->findings = f->findings;
		view->finding_count = f->finding_count;
		view->missing = f->missing;
		view->missing_count = f->missing_count;
		view->agent.started.monotonic = f->started;
		assert_true(rna_desired_follow(&f->memory.node, &f->in) >= 0);
		/* else the loop would look again and again */
		assert_true(rna_desired_due(&f->memory.node, &f->settings) > f->node.now.monotonic);
	}
}

static struct rna_desired_node *desired_of(struct fixture *f)
{
	struct rna_desired_node *desired = rna_desired_new(&f->memory.node, &f->in, &f->events);

	assert_non_null(desired);
	return desired;
}

static const char *label_of(const struct rna_desired_node *desired, const char *key)
{
	for (size_t i = 0; i < desired->label_count; i++)
		if (strcmp(desired->labels[i].key, key) == 0)
			return desired->labels[i].value;
	return NULL;
}

static const struct rna_node_condition *condition_of(const struct rna_desired_node *desired,
						     const char *type)
{
	for (size_t i = 0; i < desired->condition_count; i++)
		if (strcmp(desired->conditions[i].type, type) == 0)
			return &desired->conditions[i];
	return NULL;
}

static void assert_undecided(const struct rna_desired_node *desired, const char *key)
{
	for (size_t i = 0; i < desired->label_count; i++)
		if (strcmp(desired->labels[i].key, key) == 0) {
			assert_null(desired->labels[i].value);
			return;
		}
	fail_msg("%s is not desired for at all", key);
}

static void test_a_day(void **state)
{
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	look_for(f, 10);
	desired = desired_of(f);
	assert_false(desired->labels_decided); /* nothing is published before it is stable */
	(void)rna_desired_node_unref(desired);

	look_for(f, 21);
	desired = desired_of(f);
	assert_true(
		desired->labels_decided); /* what is good news; that there is none takes longer */
	assert_string_equal(label_of(desired, "network.nvidia.com/roce"), "true");
	assert_undecided(desired, "rdma-node-agent/nic-firmware");
	(void)rna_desired_node_unref(desired);

	look_for(f, 60);
	desired = desired_of(f);
	assert_true(desired->labels_decided && desired->conditions_decided &&
		    desired->taint_decided);
	assert_string_equal(label_of(desired, "network.nvidia.com/roce"), "true");
	assert_string_equal(label_of(desired, "rdma-node-agent/ports-up"), "2");
	assert_string_equal(label_of(desired, "rdma-node-agent/health"), "ok");
	for (size_t i = 1; i < desired->label_count; i++)
		assert_true(strcmp(desired->labels[i - 1].key, desired->labels[i].key) < 0);
	for (size_t i = 1; i < desired->condition_count; i++)
		assert_true(strcmp(desired->conditions[i - 1].type, desired->conditions[i].type) <
			    0);
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status, RNA_CONDITION_STATUS_FALSE);
	assert_string_equal(condition_of(desired, "RdmaPortDown")->reason, "PortsUp");
	(void)rna_desired_node_unref(desired);

	lose_ports(f);
	look_for(f, 1);
	desired = desired_of(f);
	assert_string_equal(label_of(desired, "network.nvidia.com/roce"), "true"); /* not yet */
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status, RNA_CONDITION_STATUS_TRUE);
	assert_string_equal(condition_of(desired, "RdmaPortDown")->reason, "PortDown");
	assert_string_equal(condition_of(desired, "RdmaPortDown")->message,
			    "port-down: mlx5_0/1, mlx5_1/1");
	assert_true(condition_of(desired, "RdmaPortDown")->since.realtime == f->node.now.realtime);
	(void)rna_desired_node_unref(desired);

	look_for(f, 60);
	desired = desired_of(f);
	assert_null(label_of(desired, "network.nvidia.com/roce"));
	assert_string_equal(label_of(desired, "rdma-node-agent/ports-up"), "0");
	assert_string_equal(label_of(desired, "rdma-node-agent/ports-expected"), "2");
	assert_string_equal(label_of(desired, "rdma-node-agent/health"), "critical");
	(void)rna_desired_node_unref(desired);
}

/* All data lost: values stay for a long time, then labels and conditions are unknown. */
static void test_data_lost(void **state)
{
	struct fixture *f = *state;
	struct rna_desired_node *desired, *later;

	look_for(f, 100);
	desired = desired_of(f);
	set_ports(f, (struct rna_value){0});
	look_for(f, 300);
	later = desired_of(f);
	assert_true(rna_desired_node_is_same(desired, later));
	(void)rna_desired_node_unref(later);
	look_for(f, 400);
	later = desired_of(f);
	assert_null(label_of(later, "network.nvidia.com/roce"));
	assert_string_equal(label_of(later, "rdma-node-agent/ports-up"), "unknown");
	assert_int_equal(condition_of(later, "RdmaPortDown")->status, RNA_CONDITION_STATUS_UNKNOWN);
	assert_int_equal(condition_of(later, "RdmaNotObserved")->status,
			 RNA_CONDITION_STATUS_FALSE);
	assert_false(rna_desired_node_is_same(desired, later));
	(void)rna_desired_node_unref(desired);
	(void)rna_desired_node_unref(later);
}

static void set_text(char **place, const char *text)
{
	free(*place);
	*place = strdup(text);
	assert_non_null(*place);
}

/* Who else may set the label of RoCE. */
static void test_the_label_of_roce(void **state)
{
	struct fixture *f = *state;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	struct rna_desired_node *desired;

	look_for(f, 100);
	f->settings.kubernetes_roce_label = RNA_ROCE_LABEL_OFF;
	desired = desired_of(f);
	assert_null(label_of(desired, "network.nvidia.com/roce"));
	assert_non_null(label_of(desired, "rdma-node-agent/ports-up"));
	(void)rna_desired_node_unref(desired);
	for (int policy = 0; policy <= RNA_ROCE_LABEL_OFF; policy++) {
		const struct rna_kubernetes_options *options;

		f->settings.kubernetes_roce_label = policy;
		options = rna_node_options(&f->settings, &f->memory.node, arena);
		assert_non_null(options);
		assert_int_equal(options->shared_label != NULL,
				 policy == RNA_ROCE_LABEL_ONLY_IF_UNSET);
		assert_int_equal(strcmp(options->label_keys[0], "network.nvidia.com/roce") == 0,
				 policy == RNA_ROCE_LABEL_OWN);
	}
}

/* What a process remembers that is started now. */
static void restart(struct fixture *f)
{
	for (size_t i = 0; i < f->memory.node.count; i++) {
		struct rna_published *told = &f->memory.node.items[i];

		told->confirmed = told->waits = false;
		told->blind = 0;
	}
}

/* What a young agent has not found yet may still be there. */
static void test_no_condition_is_over_before_rules_have_settled(void **state)
{
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	f->settled = false;
	find(f, "port-down", "mlx5_0", RNA_SEVERITY_CRITICAL);
	look_for(f, 100);
	desired = desired_of(f);
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status, RNA_CONDITION_STATUS_TRUE);
	assert_null(condition_of(desired, "RdmaDeviceMissing")->message);
	assert_true(desired->conditions_decided); /* one is decided, and published */
	(void)rna_desired_node_unref(desired);
	f->finding_count = 0;
	look_for(f, 100);
	desired = desired_of(f);
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status, RNA_CONDITION_STATUS_TRUE);
	(void)rna_desired_node_unref(desired);
}

/* Nor is a node healthy again because its agent was started. */
static void test_health_after_a_restart(void **state)
{
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	find(f, "errors-rising", "mlx5_0", RNA_SEVERITY_WARNING);
	look_for(f, 100);
	f->finding_count = 0;
	f->settled = false;
	look_for(f, 60);
	desired = desired_of(f);
	assert_string_equal(label_of(desired, "rdma-node-agent/health"), "warning");
	(void)rna_desired_node_unref(desired);
	f->settled = true;
	look_for(f, 60);
	desired = desired_of(f);
	assert_string_equal(label_of(desired, "rdma-node-agent/health"), "ok");
	(void)rna_desired_node_unref(desired);
}

/* Until the rules have run, it may be so still. */
static void test_a_node_that_was_down_before_a_restart(void **state)
{
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	set_text(&f->settings.kubernetes_taint, "rdma-node-agent/down");
	lose_ports(f);
	look_for(f, 100);
	desired = desired_of(f);
	assert_string_equal(label_of(desired, "rdma-node-agent/health"), "critical");
	assert_true(desired->taint);
	(void)rna_desired_node_unref(desired);
	f->settled = false;
	get_ports_back(f);
	look_for(f, 60);
	desired = desired_of(f);
	assert_string_equal(label_of(desired, "rdma-node-agent/health"), "critical");
	assert_true(desired->taint);
	(void)rna_desired_node_unref(desired);
	f->settled = true;
	look_for(f, 60);
	desired = desired_of(f);
	assert_string_equal(label_of(desired, "rdma-node-agent/health"), "ok");
	assert_true(desired->taint_decided);
	assert_false(desired->taint);
	(void)rna_desired_node_unref(desired);
}

/* A Node that was created anew does not get the taint of the former one. */
static void test_a_taint_of_the_past(void **state)
{
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	set_text(&f->settings.kubernetes_taint, "rdma-node-agent/down");
	lose_ports(f);
	look_for(f, 100);
	restart(f);
	look_for(f, 1);
	desired = desired_of(f);
	assert_true(desired->taint_decided && desired->taint); /* it still holds */
	(void)rna_desired_node_unref(desired);
	restart(f);
	get_ports_back(f);
	look_for(f, 1);
	desired = desired_of(f);
	assert_false(desired->taint_decided); /* it is left as it is */
	(void)rna_desired_node_unref(desired);
	look_for(f, 60);
	desired = desired_of(f);
	assert_true(desired->taint_decided);
	assert_false(desired->taint);
	(void)rna_desired_node_unref(desired);
}

/* However long it takes, "too early" is not "unknown". */
static void test_a_restart_is_no_blindness(void **state)
{
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	find(f, "errors-rising", "mlx5_0", RNA_SEVERITY_WARNING);
	look_for(f, 100);
	f->finding_count = 0;
	f->settled = false;
	look_for(f, 2000);
	desired = desired_of(f);
	assert_string_equal(label_of(desired, "rdma-node-agent/health"), "warning");
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status, RNA_CONDITION_STATUS_FALSE);
	(void)rna_desired_node_unref(desired);
}

/* A problem that is met and held down just after a port could not be read. */
static void test_a_condition_that_is_open_again(void **state)
{
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	look_for(f, 100);
	set_ports(f, (struct rna_value){0});
	look_for(f, 500);
	f->settled = false;
	look_for(f, 1000);
	f->settled = true;
	look_for(f, 500);
	desired = desired_of(f);
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status, RNA_CONDITION_STATUS_FALSE);
	(void)rna_desired_node_unref(desired);
	look_for(f, 200);
	desired = desired_of(f);
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status,
			 RNA_CONDITION_STATUS_UNKNOWN);
	(void)rna_desired_node_unref(desired);
}

static void test_severities_and_silence(void **state)
{
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	find(f, "port-down", "mlx5_0", RNA_SEVERITY_INFO);
	find(f, "port-init", "mlx5_1", RNA_SEVERITY_CRITICAL);
	f->findings[1].silenced = true;
	find(f, "errors-rising", "mlx5_0", RNA_SEVERITY_WARNING);
	find(f, "device-missing", NULL, RNA_SEVERITY_CRITICAL);
	look_for(f, 100);
	desired = desired_of(f);
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status, RNA_CONDITION_STATUS_FALSE);
	assert_string_equal(condition_of(desired, "RdmaLinkDegraded")->message,
			    "errors-rising: mlx5_0/1");
	assert_string_equal(condition_of(desired, "RdmaDeviceMissing")->message, "device-missing");
	(void)rna_desired_node_unref(desired);
}

static void test_conditions_can_be_left_out(void **state)
{
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	find(f, "port-down", "mlx5_0", RNA_SEVERITY_CRITICAL);
	look_for(f, 1);
	f->finding_count = 0;
	look_for(f, 1); /* there is good news, when a reload leaves them out */
	f->settings.kubernetes_conditions = false;
	look_for(f, 100);
	desired = desired_of(f);
	assert_int_equal(desired->condition_count, 0);
	assert_true(desired->conditions_decided); /* so that those of an agent before go */
	(void)rna_desired_node_unref(desired);
}

/* Off by default; with hysteresis; and what is not known neither sets nor removes it. */
static void test_taint(void **state)
{
	static const struct {
		int when;
		const char *rule;
		enum rna_severity severity;
		bool tainted;
	} cases[] = {
		{RNA_TAINT_WHEN_CRITICAL, "port-down", RNA_SEVERITY_INFO, false},
		{RNA_TAINT_WHEN_CRITICAL, "port-down", RNA_SEVERITY_CRITICAL, true},
		{RNA_TAINT_WHEN_CRITICAL, "firmware-failing", RNA_SEVERITY_CRITICAL, true},
		{RNA_TAINT_WHEN_CRITICAL, "port-init", RNA_SEVERITY_CRITICAL, false},
		{RNA_TAINT_WHEN_CRITICAL, "errors-rising", RNA_SEVERITY_WARNING, false},
		{RNA_TAINT_WHEN_WARNING, "errors-rising", RNA_SEVERITY_WARNING, true},
		{RNA_TAINT_WHEN_WARNING, "subnet-manager-unhealthy", RNA_SEVERITY_WARNING, false},
		{RNA_TAINT_WHEN_WARNING, "reads-failing", RNA_SEVERITY_WARNING, false},
		{RNA_TAINT_WHEN_NODE_LOST, "port-down", RNA_SEVERITY_CRITICAL, false},
		{RNA_TAINT_WHEN_NODE_LOST, "rdma-absent", RNA_SEVERITY_CRITICAL, true},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_desired_node *desired;

		rna_memory_deinit(&f->memory);
		set_text(&f->settings.kubernetes_taint, "");
		f->settings.kubernetes_taint_when = cases[i].when;
		f->finding_count = 0;
		get_ports_back(f);
		find(f, cases[i].rule, "mlx5_0", cases[i].severity);
		look_for(f, 100);
		desired = desired_of(f);
		assert_true(desired->taint_decided);
		assert_false(desired->taint);
		(void)rna_desired_node_unref(desired);
		set_text(&f->settings.kubernetes_taint, "rdma-node-agent/down");
		look_for(f, 100);
		desired = desired_of(f);
		assert_true(desired->taint_decided);
		assert_int_equal(desired->taint, cases[i].tainted);
		(void)rna_desired_node_unref(desired);
		set_ports(f, rna_value_unreadable());
		f->finding_count = 0;
		look_for(f, 2000);
		desired = desired_of(f);
		assert_int_equal(desired->taint, cases[i].tainted);
		(void)rna_desired_node_unref(desired);
	}
}

static size_t count_true(const struct rna_desired_node *desired)
{
	size_t count = 0;

	for (size_t i = 0; i < desired->condition_count; i++)
		count += desired->conditions[i].status == RNA_CONDITION_STATUS_TRUE;
	return count;
}

/* What one finding of a rule does to everything that follows from it. */
static void assert_consequences(struct fixture *f, size_t rule, enum rna_severity severity)
{
	static const struct rna_inventory seen = {.known = true, .ports = 2, .up = 2};
	const struct rna_rule *row = rna_rules[rule];
	bool elsewhere = row->cause == RNA_CAUSE_FABRIC || row->cause == RNA_CAUSE_JOB ||
			 row->impact == RNA_IMPACT_FABRIC || row->impact == RNA_IMPACT_AGENT;
	bool taints = severity == RNA_SEVERITY_CRITICAL && !elsewhere;
	size_t conditions = row->second_condition == RNA_CONDITION_NONE ? 1 : 2;
	struct rna_check check = {.findings = f->findings, .count = 1, .inventory = seen};
	struct rna_desired_node *desired;
	const struct rna_node_condition *condition;

	rna_memory_deinit(&f->memory);
	f->finding_count = 0;
	find(f, row->name, "mlx5_0", severity);
	look_for(f, 100);
	desired = desired_of(f);
	assert_string_equal(label_of(desired, "rdma-node-agent/health"),
			    severity == RNA_SEVERITY_INFO ? "ok" : rna_severity_name(severity));
	assert_int_equal(count_true(desired), severity > RNA_SEVERITY_INFO ? conditions : 0);
	condition = condition_of(desired, rna_condition_rows[row->condition].type);
	assert_non_null(condition);
	if (severity > RNA_SEVERITY_INFO)
		assert_non_null(strstr(condition->message, row->name));
	assert_int_equal(desired->taint, taints);
	assert_int_equal(desired->device_taint_count, taints);
	(void)rna_desired_node_unref(desired);
	assert_int_equal(rna_check_exit_code(&check, RNA_CHECK_NAGIOS), severity);
	assert_int_equal(rna_check_exit_code(&check, RNA_CHECK_JSON), severity);
	for (enum rna_check_form form = RNA_CHECK_SLURM; form <= RNA_CHECK_NPD; form++)
		assert_int_equal(rna_check_exit_code(&check, form), taints);
}

/* No rule has a consequence of its own: severity, impact and cause decide, as documents say. */
static void test_each_rule_has_the_same_consequences(void **state)
{
	struct fixture *f = *state;

	set_text(&f->settings.kubernetes_taint, "rdma-node-agent/unhealthy");
	f->settings.kubernetes_taint_when = RNA_TAINT_WHEN_CRITICAL;
	f->settings.kubernetes_device_taints = RNA_DEVICE_TAINTS_TAINT;
	get_ports_back(f);
	for (size_t rule = 0; rule < RNA_RULE_COUNT; rule++) {
		assert_in_range(rna_rules[rule]->condition, 1, RNA_CONDITION_COUNT - 1);
		for (enum rna_severity s = 0; s < RNA_SEVERITY_COUNT; s++)
			assert_consequences(f, rule, s);
	}
}

static size_t count_device_taints(struct fixture *f, bool complete, const char *reason)
{
	struct rna_desired_node *desired = desired_of(f);
	size_t count = desired->device_taint_count;

	assert_int_equal(desired->device_taints_complete, complete);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(desired->device_taints[i].device, "mlx5_0");
		assert_string_equal(desired->device_taints[i].reason, reason);
	}
	(void)rna_desired_node_unref(desired);
	return count;
}

/* A device has a taint from the first finding on, and for kubernetes.up_delay behind the last. */
static void test_device_taints(void **state)
{
	static const struct {
		int when;
		const char *rule;
		size_t count;
	} cases[] = {
		{RNA_TAINT_WHEN_CRITICAL, "port-down", 0},
		{RNA_TAINT_WHEN_NODE_LOST, "device-missing", 0},
		{RNA_TAINT_WHEN_WARNING, "port-down", 1},
		{RNA_TAINT_WHEN_WARNING, "errors-rising", 1},
		{RNA_TAINT_WHEN_WARNING, "cable-moved", 0},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		const char *rule = cases[i].rule;

		rna_memory_deinit(&f->memory);
		f->settings.kubernetes_device_taints = RNA_DEVICE_TAINTS_TAINT;
		f->settings.kubernetes_taint_when = cases[i].when;
		f->finding_count = 0;
		find(f, rule, "mlx5_0", RNA_SEVERITY_WARNING);
		find(f, rule, "mlx5_1", RNA_SEVERITY_INFO);
		find(f, rule, NULL, RNA_SEVERITY_CRITICAL);
		look_for(f, 1);
		assert_int_equal(count_device_taints(f, true, rule), cases[i].count);
		f->finding_count = 0;
		look_for(f, 30);
		assert_int_equal(count_device_taints(f, true, rule), cases[i].count);
		look_for(f, 2);
		assert_int_equal(count_device_taints(f, true, rule), 0);
	}
}

/* After a restart, nothing is over before rules had the time to find it again. */
static void test_device_taints_after_a_restart(void **state)
{
	struct fixture *f = *state;

	f->settings.kubernetes_device_taints = RNA_DEVICE_TAINTS_TAINT;
	find(f, "port-down", "mlx5_0", RNA_SEVERITY_CRITICAL);
	look_for(f, 1);
	for (size_t i = 0; i < f->memory.node.count; i++)
		f->memory.node.items[i].confirmed = false;
	f->settled = false;
	f->finding_count = 0;
	look_for(f, 100);
	assert_int_equal(count_device_taints(f, false, "port-down"), 0);
	find(f, "port-down", "mlx5_0", RNA_SEVERITY_CRITICAL);
	look_for(f, 1);
	assert_int_equal(count_device_taints(f, false, "port-down"), 1);
	f->finding_count = 0;
	look_for(f, 100);
	assert_int_equal(count_device_taints(f, false, "port-down"), 1);
	f->settled = true;
	look_for(f, 32);
	assert_int_equal(count_device_taints(f, true, "port-down"), 0);
	f->settings.kubernetes_device_taints = RNA_DEVICE_TAINTS_OFF;
	look_for(f, 1);
	assert_int_equal(count_device_taints(f, false, "port-down"), 0);
}

/*
 * A new agent finds at once what is wrong when it starts, without the hold-downs of rules: it may
 * be over before anything is published.
 */
static void test_what_is_wrong_at_the_start_may_pass(void **state)
{
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	f->settings.kubernetes_device_taints = RNA_DEVICE_TAINTS_TAINT;
	look_for(f, 100);
	restart(f);
	f->started = f->node.now.monotonic;
	find(f, "port-down", "mlx5_0", RNA_SEVERITY_CRITICAL);
	look_for(f, 10);
	desired = desired_of(f);
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status, RNA_CONDITION_STATUS_FALSE);
	assert_int_equal(desired->device_taint_count, 0);
	(void)rna_desired_node_unref(desired);
	f->finding_count = 0;
	look_for(f, 5);
	find(f, "port-down", "mlx5_0", RNA_SEVERITY_CRITICAL); /* for good */
	look_for(f, 40);
	desired = desired_of(f);
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status, RNA_CONDITION_STATUS_FALSE);
	assert_int_equal(desired->device_taint_count, 0);
	(void)rna_desired_node_unref(desired);
	look_for(f, 10);
	desired = desired_of(f);
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status, RNA_CONDITION_STATUS_TRUE);
	assert_int_equal(desired->device_taint_count, 1);
	(void)rna_desired_node_unref(desired);
}

static void assert_node(struct fixture *f, const char *health, bool taint)
{
	struct rna_desired_node *desired = desired_of(f);

	if (health)
		assert_string_equal(label_of(desired, "rdma-node-agent/health"), health);
	else
		assert_undecided(desired, "rdma-node-agent/health");
	assert_int_equal(desired->taint, taint);
	(void)rna_desired_node_unref(desired);
}

/* Where nothing was published yet, a problem takes as long as it does later. */
static void test_a_first_problem_is_bad_news(void **state)
{
	struct fixture *f = *state;

	set_text(&f->settings.kubernetes_taint, "rdma-node-agent/down");
	f->settings.kubernetes_up_delay = 5 * SECOND;
	lose_ports(f);
	look_for(f, 10);
	assert_node(f, NULL, false);
	get_ports_back(f);
	look_for(f, 6);
	assert_node(f, "ok", false);
	restart(f);
	rna_memory_deinit(&f->memory);
	lose_ports(f);
	look_for(f, (unsigned)(f->settings.kubernetes_down_delay / SECOND));
	assert_node(f, NULL, false);
	look_for(f, 1);
	assert_node(f, "critical", true);
	restart(f);
	rna_memory_deinit(&f->memory);
	get_ports_back(f);
	look_for(f, 10); /* that there is no taint was not published yet either */
	lose_ports(f);
	look_for(f, (unsigned)(f->settings.kubernetes_down_delay / SECOND));
	assert_node(f, "ok", false);
	look_for(f, 1);
	assert_node(f, "critical", true);
}

/* Links are still coming up, of a node of which nothing was published yet as well. */
static void test_no_first_problem_while_the_machine_boots(void **state)
{
	struct fixture *f = *state;

	set_text(&f->settings.kubernetes_taint, "rdma-node-agent/down");
	f->booting = true;
	lose_ports(f);
	look_for(f, 180);
	assert_node(f, NULL, false);
	f->booting = false;
	look_for(f, (unsigned)(f->settings.kubernetes_down_delay / SECOND) + 1);
	assert_node(f, "critical", true);
}

/* What is found while the machine boots, or just behind that, may pass. */
static void test_no_condition_while_the_machine_boots(void **state)
{
	struct fixture *f = *state;
	const rna_usec grace = f->settings.health_boot_grace;
	const unsigned down = (unsigned)(f->settings.kubernetes_down_delay / SECOND);
	struct rna_desired_node *desired;

	f->settings.kubernetes_device_taints = RNA_DEVICE_TAINTS_TAINT;
	f->node.now.monotonic = f->started = 40 * SECOND;
	f->booting = true;
	f->settled = false;
	find(f, "port-down", "mlx5_0", RNA_SEVERITY_CRITICAL);
	look_for(f, (unsigned)(grace / SECOND) - 41);
	desired = desired_of(f);
	assert_null(condition_of(desired, "RdmaPortDown")->message);
	assert_int_equal(desired->device_taint_count, 0);
	(void)rna_desired_node_unref(desired);
	f->booting = false;
	f->settled = true;
	look_for(f, down);
	desired = desired_of(f);
	assert_null(condition_of(desired, "RdmaPortDown")->message);
	assert_int_equal(desired->device_taint_count, 0);
	(void)rna_desired_node_unref(desired);
	look_for(f, 1);
	desired = desired_of(f);
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status, RNA_CONDITION_STATUS_TRUE);
	assert_int_equal(desired->device_taint_count, 1);
	(void)rna_desired_node_unref(desired);
}

/* Nor is it good news that what was not known is a problem. */
static void test_a_problem_behind_the_unknown(void **state)
{
	struct fixture *f = *state;

	set_text(&f->settings.kubernetes_taint, "rdma-node-agent/down");
	look_for(f, 100);
	set_ports(f, (struct rna_value){0});
	look_for(f, 700);
	assert_node(f, "unknown", false);
	restart(f);
	f->booting = true;
	lose_ports(f);
	look_for(f, 180);
	assert_node(f, "unknown", false);
	f->booting = false;
	look_for(f, (unsigned)(f->settings.kubernetes_down_delay / SECOND));
	assert_node(f, "unknown", false);
	look_for(f, 1);
	assert_node(f, "critical", true);
}

/* The devices of ResourceSlices are found by their addresses, also when RDMA has lost them. */
static void test_addresses_of_device_taints(void **state)
{
	static const struct {
		const char *device, *address;
	} cases[] = {
		{"mlx5_1", NULL}, /* it is there; filled in below */
		{"mlx5_7", "0000:c1:00.0"},
		{"0003:18:00.0", "0003:18:00.0"},
		{"mlx5_9", NULL},
	};
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	f->settings.kubernetes_device_taints = RNA_DEVICE_TAINTS_TAINT;
	f->missing[0] =
		(struct rna_missing_device){.name = "mlx5_7", .pci_address = "0000:c1:00.0"};
	f->missing_count = 1;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++)
		find(f, "device-missing", cases[i].device, RNA_SEVERITY_CRITICAL);
	look_for(f, 1);
	desired = desired_of(f);
	assert_int_equal(desired->device_taint_count, RNA_ARRAY_SIZE(cases));
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		const struct rna_node_device_taint *taint = desired->device_taints;
		const char *address = cases[i].address;

		while (strcmp(taint->device, cases[i].device) != 0)
			taint++;
		if (i == 0)
			address = f->view->snapshot->devices[1].device->pci_address;
		assert_true(rna_same_text(taint->pci_address, address));
	}
	(void)rna_desired_node_unref(desired);
}

/* Off means taken from the Node: on again begins with what is true now. */
static void test_taint_and_conditions_that_were_off(void **state)
{
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	set_text(&f->settings.kubernetes_taint, "rdma-node-agent/down");
	lose_ports(f);
	find(f, "port-down", "mlx5_0", RNA_SEVERITY_CRITICAL);
	look_for(f, 100);
	desired = desired_of(f);
	assert_true(desired->taint);
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status, RNA_CONDITION_STATUS_TRUE);
	(void)rna_desired_node_unref(desired);
	set_text(&f->settings.kubernetes_taint, "");
	f->settings.kubernetes_conditions = false;
	look_for(f, 1);
	get_ports_back(f);
	f->finding_count = 0;
	set_text(&f->settings.kubernetes_taint, "rdma-node-agent/down");
	f->settings.kubernetes_conditions = true;
	look_for(f, 1);
	desired = desired_of(f);
	assert_false(desired->taint);
	assert_null(condition_of(desired, "RdmaPortDown")->message); /* not decided */
	(void)rna_desired_node_unref(desired);
	look_for(f, 400);
	desired = desired_of(f);
	assert_true(desired->taint_decided);
	assert_false(desired->taint);
	assert_int_equal(condition_of(desired, "RdmaPortDown")->status, RNA_CONDITION_STATUS_FALSE);
	(void)rna_desired_node_unref(desired);
}

/* Eight ports that lose their switch are one event. */
static void test_events(void **state)
{
	static const char *const devices[] = {"mlx5_0", "mlx5_1", "mlx5_2"};
	const struct rna_time now = {1000 * SECOND, 5000 * SECOND};
	const struct rna_rule *rule = &rna_rule_port_down;
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(devices); i++) {
		struct rna_finding finding = {.rule = rule->name,
					      .severity = RNA_SEVERITY_CRITICAL,
					      .device = devices[i],
					      .text = "mlx5_0/1: down",
					      .remedy = "Check the cable of mlx5_0/1."};

		rna_node_events_take(&f->events, rule, &finding, false, now);
		finding.severity = RNA_SEVERITY_INFO; /* no news for a cluster */
		rna_node_events_take(&f->events, rule, &finding, true, now);
	}
	assert_false(rna_node_events_are_due(&f->events, now.monotonic + SECOND));
	assert_true(rna_node_events_are_due(&f->events, now.monotonic + 3 * SECOND));
	f->findings[0].severity = RNA_SEVERITY_WARNING;
	f->findings[0].text = "mlx5_9/1: down";
	f->findings[0].remedy = "";
	rna_node_events_take(&f->events, rule, &f->findings[0], true, now);
	desired = desired_of(f);
	assert_int_equal(desired->event_count, 2);
	assert_true(desired->events[0].warning);
	assert_string_equal(desired->events[0].reason, "RdmaPortDown");
	assert_non_null(
		strstr(desired->events[0].message,
		       "mlx5_0/1: down; and 2 more: mlx5_1, mlx5_2. Check the cable of mlx5_0/1."));
	assert_false(desired->events[1].warning);
	assert_string_equal(desired->events[1].reason, "RdmaPortDownResolved");
	assert_string_equal(desired->events[1].message, "resolved: mlx5_9/1: down");
	(void)rna_desired_node_unref(desired);
	f->settings.kubernetes_events = false;
	desired = desired_of(f);
	assert_int_equal(desired->event_count, 0);
	(void)rna_desired_node_unref(desired);
}

static void test_events_are_bounded(void **state)
{
	const struct rna_time now = {1000 * SECOND, 5000 * SECOND};
	struct fixture *f = *state;
	struct rna_desired_node *desired;

	for (size_t i = 0; i < 1000; i++) {
		const struct rna_finding finding = {.severity = RNA_SEVERITY_WARNING,
						    .device = "a_device_with_a_long_name",
						    .text = "it is so",
						    .remedy = ""};

		rna_node_events_take(&f->events, &rna_rule_port_down, &finding, false, now);
	}
	desired = desired_of(f);
	assert_int_equal(desired->event_count, 1);
	assert_true(strlen(desired->events[0].message) < 1024);
	assert_non_null(strstr(desired->events[0].message, "and 999 more"));
	(void)rna_desired_node_unref(desired);
}

/* Each condition that a rule names has a row, and each row some rule. */
static void test_table_of_conditions(void **state)
{
	const char *types[RNA_CONDITION_COUNT];
	bool used[RNA_CONDITION_COUNT] = {0};

	(void)state;
	for (size_t i = 0; i < RNA_RULE_COUNT; i++)
		used[rna_rules[i]->condition] = true;
	rna_condition_list_types(types);
	for (enum rna_node_condition_id id = 1; id < RNA_CONDITION_COUNT; id++) {
		assert_true(used[id]);
		assert_string_equal(types[id - 1], rna_condition_rows[id].type);
		assert_true(rna_label_value_is_legal(rna_condition_rows[id].type));
	}
	assert_null(types[RNA_CONDITION_COUNT - 1]);
}

static void test_file_for_nfd(void **state)
{
	struct fixture *f = *state;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_desired_node *desired;

	look_for(f, 100);
	desired = desired_of(f);
	rna_nfd_write_features(desired, 1763716800 * SECOND, NULL, &text);
	assert_non_null(strstr(text.data, "\n# +expiry-time=2025-11-21T09:20:00Z\n"));
	assert_non_null(strstr(text.data, "\nnetwork.nvidia.com/roce=true\n"));
	assert_non_null(strstr(text.data, "\nrdma-node-agent/rate-total-gbps=800\n"));
	(void)rna_desired_node_unref(desired);
}

/* What is not decided yet stays as an agent before wrote it, and nothing else does. */
static void test_file_for_nfd_after_a_restart(void **state)
{
	static const char before[] = "# rdma-node-agent/rails=9\n"
				     "rdma-node-agent/nic-firmware=28.39.1002\n"
				     "rdma-node-agent/nic-firmware-of-others=1\n"
				     "network.nvidia.com/roce=false\n";
	struct fixture *f = *state;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_desired_node *desired;

	look_for(f, 31);
	desired = desired_of(f);
	rna_nfd_write_features(desired, 1763716800 * SECOND, before, &text);
	assert_non_null(strstr(text.data, "\nnetwork.nvidia.com/roce=true\n"));
	assert_non_null(strstr(text.data, "\nrdma-node-agent/nic-firmware=28.39.1002\n"));
	assert_null(strstr(text.data, "of-others"));
	assert_null(strstr(text.data, "rails"));
	(void)rna_desired_node_unref(desired);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_day, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_label_of_roce, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_data_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_condition_is_over_before_rules_have_settled,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_health_after_a_restart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_restart_is_no_blindness, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_severities_and_silence, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_conditions_can_be_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_node_that_was_down_before_a_restart, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_taint_of_the_past, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_each_rule_has_the_same_consequences, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_taint, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_wrong_at_the_start_may_pass, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_first_problem_is_bad_news, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_no_first_problem_while_the_machine_boots,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_condition_while_the_machine_boots, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_problem_behind_the_unknown, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_condition_that_is_open_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_device_taints, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_addresses_of_device_taints, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_device_taints_after_a_restart, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_taint_and_conditions_that_were_off, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_events, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_events_are_bounded, set_up, tear_down),
		cmocka_unit_test(test_table_of_conditions),
		cmocka_unit_test_setup_teardown(test_file_for_nfd, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_file_for_nfd_after_a_restart, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
