// SPDX-License-Identifier: Apache-2.0
#include "rival.h"

#include "rna/base/duration.h"

/* Even `selftest --duration` with its longest tests lets go between two of them. */
#define LONG (10 * 60 * RNA_USEC_PER_SEC)

static bool is_same(const struct rna_loopback_holder *a, const struct rna_loopback_holder *b)
{
	return a->is_there == b->is_there && a->pid == b->pid && a->uid == b->uid;
}

bool rna_rival_meet(struct rna_rival *rival, const struct rna_loopback_holder *holder, rna_usec now)
{
	if (!holder->is_there || !is_same(&rival->holder, holder)) {
		*rival = (struct rna_rival){.holder = *holder, .since = now};
		return false;
	}
	if (rival->told || rna_usec_since(rival->since, now) < LONG)
		return false;
	rival->told = true;
	return true;
}

void rna_rival_describe(const struct rna_rival *rival, rna_usec now, struct rna_strbuf *out)
{
	const struct rna_loopback_holder *holder = &rival->holder;
	rna_usec span = rna_usec_since(rival->since, now);

	if (holder->uid == RNA_UID_UNKNOWN)
		rna_strbuf_puts(out, "a process of unknown owner");
	else if (holder->pid == 0)
		rna_strbuf_printf(out, "a process of user %u, in another PID namespace,",
				  (unsigned)holder->uid);
	else
		rna_strbuf_printf(out, "process %d of user %u", (int)holder->pid,
				  (unsigned)holder->uid);
	rna_strbuf_puts(out, " has held the self-test lock for at least ");
	rna_duration_write(span - span % RNA_USEC_PER_SEC, out);
}
