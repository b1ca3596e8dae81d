// SPDX-License-Identifier: Apache-2.0
/*
 * A device in another network namespace is not in the agent's /sys/class/infiniband, but in that of
 * the processes there: a mounted sysfs shows the namespace in which it was mounted
 * (sysfs_init_fs_context() in fs/sysfs/mount.c, Linux 6.1). The agent enters no namespace: that
 * would take CAP_SYS_ADMIN. It reads sysfs through /proc/PID/root, which takes CAP_SYS_PTRACE.
 *
 * The classes of verbs and MADs are in no namespace: the agent's own sysfs lists all devices there,
 * and their links say in which directory each of them is. So the agent knows which devices to look
 * for, and where; that a process has the directory is all that it takes from there.
 *
 * In the shared mode of RDMA (rdma system) each namespace shows all devices, so none is elsewhere.
 */
#include "namespaces.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rna/base/parse.h"

#define CLASS "sys/class/infiniband"

enum {
	/* Of a namespace: one may have a sysfs of another one, or none. */
	TRIES_MAX = 8,
	/* PROC_PID_INIT_INO of include/linux/proc_ns.h, Linux 6.1 */
	FIRST_PID_NAMESPACE = 0xEFFFFFFC,
};

/* -- What the kernel says of all namespaces ---------------------------------------------------- */

struct class_run {
	const struct rna_root *root;
	struct rna_arena *arena;
	struct rna_class_device *items;
	size_t count;
	int error; /* a lack of memory or descriptors */
};

/* Cuts the last component off. False: there is none. */
static bool cut_name(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
	return slash;
}

/*
 * A file of verbs or MADs is below the same parent as its device,
 * ".../0000:3b:00.0/infiniband_verbs/ uverbs3" (ib_uverbs_add_one(), ib_umad_init_port_dev()),
 * where each class has a directory (get_device_parent() in drivers/base/core.c, Linux 6.1).
 */
static const char *find_parent(struct class_run *run, const char *file)
{
	int status = 0;
	char *path = rna_root_realpath(run->root, file, run->arena, &status);

	if (rna_error_is_lack(status))
		run->error = status;
	return path && cut_name(path) && cut_name(path) ? path : NULL;
}

static void add_class_device(struct class_run *run, const char *file, const char *verbs_file)
{
	const char *attribute = rna_arena_printf(run->arena, "%s/ibdev", file);
	char text[RNA_ATTRIBUTE_MAX];
	struct rna_class_device device = {.verbs_file = verbs_file};
	ssize_t len = attribute ? rna_root_read(run->root, attribute, text, sizeof(text)) : -ENOMEM;

	if (rna_error_is_lack((int)len))
		run->error = (int)len;
	if (len <= 0 || strchr(text, '/'))
		return; /* no file of a device, such as abi_version, or one that is going away */
	device.name = rna_arena_strdup(run->arena, text);
	device.parent = find_parent(run, file);
	if (device.name && device.parent)
		run->items[run->count++] = device;
}

static void list_class(struct class_run *run, const char *class, bool verbs)
{
	char **names;
	ssize_t count = rna_root_list(run->root, class, run->arena, &names);
	struct rna_class_device *items;

	if (rna_error_is_lack((int)count))
		run->error = (int)count;
	if (count <= 0)
		return;
	items = rna_arena_array(run->arena, run->count + (size_t)count, sizeof(*items));
	if (!items) {
		run->error = -ENOMEM;
		return;
	}
	if (run->count > 0)
		memcpy(items, run->items, run->count * sizeof(*items));
	run->items = items;
	for (ssize_t i = 0; i < count; i++) {
		const char *file = rna_arena_printf(run->arena, "%s/%s", class, names[i]);

		if (file)
			add_class_device(run, file, verbs ? names[i] : NULL);
	}
}

static int compare_class_devices(const void *a, const void *b)
{
	return rna_compare_names(((const struct rna_class_device *)a)->name,
				 ((const struct rna_class_device *)b)->name);
}

/* Of a device that several files name, one stays; that of verbs, if there is one. */
static size_t join_files(struct rna_class_device *items, size_t count)
{
	size_t kept = 0;

	if (count > 0)
		qsort(items, count, sizeof(*items), compare_class_devices);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || strcmp(items[kept - 1].name, items[i].name) != 0)
			items[kept++] = items[i];
		else if (items[i].verbs_file)
			items[kept - 1] = items[i];
	}
	return kept;
}

int rna_list_class_devices(const struct rna_root *root, struct rna_arena *arena,
			   struct rna_class_devices *ret)
{
	struct class_run run = {.root = root, .arena = arena};

	list_class(&run, "sys/class/infiniband_verbs", true);
	list_class(&run, "sys/class/infiniband_mad", false);
	*ret = (struct rna_class_devices){.count = join_files(run.items, run.count),
					  .items = run.items};
	return run.error;
}

