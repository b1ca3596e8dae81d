/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a part that was just read changes: by that the schedule knows what else to read anew. old is
 * the part of the same collector and device before; NULL: new is the first. Thread: any; pure.
 */
#pragma once

#include <stdbool.h>

#include "rna/model/part.h"

/* Does its content stand in labels? Then prepared text must be made anew. */
bool rna_part_changes_labels(const struct rna_part *old, const struct rna_part *new);

/* Has a port got another LID, or does it obey another subnet manager? */
bool rna_part_changes_lids(const struct rna_part *old, const struct rna_part *new);

/* How many ports changed their state? What is known of their links may no longer be true. */
unsigned rna_part_changed_states(const struct rna_part *old, const struct rna_part *new);
