// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/record/record.c: what the golden suite cannot see, for all its machines are well off.
 * That a recording gives the outputs of its original is shown there.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/record.h"

#include "record/recording.h"

#include "tree.h"

#define DEVICE "sys/devices/virtual/infiniband/rxe0"

/* A file that never answers; the linker puts this in the place of read(). */
#define SILENT_FILE "silent"

static bool files_vanish; /* when they are read, so that they cannot be read again */

/* What another user places in the recording while a file is read. NULL: nothing. */
static const struct tree *planted_in;
static const char *planted_path, *planted_target; /* target: of a link; NULL: a file */

static void plant(void)
{
	const struct tree *tree = planted_in;

	planted_in = NULL;
	if (planted_target)
		tree_link(tree, planted_path, planted_target);
	else
		tree_write(tree, planted_path, "theirs");
}

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
	if (planted_in)
		plant();
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
		       DEVICE "/fw_ver EISDIR\n" DEVICE "/ports/1/counters/symbol_error EACCES");
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

static void test_of_container_runtimes_only_limits_are_recorded(void **state)
{
	struct fixture *fixture = *state;

	make_device(fixture);
	tree_write(&fixture->node, "etc/systemd/system/containerd.service", "[Service]\n");
	tree_write(&fixture->node, "etc/systemd/system/crio.service", "[Service]\n");
	tree_write(&fixture->node, "etc/systemd/system/docker.service", "[Service]\n");
	tree_write(&fixture->node, "etc/containerd/config.toml",
		   "[auth]\npassword = \"secret\"\n  base_runtime_spec = \"/spec.json\"\n");
	tree_write(&fixture->node, "etc/crio/crio.conf",
		   "token = \"secret\"\ndefault_ulimits = [\n\"nofile=1\",\n\"memlock=1\",\n]\n");
	tree_write(&fixture->node, "etc/docker/daemon.json",
		   "{\"proxies\": \"secret\", \"default-ulimits\": {\"memlock\": {\"Soft\": 1}}}");
	tree_write(&fixture->node, "proc/10/cgroup", "0::/system.slice/containerd.service\n");
	tree_write(&fixture->node, "proc/10/comm", "secret\n");
	assert_int_equal(record(fixture, true), 0);
	assert_content(fixture, "etc/containerd/config.toml",
		       "  base_runtime_spec = \"/spec.json\"");
	assert_content(fixture, "etc/crio/crio.conf", "default_ulimits = [\n\"memlock=1\",\n]");
	assert_content(fixture, "etc/docker/daemon.json",
		       "{\"default-ulimits\": {\"memlock\": {\"Soft\": 1.0}}}");
	assert_false(rna_root_exists(fixture->copy.root, "proc/10"));
}

