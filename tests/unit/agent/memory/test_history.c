// SPDX-License-Identifier: Apache-2.0
/* agent/memory/history.c, state_file.c: changes in memory, as lines, and in the files of each kind.
 */
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

enum { WAITING = 1024 };

/* A directory with the files, and the daemon that writes them. */
struct fixture {
	struct tree tree;
	int directory;
	struct rna_history histories[RNA_CHANGE_KIND_COUNT];
	struct rna_history *ports, *findings; /* of these */
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	tree_init(&f->tree);
	f->directory = open(f->tree.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->directory >= 0);
	for (size_t i = 0; i < RNA_CHANGE_KIND_COUNT; i++)
		f->histories[i].room = rna_history_places[i].waiting;
	f->ports = &f->histories[RNA_CHANGE_OF_PORT];
	f->findings = &f->histories[RNA_CHANGE_OF_FINDING];
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < RNA_CHANGE_KIND_COUNT; i++)
		rna_history_deinit(&f->histories[i]);
	(void)close(f->directory);
	tree_deinit(&f->tree);
	free(f);
	return 0;
}

static void happen(struct rna_history *histories, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct rna_change change = {
			.time.realtime = 1763716800 * RNA_USEC_PER_SEC + i,
			.device = "mlx5_0",
			.port = 1,
			.netdev = i % 2 ? "eth0" : NULL,
			.what = i % 2 ? RNA_CHANGE_UP : RNA_CHANGE_DOWN,
			.source = i % 2 ? RNA_SOURCE_COUNTER : RNA_SOURCE_POLL,
			.count = 1 + i % 2,
			.text = "state DOWN, physical state \"Disabled\"",
		};

		assert_true(rna_histories_add(histories, &change));
	}
}

/* What the file worker does. */
static int put_kind(struct fixture *f, enum rna_change_kind kind)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_history *history = &f->histories[kind];
	struct rna_state_lines place = {f->directory, rna_history_places[kind].file,
					rna_history_places[kind].old, rna_history_header, false};
	struct rna_error error = {0};
	int status;

	rna_history_write(history, &text);
	place.turns = history->turns;
	status = rna_state_file_append(&place, text.data, text.len, &error);
	rna_history_written(history, status == 0);
	return status;
}

