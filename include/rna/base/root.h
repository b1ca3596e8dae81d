/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root: the directory that replaces "/" in the path of every file that the agent reads. It is
 * "/" on a node, a recorded machine in tests and demos, /host in a container that mounts the host
 * there. Symbolic links, absolute ones too, are resolved inside the root, also while others change
 * them (rna/base/beneath.h). In a recording, which may come from anywhere, only regular files and
 * directories are opened: a FIFO would stall its reader, and to open a device file may have
 * effects.
 *
 * A path below proc/PID/root/ leads into the files of a process, perhaps those of a container,
 * whose owner may put there what he likes. Only files of sysfs are opened, from the root of the
 * sysfs that is mounted on /sys there, and nothing that is mounted below it: so they are the
 * kernel's word about the network namespace in which this sysfs was mounted. Of /dev the agent may
 * find out which files are there. Everything else is -EXDEV, and no file system of the owner's is
 * waited for.
 *
 * Paths are relative to the root, without a leading slash: "sys/class/infiniband/mlx5_0/fw_ver".
 * Thread: any; a root is const after rna_root_open().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rna/base/arena.h"
#include "rna/base/error.h"

struct rna_root;

/* A sysfs attribute is at most one page of 4 KiB; with larger pages those read here are no longer.
 */
enum { RNA_ATTRIBUTE_MAX = 4096 };

/* The beginning of a path into the files of a process: a format, for its PID, a uint32_t. */
#define RNA_ROOT_OF_PROCESS "proc/%u/root/"

/* A path for rna_root_open(): a root without any file, for data that comes from elsewhere alone. */
extern const char rna_root_empty[];

/* path: NULL means "/". */
int rna_root_open(const char *path, struct rna_root **ret, struct rna_error *error);

/* Replaces openat() of a root: opens path with these flags. Descriptor or negative errno. */
typedef int rna_root_opener(void *userdata, const char *path, int flags);

/* Opens the same directory as base; open() then opens everything below it. */
int rna_root_open_through(const struct rna_root *base, rna_root_opener *open, void *userdata,
			  struct rna_root **ret, struct rna_error *error);
void *rna_root_userdata(const struct rna_root *root); /* of the opener, or NULL */

struct rna_root *rna_root_close(struct rna_root *root); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_root, rna_root_close)

const char *rna_root_path(const struct rna_root *root);

/*
 * Is <root>/sys the sysfs of the running kernel? Only then do libraries that ask the kernel
 * (libibverbs, netlink) describe the same machine as the files.
 */
bool rna_root_is_live(const struct rna_root *root);

/*
 * Opens path below the root; flags as for open(2), plus O_CLOEXEC. Descriptor or negative errno:
 * -EACCES if it is no regular file and no directory, and the root is a recording. O_PATH opens
 * anything.
 */
int rna_root_openat(const struct rna_root *root, const char *path, int flags);

/* A file in a directory that may already be open, which is cheaper. */
struct rna_root_place {
	int directory;    /* -1: not open */
	const char *path; /* of the directory, used if it is not open, or name leads out of it */
	const char *name;
	bool known; /* it was a regular file the last time; saves a look at what it is now */
};

int rna_root_open_below(const struct rna_root *root, const struct rna_root_place *place, int flags);

bool rna_root_exists(const struct rna_root *root, const char *path);

/*
 * Reads one attribute into buffer, NUL-terminated, without trailing blanks and line ends. Length,
 * or negative errno: -EMSGSIZE if it does not fit, -EILSEQ if it contains a NUL byte.
 */
ssize_t rna_root_read(const struct rna_root *root, const char *path, char *buffer, size_t size);
int rna_root_read_u64(const struct rna_root *root, const char *path, uint64_t *ret);
int rna_root_read_hex(const struct rna_root *root, const char *path, uint64_t *ret);

/* The target of a symbolic link, not resolved. Length, or negative errno. */
ssize_t rna_root_readlink(const struct rna_root *root, const char *path, char *buffer, size_t size);
/* path with all links resolved, relative to the root, in arena. NULL: *ret_error says why. */
char *rna_root_realpath(const struct rna_root *root, const char *path, struct rna_arena *arena,
			int *ret_error);

/*
 * The entries of a directory, without "." and "..", sorted by rna_compare_names(), in arena.
 * Number of names, or negative errno; -EFBIG: more than 65,536 names.
 */
ssize_t rna_root_list(const struct rna_root *root, const char *path, struct rna_arena *arena,
		      char ***ret_names);

/*
 * rna_root_read() and rna_root_list() for an open descriptor. rna_root_list_fd() closes fd, also on
 * failure.
 */
ssize_t rna_root_pread_text(int fd, char *buffer, size_t size);
ssize_t rna_root_list_fd(int fd, struct rna_arena *arena, char ***ret_names);
