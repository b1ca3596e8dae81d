/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account of collectors' runs: what each slot has read, how often it failed and how late it
 * was, and what became of events. Changes are logged here, each once. Thread: the loop's.
 */
#pragma once

#include "rna/model/view.h"

#include "targets.h"

/* Of all slots together. */
struct rna_account {
	unsigned overdue; /* jobs past their deadline right now */
	struct rna_source_account sources[RNA_SOURCE_COUNT];
	uint64_t missed; /* changes that events should have told of */
	/* When the first event was received that the next view will be the first to show; 0: none.
	 */
	rna_usec unpublished[RNA_SOURCE_COUNT];
};

/*
 * Takes the result of a job that is back into its slot. What it read is the slot's newest part from
 * now on; returns how that differs from the one before.
 */
struct rna_news rna_account_run(struct rna_account *account, struct rna_target *target,
				struct rna_slot *slot);

/* The slot's newest part shows a change that events should have told of, and have not. */
void rna_account_missed(struct rna_account *account, const struct rna_target *target,
			const struct rna_slot *slot);

/* The job of the slot is past its deadline, which is so long after its start. */
void rna_account_overdue(struct rna_account *account, const struct rna_target *target,
			 struct rna_slot *slot, rna_usec deadline);

/* A view is being published: the latency of the events that it shows is known. */
void rna_account_published(struct rna_account *account, rna_usec now);
