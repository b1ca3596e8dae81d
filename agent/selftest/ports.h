/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ports that are tested, a list in their order, and what is known of each: how it is called,
 * when its turn is, its last runs.
 * Thread: the loop's.
 */
#pragma once

#include "rna/model/selftest.h"

#include "run.h"
#include "test_process.h"

/* -- What else uses a port or the lock when a test is due: pure -------------------------------- */

/*
 * Another process that holds the self-test lock. It may hold it for the seconds that a test takes;
 * if it holds it each time the agent wants it, it prevents tests.
 */
struct rna_lock_holder {
	struct rna_loopback_holder holder; /* when the lock was wanted last */
	rna_usec since;                    /* monotonic: when the same was met first */
	bool told;
};

/*
 * The lock was wanted at now; holder has it, if any process does. True, once: it has held it
 * each time for long.
 */
bool rna_lock_holder_note(struct rna_lock_holder *lock_holder,
			  const struct rna_loopback_holder *holder, rna_usec now);

/* "process 4711 of user 1000 has held the self-test lock for at least 12m" */
void rna_lock_holder_describe(const struct rna_lock_holder *lock_holder, rna_usec now,
			      struct rna_strbuf *out);

/*
 * A look at a port's counters before its turn: those that are read anyway show most jobs, so that
 * no child has to be started beside them. The child looks closer, just before it begins.
 */
struct rna_traffic_check {
	uint64_t moved; /* bytes by then */
	rna_usec taken; /* monotonic; 0: there was no first look */
};

/*
 * Looks at the newest counters of the port. Returns for how long to wait before the second look,
 * or 0: this was it, and *ret_busy says whether the port is in use. Where nothing is counted it is
 * not known to be.
 */
rna_usec rna_traffic_check_run(struct rna_traffic_check *traffic_check,
			       const struct rna_subject *subject,
			       const struct rna_settings *settings, bool *ret_busy);

/* -- Ports ------------------------------------------------------------------------------------- */

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
