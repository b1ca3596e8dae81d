// SPDX-License-Identifier: Apache-2.0
/*
 * Opening and making files below a directory, each test by openat2() and without it: the linker
 * puts __wrap_syscall() in the place of syscall().
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/beneath.h"

#include "tree.h"

static int refusal; /* errno of openat2(); 0: it works */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
	va_list arguments;
	long a, b, c, d;

	va_start(arguments, number);
	a = va_arg(arguments, long);
	b = va_arg(arguments, long);
	c = va_arg(arguments, long);
	d = va_arg(arguments, long);
	va_end(arguments);
	if (number != SYS_openat2 || !refusal)
		return __real_syscall(number, a, b, c, d);
	errno = refusal;
	return -1;
}

struct fixture {
	struct tree tree;
	struct tree outside; /* "secret" is in it */
	int root;
};

static int setup_with(void **state, int error)
{
	static struct fixture fixture;

	refusal = error;
	tree_init(&fixture.tree);
	tree_init(&fixture.outside);
	tree_write(&fixture.outside, "secret", "outside");
	fixture.root = open(fixture.tree.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(fixture.root >= 0);
	*state = &fixture;
	return 0;
}

static int with_openat2(void **state)
{
	return setup_with(state, 0);
}

static int without_openat2(void **state)
{
	return setup_with(state, ENOSYS);
}

static int under_a_filter(void **state)
{
	return setup_with(state, EPERM);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	refusal = 0;
	(void)close(fixture->root);
	tree_deinit(&fixture->tree);
	tree_deinit(&fixture->outside);
	return 0;
}

typedef int opener(int directory, const char *path, int flags);

/* What was opened: its inode; or a negative errno. */
static int64_t open_by(opener *open, int directory, const char *path, int flags)
{
	RNA_CLOSE int fd = open(directory, path, flags);
	struct stat stat;

	if (fd < 0)
		return fd;
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fstat(fd, &stat), 0);
	return (int64_t)stat.st_ino;
}

static int64_t inode_of(const struct fixture *fixture, const char *path)
{
	struct stat stat;

	assert_int_equal(fstatat(fixture->root, path, &stat, AT_SYMLINK_NOFOLLOW), 0);
	return (int64_t)stat.st_ino;
}

static int64_t inside(const struct fixture *fixture, const char *path, int flags)
{
	return open_by(rna_open_inside, fixture->root, path, flags);
}

static int64_t beneath(const struct fixture *fixture, const char *path, int flags)
{
	return open_by(rna_open_beneath, fixture->root, path, flags);
}

static int64_t inside_mount(const struct fixture *fixture, const char *path, int flags)
{
	return open_by(rna_open_inside_mount, fixture->root, path, flags);
}

static int64_t beneath_mount(const struct fixture *fixture, const char *path, int flags)
{
	return open_by(rna_open_beneath_mount, fixture->root, path, flags);
}

static void links_lead_inside(void **state)
{
	const struct fixture *fixture = *state;
	char secret[128];

	(void)snprintf(secret, sizeof(secret), "%s/secret", fixture->outside.path);
	tree_write(&fixture->tree, "a/b/file", "1");
	tree_link(&fixture->tree, "relative", "a/./b");
	tree_link(&fixture->tree, "a/absolute", "/a/b");
	tree_link(&fixture->tree, "a/chain", "../relative/../absolute/file");
	tree_link(&fixture->tree, "a/up", "../../../../../a/b/file");
	tree_link(&fixture->tree, "a/outside", secret);
	tree_link(&fixture->tree, "loop", "loop");
	assert_int_equal(inside(fixture, "relative/file", O_RDONLY), inode_of(fixture, "a/b/file"));
	assert_int_equal(inside(fixture, "a/absolute/file", O_RDONLY),
			 inode_of(fixture, "a/b/file"));
	assert_int_equal(inside(fixture, "a/chain", O_RDONLY), inode_of(fixture, "a/b/file"));
	assert_int_equal(inside(fixture, "a/up", O_RDONLY), inode_of(fixture, "a/b/file"));
	assert_int_equal(inside(fixture, "../../a//b/./file", O_RDONLY),
			 inode_of(fixture, "a/b/file"));
	assert_int_equal(inside(fixture, "/a/b", O_RDONLY | O_DIRECTORY), inode_of(fixture, "a/b"));
	assert_int_equal(inside(fixture, "..", O_PATH), inode_of(fixture, "."));
	assert_int_equal(inside(fixture, "a/outside", O_RDONLY), -ENOENT);
	assert_int_equal(inside(fixture, "loop", O_RDONLY), -ELOOP);
}

