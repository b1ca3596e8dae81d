/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/stat of any process, see proc_pid_stat(5). Thread: any. */
#pragma once

#include <sys/types.h>

enum {
	RNA_PROC_STAT_MAX = 1024, /* 52 numbers and a name of 15 characters */
	RNA_PROC_STAT_SELF = -1,  /* this process, also in a /proc of other PIDs */
};

/*
 * Reads it into buffer: *ret_fields are its fields after the name, in buffer: state, parent, and so
 * on. The name may contain blanks and brackets. pid: or RNA_PROC_STAT_SELF. 0 or negative errno:
 * -ENOENT or -ESRCH of a process that has ended, or of none (0).
 */
int rna_proc_stat_read(pid_t pid, char buffer[RNA_PROC_STAT_MAX], char **ret_fields);
