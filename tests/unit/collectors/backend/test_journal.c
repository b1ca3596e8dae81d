// SPDX-License-Identifier: Apache-2.0
/*
 * backend/journal: which entries are asked for and from where, on a libsystemd of this test. That
 * the real one answers so is shown by tests/vm/suite-systemd.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>
#include <cmocka.h>

#include "backend/backends.h"

#include "tree.h"

/* -- The journal ------------------------------------------------------------------------------- */

enum { FIELDS_MAX = 6 };

struct entry {
	const char *fields[FIELDS_MAX];
	uint64_t monotonic;
};

static struct {
	const struct entry *entries;
	size_t count;
	long at; /* -1: in front of the first */
	bool files;
	int open, next; /* errors */
	unsigned opened, closed;
	char matches[128];
	char path[64];
} world;

int __wrap_sd_journal_open(sd_journal **ret, int flags);
int __wrap_sd_journal_open_directory(sd_journal **ret, const char *path, int flags);
void __wrap_sd_journal_close(sd_journal *journal);
int __wrap_sd_journal_has_runtime_files(sd_journal *journal);
int __wrap_sd_journal_has_persistent_files(sd_journal *journal);
int __wrap_sd_journal_add_match(sd_journal *journal, const void *data, size_t size);
int __wrap_sd_journal_seek_head(sd_journal *journal);
int __wrap_sd_journal_seek_cursor(sd_journal *journal, const char *cursor);
int __wrap_sd_journal_test_cursor(sd_journal *journal, const char *cursor);
int __wrap_sd_journal_get_cursor(sd_journal *journal, char **cursor);
int __wrap_sd_journal_next(sd_journal *journal);
int __wrap_sd_journal_get_data(sd_journal *journal, const char *field, const void **data,
			       size_t *len);
int __wrap_sd_journal_get_monotonic_usec(sd_journal *journal, uint64_t *ret, sd_id128_t *boot);

static int open_world(sd_journal **ret, const char *path, int flags)
{
	assert_true(flags & SD_JOURNAL_SYSTEM);
	(void)snprintf(world.path, sizeof(world.path), "%s", path);
	if (world.open < 0)
		return world.open;
	world.opened++;
	world.at = -1;
	world.matches[0] = '\0';
	*ret = (sd_journal *)&world;
	return 0;
}

int __wrap_sd_journal_open(sd_journal **ret, int flags)
{
	return open_world(ret, "/", flags);
}

int __wrap_sd_journal_open_directory(sd_journal **ret, const char *path, int flags)
{
	assert_true(flags & SD_JOURNAL_OS_ROOT);
	return open_world(ret, path, flags);
}

void __wrap_sd_journal_close(sd_journal *journal)
{
	world.closed += !!journal;
}

int __wrap_sd_journal_has_runtime_files(sd_journal *journal)
{
	(void)journal;
	return 0;
}

int __wrap_sd_journal_has_persistent_files(sd_journal *journal)
{
	(void)journal;
	return world.files;
}

int __wrap_sd_journal_add_match(sd_journal *journal, const void *data, size_t size)
{
	(void)journal;
	assert_int_equal(size, 0);
	(void)strncat(world.matches, data, sizeof(world.matches) - strlen(world.matches) - 2);
	(void)strcat(world.matches, " ");
	return 0;
}

int __wrap_sd_journal_seek_head(sd_journal *journal)
{
	(void)journal;
	world.at = -1;
	return 0;
}

/* The next one is that of the cursor; with an x behind the number that is gone. */
int __wrap_sd_journal_seek_cursor(sd_journal *journal, const char *cursor)
{
	(void)journal;
	world.at = strtol(cursor, NULL, 10) - (strchr(cursor, 'x') ? 0 : 1);
	return 0;
}

int __wrap_sd_journal_test_cursor(sd_journal *journal, const char *cursor)
{
	(void)journal;
	return !strchr(cursor, 'x') && world.at == strtol(cursor, NULL, 10);
}

int __wrap_sd_journal_get_cursor(sd_journal *journal, char **cursor)
{
	(void)journal;
	return asprintf(cursor, "%ld", world.at) < 0 ? -ENOMEM : 0;
}

/* At the end the last one stays the current one. */
int __wrap_sd_journal_next(sd_journal *journal)
{
	(void)journal;
	if (world.next < 0)
		return world.next;
	if (world.at + 1 >= (long)world.count)
		return 0;
	world.at++;
	return 1;
}

int __wrap_sd_journal_get_data(sd_journal *journal, const char *field, const void **data,
			       size_t *len)
{
	const struct entry *entry = &world.entries[world.at];

	(void)journal;
	for (size_t i = 0; i < FIELDS_MAX && entry->fields[i]; i++) {
		const char *text = entry->fields[i];

		if (strncmp(text, field, strlen(field)) != 0 || text[strlen(field)] != '=')
			continue;
		*data = text;
		*len = strlen(text);
		return 0;
	}
	return -ENOENT;
}

int __wrap_sd_journal_get_monotonic_usec(sd_journal *journal, uint64_t *ret, sd_id128_t *boot)
{
	(void)journal, (void)boot;
	*ret = world.entries[world.at].monotonic;
	return 0;
}

/* -- The agent --------------------------------------------------------------------------------- */

static char taken[512];

static bool take(void *userdata, struct rna_kmsg_record *record)
{
	size_t used = strlen(taken);

	(void)userdata;
	assert_int_equal(record->message[record->len], '\0');
	(void)snprintf(taken + used, sizeof(taken) - used, "%u %ju %s %s\n", record->facility,
		       (uintmax_t)record->time, record->device ? record->device : "-",
		       record->message);
	return true;
}

