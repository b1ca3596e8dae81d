// SPDX-License-Identifier: Apache-2.0
/*
 * The types that a setting can have: how a text becomes a value, and when two values are the same.
 * Then, what is done with all settings: defaults, comparison, documents.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/duration.h"
#include "rna/base/parse.h"
#include "rna/base/texts.h"
#include "rna/base/words.h"

#include "settings_table.h"

/* -- Single values ----------------------------------------------------------------------------- */

static int fail_range(struct rna_schema_load *load, const struct rna_schema_row *setting,
		      const char *text)
{
	return rna_error_say(&load->error, -EINVAL, "%s: %.*s is out of range; allowed: %s to %s",
			     setting->key, RNA_SHOWN(text), setting->min, setting->max);
}

static int fail_form(struct rna_schema_load *load, const struct rna_schema_row *setting,
		     const char *text)
{
	return rna_error_say(&load->error, -EINVAL, "%s: \"%.*s\" is not %s", setting->key,
			     RNA_SHOWN(text), setting->form);
}

static int take_duration(struct rna_schema_load *load, const struct rna_schema_row *setting,
			 const char *text, void *field)
{
	rna_usec value, min = 0, max = 0;
	int ret;

	(void)rna_duration_parse(setting->min, &min); /* the unit test reads all of the table */
	(void)rna_duration_parse(setting->max, &max);
	ret = rna_duration_parse(text, &value);
	if (ret == -EINVAL)
		return rna_error_say(
			&load->error, ret,
			"%s: \"%.*s\" is not a duration such as 500ms, 10s or 1m30s (%s to %s)",
			setting->key, RNA_SHOWN(text), setting->min, setting->max);
	if (ret < 0 || value < min || value > max)
		return fail_range(load, setting, text);
	*(rna_usec *)field = value;
	return 0;
}

const struct rna_schema_type rna_setting_duration = {
	.name = "duration",
	.take = take_duration,
	.size = sizeof(rna_usec),
};

