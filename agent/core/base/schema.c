// SPDX-License-Identifier: Apache-2.0
#include "rna/base/schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/log.h"
#include "rna/base/words.h"

enum { KEY_MAX = 128 }; /* bytes; longer than any known key, what is longer is cut */

/* The mapping that is read: its table, the section of the table, and where the values go. */
struct place {
	const struct rna_schema *schema;
	const char *section; /* "": none */
	void *object;
	const char *name; /* for errors */
	size_t line;
};

/* In the field of a row: any two members like these. */
struct list {
	size_t count;
	void *items;
};

/* -- Mistakes ---------------------------------------------------------------------------------- */

void rna_mistakes_log(const struct rna_mistakes *rest)
{
	for (size_t i = 0; i < rest->count; i++)
		rna_log_error("%s", rest->errors[i].text);
	if (rest->more)
		rna_log_error("more errors follow; correct these and check again");
}

int rna_schema_fail(struct rna_schema_load *load, size_t line, const char *format, ...)
{
	char text[RNA_ERROR_MAX];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args); /* cut when too long */
	va_end(args);
	return rna_error_say(&load->error, -EINVAL, "%s:%zu: %s", load->path, line, text);
}

int rna_schema_note(struct rna_schema_load *load, int status)
{
	struct rna_mistakes *rest = load->rest;

	if (status != -EINVAL)
		return status;
	if (load->mistakes++ == 0)
		load->first = load->error;
	else if (rest && rest->count < RNA_MISTAKES_MAX)
		rest->errors[rest->count++] = load->error;
	else if (rest)
		rest->more = true;
	return rest && !rest->more ? 0 : status;
}

int rna_schema_end(const struct rna_schema_load *load, int status, struct rna_error *error)
{
	const struct rna_error *first = load->mistakes > 0 ? &load->first : &load->error;

	if (status == 0 && load->mistakes == 0)
		return 0;
	if (error)
		*error = *first;
	return first->code;
}

static int fail_memory(struct rna_schema_load *load)
{
	return rna_error_set(&load->error, -ENOMEM, "%s", load->path);
}

/* -- Values ------------------------------------------------------------------------------------ */

static const struct rna_schema_choice *choices_of(const struct rna_schema_row *row)
{
	return row->choices ? row->choices : row->type->choices;
}

static void write_choices(const struct rna_schema_choice *choices, struct rna_strbuf *out)
{
	for (const struct rna_schema_choice *choice = choices; choice->name; choice++)
		rna_strbuf_printf(out, "%s%s", choice == choices ? "" : ", ", choice->name);
}

static void write_range(const struct rna_schema_row *row, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s to %s", row->min ? row->min : "0", row->max);
}

void rna_schema_write_allowed(const struct rna_schema_row *row, struct rna_strbuf *out)
{
	if (row->form || row->type->allowed)
		rna_strbuf_puts(out, row->form ? row->form : row->type->allowed);
	else if (choices_of(row))
		write_choices(choices_of(row), out);
	else if (row->type->words)
		rna_words_write(row->type->words, out);
	else
		write_range(row, out);
	if (row->type->take_pair) {
		rna_strbuf_puts(out, ": ");
		write_range(row, out);
	}
	if (row->most > 0 && row->most < RNA_SCHEMA_ENTRIES_MAX)
		rna_strbuf_printf(out, "; at most %zu entries", row->most);
}

static int take_choice(struct rna_schema_load *load, const struct rna_schema_row *row,
		       const char *text, void *value)
{
	RNA_STRBUF struct rna_strbuf allowed = RNA_STRBUF_INIT;

	for (const struct rna_schema_choice *choice = choices_of(row); choice->name; choice++)
		if (strcmp(choice->name, text) == 0) {
			*(int *)value = choice->value;
			return 0;
		}
	write_choices(choices_of(row), &allowed);
	if (!rna_strbuf_ok(&allowed))
		return -ENOMEM;
	return rna_error_say(&load->error, -EINVAL, "%s: \"%.*s\" is not one of %s", row->key,
			     RNA_SHOWN(text), allowed.data);
}

