// SPDX-License-Identifier: Apache-2.0
/* Profiles as YAML, read and written by the tables of profile_rows.c; and the shipped ones. */
#include <errno.h>
#include <string.h>

#include "rna/base/file.h"
#include "rna/base/parse.h"
#include "rna/base/words.h"

#include "profile_rows.h"

enum { TREE = 16 * 1024 }; /* bytes that the tree of a common file takes */

/* Checked before anything else: a later version may have other keys. */
static int check_version(struct rna_schema_load *load, const struct rna_yaml *root)
{
	const struct rna_yaml *version = rna_yaml_get(root, "version");
	uint64_t number;

	if (!version)
		return rna_schema_fail(load, root->line,
				       "version: missing; the file begins with \"version: %d\"",
				       RNA_PROFILE_VERSION);
	if (!version->text || rna_parse_u64(version->text, &number) < 0 || number == 0)
		return rna_schema_fail(load, version->line, "version: allowed: %d",
				       RNA_PROFILE_VERSION);
	if (number > RNA_PROFILE_VERSION)
		return rna_schema_fail(load, version->line,
				       "version: this agent reads version %d and not %.*s; upgrade "
				       "it, or write the file in version %d",
				       RNA_PROFILE_VERSION, RNA_SHOWN(version->text),
				       RNA_PROFILE_VERSION);
	return 0;
}

static int take_version(struct rna_schema_load *load, const struct rna_schema_row *row,
			const char *text, void *value)
{
	(void)load;
	(void)row;
	(void)text;
	(void)value;
	return 0; /* check_version() */
}

static const struct rna_schema_type version = {.take = take_version};

static int read_root(struct rna_schema_load *load, const struct rna_yaml *root)
{
	static const struct rna_schema_row rows[] = {
		{"version", &version, 0},
		{"profiles", NULL, offsetof(struct rna_profiles, count),
		 .keys = &rna_profile_file_rows, .least = 1, .most = RNA_PROFILES_MAX,
		 .missing = "missing"},
	};
	static const struct rna_schema file = {.count = RNA_ARRAY_SIZE(rows), .rows = rows};
	int status;

	if (!root || root->kind != RNA_YAML_MAPPING)
		return rna_schema_note(load,
				       rna_schema_fail(load, 1,
						       "expected \"version: %d\" and \"profiles:\"",
						       RNA_PROFILE_VERSION));
	status = check_version(load, root);
	return status < 0 ? rna_schema_note(load, status) : rna_schema_read(load, &file, "", root);
}

static int parse(struct rna_schema_load *load, const struct rna_profile_text *text)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *tree = rna_arena_new(TREE);
	const struct rna_profiles *profiles = load->object;
	const struct rna_yaml *root = NULL;
	int status;

	if (!tree || !profiles->path)
		return rna_error_set(&load->error, -ENOMEM, "%s", load->path);
	if (text->len > RNA_PROFILE_BYTES_MAX)
		return rna_error_say(&load->error, -EINVAL, "%s: larger than %d KiB", load->path,
				     RNA_PROFILE_BYTES_MAX / 1024);
	status = rna_yaml_parse(load->path, text->text, text->len, tree, &root, &load->error);
	return status < 0 ? status : read_root(load, root);
}

/* All of ret lies in arena. */
static int parse_into(struct rna_arena *arena, const struct rna_profile_text *text,
		      struct rna_profiles *ret, struct rna_mistakes *rest, struct rna_error *error)
{
	struct rna_schema_load load = {.path = text->name,
				       .arena = arena,
				       .object = ret,
				       .rest = rest};

	if (rest)
		*rest = (struct rna_mistakes){0};
	*ret = (struct rna_profiles){.path = rna_arena_strdup(arena, text->name)};
	return rna_schema_end(&load, parse(&load, text), error);
}

int rna_profiles_parse(const char *name, const char *text, size_t len, struct rna_profiles **ret,
		       struct rna_mistakes *rest, struct rna_error *error)
{
	const struct rna_profile_text file = {name, text, len};
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	struct rna_profiles *profiles = arena ? rna_arena_alloc(arena, sizeof(*profiles)) : NULL;
	int status;

	if (!profiles)
		return rna_error_set(error, -ENOMEM, "%s", name);
	status = parse_into(arena, &file, profiles, rest, error);
	if (status < 0)
		return status;
	profiles->arena = RNA_TAKE(arena);
	*ret = profiles;
	return 0;
}

int rna_profiles_read(const char *path, struct rna_profiles **ret, struct rna_mistakes *rest,
		      struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int status = rna_file_read(path, RNA_PROFILE_BYTES_MAX, &text, error);

	if (status < 0 && rest)
		*rest = (struct rna_mistakes){0};
	if (status == -EFBIG)
		return rna_error_say(error, status,
				     "%s: larger than %d KiB; check that this is the right file",
				     path, RNA_PROFILE_BYTES_MAX / 1024);
	return status < 0 ? status
			  : rna_profiles_parse(path, text.data, text.len, ret, rest, error);
}

struct rna_profiles *rna_profiles_free(struct rna_profiles *profiles)
{
	if (profiles)
		(void)rna_arena_free(profiles->arena);
	return NULL;
}

/* -- Writing ----------------------------------------------------------------------------------- */

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

	RNA_EACH (row, table->rows, table->count) {
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

/* -- What the program contains ----------------------------------------------------------------- */

/* Adds the profiles of one file to those of all. */
static int add_shipped(const struct rna_profile_text *text, struct rna_profile *items,
		       struct rna_profiles *all, struct rna_error *error)
{
	struct rna_profiles file;
	int status = parse_into(all->arena, text, &file, NULL, error);

	if (status < 0)
		return status;
	if (all->count + file.count > RNA_PROFILES_MAX)
		return rna_error_say(error, -EINVAL, "%s: more than %d profiles", text->name,
				     RNA_PROFILES_MAX);
	for (size_t i = 0; i < file.count; i++)
		items[all->count++] = file.items[i];
	return 0;
}

int rna_profiles_shipped(struct rna_profiles **ret, struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(TREE);
	struct rna_profiles *all = arena ? rna_arena_alloc(arena, sizeof(*all)) : NULL;
	struct rna_profile *items =
		all ? rna_arena_array(arena, RNA_PROFILES_MAX, sizeof(*items)) : NULL;
	int status = 0;

	if (!items)
		return rna_error_set(error, -ENOMEM, "shipped profiles");
	*all = (struct rna_profiles){.arena = arena, .path = "shipped", .items = items};
	for (const struct rna_profile_text *text = rna_profile_texts; status == 0 && text->name;
	     text++)
		status = add_shipped(text, items, all, error);
	if (status < 0)
		return status;
	arena = NULL;
	*ret = all;
	return 0;
}

void rna_profiles_describe_shipped(struct rna_strbuf *out)
{
	static const struct frame frame = {.first = "`", .between = "`, `"};
	RNA_CLEANUP(rna_profiles_free_p) struct rna_profiles *profiles = NULL;

	rna_strbuf_puts(out, "Profile\tMatch\tSource\n");
	if (rna_profiles_shipped(&profiles, NULL) < 0)
		return; /* a unit test reads them all */
	RNA_EACH (profile, profiles->items, profiles->count) {
		rna_strbuf_printf(out, "`%s`\t", profile->name);
		(void)write_rows(&rna_profile_match_rows, &profile->match, &frame, out);
		rna_strbuf_printf(out, "`\t%s\n", profile->source ? profile->source : "");
	}
}
