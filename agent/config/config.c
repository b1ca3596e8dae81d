// SPDX-License-Identifier: Apache-2.0
/*
 * The configuration file: YAML into settings, with errors that say where, what and what instead.
 * Reading goes on behind a mistake, so that one look at the file mends them all.
 *
 * Our own settings table is the schema of the tree that rna/base/yaml.h reads. libcyaml was the
 * plan and is left out: it tells positions only in the text of its log, its 1.3.1 (Debian 12) knows
 * no numeric ranges, and it stands on libyaml anyway.
 *
 * A file is a mapping of sections, a section is a mapping of settings: "poll:", below it "state:",
 * is poll.state. Errors name the line of the key, for behind an alias the value stands elsewhere.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/duration.h"
#include "rna/base/log.h"
#include "rna/base/parse.h"
#include "rna/base/words.h"
#include "rna/base/yaml.h"

#include "selftest/plan.h"

#include "settings_table.h"

enum {
	TREE = 16 * 1024, /* bytes that the tree of a common file takes */
	KEY_MAX = 128,    /* bytes; longer than any known key, what is longer is cut */
};

struct load {
	const char *path;
	bool optional; /* there need be no such file */
	struct rna_settings *settings;
	bool names;                     /* of Kubernetes have to be ones */
	size_t lines[RNA_SETTINGS_MAX]; /* where each setting is given; 0: nowhere */
	bool wrong[RNA_SETTINGS_MAX];
	size_t mistakes;
	struct rna_error error; /* of what has just failed */
	struct rna_error first;
	struct rna_mistakes *rest;
};

/*
 * Takes down a mistake that is in load->error, and reading goes on. Want of memory ends it, and so
 * does one mistake too many: what is wrong from end to end was meant to be another file.
 */
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

/* -- One setting ------------------------------------------------------------------------------- */

static int put_text(struct load *load, const struct rna_setting *setting,
		    const struct rna_yaml *value, size_t line)
{
	int ret;

	if (!value->text)
		return rna_error_say(&load->error, -EINVAL,
				     "%s:%zu: %s: expected a single value, found %s", load->path,
				     line, setting->key, rna_yaml_kind_name(value));
	ret = rna_setting_put(setting, value->text, load->settings, &load->error);
	if (ret == 0 && load->names && setting->check)
		ret = setting->check(setting->key, value->text, &load->error);
	if (ret < 0)
		(void)rna_error_prefix(&load->error, "%s:%zu", load->path, line);
	return ret;
}

/* One error for a list that is too long, not one for each entry. */
static int check_length(struct load *load, const struct rna_setting *setting,
			const struct rna_yaml *list, size_t line)
{
	uint64_t most;

	if (rna_parse_u64(setting->max, &most) < 0 || list->count <= most)
		return 0;
	return rna_error_say(&load->error, -EINVAL,
			     "%s:%zu: %s: the list has %zu entries; at most %s are allowed",
			     load->path, line, setting->key, list->count, setting->max);
}

/*
 * The example is what was written, or else the default. It is never a glob of everything, which in
 * devices.exclude or expect.down would end all monitoring.
 */
static int fail_no_list(struct load *load, const struct rna_setting *setting,
			const struct rna_yaml *value, size_t line)
{
	const char *example = value->text && *value->text ? value->text : setting->standard;

	if (!example || strspn(example, "*?") == strlen(example) || strpbrk(example, "\"\\\n"))
		return rna_error_say(&load->error, -EINVAL, "%s:%zu: %s: expected a list, found %s",
				     load->path, line, setting->key, rna_yaml_kind_name(value));
	return rna_error_say(&load->error, -EINVAL,
			     "%s:%zu: %s: expected a list such as [\"%.*s\"], found %s", load->path,
			     line, setting->key, RNA_SHOWN(example), rna_yaml_kind_name(value));
}

