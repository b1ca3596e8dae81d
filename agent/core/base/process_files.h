/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of another process, by paths proc/PID/root/..., for root.c. The process may be that of a
 * tenant, who mounts what he likes, a file system of his own (FUSE) included: one that lies, and
 * one that never answers. So only two mounts are looked at, and nothing that is mounted below them:
 *
 *   sys/...   the sysfs on its /sys. What is in it, and where, is the kernel's
 *   dev/...   the file system in memory on its /dev: which files are there; none is opened
 *
 * The kernel says which file system that is before the file system itself is asked for anything.
 * Thread: any.
 */
#pragma once

#include <stdbool.h>

/* Does it lead into the files of a process? */
bool rna_process_path_is(const char *path);

/*
 * Opens path; proc is in the directory root. Descriptor, or negative errno: -EXDEV for whatever is
 * not on these two mounts, and for more than O_PATH below /dev; -EAGAIN if the kernel would have to
 * ask a file system for /sys or /dev of a process in another user namespace.
 */
int rna_process_open(int root, const char *path, int flags);

/* Opens name in directory, which rna_process_open() opened for path. */
int rna_process_open_in(int directory, const char *path, const char *name, int flags);
