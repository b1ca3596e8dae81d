// SPDX-License-Identifier: Apache-2.0
/*
 * YAML into profiles, by the tables of profile_rows.c, with errors that name the place and what is
 * allowed. As for the configuration file, reading continues after a mistake, so that one look at
 * the file shows them all.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/file.h"
#include "rna/base/parse.h"
#include "rna/base/words.h"
#include "rna/base/yaml.h"

#include "profile_rows.h"

enum { TREE = 16 * 1024 }; /* bytes that the tree of a common file takes */

struct load {
	const char *path;
	struct rna_arena *arena; /* of the profiles */
	size_t mistakes;
	struct rna_error error; /* the one that just occurred */
	struct rna_error first;
	struct rna_mistakes *rest;
};

/* Keeps the mistake in load->error; reading continues unless memory or patience ran out. */
static int note(struct load *load, int status)
{
	struct rna_mistakes *rest = load->rest;

	if (status != -EINVAL)
		return status;
	if (load->mistakes++ == 0) {
		load->first = load->error;
	} else if (rest->count < RNA_MISTAKES_MAX) {
		rest->errors[rest->count++] = load->error;
	} else {
		rest->more = true;
		return status;
	}
	return 0;
}

static int fail_memory(struct load *load)
{
	return rna_error_set(&load->error, -ENOMEM, "%s", load->path);
}

/* -- Keys -------------------------------------------------------------------------------------- */

/* The line of an earlier pair with the same key; 0: none. Mappings have a few dozen keys at most.
 */
static size_t find_earlier(const struct rna_yaml *mapping, const struct rna_yaml_pair *pair)
{
	for (const struct rna_yaml_pair *earlier = mapping->pairs; earlier < pair; earlier++)
		if (earlier->key->text && strcmp(earlier->key->text, pair->key->text) == 0)
			return earlier->key->line;
	return 0;
}

static int check_kind(struct load *load, const char *key, const struct rna_yaml *value,
		      enum rna_yaml_kind kind, size_t line)
{
	if (value->kind == kind)
		return 0;
	return rna_error_say(&load->error, -EINVAL, "%s:%zu: %s: expected %s, found %s", load->path,
			     line, key,
			     kind == RNA_YAML_LIST ? "a list" : "\"key: value\" lines below",
			     rna_yaml_kind_name(value));
}

static int check_key(struct load *load, const struct rna_yaml *mapping,
		     const struct rna_yaml_pair *pair)
{
	size_t earlier;

	if (!pair->key->text)
		return rna_error_say(&load->error, -EINVAL, "%s:%zu: expected a key, found %s",
				     load->path, pair->key->line, rna_yaml_kind_name(pair->key));
	earlier = find_earlier(mapping, pair);
	if (earlier > 0)
		return rna_error_say(&load->error, -EINVAL,
				     "%s:%zu: %.*s is specified twice, first on line %zu",
				     load->path, pair->key->line, RNA_SHOWN(pair->key->text),
				     earlier);
	return 0;
}

/* Keys of sections that have no row: those of lists and mappings below. */
static void write_keys(const struct rna_profile_table *table, const char *const *others,
		       struct rna_hint *hint, struct rna_strbuf *out)
{
	for (size_t i = 0; table && i < table->count; i++) {
		const char *key = table->rows[i].key;

		rna_hint_offer(hint, key, strlen(key));
		rna_strbuf_printf(out, "%s%s", out->len > 0 ? ", " : "", key);
	}
	for (; others && *others; others++) {
		rna_hint_offer(hint, *others, strlen(*others));
		rna_strbuf_printf(out, "%s%s", out->len > 0 ? ", " : "", *others);
	}
}

static int fail_unknown(struct load *load, const struct rna_yaml *key,
			const struct rna_profile_table *table, const char *const *others)
{
	RNA_STRBUF struct rna_strbuf keys = RNA_STRBUF_INIT;
	struct rna_hint hint = RNA_HINT(key->text);

	write_keys(table, others, &hint, &keys);
	if (!rna_strbuf_ok(&keys))
		return fail_memory(load);
	if (hint.best)
		return rna_error_say(&load->error, -EINVAL,
				     "%s:%zu: unknown key %.*s; did you mean %.*s? Allowed: %s",
				     load->path, key->line, RNA_SHOWN(key->text),
				     (int)hint.best_len, hint.best, keys.data);
	return rna_error_say(&load->error, -EINVAL, "%s:%zu: unknown key %.*s; allowed: %s",
			     load->path, key->line, RNA_SHOWN(key->text), keys.data);
}

/* -- Values ------------------------------------------------------------------------------------ */

