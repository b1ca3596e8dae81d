// SPDX-License-Identifier: Apache-2.0
/* Files below a root: reading, links, lists, and what must not lead out of it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tree.h"

static int setup(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	assert_non_null(tree);
	tree_init(tree);
	*state = tree;
	return 0;
}

static int teardown(void **state)
{
	tree_deinit(*state);
	free(*state);
	return 0;
}

static void test_attributes_lose_their_line_end(void **state)
{
	const struct tree *tree = *state;
	char text[32];
	uint64_t number = 0;

	tree_write(tree, "sys/state", "4: ACTIVE\n");
	tree_write(tree, "sys/plain", "7");
	tree_write(tree, "sys/empty", "");
	tree_write(tree, "sys/hex", "0x1c\n");
	assert_int_equal(rna_root_read(tree->root, "sys/state", text, sizeof(text)), 9);
	assert_string_equal(text, "4: ACTIVE");
	assert_int_equal(rna_root_read_u64(tree->root, "sys/plain", &number), 0);
	assert_int_equal(number, 7);
	assert_int_equal(rna_root_read_hex(tree->root, "sys/hex", &number), 0);
	assert_int_equal(number, 0x1c);
	assert_int_equal(rna_root_read(tree->root, "sys/empty", text, sizeof(text)), 0);
	assert_string_equal(text, "");
	assert_int_equal(rna_root_read_u64(tree->root, "sys/empty", &number), -EBADMSG);
}

static void test_odd_attributes_are_errors(void **state)
{
	const struct tree *tree = *state;
	char text[8];

	tree_write(tree, "sys/long", "12345678");
	tree_write_bytes(tree, "sys/binary", "1\0002", 3);
	assert_int_equal(rna_root_read(tree->root, "sys/long", text, sizeof(text)), -EMSGSIZE);
	assert_int_equal(rna_root_read(tree->root, "sys/binary", text, sizeof(text)), -EILSEQ);
	assert_int_equal(rna_root_read(tree->root, "sys/none", text, sizeof(text)), -ENOENT);
	assert_int_equal(rna_root_read(tree->root, "sys", text, sizeof(text)), -EISDIR);
}

static void test_links_stay_inside(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);
	const struct tree *tree = *state;
	char text[64];
	int error = 0;

	tree_write(tree, "sys/devices/a/name", "inside\n");
	tree_link(tree, "sys/class/relative", "../devices/a");
	tree_link(tree, "sys/class/absolute", "/sys/devices/a");
	tree_link(tree, "sys/class/escape", "../../../../../../etc");
	tree_link(tree, "sys/class/loop", "loop");
	assert_int_equal(rna_root_read(tree->root, "sys/class/relative/name", text, 64), 6);
	assert_int_equal(rna_root_read(tree->root, "sys/class/absolute/name", text, 64), 6);
	assert_int_equal(rna_root_read(tree->root, "sys/class/escape/hostname", text, 64), -ENOENT);
	assert_int_equal(rna_root_read(tree->root, "sys/class/loop/x", text, 64), -ELOOP);
	assert_string_equal(rna_root_realpath(tree->root, "sys/class/absolute", arena, &error),
			    "sys/devices/a");
	assert_null(rna_root_realpath(tree->root, "sys/class/none", arena, &error));
	assert_int_equal(error, -ENOENT);
	assert_int_equal(rna_root_readlink(tree->root, "sys/class/relative", text, 64), 12);
	assert_string_equal(text, "../devices/a");
}

/* A process that renames other files, as compilers and shells do frequently. */
static pid_t start_renaming(const struct tree *tree)
{
	char names[2][sizeof(tree->path) + 16];
	pid_t parent = getpid(), child;

	tree_write(tree, "elsewhere/a", "");
	for (size_t i = 0; i < RNA_ARRAY_SIZE(names); i++)
		(void)snprintf(names[i], sizeof(names[i]), "%s/elsewhere/%c", tree->path, "ab"[i]);
	child = fork();
	assert_true(child >= 0);
	for (size_t i = 0; child == 0 && getppid() == parent; i++)
		if (rename(names[i % 2], names[(i + 1) % 2]) < 0)
			_exit(1);
	if (child == 0)
		_exit(0);
	return child;
}

