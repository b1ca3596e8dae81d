// SPDX-License-Identifier: Apache-2.0
/* agent/memory/history.c, state_file.c: transitions in memory, as lines, and in their two files. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "memory/history.h"
#include "memory/state_file.h"

#include "tree.h"

/* A directory with the files, and the daemon that writes them. */
struct fixture {
	struct tree tree;
	int directory;
	struct rna_history history;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	tree_init(&f->tree);
	f->directory = open(f->tree.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->directory >= 0);
	f->history.room = RNA_HISTORY_WAITING;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	rna_history_deinit(&f->history);
	(void)close(f->directory);
	tree_deinit(&f->tree);
	free(f);
	return 0;
}

static void happen(struct rna_history *history, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct rna_transition transition = {
			.time.realtime = 1763716800 * RNA_USEC_PER_SEC + i,
			.device = "mlx5_0",
			.port = 1,
			.netdev = i % 2 ? "eth0" : NULL,
			.up = i % 2,
			.source = i % 2 ? RNA_SOURCE_COUNTER : RNA_SOURCE_POLL,
			.count = 1 + i % 2,
			.reason = "state DOWN, physical state \"Disabled\"",
		};

		assert_true(rna_history_add(history, &transition));
	}
}

/* What the file worker does. */
static int put(struct fixture *f)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_state_lines place = {f->directory, RNA_HISTORY_FILE, RNA_HISTORY_OLD,
					rna_history_header, false};
	struct rna_error error = {0};
	int status;

	rna_history_write(&f->history, &text);
	place.turns = f->history.turns;
	status = rna_state_file_append(&place, text.data, text.len, &error);
	rna_history_written(&f->history, status == 0);
	return status;
}

static size_t read_file(const struct fixture *f, const char *name, struct rna_history *history)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_error error = {0};
	int status = rna_state_file_read(f->directory, name, &text, &error);

	if (status == -ENOENT)
		return 0;
	assert_int_equal(status, 0);
	if (rna_history_read(history, text.data, text.len, &error) < 0)
		fail_msg("%s", error.text);
	return text.len;
}

/* All of it, as the command events reads it. */
static struct rna_history read_all(const struct fixture *f)
{
	struct rna_history all = {.room = 100000, .all = true};

	(void)read_file(f, RNA_HISTORY_OLD, &all);
	(void)read_file(f, RNA_HISTORY_FILE, &all);
	return all;
}

static void expect_numbers(const struct rna_history *history, uint64_t from, uint64_t to)
{
	assert_int_equal(history->count, to - from + 1);
	for (size_t i = 0; i < history->count; i++)
		assert_int_equal(rna_history_at(history, i)->sequence, from + i);
}

static void cut_tail(const struct fixture *f, off_t bytes)
{
	int fd = openat(f->directory, RNA_HISTORY_FILE, O_WRONLY | O_CLOEXEC);
	struct stat file;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &file), 0);
	assert_int_equal(ftruncate(fd, file.st_size - bytes), 0);
	(void)close(fd);
}

static void test_what_was_written_is_read(void **state)
{
	struct fixture *f = *state;
	RNA_CLEANUP(rna_history_deinit) struct rna_history all = {0};
	const struct rna_transition *second;

	happen(&f->history, 2);
	assert_true(f->history.changed);
	assert_int_equal(put(f), 0);
	all = read_all(f);
	expect_numbers(&all, 1, 2);
	second = rna_history_at(&all, 1);
	assert_int_equal(second->time.realtime, 1763716800 * RNA_USEC_PER_SEC + 1);
	assert_string_equal(second->device, "mlx5_0");
	assert_string_equal(second->netdev, "eth0");
	assert_null(rna_history_at(&all, 0)->netdev);
	assert_true(second->up);
	assert_int_equal(second->source, RNA_SOURCE_COUNTER);
	assert_int_equal(second->count, 2);
	assert_string_equal(second->reason, "state DOWN, physical state \"Disabled\"");
	assert_false(all.changed);
}