const struct rna_schema_type rna_schema_choice = {
	.name = "choice",
	.take = take_choice,
	.size = sizeof(int),
};

static int fail_value(struct rna_schema_load *load, const struct rna_schema_row *row,
		      const char *text)
{
	RNA_STRBUF struct rna_strbuf allowed = RNA_STRBUF_INIT;

	rna_schema_write_allowed(row, &allowed);
	if (!rna_strbuf_ok(&allowed))
		return rna_error_set(&load->error, -ENOMEM, "%s", row->key);
	return rna_error_say(&load->error, -EINVAL, "%s: \"%.*s\" is not allowed; allowed: %s",
			     row->key, RNA_SHOWN(text), allowed.data);
}

int rna_schema_take(struct rna_schema_load *load, const struct rna_schema_row *row,
		    const char *text, void *value)
{
	int ret;

	load->error.code = 0;
	ret = row->type->take(load, row, text, value);
	if (ret == -ENOMEM)
		return rna_error_set(&load->error, ret, "%s", row->key);
	return ret < 0 && load->error.code == 0 ? fail_value(load, row, text) : ret;
}

int rna_schema_take_node(struct rna_schema_load *load, const struct rna_schema_row *row,
			 const struct rna_yaml *node, size_t line, void *value)
{
	int ret;

	if (!node->text)
		return rna_schema_fail(load, line, "%s: expected a single value, found %s",
				       row->key, rna_yaml_kind_name(node));
	load->line = line;
	ret = rna_schema_take(load, row, node->text, value);
	if (ret == 0 && load->checks && row->check)
		ret = row->check(row->key, node->text, &load->error);
	if (ret < 0)
		(void)rna_error_prefix(&load->error, "%s:%zu", load->path, line);
	return ret;
}

/* -- Lists ------------------------------------------------------------------------------------- */

static int expect_kind(struct rna_schema_load *load, const char *name, const struct rna_yaml *node,
		       enum rna_yaml_kind kind, size_t line)
{
	if (node->kind == kind)
		return 0;
	return rna_schema_fail(load, line, "%s%sexpected %s, found %s", name, *name ? ": " : "",
			       kind == RNA_YAML_LIST ? "a list" : "\"key: value\" lines below",
			       rna_yaml_kind_name(node));
}

int rna_schema_check_length(struct rna_schema_load *load, const struct rna_schema_row *row,
			    size_t count)
{
	if (count >= row->least && count <= row->most)
		return 0;
	return rna_schema_fail(load, load->line, "%s: %s%zu entries; %s%zu are allowed", row->key,
			       row->keys || load->brief ? "" : "the list has ", count,
			       row->least > 0 ? "1 to " : "at most ", row->most);
}

static size_t size_of_entry(const struct rna_schema_row *row)
{
	return row->keys ? row->keys->size : row->type->size;
}

/* Makes the list in field, whose entries are zeroed. NULL: no memory. */
static void *make_list(struct rna_schema_load *load, const struct rna_schema_row *row, size_t count,
		       void *field)
{
	struct list *list = field;

	*list = (struct list){count, rna_arena_array(load->arena, count, size_of_entry(row))};
	if (!list->items)
		(void)fail_memory(load);
	return list->items;
}

/* The same for a list or mapping on load->line. NULL: it is not one, or too long. */
static void *start_list(struct rna_schema_load *load, const struct rna_schema_row *row,
			const struct rna_yaml *node, enum rna_yaml_kind kind, void *field)
{
	if (expect_kind(load, row->key, node, kind, load->line) < 0 ||
	    rna_schema_check_length(load, row, node->count) < 0)
		return NULL;
	return make_list(load, row, node->count, field);
}

