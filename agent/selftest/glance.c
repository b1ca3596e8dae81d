// SPDX-License-Identifier: Apache-2.0
#include "glance.h"

#include "rna/model/activity.h"

#define LOOK_AT_MOST                                                                               \
	(60 * RNA_USEC_PER_SEC)  /* if counters are read more rarely, the child looks              \
				  */
#define READING RNA_USEC_PER_SEC /* how long that takes, generously */
#define MEGA    1000000

/* Until all counters have been read again. */
static rna_usec reading_period(const struct rna_settings *settings)
{
	rna_usec pma = settings->poll[RNA_COLLECTOR_COUNTERS];
	rna_usec own = settings->poll[RNA_COLLECTOR_HW_COUNTERS];
	rna_usec longer = RNA_POLL_LONGEST(pma > own ? pma : own);

	return (longer < LOOK_AT_MOST ? longer : LOOK_AT_MOST) + READING;
}

rna_usec rna_selftest_glance(struct rna_glance *glance, const struct rna_subject *subject,
			     const struct rna_settings *settings, bool *ret_busy)
{
	struct rna_glance before = *glance, now;
	double rate;

	*ret_busy = false;
	*glance = (struct rna_glance){0};
	if (!rna_activity_sum(subject->device, subject->port, &now.moved, &now.taken))
		return 0;
	if (before.taken == 0) {
		*glance = now;
		return reading_period(settings);
	}
	if (now.taken <= before.taken || now.moved < before.moved)
		return 0; /* not read again, or reset */
	rate = (double)(now.moved - before.moved) / rna_seconds(now.taken - before.taken);
	*ret_busy = rate >= (double)settings->selftest_busy_rate * MEGA;
	return 0;
}
