// SPDX-License-Identifier: Apache-2.0
/* agent/mesh, member_source: the thread that looks, with a file; and the waits of all sources. */
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

#include "rna/base/thread.h"

#include "mesh/member_source.h"

static struct rna_worker *source;
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
	source = rna_worker_stop(source);
	(void)unlink(path);
	assert_true(rna_threads_aside_join(20 * RNA_USEC_PER_SEC));
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
	struct pollfd ready = {.fd = rna_worker_fd(source), .events = POLLIN};
	struct rna_member_list *list;

	assert_int_equal(poll(&ready, 1, 20000), 1);
	list = rna_member_source_take(source);
	assert_non_null(list);
	return list;
}

static void test_a_file_that_changes(void **state)
{
	const struct rna_member_source_options options = {.kind = RNA_MEMBERS_FILE, .place = path};
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
	const struct rna_member_source_options options = {.kind = RNA_MEMBERS_FILE, .place = path};
	struct pollfd ready = {.events = POLLIN};

	(void)state;
	write_list("[]");
	assert_int_equal(rna_member_source_start(&options, &source, NULL), 0);
	ready.fd = rna_worker_fd(source);
	assert_int_equal(poll(&ready, 1, 20000), 1);
	source = rna_worker_stop(source);
	assert_null(rna_worker_stop(NULL));
}

static void test_one_look(void **state)
{
	const struct rna_member_source_options options = {.kind = RNA_MEMBERS_FILE, .place = path};
	struct rna_member_list *list;

	(void)state;
	list = rna_member_source_look(&options, 0);
	assert_non_null(list);
	assert_non_null(strstr(list->error, path)); /* it is missing */
	assert_int_equal(list->members.count, 0);
	list = rna_member_list_free(list);
	write_list("[{\"targets\": [\"n2:1\", \"n1:1\"]}]");
	list = rna_member_source_look(&options, 0);
	assert_non_null(list);
	assert_string_equal(list->error, "");
	assert_int_equal(list->members.count, 2);
	assert_string_equal(list->members.members[0].name, "n1");
	list = rna_member_list_free(list);
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

static void test_names_of_services(void **state)
{
	static const char *const wrong[] = {"a", "/b", "a/", "a/b/c", "A/b", "a/b?x", "a b/c"};

	(void)state;
	assert_true(rna_member_service_or_none_is_valid(""));
	assert_true(rna_member_service_or_none_is_valid("rdma/rdma-node-agent"));
	for (size_t i = 0; i < RNA_ARRAY_SIZE(wrong); i++)
		assert_false(rna_member_service_or_none_is_valid(wrong[i]));
}

enum { FLEET = 10000, MINUTES = 600 };

static uint64_t next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* Ten hours of a fleet whose agents all start at once: at most 6 lists a second in each minute. */
static void test_load_of_a_fleet(void **state)
{
	static unsigned asked[MINUTES];
	const rna_usec minute = 60 * RNA_USEC_PER_SEC;
	uint64_t random = 4711, sum = 0;

	(void)state;
	for (unsigned i = 0; i < FLEET; i++) {
		rna_usec now = next_random(&random) % (3 * minute);

		now += next_random(&random) %
		       rna_member_source_kubernetes_wait(FLEET, next_random(&random));
		for (; now < MINUTES * minute;
		     now += rna_member_source_kubernetes_wait(FLEET, next_random(&random)))
			asked[now / minute]++;
	}
	for (unsigned i = 0; i < MINUTES; i++) {
		assert_true(asked[i] <= 6 * 60);
		sum += asked[i];
	}
	assert_true(sum / MINUTES > 3 * 60 && sum / MINUTES < 4 * 60);
}

static void test_waits_of_small_fleets(void **state)
{
	(void)state;
	for (uint64_t random = 0; random < 1000; random++) {
		rna_usec wait = rna_member_source_kubernetes_wait(3, random * 0x9e3779b97f4a7c15);

		assert_true(wait >= 48 * RNA_USEC_PER_SEC && wait <= 72 * RNA_USEC_PER_SEC);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_file_that_changes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_end_with_a_list, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_look, set_up, tear_down),
		cmocka_unit_test(test_waits_of_dns),
		cmocka_unit_test(test_names_of_services),
		cmocka_unit_test(test_load_of_a_fleet),
		cmocka_unit_test(test_waits_of_small_fleets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