/* openat2() gives up then on paths with "..", which all links of /sys have in them. */
static void test_renames_elsewhere_do_no_harm(void **state)
{
	const struct tree *tree = *state;
	uint64_t number = 0;
	int failed = 0, status;
	pid_t child;

	tree_write(tree, "sys/devices/a/state", "7");
	tree_link(tree, "sys/class/a", "../devices/a");
	child = start_renaming(tree);
	for (int i = 0; i < 20000; i++)
		failed += rna_root_read_u64(tree->root, "sys/class/a/state", &number) != 0;
	(void)kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status)); /* it went on to the end */
	assert_int_equal(failed, 0);
	assert_int_equal(number, 7);
}

static void test_lists_are_sorted(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);
	const struct tree *tree = *state;
	char **names;

	tree_mkdir(tree, "class/mlx5_10");
	tree_mkdir(tree, "class/mlx5_2");
	tree_mkdir(tree, "class/hfi1_0");
	tree_mkdir(tree, "empty");
	assert_int_equal(rna_root_list(tree->root, "class", arena, &names), 3);
	assert_string_equal(names[0], "hfi1_0");
	assert_string_equal(names[1], "mlx5_2");
	assert_string_equal(names[2], "mlx5_10");
	assert_null(names[3]);
	assert_int_equal(rna_root_list(tree->root, "empty", arena, &names), 0);
	assert_int_equal(rna_root_list(tree->root, "none", arena, &names), -ENOENT);
}

/* What cannot be listed is closed all the same. */
static void test_what_is_no_directory_is_not_kept_open(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);
	const struct tree *tree = *state;
	char **names;
	int fd;

	tree_write(tree, "file", "");
	fd = rna_root_openat(tree->root, "file", O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(rna_root_list_fd(fd, arena, &names), -ENOTDIR);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(rna_root_list_fd(-EMFILE, arena, &names), -EMFILE);
}

/* In the place of a root: notes the path, and opens what userdata says. */
static char opened[64];

static int open_instead(void *userdata, const char *path, int flags)
{
	(void)snprintf(opened, sizeof(opened), "%s", path);
	return rna_root_openat(userdata, "other", flags & ~O_DIRECTORY);
}

static void test_another_function_may_open_everything(void **state)
{
	struct tree *tree = *state;
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLOSE int directory = -1, fd = -1;
	char text[16];

	tree_write(tree, "other", "1\n");
	tree_write(tree, "directory/file", "2\n");
	assert_int_equal(rna_root_open_through(tree->root, open_instead, tree->root, &root, NULL),
			 0);
	assert_ptr_equal(rna_root_userdata(root), tree->root);
	assert_int_equal(rna_root_read(root, "file", text, sizeof(text)), 1);
	assert_string_equal(text, "1");
	assert_string_equal(opened, "file");
	directory = rna_root_openat(tree->root, "directory", O_PATH | O_DIRECTORY);
	fd = rna_root_open_below(root,
				 &(struct rna_root_place){directory, "directory", "file", false},
				 O_RDONLY);
	assert_string_equal(opened, "directory/file");
	assert_int_equal(rna_root_pread_text(fd, text, sizeof(text)), 1);
	assert_string_equal(text, "1");
}