static void links_are_opened_on_demand(void **state)
{
	const struct fixture *fixture = *state;

	tree_write(&fixture->tree, "a/file", "1");
	tree_link(&fixture->tree, "link", "a");
	tree_link(&fixture->tree, "to-file", "a/file");
	assert_int_equal(inside(fixture, "link", O_PATH | O_NOFOLLOW), inode_of(fixture, "link"));
	assert_int_equal(inside(fixture, "link", O_PATH), inode_of(fixture, "a"));
	assert_int_equal(inside(fixture, "link/file", O_PATH | O_NOFOLLOW),
			 inode_of(fixture, "a/file"));
	assert_int_equal(inside(fixture, "link/..", O_PATH | O_NOFOLLOW), inode_of(fixture, "."));
	assert_int_equal(inside(fixture, "to-file", O_RDONLY | O_NOFOLLOW), -ELOOP);
}

static void errors_are_those_of_open(void **state)
{
	const struct fixture *fixture = *state;
	char path[5000];

	tree_write(&fixture->tree, "a/file", "1");
	tree_link(&fixture->tree, "nowhere", "a/none");
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(inside(fixture, "a/none", O_RDONLY), -ENOENT);
	assert_int_equal(inside(fixture, "nowhere", O_RDONLY), -ENOENT);
	assert_int_equal(inside(fixture, "", O_RDONLY), -ENOENT);
	assert_int_equal(inside(fixture, "a/file/x", O_RDONLY), -ENOTDIR);
	assert_int_equal(inside(fixture, "a/file/..", O_RDONLY), -ENOTDIR);
	assert_int_equal(inside(fixture, "a/file", O_RDONLY | O_DIRECTORY), -ENOTDIR);
	assert_int_equal(inside(fixture, path, O_RDONLY), -ENAMETOOLONG);
	assert_int_equal(beneath(fixture, path, O_RDONLY), -ENAMETOOLONG);
}

static void beneath_follows_nothing(void **state)
{
	const struct fixture *fixture = *state;

	tree_write(&fixture->tree, "a/b/file", "1");
	tree_link(&fixture->tree, "link", "a");
	tree_link(&fixture->tree, "a/to-file", "b/file");
	assert_int_equal(beneath(fixture, "a/b/file", O_RDONLY), inode_of(fixture, "a/b/file"));
	assert_int_equal(beneath(fixture, "a/b", O_PATH | O_DIRECTORY), inode_of(fixture, "a/b"));
	assert_int_equal(beneath(fixture, ".", O_RDONLY | O_DIRECTORY), inode_of(fixture, "."));
	assert_int_equal(beneath(fixture, "link/b/file", O_RDONLY), -ELOOP);
	assert_int_equal(beneath(fixture, "a/to-file", O_RDONLY), -ELOOP);
	assert_int_equal(beneath(fixture, "../x", O_RDONLY), -EXDEV);
	assert_int_equal(beneath(fixture, "/a/b/file", O_RDONLY), -EXDEV);
	assert_int_equal(beneath(fixture, "a/none", O_RDONLY), -ENOENT);
	assert_int_equal(beneath(fixture, "a/b/file/x", O_RDONLY), -ENOTDIR);
}

