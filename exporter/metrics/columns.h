/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the tables of facts as columns of tables for people. */
#pragma once

#include "families.h"

struct rna_column {
	const struct rna_field *field;
	const struct rna_family_table *table;
};

/*
 * The row with that heading, among those of GIDs only if gids. There must be one; what belongs to
 * the port or the device of a subject is a column of it, too.
 */
struct rna_column rna_column_find(const char *heading, bool gids);

/* The row of a table with that heading; there must be one. */
struct rna_column rna_column_of(const struct rna_family_table *table, const char *heading);

/* What stands in the column for subject, which may be in scratch; NULL: it is not known. */
const char *rna_column_text(const struct rna_column *column, const struct rna_subject *subject,
			    char scratch[RNA_FIELD_TEXT_MAX]);
