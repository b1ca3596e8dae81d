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
	rna_usec time;         /* realtime of the data; 0: not known */
	rna_usec now;          /* realtime; 0: not known */
	const char *recording; /* the directory that is watched as if it were "/"; NULL: none */
	const char *url;       /* of the agent, which serves runbooks; NULL: a command shows them */
	bool once;             /* the findings are from a single run: their start is not known */
	const char *failure;   /* why nothing is known of the node; NULL: it is known */
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

/*
 * Not for RNA_CHECK_JSON. Forms other than nagios are one line. width: columns of a terminal, at
 * which long lines go on below; 0: there is none.
 */
void rna_write_check(const struct rna_check *check, enum rna_check_form form, size_t width,
		     struct rna_strbuf *out);

/* The worst finding, else how many ports are up; or why the state is unknown. One line, cut. */
void rna_check_write_headline(const struct rna_check *check, struct rna_strbuf *out);

/* The document of RNA_CHECK_JSON if there is none of an agent: state unknown, and why. */
void rna_write_check_failure(const char *failure, struct rna_strbuf *out);

/*
 * Parses the output of rna_write_findings(). Fills ret but for now, url, once and failure; texts
 * are in arena. 0; -EBADMSG if json is not such a document, or -ENOMEM.
 */
int rna_read_check(const char *json, size_t len, struct rna_arena *arena, struct rna_check *ret);

/* -- Many nodes -------------------------------------------------------------------------------- */

/* What is left of the answer of one of many nodes. */
struct rna_node_check {
	const char *node;    /* the name by which it was asked */
	const char *address; /* of its agent, "host:port" */
	enum rna_health_state state;
	bool answered; /* false: headline says why not, and no number is known */
	size_t counts[RNA_SEVERITY_COUNT]; /* of findings that are not silenced */
	enum rna_impact impact;            /* of the headline; RNA_IMPACT_COUNT: none */
	const char *rule;                  /* of the headline; NULL: none */
	const char *headline;
};

/* Fills in all but node and address; texts are in arena. 0 or -ENOMEM. */
int rna_node_check_fill(const struct rna_check *check, struct rna_arena *arena,
			struct rna_node_check *ret);

/* Worst first: by state (critical, unknown, warning, ok), by what the headline costs, by name. */
void rna_node_checks_sort(struct rna_node_check *nodes, size_t count);

/* The number of the worst state of sorted nodes, which is the exit code; unknown: there are none.
 */
int rna_node_checks_exit_code(const struct rna_node_check *nodes, size_t count);

/* A line for each node, as they are sorted, and one with the sums; json: a list with one object for
 * each. */
void rna_write_node_checks(const struct rna_node_check *nodes, size_t count, bool json,
			   struct rna_strbuf *out);
