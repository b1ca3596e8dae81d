// SPDX-License-Identifier: Apache-2.0
#include "in_use.h"

#include "rna/base/duration.h"
#include "rna/model/activity.h"

/* Even `selftest --duration` with its longest tests lets go between two of them. */
#define LONG (10 * 60 * RNA_USEC_PER_SEC)
#define LOOK_AT_MOST                                                                               \
	(60 * RNA_USEC_PER_SEC)  /* if counters are read more rarely, the child looks              \
				  */
#define READING RNA_USEC_PER_SEC /* how long that takes, generously */
#define MEGA    1000000

static bool is_same(const struct rna_loopback_holder *a, const struct rna_loopback_holder *b)
{
	return a->is_there == b->is_there && a->pid == b->pid && a->uid == b->uid;
}

bool rna_lock_holder_note(struct rna_lock_holder *lock_holder,
			  const struct rna_loopback_holder *holder, rna_usec now)
{
	if (!holder->is_there || !is_same(&lock_holder->holder, holder)) {
		*lock_holder = (struct rna_lock_holder){.holder = *holder, .since = now};
		return false;
	}
	if (lock_holder->told || rna_usec_since(lock_holder->since, now) < LONG)
		return false;
	lock_holder->told = true;
	return true;
}

void rna_lock_holder_describe(const struct rna_lock_holder *lock_holder, rna_usec now,
			      struct rna_strbuf *out)
{
	const struct rna_loopback_holder *holder = &lock_holder->holder;
	rna_usec span = rna_usec_since(lock_holder->since, now);

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

/* Until all counters have been read again. */
static rna_usec reading_period(const struct rna_settings *settings)
{
	rna_usec pma = settings->poll[RNA_COLLECTOR_COUNTERS];
	rna_usec own = settings->poll[RNA_COLLECTOR_HW_COUNTERS];
	rna_usec longer = RNA_POLL_LONGEST(pma > own ? pma : own);

	return (longer < LOOK_AT_MOST ? longer : LOOK_AT_MOST) + READING;
}

rna_usec rna_traffic_check_run(struct rna_traffic_check *traffic_check,
			       const struct rna_selftest_subject *subject,
			       const struct rna_settings *settings, bool *ret_busy)
{
	struct rna_traffic_check before = *traffic_check, now;
	double rate;

	*ret_busy = false;
	*traffic_check = (struct rna_traffic_check){0};
	if (!rna_activity_sum(subject->device, subject->port, &now.moved, &now.taken))
		return 0;
	if (before.taken == 0) {
		*traffic_check = now;
		return reading_period(settings);
	}
	if (now.taken <= before.taken || now.moved < before.moved)
		return 0; /* not read again, or reset */
	rate = (double)(now.moved - before.moved) / rna_seconds(now.taken - before.taken);
	*ret_busy = rate >= (double)settings->selftest_busy_rate * MEGA;
	return 0;
}
