// SPDX-License-Identifier: Apache-2.0
/*
 * The configuration file: the table of settings reads it. Then, what no single setting can know,
 * and values of the command line.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/duration.h"
#include "rna/base/log.h"
#include "rna/model/node_status.h"

#include "selftest/plan.h"

#include "settings_table.h"

enum {
	TREE = 16 * 1024, /* bytes that the tree of a common file takes */
	KEY_MAX = 128,    /* bytes; longer than any key and any name of an option */
};

/* -- Settings that limit others ---------------------------------------------------------------- */

static const struct rna_schema_given *find_given(const struct rna_schema_load *load,
						 const char *key)
{
	return &load->given[rna_setting_find(key) - rna_settings_schema.rows];
}

static int fail_together(struct rna_schema_load *load, const char *one, const char *other,
			 const char *format, ...) RNA_PRINTF(4, 5);

/*
 * For conflicts of two settings; the error names the line of the later one. If one of them is
 * invalid already, what the two were meant to be is not known.
 */
static int fail_together(struct rna_schema_load *load, const char *one, const char *other,
			 const char *format, ...)
{
	const struct rna_schema_given *a = find_given(load, one), *b = find_given(load, other);
	char text[RNA_ERROR_MAX];
	va_list args;

	if (a->wrong || b->wrong)
		return 0;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args); /* cut when too long */
	va_end(args);
	return rna_schema_fail(load, a->line > b->line ? a->line : b->line, "%s", text);
}

static int check_handover(struct rna_schema_load *load, const struct rna_settings *settings)
{
	RNA_STRBUF struct rna_strbuf handover = RNA_STRBUF_INIT, deadline = RNA_STRBUF_INIT;

	if (settings->poll_handover < settings->poll_deadline)
		return 0;
	rna_duration_write(settings->poll_handover, &handover);
	rna_duration_write(settings->poll_deadline, &deadline);
	if (!rna_strbuf_ok(&handover) || !rna_strbuf_ok(&deadline))
		return rna_error_set(&load->error, -ENOMEM, "%s", load->path);
	return fail_together(load, "poll.handover", "poll.deadline",
			     "poll.handover (%s) must be shorter than poll.deadline (%s)",
			     handover.data, deadline.data);
}

static int check_grades(struct rna_schema_load *load, const struct rna_settings *settings)
{
	if (settings->selftest_ok == 0 || settings->selftest_warning <= settings->selftest_ok)
		return 0;
	return fail_together(load, "selftest.warning", "selftest.ok",
			     "selftest.warning (%u) must not exceed selftest.ok (%u)",
			     settings->selftest_warning, settings->selftest_ok);
}

static int check_writes(struct rna_schema_load *load, const struct rna_settings *settings)
{
	if (rna_selftest_size_fits(settings, settings->selftest_size))
		return 0;
	return fail_together(
		load, "selftest.size", "selftest.bytes",
		"two writes of selftest.size (%u) exceed selftest.bytes (%u MiB), the minimum of a "
		"test; lower selftest.size or raise selftest.bytes",
		settings->selftest_size, settings->selftest_bytes);
}

static int check_secret(struct rna_schema_load *load, const struct rna_settings *settings)
{
	if (!settings->probe_enabled || settings->probe_secret_file[0] != '\0')
		return 0;
	return fail_together(load, "probe.enabled", "probe.secret_file",
			     "probe.enabled needs probe.secret_file, a file with the secret that "
			     "all members share");
}

static int check_sources(struct rna_schema_load *load, const struct rna_settings *settings)
{
	const struct {
		const char *key, *value;
	} sources[] = {
		{"probe.members_file", settings->probe_members_file},
		{"probe.members_dns", settings->probe_members_dns},
		{"probe.members_kubernetes", settings->probe_members_kubernetes},
	};
	const char *one = NULL;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(sources); i++) {
		if (sources[i].value[0] == '\0')
			continue;
		if (one)
			return fail_together(
				load, one, sources[i].key,
				"only one of %s and %s can be set: members have one source", one,
				sources[i].key);
		one = sources[i].key;
	}
	return 0;
}

/* Without them the prober would hold a device open that the kernel waits to remove. */
static int check_removals(struct rna_schema_load *load, const struct rna_settings *settings)
{
	if (!settings->probe_enabled || settings->watch_events)
		return 0;
	return fail_together(load, "probe.enabled", "watch.events",
			     "probe.enabled needs watch.events: otherwise the removal of a device "
			     "would wait for the prober");
}

static int check_bandwidth(struct rna_schema_load *load, const struct rna_settings *settings)
{
	if (!settings->probe_bandwidth || settings->probe_enabled)
		return 0;
	return fail_together(load, "probe.bandwidth", "probe.enabled",
			     "probe.bandwidth needs probe.enabled: the members, their ports and "
			     "the secret are those of probes");
}

/* Only the API server takes taints: without it the setting promises what never happens. */
static int check_taint(struct rna_schema_load *load, const struct rna_settings *settings)
{
	bool api = settings->kubernetes_backend & RNA_NODE_BACKEND_BIT(API);
	bool devices = settings->kubernetes_device_taints != RNA_DEVICE_TAINTS_OFF;
	const char *key = devices ? "kubernetes.device_taints" : "kubernetes.taint";

	if (api || (!devices && settings->kubernetes_taint[0] == '\0'))
		return 0;
	return fail_together(
		load, key, "kubernetes.backend",
		"%s needs kubernetes.backend api or both: no other backend sets taints", key);
}

