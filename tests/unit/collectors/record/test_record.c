// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/record/record.c: what the golden suite cannot see, for all its machines are well off.
 * That a recording gives the outputs of its original is shown there.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/record.h"

#include "tree.h"

#define DEVICE "sys/devices/virtual/infiniband/rxe0"

/* A file that never answers; the linker puts this in the place of read(). */
#define SILENT_FILE "silent"

static bool files_vanish; /* when they are read, so that they cannot be read again */

ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size);

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	char link[32], path[256];
	ssize_t len;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	assert_true(len > 0);
	path[len] = '\0';
	while (strcmp(strrchr(path, '/') + 1, SILENT_FILE) == 0)
		(void)pause();
	if (files_vanish)
		(void)unlink(path);
	return __real_read(fd, buffer, size);
}

static unsigned heard; /* lines about files that do not answer */

static void hear(const char *line)
{
	assert_non_null(strstr(line, DEVICE "/ports/1/counters/" SILENT_FILE ": "));
	heard++;
}

struct fixture {
	struct tree node;
	struct tree copy; /* an empty directory */
	struct rna_record_result result;
};

static int set_up(void **state)
{
	static struct fixture fixture;

	tree_init(&fixture.node);
	tree_init(&fixture.copy);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	tree_deinit(&fixture->node);
	tree_deinit(&fixture->copy);
	return 0;
}

static void make_device(struct fixture *fixture)
{
	tree_link(&fixture->node, "sys/class/infiniband/rxe0",
		  "../../devices/virtual/infiniband/rxe0");
	tree_write(&fixture->node, DEVICE "/node_guid", "5054:00ff:fe12:3456\n");
	tree_write(&fixture->node, DEVICE "/node_desc", "node17 rxe0\n");
	tree_write(&fixture->node, DEVICE "/ports/1/link_layer", "Ethernet\n");
	tree_write(&fixture->node, "sys/class/net/eth0/type", "1\n");
}

static int record(struct fixture *fixture, bool keep_identity)
{
	const struct rna_record_options options = {
		.directory = fixture->copy.path,
		.keep_identity = keep_identity,
		.deadline = 1,
		.tell = hear,
	};

	return rna_record(fixture->node.root, &options, &fixture->result, NULL);
}

static void assert_content(struct fixture *fixture, const char *path, const char *expected)
{
	char text[RNA_ATTRIBUTE_MAX + 1];

	assert_true(rna_root_read(fixture->copy.root, path, text, sizeof(text)) >= 0);
	assert_string_equal(text, expected);
}

static void test_a_node_without_a_stack_is_a_recording_without_one(void **state)
{
	struct fixture *fixture = *state;

	tree_mkdir(&fixture->node, "sys");
	assert_int_equal(record(fixture, false), 0);
	assert_true(rna_root_exists(fixture->copy.root, "sys"));
	assert_false(rna_root_exists(fixture->copy.root, "sys/class/infiniband"));
	assert_int_equal(fixture->result.devices, 0);
}

static void test_identity_is_replaced_unless_kept(void **state)
{
	struct fixture *fixture = *state;

	make_device(fixture);
	assert_int_equal(record(fixture, false), 0);
	assert_int_equal(fixture->result.devices, 1);
	assert_int_equal(fixture->result.files, 3);
	assert_content(fixture, DEVICE "/node_guid", "0000:00ff:fe00:f001");
	assert_content(fixture, "sys/class/infiniband/rxe0/node_desc", "text 2");
}

static void test_identity_is_kept_on_demand(void **state)
{
	struct fixture *fixture = *state;

	make_device(fixture);
	assert_int_equal(record(fixture, true), 0);
	assert_content(fixture, DEVICE "/node_guid", "5054:00ff:fe12:3456");
	assert_content(fixture, DEVICE "/node_desc", "node17 rxe0");
}

static void test_what_cannot_be_read_is_noted_and_stays_unreadable(void **state)
{
	struct fixture *fixture = *state;
	char text[16];

	make_device(fixture);
	tree_mkdir(&fixture->node, DEVICE "/fw_ver");
	tree_fifo(&fixture->node, DEVICE "/ports/1/counters/symbol_error");
	assert_int_equal(record(fixture, false), 0);
	assert_int_equal(fixture->result.unreadable, 2);
	assert_content(fixture, "recorded/unreadable",
		       DEVICE "/fw_ver EISDIR\n" DEVICE "/ports/1/counters/symbol_error EAGAIN");
	assert_int_equal(rna_root_read(fixture->copy.root, DEVICE "/ports/1/counters/symbol_error",
				       text, sizeof(text)),
			 -EISDIR);
}

static void test_silence_costs_the_rest_of_the_directory(void **state)
{
	struct fixture *fixture = *state;

	make_device(fixture);
	tree_write(&fixture->node, DEVICE "/ports/1/counters/link_downed", "1\n");
	tree_write(&fixture->node, DEVICE "/ports/1/counters/" SILENT_FILE, "2\n");
	tree_write(&fixture->node, DEVICE "/ports/1/counters/symbol_error", "3\n");
	tree_write(&fixture->node, DEVICE "/ports/1/counters/unknown", "4\n"); /* behind it */
	tree_write(&fixture->node, DEVICE "/ports/1/hw_counters/out_of_buffer", "5\n");
	heard = 0;
	assert_int_equal(record(fixture, false), 0);
	assert_int_equal(heard, 2); /* that it waits, and that it waits no longer */
	assert_content(fixture, DEVICE "/ports/1/counters/link_downed", "1");
	assert_content(fixture, DEVICE "/ports/1/counters/symbol_error", "3");
	assert_content(fixture, DEVICE "/ports/1/hw_counters/out_of_buffer", "5");
	assert_int_equal(fixture->result.unreadable, 2);
	assert_content(fixture, "recorded/unreadable",
		       DEVICE "/ports/1/counters/" SILENT_FILE " ETIMEDOUT\n" DEVICE
			      "/ports/1/counters/unknown ETIMEDOUT");
}

