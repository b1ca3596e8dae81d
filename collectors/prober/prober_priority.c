// SPDX-License-Identifier: Apache-2.0
/*
 * The priority of the prober. Real time is before all other programs, whatever control group they
 * are in; a nice value counts within the own one only (Documentation/admin-guide/cgroup-v2.rst of
 * Linux 6.1: cpu.weight). The right to either is RLIMIT_RTPRIO or RLIMIT_NICE, or CAP_SYS_NICE.
 */
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rna/prober.h"

enum {
	NICE = -10,
	/* Microseconds of the CPU without a wait: of a turn it takes a few, and waits for firmware.
	 */
	BUDGET = 200000,
};

/* The kernel sends SIGXCPU to the process; its first thread, which has its number, is meant. */
static void lose_priority(int signal)
{
	const struct sched_param none = {0};

	(void)signal;
	(void)sched_setscheduler(getpid(), SCHED_OTHER, &none);
}

enum rna_probe_priority rna_prober_priority(void)
{
	int policy = sched_getscheduler(0);

	if (policy >= 0 && (policy & ~SCHED_RESET_ON_FORK) == SCHED_RR)
		return RNA_PROBE_PRIORITY_REALTIME;
	return getpriority(PRIO_PROCESS, 0) <= NICE ? RNA_PROBE_PRIORITY_NICE
						    : RNA_PROBE_PRIORITY_NORMAL;
}

enum rna_probe_priority rna_prober_take_priority(void)
{
	const struct sigaction spent = {.sa_handler = lose_priority, .sa_flags = SA_RESTART};
	const struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_RR)};
	const struct rlimit budget = {BUDGET, RLIM_INFINITY};

	if (sigaction(SIGXCPU, &spent, NULL) < 0 || setrlimit(RLIMIT_RTTIME, &budget) < 0 ||
	    sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest) < 0)
		(void)setpriority(PRIO_PROCESS, 0, NICE);
	return rna_prober_priority();
}
