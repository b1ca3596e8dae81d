// SPDX-License-Identifier: Apache-2.0
/* Recording what the node needs beside devices: modules, device files, limits of runtimes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "readiness_sources.h"
#include "recording.h"

/* A module is a directory; what else is in there is not read. */
static void copy_modules(struct rna_recording *recording)
{
	for (const char *const *name = rna_readiness_modules; *name; name++) {
		const char *path = rna_recording_join(recording, "sys/module", *name);

		if (path && (rna_root_exists(recording->root, path) ||
			     rna_readiness_is_built_in(recording->root, *name)))
			rna_recording_write_directory(recording, path);
	}
}

/* Which device each uverbs is for; and whether AMD's GPUs compute. */
static void copy_classes(struct rna_recording *recording)
{
	static const char class[] = "sys/class/infiniband_verbs";
	char **names = NULL;
	size_t count = rna_recording_list(recording, class, &names);

	for (size_t i = 0; i < count; i++) {
		const char *link = rna_recording_join(recording, class, names[i]);
		const char *path =
			link ? rna_root_realpath(recording->root, link, recording->scratch, NULL)
			     : NULL;

		rna_recording_copy_link(recording, class, names[i]);
		if (path)
			rna_recording_copy_file(recording,
						rna_recording_join(recording, path, "ibdev"));
	}
}

/* An empty file in the place of each, with its permissions. */
static void record_device_node(struct rna_recording *recording, const char *path)
{
	RNA_CLOSE int fd = rna_root_openat(recording->root, path, O_PATH | O_NOFOLLOW);
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) < 0)
		return;
	rna_recording_write_file(recording, path, "", 0);
	if (recording->status == 0 && fchmodat(recording->fd, path, stat.st_mode & 0777, 0) < 0)
		rna_recording_fail(recording, -errno, path);
}

static void record_device_nodes(struct rna_recording *recording)
{
	char **names = NULL;
	size_t count = rna_recording_list(recording, RNA_DEV_INFINIBAND, &names);

	for (size_t i = 0; i < count; i++) {
		const char *path = rna_recording_join(recording, RNA_DEV_INFINIBAND, names[i]);

		if (path)
			record_device_node(recording, path);
	}
	record_device_node(recording, RNA_DEV_WITNESS);
	if (rna_root_exists(recording->root, "sys/class/misc/rdma_cm"))
		rna_recording_write_directory(recording, "sys/class/misc/rdma_cm");
}

/* Units may hold secrets (proxies), so only what they come to is written down. */
static void record_runtimes(struct rna_recording *recording)
{
	for (const char *const *unit = rna_readiness_units; *unit; unit++) {
		const char *path = rna_recording_join(recording, "etc/systemd/system", *unit);
		struct rna_value limit;
		char text[64] = "[Service]\n";

		if (!path ||
		    rna_read_memlock(recording->root, *unit, recording->scratch, &limit) < 0)
			continue;
		if (rna_value_is_known(limit) && limit.number == RNA_MEMLOCK_INFINITY)
			(void)strcat(text, "LimitMEMLOCK=infinity\n");
		else if (limit.state != RNA_VALUE_ABSENT)
			(void)snprintf(text, sizeof(text), "[Service]\nLimitMEMLOCK=%ju\n",
				       (uintmax_t)limit.number);
		rna_recording_write_file(recording, path, text, strlen(text));
	}
}

void rna_record_readiness(struct rna_recording *recording)
{
	for (const char *const *path = rna_readiness_files; *path; path++)
		rna_recording_copy_file(recording, *path);
	copy_modules(recording);
	copy_classes(recording);
	record_device_nodes(recording);
	record_runtimes(recording);
}
