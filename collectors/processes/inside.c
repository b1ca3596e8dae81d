// SPDX-License-Identifier: Apache-2.0
#include "rna/model/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/capability.h>

#include "rna/base/parse.h"
#include "rna/collector.h"

#include "device_users.h"
#include "namespaces.h"
#include "process_limits.h"

enum { STATUS_MAX = 4096 };

/* Who the process is for files. */
struct identity {
	uint64_t uid, gid;  /* effective */
	const char *groups; /* "4 24 27" */
	bool overrides;     /* CAP_DAC_OVERRIDE */
};

struct run {
	const struct rna_root *root;
	struct rna_arena *arena;
	struct rna_inside *ret;
	struct rna_inside_file *files;
	struct identity identity;
};

/* What is behind "Name:\t", without the first word where the second one is wanted. */
static const char *find_field(const char *status, const char *name)
{
	const char *found = strstr(status, name);

	return found ? found + strlen(name) + strspn(found + strlen(name), "\t ") : NULL;
}

/* "Uid:\t1000\t1000\t1000\t1000": real, effective, saved, of the file system. */
static uint64_t read_effective(const char *status, const char *name)
{
	const char *field = find_field(status, name);
	uint64_t number = UINT64_MAX;

	if (field)
		field = strchr(field, '\t');
	return field && rna_parse_leading_u64(field + 1, &number) == 0 ? number : UINT64_MAX;
}

static void read_identity(struct run *run, const char *process)
{
	char *status = rna_arena_alloc(run->arena, STATUS_MAX), path[64];

	run->identity = (struct identity){.uid = UINT64_MAX, .gid = UINT64_MAX};
	(void)snprintf(path, sizeof(path), "proc/%s/status", process);
	if (!status || rna_root_read(run->root, path, status, STATUS_MAX) < 0)
		return;
	run->identity = (struct identity){
		.uid = read_effective(status, "\nUid:"),
		.gid = read_effective(status, "\nGid:"),
		.groups = find_field(status, "\nGroups:"),
		.overrides = rna_process_has_capability(run->root, process, CAP_DAC_OVERRIDE),
	};
}

static bool is_in_group(const struct identity *identity, uint64_t gid)
{
	const char *at = identity->groups;

	if (gid == identity->gid)
		return true;
	while (at && *at >= '0' && *at <= '9') {
		char *end;

		if (strtoull(at, &end, 10) == gid)
			return true;
		at = end + strspn(end, " ");
	}
	return false;
}

/* May it read and write a file of this owner and mode? */
static bool may_open(const struct identity *identity, const struct stat *stat)
{
	unsigned bits = stat->st_mode & 07;

	if (stat->st_uid == identity->uid)
		bits = stat->st_mode >> 6 & 07;
	else if (is_in_group(identity, stat->st_gid))
		bits = stat->st_mode >> 3 & 07;
	return identity->overrides || (bits & 06) == 06;
}

static enum rna_inside_access look_at(struct run *run, const char *name)
{
	const char *path = rna_arena_printf(run->arena, RNA_ROOT_OF_PROCESS "dev/infiniband/%s",
					    run->ret->process, name);
	RNA_CLOSE int fd = path ? rna_root_openat(run->root, path, O_PATH) : -ENOMEM;
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) < 0)
		return RNA_INSIDE_MISSING;
	return may_open(&run->identity, &stat) ? RNA_INSIDE_OPEN : RNA_INSIDE_CLOSED;
}

static void add_file(struct run *run, const char *name, const char *device)
{
	run->files[run->ret->file_count++] = (struct rna_inside_file){
		.name = name,
		.device = device,
		.access = look_at(run, name),
	};
}

#define RDMA_FILES "/dev/infiniband/"

/*
 * The name of a file of /dev/infiniband that is open as this descriptor; "" if it is another file.
 * The links of /proc/PID/fd have the paths by which the process opened them.
 */
static const char *read_descriptor(const struct rna_root *root, const char *process, const char *fd,
				   char target[64])
{
	const char *found;
	char link[64];

	(void)snprintf(link, sizeof(link), "proc/%s/fd/%.16s", process, fd);
	if (rna_root_readlink(root, link, target, 64) < 0)
		return "";
	found = strstr(target, RDMA_FILES); /* relative links of a recording lead there as well */
	return found ? found + strlen(RDMA_FILES) : "";
}

static ssize_t list_descriptors(const struct rna_root *root, const char *process,
				struct rna_arena *arena, char ***ret)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "proc/%s/fd", process);
	return rna_root_list(root, path, arena, ret);
}

