/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary directory that stands for a root: written by a test, removed with it. */
#pragma once

#include <stdbool.h>

#include "rna/base/root.h"

struct tree {
	char path[64];
	struct rna_root *root;
};

/* All of these fail the test by themselves when the file system does not cooperate. */
void tree_init(struct tree *tree);
void tree_deinit(struct tree *tree);

/* Directories above path are made as needed; content is written as it is, without a line end. */
void tree_write(const struct tree *tree, const char *path, const char *content);
void tree_write_bytes(const struct tree *tree, const char *path, const void *data, size_t size);
void tree_mkdir(const struct tree *tree, const char *path);
void tree_link(const struct tree *tree, const char *path, const char *target);
void tree_fifo(const struct tree *tree, const char *path);
/* Lets the process have so many more descriptors than are open now; -1: as it was before. */
void tree_allow_descriptors(int more);
void tree_remove(const struct tree *tree, const char *path); /* a file, or a whole directory */
