/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The self-test: what is known of the loopback bandwidth of each port, and how good that is.
 * Runs are made by agent/selftest/turns.c, when the port is idle; the judgement is a pure function.
 * Thread: made by the loop; part of a view, immutable.
 */
#pragma once

#include "rna/model/loopback.h"
#include "rna/model/part.h"

enum rna_grade {
	RNA_GRADE_NONE, /* no test that counts */
	RNA_GRADE_OK,
	RNA_GRADE_WARNING,
	RNA_GRADE_FAILED,
	RNA_GRADE_COUNT,
};

const char *rna_grade_name(enum rna_grade grade); /* "none", "ok", "warning", "failed" */

/* In thousandths, so that settings can say 0.925. */
struct rna_selftest_limits {
	unsigned ok;       /* of what is expected; below it is a warning */
	unsigned warning;  /* below it the test has failed */
	unsigned siblings; /* of the median of ports of the same kind; below it is a warning */
};

/*
 * What a bandwidth (bytes per second) is worth. expected, siblings: 0 when not known; without
 * either there is no grade.
 */
enum rna_grade rna_selftest_judge(uint64_t bandwidth, uint64_t expected, uint64_t siblings,
				  const struct rna_selftest_limits *limits);

/* The median of count bandwidths, which it sorts; 0 of fewer than two: nothing to compare with. */
uint64_t rna_selftest_median(uint64_t *bandwidths, size_t count);

enum { RNA_SELFTESTS_KEPT = 32 }; /* runs of a port */

/* One run of one cell. */
struct rna_selftest_run {
	struct rna_time time; /* when it began */
	struct rna_loopback_request request;
	struct rna_loopback_result result;
	uint64_t expected; /* bytes per second: the least of port rate and PCIe path; 0: unknown */
	enum rna_grade grade;
	bool on_demand; /* asked for by a person */
	/*
	 * Asked for in another way than the settings have it (size, queue pairs, memory, a busy
	 * port): it stands in the history, and says nothing of how well the port is.
	 */
	bool special;
};

/* One port, as far as it was tested or is to be. */
struct rna_selftest_port {
	const char *device; /* name */
	unsigned port;
	size_t count;                        /* RNA_SELFTESTS_KEPT at most */
	const struct rna_selftest_run *runs; /* oldest first */
	rna_usec last_run;                   /* realtime of the last that was done; 0: never */
	rna_usec last_success;               /* realtime of the last one judged ok; 0: never */
	rna_usec next;                       /* realtime when the next one is due; 0: none */
	uint64_t bytes;                      /* written by all runs since start */
	uint64_t results[RNA_GRADE_COUNT];   /* runs that were done or failed, since start */
	uint64_t skips[RNA_SKIP_COUNT];      /* attempts that came to nothing, since start */
	enum rna_skip skip;                  /* of the last attempt; RNA_SKIP_NONE */
	int stuck; /* the process of a test that hangs in the kernel; 0: none does */
};

/* What is known of all ports: a part that no collector made, but the loop. */
struct rna_selftests {
	struct rna_part part;
	size_t count;
	const struct rna_selftest_port *ports; /* by device, then port */
};

bool rna_selftest_is_bad(const struct rna_selftest_run *run); /* accepts NULL: no */

/*
 * What is known of a port; NULL: nothing. hint: where the last search ended, at first 0; ports that
 * are asked for in their order are found at once. selftests: NULL is fine.
 */
const struct rna_selftest_port *rna_selftest_find(const struct rna_selftests *selftests,
						  const char *device, unsigned port, size_t *hint);

/*
 * The newest run of that kind of memory that was done or failed and is not special; NULL: none.
 * before: older ones only.
 */
const struct rna_selftest_run *rna_selftest_newest(const struct rna_selftest_port *port,
						   enum rna_endpoint endpoint,
						   const struct rna_selftest_run *before);