static void count_descriptors(struct run *run, const char *process)
{
	char **names, target[64];
	ssize_t count = list_descriptors(run->root, process, run->arena, &names);

	for (size_t i = 0; count >= 0 && i < run->ret->file_count; i++)
		run->files[i].opened = rna_value_ok(0);
	for (ssize_t i = 0; i < count; i++) {
		const char *name = read_descriptor(run->root, process, names[i], target);

		for (size_t j = 0; *name && j < run->ret->file_count; j++)
			run->files[j].opened.number += strcmp(run->files[j].name, name) == 0;
	}
}

static const char *read_command(struct run *run)
{
	char path[64], text[64];

	(void)snprintf(path, sizeof(path), "proc/%u/comm", run->ret->process);
	if (rna_root_read(run->root, path, text, sizeof(text)) <= 0)
		return NULL;
	return rna_arena_strdup(run->arena, text);
}

static int look_at_files(struct run *run, const char *process, const struct rna_presence *presence)
{
	struct rna_class_devices devices;
	int status;

	run->files = rna_arena_array(run->arena, presence->device_count + 1, sizeof(*run->files));
	if (!run->files)
		return -ENOMEM;
	read_identity(run, process);
	status = rna_list_class_devices(run->root, run->arena, &devices);
	if (status < 0)
		return status;
	add_file(run, "rdma_cm", NULL);
	for (size_t i = 0; i < presence->device_count; i++) {
		const struct rna_class_device *device =
			rna_find_class_device(&devices, presence->devices[i].name);

		if (device && device->verbs_file)
			add_file(run, device->verbs_file, presence->devices[i].name);
	}
	count_descriptors(run, process);
	run->ret->files = run->files;
	return 0;
}

int rna_look_inside(const struct rna_root *root, const struct rna_presence *presence,
		    struct rna_arena *arena, struct rna_inside *ret)
{
	struct run run = {.root = root, .arena = arena, .ret = ret};
	uint64_t own = 0;
	char process[16];
	int status;

	*ret = (struct rna_inside){.process = presence->inside};
	(void)snprintf(process, sizeof(process), "%u", ret->process);
	status = rna_read_network_namespace(root, ret->process, &ret->network_namespace);
	if (status < 0)
		return status == -ENOENT ? -ESRCH : status;
	if (rna_read_own_network_namespace(root, &own) == 0)
		ret->of_node = own == ret->network_namespace;
	ret->command = read_command(&run);
	ret->memlock = rna_process_memlock(root, process);
	ret->may_lock_all = rna_process_has_capability(root, process, CAP_IPC_LOCK);
	status = rna_find_owner(root, ret->process, arena, &ret->users);
	return status < 0 ? status : look_at_files(&run, process, presence);
}

/* -- The processes of a pod -------------------------------------------------------------------- */

/* name: "train-0" or "default/train-0" */
static bool is_pod(const struct rna_user *user, const char *name)
{
	const char *slash = strchr(name, '/');
	size_t len = slash ? (size_t)(slash - name) : 0;

	if (slash && (!user->namespace || strlen(user->namespace) != len ||
		      strncmp(user->namespace, name, len) != 0))
		return false;
	return rna_same_text(user->pod, slash ? slash + 1 : name);
}

static bool has_device_open(const struct rna_root *root, const char *process,
			    struct rna_arena *arena)
{
	char **names, target[64];
	ssize_t count = list_descriptors(root, process, arena, &names);

	for (ssize_t i = 0; i < count; i++)
		if (*read_descriptor(root, process, names[i], target))
			return true;
	return false;
}

int rna_find_pod_process(const struct rna_root *root, const char *name, uint32_t *ret)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	char **names;
	ssize_t count = arena ? rna_root_list(root, "proc", arena, &names) : -ENOMEM;

	*ret = 0;
	for (ssize_t i = 0; i < count; i++) {
		struct rna_users owner;
		uint64_t process;

		if (rna_parse_u64(names[i], &process) < 0 || process > INT32_MAX)
			continue;
		if (rna_find_owner(root, (uint32_t)process, arena, &owner) < 0)
			return -ENOMEM;
		if (owner.count == 0 || !is_pod(&owner.items[0], name))
			continue;
		if (has_device_open(root, names[i], arena)) {
			*ret = (uint32_t)process;
			return 0;
		}
		*ret = (uint32_t)process; /* the last one: the first is that of the sandbox */
	}
	if (count < 0)
		return (int)count;
	return *ret > 0 ? 0 : -ESRCH;
}
