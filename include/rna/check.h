/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command check: the health of the node as one state, for systems that act on it. An agent
 * answers with a document (rna_write_findings()); what rna_read_check() reads from it, or the
 * reason why there is none, becomes the output that a system expects (rna_write_check()).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "rna/base/arena.h"
#include "rna/base/strbuf.h"
#include "rna/model/finding.h"

/* Of the line for Slurm, so that a drain by the agent can be told from others. */
#define RNA_CHECK_PREFIX "rdma-node-agent: "

/* In the order of rna_check_forms. */
enum rna_check_form {
	RNA_CHECK_NAGIOS, /* monitoring plugins */
	RNA_CHECK_SLURM,  /* HealthCheckProgram and Prolog */
	RNA_CHECK_NHC,    /* LBNL Node Health Check */
	RNA_CHECK_NPD,    /* custom plugins of node-problem-detector */
	RNA_CHECK_JSON,
	RNA_CHECK_FORM_COUNT,
};

/* "nagios", "slurm", ...; NULL-ended */
extern const char *const rna_check_forms[RNA_CHECK_FORM_COUNT + 1];

/* What the agent watches. */
struct rna_inventory {
	bool known; /* false: the document does not say; an agent of an earlier version wrote it */
	size_t devices;
	size_t missing; /* devices that are known and absent */
	size_t ports;
	size_t up;
	size_t expected; /* ports that are expected to be up */
	size_t unread;   /* ports whose state is not known */
};

struct rna_check {
	const struct rna_finding *findings;
	size_t count;
	struct rna_inventory inventory;
	rna_usec time;       /* realtime of the data; 0: not known */
	rna_usec now;        /* realtime; 0: not known */
	bool once;           /* the findings are from a single run: their start is not known */
	const char *failure; /* why nothing is known of the node; NULL: it is known */
};

/* That of the findings; unknown with failure, or if the state of no port is known, also because
 * there is none. */
enum rna_health_state rna_check_state(const struct rna_check *check);

/*
 * The exit code of a form. A form other than nagios and json tells its caller to stop using the
 * node, so it does that only for a finding that takes the node from its users
 * (rna_finding_takes_node()):
 *
 *	slurm  1 for such a finding, otherwise 0: Slurm drains the node when Prolog fails, and a
 *	       node whose state is unknown must not be drained
 *	nhc    1 for such a finding, 3 if UNKNOWN, otherwise 0
 *	npd    1 (NonOK) for such a finding, 2 (Unknown) if UNKNOWN, otherwise 0 (OK)
 */
int rna_check_exit_code(const struct rna_check *check, enum rna_check_form form);

/* Not for RNA_CHECK_JSON. Forms other than nagios are one line. */
void rna_write_check(const struct rna_check *check, enum rna_check_form form,
		     struct rna_strbuf *out);

/* The document of RNA_CHECK_JSON if there is none of an agent: state unknown, and why. */
void rna_write_check_failure(const char *failure, struct rna_strbuf *out);

/*
 * Parses the output of rna_write_findings(). Fills ret but for now, once and failure; texts are in
 * arena. 0; -EBADMSG if json is not such a document, or -ENOMEM.
 */
int rna_read_check(const char *json, size_t len, struct rna_arena *arena, struct rna_check *ret);
