/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter of system calls of our own, for where the unit's does not apply: containers without one,
 * and starts by hand. Whatever the agent is made to do, it cannot load modules, mount or trace
 * other processes, and neither can the children that it starts.
 *
 * What a call that is not allowed gets, by what it means:
 *   EPERM    known and not ours; who asks goes on without, as under the unit
 *   ENOSYS   unknown to the table: a C library newer than it tries a call that is newer still, and
 *            falls back on this answer and on no other. The agent must not die of an update of
 * libc. death    hostile: nothing of ours ever asks for it, so who does is not us
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
