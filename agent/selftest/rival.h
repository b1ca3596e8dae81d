/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rival: somebody else who has the lock of self-tests. Anybody may have it for the seconds that a
 * test takes; who is met there time and again keeps tests away, or wants to.
 * Thread: the loop's; pure.
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
 * The lock was wanted at now, and that is who has it, if anybody. True, once: he has been there
 * each time for long.
 */
bool rna_rival_meet(struct rna_rival *rival, const struct rna_loopback_holder *holder,
		    rna_usec now);

/* "process 4711 of user 1000 has held the self-test lock for at least 12m" */
void rna_rival_describe(const struct rna_rival *rival, rna_usec now, struct rna_strbuf *out);