static void test_of_modules_only_those_of_rdma_are_recorded(void **state)
{
	struct fixture *fixture = *state;

	make_device(fixture);
	tree_mkdir(&fixture->node, "sys/module/ib_core");
	tree_mkdir(&fixture->node, "sys/module/ionic");
	tree_write(&fixture->node, "proc/sys/kernel/osrelease", "6.8\n");
	tree_write(&fixture->node, "proc/cmdline",
		   "root=secret module_blacklist=efa,irdma nfsroot=secret\n");
	tree_write(&fixture->node, "etc/modprobe.d/a.conf",
		   "blacklist efa\noptions secret key=secret\n");
	tree_write(&fixture->node, "lib/modules/6.8/modules.dep",
		   "extra/secret.ko: x.ko\nextra/irdma.ko.xz: secret.ko\n");
	assert_int_equal(record(fixture, true), 0);
	assert_content(fixture, "proc/cmdline", "module_blacklist=efa module_blacklist=irdma");
	assert_content(fixture, "etc/modprobe.d/a.conf", "blacklist efa");
	assert_content(fixture, "lib/modules/6.8/modules.dep", "extra/irdma.ko.xz:");
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

/* -- Another user writes to the directory ------------------------------------------------------ */

/* The status of a recording where a link, or without target a file, is placed in its way. */
static int record_around(struct fixture *fixture, const char *path, const char *target)
{
	RNA_CLOSE int planted = -1;
	int status;

	planted_in = &fixture->copy;
	planted_path = path;
	planted_target = target;
	status = record(fixture, true);
	planted_in = NULL; /* the child did it */
	planted = rna_root_openat(fixture->copy.root, path, O_PATH | O_NOFOLLOW);
	assert_true(planted >= 0);
	return status;
}

static void test_a_planted_link_to_a_directory_is_not_followed(void **state)
{
	static const char *const ways[] = {"sys", "sys/devices", "recorded"};
	RNA_CLEANUP(tree_deinit) struct tree outside;
	struct fixture *fixture = *state;
	char **names;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);

	tree_init(&outside);
	make_device(fixture);
	tree_mkdir(&fixture->node, DEVICE "/fw_ver"); /* for recorded/unreadable */
	for (size_t i = 0; i < RNA_ARRAY_SIZE(ways); i++) {
		int status = record_around(fixture, ways[i], outside.path);

		assert_true(status == -ELOOP || status == -ENOTDIR);
		assert_int_equal(rna_root_list(outside.root, ".", arena, &names), 0);
		tree_deinit(&fixture->copy);
		tree_init(&fixture->copy);
	}
}

/* A file of a machine may have mode 0666, and rights were given to a path once. */
static void test_a_planted_link_to_a_file_gives_nothing_to_its_target(void **state)
{
	static const char *const ways[] = {"dev/infiniband/uverbs0", DEVICE "/node_guid",
					   "sys/class/infiniband/rxe0"};
	RNA_CLEANUP(tree_deinit) struct tree outside;
	struct fixture *fixture = *state;
	char target[128], from[128];
	struct stat stat;

	tree_init(&outside);
	tree_write(&outside, "target", "mine");
	(void)snprintf(target, sizeof(target), "%s/target", outside.path);
	assert_int_equal(chmod(target, 0600), 0);
	make_device(fixture);
	tree_write(&fixture->node, "sys/class/infiniband_verbs/uverbs0/ibdev", "rxe0");
	tree_write(&fixture->node, "dev/infiniband/uverbs0", "");
	(void)snprintf(from, sizeof(from), "%s/dev/infiniband/uverbs0", fixture->node.path);
	assert_int_equal(chmod(from, 0666), 0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(ways); i++) {
		assert_int_equal(record_around(fixture, ways[i], target), -EEXIST);
		assert_int_equal(lstat(target, &stat), 0);
		assert_int_equal(stat.st_mode, S_IFREG | 0600);
		assert_int_equal(stat.st_size, strlen("mine"));
		tree_deinit(&fixture->copy);
		tree_init(&fixture->copy);
	}
}

static void test_a_file_that_is_there_is_not_overwritten(void **state)
{
	struct fixture *fixture = *state;

	make_device(fixture);
	assert_int_equal(record_around(fixture, DEVICE "/node_guid", NULL), -EEXIST);
	assert_content(fixture, DEVICE "/node_guid", "theirs");
}

static void test_the_directory_is_no_link(void **state)
{
	struct fixture *fixture = *state;
	char path[128];
	struct rna_record_options options = {.directory = path, .deadline = 1};

	make_device(fixture);
	tree_mkdir(&fixture->copy, "elsewhere");
	tree_link(&fixture->copy, "link", "elsewhere");
	for (const char *end = "//"; *end; end++) {
		(void)snprintf(path, sizeof(path), "%s/link%s", fixture->copy.path, end + 1);
		assert_true(rna_record(fixture->node.root, &options, &fixture->result, NULL) < 0);
	}
	assert_false(rna_root_exists(fixture->copy.root, "elsewhere/sys"));
}