const char *rna_class_device_path(const struct rna_class_device *device, struct rna_arena *arena)
{
	return rna_arena_printf(arena, "%s/infiniband/%s", device->parent, device->name);
}

const struct rna_class_device *rna_find_class_device(const struct rna_class_devices *devices,
						     const char *name)
{
	const struct rna_class_device key = {.name = name};

	return devices->count == 0 ? NULL
				   : bsearch(&key, devices->items, devices->count, sizeof(key),
					     compare_class_devices);
}

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

/* A process in another network namespace. */
struct process {
	uint64_t network;
	uint64_t mounts; /* of its mount namespace: others have other mounts */
	uint32_t number;
};

/* Processes of one network namespace, each with mounts of its own: the oldest ones. */
struct group {
	const struct process *processes;
	size_t count;
	const struct process *last; /* through which a device was read before; NULL: none */
};

/* A device that is not in the agent's own namespace, and a process that has it. */
struct absent {
	const struct rna_class_device *device;
	const struct process *process; /* NULL: none is found */
	const struct process *other;   /* whose sysfs has it, too, and is another one */
	const char *path;              /* through the first process */
	dev_t sysfs;                   /* that one's: each network namespace has one */
	ino_t inode;
};

struct run {
	const struct rna_root *root;
	struct rna_arena *arena;
	uint64_t own;
	struct rna_devices_elsewhere *ret;
	struct process *processes;
	size_t count;
	struct group *groups;
	size_t group_count;
	struct absent *absent; /* by name */
	size_t absent_count;
	int error;
};

static struct process *add_process(struct run *run)
{
	struct process *process = RNA_GROW(run->processes, run->count, NULL);

	if (process)
		run->count++;
	else
		run->error = -ENOMEM;
	return process;
}

static void look_at_process(struct run *run, const char *name, uint32_t number)
{
	uint64_t network, mounts;
	int status = read_namespace(run->root, name, "net", &network);
	struct process *process;

	run->ret->reach.opened += status == 0;
	if (status == -EACCES || status == -EPERM)
		run->ret->reach.refused++;
	if (rna_error_is_lack(status))
		run->error = status;
	if (status < 0 || network == run->own ||
	    read_namespace(run->root, name, "mnt", &mounts) < 0)
		return;
	process = add_process(run);
	if (process)
		*process = (struct process){network, mounts, number};
}

/* Not as a list of names, which has a limit: there can be millions of processes. */
static void list_processes(struct run *run)
{
	RNA_CLOSE int fd = rna_root_openat(run->root, "proc", O_RDONLY | O_DIRECTORY);
	RNA_CLOSEDIR DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!directory) {
		run->error = fd < 0 ? fd : -errno;
		return;
	}
	fd = -1;
	while (run->error == 0 && (entry = readdir(directory))) {
		uint64_t number;

		if (rna_parse_u64(entry->d_name, &number) == 0 && number <= UINT32_MAX)
			look_at_process(run, entry->d_name, (uint32_t)number);
	}
}

/* The oldest process first, as its number is lower: in a pod that is the one that waits. */
static int compare_processes(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->network != y->network)
		return x->network < y->network ? -1 : 1;
	if (x->mounts != y->mounts)
		return x->mounts < y->mounts ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int compare_in_namespace(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->network != y->network)
		return x->network < y->network ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* One process for each pair of namespaces, by network namespace. */
static void sort_processes(struct run *run)
{
	struct process *processes = run->processes;
	size_t kept = 0;

	if (run->count == 0)
		return;
	qsort(processes, run->count, sizeof(*processes), compare_processes);
	for (size_t i = 0; i < run->count; i++)
		if (kept == 0 || processes[kept - 1].network != processes[i].network ||
		    processes[kept - 1].mounts != processes[i].mounts)
			processes[kept++] = processes[i];
	qsort(processes, kept, sizeof(*processes), compare_in_namespace);
	run->count = kept;
}

/* -- Devices ----------------------------------------------------------------------------------- */

static bool has_name(char *const *names, size_t count, const char *name)
{
	return count > 0 && bsearch(&name, names, count, sizeof(*names), rna_compare_name_items);
}

static int compare_absent(const void *a, const void *b)
{
	return compare_class_devices(((const struct absent *)a)->device,
				     ((const struct absent *)b)->device);
}

static struct absent *find_absent(const struct run *run, const char *name)
{
	const struct rna_class_device device = {.name = name};
	const struct absent key = {.device = &device};

	return run->absent_count == 0
		       ? NULL
		       : bsearch(&key, run->absent, run->absent_count, sizeof(key), compare_absent);
}