static void missing_directories_are_made(void **state)
{
	const struct fixture *fixture = *state;
	const char *name = NULL;
	RNA_CLOSE int deep = rna_make_beneath(fixture->root, "a/b/c/file", &name);
	RNA_CLOSE int again = rna_make_beneath(fixture->root, "a/b/c/file", &name);
	RNA_CLOSE int top = -1;
	struct stat stat;

	assert_true(deep >= 0);
	assert_true(again >= 0);
	assert_string_equal(name, "file");
	assert_int_equal(fstat(deep, &stat), 0);
	assert_int_equal((int64_t)stat.st_ino, inode_of(fixture, "a/b/c"));
	top = rna_make_beneath(fixture->root, "file", &name);
	assert_int_equal(fstat(top, &stat), 0);
	assert_int_equal((int64_t)stat.st_ino, inode_of(fixture, "."));
	assert_string_equal(name, "file");
}

static void nothing_is_made_behind_a_link(void **state)
{
	const struct fixture *fixture = *state;
	const char *name;
	struct stat stat;

	tree_mkdir(&fixture->tree, "a");
	tree_link(&fixture->tree, "inside", "a");
	tree_link(&fixture->tree, "a/outside", fixture->outside.path);
	tree_write(&fixture->tree, "file", "");
	assert_int_equal(rna_make_beneath(fixture->root, "inside/x/y", &name), -ELOOP);
	assert_int_equal(rna_make_beneath(fixture->root, "a/outside/x/y", &name), -ELOOP);
	assert_int_equal(rna_make_beneath(fixture->root, "file/x/y", &name), -ENOTDIR);
	assert_int_equal(rna_make_beneath(fixture->root, "../x/y", &name), -EINVAL);
	assert_int_equal(rna_make_beneath(fixture->root, "/x/y", &name), -EINVAL);
	assert_int_equal(fstatat(fixture->root, "a/x", &stat, 0), -1);
	assert_false(rna_root_exists(fixture->outside.root, "x"));
}

/* -- Chance ------------------------------------------------------------------------------------ */

static unsigned seed;

static unsigned pick(unsigned count)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % count;
}

static const char *const names[] = {"a", "b", "c", "d", "..", ".", "", "e"};

/* Up to six names; absolute now and then. */
static void random_path(char ret[64], unsigned kinds)
{
	unsigned count = 1 + pick(6);
	size_t len = pick(5) == 0 ? (size_t)sprintf(ret, "/") : 0;

	ret[len] = '\0';
	for (unsigned i = 0; i < count; i++)
		len += (size_t)sprintf(ret + len, "%s%s", i > 0 ? "/" : "", names[pick(kinds)]);
}

static void make_randomly(const struct fixture *fixture, int directory, unsigned depth)
{
	char target[64];

	for (unsigned i = 0; i < 5; i++) {
		const char *name = i < 4 ? names[i] : "e";
		RNA_CLOSE int below = -1;

		switch (pick(4)) {
		case 0:
			below = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
				       0644);
			break;
		case 1:
			random_path(target, 8);
			if (*target)
				(void)symlinkat(target, directory, name);
			break;
		default:
			if (depth == 0 || mkdirat(directory, name, 0755) < 0)
				break;
			below = openat(directory, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
			make_randomly(fixture, below, depth - 1);
		}
	}
}

/* By the kernel and without it: the same object or error. Otherwise the path is printed. */
static unsigned compare(const struct fixture *fixture, opener *open, const char *path, int flags)
{
	int64_t by_kernel, by_walk;

	refusal = 0;
	by_kernel = open_by(open, fixture->root, path, flags);
	refusal = ENOSYS;
	by_walk = open_by(open, fixture->root, path, flags);
	refusal = 0;
	if (by_kernel == by_walk)
		return 0;
	print_error("seed %u: %s with flags %#x: %jd, without openat2() %jd\n", seed, path,
		    (unsigned)flags, (intmax_t)by_kernel, (intmax_t)by_walk);
	return 1;
}

