// SPDX-License-Identifier: Apache-2.0
/*
 * A device in another network namespace is not in the agent's /sys/class/infiniband, but in that of
 * the processes there: a mounted sysfs shows the namespace in which it was mounted
 * (sysfs_init_fs_context() in fs/sysfs/mount.c, Linux 6.1). The agent enters no namespace: that
 * would take CAP_SYS_ADMIN. It reads sysfs through /proc/PID/root, which takes CAP_SYS_PTRACE.
 *
 * In the shared mode of RDMA (rdma system) each namespace shows all devices, so none is elsewhere.
 */
#include "namespaces.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"

#define CLASS "sys/class/infiniband"
#define VERBS "sys/class/infiniband_verbs"

enum {
	NAMESPACES_MAX = 1024, /* a node has 110 pods by default (the kubelet's maxPods) */
	/* Of a namespace: one may have a sysfs of another one, or none. */
	TRIES_MAX = 8,
	DEVICES_MAX = 4096,
	/* PROC_PID_INIT_INO of include/linux/proc_ns.h, Linux 6.1 */
	FIRST_PID_NAMESPACE = 0xEFFFFFFC,
};

struct namespace
{
	uint64_t inode;
	size_t count;
	struct {
		uint32_t process;
		uint64_t mounts; /* of its mount namespace: others have other mounts */
	} tries[TRIES_MAX];
};

struct run {
	const struct rna_root *root;
	struct rna_arena *arena;
	char *const *own_names;
	size_t own_count;
	uint64_t own;
	struct namespace *namespaces;
	size_t count;
	struct rna_verbs_files verbs_files; /* listed for the first namespace that needs them */
	struct rna_devices_elsewhere *ret;
	int error;
};

/* -- Namespaces -------------------------------------------------------------------------------- */

/* The number in the target of the link, "net:[4026531840]". 0 or negative errno. */
static int read_namespace(const struct rna_root *root, const char *process, const char *kind,
			  uint64_t *ret)
{
	char path[64], target[64], *number;
	ssize_t len;

	(void)snprintf(path, sizeof(path), "proc/%s/ns/%s", process, kind);
	len = rna_root_readlink(root, path, target, sizeof(target));
	if (len < 0)
		return (int)len;
	number = strchr(target, '[');
	if (!number || target[len - 1] != ']')
		return -EBADMSG;
	target[len - 1] = '\0';
	return rna_parse_u64(number + 1, ret);
}

int rna_read_network_namespace(const struct rna_root *root, uint32_t process, uint64_t *ret)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "%u", process);
	return read_namespace(root, name, "net", ret);
}

int rna_read_own_network_namespace(const struct rna_root *root, uint64_t *ret)
{
	return read_namespace(root, "self", "net", ret);
}

int rna_is_first_pid_namespace(const struct rna_root *root)
{
	uint64_t inode;
	int status = read_namespace(root, "self", "pid", &inode);

	return status < 0 ? status : inode == FIRST_PID_NAMESPACE;
}

static struct namespace *find_namespace(struct run *run, uint64_t inode)
{
	for (size_t i = run->count; i-- > 0;)
		if (run->namespaces[i].inode == inode)
			return &run->namespaces[i];
	if (run->count == NAMESPACES_MAX)
		return NULL;
	run->namespaces[run->count] = (struct namespace){.inode = inode};
	return &run->namespaces[run->count++];
}

static void add_process(struct run *run, const char *name, uint32_t process)
{
	struct namespace *namespace;
	uint64_t inode, mounts;
	int status = read_namespace(run->root, name, "net", &inode);

	run->ret->reach.opened += status == 0;
	if (status == -EACCES || status == -EPERM)
		run->ret->reach.refused++;
	if (rna_error_is_lack(status))
		run->error = status;
	if (status < 0 || inode == run->own)
		return;
	namespace = find_namespace(run, inode);
	if (!namespace || namespace->count == TRIES_MAX ||
	    read_namespace(run->root, name, "mnt", &mounts) < 0)
		return;
	for (size_t i = 0; i < namespace->count; i++)
		if (namespace->tries[i].mounts == mounts)
			return;
	namespace->tries[namespace->count].process = process;
	namespace->tries[namespace->count++].mounts = mounts;
}

/* The oldest processes come first, as their numbers are lower: in a pod that is the one that waits.
 */
static int list_namespaces(struct run *run)
{
	char **names;
	ssize_t count = rna_root_list(run->root, "proc", run->arena, &names);

	for (ssize_t i = 0; i < count && run->error == 0; i++) {
		uint64_t process;

		if (rna_parse_u64(names[i], &process) == 0 && process <= UINT32_MAX)
			add_process(run, names[i], (uint32_t)process);
	}
	return count < 0 ? (int)count : run->error;
}

/* -- Devices ----------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	return rna_compare_names(*(const char *const *)a, *(const char *const *)b);
}

/* Names of devices are unique across namespaces: assign_name() in core/device.c, Linux 6.1. */
static bool is_known(const struct run *run, const char *name)
{
	if (run->own_count > 0 &&
	    bsearch(&name, run->own_names, run->own_count, sizeof(*run->own_names), compare_names))
		return true;
	for (size_t i = 0; i < run->ret->count; i++)
		if (strcmp(run->ret->items[i].name, name) == 0)
			return true;
	return false;
}