/* The directory, which prefix leads to, or negative errno. */
static int stat_directory(struct run *run, const char *prefix, const char *directory,
			  struct stat *ret)
{
	const char *path = rna_arena_printf(run->arena, "%s%s", prefix, directory);
	RNA_CLOSE int fd = path ? rna_root_openat(run->root, path, O_PATH | O_DIRECTORY) : -ENOMEM;

	if (rna_error_is_lack(fd))
		run->error = fd;
	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : 0;
}

/*
 * The parent is in no namespace: each sysfs has it, with the same inode. A recording has what was
 * read of each process in directories of its own.
 */
static bool has_same_parent(struct run *run, const char *prefix, const char *parent)
{
	struct stat own, other;

	return !rna_root_is_live(run->root) ||
	       (stat_directory(run, "", parent, &own) == 0 &&
		stat_directory(run, prefix, parent, &other) == 0 && own.st_ino == other.st_ino);
}

/* Is what was found before no longer there? A device may move while it is looked for. */
static bool has_left(struct run *run, const struct absent *absent)
{
	struct stat unused;

	return stat_directory(run, "", absent->path, &unused) < 0;
}

/* Takes note of it if the process has the device. True: it has. */
static bool look_for_device(struct run *run, const struct process *process, struct absent *absent)
{
	const struct rna_class_device *device = absent->device;
	const char *path = rna_class_device_path(device, run->arena);
	char prefix[sizeof("proc/4294967295/root/")];
	struct stat stat;

	(void)snprintf(prefix, sizeof(prefix), RNA_ROOT_OF_PROCESS, process->number);
	if (!path || stat_directory(run, prefix, path, &stat) < 0 ||
	    !has_same_parent(run, prefix, device->parent))
		return false;
	if (absent->process && absent->sysfs == stat.st_dev && absent->inode == stat.st_ino)
		return true; /* a process that kept its mounts in another namespace */
	if (absent->process && !has_left(run, absent)) {
		absent->other = process;
		return true;
	}
	absent->process = process;
	absent->path = rna_arena_printf(run->arena, "%s%s", prefix, path);
	absent->sysfs = stat.st_dev;
	absent->inode = stat.st_ino;
	if (!absent->path)
		run->error = -ENOMEM;
	return true;
}

/* The number of devices that its sysfs has of those that are looked for, or negative errno. */
static int look_for_devices(struct run *run, const struct process *process)
{
	char path[64];
	char **names;
	ssize_t count;
	int found = 0;

	(void)snprintf(path, sizeof(path), RNA_ROOT_OF_PROCESS CLASS, process->number);
	count = rna_root_list(run->root, path, run->arena, &names);
	if (count == -EACCES || count == -EPERM)
		run->ret->reach.refused++;
	if (rna_error_is_lack((int)count))
		run->error = (int)count;
	for (ssize_t i = 0; i < count && run->error == 0; i++) {
		struct absent *absent = find_absent(run, names[i]);

		found += absent && look_for_device(run, process, absent);
	}
	return count < 0 ? (int)count : found;
}

/* The process through which a device of the namespace was read before; NULL: none, or gone. */
static const struct process *find_last(struct run *run, uint64_t network,
				       const struct rna_presence *last)
{
	struct process *ret = NULL;
	uint64_t now;

	for (size_t i = 0; last && !ret && i < last->device_count; i++) {
		const struct rna_device *device = &last->devices[i];

		if (device->process == 0 || device->network_namespace != network ||
		    rna_read_network_namespace(run->root, device->process, &now) < 0 ||
		    now != network)
			continue;
		ret = rna_arena_alloc(run->arena, sizeof(*ret));
		if (ret)
			*ret = (struct process){.network = network, .number = device->process};
	}
	return ret;
}

static void look_into(struct run *run, const struct group *group)
{
	if (group->last && look_for_devices(run, group->last) > 0)
		return;
	for (size_t i = 0; i < group->count && run->error == 0; i++)
		if (look_for_devices(run, &group->processes[i]) > 0)
			return;
}

/* -- Files of verbs ---------------------------------------------------------------------------- */

/* False only if it is known to be missing: a /dev that is no file system in memory says nothing. */
static bool may_have_file(const struct run *run, uint32_t process, const char *name)
{
	const char *path = rna_arena_printf(run->arena, RNA_ROOT_OF_PROCESS "dev/infiniband/%s",
					    process, name);
	RNA_CLOSE int fd = path ? rna_root_openat(run->root, path, O_PATH) : -ENOMEM;

	return fd != -ENOENT && fd != -ENOTDIR;
}

static const struct group *find_group(const struct run *run, uint64_t network)
{
	return RNA_FIND(i, run->groups, run->group_count,
			run->groups[i].processes->network == network);
}

/*
 * The file that no process of the namespace has. One that only one process holds, as before its
 * containers start, says nothing.
 */