static int put(struct fixture *f)
{
	return put_kind(f, RNA_CHANGE_OF_PORT);
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

static void read_kind(const struct fixture *f, enum rna_change_kind kind,
		      struct rna_history *history)
{
	(void)read_file(f, rna_history_places[kind].old, history);
	(void)read_file(f, rna_history_places[kind].file, history);
}

/* All of it, as the command events reads it. */
static struct rna_history read_all(const struct fixture *f)
{
	struct rna_history all = {.room = 100000, .all = true};

	read_kind(f, RNA_CHANGE_OF_PORT, &all);
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
	int fd = openat(f->directory, rna_history_places[RNA_CHANGE_OF_PORT].file,
			O_WRONLY | O_CLOEXEC);
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
	const struct rna_change *second;

	happen(f->histories, 2);
	assert_true(f->ports->changed);
	assert_int_equal(put(f), 0);
	all = read_all(f);
	expect_numbers(&all, 1, 2);
	second = rna_history_at(&all, 1);
	assert_int_equal(second->time.realtime, 1763716800 * RNA_USEC_PER_SEC + 1);
	assert_string_equal(second->device, "mlx5_0");
	assert_string_equal(second->netdev, "eth0");
	assert_null(rna_history_at(&all, 0)->netdev);
	assert_int_equal(second->what, RNA_CHANGE_UP);
	assert_int_equal(second->source, RNA_SOURCE_COUNTER);
	assert_int_equal(second->count, 2);
	assert_string_equal(second->text, "state DOWN, physical state \"Disabled\"");
	assert_false(all.changed);
}

static void test_only_what_is_new_is_written(void **state)
{
	struct fixture *f = *state;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	happen(f->histories, 3);
	assert_int_equal(put(f), 0);
	rna_history_write(f->ports, &text);
	assert_int_equal(text.len, 0);
	happen(f->histories, 1);
	rna_history_write(f->ports, &text);
	assert_int_equal(strncmp(text.data, "{\"sequence\": 4,", 15), 0);
}

static void test_one_that_no_reader_takes_costs_only_itself(void **state)
{
	RNA_CLEANUP(rna_history_deinit) struct rna_history all = {0};
	struct fixture *f = *state;

	happen(f->histories, 1);
	assert_true(rna_history_add(f->ports, &(struct rna_change){.time.realtime = 1,
								   .device = "mlx5_0",
								   .port = 70000,
								   .source = RNA_SOURCE_POLL,
								   .count = 1,
								   .text = "state DOWN"}));
	happen(f->histories, 1);
	assert_int_equal(put(f), 0);
	all = read_all(f);
	assert_int_equal(all.count, 2);
	assert_int_equal(rna_history_at(&all, 1)->sequence, 3);
}

static void raise_finding(struct fixture *f, enum rna_change_what what, const char *text)
{
	assert_true(rna_histories_add(f->histories, &(struct rna_change){
							    .time.realtime = 90,
							    .what = what,
							    .device = "mlx5_0",
							    .text = text,
							    .rule = "port-down",
							    .severity = RNA_SEVERITY_CRITICAL,
							    .impact = RNA_IMPACT_RAIL_LOST,
							    .cause = RNA_CAUSE_CABLE,
							    .since = 70,
						    }));
}

static void test_a_finding_is_read_as_it_was(void **state)
{
	RNA_CLEANUP(rna_history_deinit) struct rna_history all = {.room = 9, .all = true};
	struct fixture *f = *state;
	const struct rna_change *change;

	raise_finding(f, RNA_CHANGE_RAISED, "mlx5_0: \"down\"");
	raise_finding(f, RNA_CHANGE_RESOLVED, "mlx5_0: up");
	assert_int_equal(put_kind(f, RNA_CHANGE_OF_FINDING), 0);
	read_kind(f, RNA_CHANGE_OF_FINDING, &all);
	assert_int_equal(all.count, 2);
	assert_int_equal(rna_history_at(&all, 1)->what, RNA_CHANGE_RESOLVED);
	change = rna_history_at(&all, 0);
	assert_int_equal(change->what, RNA_CHANGE_RAISED);
	assert_int_equal(change->time.realtime, 90);
	assert_int_equal(change->since, 70);
	assert_string_equal(change->device, "mlx5_0");
	assert_int_equal(change->port, 0);
	assert_string_equal(change->rule, "port-down");
	assert_string_equal(change->text, "mlx5_0: \"down\"");
	assert_int_equal(change->severity, RNA_SEVERITY_CRITICAL);
	assert_int_equal(change->impact, RNA_IMPACT_RAIL_LOST);
	assert_int_equal(change->cause, RNA_CAUSE_CABLE);
}

/* Between characters; so the line is never longer than a reader takes. */
static void test_long_texts_are_cut(void **state)
{
	RNA_CLEANUP(rna_history_deinit) struct rna_history all = {.room = 9, .all = true};
	struct fixture *f = *state;
	char text[1024];

	memset(text, '\1', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text + 511, "\xc3\xa9", 2);
	raise_finding(f, RNA_CHANGE_RAISED, text);
	assert_int_equal(put_kind(f, RNA_CHANGE_OF_FINDING), 0);
	read_kind(f, RNA_CHANGE_OF_FINDING, &all);
	assert_int_equal(all.count, 1);
	assert_int_equal(strlen(rna_history_at(&all, 0)->text), 511);
}

static void take_turns(struct fixture *f, const enum rna_change_kind *kinds, size_t count)
{
	size_t next[RNA_CHANGE_KIND_COUNT] = {0};

	for (size_t i = 0; i < count; i++) {
		const struct rna_change *change = rna_histories_next(f->histories, next);

		assert_non_null(change);
		assert_int_equal(rna_change_kind_of(change->what), kinds[i]);
		assert_int_equal(change->sequence, i + 1);
	}
	assert_null(rna_histories_next(f->histories, next));
}

/* Whatever the files say of their order, the numbers say it of all, also after a restart. */
static void test_kinds_are_merged_by_their_numbers(void **state)
{
	static const enum rna_change_kind kinds[] = {
		RNA_CHANGE_OF_FINDING, RNA_CHANGE_OF_PORT, RNA_CHANGE_OF_AGENT,
		RNA_CHANGE_OF_FINDING, RNA_CHANGE_OF_PORT,
	};
	static const struct rna_change started = {.what = RNA_CHANGE_STARTED, .text = "version 1"};
	struct fixture *f = *state;

	raise_finding(f, RNA_CHANGE_RAISED, "a");
	happen(f->histories, 1);
	assert_true(rna_histories_add(f->histories, &started));
	raise_finding(f, RNA_CHANGE_ALTERED, "b");
	take_turns(f, kinds, 4);
	for (enum rna_change_kind i = 0; i < RNA_CHANGE_KIND_COUNT; i++) {
		assert_int_equal(put_kind(f, i), 0);
		rna_history_deinit(&f->histories[i]);
		read_kind(f, i, &f->histories[i]);
	}
	happen(f->histories, 1);
	take_turns(f, kinds, RNA_ARRAY_SIZE(kinds));
}

/* A thousand for each port that flaps: neither in memory nor on the disk a port gives way. */
static void test_a_flood_of_findings_costs_no_port(void **state)
{
	RNA_CLEANUP(rna_history_deinit) struct rna_history ports = {0};
	RNA_CLEANUP(rna_history_deinit) struct rna_history all = {.room = 9999, .all = true};
	struct fixture *f = *state;

	for (size_t i = 0; i < 40; i++) {
		happen(f->histories, 1);
		for (size_t k = 0; k < 100; k++)
			raise_finding(f, k % 2 ? RNA_CHANGE_RESOLVED : RNA_CHANGE_RAISED, "flood");
		assert_int_equal(put(f), 0);
		assert_int_equal(put_kind(f, RNA_CHANGE_OF_FINDING), 0);
	}
	assert_int_equal(f->ports->count, 40);
	assert_int_equal(f->ports->lines, 40);
	assert_int_equal(f->findings->count, RNA_CHANGES_SHOWN);
	ports = read_all(f);
	assert_int_equal(ports.count, 40);
	read_kind(f, RNA_CHANGE_OF_FINDING, &all);
	assert_true(all.count >= RNA_HISTORY_FULL && all.count <= 2 * (RNA_HISTORY_FULL + 100));
}

/* At least a thousand are on the disk, and never more than two files of about that. */
static void test_it_is_bounded(void **state)
{
	struct fixture *f = *state;

	for (uint64_t all = 0; all < 10000;) {
		RNA_CLEANUP(rna_history_deinit) struct rna_history read = {0};
		size_t some = 1 + (size_t)(all * 7 % 100);

		happen(f->histories, some);
		all += some;
		assert_int_equal(put(f), 0);
		assert_true(f->ports->count <= RNA_CHANGES_SHOWN);
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

	happen(f->histories, 1500);
	rna_history_deinit(f->ports); /* what was not written is lost */
	f->ports->room = WAITING;
	happen(f->histories, 700);
	assert_int_equal(put(f), 0);
	happen(f->histories, 700);
	assert_int_equal(put(f), 0);
	rna_history_deinit(f->ports);
	f->ports->room = WAITING;
	read_kind(f, RNA_CHANGE_OF_PORT, f->ports);
	expect_numbers(f->ports, 1400 - RNA_CHANGES_SHOWN + 1, 1400);
	assert_int_equal(f->ports->lines, 1400);
	happen(f->histories, 1); /* the file is full: it begins the next one */
	assert_int_equal(put(f), 0);
	all = read_all(f);
	expect_numbers(&all, 1, 1401);
	assert_int_equal(f->ports->lines, 1);
}

static void test_a_torn_line(void **state)
{
	struct fixture *f = *state;
	RNA_CLEANUP(rna_history_deinit) struct rna_history all = {0};

	happen(f->histories, 3);
	assert_int_equal(put(f), 0);
	cut_tail(f, 9);
	all = read_all(f);
	expect_numbers(&all, 1, 2);
	happen(f->histories, 2);
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

	happen(f->histories, 2);
	assert_int_equal(put(f), 0);
	happen(f->histories, 500);
	rna_history_written(f->ports, false);
	assert_int_equal(f->ports->count, 502); /* they wait */
	happen(f->histories, 2000);
	assert_int_equal(f->ports->count, WAITING); /* but not for ever */
	assert_int_equal(put(f), 0);
	all = read_all(f);
	assert_int_equal(rna_history_at(&all, 1)->sequence, 2);
	assert_int_equal(rna_history_at(&all, 2)->sequence, 2502 - WAITING + 1);
	assert_int_equal(rna_history_at(&all, all.count - 1)->sequence, 2502);
}

/* Of a failure between the two steps of turning over: nothing is lost at the next try. */
static void test_turning_over_twice(void **state)
{
	struct fixture *f = *state;
	RNA_CLEANUP(rna_history_deinit) struct rna_history all = {0};

	happen(f->histories, 1024);
	assert_int_equal(put(f), 0);
	happen(f->histories, 1);
	assert_int_equal(renameat(f->directory, rna_history_places[RNA_CHANGE_OF_PORT].file,
				  f->directory, rna_history_places[RNA_CHANGE_OF_PORT].old),
			 0); /* killed here */
	assert_int_equal(put(f), 0);
	f->ports->lines = RNA_HISTORY_FULL; /* the new file was made, but its fsync() failed */
	happen(f->histories, 1);
	assert_int_equal(put(f), 0);
	all = read_all(f);
	expect_numbers(&all, 1, 1026);
}

static void test_no_state_directory(void **state)
{
	struct fixture *f = *state;

	f->ports->room = 0;
	happen(f->histories, 1000);
	expect_numbers(f->ports, 1000 - RNA_CHANGES_SHOWN + 1, 1000);
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
		/* of a version to come, and of one that was damaged */
		{"{\"version\": 1, \"lines\": \"events\"}\n"
		 "{\"sequence\": 1, \"what\": \"praised\", \"text\": \"t\"}\n"
		 "{\"sequence\": 1, \"what\": \"raised\", \"rule\": \"r\", \"text\": \"t\"}\n"
		 "{\"sequence\": 1, \"what\": \"up\", \"text\": \"t\"}\n"
		 "{\"sequence\": 1, \"what\": \"started\"}\n",
		 0},
	};
	struct fixture *f = *state;
	struct rna_error error;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		error = (struct rna_error){0};
		assert_int_equal(rna_history_read(f->ports, cases[i].text, strlen(cases[i].text),
						  &error),
				 cases[i].status);
		assert_int_equal(error.text[0] != '\0', cases[i].status < 0);
		assert_int_equal(f->ports->count, 0);
	}
}

/*
 * Numbers that do not grow are of a file that two agents wrote. These lines are as agents wrote
 * them that knew of ports only.
 */
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

	assert_int_equal(rna_history_read(f->ports, file, strlen(file), &error), 0);
	expect_numbers(f->ports, 9, 11);
	assert_int_equal(rna_history_at(f->ports, 0)->what, RNA_CHANGE_UP);
	assert_int_equal(rna_history_at(f->ports, 1)->what, RNA_CHANGE_DOWN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_was_written_is_read),
		TEST(test_only_what_is_new_is_written),
		TEST(test_one_that_no_reader_takes_costs_only_itself),
		TEST(test_a_finding_is_read_as_it_was),
		TEST(test_long_texts_are_cut),
		TEST(test_kinds_are_merged_by_their_numbers),
		TEST(test_a_flood_of_findings_costs_no_port),
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
