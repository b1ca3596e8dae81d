// SPDX-License-Identifier: Apache-2.0
/*
 * The types that a setting can have: how a text becomes a value, when two values are the same, and
 * what is allowed, in words.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/duration.h"
#include "rna/base/parse.h"
#include "rna/base/texts.h"
#include "rna/base/words.h"

#include "settings_table.h"

/* -- Reading one value ------------------------------------------------------------------------- */

static int fail_range(const struct rna_setting *setting, const char *text, struct rna_error *error)
{
	return rna_error_say(error, -EINVAL, "%s: %.*s is out of range; allowed: %s to %s",
			     setting->key, RNA_SHOWN(text), setting->min, setting->max);
}

static int fail_form(const struct rna_setting *setting, const char *text, struct rna_error *error)
{
	return rna_error_say(error, -EINVAL, "%s: \"%.*s\" is not %s", setting->key,
			     RNA_SHOWN(text), setting->form);
}

static int put_duration(const struct rna_setting *setting, const char *text, void *field,
			struct rna_error *error)
{
	rna_usec value, min = 0, max = 0;
	int ret;

	(void)rna_duration_parse(setting->min, &min); /* the unit test reads all of the table */
	(void)rna_duration_parse(setting->max, &max);
	ret = rna_duration_parse(text, &value);
	if (ret == -EINVAL)
		return rna_error_say(
			error, ret,
			"%s: \"%.*s\" is not a duration such as 500ms, 10s or 1m30s (%s to %s)",
			setting->key, RNA_SHOWN(text), setting->min, setting->max);
	if (ret < 0 || value < min || value > max)
		return fail_range(setting, text, error);
	*(rna_usec *)field = value;
	return 0;
}

