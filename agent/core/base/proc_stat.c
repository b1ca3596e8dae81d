// SPDX-License-Identifier: Apache-2.0
#include "rna/base/proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/base/root.h"

int rna_proc_stat_read(pid_t pid, char buffer[RNA_PROC_STAT_MAX], char **ret_fields)
{
	char path[32] = "/proc/self/stat";
	char *end;
	ssize_t len;

	if (pid != RNA_PROC_STAT_SELF)
		(void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	RNA_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -errno : rna_root_pread_text(fd, buffer, RNA_PROC_STAT_MAX);
	if (len < 0)
		return (int)len;
	end = strrchr(buffer, ')');
	if (!end || end[1] != ' ')
		return -EBADMSG;
	*ret_fields = end + 2;
	return 0;
}