static void test_an_empty_root_has_no_file(void **state)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(64);
	char text[16], **names;

	(void)state;
	assert_int_equal(rna_root_open(rna_root_empty, &root, NULL), 0);
	assert_false(rna_root_is_live(root));
	assert_false(rna_root_exists(root, "sys"));
	assert_int_equal(rna_root_read(root, "proc/self/stat", text, sizeof(text)), -ENOENT);
	assert_int_equal(rna_root_readlink(root, "proc/self", text, sizeof(text)), -ENOENT);
	assert_int_equal(rna_root_list(root, "proc", arena, &names), -ENOENT);
	/* the same text elsewhere is a path that does not exist */
	root = rna_root_close(root);
	text[0] = '\0';
	assert_int_equal(rna_root_open(text, &root, NULL), -ENOENT);
}

static int open_below(const struct tree *tree, int directory, const char *path, const char *name)
{
	const struct rna_root_place place = {directory, path, name, false};

	return rna_root_open_below(tree->root, &place, O_RDONLY);
}

static void test_below_an_open_directory(void **state)
{
	struct tree *tree = *state;
	RNA_CLOSE int directory = -1, kept = -1, by_path = -1;

	tree_write(tree, "directory/file", "2\n");
	directory = rna_root_openat(tree->root, "directory", O_PATH | O_DIRECTORY);
	kept = open_below(tree, directory, "gone", "file");
	by_path = open_below(tree, -1, "directory", "file");
	assert_true(kept >= 0);
	assert_true(by_path >= 0);
	assert_int_equal(open_below(tree, directory, "", "none"), -ENOENT);
}

static void assert_below(const struct tree *tree, int directory, const char *name,
			 const char *expected)
{
	RNA_CLOSE int fd = open_below(tree, directory, "a/directory", name);
	char text[16];

	assert_true(fd >= 0);
	assert_int_equal(rna_root_pread_text(fd, text, sizeof(text)), strlen(expected));
	assert_string_equal(text, expected);
}

/* Links in a directory that is kept open mean the same as by path: nothing outside of the root. */
static void test_links_below_an_open_directory_stay_inside(void **state)
{
	const struct tree *tree = *state;
	RNA_CLEANUP(tree_deinit) struct tree outside;
	RNA_CLOSE int directory = -1;
	char target[128];

	tree_init(&outside);
	tree_write(&outside, "secret", "outside");
	(void)snprintf(target, sizeof(target), "%s/secret", outside.path);
	tree_write(tree, "file", "root");
	tree_write(tree, "a/file", "a");
	tree_link(tree, "a/directory/absolute", "/file");
	tree_link(tree, "a/directory/relative", "../file");
	tree_link(tree, "a/directory/escape", "../../../../../../file");
	tree_link(tree, "a/directory/secret", target);
	tree_link(tree, "a/directory/parent", outside.path);
	directory = rna_root_openat(tree->root, "a/directory", O_PATH | O_DIRECTORY);
	assert_below(tree, directory, "absolute", "root");
	assert_below(tree, directory, "relative", "a");
	assert_below(tree, directory, "escape", "root");
	assert_below(tree, directory, "../file", "a");
	assert_int_equal(open_below(tree, directory, "a/directory", "secret"), -ENOENT);
	assert_int_equal(open_below(tree, directory, "a/directory", "parent/secret"), -ENOENT);
}

/* -- Files that are none ----------------------------------------------------------------------- */

static bool was_opened(int watch)
{
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];

	return read(watch, event, sizeof(event)) > 0;
}

static void make_device(const struct tree *tree, const char *path)
{
	char full[128];

	(void)snprintf(full, sizeof(full), "%s/%s", tree->path, path);
	if (mknod(full, S_IFCHR | 0666, makedev(1, 3)) < 0)
		tree_fifo(tree, path); /* only root may, and not in each container */
}