static bool is_digits(const char *text)
{
	return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static int take_integer(struct rna_schema_load *load, const struct rna_schema_row *setting,
			const char *text, void *field)
{
	uint64_t value, min = 0, max = 0;

	(void)rna_parse_u64(setting->min, &min); /* as above */
	(void)rna_parse_u64(setting->max, &max);
	if (!is_digits(text))
		return rna_error_say(&load->error, -EINVAL,
				     "%s: \"%.*s\" is not an integer; allowed: %s to %s",
				     setting->key, RNA_SHOWN(text), setting->min, setting->max);
	if (rna_parse_u64(text, &value) < 0 || value < min || value > max)
		return fail_range(load, setting, text);
	*(unsigned *)field = (unsigned)value;
	return 0;
}

const struct rna_schema_type rna_setting_integer = {
	.name = "integer",
	.take = take_integer,
	.size = sizeof(unsigned),
};

/* YAML 1.2 knows these two words; yes and on are a text there, and here a mistake. */
static int take_boolean(struct rna_schema_load *load, const struct rna_schema_row *setting,
			const char *text, void *field)
{
	bool value = strcmp(text, "true") == 0;

	if (!value && strcmp(text, "false") != 0)
		return fail_form(load, setting, text);
	*(bool *)field = value;
	return 0;
}

const struct rna_schema_type rna_setting_boolean = {
	.name = "boolean",
	.take = take_boolean,
	.size = sizeof(bool),
};

static int take_text(struct rna_schema_load *load, const struct rna_schema_row *setting,
		     const char *text, void *field)
{
	char *copy;

	if (!setting->is_valid(text))
		return fail_form(load, setting, text);
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(*(char **)field);
	*(char **)field = copy;
	return 0;
}

static bool same_text(const void *a, const void *b)
{
	return rna_same_text(*(char *const *)a, *(char *const *)b);
}

const struct rna_schema_type rna_setting_text = {
	.name = "text",
	.take = take_text,
	.is_same = same_text,
};

static int take_nothing(struct rna_schema_load *load, const struct rna_schema_row *setting,
			const char *text, void *field)
{
	(void)load;
	(void)setting;
	(void)text;
	(void)field;
	return 0;
}

const struct rna_schema_type rna_setting_retired = {
	.name = "retired",
	.allowed = "any value",
	.take = take_nothing,
};

/* -- Lists ------------------------------------------------------------------------------------- */

static int fail_entry(struct rna_schema_load *load, const struct rna_schema_row *setting,
		      const char *text)
{
	RNA_STRBUF struct rna_strbuf why = RNA_STRBUF_INIT;

	if (setting->explain)
		setting->explain(text, &why);
	if (!rna_strbuf_ok(&why) || why.len == 0)
		return fail_form(load, setting, text);
	return rna_error_say(&load->error, -EINVAL, "%s: \"%.*s\": %s", setting->key,
			     RNA_SHOWN(text), why.data);
}

/* Of the same name, and of the same devices, which stand behind a blank. */
static bool is_same_entry(const struct rna_schema_row *setting, const char *a, const char *b)
{
	size_t len = strcspn(a, setting->once);
	const char *a_devices = strchr(a, ' '), *b_devices = strchr(b, ' ');

	if (len != strcspn(b, setting->once) || strncmp(a, b, len) != 0)
		return false;
	return setting->members ||
	       strcmp(a_devices ? a_devices : "", b_devices ? b_devices : "") == 0;
}

static int check_entry(struct rna_schema_load *load, const struct rna_schema_row *setting,
		       const char *text, char *const *list)
{
	if (!setting->is_valid(text))
		return fail_entry(load, setting, text);
	for (; setting->once && list && *list; list++)
		if (is_same_entry(setting, text, *list))
			return rna_error_say(&load->error, -EINVAL,
					     "%s: \"%.*s\": duplicate of \"%.*s\"", setting->key,
					     RNA_SHOWN(text), RNA_SHOWN(*list));
	return 0;
}

/* Appends it. */
static int take_entry(struct rna_schema_load *load, const struct rna_schema_row *setting,
		      const char *text, void *field)
{
	RNA_FREE char *copy = NULL;
	char ***list = field, **longer;
	size_t len = rna_texts_len(*list);
	int ret = check_entry(load, setting, text, *list);

	if (ret < 0)
		return ret;
	copy = strdup(text);
	longer = copy ? reallocarray(*list, len + 2, sizeof(*longer)) : NULL;
	if (!longer)
		return -ENOMEM;
	longer[len] = RNA_TAKE(copy);
	longer[len + 1] = NULL;
	*list = longer;
	return 0;
}

static int check_member(struct rna_schema_load *load, const struct rna_schema_row *setting,
			const struct rna_yaml *entry, const struct rna_yaml_pair *pair)
{
	RNA_STRBUF struct rna_strbuf keys = RNA_STRBUF_INIT;
	const char *key = pair->key->text ? pair->key->text : rna_yaml_kind_name(pair->key);
	size_t line = pair->key->line;

	if (!pair->key->text || !rna_words_have(setting->members, key)) {
		rna_words_write(setting->members, &keys);
		return rna_schema_fail(load, line, "%s: unknown key %.*s; allowed: %s",
				       setting->key, RNA_SHOWN(key), keys.data ? keys.data : "");
	}
	if (rna_schema_find_earlier(entry, pair) > 0)
		return rna_schema_fail(load, line, "%s: %s is specified twice", setting->key, key);
	if (pair->value->text && !strchr(pair->value->text, '\n'))
		return 0;
	return rna_schema_fail(load, line, "%s: %s: expected a single line, found %s", setting->key,
			       key,
			       pair->value->text ? "several" : rna_yaml_kind_name(pair->value));
}

/* A mapping as its entry: the values of the members, one a line. Errors name its first line. */
static int take_members(struct rna_schema_load *load, const struct rna_schema_row *setting,
			const struct rna_yaml *entry, void *field)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_yaml whole = {.line = entry->line};
	int ret = 0;

	if (entry->kind != RNA_YAML_MAPPING)
		return rna_schema_fail(load, entry->line,
				       "%s: expected \"%s: ...\" and further keys, found %s",
				       setting->key, setting->members[0],
				       rna_yaml_kind_name(entry));
	for (size_t i = 0; ret == 0 && i < entry->count; i++)
		ret = check_member(load, setting, entry, &entry->pairs[i]);
	if (ret < 0)
		return ret;
	for (size_t i = 0; setting->members[i]; i++) {
		const struct rna_yaml *value = rna_yaml_get(entry, setting->members[i]);

		rna_strbuf_printf(&text, "%s%s", i > 0 ? "\n" : "", value ? value->text : "");
	}
	if (!rna_strbuf_ok(&text))
		return rna_error_set(&load->error, -ENOMEM, "%s", load->path);
	whole.text = text.data;
	return rna_schema_take_node(load, setting, &whole, whole.line, field);
}

/*
 * The example is what was written, or else the default. It is never a glob of everything, which in
 * devices.exclude or expect.down would end all monitoring.
 */
static int fail_no_list(struct rna_schema_load *load, const struct rna_schema_row *setting,
			const struct rna_yaml *node)
{
	const char *example = node->text && *node->text ? node->text : setting->standard;

	if (!example || strspn(example, "*?") == strlen(example) || strpbrk(example, "\"\\\n"))
		return rna_schema_fail(load, load->line, "%s: expected a list, found %s",
				       setting->key, rna_yaml_kind_name(node));
	return rna_schema_fail(load, load->line, "%s: expected a list such as [\"%.*s\"], found %s",
			       setting->key, RNA_SHOWN(example), rna_yaml_kind_name(node));
}

static void clear_list(char ***list)
{
	for (char **entry = *list; entry && *entry; entry++)
		free(*entry);
	free(*list);
	*list = NULL;
}

