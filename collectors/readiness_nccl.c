// SPDX-License-Identifier: Apache-2.0
/*
 * Reads for readiness what /etc/nccl.conf demands of all jobs. A line is NAME=VALUE without blanks
 * around; of several lines of a name NCCL takes the first, because setenv() does not overwrite
 * (setEnvFile() in src/misc/param.cc, 2.30.7).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/cleanup.h"

#include "readiness_sources.h"

#define NCCL_FILE  "etc/nccl.conf"
#define INTERFACES "sys/class/net"

enum {
	FILE_MAX = 16 * 1024, /* further bytes are not looked at */
	VALUE_MAX = 1023,     /* as NCCL cuts it */
};

/* 0 or -ENOMEM. */
static int take_line(const char *line, struct rna_arena *keep, struct rna_nccl_file *ret)
{
	for (size_t i = 0; i < RNA_NCCL_FILE_COUNT; i++) {
		size_t len = strlen(rna_nccl_file_names[i]);

		if (strncmp(line, rna_nccl_file_names[i], len) != 0 || line[len] != '=' ||
		    ret->values[i])
			continue;
		ret->values[i] = rna_arena_printf(keep, "%.*s", VALUE_MAX, line + len + 1);
		return ret->values[i] ? 0 : -ENOMEM;
	}
	return 0;
}

/*
 * NCCL finds those or fails: ncclFindInterfaces() in src/misc/socket.cc ignores a value of one
 * character. The loopback interface is one that it would find.
 */
static int count_interfaces(const struct rna_root *root, struct rna_arena *scratch,
			    struct rna_nccl_file *ret)
{
	const char *wanted = ret->values[RNA_NCCL_FILE_SOCKET_IFNAME];
	char **names = NULL;
	ssize_t count;
	uint64_t selected = 0;

	if (!wanted || strlen(wanted) < 2)
		return 0;
	count = rna_root_list(root, INTERFACES, scratch, &names);
	if (count < 0)
		return count == -ENOMEM ? -ENOMEM : 0;
	for (ssize_t i = 0; i < count; i++)
		selected += rna_nccl_list_selects(wanted, names[i], 0);
	ret->interfaces = rna_value_ok(selected);
	return 0;
}

int rna_read_nccl_file(const struct rna_root *root, struct rna_arena *scratch,
		       struct rna_arena *keep, struct rna_nccl_file *ret)
{
	RNA_FREE char *text = NULL;
	char *rest, *line;
	int status = 0;

	if (!rna_root_exists(root, NCCL_FILE))
		return 0;
	text = malloc(FILE_MAX + 1);
	if (!text)
		return -ENOMEM;
	ret->exists = rna_root_read(root, NCCL_FILE, text, FILE_MAX + 1) >= 0;
	for (rest = ret->exists ? text : NULL; status == 0 && (line = strsep(&rest, "\n"));)
		status = take_line(line, keep, ret);
	return status < 0 ? status : count_interfaces(root, scratch, ret);
}
