/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and making files below a directory that another user may write to: no link leads out of
 * it, neither one that was there before nor one that is placed meanwhile.
 *
 * openat2(2) ensures this in the kernel (Linux 5.6). Where it is missing, because the kernel is
 * older or a seccomp filter answers ENOSYS or EPERM, a path is walked component by component with
 * O_NOFOLLOW: the same result for more system calls. Thread: any.
 */
#pragma once

#include <stdbool.h>

/*
 * Opens path as if directory were "/": absolute links and ".." stay inside. flags: as for open(2)
 * without O_CREAT; O_CLOEXEC is added. Descriptor or negative errno.
 */
int rna_open_inside(int directory, const char *path, int flags);

/* The same without following any link: -ELOOP; and without "..", "/" in front: -EXDEV. */
int rna_open_beneath(int directory, const char *path, int flags);

/*
 * Opens the object of an O_PATH descriptor with other flags, through /proc/self/fd. It is the same
 * object, whatever happened to its path. Descriptor or negative errno.
 */
int rna_open_again(int fd, int flags);

/*
 * Is path relative, and has it only names: no "..", ".", empty ones, nor one that is too long for a
 * file? What a machine says its devices are called must pass this before it becomes a path.
 */
bool rna_path_is_plain(const char *path);

/*
 * Opens the directory of path's last component (O_PATH), making those that are missing; no link is
 * followed. *ret_name: that component, for mkdirat() and the like. -EINVAL: path is not plain.
 */
int rna_make_beneath(int directory, const char *path, const char **ret_name);
