/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rival: another process that holds the self-test lock. It may hold it for the seconds that a
 * test takes; if it holds it each time the agent wants it, it prevents tests. Thread: the loop's;
 * pure.
 */
#pragma once

#include "rna/base/clock.h"
#include "rna/base/strbuf.h"
#include "rna/model/loopback.h"

struct rna_rival {
	struct rna_loopback_holder holder; /* when the lock was wanted last */
	rna_usec since;                    /* monotonic: when the same was met first */
	bool told;
};

/*
 * The lock was wanted at now; holder has it, if any process does. True, once: it has held it
 * each time for long.
 */
bool rna_rival_meet(struct rna_rival *rival, const struct rna_loopback_holder *holder,
		    rna_usec now);

/* "process 4711 of user 1000 has held the self-test lock for at least 12m" */
void rna_rival_describe(const struct rna_rival *rival, rna_usec now, struct rna_strbuf *out);