static int check_limit(struct rna_schema_load *load, const struct rna_settings *settings)
{
	const char *key = settings->kubernetes_taint_dry_run ? "kubernetes.taint_dry_run"
							     : "kubernetes.taint_leases";

	if (settings->kubernetes_taint[0] != '\0' ||
	    (!settings->kubernetes_taint_dry_run && settings->kubernetes_taint_leases[0] == '\0'))
		return 0;
	return fail_together(load, key, "kubernetes.taint",
			     "%s needs kubernetes.taint, the taint that it is about", key);
}

static int check_together(struct rna_schema_load *load)
{
	static int (*const checks[])(struct rna_schema_load * load,
				     const struct rna_settings *settings) = {
		check_handover, check_grades,    check_writes, check_secret, check_sources,
		check_removals, check_bandwidth, check_taint,  check_limit,
	};
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < RNA_ARRAY_SIZE(checks); i++)
		ret = rna_schema_note(load, checks[i](load, load->object));
	return ret;
}

/* -- The file ---------------------------------------------------------------------------------- */

static int read_file(struct rna_schema_load *load)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(TREE);
	const struct rna_yaml *root = NULL;
	int ret;

	if (!arena)
		return rna_error_set(&load->error, -ENOMEM, "%s", load->path);
	ret = rna_yaml_read(load->path, arena, &root, &load->error);
	if (ret < 0 || !root)
		return ret; /* empty, or comments only */
	if (!rna_yaml_is_empty(root))
		ret = rna_schema_read(load, &rna_settings_schema, "", root);
	return ret < 0 ? ret : check_together(load);
}

/* path: NULL: the default file, which need not exist. */
static int load_settings(const char *path, struct rna_schema_load *load)
{
	int ret = rna_settings_init(load->object);

	load->path = path ? path : RNA_CONFIG_DEFAULT;
	load->advice = "`rdma-node-agent describe settings` lists all keys";
	load->any_section = true;
	if (ret < 0)
		return rna_error_set(&load->error, ret, "%s", load->path);
	if (!path && access(load->path, F_OK) < 0 && errno == ENOENT)
		return 0;
	return read_file(load);
}

static void log_retired(const struct rna_schema_load *load)
{
	for (size_t i = 0; i < rna_settings_schema.count; i++) {
		const struct rna_schema_row *setting = &rna_settings_schema.rows[i];

		if (setting->type == &rna_setting_retired && load->given[i].line > 0)
			rna_log_warning("%s:%zu: %s is ignored, remove it: %s", load->path,
					load->given[i].line, setting->key, setting->help);
	}
}

static int load_config(const char *path, bool checks, struct rna_settings *ret,
		       struct rna_mistakes *rest, struct rna_error *error)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	struct rna_schema_given given[RNA_SETTINGS_MAX] = {0};
	struct rna_schema_load load = {.object = &settings,
				       .checks = checks,
				       .given = given,
				       .rest = rest};
	int status;

	if (rest)
		*rest = (struct rna_mistakes){0};
	status = load_settings(path, &load);
	status = rna_schema_end(&load, status, error);
	if (status < 0)
		return status;
	log_retired(&load);
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

/* Reads the file again, because settings do not carry line numbers. */
void rna_config_point(const char *path, struct rna_error *error)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	struct rna_schema_given given[RNA_SETTINGS_MAX] = {0};
	struct rna_schema_load load = {.object = &settings, .given = given};
	char key[KEY_MAX];
	size_t line = 0;

	(void)snprintf(key, sizeof(key), "%.*s", (int)strcspn(error->text, ":"), error->text);
	if (rna_setting_find(key) && load_settings(path, &load) == 0)
		line = find_given(&load, key)->line;
	if (line > 0)
		(void)rna_error_prefix(error, "%s:%zu", load.path, line);
	else
		(void)rna_error_prefix(error, "%s", path ? path : RNA_CONFIG_DEFAULT);
}

/* -- The command line -------------------------------------------------------------------------- */

static bool is_first(const struct rna_override *overrides, const struct rna_override *override)
{
	while (strcmp(overrides->setting, override->setting) != 0)
		overrides++;
	return overrides == override;
}

static bool is_any(const char *text)
{
	(void)text;
	return true;
}

/* As in the file, but errors name the option, and a path may be relative. */
static int put_override(const struct rna_override *override, struct rna_settings *settings,
			struct rna_error *error)
{
	struct rna_schema_row setting = *rna_setting_find(override->setting);
	char key[KEY_MAX];

	(void)snprintf(key, sizeof(key), "--%s", override->option);
	setting.key = key;
	if (setting.is_valid == rna_path_or_none_is_valid)
		setting.is_valid = is_any;
	return rna_setting_put(&setting, override->value, settings, error);
}

int rna_config_override(const struct rna_override *overrides, struct rna_settings *settings,
			struct rna_error *error)
{
	int ret = 0;

	for (const struct rna_override *override = overrides;
	     ret == 0 && override && override->option; override++) {
		const struct rna_schema_row *setting = rna_setting_find(override->setting);

		if (setting->type == &rna_setting_list && is_first(overrides, override))
			rna_setting_clear(setting, settings);
		ret = put_override(override, settings, error);
	}
	return ret;
}