static bool is_digits(const char *text)
{
	return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static int put_integer(const struct rna_setting *setting, const char *text, void *field,
		       struct rna_error *error)
{
	uint64_t value, min = 0, max = 0;

	(void)rna_parse_u64(setting->min, &min); /* as above */
	(void)rna_parse_u64(setting->max, &max);
	if (!is_digits(text))
		return rna_error_say(error, -EINVAL,
				     "%s: \"%.*s\" is not an integer; allowed: %s to %s",
				     setting->key, RNA_SHOWN(text), setting->min, setting->max);
	if (rna_parse_u64(text, &value) < 0 || value < min || value > max)
		return fail_range(setting, text, error);
	*(unsigned *)field = (unsigned)value;
	return 0;
}

/* YAML 1.2 knows these two words; yes and on are a text there, and here a mistake. */
static int put_boolean(const struct rna_setting *setting, const char *text, void *field,
		       struct rna_error *error)
{
	bool value = strcmp(text, "true") == 0;

	if (!value && strcmp(text, "false") != 0)
		return fail_form(setting, text, error);
	*(bool *)field = value;
	return 0;
}

static void write_choices(const struct rna_setting *setting, struct rna_strbuf *out)
{
	for (const struct rna_setting_choice *choice = setting->choices; choice->name; choice++) {
		if (choice != setting->choices)
			rna_strbuf_puts(out, ", ");
		rna_strbuf_puts(out, choice->name);
	}
}

static int put_choice(const struct rna_setting *setting, const char *text, void *field,
		      struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf allowed = RNA_STRBUF_INIT;

	for (const struct rna_setting_choice *choice = setting->choices; choice->name; choice++)
		if (strcmp(choice->name, text) == 0) {
			*(int *)field = choice->value;
			return 0;
		}
	write_choices(setting, &allowed);
	if (!rna_strbuf_ok(&allowed))
		return rna_error_set(error, -ENOMEM, "%s", setting->key);
	return rna_error_say(error, -EINVAL, "%s: \"%.*s\" is not one of %s", setting->key,
			     RNA_SHOWN(text), allowed.data);
}

static int put_whole_text(const struct rna_setting *setting, const char *text, void *field,
			  struct rna_error *error)
{
	char *copy;

	if (!setting->is_valid(text))
		return fail_form(setting, text, error);
	copy = strdup(text);
	if (!copy)
		return rna_error_set(error, -ENOMEM, "%s", setting->key);
	free(*(char **)field);
	*(char **)field = copy;
	return 0;
}

static int fail_entry(const struct rna_setting *setting, const char *text, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf why = RNA_STRBUF_INIT;

	if (setting->explain)
		setting->explain(text, &why);
	if (!rna_strbuf_ok(&why) || why.len == 0)
		return fail_form(setting, text, error);
	return rna_error_say(error, -EINVAL, "%s: \"%.*s\": %s", setting->key, RNA_SHOWN(text),
			     why.data);
}

/* Of the same name, and of the same devices, which stand behind a blank. */
static bool is_same_entry(const struct rna_setting *setting, const char *a, const char *b)
{
	size_t len = strcspn(a, setting->once);
	const char *a_devices = strchr(a, ' '), *b_devices = strchr(b, ' ');

	if (len != strcspn(b, setting->once) || strncmp(a, b, len) != 0)
		return false;
	return setting->members ||
	       strcmp(a_devices ? a_devices : "", b_devices ? b_devices : "") == 0;
}

static int check_entry(const struct rna_setting *setting, const char *text, char *const *list,
		       struct rna_error *error)
{
	if (!setting->is_valid(text))
		return fail_entry(setting, text, error);
	for (; setting->once && list && *list; list++)
		if (is_same_entry(setting, text, *list))
			return rna_error_say(error, -EINVAL, "%s: \"%.*s\": duplicate of \"%.*s\"",
					     setting->key, RNA_SHOWN(text), RNA_SHOWN(*list));
	return 0;
}

static int put_entry(const struct rna_setting *setting, const char *text, void *field,
		     struct rna_error *error)
{
	RNA_FREE char *copy = NULL;
	char ***list = field, **longer;
	size_t len = rna_texts_len(*list);
	int ret = check_entry(setting, text, *list, error);

	if (ret < 0)
		return ret;
	copy = strdup(text);
	longer = copy ? reallocarray(*list, len + 2, sizeof(*longer)) : NULL;
	if (!longer)
		return rna_error_set(error, -ENOMEM, "%s", setting->key);
	longer[len] = RNA_TAKE(copy);
	longer[len + 1] = NULL;
	*list = longer;
	return 0;
}

static bool same_duration(const void *a, const void *b)
{
	return *(const rna_usec *)a == *(const rna_usec *)b;
}

static bool same_integer(const void *a, const void *b)
{
	return *(const unsigned *)a == *(const unsigned *)b;
}

static bool same_boolean(const void *a, const void *b)
{
	return *(const bool *)a == *(const bool *)b;
}

static bool same_choice(const void *a, const void *b)
{
	return *(const int *)a == *(const int *)b;
}

static bool same_text(const void *a, const void *b)
{
	return rna_same_text(*(char *const *)a, *(char *const *)b);
}

static bool same_list(const void *a, const void *b)
{
	char *const *x = *(char **const *)a, *const *y = *(char **const *)b;
	size_t len = rna_texts_len(x);

	if (len != rna_texts_len(y))
		return false;
	for (size_t i = 0; i < len; i++)
		if (strcmp(x[i], y[i]) != 0)
			return false;
	return true;
}

static const struct {
	const char *name;
	int (*put)(const struct rna_setting *setting, const char *text, void *field,
		   struct rna_error *error);
	bool (*is_same)(const void *a, const void *b); /* fields */
} types[RNA_SETTING_TYPE_COUNT] = {
	[RNA_SETTING_DURATION] = {"duration", put_duration, same_duration},
	[RNA_SETTING_INTEGER] = {"integer", put_integer, same_integer},
	[RNA_SETTING_BOOLEAN] = {"boolean", put_boolean, same_boolean},
	[RNA_SETTING_CHOICE] = {"choice", put_choice, same_choice},
	[RNA_SETTING_TEXT] = {"text", put_whole_text, same_text},
	[RNA_SETTING_LIST] = {"list", put_entry, same_list},
};

static void *field_of(const struct rna_setting *setting, struct rna_settings *settings)
{
	return (char *)settings + setting->offset;
}

int rna_setting_put(const struct rna_setting *setting, const char *text,
		    struct rna_settings *settings, struct rna_error *error)
{
	return types[setting->type].put(setting, text, field_of(setting, settings), error);
}

bool rna_setting_is_same(const struct rna_setting *setting, const struct rna_settings *a,
			 const struct rna_settings *b)
{
	return types[setting->type].is_same((const char *)a + setting->offset,
					    (const char *)b + setting->offset);
}

int rna_setting_check(const struct rna_setting *setting, const struct rna_settings *settings,
		      struct rna_error *error)
{
	const void *field = (const char *)settings + setting->offset;
	int ret = 0;

	if (!setting->check)
		return 0;
	if (setting->type == RNA_SETTING_TEXT)
		return setting->check(setting->key, *(char *const *)field, error);
	for (char *const *entry = *(char **const *)field; entry && *entry && ret == 0; entry++)
		ret = setting->check(setting->key, *entry, error);
	return ret;
}

static void clear_text(char **text)
{
	free(*text);
	*text = NULL;
}

void rna_setting_clear(const struct rna_setting *setting, struct rna_settings *settings)
{
	char ***list = field_of(setting, settings);

	if (setting->type == RNA_SETTING_TEXT) {
		clear_text(field_of(setting, settings));
		return;
	}

	for (char **entry = *list; entry && *entry; entry++)
		free(*entry);
	free(*list);
	*list = NULL;
}

/* -- In words ---------------------------------------------------------------------------------- */

const char *rna_setting_type_name(const struct rna_setting *setting)
{
	if (setting->members)
		return "list of mappings";
	return types[setting->type].name;
}

static bool is_short_list(const struct rna_setting *setting)
{
	return setting->max && strcmp(setting->max, RNA_SETTING_ENTRIES_MAX) != 0;
}

void rna_setting_write_allowed(const struct rna_setting *setting, struct rna_strbuf *out)
{
	if (setting->choices)
		write_choices(setting, out);
	else if (setting->form)
		rna_strbuf_printf(out, is_short_list(setting) ? "%s; at most %s entries" : "%s",
				  setting->form, setting->max);
	else if (setting->type == RNA_SETTING_BOOLEAN)
		rna_strbuf_puts(out, "true, false");
	else
		rna_strbuf_printf(out, "%s to %s", setting->min, setting->max);
}

void rna_setting_write_default(const struct rna_setting *setting, struct rna_strbuf *out)
{
	if (!setting->standard)
		rna_strbuf_puts(out, "[]");
	else if (setting->type == RNA_SETTING_LIST)
		rna_strbuf_printf(out, "[\"%s\"]", setting->standard);
	else
		rna_strbuf_puts(out, *setting->standard ? setting->standard : "\"\"");
}

void rna_setting_write_help(const struct rna_setting *setting, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s%s", setting->help,
			  setting->read_at_start ? " Read at the start only." : "");
}
