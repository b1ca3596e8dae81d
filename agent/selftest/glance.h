/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A glance at a port before its turn: counters that are read anyway show most jobs, so that nothing
 * has to be started beside them. The child looks closer, and just before it begins.
 * Thread: the loop's; pure.
 */
#pragma once

#include "plan.h"

struct rna_glance {
	uint64_t moved; /* bytes by then */
	rna_usec taken; /* monotonic; 0: there was no first look */
};

/*
 * Looks at the newest counters of the port. Returns for how long to wait before the second look,
 * or 0: this was it, and *ret_busy says whether the port is in use. Where nothing is counted it is
 * not known to be.
 */
rna_usec rna_selftest_glance(struct rna_glance *glance, const struct rna_subject *subject,
			     const struct rna_settings *settings, bool *ret_busy);