static int read_behind(const struct tree *tree, struct rna_arena *arena, const char *cursor,
		       struct rna_journal_answer *answer)
{
	const struct rna_journal_request request = {
		.root = tree->root, .arena = arena, .cursor = cursor, .most = 3, .take = take};

	*answer = (struct rna_journal_answer){0};
	taken[0] = '\0';
	return rna_journal.read(&request, answer);
}

struct fixture {
	struct tree tree;
	struct rna_arena *arena;
};

static void fixture_init(struct fixture *fixture)
{
	memset(&world, 0, sizeof(world));
	world.files = true;
	tree_init(&fixture->tree);
	fixture->arena = rna_arena_new(1024);
}

static void fixture_deinit(struct fixture *fixture)
{
	assert_int_equal(world.opened, world.closed);
	(void)rna_arena_free(fixture->arena);
	tree_deinit(&fixture->tree);
}

#define FIXTURE RNA_CLEANUP(fixture_deinit) struct fixture

static const struct entry entries[] = {
	{{"MESSAGE=one", "SYSLOG_FACILITY=0", "_SOURCE_MONOTONIC_TIMESTAMP=100",
	  "_KERNEL_DEVICE=+pci:0000:3b:00.0"},
	 150},
	{{"MESSAGE=two", "SYSLOG_FACILITY=3", "_SOURCE_MONOTONIC_TIMESTAMP=x"}, 250},
	{{"SYSLOG_FACILITY=0"}, 350}, /* without a message */
	{{"MESSAGE=four"}, 450},
};

static void test_entries(void **state)
{
	struct rna_journal_answer answer;
	FIXTURE fixture;

	(void)state;
	fixture_init(&fixture);
	world.entries = entries;
	world.count = 2;
	assert_int_equal(read_behind(&fixture.tree, fixture.arena, NULL, &answer), 0);
	assert_string_equal(taken, "0 100 +pci:0000:3b:00.0 one\n3 250 - two\n");
	assert_non_null(strstr(world.matches, "_BOOT_ID="));
	assert_non_null(strstr(world.matches, "_TRANSPORT=kernel "));
	assert_string_equal(world.path, fixture.tree.path);
	assert_string_equal(answer.cursor, "1");
	assert_false(answer.limited);
	assert_int_equal(answer.error, 0);
	world.count = 4;
	assert_int_equal(read_behind(&fixture.tree, fixture.arena, "1", &answer), 0);
	assert_string_equal(taken, "65535 450 - four\n");
	assert_string_equal(answer.cursor, "3");
	assert_int_equal(answer.error, 0);
	assert_int_equal(read_behind(&fixture.tree, fixture.arena, "3", &answer), 0);
	assert_string_equal(taken, "");
	assert_string_equal(answer.cursor, "3");
}

static void test_a_limit(void **state)
{
	struct rna_journal_answer answer;
	FIXTURE fixture;

	(void)state;
	fixture_init(&fixture);
	world.entries = entries;
	world.count = 4;
	assert_int_equal(read_behind(&fixture.tree, fixture.arena, NULL, &answer), 0);
	assert_true(answer.limited);
	assert_string_equal(answer.cursor, "2");
	assert_int_equal(read_behind(&fixture.tree, fixture.arena, answer.cursor, &answer), 0);
	assert_string_equal(taken, "65535 450 - four\n");
	assert_false(answer.limited);
}

/* Files were rotated away: the entry of the cursor is not there any more. */
static void test_a_cursor_that_is_gone(void **state)
{
	struct rna_journal_answer answer;
	FIXTURE fixture;

	(void)state;
	fixture_init(&fixture);
	world.entries = entries;
	world.count = 2;
	assert_int_equal(read_behind(&fixture.tree, fixture.arena, "0x", &answer), 0);
	assert_string_equal(taken, "3 250 - two\n");
}

static void test_an_empty_journal(void **state)
{
	struct rna_journal_answer answer;
	FIXTURE fixture;

	(void)state;
	fixture_init(&fixture);
	assert_int_equal(read_behind(&fixture.tree, fixture.arena, NULL, &answer), 0);
	assert_string_equal(answer.cursor, ""); /* the journal is the source, nothing was taken */
	world.entries = entries;
	world.count = 1;
	assert_int_equal(read_behind(&fixture.tree, fixture.arena, answer.cursor, &answer), 0);
	assert_string_equal(taken, "0 100 +pci:0000:3b:00.0 one\n");
}

static void test_without_rights(void **state)
{
	struct rna_journal_answer answer;
	FIXTURE fixture;

	(void)state;
	fixture_init(&fixture);
	world.files = false;
	assert_int_equal(read_behind(&fixture.tree, fixture.arena, NULL, &answer), -ENOENT);
	tree_mkdir(&fixture.tree, "var/log/journal");
	assert_int_equal(read_behind(&fixture.tree, fixture.arena, NULL, &answer), -EACCES);
	tree_remove(&fixture.tree, "var/log/journal");
	tree_mkdir(&fixture.tree, "run/log/journal");
	assert_int_equal(read_behind(&fixture.tree, fixture.arena, NULL, &answer), -EACCES);
	world.open = -EIO;
	assert_int_equal(read_behind(&fixture.tree, fixture.arena, NULL, &answer), -EIO);
}

/* A journal that fails is opened anew by the next run, from where this one came to. */
static void test_a_failing_journal(void **state)
{
	struct rna_journal_answer answer;
	FIXTURE fixture;

	(void)state;
	fixture_init(&fixture);
	world.next = -EBADMSG;
	assert_int_equal(read_behind(&fixture.tree, fixture.arena, "1", &answer), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_a_limit),
		cmocka_unit_test(test_a_cursor_that_is_gone),
		cmocka_unit_test(test_an_empty_journal),
		cmocka_unit_test(test_without_rights),
		cmocka_unit_test(test_a_failing_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
