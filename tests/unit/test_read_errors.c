// SPDX-License-Identifier: Apache-2.0
/*
 * Reads that fail as no file of a tree can make them fail: the linker puts __wrap_pread64() in the
 * place of pread(), and there a file whose name is known has an errno instead of a content.
 */
#include "collectors.h"
#include "reader.h"
#include "tree.h"

#include "rna/counter.h"
#include "rna/device.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BAD_FILE "symbol_error"

static int bad_errno; /* of BAD_FILE; 0: it is fine */

ssize_t __real_pread64(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset);

ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset)
{
	char link[32], path[256];
	ssize_t len;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	assert_true(len > 0);
	path[len] = '\0';
	if (bad_errno == 0 || strcmp(strrchr(path, '/') + 1, BAD_FILE) != 0)
		return __real_pread64(fd, buffer, size, offset);
	errno = bad_errno;
	return -1;
}

static const unsigned ports[] = {1};

static const struct rna_device device = {
	.key = "0000:3b:00.0",
	.name = "mlx5_0",
	.sysfs_path = "dev",
	.port_count = 1,
	.ports = ports,
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
	tree_write(&fixture->tree, "dev/ports/1/counters/link_downed", "3\n");
	tree_write(&fixture->tree, "dev/ports/1/counters/" BAD_FILE, "4\n");
	tree_write(&fixture->tree, "dev/ports/1/counters/port_rcv_errors", "5\n");
	fixture->reader = rna_reader_new(fixture->tree.root, 100);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	bad_errno = 0;
	(void)rna_reader_free(fixture->reader);
	tree_deinit(&fixture->tree);
	free(fixture);
	return 0;
}

static int collect(struct fixture *fixture, int with_errno, struct rna_part **ret)
{
	const struct rna_collect_input in = {
		.root = fixture->tree.root,
		.device = &device,
		.reader = fixture->reader,
		.period = 1, /* microsecond: pauses are over at once */
	};
	struct rna_error error;

	bad_errno = with_errno;
	return rna_collect_counters(&in, ret, &error);
}

static void assert_one_is_bad(const struct rna_part *part, enum rna_value_state state)
{
	const struct rna_counter_group *group = ((const struct rna_counters_part *)part)->groups;

	assert_int_equal(group->count, 3);
	for (size_t i = 0; i < group->count; i++)
		assert_int_equal(group->values[i].value.state,
				 strcmp(group->values[i].file, BAD_FILE) == 0 ? state
									      : RNA_VALUE_OK);
}

static void test_each_errno_costs_one_value_and_has_its_reason(void **state)
{
	static const struct {
		int number;
		enum rna_reason reason;
	} cases[] = {
		{EIO, RNA_REASON_IO},
		{EINVAL, RNA_REASON_INVALID},
		{EACCES, RNA_REASON_DENIED},
		{EOPNOTSUPP, RNA_REASON_UNSUPPORTED},
		{ETIMEDOUT, RNA_REASON_TIMEOUT},
	};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_part *part = NULL;

		assert_int_equal(collect(*state, cases[i].number, &part), 0);
		assert_one_is_bad(part, RNA_VALUE_UNREADABLE);
		assert_int_equal(rna_part_error_count(part), 1);
		assert_int_equal(part->errors[cases[i].reason], 1);
		part = rna_part_unref(part);
		assert_int_equal(collect(*state, 0, &part), 0);
		assert_one_is_bad(part, RNA_VALUE_OK);
		(void)rna_part_unref(part);
	}
}

static void test_enodev_ends_the_sweep_and_the_next_begins_anew(void **state)
{
	struct fixture *fixture = *state;
	struct rna_part *part = NULL;

	assert_int_equal(collect(fixture, 0, &part), 0);
	part = rna_part_unref(part);
	assert_int_equal(collect(fixture, ENODEV, &part), -ENODEV);
	assert_null(part);
	assert_int_equal(rna_reader_count(fixture->reader), 0);
	assert_int_equal(collect(fixture, 0, &part), 0);
	assert_one_is_bad(part, RNA_VALUE_OK);
	(void)rna_part_unref(part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_errno_costs_one_value_and_has_its_reason,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_enodev_ends_the_sweep_and_the_next_begins_anew,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