/* The line of an earlier pair with the same key in the mapping; 0: none. */
static size_t find_earlier(const struct rna_yaml *mapping, const struct rna_yaml_pair *pair)
{
	for (const struct rna_yaml_pair *earlier = mapping->pairs; earlier < pair; earlier++)
		if (earlier->key->text && strcmp(earlier->key->text, pair->key->text) == 0)
			return earlier->key->line;
	return 0;
}

/* Its number in members; -1: there is no such key. */
static int find_member(const struct rna_setting *setting, const char *key)
{
	for (int i = 0; key && setting->members[i]; i++)
		if (strcmp(setting->members[i], key) == 0)
			return i;
	return -1;
}

static int check_member(struct load *load, const struct rna_setting *setting,
			const struct rna_yaml *entry, const struct rna_yaml_pair *pair)
{
	RNA_STRBUF struct rna_strbuf keys = RNA_STRBUF_INIT;
	const char *key = pair->key->text ? pair->key->text : rna_yaml_kind_name(pair->key);

	if (find_member(setting, pair->key->text) < 0) {
		for (size_t i = 0; setting->members[i]; i++)
			rna_strbuf_printf(&keys, "%s%s", i > 0 ? ", " : "", setting->members[i]);
		return rna_error_say(&load->error, -EINVAL,
				     "%s:%zu: %s: unknown key %.*s; allowed: %s", load->path,
				     pair->key->line, setting->key, RNA_SHOWN(key),
				     keys.data ? keys.data : "");
	}
	if (find_earlier(entry, pair) > 0)
		return rna_error_say(&load->error, -EINVAL, "%s:%zu: %s: %s is specified twice",
				     load->path, pair->key->line, setting->key, key);
	if (!pair->value->text || strchr(pair->value->text, '\n'))
		return rna_error_say(&load->error, -EINVAL,
				     "%s:%zu: %s: %s: expected a single line, found %s", load->path,
				     pair->key->line, setting->key, key,
				     pair->value->text ? "several"
						       : rna_yaml_kind_name(pair->value));
	return 0;
}

/* A mapping as its entry: the values of the members, one a line. Errors name its first line. */
static int put_mapping(struct load *load, const struct rna_setting *setting,
		       const struct rna_yaml *entry)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int ret;

	if (entry->kind != RNA_YAML_MAPPING)
		return rna_error_say(&load->error, -EINVAL,
				     "%s:%zu: %s: expected \"%s: ...\" and further keys, found %s",
				     load->path, entry->line, setting->key, setting->members[0],
				     rna_yaml_kind_name(entry));
	for (size_t i = 0; i < entry->count; i++) {
		ret = check_member(load, setting, entry, &entry->pairs[i]);
		if (ret < 0)
			return ret;
	}
	for (size_t i = 0; setting->members[i]; i++) {
		const struct rna_yaml *value = rna_yaml_get(entry, setting->members[i]);

		rna_strbuf_printf(&text, "%s%s", i > 0 ? "\n" : "", value ? value->text : "");
	}
	if (!rna_strbuf_ok(&text))
		return rna_error_set(&load->error, -ENOMEM, "%s", load->path);
	ret = rna_setting_put(setting, text.data, load->settings, &load->error);
	if (ret < 0)
		(void)rna_error_prefix(&load->error, "%s:%zu", load->path, entry->line);
	return ret;
}

static int put_list(struct load *load, const struct rna_setting *setting,
		    const struct rna_yaml *value, size_t line)
{
	int ret;

	if (value->kind != RNA_YAML_LIST)
		return fail_no_list(load, setting, value, line);
	if (value->count == 0 && setting->standard)
		return rna_error_say(&load->error, -EINVAL,
				     "%s:%zu: %s: the list must not be empty", load->path, line,
				     setting->key);
	ret = check_length(load, setting, value, line);
	if (ret < 0)
		return ret;
	rna_setting_clear(setting, load->settings);
	for (size_t i = 0; ret >= 0 && i < value->count; i++) {
		const struct rna_yaml *entry = value->pairs[i].value;

		ret = note(load, setting->members ? put_mapping(load, setting, entry)
						  : put_text(load, setting, entry, entry->line));
	}
	return ret;
}