static void test_binary_content_stays_binary_and_says_nothing(void **state)
{
	static const char binary[] = "node17\0\xff";
	struct fixture *fixture = *state;
	char text[16];

	make_device(fixture);
	tree_write_bytes(&fixture->node, DEVICE "/node_desc", binary, sizeof(binary));
	tree_write_bytes(&fixture->node, DEVICE "/ports/1/counters/odd", binary, sizeof(binary));
	assert_int_equal(record(fixture, false), 0);
	assert_int_equal(rna_root_read(fixture->copy.root, DEVICE "/node_desc", text, sizeof(text)),
			 -EILSEQ);
	assert_int_equal(rna_root_read(fixture->copy.root, DEVICE "/ports/1/counters/odd", text,
				       sizeof(text)),
			 -EILSEQ);
}

static void test_a_file_is_read_once_whoever_wants_it(void **state)
{
	struct fixture *fixture = *state;

	make_device(fixture);
	tree_write(&fixture->node, DEVICE "/ports/1/gid_attrs/ndevs/0", "eth0\n");
	tree_write(&fixture->node, DEVICE "/ports/1/gids/0", "fe80::\n");
	files_vanish = true;
	assert_int_equal(record(fixture, true), 0);
	files_vanish = false;
	assert_false(rna_root_exists(fixture->node.root, DEVICE "/ports/1/gid_attrs/ndevs/0"));
	assert_content(fixture, DEVICE "/ports/1/link_layer", "Ethernet");
	assert_content(fixture, DEVICE "/ports/1/gid_attrs/ndevs/0", "eth0");
	assert_content(fixture, "sys/class/net/eth0/type", "1");
}

static void test_what_is_not_read_is_not_recorded(void **state)
{
	struct fixture *fixture = *state;

	make_device(fixture);
	tree_write(&fixture->node, DEVICE "/serial", "S1234\n");
	tree_mkdir(&fixture->node, "sys/class/net/eth1");
	tree_write(&fixture->node, "sys/class/net/eth1/address", "00:11:22:33:44:55\n");
	assert_int_equal(record(fixture, true), 0);
	assert_false(rna_root_exists(fixture->copy.root, DEVICE "/serial"));
	assert_true(rna_root_exists(fixture->copy.root, "sys/class/net/eth1")); /* it is listed */
	assert_false(rna_root_exists(fixture->copy.root, "sys/class/net/eth1/address"));
}

static void test_secrets_of_units_stay_behind_wherever_links_lead(void **state)
{
	struct fixture *fixture = *state;

	make_device(fixture);
	tree_link(&fixture->node, "etc/systemd/system/containerd.service", "/opt/unit");
	tree_write(&fixture->node, "opt/unit",
		   "[Service]\nEnvironment=TOKEN=secret\n LimitMEMLOCK=8M\n");
	assert_int_equal(record(fixture, true), 0);
	assert_content(fixture, "etc/systemd/system/containerd.service",
		       "[Service]\n LimitMEMLOCK=8M");
}

static void test_addresses_are_replaced_in_files_that_no_row_is_about(void **state)
{
	struct fixture *fixture = *state;

	make_device(fixture);
	tree_write(&fixture->node, DEVICE "/ports/1/counters/odd", "of 5054:00ff:fe12:3456\n");
	assert_int_equal(record(fixture, false), 0);
	assert_content(fixture, DEVICE "/ports/1/counters/odd", "of 0000:00ff:fe00:f001");
}

static void test_what_netlink_says_is_recorded(void **state)
{
	static const char file[] = "recorded/netlink/rxe0/ports/1/netdev";
	struct fixture *fixture = *state;

	make_device(fixture);
	tree_write(&fixture->node, file, "eth0\n");
	assert_int_equal(record(fixture, false), 0);
	assert_content(fixture, file, "eth0");
	assert_content(fixture, "sys/class/net/eth0/type", "1");
}

static void test_a_directory_that_is_not_empty_is_left_alone(void **state)
{
	struct fixture *fixture = *state;

	make_device(fixture);
	tree_write(&fixture->copy, "mine", "");
	assert_int_equal(record(fixture, false), -ENOTEMPTY);
	assert_false(rna_root_exists(fixture->copy.root, "sys"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(test_a_node_without_a_stack_is_a_recording_without_one),
		TEST(test_identity_is_replaced_unless_kept),
		TEST(test_identity_is_kept_on_demand),
		TEST(test_what_cannot_be_read_is_noted_and_stays_unreadable),
		TEST(test_silence_costs_the_rest_of_the_directory),
		TEST(test_binary_content_stays_binary_and_says_nothing),
		TEST(test_a_file_is_read_once_whoever_wants_it),
		TEST(test_what_is_not_read_is_not_recorded),
		TEST(test_secrets_of_units_stay_behind_wherever_links_lead),
		TEST(test_addresses_are_replaced_in_files_that_no_row_is_about),
		TEST(test_what_netlink_says_is_recorded),
		TEST(test_a_directory_that_is_not_empty_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