static void test_only_what_is_new_is_written(void **state)
{
	struct fixture *f = *state;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	happen(&f->history, 3);
	assert_int_equal(put(f), 0);
	rna_history_write(&f->history, &text);
	assert_int_equal(text.len, 0);
	happen(&f->history, 1);
	rna_history_write(&f->history, &text);
	assert_int_equal(strncmp(text.data, "{\"sequence\": 4,", 15), 0);
}

/* At least a thousand are on the disk, and never more than two files of about that. */
static void test_one_that_no_reader_takes_costs_only_itself(void **state)
{
	RNA_CLEANUP(rna_history_deinit) struct rna_history all = {0};
	struct fixture *f = *state;
	char reason[600];

	memset(reason, 0x7f, sizeof(reason) - 1);
	reason[sizeof(reason) - 1] = '\0';
	happen(&f->history, 1);
	assert_true(rna_history_add(&f->history, &(struct rna_transition){.time.realtime = 1,
									  .device = "mlx5_0",
									  .port = 1,
									  .source = RNA_SOURCE_POLL,
									  .count = 1,
									  .reason = reason}));
	happen(&f->history, 1);
	assert_int_equal(put(f), 0);
	all = read_all(f);
	assert_int_equal(all.count, 2);
	assert_int_equal(rna_history_at(&all, 1)->sequence, 3);
}

static void test_it_is_bounded(void **state)
{
	struct fixture *f = *state;

	for (uint64_t all = 0; all < 10000;) {
		RNA_CLEANUP(rna_history_deinit) struct rna_history read = {0};
		size_t some = 1 + (size_t)(all * 7 % 100);

		happen(&f->history, some);
		all += some;
		assert_int_equal(put(f), 0);
		assert_true(f->history.count <= RNA_TRANSITIONS_KEPT);
		if (all % 10 > 1)
			continue;
		read = read_all(f);
		assert_int_equal(rna_history_at(&read, read.count - 1)->sequence, all);
		assert_true(read.count == all || read.count >= 1000);
		assert_true(read.count <= 2 * (RNA_HISTORY_FULL + 100));
		expect_numbers(&read, all - read.count + 1, all);
	}
}

static void test_a_restart(void **state)
{
	struct fixture *f = *state;
	RNA_CLEANUP(rna_history_deinit) struct rna_history all = {0};

	happen(&f->history, 1500);
	rna_history_deinit(&f->history); /* what was not written is lost */
	f->history.room = RNA_HISTORY_WAITING;
	happen(&f->history, 700);
	assert_int_equal(put(f), 0);
	happen(&f->history, 700);
	assert_int_equal(put(f), 0);
	rna_history_deinit(&f->history);
	f->history.room = RNA_HISTORY_WAITING;
	(void)read_file(f, RNA_HISTORY_OLD, &f->history);
	(void)read_file(f, RNA_HISTORY_FILE, &f->history);
	expect_numbers(&f->history, 1400 - RNA_TRANSITIONS_KEPT + 1, 1400);
	assert_int_equal(f->history.lines, 1400);
	happen(&f->history, 1); /* the file is full: it begins the next one */
	assert_int_equal(put(f), 0);
	all = read_all(f);
	expect_numbers(&all, 1, 1401);
	assert_int_equal(f->history.lines, 1);
}

static void test_a_torn_line(void **state)
{
	struct fixture *f = *state;
	RNA_CLEANUP(rna_history_deinit) struct rna_history all = {0};

	happen(&f->history, 3);
	assert_int_equal(put(f), 0);
	cut_tail(f, 9);
	all = read_all(f);
	expect_numbers(&all, 1, 2);
	happen(&f->history, 2);
	assert_int_equal(put(f), 0);
	rna_history_deinit(&all);
	all = read_all(f);
	assert_int_equal(all.count, 4);
	assert_int_equal(rna_history_at(&all, 1)->sequence, 2);
	assert_int_equal(rna_history_at(&all, 2)->sequence, 4);
	assert_int_equal(rna_history_at(&all, 3)->sequence, 5);
}