/* -- Keys -------------------------------------------------------------------------------------- */

static bool is_section(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < rna_setting_count; i++)
		if (strncmp(rna_setting_table[i].key, path, len) == 0 &&
		    rna_setting_table[i].key[len] == '.')
			return true;
	return false;
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

static int fail_unknown(struct load *load, const char *path, size_t line)
{
	struct rna_hint hint = RNA_HINT(path);

	for (size_t i = 0; i < rna_setting_count; i++) {
		const char *key = rna_setting_table[i].key;

		rna_hint_offer(&hint, key, strlen(key));
		rna_hint_offer(&hint, key, strcspn(key, "."));
	}
	if (!is_alike(&hint, path))
		return rna_error_say(&load->error, -EINVAL,
				     "%s:%zu: unknown key %.*s; `rdma-node-agent describe "
				     "settings` lists all keys",
				     load->path, line, RNA_SHOWN(path));
	return rna_error_say(&load->error, -EINVAL, "%s:%zu: unknown key %.*s; did you mean %.*s?",
			     load->path, line, RNA_SHOWN(path), (int)hint.best_len, hint.best);
}

/* "poll.state: 1s" at the top level is not accepted: there is one way to write a setting. */
static int fail_dotted(struct load *load, const char *path, size_t line)
{
	int section_len = (int)strcspn(path, ".");

	return rna_error_say(&load->error, -EINVAL,
			     "%s:%zu: %s: move it into its section: \"%.*s:\", and \"%s:\" "
			     "indented on the next line",
			     load->path, line, path, section_len, path, path + section_len + 1);
}

static int read_section(struct load *load, const char *section, const struct rna_yaml *node,
			size_t line);

static int read_value(struct load *load, const char *path, const struct rna_yaml *value,
		      size_t line)
{
	const struct rna_setting *setting = rna_setting_find(path);
	size_t mistakes = load->mistakes;
	int ret;

	if (!setting && is_section(path))
		return read_section(load, path, value, line);
	if (!setting)
		return fail_unknown(load, path, line);
	load->lines[setting - rna_setting_table] = line;
	if (setting->type == RNA_SETTING_LIST)
		ret = put_list(load, setting, value, line);
	else
		ret = put_text(load, setting, value, line);
	load->wrong[setting - rna_setting_table] = ret < 0 || load->mistakes > mistakes;
	return ret;
}

static int read_pair(struct load *load, const char *section, const struct rna_yaml *mapping,
		     const struct rna_yaml_pair *pair)
{
	const char *key = pair->key->text;
	size_t line = pair->key->line;
	char path[KEY_MAX];
	size_t earlier;

	if (!key)
		return rna_error_say(&load->error, -EINVAL, "%s:%zu: expected a key, found %s",
				     load->path, line, rna_yaml_kind_name(pair->key));
	(void)snprintf(path, sizeof(path), "%s%s%s", section, *section ? "." : "", key);
	earlier = find_earlier(mapping, pair);
	if (earlier > 0)
		return rna_error_say(&load->error, -EINVAL,
				     "%s:%zu: %.*s is specified twice, first on line %zu",
				     load->path, line, RNA_SHOWN(path), earlier);
	if (strchr(key, '.') && rna_setting_find(path))
		return fail_dotted(load, path, line);
	return read_value(load, path, pair->value, line);
}

