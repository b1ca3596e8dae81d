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
#include <stdint.h>

/*
 * Opens path as if directory were "/": absolute links and ".." stay inside. flags: as for open(2)
 * without O_CREAT; O_CLOEXEC is added. Descriptor or negative errno.
 */
int rna_open_inside(int directory, const char *path, int flags);

/* The same without following any link: -ELOOP; and without "..", "/" in front: -EXDEV. */
int rna_open_beneath(int directory, const char *path, int flags);

/*
 * The same two on one mount, that of directory: -EXDEV where anything else is mounted on the way,
 * also another part of the same file system. What is opened is what the file system has at path,
 * not what a user of the mount namespace has put there.
 */
int rna_open_inside_mount(int directory, const char *path, int flags);
int rna_open_beneath_mount(int directory, const char *path, int flags);

/*
 * What is mounted on name, a directory in directory; O_PATH. The file system that name is in is not
 * asked for it, so that one that does not answer, as of FUSE, holds no caller up: -EAGAIN if it
 * would have to be.
 */
int rna_open_mountpoint(int directory, const char *name);

/* The mount that fd is on, as in /proc/PID/mountinfo. Asks no file system. 0 or negative errno. */
int rna_mount_of(int fd, uint64_t *ret);

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
