// SPDX-License-Identifier: Apache-2.0
/* agent/probe, probe_ports: probes take the queues of jobs, and ports have leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "probe/probe_ports.h"

#include "health_fixture.h"

enum { PFC_OF_3 = 0x08 };

static int set_up(void **state)
{
	struct fixture *f = fixture_new(ROCE, 2);

	f->health.once = true;
	*state = f;
	return 0;
}

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
	assert_non_null(*text);
}

static void want(struct fixture *f, uint8_t traffic_class, uint8_t level)
{
	struct rna_view *view = look_after(f, SECOND);
	struct rna_probe_class class = rna_probe_class_of_jobs(view, &f->settings);

	assert_int_equal(class.traffic_class, traffic_class);
	assert_int_equal(class.service_level, level);
	assert_int_equal(class.dscp, traffic_class >> 2);
	(void)rna_view_unref(view);
}

static void test_without_anything(void **state)
{
	want(*state, 0, 0);
}

/* Priority 3 is lossless, and DSCP 26 alone leads to it. */
static void prefer_dscp_26(struct fixture *f)
{
	static struct rna_dcb dcb;

	dcb = (struct rna_dcb){.pfc = rna_value_ok(PFC_OF_3), .trust = RNA_TRUST_DSCP};
	memset(dcb.dscp_priority, RNA_PRIORITY_NONE, sizeof(dcb.dscp_priority));
	dcb.dscp_priority[26] = 3;
	dcb.dscp_count = 1;
	for (size_t i = 0; i < f->node.count; i++) {
		f->node.ports[i].has_qos = true;
		f->node.ports[i].qos = (struct rna_qos_port){.number = 1,
							     .netdev = "eth0",
							     .dcb = &dcb,
							     .trust = RNA_TRUST_DSCP};
	}
}

static void test_of_the_lossless_priority(void **state)
{
	prefer_dscp_26(*state);
	want(*state, 26 << 2, 0);
}

static void test_of_the_file(void **state)
{
	struct fixture *f = *state;
	const char **values = f->node.readiness.nccl_file.values;

	prefer_dscp_26(f);
	f->node.readiness.nccl_file.exists = true;
	values[RNA_NCCL_FILE_IB_TC] = "106";
	values[RNA_NCCL_FILE_IB_SL] = "3";
	want(f, 106, 3);
	values[RNA_NCCL_FILE_IB_TC] = "256"; /* not one that a packet can have */
	values[RNA_NCCL_FILE_IB_SL] = "16";
	want(f, 26 << 2, 0);
}

static void test_of_the_settings(void **state)
{
	struct fixture *f = *state;

	prefer_dscp_26(f);
	set_text(&f->settings.probe_traffic_class, "0");
	set_text(&f->settings.probe_service_level, "5");
	want(f, 0, 5);
}

static void test_of_the_driver(void **state)
{
	struct fixture *f = *state;
	const struct rna_probe_class jobs = {.traffic_class = 104, .service_level = 1, .dscp = 26};
	struct rna_probe_class class;

	class = rna_probe_class_of_port(jobs, (struct rna_value){0}, &f->settings);
	assert_memory_equal(&class, &jobs, sizeof(jobs));
	class = rna_probe_class_of_port(jobs, rna_value_ok(160), &f->settings);
	assert_int_equal(class.traffic_class, 160);
	assert_int_equal(class.dscp, 40);
	assert_int_equal(class.service_level, 1);
	set_text(&f->settings.probe_traffic_class, "104");
	class = rna_probe_class_of_port(jobs, rna_value_ok(104), &f->settings);
	assert_int_equal(class.dscp, 26);
	/* It may be that the driver writes its own into probes, too. */
	class = rna_probe_class_of_port(jobs, rna_value_ok(160), &f->settings);
	assert_int_equal(class.traffic_class, 104);
	assert_int_equal(class.dscp, 255);
}

static void want_leaves(struct fixture *f, const struct rna_node_status *node, const char *first,
			const char *second)
{
	struct rna_view *view = look_after(f, SECOND);
	struct rna_probe_plan plans[2];

	view->node = node;
	assert_int_equal(rna_probe_plans(view, &f->settings, (struct rna_probe_class){0}, plans, 2),
			 2);
	assert_string_equal(plans[0].leaf, first);
	assert_string_equal(plans[1].leaf, second);
	(void)rna_view_unref(view);
}

/* The label of the Node is that of all ports for which nothing else names a leaf. */
static void test_leaves(void **state)
{
	static char entry[] = "mlx5_1=leaf-b";
	char *entries[] = {entry, NULL};
	const struct rna_node_status labelled = {.leaf = "lldp-0011"}, other = {0};
	struct fixture *f = *state;

	want_leaves(f, NULL, "", "");
	want_leaves(f, &other, "", "");
	want_leaves(f, &labelled, "lldp-0011", "lldp-0011");
	f->settings.probe_leaf = entries;
	want_leaves(f, &labelled, "lldp-0011", "leaf-b");
	f->settings.probe_leaf = NULL;
}

static void test_values_of_settings(void **state)
{
	(void)state;
	assert_true(rna_probe_traffic_class_is_valid("auto"));
	assert_true(rna_probe_traffic_class_is_valid("255"));
	assert_false(rna_probe_traffic_class_is_valid("256"));
	assert_false(rna_probe_traffic_class_is_valid(""));
	assert_false(rna_probe_traffic_class_is_valid("-1"));
	assert_true(rna_probe_service_level_is_valid("15"));
	assert_false(rna_probe_service_level_is_valid("16"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_without_anything),   TEST(test_of_the_lossless_priority),
		TEST(test_of_the_file),        TEST(test_of_the_settings),
		TEST(test_of_the_driver),      TEST(test_leaves),
		TEST(test_values_of_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