/* The devices that sysfs of this process shows. False: it shows none that is not known. */
static bool add_devices(struct run *run, const struct namespace *namespace, uint32_t process)
{
	const size_t before = run->ret->count;
	char path[64];
	char **names;
	ssize_t count;

	(void)snprintf(path, sizeof(path), RNA_ROOT_OF_PROCESS CLASS, process);
	count = rna_root_list(run->root, path, run->arena, &names);
	if (count == -EACCES || count == -EPERM)
		run->ret->reach.refused++;
	if (rna_error_is_lack((int)count))
		run->error = (int)count;
	for (ssize_t i = 0; i < count && run->ret->count < DEVICES_MAX; i++)
		if (!is_known(run, names[i]))
			run->ret->items[run->ret->count++] = (struct rna_listed_device){
				.name = names[i],
				.process = process,
				.network_namespace = namespace->inode,
			};
	return run->ret->count > before;
}

/* The process through which a device of the namespace was read before; 0: none, or it is gone. */
static uint32_t find_last(const struct run *run, const struct namespace *namespace,
			  const struct rna_presence *last)
{
	for (size_t i = 0; last && i < last->device_count; i++) {
		const struct rna_device *device = &last->devices[i];
		uint64_t inode;

		if (device->process == 0 || device->network_namespace != namespace->inode)
			continue;
		return rna_read_network_namespace(run->root, device->process, &inode) == 0 &&
				       inode == namespace->inode
			       ? device->process
			       : 0;
	}
	return 0;
}

static void list_devices(struct run *run, const struct namespace *namespace,
			 const struct rna_presence *last)
{
	uint32_t process = find_last(run, namespace, last);

	if (process != 0 && add_devices(run, namespace, process))
		return;
	for (size_t i = 0; i < namespace->count && run->error == 0; i++)
		if (add_devices(run, namespace, namespace->tries[i].process))
			return;
}

/* -- Files of verbs ---------------------------------------------------------------------------- */

/* The class of verbs is in no network namespace (uverbs_class of core/uverbs_main.c, Linux 6.1). */
struct rna_verbs_files rna_list_verbs_files(const struct rna_root *root, struct rna_arena *arena)
{
	struct rna_verbs_files files = {0};
	char **names, text[RNA_ATTRIBUTE_MAX];
	ssize_t count = rna_root_list(root, VERBS, arena, &names);

	if (count > 0)
		files.items = rna_arena_array(arena, (size_t)count, sizeof(*files.items));
	for (ssize_t i = 0; files.items && i < count; i++) {
		const char *path = rna_arena_printf(arena, VERBS "/%s/ibdev", names[i]);
		const char *device = NULL;

		if (path && rna_root_read(root, path, text, sizeof(text)) > 0)
			device = rna_arena_strdup(arena, text);
		if (device)
			files.items[files.count++] = (struct rna_verbs_file){names[i], device};
	}
	return files;
}

const char *rna_verbs_file_of(const struct rna_verbs_files *files, const char *device)
{
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->items[i].device, device) == 0)
			return files->items[i].name;
	return NULL;
}

static bool has_file(const struct run *run, uint32_t process, const char *name)
{
	const char *path = rna_arena_printf(run->arena, RNA_ROOT_OF_PROCESS "dev/infiniband/%s",
					    process, name);

	return !path || rna_root_exists(run->root, path);
}

static void look_for_file(struct run *run, const struct namespace *namespace,
			  struct rna_listed_device *device)
{
	const char *name = rna_verbs_file_of(&run->verbs_files, device->name);

	for (size_t i = 0; name && i < namespace->count; i++)
		if (has_file(run, namespace->tries[i].process, name))
			return;
	device->missing_file = name;
}

/* -- All of them ------------------------------------------------------------------------------- */

static void look_into(struct run *run, const struct namespace *namespace,
		      const struct rna_presence *last)
{
	size_t first = run->ret->count;

	list_devices(run, namespace, last);
	/* A namespace that only one process holds, as before its containers start, says nothing. */
	if (namespace->count < 2 || run->ret->count == first)
		return;
	if (!run->verbs_files.items)
		run->verbs_files = rna_list_verbs_files(run->root, run->arena);
	for (size_t i = first; i < run->ret->count; i++)
		look_for_file(run, namespace, &run->ret->items[i]);
}

static int compare_devices(const void *a, const void *b)
{
	return rna_compare_names(((const struct rna_listed_device *)a)->name,
				 ((const struct rna_listed_device *)b)->name);
}

int rna_list_devices_elsewhere(const struct rna_root *root, char *const *names, size_t count,
			       const struct rna_presence *last, struct rna_arena *arena,
			       struct rna_devices_elsewhere *ret)
{
	struct run run = {
		.root = root, .arena = arena, .own_names = names, .own_count = count, .ret = ret};
	int status;

	*ret = (struct rna_devices_elsewhere){.reach.asked = true};
	run.namespaces = rna_arena_array(arena, NAMESPACES_MAX, sizeof(*run.namespaces));
	ret->items = rna_arena_array(arena, DEVICES_MAX, sizeof(*ret->items));
	if (!run.namespaces || !ret->items)
		return -ENOMEM;
	status = rna_read_own_network_namespace(root, &run.own);
	if (status < 0)
		return rna_error_is_lack(status) ? status : 0; /* a root without processes */
	ret->reach.own_namespace = rna_is_first_pid_namespace(root) == 0;
	ret->reach.hidden = !rna_root_exists(root, "proc/1");
	status = list_namespaces(&run);
	for (size_t i = 0; status == 0 && i < run.count; i++) {
		look_into(&run, &run.namespaces[i], last);
		status = run.error;
	}
	if (ret->count > 0)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_devices);
	return status;
}