static void test_nothing_but_files_and_directories_is_opened(void **state)
{
	static const char *const names[] = {"fifo", "device", "socket", "to-fifo"};
	const struct tree *tree = *state;
	RNA_CLOSE int directory = -1, any = -1;
	int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char path[128], text[16];

	tree_mkdir(tree, "odd");
	tree_fifo(tree, "odd/fifo");
	make_device(tree, "odd/device");
	(void)snprintf(path, sizeof(path), "%s/odd/socket", tree->path);
	assert_int_equal(mknod(path, S_IFSOCK | 0666, 0), 0);
	tree_link(tree, "odd/to-fifo", "/odd/fifo");
	directory = rna_root_openat(tree->root, "odd", O_PATH | O_DIRECTORY);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(names) - 1; i++) {
		(void)snprintf(path, sizeof(path), "%s/odd/%s", tree->path, names[i]);
		assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
	}
	for (size_t i = 0; i < RNA_ARRAY_SIZE(names); i++) {
		(void)snprintf(path, sizeof(path), "odd/%s", names[i]);
		assert_int_equal(rna_root_read(tree->root, path, text, sizeof(text)), -EACCES);
		assert_int_equal(open_below(tree, directory, "odd", names[i]), -EACCES);
		assert_true(rna_root_exists(tree->root, path));
	}
	assert_false(was_opened(watch));
	(void)snprintf(path, sizeof(path), "%s/odd/fifo", tree->path);
	any = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(any >= 0 && was_opened(watch)); /* the watch works */
	(void)close(watch);
}

/* A file of a reader, which was one when it was opened first. */
static void test_a_file_that_becomes_a_fifo_is_not_waited_for(void **state)
{
	const struct tree *tree = *state;
	const struct rna_root_place place = {-1, "a", "file", true};
	RNA_CLOSE int fd = -1;
	char text[16];

	tree_fifo(tree, "a/file");
	fd = rna_root_open_below(tree->root, &place, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(rna_root_pread_text(fd, text, sizeof(text)), -ESPIPE);
}

/* A machine whose /sys is a link to that of this node would have its libraries asked. */
static void test_a_link_to_sysfs_is_not_live(void **state)
{
	const struct tree *tree = *state;
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;

	tree_link(tree, "sys", "/sys");
	assert_int_equal(rna_root_open(tree->path, &root, NULL), 0);
	assert_false(rna_root_is_live(root));
}

/* -- A process that swaps directories and links ------------------------------------------------ */

/* Turns "there" into a link to outside, and back, until it is killed. */
static pid_t start_swapping(const struct tree *tree, const struct tree *outside)
{
	char there[128], directory[128], link[128];
	pid_t parent = getpid(), child;

	(void)snprintf(there, sizeof(there), "%s/a/there", tree->path);
	(void)snprintf(directory, sizeof(directory), "%s/a/directory", tree->path);
	(void)snprintf(link, sizeof(link), "%s/a/link", tree->path);
	assert_int_equal(symlink(outside->path, link), 0);
	child = fork();
	assert_true(child >= 0);
	while (child == 0 && getppid() == parent) {
		(void)rename(there, directory);
		(void)rename(link, there);
		(void)rename(there, link);
		(void)rename(directory, there);
	}
	if (child == 0)
		_exit(0);
	return child;
}

static void test_swapped_directories_do_not_lead_outside(void **state)
{
	const struct tree *tree = *state;
	RNA_CLEANUP(tree_deinit) struct tree outside;
	char text[16];
	int inside = 0, status;
	pid_t child;

	tree_init(&outside);
	tree_write(&outside, "file", "outside");
	tree_write(tree, "a/there/file", "inside");
	child = start_swapping(tree, &outside);
	for (int i = 0; i < 20000; i++) {
		if (rna_root_read(tree->root, "a/there/file", text, sizeof(text)) < 0)
			continue;
		assert_string_equal(text, "inside");
		inside++;
	}
	(void)kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status)); /* it went on to the end */
	assert_true(inside > 0);
}

static void test_a_recording_is_not_live(void **state)
{
	const struct tree *tree = *state;
	RNA_CLEANUP(rna_root_close_p) struct rna_root *whole = NULL;
	struct rna_error error;

	tree_mkdir(tree, "sys");
	assert_false(rna_root_is_live(tree->root));
	assert_int_equal(rna_root_open(NULL, &whole, &error), 0);
	assert_string_equal(rna_root_path(whole), "/");
	assert_true(rna_root_is_live(whole));
}

