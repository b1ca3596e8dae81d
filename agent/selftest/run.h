/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of self-tests: which ones a request comes to, and what is said of them in the end.
 * selftest_schedule.c makes them. Pure functions of a view and the settings. Thread: any.
 */
#pragma once

#include "plan.h"

/* The options of a requested self-test; 0, NULL and -1: as in the settings. */
struct rna_selftest_options {
	const char *device; /* name, and /PORT or :PORT behind it for one port only; NULL: all */
	const char *gpu;    /* PCI address: its memory only */
	int numa_node;      /* memory of that node only */
	unsigned size;
	unsigned qps;
	rna_usec duration; /* as long as that, however much is written */
	bool force;        /* on a busy port as well */
};

/* Their keys: options of the command, and lines of a request to the agent. */
enum rna_selftest_option {
	RNA_SELFTEST_OPTION_DEVICE,
	RNA_SELFTEST_OPTION_GPU,
	RNA_SELFTEST_OPTION_NUMA,
	RNA_SELFTEST_OPTION_SIZE,
	RNA_SELFTEST_OPTION_QPS,
	RNA_SELFTEST_OPTION_DURATION,
	RNA_SELFTEST_OPTION_FORCE,
	RNA_SELFTEST_OPTION_COUNT,
};

extern const char *const rna_selftest_option_keys[RNA_SELFTEST_OPTION_COUNT]; /* "device", ... */

/*
 * Reads them from texts, NULL where an option is not given; *ret points into them. 0, or -EINVAL
 * with error "--size: ...".
 */
int rna_selftest_options_parse(const char *const values[RNA_SELFTEST_OPTION_COUNT],
			       struct rna_selftest_options *ret, struct rna_error *error);

/* Does text name that port: "mlx5_0", "mlx5_0/1" or, as perftest users write, "mlx5_0:1"? */
bool rna_test_names_port(const char *text, const char *device, unsigned port);

struct rna_selftest_runs {
	size_t count;
	struct rna_selftest_run *items;
};

void rna_selftest_runs_deinit(struct rna_selftest_runs *runs); /* idempotent */

/* Is there one for the same port and kind of memory? */
bool rna_selftest_runs_have(const struct rna_selftest_runs *runs,
			    const struct rna_selftest_run *run);

/*
 * The runs that a request comes to, with requests, expectations and, where there can be no test,
 * the reason as result; in the order of the view. 0; -ENODEV with error when no port fits; -ENOMEM.
 */
int rna_selftest_plan(const struct rna_view *view, const struct rna_settings *settings,
		      const struct rna_selftest_options *options, struct rna_selftest_runs *ret,
		      struct rna_error *error);

/* Exit codes of the command. */
enum rna_selftest_exit {
	RNA_SELFTEST_OK,
	RNA_SELFTEST_WARNING,
	RNA_SELFTEST_FAILED,
	RNA_SELFTEST_UNKNOWN, /* nothing could be tested */
};

enum rna_selftest_exit rna_selftest_sum_up(const struct rna_selftest_run *runs, size_t count);

/* The same of what before sums up and one more test. Begins with RNA_SELFTEST_UNKNOWN. */
enum rna_selftest_exit rna_test_sum_up(enum rna_selftest_exit before, enum rna_loopback_end end,
				       enum rna_grade grade);

/* "mlx5_0/1, local memory ...", for the progress line of a command. */
void rna_selftest_describe(const struct rna_selftest_run *run, struct rna_strbuf *out);

/*
 * The child came to no result, or was not started, for that reason; ended: it is not stuck. That it
 * failed is only said where it did not end in time, or ended by itself: anything else is a reason
 * to skip it, RNA_SKIP_LOCKED or RNA_SKIP_NO_RESOURCES.
 */
void rna_selftest_run_fail(struct rna_selftest_run *run, const struct rna_error *why, bool ended);

/* The grade of a test that ended so. siblings: what they reach, in bytes per second; 0: unknown */
enum rna_grade rna_test_grade(enum rna_loopback_end end, uint64_t bandwidth, uint64_t expected,
			      uint64_t siblings, const struct rna_settings *settings);

/* Grades the runs that are done, siblings being those with the same expectation. */
void rna_selftest_judge_all(struct rna_selftest_run *runs, size_t count,
			    const struct rna_settings *settings);