/* -- A machine that calls its files as it likes ------------------------------------------------ */

static void test_names_that_are_no_names_are_only_listed(void **state)
{
	static char too_long[300];
	const char *const paths[] = {
		"../outside",
		"sys/../../outside",
		"/outside",
		"sys//x",
		"sys/./x",
		"sys/x/",
		"",
		"..",
		too_long,
		"sys/a\nb",
		"sys/a\nb/../c",
	};
	const struct rna_record_options options = {.directory = "copy", .keep_identity = true};
	struct fixture *fixture = *state;
	struct rna_notes notes;
	RNA_CLOSE int fd = -1;
	char **names, expected[1024];
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);

	memset(too_long, 'x', sizeof(too_long) - 1);
	assert_int_equal(rna_notes_init(&notes), 0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(paths); i++)
		rna_notes_add(&notes, &(struct rna_note){(enum rna_note_kind)(i % 4), 0, paths[i],
							 "/etc", strlen("/etc")});
	tree_mkdir(&fixture->copy, "copy");
	fd = rna_root_openat(fixture->copy.root, "copy", O_RDONLY | O_DIRECTORY);
	assert_int_equal(rna_recording_write(&notes, &options, fd, &fixture->result, NULL), 0);
	assert_int_equal(fixture->result.unreadable, 10);
	(void)snprintf(expected, sizeof(expected),
		       "../outside EINVAL\nsys/../../outside EINVAL\n/outside EINVAL\n"
		       "sys//x EINVAL\nsys/./x EINVAL\nsys/x/ EINVAL\n EINVAL\n.. EINVAL\n"
		       "%s EINVAL\nsys/a\xef\xbf\xbd"
		       "b/../c EINVAL",
		       too_long);
	assert_content(fixture, "copy/recorded/unreadable", expected);
	assert_int_equal(rna_root_list(fixture->copy.root, ".", arena, &names), 1);
	assert_int_equal(rna_root_list(fixture->copy.root, "copy", arena, &names), 2);
	assert_true(rna_root_exists(fixture->copy.root, "copy/sys/a\nb"));
	rna_notes_deinit(&notes);
}

/* Of a machine that changes while it is read: each note is true, and both cannot be written. */
static void test_a_directory_that_becomes_a_file_stays_one(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_record_options options = {.directory = "copy", .keep_identity = true};
	struct rna_notes notes;
	RNA_CLOSE int fd = -1;

	assert_int_equal(rna_notes_init(&notes), 0);
	rna_notes_add(&notes, &(struct rna_note){RNA_NOTE_DIRECTORY, 0, "sys/a"});
	rna_notes_add(&notes, &(struct rna_note){RNA_NOTE_CONTENT, 0, "sys/a", "1", 1});
	rna_notes_add(&notes, &(struct rna_note){RNA_NOTE_CONTENT, 0, "sys/a/b", "2", 1});
	fd = rna_root_openat(fixture->copy.root, ".", O_RDONLY | O_DIRECTORY);
	assert_int_equal(rna_recording_write(&notes, &options, fd, &fixture->result, NULL), 0);
	assert_content(fixture, "sys/a/b", "2");
	rna_notes_deinit(&notes);
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
		TEST(test_of_container_runtimes_only_limits_are_recorded),
		TEST(test_of_modules_only_those_of_rdma_are_recorded),
		TEST(test_addresses_are_replaced_in_files_that_no_row_is_about),
		TEST(test_what_netlink_says_is_recorded),
		TEST(test_a_directory_that_is_not_empty_is_left_alone),
		TEST(test_a_planted_link_to_a_directory_is_not_followed),
		TEST(test_a_planted_link_to_a_file_gives_nothing_to_its_target),
		TEST(test_a_file_that_is_there_is_not_overwritten),
		TEST(test_the_directory_is_no_link),
		TEST(test_names_that_are_no_names_are_only_listed),
		TEST(test_a_directory_that_becomes_a_file_stays_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
