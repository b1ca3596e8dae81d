// SPDX-License-Identifier: Apache-2.0
/* Profiles as YAML, by the tables that read it. */
#include "profile_rows.h"

static bool is_set(const struct rna_schema_row *row, const void *field)
{
	const struct rna_profile_list *list = field;

	return row->most > 0 ? list->count > 0 : row->type->is_set(field);
}

/* Of values, or a mapping. */
static void write_list(const struct rna_schema_row *row, const struct rna_profile_list *list,
		       struct rna_strbuf *out)
{
	bool mapping = row->type->take_pair;
	const char *items = list->items;

	rna_strbuf_add_char(out, mapping ? '{' : '[');
	for (size_t i = 0; i < list->count; i++) {
		if (i > 0)
			rna_strbuf_puts(out, ", ");
		row->type->write(row, items + i * row->type->size, out);
	}
	rna_strbuf_add_char(out, mapping ? '}' : ']');
}

struct frame {
	const char *first;   /* in front of the first key */
	const char *between; /* in front of the others */
	bool draft;          /* proposals are comments; none is the first key */
};

/* Returns whether any key is set. */
static bool write_rows(const struct rna_schema *table, const void *object,
		       const struct frame *frame, struct rna_strbuf *out)
{
	bool any = false;

	for (size_t i = 0; i < table->count; i++) {
		const struct rna_schema_row *row = &table->rows[i];
		const void *field = (const char *)object + row->offset;

		if (row->keys || !is_set(row, field))
			continue;
		rna_strbuf_printf(out, "%s%s%s: ", any ? frame->between : frame->first,
				  frame->draft && row->proposal ? "# " : "", row->key);
		if (row->most > 0)
			write_list(row, field, out);
		else
			row->type->write(row, field, out);
		any = true;
	}
	return any;
}

static void write_section(const struct rna_schema *table, const void *object,
			  const struct frame *frame, struct rna_strbuf *out)
{
	if (write_rows(table, object, frame, out))
		rna_strbuf_add_char(out, '\n');
}

void rna_profile_write(const struct rna_profile *profile, struct rna_strbuf *out)
{
	const struct frame file = {.first = "  - ", .between = "\n    "},
			   match = {.first = "    match:\n      ", .between = "\n      "},
			   node = {.first = "    node:\n      ", .between = "\n      "};
	struct frame device = {"    devices:\n      - ", "\n        ", profile->draft};

	rna_strbuf_printf(out, "version: %d\nprofiles:\n", RNA_PROFILE_VERSION);
	write_section(&rna_profile_file_rows, profile, &file, out);
	write_section(&rna_profile_match_rows, &profile->match, &match, out);
	write_section(&rna_profile_node_rows, &profile->node, &node, out);
	for (size_t i = 0; i < profile->device_count; i++) {
		write_section(&rna_profile_device_rows, &profile->devices[i], &device, out);
		device.first = "      - ";
	}
}

void rna_profiles_describe_shipped(struct rna_strbuf *out)
{
	static const struct frame frame = {.first = "`", .between = "`, `"};
	RNA_CLEANUP(rna_profiles_free_p) struct rna_profiles *profiles = NULL;

	rna_strbuf_puts(out, "Profile\tMatch\tSource\n");
	if (rna_profiles_shipped(&profiles, NULL) < 0)
		return; /* a unit test reads them all */
	for (size_t i = 0; i < profiles->count; i++) {
		const struct rna_profile *profile = &profiles->items[i];

		rna_strbuf_printf(out, "`%s`\t", profile->name);
		(void)write_rows(&rna_profile_match_rows, &profile->match, &frame, out);
		rna_strbuf_printf(out, "`\t%s\n", profile->source ? profile->source : "");
	}
}
