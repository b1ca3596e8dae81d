/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fleets: what a Prometheus has of the probes of all agents, as the solver (blame.h) wants it. A
 * fleet is a group of a job: ports of different groups do not probe each other. Thread: any.
 */
#pragma once

#include "rna/base/arena.h"
#include "rna/base/error.h"
#include "rna/base/strbuf.h"

#include "blame.h"

enum {
	/* Bytes of an answer: 10,000 nodes with 8 ports, all pairs of which lose, make 119 MB. */
	RNA_FLEETS_ANSWER_MAX = 128 * 1024 * 1024,
};

struct rna_fleet {
	const char *job, *group;
	struct rna_mesh mesh;
	const char **nodes; /* names by number: as members, otherwise instances */
	const char **leaves;
	const char **ports; /* "mlx5_0/1" */
	size_t reporting;   /* nodes whose agents export ports that probe */
	size_t judged_ports,
		reporting_ports;       /* with pairs that were judged; all that are exported */
	uint64_t losing, answering;    /* pairs */
	size_t signs[RNA_PROBE_SIGNS]; /* pairs with a series, by sign */
	size_t job_reporting;          /* nodes of all groups of the job */
	uint64_t members;              /* in the largest list of members of the job; 0: unknown */
	size_t stopped;                /* agents of the job whose prober does not run */
	double age;                    /* of the oldest scrape of the job, seconds; NAN: unknown */
};

struct rna_fleets {
	struct rna_fleet *list; /* by job, then group */
	size_t count;
	struct rna_arena *arena; /* of all texts and arrays */
};

void rna_fleets_deinit(struct rna_fleets *fleets);

/* What a reader was given so far; with its answers it makes fleets. */
struct rna_fleets_reader;

struct rna_fleets_reader *rna_fleets_reader_new(void); /* NULL: no memory */
struct rna_fleets_reader *rna_fleets_reader_free(struct rna_fleets_reader *reader);
RNA_DEFINE_CLEANUP(struct rna_fleets_reader, rna_fleets_reader_free)

/* The questions are put in their order. */
extern const size_t rna_fleets_query_count;

/* The question as PromQL. job: NULL: all jobs. */
void rna_fleets_query(size_t number, const char *job, struct rna_strbuf *out);

/*
 * Reads the answer of /api/v1/query to a question, piece by piece: the ports and pairs that it
 * names are kept, and not the answer. 0, or negative errno with error: -EBADMSG (it is cut, or not
 * an answer of Prometheus), -EPROTO (Prometheus says why it has no result), -E2BIG (ports and pairs
 * that take more than 64 MiB, or too many jobs), -ENOMEM.
 */
void rna_fleets_begin(struct rna_fleets_reader *reader, size_t number);
int rna_fleets_read(struct rna_fleets_reader *reader, const char *text, size_t len,
		    struct rna_error *error);
int rna_fleets_end(struct rna_fleets_reader *reader, struct rna_error *error);

/* group: NULL: all. 0, -ENOMEM, or -E2BIG: too many groups; *ret can be freed in any case. The
 * reader is used up. */
int rna_fleets_make(struct rna_fleets_reader *reader, const char *group, struct rna_fleets *ret);
