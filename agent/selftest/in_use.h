/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What else uses a port or the self-test lock when a test is due. Thread: the loop's; pure.
 */
#pragma once

#include "rna/base/clock.h"
#include "rna/base/strbuf.h"
#include "rna/model/loopback.h"

#include "plan.h"

/*
 * Another process that holds the self-test lock. It may hold it for the seconds that a test takes;
 * if it holds it each time the agent wants it, it prevents tests.
 */
struct rna_lock_holder {
	struct rna_loopback_holder holder; /* when the lock was wanted last */
	rna_usec since;                    /* monotonic: when the same was met first */
	bool told;
};

/*
 * The lock was wanted at now; holder has it, if any process does. True, once: it has held it
 * each time for long.
 */
bool rna_lock_holder_note(struct rna_lock_holder *lock_holder,
			  const struct rna_loopback_holder *holder, rna_usec now);

/* "process 4711 of user 1000 has held the self-test lock for at least 12m" */
void rna_lock_holder_describe(const struct rna_lock_holder *lock_holder, rna_usec now,
			      struct rna_strbuf *out);

/*
 * A look at a port's counters before its turn: those that are read anyway show most jobs, so that
 * no child has to be started beside them. The child looks closer, just before it begins.
 */
struct rna_traffic_check {
	uint64_t moved; /* bytes by then */
	rna_usec taken; /* monotonic; 0: there was no first look */
};

/*
 * Looks at the newest counters of the port. Returns for how long to wait before the second look,
 * or 0: this was it, and *ret_busy says whether the port is in use. Where nothing is counted it is
 * not known to be.
 */
rna_usec rna_traffic_check_run(struct rna_traffic_check *traffic_check,
			       const struct rna_subject *subject,
			       const struct rna_settings *settings, bool *ret_busy);
