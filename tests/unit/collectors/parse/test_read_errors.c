// SPDX-License-Identifier: Apache-2.0
/*
 * Reads that fail as no file of a tree can make them fail: the linker puts __wrap_pread64() in the
 * place of pread(), and there a file whose name is known has an errno instead of a content.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "parse/reader.h"

#include "counters_fixture.h"

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
	/* " (deleted)" follows where it has been removed */
	if (bad_errno == 0 || strncmp(strrchr(path, '/') + 1, BAD_FILE, strlen(BAD_FILE)) != 0)
		return __real_pread64(fd, buffer, size, offset);
	errno = bad_errno;
	return -1;
}

static int setup_files(void **state)
{
	const struct fixture *fixture;

	assert_int_equal(setup(state), 0);
	fixture = *state;
	tree_write(&fixture->tree, "dev/ports/1/counters/link_downed", "3\n");
	tree_write(&fixture->tree, "dev/ports/1/counters/" BAD_FILE, "4\n");
	tree_write(&fixture->tree, "dev/ports/1/counters/port_rcv_errors", "5\n");
	return 0;
}

static int teardown_files(void **state)
{
	bad_errno = 0;
	return teardown(state);
}

static int collect_with(struct fixture *fixture, int with_errno)
{
	bad_errno = with_errno;
	return collect(fixture, RNA_COLLECTOR_COUNTERS);
}

static void assert_one_is_bad(const struct fixture *fixture, enum rna_value_state state)
{
	const struct rna_counter_group *group = counters_of(fixture)->groups;

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
		{ENODEV, RNA_REASON_GONE}, /* said by a file that is there: the device is, too */
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		assert_int_equal(collect_with(fixture, cases[i].number), 0);
		assert_one_is_bad(fixture, RNA_VALUE_UNREADABLE);
		assert_int_equal(rna_part_error_count(fixture->part), 1);
		assert_int_equal(fixture->part->errors[cases[i].reason], 1);
		assert_int_equal(collect_with(fixture, 0), 0);
		assert_one_is_bad(fixture, RNA_VALUE_OK);
	}
}

/* The kernel says ENODEV of descriptors of a device that is unregistered, and its files are gone.
 */
static void test_enodev_ends_the_sweep_and_the_next_begins_anew(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(collect_with(fixture, 0), 0);
	tree_remove(&fixture->tree, "dev/ports/1/counters/" BAD_FILE);
	assert_int_equal(collect_with(fixture, ENODEV), -ENODEV);
	assert_int_equal(rna_reader_count(fixture->reader), 0);
	tree_write(&fixture->tree, "dev/ports/1/counters/" BAD_FILE, "4\n");
	assert_int_equal(collect_with(fixture, 0), 0);
	assert_one_is_bad(fixture, RNA_VALUE_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_errno_costs_one_value_and_has_its_reason,
						setup_files, teardown_files),
		cmocka_unit_test_setup_teardown(test_enodev_ends_the_sweep_and_the_next_begins_anew,
						setup_files, teardown_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
