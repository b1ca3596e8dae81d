/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trial: a function that may hang, run in a process of its own until a deadline. A thread that a
 * driver keeps in the kernel holds up the end of its process, for which the caller of this program
 * would wait; it does not wait for a process that this program has started and left.
 */
#pragma once

#include "rna/base/clock.h"
#include "rna/base/error.h"
#include "rna/base/strbuf.h"

/* Adds its result to ret. 0 or more, or negative errno with error. */
typedef int rna_trial(void *userdata, struct rna_strbuf *ret, struct rna_error *error);

/*
 * Calls try in a child with a copy of the caller's memory, whose standard input and outputs are
 * /dev/null and whose other descriptors are closed. Call it while there is one thread. until:
 * monotonic time. What try returned; -ETIMEDOUT without error: the child did not end in time and
 * was killed; or another negative errno with error.
 */
int rna_trial_run(rna_trial *try, void *userdata, rna_usec until, struct rna_strbuf *ret,
		  struct rna_error *error);