/* A single value stands for a list of one. */
static int read_list(struct rna_schema_load *load, const struct rna_schema_row *row,
		     const struct rna_yaml *node, void *field)
{
	bool single = node->kind != RNA_YAML_LIST && !load->brief;
	char *items = single ? make_list(load, row, 1, field)
			     : start_list(load, row, node, RNA_YAML_LIST, field);
	int ret = 0;

	if (!items)
		return load->error.code;
	if (single)
		return rna_schema_take_node(load, row, node, load->line, items);
	for (size_t i = 0; ret == 0 && i < node->count; i++) {
		const struct rna_yaml *entry = node->pairs[i].value;

		ret = rna_schema_note(load, rna_schema_take_node(load, row, entry, entry->line,
								 items + i * row->type->size));
	}
	return ret;
}

/* -- Keys -------------------------------------------------------------------------------------- */

/* Mappings have a few dozen keys, or are limited. */
size_t rna_schema_find_earlier(const struct rna_yaml *mapping, const struct rna_yaml_pair *pair)
{
	for (const struct rna_yaml_pair *earlier = mapping->pairs; earlier < pair; earlier++)
		if (earlier->key->text && strcmp(earlier->key->text, pair->key->text) == 0)
			return earlier->key->line;
	return 0;
}

const struct rna_schema_row *rna_schema_find(const struct rna_schema *schema, const char *key)
{
	return RNA_FIND(i, schema->rows, schema->count, strcmp(schema->rows[i].key, key) == 0);
}

static bool is_section(const struct rna_schema *schema, const char *path)
{
	size_t len = strlen(path);

	return RNA_ANY(i, schema->count,
		       strncmp(schema->rows[i].key, path, len) == 0 &&
			       schema->rows[i].key[len] == '.');
}

static void write_path(const char *section, const char *key, char path[KEY_MAX])
{
	(void)snprintf(path, KEY_MAX, "%s%s%s", section, *section ? "." : "", key);
}

static int fail_no_key(struct rna_schema_load *load, const char *name, size_t line,
		       const char *kind, const struct rna_yaml *key)
{
	if (load->brief)
		return rna_schema_fail(load, line, "%s: expected a %s before the colon", name,
				       kind);
	return rna_schema_fail(load, key->line, "expected a key, found %s",
			       rna_yaml_kind_name(key));
}

/* Does the key come once? section: as errors name it. */
static int check_key(struct rna_schema_load *load, const char *section,
		     const struct rna_yaml *mapping, const struct rna_yaml_pair *pair)
{
	size_t line = pair->key->line, earlier;
	char path[KEY_MAX];

	earlier = rna_schema_find_earlier(mapping, pair);
	if (earlier == 0)
		return 0;
	write_path(section, pair->key->text, path);
	if (load->brief)
		return rna_schema_fail(load, line, "%s: is specified twice", path);
	return rna_schema_fail(load, line, "%.*s is specified twice, first on line %zu",
			       RNA_SHOWN(path), earlier);
}

/* The same section makes no likeness: what is wrong is the name in it. */
static bool is_alike(const struct rna_hint *hint, const char *path)
{
	size_t section = strcspn(path, ".") + 1;
	struct rna_hint name;

	if (!hint->best || section >= strlen(path) || strncmp(hint->best, path, section) != 0)
		return hint->best;
	name = RNA_HINT(path + section);
	rna_hint_offer(&name, hint->best + section, hint->best_len - section);
	return name.best;
}

/* Of all keys, or of those of the section, without its name. */
static struct rna_hint find_similar(const struct rna_schema_load *load, const struct place *place,
				    const char *path)
{
	size_t skipped = *place->section ? strlen(place->section) + 1 : 0;
	struct rna_hint hint = RNA_HINT(path + (load->any_section ? 0 : skipped));

	for (size_t i = 0; i < place->schema->count; i++) {
		const char *key = place->schema->rows[i].key;

		if (load->any_section)
			rna_hint_offer(&hint, key, strlen(key));
		else if (strncmp(key, path, skipped) == 0)
			key += skipped;
		else
			continue;
		rna_hint_offer(&hint, key, strcspn(key, "."));
	}
	if (load->any_section && !is_alike(&hint, path))
		hint.best = NULL;
	return hint;
}