/* section: "" for the file itself. Recursion ends with the number of dots in the table. */
static int read_section(struct load *load, const char *section, const struct rna_yaml *node,
			size_t line)
{
	if (rna_yaml_is_empty(node))
		return 0;
	if (node->kind != RNA_YAML_MAPPING)
		return rna_error_say(&load->error, -EINVAL,
				     "%s:%zu: %s%sexpected \"key: value\" lines below, found %s",
				     load->path, line, section, *section ? ": " : "",
				     rna_yaml_kind_name(node));
	for (size_t i = 0; i < node->count; i++) {
		int ret = note(load, read_pair(load, section, node, &node->pairs[i]));

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* -- The whole --------------------------------------------------------------------------------- */

static size_t line_given(const struct load *load, const char *key)
{
	return load->lines[rna_setting_find(key) - rna_setting_table];
}

/* For conflicts of two settings; the error names the line of the later one. */
static int fail_together(struct load *load, const char *one, const char *other,
			 struct rna_strbuf *text)
{
	size_t line = line_given(load, one), other_line = line_given(load, other);

	if (!rna_strbuf_ok(text))
		return rna_error_set(&load->error, -ENOMEM, "%s", load->path);
	return rna_error_say(&load->error, -EINVAL, "%s:%zu: %s", load->path,
			     line > other_line ? line : other_line, text->data);
}

/* Skips checks of two settings if one of them is invalid already. */
static bool are_right(const struct load *load, const char *one, const char *other)
{
	return !load->wrong[rna_setting_find(one) - rna_setting_table] &&
	       !load->wrong[rna_setting_find(other) - rna_setting_table];
}

static int check_handover(struct load *load)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (load->settings->poll_handover < load->settings->poll_deadline ||
	    !are_right(load, "poll.handover", "poll.deadline"))
		return 0;
	rna_strbuf_puts(&text, "poll.handover (");
	rna_duration_write(load->settings->poll_handover, &text);
	rna_strbuf_puts(&text, ") must be shorter than poll.deadline (");
	rna_duration_write(load->settings->poll_deadline, &text);
	rna_strbuf_puts(&text, ")");
	return fail_together(load, "poll.handover", "poll.deadline", &text);
}

static int check_grades(struct load *load)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (load->settings->selftest_ok == 0 ||
	    load->settings->selftest_warning <= load->settings->selftest_ok ||
	    !are_right(load, "selftest.warning", "selftest.ok"))
		return 0;
	rna_strbuf_printf(&text, "selftest.warning (%u) must not exceed selftest.ok (%u)",
			  load->settings->selftest_warning, load->settings->selftest_ok);
	return fail_together(load, "selftest.warning", "selftest.ok", &text);
}

static int check_writes(struct load *load)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (rna_selftest_size_fits(load->settings, load->settings->selftest_size) ||
	    !are_right(load, "selftest.size", "selftest.bytes"))
		return 0;
	rna_strbuf_printf(&text,
			  "two writes of selftest.size (%u) exceed selftest.bytes (%u MiB), the "
			  "minimum of a test; lower selftest.size or raise selftest.bytes",
			  load->settings->selftest_size, load->settings->selftest_bytes);
	return fail_together(load, "selftest.size", "selftest.bytes", &text);
}

static int check_secret(struct load *load)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (!load->settings->probe_enabled || load->settings->probe_secret_file[0] != '\0' ||
	    !are_right(load, "probe.enabled", "probe.secret_file"))
		return 0;
	rna_strbuf_puts(&text, "probe.enabled needs probe.secret_file, a file with the secret that "
			       "all members share");
	return fail_together(load, "probe.enabled", "probe.secret_file", &text);
}

static int check_bandwidth(struct load *load)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (!load->settings->probe_bandwidth || load->settings->probe_enabled ||
	    !are_right(load, "probe.bandwidth", "probe.enabled"))
		return 0;
	rna_strbuf_puts(&text, "probe.bandwidth needs probe.enabled: the members, their ports and "
			       "the secret are those of probes");
	return fail_together(load, "probe.bandwidth", "probe.enabled", &text);
}

static int check_two_sources(struct load *load, const char *one, const char *other)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_strbuf_printf(&text, "only one of %s and %s can be set: members have one source", one,
			  other);
	return are_right(load, one, other) ? fail_together(load, one, other, &text) : 0;
}

static int check_sources(struct load *load)
{
	const struct {
		const char *key, *value;
	} sources[] = {
		{"probe.members_file", load->settings->probe_members_file},
		{"probe.members_dns", load->settings->probe_members_dns},
		{"probe.members_kubernetes", load->settings->probe_members_kubernetes},
	};
	const char *one = NULL;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(sources); i++) {
		if (sources[i].value[0] == '\0')
			continue;
		if (one)
			return check_two_sources(load, one, sources[i].key);
		one = sources[i].key;
	}
	return 0;
}