static void test_a_disk_that_refuses(void **state)
{
	struct fixture *f = *state;
	RNA_CLEANUP(rna_history_deinit) struct rna_history all = {0};

	happen(&f->history, 2);
	assert_int_equal(put(f), 0);
	happen(&f->history, 500);
	rna_history_written(&f->history, false);
	assert_int_equal(f->history.count, 502); /* they wait */
	happen(&f->history, 2000);
	assert_int_equal(f->history.count, RNA_HISTORY_WAITING); /* but not for ever */
	assert_int_equal(put(f), 0);
	all = read_all(f);
	assert_int_equal(rna_history_at(&all, 1)->sequence, 2);
	assert_int_equal(rna_history_at(&all, 2)->sequence, 2502 - RNA_HISTORY_WAITING + 1);
	assert_int_equal(rna_history_at(&all, all.count - 1)->sequence, 2502);
}

/* Of a failure between the two steps of turning over: nothing is lost at the next try. */
static void test_turning_over_twice(void **state)
{
	struct fixture *f = *state;
	RNA_CLEANUP(rna_history_deinit) struct rna_history all = {0};

	happen(&f->history, 1024);
	assert_int_equal(put(f), 0);
	happen(&f->history, 1);
	assert_int_equal(renameat(f->directory, RNA_HISTORY_FILE, f->directory, RNA_HISTORY_OLD),
			 0); /* killed here */
	assert_int_equal(put(f), 0);
	f->history.lines = RNA_HISTORY_FULL; /* the new file was made, but its fsync() failed */
	happen(&f->history, 1);
	assert_int_equal(put(f), 0);
	all = read_all(f);
	expect_numbers(&all, 1, 1026);
}

static void test_no_state_directory(void **state)
{
	struct fixture *f = *state;

	f->history.room = 0;
	happen(&f->history, 1000);
	expect_numbers(&f->history, 1000 - RNA_TRANSITIONS_KEPT + 1, 1000);
}

static void test_files_of_no_use(void **state)
{
	static const struct {
		const char *text;
		int status;
	} cases[] = {
		{"nonsense\n", -EBADMSG},
		{"{\"version\": 1}\n", -EBADMSG},
		{"{\"version\": 1, \"lines\": \"other\"}\n", -EBADMSG},
		{"{\"version\": 2, \"lines\": \"events\"}\n", -EOPNOTSUPP},
		{"", 0},
		{"{\"version\": 1, \"lines\": \"events\"}", 0},
		{"{\"version\": 1, \"lines\": \"events\"}\n{}\n7\n\n{\"device\": \"a\"}\n", 0},
	};
	struct fixture *f = *state;
	struct rna_error error;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		error = (struct rna_error){0};
		assert_int_equal(rna_history_read(&f->history, cases[i].text, strlen(cases[i].text),
						  &error),
				 cases[i].status);
		assert_int_equal(error.text[0] != '\0', cases[i].status < 0);
		assert_int_equal(f->history.count, 0);
	}
}

/* Numbers that do not grow are of a file that two agents wrote. */
static void test_numbers_that_fall(void **state)
{
	static const char file[] =
		"{\"version\": 1, \"lines\": \"events\"}\n"
		"{\"sequence\": 9, \"time\": 5, \"device\": \"a\", \"port\": 1, \"up\": true, "
		"\"count\": 1, \"source\": \"poll\", \"reason\": \"r\"}\n"
		"{\"sequence\": 3, \"time\": 4, \"device\": \"a\", \"port\": 1, \"up\": false, "
		"\"count\": 1, \"source\": \"poll\", \"reason\": \"r\"}\n"
		"{\"sequence\": 9223372036854775807, \"device\": \"a\", \"port\": 1, "
		"\"count\": 1, \"source\": \"poll\", \"reason\": \"r\"}\n";
	struct fixture *f = *state;
	struct rna_error error = {0};

	assert_int_equal(rna_history_read(&f->history, file, strlen(file), &error), 0);
	expect_numbers(&f->history, 9, 11);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_was_written_is_read),
		TEST(test_only_what_is_new_is_written),
		TEST(test_one_that_no_reader_takes_costs_only_itself),
		TEST(test_it_is_bounded),
		TEST(test_a_restart),
		TEST(test_a_torn_line),
		TEST(test_a_disk_that_refuses),
		TEST(test_turning_over_twice),
		TEST(test_no_state_directory),
		TEST(test_files_of_no_use),
		TEST(test_numbers_that_fall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
