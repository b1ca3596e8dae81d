// SPDX-License-Identifier: Apache-2.0
/* collectors/reader: kept descriptors, pauses, devices that come back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/parse.h"

#include "parse/reader.h"

#include "tree.h"

#define PERIOD RNA_USEC_PER_SEC

static int setup(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	assert_non_null(tree);
	tree_init(tree);
	tree_write(tree, "dev/a", "1\n");
	tree_write(tree, "dev/b", "2\n");
	tree_write(tree, "dev/c", "3\n");
	*state = tree;
	return 0;
}

static int teardown(void **state)
{
	tree_deinit(*state);
	free(*state);
	return 0;
}

static unsigned count_descriptors(void)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	struct rna_error error;
	char **names;

	assert_int_equal(rna_root_open(NULL, &root, &error), 0);
	return (unsigned)rna_root_list(root, "proc/self/fd", arena, &names);
}

static struct rna_reader *make_reader(const struct tree *tree, unsigned descriptors)
{
	struct rna_reader *reader = rna_reader_new(tree->root, descriptors);

	assert_non_null(reader);
	rna_reader_start(reader, 1000, PERIOD);
	assert_true(rna_reader_is_empty(reader));
	assert_int_equal(rna_reader_add_directory(reader, "dev", 7), 0);
	assert_int_equal(rna_reader_add_file(reader, 0, "a", NULL), 0);
	assert_int_equal(rna_reader_add_file(reader, 0, "b", NULL), 1);
	assert_int_equal(rna_reader_add_file(reader, 0, "c", NULL), 2);
	return reader;
}

static void assert_reads(struct rna_reader *reader, size_t index, const char *expected)
{
	char text[32];

	assert_int_equal(rna_reader_read(reader, index, text, sizeof(text)), strlen(expected));
	assert_string_equal(text, expected);
}

/* The same values come out whatever may be kept: nothing, the directory, some, all. */
static void test_it_reads_with_any_number_of_descriptors(void **state)
{
	const struct tree *tree = *state;

	for (unsigned descriptors = 0; descriptors <= 6; descriptors++) {
		unsigned before = count_descriptors();
		struct rna_reader *reader = make_reader(tree, descriptors);
		unsigned kept = descriptors < 4 ? descriptors : 4;

		for (unsigned round = 0; round < 3; round++) {
			assert_reads(reader, 0, "1");
			assert_reads(reader, 1, "2");
			assert_reads(reader, 2, "3");
		}
		assert_int_equal(count_descriptors(), before + kept);
		assert_null(rna_reader_free(reader));
		assert_int_equal(count_descriptors(), before);
	}
}

static void test_it_sees_new_content(void **state)
{
	const struct tree *tree = *state;
	RNA_CLEANUP(rna_reader_free_p) struct rna_reader *reader = make_reader(tree, 10);

	assert_reads(reader, 0, "1");
	tree_write(tree, "dev/a", "22\n");
	assert_reads(reader, 0, "22");
	assert_int_equal(rna_reader_directory_tag(reader, 0), 7);
}

static void test_a_failing_file_is_left_alone_for_growing_pauses(void **state)
{
	const struct tree *tree = *state;
	RNA_CLEANUP(rna_reader_free_p) struct rna_reader *reader = make_reader(tree, 10);
	rna_usec now = 1000, pause = PERIOD;
	char text[4];

	tree_write(tree, "dev/a", "much too long\n"); /* EMSGSIZE with this buffer */
	for (unsigned tries = 0; tries < 12; tries++) {
		rna_reader_start(reader, now, PERIOD);
		assert_int_equal(rna_reader_read(reader, 0, text, sizeof(text)), -EMSGSIZE);
		/* just before the pause is over, the file is good, but is not read */
		tree_write(tree, "dev/a", "1\n");
		rna_reader_start(reader, now + pause - 1, PERIOD);
		assert_int_equal(rna_reader_read(reader, 0, text, sizeof(text)), -EMSGSIZE);
		tree_write(tree, "dev/a", "much too long\n");
		now += pause;
		pause = pause * 2 < 300 * PERIOD ? pause * 2 : 300 * PERIOD;
	}
	assert_int_equal(pause, 300 * PERIOD);
	tree_write(tree, "dev/a", "1\n");
	rna_reader_start(reader, now, PERIOD);
	assert_reads(reader, 0, "1");
	rna_reader_start(reader, now + 1, PERIOD); /* good again: no pause any more */
	assert_reads(reader, 0, "1");
}

static void test_a_vanished_device_empties_the_reader(void **state)
{
	const struct tree *tree = *state;
	RNA_CLEANUP(rna_reader_free_p) struct rna_reader *reader = make_reader(tree, 1);
	char text[8];

	assert_reads(reader, 0, "1");
	tree_remove(tree, "dev/a");
	assert_int_equal(rna_reader_read(reader, 0, text, sizeof(text)), -ENODEV);
	assert_true(rna_reader_is_empty(reader));
}

static void test_a_file_that_never_was_is_absent(void **state)
{
	const struct tree *tree = *state;
	RNA_CLEANUP(rna_reader_free_p) struct rna_reader *reader = make_reader(tree, 10);
	struct rna_part part = {0};
	struct rna_value value = rna_value_ok(1);
	int index = rna_reader_add_file(reader, 0, "none", NULL);

	assert_int_equal(rna_reader_read_number(reader, (size_t)index, rna_parse_u64, &part,
						&value),
			 0);
	assert_int_equal(value.state, RNA_VALUE_ABSENT);
	assert_int_equal(rna_part_error_count(&part), 0);
}

static void test_bad_text_costs_one_value(void **state)
{
	const struct tree *tree = *state;
	RNA_CLEANUP(rna_reader_free_p) struct rna_reader *reader = make_reader(tree, 10);
	struct rna_part part = {0};
	struct rna_value value;

	tree_write(tree, "dev/a", "garbage\n");
	assert_int_equal(rna_reader_read_number(reader, 0, rna_parse_u64, &part, &value), 0);
	assert_int_equal(value.state, RNA_VALUE_UNREADABLE);
	assert_int_equal(rna_part_error_count(&part), 1);
	assert_int_equal(rna_reader_read_number(reader, 1, rna_parse_u64, &part, &value), 0);
	assert_int_equal(value.state, RNA_VALUE_OK);
	assert_int_equal(value.number, 2);
}

static void test_directories_are_listed(void **state)
{
	const struct tree *tree = *state;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);
	char **names;

	for (unsigned descriptors = 0; descriptors <= 1; descriptors++) {
		RNA_CLEANUP(rna_reader_free_p)
		struct rna_reader *reader = make_reader(tree, descriptors);

		assert_int_equal(rna_reader_list(reader, 0, arena, &names), 3);
		assert_string_equal(names[2], "c");
		assert_int_equal(rna_reader_add_directory(reader, "nowhere", 0), -ENOENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_it_reads_with_any_number_of_descriptors, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_it_sees_new_content, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_failing_file_is_left_alone_for_growing_pauses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_vanished_device_empties_the_reader, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_file_that_never_was_is_absent, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_bad_text_costs_one_value, setup, teardown),
		cmocka_unit_test_setup_teardown(test_directories_are_listed, setup, teardown),
	};

	return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
