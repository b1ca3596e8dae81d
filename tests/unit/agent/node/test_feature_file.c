// SPDX-License-Identifier: Apache-2.0
/* agent/node/feature_file.c: what is in node-feature-discovery's file when the agent ends. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"

#include "node/feature_file.h"

static struct rna_desired_node *desired_of(const char *value)
{
	struct rna_arena *arena = rna_arena_new(512);
	struct rna_desired_node *desired = arena ? rna_arena_alloc(arena, sizeof(*desired)) : NULL;
	struct rna_node_label *label = desired ? rna_arena_alloc(arena, sizeof(*label)) : NULL;

	assert_non_null(label);
	*label = (struct rna_node_label){"rdma-node-agent/ports-up", value};
	*desired = (struct rna_desired_node){.refs = 1, .labels_decided = true, .label_count = 1};
	desired->labels = label;
	desired->arena = arena;
	return desired;
}

static void want(struct rna_feature_file *file, const char *value)
{
	struct rna_desired_node *desired = desired_of(value);

	rna_feature_file_want(file, desired);
	(void)rna_desired_node_unref(desired);
}

static void assert_file_has(const char *directory, const char *text)
{
	char path[256], content[512];
	RNA_CLOSE int fd = -1;
	ssize_t len;

	(void)snprintf(path, sizeof(path), "%s/rdma-node-agent", directory);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	len = read(fd, content, sizeof(content) - 1);
	assert_true(len > 0);
	content[len] = '\0';
	assert_non_null(strstr(content, text));
}

/* While one file is written another one is wanted, and then it is the end. */
static void test_the_newest_is_written_before_the_end(void **state)
{
	char directory[] = "/tmp/rna-feature-file-XXXXXX";
	struct rna_feature_file *file = NULL;
	struct rna_error error = {0};
	sd_event *event = NULL;

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_true(sd_event_new(&event) >= 0);
	assert_true(rna_feature_file_new(event, directory, RNA_USEC_PER_SEC, &file) >= 0);
	want(file, "8");
	want(file, "7");
	assert_true(rna_feature_file_stop(file, 5 * RNA_USEC_PER_SEC));
	assert_file_has(directory, "rdma-node-agent/ports-up=7\n");
	assert_int_equal(rna_nfd_remove_file(directory, &error), 0);
	assert_int_equal(rmdir(directory), 0);
	(void)sd_event_unref(event);
}

/* One that was ended while it wrote leaves a file behind, which goes with the other. */
static void test_nothing_is_left_behind(void **state)
{
	char directory[] = "/tmp/rna-feature-file-XXXXXX", path[256];
	struct rna_error error = {0};
	int fd;

	(void)state;
	assert_non_null(mkdtemp(directory));
	(void)snprintf(path, sizeof(path), "%s/.rdma-node-agent.new", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(rna_nfd_remove_file(directory, &error), 0);
	assert_int_equal(rmdir(directory), 0);
}

/* The file that has another name until it is whole: another inode. 0: there is none. */
static ino_t written(const char *directory)
{
	struct stat status;
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/rdma-node-agent", directory);
	return stat(path, &status) < 0 ? 0 : status.st_ino;
}

/* Nothing changes, and the labels must not expire. */
static void test_it_is_renewed(void **state)
{
	char directory[] = "/tmp/rna-feature-file-XXXXXX";
	struct rna_feature_file *file = NULL;
	struct rna_error error = {0};
	sd_event *event = NULL;
	ino_t first;

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_true(sd_event_new(&event) >= 0);
	assert_true(rna_feature_file_new(event, directory, RNA_USEC_PER_SEC / 5, &file) >= 0);
	want(file, "8");
	while ((first = written(directory)) == 0)
		assert_true(sd_event_run(event, 10 * RNA_USEC_PER_SEC) > 0);
	while (written(directory) == first)
		assert_true(sd_event_run(event, 10 * RNA_USEC_PER_SEC) > 0);
	assert_file_has(directory, "rdma-node-agent/ports-up=8\n");
	assert_true(rna_feature_file_stop(file, 5 * RNA_USEC_PER_SEC));
	assert_int_equal(rna_nfd_remove_file(directory, &error), 0);
	assert_int_equal(rmdir(directory), 0);
	(void)sd_event_unref(event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_newest_is_written_before_the_end),
		cmocka_unit_test(test_nothing_is_left_behind),
		cmocka_unit_test(test_it_is_renewed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