static int fail_unknown(struct rna_schema_load *load, const struct place *place, const char *path,
			size_t line)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_hint hint = find_similar(load, place, path);

	if (hint.best)
		rna_strbuf_printf(&text, "did you mean %.*s?", (int)hint.best_len, hint.best);
	else
		rna_strbuf_puts(&text, load->advice ? load->advice : "allowed: ");
	if (hint.best && !load->advice)
		rna_strbuf_puts(&text, " Allowed: ");
	for (size_t i = 0; !load->advice && i < place->schema->count; i++)
		rna_strbuf_printf(&text, "%s%s", i > 0 ? ", " : "", place->schema->rows[i].key);
	if (!rna_strbuf_ok(&text))
		return fail_memory(load);
	return rna_schema_fail(load, line, "unknown key %.*s; %s", RNA_SHOWN(path), text.data);
}

/* "poll.state: 1s" at the top level is not accepted: there is one way to write a key. */
static int fail_dotted(struct rna_schema_load *load, const char *path, size_t line)
{
	int section_len = (int)strcspn(path, ".");

	return rna_schema_fail(load, line,
			       "%s: move it into its section: \"%.*s:\", and \"%s:\" indented on "
			       "the next line",
			       path, section_len, path, path + section_len + 1);
}

/* -- Mappings ---------------------------------------------------------------------------------- */

static int read_entry(struct rna_schema_load *load, const struct rna_schema_row *row,
		      const struct rna_yaml *mapping, const struct rna_yaml_pair *pair, void *entry)
{
	const char *text = pair->value->text ? pair->value->text : "";
	int ret;

	if (!pair->key->text)
		return fail_no_key(load, row->key, load->line, "name", pair->key);
	ret = check_key(load, load->brief ? row->key : "", mapping, pair);
	if (ret < 0)
		return ret;
	load->error.code = 0;
	ret = row->type->take_pair(load, row, pair, entry);
	if (ret == 0 || load->error.code < 0)
		return ret;
	(void)fail_value(load, row, text);
	return rna_error_prefix(&load->error, "%s:%zu", load->path, pair->key->line);
}

/* A mapping with any keys, which becomes a list. */
static int read_entries(struct rna_schema_load *load, const struct rna_schema_row *row,
			const struct rna_yaml *mapping, void *field)
{
	char *items = start_list(load, row, mapping, RNA_YAML_MAPPING, field);
	int ret = items ? 0 : load->error.code;

	for (size_t i = 0; ret == 0 && i < mapping->count; i++)
		ret = rna_schema_note(load, read_entry(load, row, mapping, &mapping->pairs[i],
						       items + i * row->type->size));
	return ret;
}

static int read_row(struct rna_schema_load *load, const struct rna_schema_row *row,
		    const struct rna_yaml *node, void *field)
{
	if (load->brief && rna_yaml_is_empty(node))
		return 0;
	if (row->type->read)
		return row->type->read(load, row, node, field);
	if (row->type->take_pair)
		return read_entries(load, row, node, field);
	if (row->most > 0)
		return read_list(load, row, node, field);
	return rna_schema_take_node(load, row, node, load->line, field);
}

static int read_value(struct rna_schema_load *load, const struct place *place,
		      const struct rna_schema_row *row, const struct rna_yaml_pair *pair)
{
	size_t mistakes = load->mistakes;
	struct rna_schema_given given = {.line = pair->key->line};
	int ret;

	load->line = given.line;
	ret = read_row(load, row, pair->value, (char *)place->object + row->offset);
	given.wrong = ret < 0 || load->mistakes > mistakes;
	if (load->given)
		load->given[row - place->schema->rows] = given;
	return ret;
}

static int read_mapping(struct rna_schema_load *load, const struct place *place,
			const struct rna_yaml *node);

static int read_section(struct rna_schema_load *load, const struct place *place, const char *path,
			const struct rna_yaml_pair *pair)
{
	const struct place section = {place->schema, path, place->object, path, pair->key->line};

	if (rna_yaml_is_empty(pair->value))
		return 0;
	return read_mapping(load, &section, pair->value);
}