static int fail_value(struct load *load, const struct rna_profile_row *row, const char *text,
		      size_t line)
{
	RNA_STRBUF struct rna_strbuf allowed = RNA_STRBUF_INIT;

	rna_profile_row_write_allowed(row, &allowed);
	if (!rna_strbuf_ok(&allowed))
		return fail_memory(load);
	return rna_error_say(&load->error, -EINVAL,
			     "%s:%zu: %s: \"%.*s\" is not allowed; allowed: %s", load->path, line,
			     row->key, RNA_SHOWN(text), allowed.data);
}

static int take_value(struct load *load, const struct rna_profile_row *row,
		      const struct rna_yaml *value, size_t line, void *field)
{
	int ret;

	if (!value->text)
		return rna_error_say(&load->error, -EINVAL,
				     "%s:%zu: %s: expected a single value, found %s", load->path,
				     line, row->key, rna_yaml_kind_name(value));
	ret = row->type->take(row, value->text, field, load->arena);
	if (ret == -ENOMEM)
		return fail_memory(load);
	return ret < 0 ? fail_value(load, row, value->text, line) : 0;
}

static int check_length(struct load *load, const struct rna_profile_row *row, size_t count,
			size_t line)
{
	if (count > 0 && count <= row->most)
		return 0;
	return rna_error_say(&load->error, -EINVAL,
			     "%s:%zu: %s: the list has %zu entries; 1 to %zu are allowed",
			     load->path, line, row->key, count, row->most);
}

/* A single value stands for a list of one. */
static int take_list(struct load *load, const struct rna_profile_row *row,
		     const struct rna_yaml *value, size_t line, struct rna_profile_list *list)
{
	size_t count = value->kind == RNA_YAML_LIST ? value->count : 1;
	char *items;
	int ret = check_length(load, row, count, line);

	if (ret < 0)
		return ret;
	items = rna_arena_array(load->arena, count, row->type->size);
	if (!items)
		return fail_memory(load);
	*list = (struct rna_profile_list){count, items};
	if (value->kind != RNA_YAML_LIST)
		return take_value(load, row, value, line, items);
	for (size_t i = 0; ret == 0 && i < count; i++)
		ret = note(load,
			   take_value(load, row, value->pairs[i].value, value->pairs[i].value->line,
				      items + i * row->type->size));
	return ret;
}

/* "8", or ">= 8" */
static bool take_amount(const struct rna_profile_row *row, const char *text,
			struct rna_profile_nics *ret)
{
	ret->at_least = text && strncmp(text, ">= ", 3) == 0;
	return text && rna_parse_u64(text + (ret->at_least ? 3 : 0), &ret->count) == 0 &&
	       ret->count >= row->min && ret->count <= row->max;
}

static int take_count(struct load *load, const struct rna_profile_row *row,
		      const struct rna_yaml *mapping, const struct rna_yaml_pair *pair,
		      struct rna_profile_nics *ret)
{
	int status = check_key(load, mapping, pair);

	if (status == 0)
		status = take_value(load, row, pair->key, pair->key->line, &ret->model);
	if (status < 0)
		return status;
	if (!take_amount(row, pair->value->text, ret))
		return fail_value(load, row, pair->value->text ? pair->value->text : "",
				  pair->key->line);
	return 0;
}

static int take_counts(struct load *load, const struct rna_profile_row *row,
		       const struct rna_yaml *value, size_t line, struct rna_profile_list *list)
{
	struct rna_profile_nics *items;
	int ret = check_kind(load, row->key, value, RNA_YAML_MAPPING, line);

	if (ret == 0)
		ret = check_length(load, row, value->count, line);
	if (ret < 0)
		return ret;
	items = rna_arena_array(load->arena, value->count, sizeof(*items));
	if (!items)
		return fail_memory(load);
	*list = (struct rna_profile_list){value->count, items};
	for (size_t i = 0; ret == 0 && i < value->count; i++)
		ret = note(load, take_count(load, row, value, &value->pairs[i], &items[i]));
	return ret;
}

static int take_row(struct load *load, const struct rna_profile_row *row,
		    const struct rna_yaml *value, size_t line, void *object)
{
	void *field = (char *)object + row->offset;

	if (row->counts)
		return take_counts(load, row, value, line, field);
	if (row->most > 0)
		return take_list(load, row, value, line, field);
	return take_value(load, row, value, line, field);
}

/* -- Sections ---------------------------------------------------------------------------------- */

static const struct rna_profile_row *find_row(const struct rna_profile_table *table,
					      const char *key)
{
	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->rows[i].key, key) == 0)
			return &table->rows[i];
	return NULL;
}

