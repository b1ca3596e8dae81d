/* SPDX-License-Identifier: Apache-2.0 */
/* What files of /proc say of a process. process: its number, as the directory is called. */
#pragma once

#include <stdbool.h>

#include "rna/base/root.h"
#include "rna/model/value.h"

/*
 * The soft limit of locked memory, RNA_MEMLOCK_INFINITY if there is none; absent: unreadable. It is
 * what counts, and few programs raise it.
 */
struct rna_value rna_process_memlock(const struct rna_root *root, const char *process);

/*
 * Is the capability, as CAP_IPC_LOCK, for which no limit of locked memory counts, in its effective
 * set? false: unreadable, too.
 */
bool rna_process_has_capability(const struct rna_root *root, const char *process,
				unsigned capability);
