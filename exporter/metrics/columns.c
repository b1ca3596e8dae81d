// SPDX-License-Identifier: Apache-2.0
/* Rows of the tables of facts as columns of tables for people. */
#include "columns.h"

#include <assert.h>
#include <string.h>

/* False: the table has no such row. */
static bool find(const struct rna_family_table *table, const char *heading, struct rna_column *ret)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct rna_field *field = &table->rows[i].field;

		if (!field->column || strcmp(field->column, heading) != 0)
			continue;
		*ret = (struct rna_column){field, table};
		return true;
	}
	return false;
}

struct rna_column rna_column_of(const struct rna_family_table *table, const char *heading)
{
	struct rna_column ret = {0};
	bool found = find(table, heading, &ret);

	assert(found && "a column that the table does not have");
	(void)found;
	return ret;
}

struct rna_column rna_column_find(const char *heading, bool gids)
{
	static const struct rna_family_table *const tables[] = {
		&rna_gid_table,       &rna_port_table,   &rna_peer_table,
		&rna_interface_table, &rna_device_table,
	};

	struct rna_column ret = {0};
	bool found = false;

	for (size_t t = gids ? 0 : 1; t < RNA_ARRAY_SIZE(tables) && !found; t++)
		found = find(tables[t], heading, &ret);
	assert(found && "a column that no row has");
	return ret;
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
