/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tally of a run of kernel_log: takes messages one after the other and makes the new part of
 * the one before and of them. Thread: one at a time.
 */
#pragma once

#include "rna/model/kernel_log.h"

#include "parse/kmsg.h"

struct rna_log_tally;

/* Where the messages of this run come from. */
struct rna_log_start {
	enum rna_kernel_log_source source;
	bool first;    /* the agent has read nothing of the log before */
	bool reopened; /* from the beginning: what the part before has is skipped */
};

/*
 * log: the new part, zeroed, with its start. previous: may be NULL. NULL: no memory. Both must
 * outlive the tally.
 */
struct rna_log_tally *rna_log_tally_new(struct rna_kernel_log *log,
					const struct rna_kernel_log *previous);
struct rna_log_tally *rna_log_tally_free(struct rna_log_tally *tally); /* accepts NULL */
RNA_DEFINE_CLEANUP(struct rna_log_tally, rna_log_tally_free)

void rna_log_tally_start(struct rna_log_tally *tally, const struct rna_log_start *start);

/* A message of the kernel or of a program: a rna_kmsg_take; userdata is the tally. Always true. */
bool rna_log_tally_take(void *tally, struct rna_kmsg_record *record);

/* Fills in the rest of the part. 0 or -ENOMEM. */
int rna_log_tally_finish(struct rna_log_tally *tally);
