// SPDX-License-Identifier: Apache-2.0
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <cmocka.h>

static void full_path(const struct tree *tree, const char *path, char ret[PATH_MAX])
{
	int len = snprintf(ret, PATH_MAX, "%s/%s", tree->path, path);

	assert_in_range(len, 1, PATH_MAX - 1);
}

static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) < 0)
			assert_int_equal(errno, EEXIST);
		*slash = '/';
	}
}

void tree_init(struct tree *tree)
{
	struct rna_error error;

	(void)snprintf(tree->path, sizeof(tree->path), "/tmp/rna-tree-XXXXXX");
	assert_non_null(mkdtemp(tree->path));
	assert_int_equal(rna_root_open(tree->path, &tree->root, &error), 0);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
	(void)info, (void)type, (void)walk;
	return remove(path);
}

void tree_remove(const struct tree *tree, const char *path)
{
	char full[PATH_MAX];

	full_path(tree, path, full);
	assert_int_equal(nftw(full, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void tree_deinit(struct tree *tree)
{
	tree->root = rna_root_close(tree->root);
	tree_remove(tree, "");
}

void tree_write_bytes(const struct tree *tree, const char *path, const void *data, size_t size)
{
	char full[PATH_MAX];
	RNA_CLOSE int fd = -1;

	full_path(tree, path, full);
	make_parents(full);
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
}

void tree_write(const struct tree *tree, const char *path, const char *content)
{
	tree_write_bytes(tree, path, content, strlen(content));
}

void tree_mkdir(const struct tree *tree, const char *path)
{
	char full[PATH_MAX];

	full_path(tree, path, full);
	make_parents(full);
	assert_int_equal(mkdir(full, 0755), 0);
}

void tree_link(const struct tree *tree, const char *path, const char *target)
{
	char full[PATH_MAX];

	full_path(tree, path, full);
	make_parents(full);
	assert_int_equal(symlink(target, full), 0);
}

void tree_fifo(const struct tree *tree, const char *path)
{
	char full[PATH_MAX];

	full_path(tree, path, full);
	make_parents(full);
	assert_int_equal(mkfifo(full, 0644), 0);
}

void tree_allow_descriptors(int more)
{
	static rlim_t before;
	struct rlimit limit;
	int next = dup(STDIN_FILENO);

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (more >= 0) {
		assert_true(next >= 0);
		before = limit.rlim_cur;
	}
	limit.rlim_cur = more < 0 ? before : (rlim_t)(next + more);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	if (next >= 0)
		(void)close(next);
}
