/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ports that are tested, a list in their order, and what is known of each: how it is called,
 * when its turn is, its last runs.
 * Thread: the loop's.
 */
#pragma once

#include "rna/model/selftest.h"

#include "in_use.h"
#include "run.h"
#include "test_process.h"

/* A port, by the key of its device: it keeps its turn over renames and reloads. */
struct rna_tested {
	struct rna_tested *next;
	struct rna_selftest *owner;
	char *key;
	char *device; /* its last name */
	unsigned number;
	bool present; /* in the newest view */
	rna_usec due; /* monotonic */
	struct rna_traffic_check traffic_check;
	uint64_t idle_qps;
	struct rna_selftest_run *runs; /* room for RNA_SELFTESTS_KEPT, or NULL: none yet */
	struct rna_selftest_port known;
	struct rna_stuck_child stuck; /* known.stuck */
};

/* A port that is in no list yet. NULL: no memory. */
struct rna_tested *rna_tested_new(const char *key, const char *device, unsigned number);
void rna_tested_free(struct rna_tested *port); /* it is in no list any more */

void rna_tested_insert(struct rna_tested **list, struct rna_tested *port);
void rna_tested_remove(struct rna_tested **list, const struct rna_tested *port);

/* NULL: there is none. By its last name only where it is present. */
struct rna_tested *rna_tested_find_key(struct rna_tested *list, const char *key, unsigned number);
struct rna_tested *rna_tested_find_name(struct rna_tested *list, const char *device,
					unsigned number);

/* A test on any port of that device that hangs in the kernel; NULL: none does. */
const struct rna_tested *rna_tested_find_stuck(const struct rna_tested *list, const char *key);

/* Of those that are present; NULL: none is. */
struct rna_tested *rna_tested_first_due(struct rna_tested *list);

/* One more run in the history, where there is memory for it. */
void rna_tested_keep(struct rna_tested *port, const struct rna_selftest_run *run);

/* Gives the runs the name that the port has now; texts of results keep the old one. */
void rna_tested_name_runs(struct rna_tested *port);

/*
 * Counts a run that is over. first: of the port in this session. It was skipped when no kind of
 * memory could be tested.
 */
void rna_tested_account(struct rna_tested *port, const struct rna_selftest_run *run, bool first);

/* Has a kind of memory one bad test? Only two in a row make a finding, so the second is soon. */
bool rna_tested_wants_confirmation(const struct rna_tested *port);

/* What is known of those that are present. enabled: they have a next turn. NULL: no memory. */
struct rna_selftests *rna_tested_results(const struct rna_tested *list, bool enabled);
