/* SPDX-License-Identifier: Apache-2.0 */
/* A change in words for people, a cell for each column; what others chose is in it as it is. */
#pragma once

#include "rna/base/strbuf.h"
#include "rna/model/change.h"

enum rna_change_column {
	RNA_CHANGE_COLUMN_TIME,
	RNA_CHANGE_COLUMN_OBJECT, /* "mlx5_3/1", "mlx5_3"; nothing: the node, or the agent */
	RNA_CHANGE_COLUMN_WHAT,   /* "down 3 times", "raised critical", "resolved", "started" */
	RNA_CHANGE_COLUMN_BY,     /* the source, the rule, or "agent" */
	RNA_CHANGE_COLUMN_TEXT,   /* if it is resolved, behind how long it lasted */
	RNA_CHANGE_COLUMN_COUNT,
};

void rna_change_add_cell(const struct rna_change *change, enum rna_change_column column,
			 struct rna_strbuf *out);