static int read_pair(struct rna_schema_load *load, const struct place *place,
		     const struct rna_yaml *mapping, const struct rna_yaml_pair *pair)
{
	const struct rna_schema_row *row;
	char path[KEY_MAX];
	int ret;

	if (!pair->key->text)
		return fail_no_key(load, place->name, place->line, "key", pair->key);
	ret = check_key(load, load->brief ? "" : place->section, mapping, pair);
	if (ret < 0)
		return ret;
	write_path(place->section, pair->key->text, path);
	row = rna_schema_find(place->schema, path);
	if (row && strchr(pair->key->text, '.'))
		return load->brief ? fail_unknown(load, place, path, pair->key->line)
				   : fail_dotted(load, path, pair->key->line);
	if (row && row->keys)
		return 0; /* read_below() */
	if (row)
		return read_value(load, place, row, pair);
	if (is_section(place->schema, path))
		return read_section(load, place, path, pair);
	return fail_unknown(load, place, path, pair->key->line);
}

static int read_mappings(struct rna_schema_load *load, const struct rna_schema_row *row,
			 const struct rna_yaml *list, void *field)
{
	char *items;
	int ret = 0;

	load->line = list->line;
	items = start_list(load, row, list, RNA_YAML_LIST, field);
	if (!items)
		return load->error.code;
	for (size_t i = 0; ret == 0 && i < list->count; i++) {
		const struct rna_yaml *entry = list->pairs[i].value;
		const struct place place = {row->keys, "", items + i * row->keys->size, row->key,
					    entry->line};

		ret = rna_schema_note(load, read_mapping(load, &place, entry));
	}
	return ret;
}

static bool is_missing(const struct rna_schema_row *row, const struct rna_yaml *node)
{
	if (!node)
		return true;
	if (row->least > 0)
		return false; /* which is another mistake */
	return rna_yaml_is_empty(node) ||
	       (row->most == 0 && node->kind == RNA_YAML_MAPPING && node->count == 0);
}

/* A mapping, or a list of mappings, below another. */
static int read_below(struct rna_schema_load *load, const struct rna_schema_row *row,
		      const struct rna_yaml *mapping, void *object)
{
	const struct rna_yaml *node = rna_yaml_get(mapping, row->key);
	size_t line = node ? node->line : mapping->line;
	const struct place place = {row->keys, "", (char *)object + row->offset, row->key, line};

	if (is_missing(row, node) && row->missing)
		return rna_schema_fail(load, line, "%s: %s", row->key, row->missing);
	if (is_missing(row, node))
		return 0;
	if (row->most > 0)
		return read_mappings(load, row, node, place.object);
	return read_mapping(load, &place, node);
}

/* Recursion ends with the number of dots in the table, and of tables. */
static int read_mapping(struct rna_schema_load *load, const struct place *place,
			const struct rna_yaml *node)
{
	const struct rna_schema *schema = place->schema;
	size_t mistakes = load->mistakes;
	int ret = expect_kind(load, place->name, node, RNA_YAML_MAPPING, place->line);

	for (size_t i = 0; ret == 0 && i < node->count; i++)
		ret = rna_schema_note(load, read_pair(load, place, node, &node->pairs[i]));
	if (ret == 0 && schema->check)
		ret = rna_schema_note(load, schema->check(load, node, place->object,
							  load->mistakes == mistakes));
	for (size_t i = 0; ret == 0 && i < schema->count; i++)
		if (schema->rows[i].keys)
			ret = rna_schema_note(load, read_below(load, &schema->rows[i], node,
							       place->object));
	return ret;
}

int rna_schema_read(struct rna_schema_load *load, const struct rna_schema *schema, const char *name,
		    const struct rna_yaml *root)
{
	const struct place place = {schema, "", load->object, name, root->line};

	return rna_schema_note(load, read_mapping(load, &place, root));
}