/* others: keys that the caller reads itself; NULL: none. */
static int read_pair(struct load *load, const struct rna_profile_table *table,
		     const char *const *others, const struct rna_yaml *mapping,
		     const struct rna_yaml_pair *pair, void *object)
{
	const struct rna_profile_row *row;
	int ret = check_key(load, mapping, pair);

	if (ret < 0)
		return ret;
	row = find_row(table, pair->key->text);
	if (row)
		return take_row(load, row, pair->value, pair->key->line, object);
	if (others && rna_words_have(others, pair->key->text))
		return 0;
	return fail_unknown(load, pair->key, table, others);
}

static int read_rows(struct load *load, const char *name, const struct rna_profile_table *table,
		     const char *const *others, const struct rna_yaml *mapping, size_t line,
		     void *object)
{
	int ret = note(load, check_kind(load, name, mapping, RNA_YAML_MAPPING, line));

	for (size_t i = 0; ret == 0 && mapping->kind == RNA_YAML_MAPPING && i < mapping->count; i++)
		ret = note(load,
			   read_pair(load, table, others, mapping, &mapping->pairs[i], object));
	return ret;
}

/* -- Profiles ---------------------------------------------------------------------------------- */

static int read_match(struct load *load, const struct rna_yaml *profile,
		      struct rna_profile_match *ret)
{
	const struct rna_yaml *match = rna_yaml_get(profile, "match");

	if (!match || rna_yaml_is_empty(match) ||
	    (match->kind == RNA_YAML_MAPPING && match->count == 0))
		return note(load, rna_error_say(&load->error, -EINVAL,
						"%s:%zu: match: missing or empty; it says which "
						"nodes the profile is for, for example match: "
						"{product: \"DGXH100\"}",
						load->path, match ? match->line : profile->line));
	return read_rows(load, "match", &rna_profile_match_rows, NULL, match, match->line, ret);
}

static int read_node(struct load *load, const struct rna_yaml *profile,
		     struct rna_profile_node *ret)
{
	const struct rna_yaml *node = rna_yaml_get(profile, "node");

	if (!node || rna_yaml_is_empty(node))
		return 0;
	return read_rows(load, "node", &rna_profile_node_rows, NULL, node, node->line, ret);
}

static int read_device(struct load *load, const struct rna_yaml *entry,
		       struct rna_profile_device *ret)
{
	size_t mistakes = load->mistakes;
	int status =
		read_rows(load, "devices", &rna_profile_device_rows, NULL, entry, entry->line, ret);

	if (status < 0 || load->mistakes > mistakes || ret->model.text || ret->name)
		return status;
	return note(load, rna_error_say(&load->error, -EINVAL,
					"%s:%zu: devices: the entry has neither model nor name, so "
					"it means no device",
					load->path, entry->line));
}

static int read_devices(struct load *load, const struct rna_yaml *profile, struct rna_profile *ret)
{
	const struct rna_yaml *list = rna_yaml_get(profile, "devices");
	struct rna_profile_device *devices;
	int status;

	if (!list || rna_yaml_is_empty(list))
		return 0;
	status = check_kind(load, "devices", list, RNA_YAML_LIST, list->line);
	if (status == 0 && list->count > RNA_PROFILE_DEVICES_MAX)
		status =
			rna_error_say(&load->error, -EINVAL,
				      "%s:%zu: devices: %zu entries; at most %d are allowed",
				      load->path, list->line, list->count, RNA_PROFILE_DEVICES_MAX);
	if (status < 0)
		return note(load, status);
	devices = rna_arena_array(load->arena, list->count, sizeof(*devices));
	if (!devices)
		return fail_memory(load);
	ret->devices = devices;
	ret->device_count = list->count;
	for (size_t i = 0; status == 0 && i < list->count; i++)
		status = read_device(load, list->pairs[i].value, &devices[i]);
	return status;
}

/* A file has 256 profiles at most, which bounds the comparisons. */
static int check_name(struct load *load, const struct rna_profile *profiles,
		      const struct rna_profile *profile)
{
	if (!profile->name)
		return rna_error_say(&load->error, -EINVAL, "%s:%zu: the profile has no name",
				     load->path, profile->line);
	for (const struct rna_profile *earlier = profiles; earlier < profile; earlier++)
		if (earlier->name && strcmp(earlier->name, profile->name) == 0)
			return rna_error_say(&load->error, -EINVAL,
					     "%s:%zu: name: %s is used twice, first by the profile "
					     "on line %zu",
					     load->path, profile->line, profile->name,
					     earlier->line);
	return 0;
}

static int read_profile(struct load *load, const struct rna_yaml *entry,
			struct rna_profile *profile, const struct rna_profile *profiles)
{
	static const char *const sections[] = {"match", "node", "devices", NULL};
	size_t mistakes = load->mistakes;
	int ret;

