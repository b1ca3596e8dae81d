/* SPDX-License-Identifier: Apache-2.0 */
/* Subjects beside those of the view: GIDs and jobs, and the ports of a card. */
#pragma once

#include "rna/model/subject.h"

#include "text.h"

/* The GID with that number in the port's table, as a subject of its own. */
struct rna_subject rna_subject_of_gid(const struct rna_subject *port, size_t i);

/* The job with that number in the view, as a subject of its own. */
struct rna_subject rna_subject_of_job(const struct rna_view *view, size_t i);

/* Writes all GIDs, by port and index, to items (NULL: nowhere). Returns their number. */
size_t rna_subjects_of_gids(const struct rna_view *view, struct rna_subject *items);

/*
 * The ports of the physical functions of a card, in the order of these: the one behind *next, from
 * the beginning with RNA_CARD_CURSOR_INIT. NULL: there are no more.
 */
struct rna_card_cursor {
	size_t function;
	size_t port; /* of the function's device */
};

#define RNA_CARD_CURSOR_INIT ((struct rna_card_cursor){0})

const struct rna_subject *rna_subjects_next_of_card(const struct rna_subjects *subjects,
						    const struct rna_card *card,
						    struct rna_card_cursor *next);
