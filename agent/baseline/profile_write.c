// SPDX-License-Identifier: Apache-2.0
/* Profiles as YAML, by the tables that read it. */
#include "profile_rows.h"

static bool is_set(const struct rna_profile_row *row, const void *field)
{
	const struct rna_profile_list *list = field;

	return row->most > 0 ? list->count > 0 : row->type->is_set(field);
}

static void write_list(const struct rna_profile_row *row, const struct rna_profile_list *list,
		       struct rna_strbuf *out)
{
	const char *items = list->items;

	rna_strbuf_add_char(out, '[');
	for (size_t i = 0; i < list->count; i++) {
		if (i > 0)
			rna_strbuf_puts(out, ", ");
		row->type->write(items + i * row->type->size, out);
	}
	rna_strbuf_add_char(out, ']');
}

static void write_counts(const struct rna_profile_list *list, struct rna_strbuf *out)
{
	const struct rna_profile_nics *nics = list->items;

	rna_strbuf_add_char(out, '{');
	for (size_t i = 0; i < list->count; i++)
		rna_strbuf_printf(out, "%s\"%s\": %ju", i > 0 ? ", " : "", nics[i].model.text,
				  (uintmax_t)nics[i].count);
	rna_strbuf_add_char(out, '}');
}

/* first: in front of the first key; indent: of the others. Returns whether any key is set. */
static bool write_rows(const struct rna_profile_table *table, const void *object, const char *first,
		       const char *indent, struct rna_strbuf *out)
{
	bool any = false;

	for (size_t i = 0; i < table->count; i++) {
		const struct rna_profile_row *row = &table->rows[i];
		const void *field = (const char *)object + row->offset;

		if (!is_set(row, field))
			continue;
		rna_strbuf_printf(out, "%s%s: ", any ? indent : first, row->key);
		if (row->counts)
			write_counts(field, out);
		else if (row->most > 0)
			write_list(row, field, out);
		else
			row->type->write(field, out);
		rna_strbuf_add_char(out, '\n');
		any = true;
	}
	return any;
}

void rna_profile_write(const struct rna_profile *profile, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "version: %d\nprofiles:\n", RNA_PROFILE_VERSION);
	(void)write_rows(&rna_profile_file_rows, profile, "  - ", "    ", out);
	(void)write_rows(&rna_profile_match_rows, &profile->match, "    match:\n      ", "      ",
			 out);
	(void)write_rows(&rna_profile_node_rows, &profile->node, "    node:\n      ", "      ",
			 out);
	for (size_t i = 0; i < profile->device_count; i++)
		(void)write_rows(&rna_profile_device_rows, &profile->devices[i],
				 i == 0 ? "    devices:\n      - " : "      - ", "        ", out);
}
