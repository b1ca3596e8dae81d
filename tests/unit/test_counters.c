// SPDX-License-Identifier: Apache-2.0
/* collectors/counters and collectors/state on small trees. */
#include "collectors.h"
#include "tree.h"

#include "rna/counter.h"
#include "rna/device.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const unsigned two_ports[] = {1, 2};

static const struct rna_device device = {
	.key = "0000:3b:00.0",
	.name = "mlx5_0",
	.sysfs_path = "dev",
	.port_count = 2,
	.ports = two_ports,
};

struct fixture {
	struct tree tree;
	struct rna_reader *reader;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	tree_init(&fixture->tree);
	tree_mkdir(&fixture->tree, "dev/ports/1");
	tree_mkdir(&fixture->tree, "dev/ports/2");
	fixture->reader = rna_reader_new(fixture->tree.root, 100);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	(void)rna_reader_free(fixture->reader);
	tree_deinit(&fixture->tree);
	free(fixture);
	return 0;
}

static int collect(struct fixture *fixture, enum rna_collector_id id, struct rna_part **ret)
{
	const struct rna_collect_input in = {
		.root = fixture->tree.root,
		.device = &device,
		.reader = fixture->reader,
		.period = 1, /* microsecond: pauses are over at once */
	};
	struct rna_error error;

	return rna_collectors[id].collect(&in, ret, &error);
}

static const struct rna_counters_part *counters_of(const struct rna_part *part)
{
	return (const void *)part;
}

static void test_every_file_becomes_a_value(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_counter_group *group;

	tree_write(&fixture->tree, "dev/ports/1/counters/symbol_error", "3\n");
	tree_write(&fixture->tree, "dev/ports/1/counters/zz_new_in_2027", "5\n");
	tree_write(&fixture->tree, "dev/ports/1/counters/aa_new_in_2027", "4\n");
	tree_write(&fixture->tree, "dev/ports/2/counters/symbol_error", "0\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS, &part), 0);
	assert_int_equal(counters_of(part)->group_count, 2);
	group = &counters_of(part)->groups[0];
	assert_int_equal(group->port, 1);
	assert_int_equal(group->place, RNA_PLACE_PORT_COUNTERS);
	assert_int_equal(group->count, 3);
	assert_string_equal(group->values[0].counter->file, "symbol_error");
	assert_int_equal(group->values[0].value.number, 3);
	assert_null(group->values[1].counter);
	assert_string_equal(group->values[1].file, "aa_new_in_2027");
	assert_string_equal(group->values[2].file, "zz_new_in_2027");
	assert_int_equal(counters_of(part)->groups[1].port, 2);
}

static void test_places_of_hw_counters(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_counter_group *groups;

	tree_write(&fixture->tree, "dev/ports/2/hw_counters/out_of_buffer", "9\n");
	tree_write(&fixture->tree, "dev/ports/2/hw_counters/rx_write_requests", "1\n");
	tree_write(&fixture->tree, "dev/ports/2/hw_counters/lifespan", "10\n");
	tree_write(&fixture->tree, "dev/hw_counters/lifespan", "10\n");
	tree_write(&fixture->tree, "dev/hw_counters/no_completion_cmds", "2\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_HW_COUNTERS, &part), 0);
	assert_int_equal(counters_of(part)->group_count, 2);
	groups = counters_of(part)->groups;
	assert_int_equal(groups[0].port, 2);
	assert_int_equal(groups[0].count, 2); /* lifespan is a setting */
	/* the one that refreshes the kernel's cache is read first */
	assert_string_equal(groups[0].values[0].file, "rx_write_requests");
	assert_int_equal(groups[1].port, 0);
	assert_int_equal(groups[1].place, RNA_PLACE_DEVICE_HW_COUNTERS);
}

static void test_a_driver_without_counters_is_fine(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS, &part), 0);
	assert_int_equal(counters_of(part)->group_count, 0);
	assert_int_equal(rna_part_error_count(part), 0);
}

static void test_one_bad_file_costs_one_value(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_counter_value *values;

	tree_write(&fixture->tree, "dev/ports/1/counters/symbol_error", "");
	tree_write(&fixture->tree, "dev/ports/1/counters/link_downed", "N/A (no PMA)\n");
	tree_write(&fixture->tree, "dev/ports/1/counters/port_rcv_errors", "7");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS, &part), 0);
	values = counters_of(part)->groups[0].values;
	assert_int_equal(rna_part_error_count(part), 1);
	assert_int_equal(part->errors[RNA_REASON_FORMAT], 1);
	for (size_t i = 0; i < 3; i++) {
		enum rna_value_state expected = RNA_VALUE_OK;

		if (strcmp(values[i].file, "symbol_error") == 0)
			expected = RNA_VALUE_UNREADABLE;
		else if (strcmp(values[i].file, "link_downed") == 0)
			expected = RNA_VALUE_ABSENT;
		assert_int_equal(values[i].value.state, expected);
	}
}

