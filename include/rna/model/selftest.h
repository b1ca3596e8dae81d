/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The self-test: measured loopback bandwidth of each port, and its grade. selftest_schedule.c
 * starts runs when the port is idle; grading is a pure function. Thread: created by the loop; part
 * of a view, immutable.
 */
#pragma once

#include "rna/model/loopback.h"
#include "rna/model/part.h"

enum rna_grade {
	RNA_GRADE_NONE, /* no valid test */
	RNA_GRADE_OK,
	RNA_GRADE_WARNING,
	RNA_GRADE_FAILED,
	RNA_GRADE_COUNT,
};

const char *rna_grade_name(enum rna_grade grade); /* "none", "ok", "warning", "failed" */

/* In thousandths, for settings such as 0.925. */
struct rna_selftest_limits {
	unsigned ok;       /* of the expected bandwidth; below is a warning */
	unsigned warning;  /* of the expected bandwidth; below is a failure */
	unsigned siblings; /* of the median of similar ports; below is a warning */
};

/*
 * Grades a bandwidth (bytes per second). expected, siblings: 0 if unknown; if both are, the grade
 * is RNA_GRADE_NONE.
 */
enum rna_grade rna_selftest_judge(uint64_t bandwidth, uint64_t expected, uint64_t siblings,
				  const struct rna_selftest_limits *limits);

/* The median of count bandwidths; sorts the array. 0 for fewer than two: nothing to compare. */
uint64_t rna_selftest_median(uint64_t *bandwidths, size_t count);

enum { RNA_SELFTESTS_KEPT = 32 }; /* runs kept for a port */

/* One run of one cell. */
struct rna_selftest_run {
	struct rna_time time; /* start of the run */
	struct rna_loopback_request request;
	struct rna_loopback_result result;
	/* bytes per second: the lower of port rate and PCIe path rate; 0: unknown */
	uint64_t expected;
	enum rna_grade grade;
	bool on_demand; /* requested by a person */
	/*
	 * Requested with other parameters than the settings (size, queue pairs, memory, a busy
	 * port): it is in the history but does not count for the port's health.
	 */
	bool special;
};

/* Tests of one port, past and planned. */
struct rna_selftest_port {
	const char *device; /* name */
	unsigned port;
	size_t count;                        /* RNA_SELFTESTS_KEPT at most */
	const struct rna_selftest_run *runs; /* oldest first */
	rna_usec last_run;                   /* realtime of the last completed run; 0: never */
	rna_usec last_success;               /* realtime of the last run graded ok; 0: never */
	rna_usec next;                       /* realtime when the next one is due; 0: none */
	uint64_t bytes;                      /* written by all runs since the agent started */
	uint64_t results[RNA_GRADE_COUNT];   /* completed or failed runs since the agent started */
	uint64_t skips[RNA_SKIP_COUNT];      /* skipped runs since the agent started */
	enum rna_skip skip;                  /* of the last attempt; RNA_SKIP_NONE */
	int stuck; /* process ID of a test that hangs in the kernel; 0: none */
};

/* Tests of all ports: a part created by the loop, not by a collector. */
struct rna_selftests {
	struct rna_part part;
	size_t count;
	const struct rna_selftest_port *ports; /* by device, then port */
};

bool rna_selftest_is_bad(const struct rna_selftest_run *run); /* NULL: false */

/*
 * The tests of a port; NULL: none. *hint: where the last search ended, initially 0; searching ports
 * in order is fast. selftests: may be NULL.
 */
const struct rna_selftest_port *rna_selftest_find(const struct rna_selftests *selftests,
						  const char *device, unsigned port, size_t *hint);

/*
 * The newest run with that endpoint that completed or failed and is not special; NULL: none.
 * before: only runs older than this one; NULL: all.
 */
const struct rna_selftest_run *rna_selftest_newest(const struct rna_selftest_port *port,
						   enum rna_endpoint endpoint,
						   const struct rna_selftest_run *before);
