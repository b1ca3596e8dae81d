/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's own process, as the kernel accounts it (proc(5)). */
#pragma once

#include "rna/model/part.h"
#include "rna/model/value.h"

struct rna_process {
	struct rna_part part;
	rna_usec cpu; /* user and system time of all threads, dead ones included */
	struct rna_value resident_memory; /* bytes */
	struct rna_value virtual_memory;  /* bytes */
	struct rna_value open_fds;
	struct rna_value max_fds; /* RLIMIT_NOFILE, soft */
	struct rna_value threads;
};