/* Without them the prober would hold a device open that the kernel waits to remove. */
static int check_removals(struct load *load)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (!load->settings->probe_enabled || load->settings->watch_events ||
	    !are_right(load, "probe.enabled", "watch.events"))
		return 0;
	rna_strbuf_puts(&text,
			"probe.enabled needs watch.events: otherwise the removal of a device "
			"would wait for the prober");
	return fail_together(load, "probe.enabled", "watch.events", &text);
}

static int check_together(struct load *load)
{
	static int (*const checks[])(
		struct load * load) = {check_handover, check_grades,   check_writes,   check_secret,
				       check_sources,  check_removals, check_bandwidth};
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < RNA_ARRAY_SIZE(checks); i++)
		ret = note(load, checks[i](load));
	return ret;
}

static int load_file(struct load *load)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(TREE);
	const struct rna_yaml *root = NULL;
	int ret;

	if (!arena)
		return rna_error_set(&load->error, -ENOMEM, "%s", load->path);
	ret = rna_yaml_read(load->path, arena, &root, &load->error);
	if (ret < 0 || !root)
		return ret; /* empty, or comments only */
	ret = note(load, read_section(load, "", root, root->line));
	return ret < 0 ? ret : check_together(load);
}

/* load->first: the first error, if any. */
static int load_settings(struct load *load)
{
	int ret = rna_settings_init(load->settings);

	if (ret < 0)
		(void)rna_error_set(&load->error, ret, "%s", load->path);
	else if (!load->optional || access(load->path, F_OK) == 0 || errno != ENOENT)
		ret = load_file(load);
	if (ret < 0 && load->mistakes == 0)
		load->first = load->error;
	return load->first.code;
}

static int load_config(const char *path, bool names, struct rna_settings *ret,
		       struct rna_mistakes *rest, struct rna_error *error)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	struct rna_mistakes ignored;
	struct load load = {
		.path = path ? path : RNA_CONFIG_DEFAULT,
		.optional = !path,
		.settings = &settings,
		.names = names,
		.rest = rest ? rest : &ignored,
	};

	load.rest->count = 0;
	load.rest->more = false;
	if (load_settings(&load) < 0) {
		if (error)
			*error = load.first;
		return load.first.code;
	}
	*ret = settings;
	settings = (struct rna_settings){0};
	return 0;
}

int rna_config_load(const char *path, struct rna_settings *ret, struct rna_mistakes *rest,
		    struct rna_error *error)
{
	return load_config(path, false, ret, rest, error);
}

int rna_config_check(const char *path, struct rna_settings *ret, struct rna_mistakes *rest,
		     struct rna_error *error)
{
	return load_config(path, true, ret, rest, error);
}

void rna_mistakes_log(const struct rna_mistakes *rest)
{
	for (size_t i = 0; i < rest->count; i++)
		rna_log_error("%s", rest->errors[i].text);
	if (rest->more)
		rna_log_error("more errors follow; correct these and check again");
}

/* Reads the file again, because settings do not carry line numbers. */
void rna_config_point(const char *path, struct rna_error *error)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	struct rna_mistakes ignored = {0};
	struct load load = {
		.path = path ? path : RNA_CONFIG_DEFAULT,
		.settings = &settings,
		.rest = &ignored,
	};
	const struct rna_setting *setting;
	char key[KEY_MAX];
	size_t line = 0;

	(void)snprintf(key, sizeof(key), "%.*s", (int)strcspn(error->text, ":"), error->text);
	setting = rna_setting_find(key);
	if (setting && load_settings(&load) == 0)
		line = load.lines[setting - rna_setting_table];
	if (line > 0)
		(void)rna_error_prefix(error, "%s:%zu", load.path, line);
	else
		(void)rna_error_prefix(error, "%s", load.path);
}
