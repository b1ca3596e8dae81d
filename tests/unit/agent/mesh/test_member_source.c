// SPDX-License-Identifier: Apache-2.0
/* agent/mesh, member_source: the thread that looks, with a file; and its waits. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "mesh/member_source.h"

static struct rna_member_source *source;
static char path[256];

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(path, sizeof(path), "/tmp/rna-member-source.%d.json", getpid());
	(void)unlink(path);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	source = rna_member_source_stop(source);
	(void)unlink(path);
	return 0;
}

static void write_list(const char *text)
{
	char new[300];
	FILE *file;

	(void)snprintf(new, sizeof(new), "%s.new", path);
	file = fopen(new, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(rename(new, path), 0);
}

static struct rna_member_list *wait_for_list(void)
{
	struct pollfd ready = {.fd = rna_member_source_fd(source), .events = POLLIN};
	struct rna_member_list *list;

	assert_int_equal(poll(&ready, 1, 20000), 1);
	list = rna_member_source_take(source);
	assert_non_null(list);
	return list;
}

static void test_a_file_that_changes(void **state)
{
	const struct rna_member_source_options options = {RNA_MEMBERS_FILE, path};
	struct rna_member_list *list;
	struct rna_error error = {0};

	(void)state;
	assert_int_equal(rna_member_source_start(&options, &source, &error), 0);
	list = wait_for_list();
	assert_non_null(strstr(list->error, path)); /* it is missing */
	assert_int_equal(list->members.count, 0);
	list = rna_member_list_free(list);
	assert_null(rna_member_source_take(source));
	write_list("[{\"targets\": [\"n1:1\", \"n2:1\"]}]");
	list = wait_for_list();
	assert_string_equal(list->error, "");
	assert_int_equal(list->members.count, 2);
	assert_true(list->looked > 0);
	list = rna_member_list_free(list);
	write_list("[{\"targets\": [\"n1:1\", \"n2\"]}]");
	list = wait_for_list();
	assert_non_null(strstr(list->error, "a target must be HOST:PORT"));
	assert_int_equal(list->members.count, 0);
	list = rna_member_list_free(list);
}

/* A list that was not taken belongs to the source. */
static void test_an_end_with_a_list(void **state)
{
	const struct rna_member_source_options options = {RNA_MEMBERS_FILE, path};
	struct pollfd ready = {.events = POLLIN};

	(void)state;
	write_list("[]");
	assert_int_equal(rna_member_source_start(&options, &source, NULL), 0);
	ready.fd = rna_member_source_fd(source);
	assert_int_equal(poll(&ready, 1, 20000), 1);
	source = rna_member_source_stop(source);
	assert_null(rna_member_source_stop(NULL));
}

static void test_waits_of_dns(void **state)
{
	rna_usec shortest = RNA_USEC_NEVER, longest = 0;

	(void)state;
	for (uint64_t random = 0; random < 1000; random++) {
		rna_usec wait = rna_member_source_dns_wait(100 * RNA_USEC_PER_SEC,
							   random * 0x9e3779b97f4a7c15);

		shortest = wait < shortest ? wait : shortest;
		longest = wait > longest ? wait : longest;
		wait = rna_member_source_dns_wait(0, random * 0x9e3779b97f4a7c15);
		assert_true(wait >= 30 * RNA_USEC_PER_SEC && wait <= 36 * RNA_USEC_PER_SEC);
		wait = rna_member_source_dns_wait(RNA_USEC_NEVER, random * 0x9e3779b97f4a7c15);
		assert_true(wait >= 240 * RNA_USEC_PER_SEC && wait <= 300 * RNA_USEC_PER_SEC);
	}
	assert_true(shortest >= 80 * RNA_USEC_PER_SEC && shortest < 85 * RNA_USEC_PER_SEC);
	assert_true(longest <= 120 * RNA_USEC_PER_SEC && longest > 115 * RNA_USEC_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_file_that_changes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_end_with_a_list, set_up, tear_down),
		cmocka_unit_test(test_waits_of_dns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