/* This process stands for one of a container, and the tree for files that it made. */
static void test_only_sysfs_of_processes_is_opened(void **state)
{
	static const char *const refused[] = {"fifo", "file", "to-file", "device"};
	RNA_CLEANUP(rna_root_close_p) struct rna_root *whole = NULL;
	RNA_CLOSE int directory = -1, kept = -1;
	const struct tree *tree = *state;
	struct rna_error error;
	char top[128], path[256], text[16];

	assert_int_equal(rna_root_open(NULL, &whole, &error), 0);
	tree_fifo(tree, "fifo");
	tree_write(tree, "file", "1\n");
	tree_link(tree, "to-file", "file");
	make_device(tree, "device");
	(void)snprintf(top, sizeof(top), "proc/%d/root%s", getpid(), tree->path);
	assert_int_equal(rna_root_openat(whole, top, O_PATH | O_DIRECTORY), -EXDEV);
	directory = open(tree->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(refused); i++) {
		const struct rna_root_place place = {directory, top, refused[i], true};

		(void)snprintf(path, sizeof(path), "%s/%s", top, refused[i]);
		assert_int_equal(rna_root_read(whole, path, text, sizeof(text)), -EXDEV);
		assert_int_equal(rna_root_open_below(whole, &place, O_RDONLY), -EXDEV);
	}
	(void)snprintf(path, sizeof(path), "proc/%d/root/sys/kernel/uevent_seqnum", getpid());
	assert_true(rna_root_read(whole, path, text, sizeof(text)) > 0);
	(void)snprintf(top, sizeof(top), "proc/%d/root/sys/kernel", getpid());
	rna_close_p(&directory);
	directory = rna_root_openat(whole, top, O_PATH | O_DIRECTORY);
	kept = rna_root_open_below(whole,
				   &(struct rna_root_place){directory, top, "uevent_seqnum", false},
				   O_RDONLY);
	assert_true(rna_root_pread_text(kept, text, sizeof(text)) > 0);
	assert_int_equal(rna_root_read(whole, "proc/4294967295/root/sys/class", text, sizeof(text)),
			 -ENOENT);
	(void)snprintf(path, sizeof(path), "proc/%d/root/dev/null", getpid());
	assert_int_equal(rna_root_openat(whole, path, O_RDONLY), -EXDEV);
}

/* -- Processes with mounts of their own -------------------------------------------------------- */

enum { NOT_ALLOWED = 77 }; /* exit status of a process that may not mount */

static void bind_to(const char *from, const char *to)
{
	if (mount(from, to, NULL, MS_BIND, NULL) < 0)
		_exit(NOT_ALLOWED);
}

static void mount_nothing(void)
{
}

static void mount_a_class(void)
{
	bind_to("/sys/class/net", "/sys/class/tty");
}

static void mount_an_attribute(void)
{
	bind_to("/sys/devices/virtual/net/lo/mtu", "/sys/devices/virtual/net/lo/address");
}

static void mount_a_part(void)
{
	bind_to("/sys/class", "/sys");
}

static void mount_another_file_system(void)
{
	int fd;

	if (mount("none", "/sys", "tmpfs", 0, NULL) < 0 || mkdir("/sys/class", 0755) < 0)
		_exit(NOT_ALLOWED);
	fd = open("/sys/class/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, "1\n", 2) != 2)
		_exit(NOT_ALLOWED);
}

/* Namespaces with a sysfs of the network namespace. */
static void enter_namespaces(void)
{
	if (unshare(CLONE_NEWNS | CLONE_NEWNET) < 0 &&
	    unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) < 0)
		_exit(NOT_ALLOWED);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/sys", "sysfs", 0, NULL) < 0)
		_exit(NOT_ALLOWED);
}

