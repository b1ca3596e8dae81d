// SPDX-License-Identifier: Apache-2.0
/* Rows of the tables of facts as columns of tables for people. */
#include "columns.h"

#include <assert.h>
#include <string.h>

struct rna_column rna_column_find(const char *heading, bool gids)
{
	static const struct rna_family_table *const tables[] = {
		&rna_gid_table,       &rna_port_table,   &rna_peer_table,
		&rna_interface_table, &rna_device_table,
	};

	for (size_t t = gids ? 0 : 1; t < RNA_ARRAY_SIZE(tables); t++)
		for (size_t i = 0; i < tables[t]->count; i++) {
			const struct rna_field *field = &tables[t]->rows[i].field;

			if (field->column && strcmp(field->column, heading) == 0)
				return (struct rna_column){field, tables[t]};
		}
	assert(false && "a column that no row has");
	return (struct rna_column){0};
}

const char *rna_column_text(const struct rna_column *column, const struct rna_subject *subject,
			    char scratch[RNA_FIELD_TEXT_MAX])
{
	const void *object = subject;
	size_t from = 0;

	if (column->table->next)
		object = column->table->next(subject, &from);
	return object ? rna_field_show(column->field, object, scratch) : NULL;
}