static void walking_finds_what_the_kernel_finds(void **state)
{
	static const int flags[] = {O_RDONLY, O_PATH, O_PATH | O_NOFOLLOW, O_RDONLY | O_DIRECTORY,
				    O_RDONLY | O_NOFOLLOW};
	const struct fixture *fixture = *state;
	unsigned different = 0;
	char path[64];

	for (unsigned round = 0; round < 20; round++) {
		seed = round;
		tree_mkdir(&fixture->tree, "top");
		make_randomly(fixture, fixture->root, 3);
		for (unsigned i = 0; i < 500; i++) {
			random_path(path, 8);
			different += compare(fixture, rna_open_inside, path, flags[pick(5)]);
			different += compare(fixture, rna_open_beneath, path, flags[pick(5)]);
		}
		teardown(state);
		with_openat2(state);
	}
	assert_int_equal(different, 0);
}

/* The tree in a mount namespace of this process's own, where a and file have something over them.
 */
static bool mount_over(const struct fixture *fixture)
{
	char from[128], to[128];

	if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return false;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	(void)snprintf(from, sizeof(from), "%s/b", fixture->tree.path);
	(void)snprintf(to, sizeof(to), "%s/a", fixture->tree.path);
	if (mount(from, to, NULL, MS_BIND, NULL) < 0)
		return false;
	(void)snprintf(from, sizeof(from), "%s/b/file", fixture->tree.path);
	(void)snprintf(to, sizeof(to), "%s/file", fixture->tree.path);
	return mount(from, to, NULL, MS_BIND, NULL) == 0;
}

static void unmount(const struct fixture *fixture, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", fixture->tree.path, name);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
}

/* What is mounted below is another mount, even of the same file system. */
static void mounts_are_not_crossed(void **state)
{
	struct fixture *fixture = *state;

	tree_write(&fixture->tree, "a/file", "under");
	tree_write(&fixture->tree, "b/file", "over");
	tree_write(&fixture->tree, "b/c/file", "other");
	tree_write(&fixture->tree, "file", "under");
	tree_link(&fixture->tree, "to-a", "a/file");
	tree_link(&fixture->tree, "b/to-b", "../b/file");
	if (!mount_over(fixture))
		skip();
	(void)close(fixture->root);
	fixture->root = open(fixture->tree.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(inside(fixture, "a/file", O_RDONLY) == inode_of(fixture, "b/file"));
	assert_true(beneath(fixture, "a/file", O_RDONLY) == inode_of(fixture, "b/file"));
	assert_int_equal(inside_mount(fixture, "a/file", O_RDONLY), -EXDEV);
	assert_int_equal(inside_mount(fixture, "a", O_PATH | O_DIRECTORY), -EXDEV);
	assert_int_equal(inside_mount(fixture, "to-a", O_RDONLY), -EXDEV);
	assert_int_equal(inside_mount(fixture, "a/to-b", O_RDONLY), -EXDEV);
	assert_int_equal(inside_mount(fixture, "a/../b/file", O_RDONLY), -EXDEV);
	assert_int_equal(inside_mount(fixture, "file", O_RDONLY), -EXDEV);
	assert_int_equal(beneath_mount(fixture, "a/c/file", O_RDONLY), -EXDEV);
	assert_int_equal(beneath_mount(fixture, "file", O_RDONLY), -EXDEV);
	assert_true(inside_mount(fixture, "b/to-b", O_RDONLY) == inode_of(fixture, "b/file"));
	assert_true(beneath_mount(fixture, "b/c/file", O_RDONLY) == inode_of(fixture, "b/c/file"));
	assert_int_equal(beneath_mount(fixture, "b/to-b", O_RDONLY), -ELOOP);
	unmount(fixture, "a");
	unmount(fixture, "file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                                                 \
	{#name, name, with_openat2, teardown, NULL},                                               \
		{#name " without openat2()", name, without_openat2, teardown, NULL},               \
		{#name " under a filter", name, under_a_filter, teardown, NULL}
		TEST(links_lead_inside),
		TEST(links_are_opened_on_demand),
		TEST(errors_are_those_of_open),
		TEST(beneath_follows_nothing),
		TEST(missing_directories_are_made),
		TEST(nothing_is_made_behind_a_link),
		TEST(mounts_are_not_crossed),
		cmocka_unit_test_setup_teardown(walking_finds_what_the_kernel_finds, with_openat2,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