/* A process that mounts and then waits; -1: this machine does not let it. */
static pid_t start(void (*mount_all)(void))
{
	int ready[2];
	pid_t process;
	char byte;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	process = fork();
	assert_true(process >= 0);
	if (process == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails does not end it */
		enter_namespaces();
		mount_all();
		(void)!write(ready[1], "", 1);
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		int status;

		assert_int_equal(waitpid(process, &status, 0), process);
		assert_int_equal(WEXITSTATUS(status), NOT_ALLOWED);
		process = -1;
	}
	(void)close(ready[0]);
	return process;
}

static void end(pid_t process)
{
	(void)kill(process, SIGKILL);
	assert_int_equal(waitpid(process, NULL, 0), process);
}

static void mount_devices(void)
{
	int fd;

	if (mount("none", "/dev", "tmpfs", 0, NULL) < 0 || mkdir("/dev/a", 0755) < 0 ||
	    mkdir("/dev/b", 0755) < 0 || mkdir("/dev/c", 0755) < 0)
		_exit(NOT_ALLOWED);
	fd = open("/dev/a/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		_exit(NOT_ALLOWED);
	bind_to("/dev/a", "/dev/b");        /* a directory of a file system in memory */
	bind_to("/proc/self/ns", "/dev/c"); /* and one of another */
}

/* A file system of the process's own, in which each request waits for ever. */
static void mount_silence(void)
{
	int fd = open("/dev/fuse", O_RDWR); /* the mount ends with the descriptor */
	char options[64];

	(void)snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (fd < 0 || mount("none", "/sys", "fuse", 0, options) < 0 ||
	    mount("/sys", "/dev", NULL, MS_BIND, NULL) < 0)
		_exit(NOT_ALLOWED);
}

static void test_processes_whose_files_do_not_answer(void **state)
{
	static const char *const names[] = {"sys/class", "sys/class/net/lo/mtu", "dev/null",
					    "dev/infiniband/uverbs0"};
	RNA_CLEANUP(rna_root_close_p) struct rna_root *whole = NULL;
	struct rna_error error;
	pid_t process = start(mount_silence);

	(void)state;
	if (process < 0)
		skip();
	assert_int_equal(rna_root_open(NULL, &whole, &error), 0);
	(void)alarm(60); /* a file that is waited for ends the test */
	for (size_t i = 0; i < RNA_ARRAY_SIZE(names); i++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "proc/%d/root/%s", process, names[i]);
		assert_int_equal(rna_root_openat(whole, path, O_PATH), -EXDEV);
	}
	(void)alarm(0);
	end(process);
}

/* Which files a container has is seen where its runtime puts them, and nowhere else. */
static void test_device_files_of_processes(void **state)
{
	static const struct {
		const char *name;
		int status;
	} rows[] = {
		{"a/file", 0},        {"a/other", -ENOENT}, {"b/file", 0},
		{"b/other", -ENOENT}, {"c/net", -EXDEV},
	};
	RNA_CLEANUP(rna_root_close_p) struct rna_root *whole = NULL;
	struct rna_error error;
	pid_t process = start(mount_devices);

	(void)state;
	if (process < 0)
		skip();
	assert_int_equal(rna_root_open(NULL, &whole, &error), 0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		RNA_CLOSE int fd = -1;
		char path[128];

		(void)snprintf(path, sizeof(path), "proc/%d/root/dev/%s", process, rows[i].name);
		fd = rna_root_openat(whole, path, O_PATH);
		assert_int_equal(fd < 0 ? fd : 0, rows[i].status);
	}
	end(process);
}

#define LO "devices/virtual/net/lo"