static int read_list(struct rna_schema_load *load, const struct rna_schema_row *setting,
		     const struct rna_yaml *node, void *field)
{
	int ret;

	if (node->kind != RNA_YAML_LIST)
		return fail_no_list(load, setting, node);
	if (node->count == 0 && setting->standard)
		return rna_schema_fail(load, load->line, "%s: the list must not be empty",
				       setting->key);
	ret = rna_schema_check_length(load, setting, node->count);
	if (ret < 0)
		return ret;
	clear_list(field);
	for (size_t i = 0; ret == 0 && i < node->count; i++) {
		const struct rna_yaml *entry = node->pairs[i].value;

		ret = rna_schema_note(load, setting->members
						    ? take_members(load, setting, entry, field)
						    : rna_schema_take_node(load, setting, entry,
									   entry->line, field));
	}
	return ret;
}

static bool same_list(const void *a, const void *b)
{
	char *const *x = *(char **const *)a, *const *y = *(char **const *)b;
	size_t len = rna_texts_len(x);

	if (len != rna_texts_len(y))
		return false;
	return !RNA_ANY(i, len, strcmp(x[i], y[i]) != 0);
}

const struct rna_schema_type rna_setting_list = {
	.name = "list",
	.take = take_entry,
	.read = read_list,
	.is_same = same_list,
};

/* -- A setting --------------------------------------------------------------------------------- */

const struct rna_schema_row *rna_setting_find(const char *key)
{
	return rna_schema_find(&rna_settings_schema, key);
}

int rna_setting_put(const struct rna_schema_row *setting, const char *text,
		    struct rna_settings *settings, struct rna_error *error)
{
	struct rna_schema_load load = {0};
	int ret = rna_schema_take(&load, setting, text, (char *)settings + setting->offset);

	return rna_schema_end(&load, ret, error);
}

bool rna_setting_is_same(const struct rna_schema_row *setting, const struct rna_settings *a,
			 const struct rna_settings *b)
{
	const void *x = (const char *)a + setting->offset, *y = (const char *)b + setting->offset;

	if (setting->type->is_same)
		return setting->type->is_same(x, y);
	return memcmp(x, y, setting->type->size) == 0;
}

void rna_setting_clear(const struct rna_schema_row *setting, struct rna_settings *settings)
{
	void *field = (char *)settings + setting->offset;

	if (setting->type == &rna_setting_list)
		clear_list(field);
	if (setting->type != &rna_setting_text)
		return;
	free(*(char **)field);
	*(char **)field = NULL;
}

/* Would its check take the value? */
static int check_names(const struct rna_schema_row *setting, const struct rna_settings *settings,
		       struct rna_error *error)
{
	const void *field = (const char *)settings + setting->offset;
	int ret = 0;

	if (!setting->check)
		return 0;
	if (setting->type == &rna_setting_text)
		return setting->check(setting->key, *(char *const *)field, error);
	for (char *const *entry = *(char **const *)field; entry && *entry && ret == 0; entry++)
		ret = setting->check(setting->key, *entry, error);
	return ret;
}

/* -- All settings ------------------------------------------------------------------------------ */

void rna_settings_deinit(struct rna_settings *settings)
{
	for (size_t i = 0; i < rna_settings_schema.count; i++)
		rna_setting_clear(&rna_settings_schema.rows[i], settings);
	*settings = (struct rna_settings){0};
}

int rna_settings_init(struct rna_settings *settings)
{
	*settings = (struct rna_settings){0};
	RNA_EACH (setting, rna_settings_schema.rows, rna_settings_schema.count) {
		int ret = 0;

		if (setting->standard)
			ret = rna_setting_put(setting, setting->standard, settings, NULL);
		if (ret < 0) {
			rna_settings_deinit(settings);
			return ret;
		}
	}
	return 0;
}

int rna_settings_check_names(const struct rna_settings *settings, struct rna_error *error)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < rna_settings_schema.count; i++)
		ret = check_names(&rna_settings_schema.rows[i], settings, error);
	return ret;
}

bool rna_settings_are_same(const struct rna_settings *a, const struct rna_settings *b,
			   const char *section)
{
	size_t len = strlen(section);

	RNA_EACH (setting, rna_settings_schema.rows, rna_settings_schema.count)
		if (strncmp(setting->key, section, len) == 0 && setting->key[len] == '.' &&
		    !rna_setting_is_same(setting, a, b))
			return false;
	return true;
}

/* As a file would have it. */
static void write_default(const struct rna_schema_row *setting, struct rna_strbuf *out)
{
	if (!setting->standard)
		rna_strbuf_puts(out, "[]");
	else if (setting->type == &rna_setting_list)
		rna_strbuf_printf(out, "[\"%s\"]", setting->standard);
	else
		rna_strbuf_puts(out, *setting->standard ? setting->standard : "\"\"");
}

void rna_settings_describe(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Setting\tType\tAllowed\tDefault\tMeaning\n");
	RNA_EACH (setting, rna_settings_schema.rows, rna_settings_schema.count) {
		rna_strbuf_printf(out, "`%s`\t%s\t", setting->key,
				  setting->members ? "list of mappings" : setting->type->name);
		rna_schema_write_allowed(setting, out);
		rna_strbuf_puts(out, "\t`");
		write_default(setting, out);
		rna_strbuf_printf(out, "`\t%s%s\n", setting->help,
				  setting->read_at_start ? " Read at the start only." : "");
	}
}