static void test_one_bad_directory_costs_its_files(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	tree_write(&fixture->tree, "dev/ports/1/counters", "not a directory\n");
	tree_write(&fixture->tree, "dev/ports/2/counters/symbol_error", "3\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS, &part), 0);
	assert_int_equal(rna_part_error_count(part), 1);
	assert_int_equal(counters_of(part)->group_count, 1);
	assert_int_equal(counters_of(part)->groups[0].port, 2);
	assert_int_equal(counters_of(part)->groups[0].values[0].value.number, 3);
}

static void test_nothing_but_bad_directories_is_a_failure(void **state)
{
	struct fixture *fixture = *state;
	struct rna_part *part = NULL;

	tree_write(&fixture->tree, "dev/ports/1/counters", "not a directory\n");
	for (unsigned tries = 0; tries < 2; tries++)
		assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS, &part), -ENOTDIR);
	assert_null(part);
}

static enum rna_value_state collect_link_downed(struct fixture *fixture, const char *content)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	tree_write(&fixture->tree, "dev/ports/1/counters/link_downed", content);
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS, &part), 0);
	return counters_of(part)->groups[0].values[0].value.state;
}

static void test_saturation(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(collect_link_downed(fixture, "254\n"), RNA_VALUE_OK);
	/* passing by: a register of 16 bits would do the same */
	assert_int_equal(collect_link_downed(fixture, "255\n"), RNA_VALUE_OK);
	assert_int_equal(collect_link_downed(fixture, "255\n"), RNA_VALUE_SATURATED);
	assert_int_equal(collect_link_downed(fixture, "256\n"), RNA_VALUE_OK);
	assert_int_equal(collect_link_downed(fixture, "0\n"), RNA_VALUE_OK);
}

static void test_saturated_from_the_start(void **state)
{
	assert_int_equal(collect_link_downed(*state, "255\n"), RNA_VALUE_SATURATED);
}

static void test_a_vanished_device_fails_and_returns(void **state)
{
	struct fixture *fixture = *state;
	struct rna_part *part = NULL;

	tree_write(&fixture->tree, "dev/ports/1/counters/symbol_error", "3\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS, &part), 0);
	part = rna_part_unref(part);
	(void)rna_reader_free(fixture->reader);
	fixture->reader = rna_reader_new(fixture->tree.root, 1); /* keeps the directory only */
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS, &part), 0);
	part = rna_part_unref(part);
	tree_remove(&fixture->tree, "dev/ports/1/counters");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS, &part), -ENODEV);
	tree_write(&fixture->tree, "dev/ports/1/counters/symbol_error", "4\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_COUNTERS, &part), 0);
	assert_int_equal(counters_of(part)->groups[0].values[0].value.number, 4);
	(void)rna_part_unref(part);
}

static void test_state_of_each_port(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_state *ports;

	tree_write(&fixture->tree, "dev/ports/1/state", "4: ACTIVE\n");
	tree_write(&fixture->tree, "dev/ports/1/phys_state", "5: LinkUp\n");
	tree_write(&fixture->tree, "dev/ports/2/state", "1: DOWN\n");
	tree_write(&fixture->tree, "dev/ports/2/phys_state", "broken\n");
	assert_int_equal(collect(fixture, RNA_COLLECTOR_STATE, &part), 0);
	ports = (const void *)part;
	assert_int_equal(ports->port_count, 2);
	assert_int_equal(ports->ports[0].state.number, RNA_PORT_ACTIVE);
	assert_int_equal(ports->ports[0].physical_state.number, RNA_PHYSICAL_LINK_UP);
	assert_int_equal(ports->ports[1].number, 2);
	assert_int_equal(ports->ports[1].state.number, RNA_PORT_DOWN);
	assert_int_equal(ports->ports[1].physical_state.state, RNA_VALUE_UNREADABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_file_becomes_a_value, setup, teardown),
		cmocka_unit_test_setup_teardown(test_places_of_hw_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_driver_without_counters_is_fine, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_one_bad_file_costs_one_value, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_bad_directory_costs_its_files, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_nothing_but_bad_directories_is_a_failure,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_saturation, setup, teardown),
		cmocka_unit_test_setup_teardown(test_saturated_from_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_vanished_device_fails_and_returns, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_state_of_each_port, setup, teardown),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