static const char *find_missing_file(const struct run *run, const struct absent *absent)
{
	const struct group *group = find_group(run, absent->process->network);
	const char *name = absent->device->verbs_file;

	if (!group || group->count < 2)
		return NULL;
	for (size_t i = 0; name && i < group->count; i++)
		if (may_have_file(run, group->processes[i].number, name))
			return NULL;
	return name;
}

/* -- All of them ------------------------------------------------------------------------------- */

static int make_groups(struct run *run, const struct rna_presence *last)
{
	size_t end;

	run->groups = rna_arena_array(run->arena, run->count + 1, sizeof(*run->groups));
	if (!run->groups)
		return -ENOMEM;
	for (size_t i = 0; i < run->count; i = end) {
		const struct process *first = &run->processes[i];

		for (end = i; end < run->count; end++)
			if (run->processes[end].network != first->network)
				break;
		run->groups[run->group_count++] = (struct group){
			.processes = first,
			.count = end - i < TRIES_MAX ? end - i : TRIES_MAX,
			.last = find_last(run, first->network, last),
		};
	}
	return 0;
}

/* Where a device was, it is looked for first: another namespace may have the same sysfs. */
static void look_into_all(struct run *run)
{
	for (size_t i = 0; i < run->group_count && run->error == 0; i++)
		if (run->groups[i].last)
			look_into(run, &run->groups[i]);
	for (size_t i = 0; i < run->group_count && run->error == 0; i++)
		if (!run->groups[i].last)
			look_into(run, &run->groups[i]);
}

/* The devices of the kernel that are not in the agent's own namespace. */
static int list_absent(struct run *run, char *const *names, size_t count)
{
	struct rna_class_devices all;
	int status = rna_list_class_devices(run->root, run->arena, &all);

	run->absent = rna_arena_array(run->arena, all.count + 1, sizeof(*run->absent));
	if (status < 0 || !run->absent)
		return status < 0 ? status : -ENOMEM;
	for (size_t i = 0; i < all.count; i++)
		if (!has_name(names, count, all.items[i].name))
			run->absent[run->absent_count++].device = &all.items[i];
	return 0;
}

static int list_found(struct run *run, struct rna_devices_elsewhere *ret)
{
	ret->items = rna_arena_array(run->arena, run->absent_count + 1, sizeof(*ret->items));
	ret->contested =
		rna_arena_array(run->arena, run->absent_count + 1, sizeof(*ret->contested));
	if (!ret->items || !ret->contested)
		return -ENOMEM;
	RNA_EACH (absent, run->absent, run->absent_count) {
		const struct process *process = absent->process;

		if (process && absent->other)
			ret->contested[ret->contested_count++] = (struct rna_contested_device){
				.name = absent->device->name,
				.processes = {process->number, absent->other->number},
			};
		else if (process)
			ret->items[ret->count++] = (struct rna_listed_device){
				.name = absent->device->name,
				.sysfs_path = absent->path,
				.process = process->number,
				.network_namespace = process->network,
				.missing_file = find_missing_file(run, absent),
			};
	}
	return 0;
}

static int look_for_all(struct run *run, const struct rna_presence *last)
{
	list_processes(run);
	sort_processes(run);
	if (run->error == 0)
		run->error = make_groups(run, last);
	if (run->error == 0 && run->absent_count > 0)
		look_into_all(run);
	return run->error == 0 ? list_found(run, run->ret) : run->error;
}

int rna_list_devices_elsewhere(const struct rna_root *root, char *const *names, size_t count,
			       const struct rna_presence *last, struct rna_arena *arena,
			       struct rna_devices_elsewhere *ret)
{
	struct run run = {.root = root, .arena = arena, .ret = ret};
	int status;

	*ret = (struct rna_devices_elsewhere){.reach.asked = true};
	status = rna_read_own_network_namespace(root, &run.own);
	if (status < 0)
		return rna_error_is_lack(status) ? status : 0; /* a root without processes */
	ret->reach.own_namespace = rna_is_first_pid_namespace(root) == 0;
	ret->reach.hidden = !rna_root_exists(root, "proc/1");
	status = list_absent(&run, names, count);
	if (status == 0)
		status = look_for_all(&run, last);
	free(run.processes);
	return status;
}

int rna_list_devices_of_process(const struct rna_root *root, uint32_t number,
				struct rna_arena *arena, struct rna_devices_elsewhere *ret)
{
	struct process process = {.number = number};
	struct run run = {.root = root, .arena = arena, .ret = ret};
	int status = rna_read_network_namespace(root, number, &process.network);

	*ret = (struct rna_devices_elsewhere){0};
	if (status < 0)
		return status == -ENOENT ? -ESRCH : status;
	status = list_absent(&run, NULL, 0);
	if (status == 0)
		status = look_for_devices(&run, &process);
	if (status >= 0)
		status = run.error;
	return status == 0 ? list_found(&run, ret) : status;
}
