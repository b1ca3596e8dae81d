// SPDX-License-Identifier: Apache-2.0
/* agent/mesh, members: files of Prometheus' file_sd format. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/strbuf.h"

#include "mesh/members.h"

#include "tree.h"

static struct rna_arena *arena;
static struct rna_members members;
static struct rna_error error;
static char path[256];

static int set_up(void **state)
{
	(void)state;
	arena = rna_arena_new(4096);
	return arena ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	arena = rna_arena_free(arena);
	return 0;
}

static int read_text(const char *text)
{
	RNA_FCLOSE FILE *file = NULL;
	int status;

	(void)snprintf(path, sizeof(path), "/tmp/rna-members.%d.yaml", getpid());
	file = fopen(path, "we");
	assert_non_null(file);
	(void)fputs(text, file);
	(void)fflush(file);
	error = (struct rna_error){0};
	status = rna_members_read(path, arena, &members, &error);
	(void)unlink(path);
	return status;
}

static void refuse(const char *text, unsigned line, const char *why)
{
	char expected[512];

	assert_int_equal(read_text(text), -EINVAL);
	(void)snprintf(expected, sizeof(expected), "%s:%u: %s", path, line, why);
	assert_string_equal(error.text, expected);
	assert_int_equal(members.count, 0);
}

static void test_json_as_prometheus_has_it(void **state)
{
	(void)state;
	assert_int_equal(read_text("[{\"targets\": [\"n2:9400\", \"10.0.0.1:9400\"],\n"
				   "  \"labels\": {\"leaf\": \"leaf-a\", \"job\": \"rdma\"}},\n"
				   " {\"targets\": [\"[fd00::1]:80\"],\n"
				   "  \"labels\": {\"node\": \"n1\", \"__scheme__\": \"https\"}}]"),
			 0);
	assert_int_equal(members.count, 3);
	assert_string_equal(members.members[0].name, "10.0.0.1");
	assert_string_equal(members.members[0].address, "10.0.0.1:9400");
	assert_string_equal(members.members[0].leaf, "leaf-a");
	assert_false(members.members[0].https);
	assert_string_equal(members.members[1].name, "n1");
	assert_string_equal(members.members[1].address, "[fd00::1]:80");
	assert_string_equal(members.members[1].leaf, "");
	assert_true(members.members[1].https);
	assert_string_equal(members.members[2].name, "n2");
}

static void test_yaml_and_empty_files(void **state)
{
	(void)state;
	assert_int_equal(read_text("- targets:\n    - n1:1\n    - n1:2\n    - n1:1\n"), 0);
	assert_int_equal(members.count, 1); /* one node, listed three times */
	assert_string_equal(members.members[0].address, "n1:1");
	assert_int_equal(read_text("[]\n"), 0);
	assert_int_equal(members.count, 0);
	assert_int_equal(read_text(""), 0);
	assert_int_equal(members.count, 0);
}

static void test_mistakes_have_their_line(void **state)
{
	static const char target[] =
		"a target must be HOST:PORT, as in node1:9400 or [fd00::1]:9400";

	(void)state;
	refuse("targets: [n1:1]\n", 1, "the file must be a list of groups of targets");
	refuse("- labels: {}\n", 1, "a group must have a list of targets");
	refuse("- targets: n1:1\n", 1, "a group must have a list of targets");
	refuse("- targets: [n1:1]\n- targets:\n  - n2\n", 3, target);
	refuse("- targets: ['n1:0']\n", 1, target);
	refuse("- targets: ['n1:65536']\n", 1, target);
	refuse("- targets: ['fd00::1:80']\n", 1, target);
	refuse("- targets: ['n1/metrics?x=:80']\n", 1, target);
	refuse("- targets: ['user@n1:80']\n", 1, target);
	refuse("- targets: [':80']\n", 1, target);
	refuse("- targets: [[n1:80]]\n", 1, target);
	refuse("- targets: ['n1:80']\n  labels: [a]\n", 2, "labels must be names with values");
	refuse("- targets: ['n1:80']\n  labels: {__scheme__: ftp}\n", 1,
	       "label __scheme__ must be http or https");
}

static void test_a_missing_file(void **state)
{
	(void)state;
	assert_int_equal(rna_members_read("/tmp/no/such.json", arena, &members, &error), -ENOENT);
	assert_non_null(strstr(error.text, "/tmp/no/such.json"));
}

static void test_ten_thousand_nodes(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	(void)state;
	rna_strbuf_puts(&text, "- targets:\n");
	for (int i = 0; i < 10000; i++)
		rna_strbuf_printf(&text, "  - node%05d:9400\n", i);
	assert_int_equal(read_text(text.data), 0);
	assert_int_equal(members.count, 10000);
	assert_string_equal(members.members[9999].name, "node09999");
}

/* Otherwise a node would be its own neighbour, at another place of the ring than for the others. */
static void test_the_own_name(void **state)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET}, loopback = v4;
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct ifaddrs third = {.ifa_addr = (void *)&v6};
	struct ifaddrs second = {.ifa_next = &third, .ifa_addr = NULL};
	struct ifaddrs first = {.ifa_next = &second, .ifa_addr = (void *)&v4};
	struct ifaddrs own = {.ifa_next = &first, .ifa_addr = (void *)&loopback};

	(void)state;
	assert_int_equal(inet_pton(AF_INET, "10.0.0.7", &v4.sin_addr), 1);
	assert_int_equal(inet_pton(AF_INET, "127.0.0.1", &loopback.sin_addr), 1);
	assert_int_equal(inet_pton(AF_INET6, "fd00::7", &v6.sin6_addr), 1);
	assert_int_equal(read_text("[{targets: ['10.0.0.6:1', '10.0.0.7:1', 'n9:1']}]"), 0);
	assert_string_equal(rna_members_own_name(&members, "n7", &own), "10.0.0.7");
	assert_string_equal(rna_members_own_name(&members, "n9", &own), "n9");
	assert_string_equal(rna_members_own_name(&members, "n7", NULL), "n7");
	assert_int_equal(read_text("[{targets: ['[fd00:0::7]:1', '127.0.0.1:1', '10.0.0.70:1']}]"),
			 0);
	assert_string_equal(rna_members_own_name(&members, "n7", &own), "[fd00:0::7]");
	assert_int_equal(read_text("[{targets: ['n7.example:1', 'n70.example:1', 'n1:1']}]"), 0);
	assert_string_equal(rna_members_own_name(&members, "n7", &own), "n7.example");
	assert_string_equal(rna_members_own_name(&members, "n1.example", &own), "n1");
	assert_string_equal(rna_members_own_name(&members, "n7.other", &own), "n7.other");
	assert_int_equal(read_text("[{targets: ['n7.a:1', 'n7.b:1', '127.0.0.1:1']}]"), 0);
	assert_string_equal(rna_members_own_name(&members, "n7", &own), "n7");
}

static void test_hosts(void **state)
{
	static const struct rna_member v6 = {.address = "[fd00::7%eth0]:1"},
				       name = {.address = "n1.example:10879"};
	char host[32];

	(void)state;
	rna_member_host(&v6, host, sizeof(host));
	assert_string_equal(host, "fd00::7%eth0");
	rna_member_host(&name, host, sizeof(host));
	assert_string_equal(host, "n1.example");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_json_as_prometheus_has_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_yaml_and_empty_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_mistakes_have_their_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_missing_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ten_thousand_nodes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_own_name, set_up, tear_down),
		cmocka_unit_test(test_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