/* The kernel's word, and nothing that the process has put into its place. */
static void test_mounts_of_processes_are_not_believed(void **state)
{
	static const struct {
		void (*mount_all)(void);
		const char *directory, *name;
		bool opens;
	} rows[] = {
		{mount_nothing, LO, "address", true},
		{mount_nothing, "class/net/lo", "mtu", true},
		{mount_nothing, "class/tty", "uevent", false}, /* there is none */
		{mount_a_class, "class/tty", "lo/mtu", false},
		{mount_a_class, "class/net", "lo/mtu", true},
		{mount_an_attribute, LO, "address", false},
		{mount_an_attribute, "class/net/lo", "address", false},
		{mount_an_attribute, LO, "mtu", true},
		{mount_a_part, "net/lo", "mtu", false},
		{mount_another_file_system, "class", "file", false},
	};
	RNA_CLEANUP(rna_root_close_p) struct rna_root *whole = NULL;
	struct rna_error error;

	(void)state;
	assert_int_equal(rna_root_open(NULL, &whole, &error), 0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		pid_t process = start(rows[i].mount_all);
		RNA_CLOSE int directory = -1, kept = -1;
		char top[128], path[256], text[64];

		if (process < 0)
			skip();
		(void)snprintf(top, sizeof(top), "proc/%d/root/sys/%s", process, rows[i].directory);
		(void)snprintf(path, sizeof(path), "%s/%s", top, rows[i].name);
		assert_int_equal(rna_root_read(whole, path, text, sizeof(text)) > 0, rows[i].opens);
		directory = rna_root_openat(whole, top, O_PATH | O_DIRECTORY);
		kept = rna_root_open_below(whole,
					   &(struct rna_root_place){directory, top, rows[i].name,
								    true},
					   O_RDONLY);
		assert_int_equal(kept >= 0, rows[i].opens);
		if (!rows[i].opens && rows[i].mount_all != mount_nothing)
			assert_int_equal(kept, -EXDEV);
		end(process);
	}
}

static void test_a_missing_root_says_so(void **state)
{
	struct rna_root *root = NULL;
	struct rna_error error;

	(void)state;
	assert_int_equal(rna_root_open("/does/not/exist", &root, &error), -ENOENT);
	assert_string_equal(error.text,
			    "/does/not/exist: cannot be the root: No such file or directory");
	assert_null(root);
}

static void test_directories_have_a_limit(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	const struct tree *tree = *state;
	RNA_CLOSE int directory = -1;
	char **names, path[128], name[16];

	tree_write(tree, "sys/many/0", "");
	(void)snprintf(path, sizeof(path), "%s/sys/many", tree->path);
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned i = 1; i <= 65536; i++) {
		if (i == 65536)
			assert_int_equal(rna_root_list(tree->root, "sys/many", arena, &names),
					 65536);
		(void)snprintf(name, sizeof(name), "%u", i);
		assert_int_equal(symlinkat("0", directory, name), 0);
	}
	assert_int_equal(rna_root_list(tree->root, "sys/many", arena, &names), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_attributes_lose_their_line_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_odd_attributes_are_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links_stay_inside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_renames_elsewhere_do_no_harm, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lists_are_sorted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_directories_have_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_no_directory_is_not_kept_open, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_another_function_may_open_everything, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_below_an_open_directory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links_below_an_open_directory_stay_inside,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_but_files_and_directories_is_opened,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_file_that_becomes_a_fifo_is_not_waited_for,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_link_to_sysfs_is_not_live, setup, teardown),
		cmocka_unit_test_setup_teardown(test_swapped_directories_do_not_lead_outside, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_recording_is_not_live, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_sysfs_of_processes_is_opened, setup,
						teardown),
		cmocka_unit_test(test_mounts_of_processes_are_not_believed),
		cmocka_unit_test(test_device_files_of_processes),
		cmocka_unit_test(test_processes_whose_files_do_not_answer),
		cmocka_unit_test(test_a_missing_root_says_so),
		cmocka_unit_test(test_an_empty_root_has_no_file),
	};

	return cmocka_run_group_tests_name("root", tests, NULL, NULL);
}
