/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter of system calls of our own, for where the unit's does not apply: containers without one,
 * and starts by hand. Whatever the agent is made to do, it cannot load modules, mount or trace
 * other processes, and neither can the children that it starts.
 *
 * What a call that is not allowed gets, by what it means:
 *   EPERM    known, and the agent does not need it; the caller copes, as under the unit
 *   ENOSYS   unknown to the table: a newer C library tries a newer call first, and falls back only
 *            on this answer. An update of libc must not end the agent.
 *   death    hostile: the agent never makes such a call, so foreign code runs in the process
 */
#pragma once

#include <stdbool.h>

#include "rna/base/error.h"

#include "settings/settings.h"

/* Which filter the process has; a constant, "none", "inherited" or "own". */
const char *rna_seccomp_state(void);

bool rna_seccomp_is_wanted(enum rna_seccomp_mode mode);

/*
 * Puts the filter on all threads of the process, and on the children to come, for good. 0 or
 * negative errno: -EOPNOTSUPP where the program was built without libseccomp, else what the kernel
 * says.
 */
int rna_seccomp_install(struct rna_error *error);

/*
 * Puts a narrower filter on this thread, the first of a prober, and on those that it starts, beside
 * what was inherited: that may refuse seccomp(2), which other threads would need. False: it has
 * none, because the program has no libseccomp or the kernel no filters.
 */
bool rna_seccomp_confine_prober(void);

/* seccomp_table.c: names of system calls, each list ends with NULL. Calls in none of them are
 * unknown. */
extern const char *const rna_seccomp_allowed[];
extern const char *const rna_seccomp_refused[];
extern const char *const rna_seccomp_hostile[];
extern const char *const rna_seccomp_prober_refused[]; /* although allowed elsewhere */