	profile->line = entry->line;
	ret = read_rows(load, "profiles", &rna_profile_file_rows, sections, entry, entry->line,
			profile);
	if (ret < 0 || entry->kind != RNA_YAML_MAPPING)
		return ret;
	if (profile->name || load->mistakes == mistakes)
		ret = note(load, check_name(load, profiles, profile));
	if (ret == 0)
		ret = read_match(load, entry, &profile->match);
	if (ret == 0)
		ret = read_node(load, entry, &profile->node);
	return ret == 0 ? read_devices(load, entry, profile) : ret;
}

static int read_list(struct load *load, const struct rna_yaml *list, struct rna_profiles *ret)
{
	struct rna_profile *items;
	int status = check_kind(load, "profiles", list, RNA_YAML_LIST, list->line);

	if (status == 0 && (list->count == 0 || list->count > RNA_PROFILES_MAX))
		status = rna_error_say(&load->error, -EINVAL,
				       "%s:%zu: profiles: %zu entries; 1 to %d are allowed",
				       load->path, list->line, list->count, RNA_PROFILES_MAX);
	if (status < 0)
		return note(load, status);
	items = rna_arena_array(load->arena, list->count, sizeof(*items));
	if (!items)
		return fail_memory(load);
	ret->items = items;
	ret->count = list->count;
	for (size_t i = 0; status == 0 && i < list->count; i++)
		status = read_profile(load, list->pairs[i].value, &items[i], items);
	return status;
}

/* -- The file ---------------------------------------------------------------------------------- */

/* Checked before anything else: a later version may have other keys. */
static int check_version(struct load *load, const struct rna_yaml *root)
{
	const struct rna_yaml *version = rna_yaml_get(root, "version");
	uint64_t number;

	if (!version)
		return rna_error_say(&load->error, -EINVAL,
				     "%s:%zu: version: missing; the file begins with \"version: "
				     "%d\"",
				     load->path, root->line, RNA_PROFILE_VERSION);
	if (!version->text || rna_parse_u64(version->text, &number) < 0 || number == 0)
		return rna_error_say(&load->error, -EINVAL, "%s:%zu: version: allowed: %d",
				     load->path, version->line, RNA_PROFILE_VERSION);
	if (number > RNA_PROFILE_VERSION)
		return rna_error_say(&load->error, -EINVAL,
				     "%s:%zu: version: this agent reads version %d and not %.*s; "
				     "upgrade it, or write the file in version %d",
				     load->path, version->line, RNA_PROFILE_VERSION,
				     RNA_SHOWN(version->text), RNA_PROFILE_VERSION);
	return 0;
}

static int read_root(struct load *load, const struct rna_yaml *root, struct rna_profiles *ret)
{
	static const struct rna_profile_table none;
	static const char *const sections[] = {"version", "profiles", NULL};
	const struct rna_yaml *list;
	int status;

	if (!root || root->kind != RNA_YAML_MAPPING)
		return rna_error_say(&load->error, -EINVAL,
				     "%s:1: expected \"version: %d\" and \"profiles:\"", load->path,
				     RNA_PROFILE_VERSION);
	status = check_version(load, root);
	if (status == 0)
		status = read_rows(load, load->path, &none, sections, root, root->line, NULL);
	if (status < 0)
		return status;
	list = rna_yaml_get(root, "profiles");
	if (!list)
		return rna_error_say(&load->error, -EINVAL, "%s:%zu: profiles: missing", load->path,
				     root->line);
	return read_list(load, list, ret);
}

static int parse(struct load *load, const struct rna_profile_text *text, struct rna_profiles *ret)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *tree = rna_arena_new(TREE);
	const struct rna_yaml *root = NULL;
	int status;

	if (!tree || !ret->path)
		return fail_memory(load);
	if (text->len > RNA_PROFILE_BYTES_MAX)
		return rna_error_say(&load->error, -EINVAL, "%s: larger than %d KiB", load->path,
				     RNA_PROFILE_BYTES_MAX / 1024);
	status = rna_yaml_parse(load->path, text->text, text->len, tree, &root, &load->error);
	return status < 0 ? status : note(load, read_root(load, root, ret));
}

/* All of ret lies in arena. */
static int parse_into(struct rna_arena *arena, const struct rna_profile_text *text,
		      struct rna_profiles *ret, struct rna_mistakes *rest, struct rna_error *error)
{
	struct rna_mistakes ignored;
	struct load load = {.path = text->name, .arena = arena, .rest = rest ? rest : &ignored};
	int status;

	load.rest->count = 0;
	load.rest->more = false;
	*ret = (struct rna_profiles){.path = rna_arena_strdup(arena, text->name)};
	status = parse(&load, text, ret);
	if (status < 0 && load.mistakes == 0)
		load.first = load.error;
	if (load.first.code < 0 && error)
		*error = load.first;
	return load.first.code;
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
