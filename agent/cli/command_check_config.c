// SPDX-License-Identifier: Apache-2.0
/*
 * The command check-config. Its row does not ask for settings: loading them for run tolerates
 * invalid names for Kubernetes, which this command has to report.
 *
 * A file with profiles is checked as if expect.profile named it. With --root a recorded node is
 * compared with its profile, and with the settings that name devices or ports. Such settings are
 * compared with this node, too, but one that fits nothing is no error there: one file serves many
 * nodes.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rna/base/clock.h"
#include "rna/base/yaml.h"

#include "baseline/baseline.h"
#include "config/settings_table.h"
#include "config/web_config.h"
#include "probe/probe_secret.h"
#include "rules/rules.h"

#include "commands.h"
#include "once.h"

/* As the agent reads it: with a mistake there are no probes. */
static int check_secret(const struct rna_settings *settings, struct rna_error *error)
{
	struct rna_probe_secret secret;
	int status;

	if (!settings->probe_enabled)
		return 0;
	status = rna_probe_secret_read(&secret, settings->probe_secret_file, error);
	rna_probe_secret_clear(&secret);
	return status;
}

/* -- Profiles ---------------------------------------------------------------------------------- */

/* Does it look like one? Any mistake in it is found later. */
static bool has_profiles(const char *path)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	const struct rna_yaml *root = NULL;

	return arena && rna_yaml_read(path, arena, &root, NULL) == 0 &&
	       rna_yaml_get(root, "profiles");
}

/* The defaults, and the file as expect.profile. */
static int take_profiles(struct rna_call *call, struct rna_error *error)
{
	RNA_FREE char *path = realpath(call->config, NULL);

	if (!path)
		return rna_error_set(error, -errno, "%s", call->config);
	if (rna_settings_init(&call->settings) < 0)
		return rna_error_set(error, -ENOMEM, "%s", call->config);
	return rna_setting_put(rna_setting_find("expect.profile"), path, &call->settings, error);
}

static int check_profiles(struct rna_call *call, struct rna_error *error)
{
	RNA_CLEANUP(rna_baseline_deinit) struct rna_baseline baseline = {0};

	return rna_baseline_load(&baseline, call->settings.expect_profile, &call->mistakes, error);
}

/* -- The node ---------------------------------------------------------------------------------- */

static bool is_about_profiles(const struct rna_finding *finding)
{
	return strncmp(finding->rule, "profile-", strlen("profile-")) == 0;
}

static bool is_about_names(const struct rna_finding *finding)
{
	return strcmp(finding->rule, rna_rule_expect_unmatched.name) == 0 ||
	       strcmp(finding->rule, rna_rule_nothing_watched.name) == 0;
}

/* Returns the number of findings that are not mere information. */
static size_t write_findings(const struct rna_view *view,
			     bool (*is_meant)(const struct rna_finding *finding),
			     struct rna_strbuf *out)
{
	size_t count = 0;

	RNA_EACH (finding, view->findings, view->finding_count) {
		if (!is_meant(finding))
			continue;
		count += finding->severity > RNA_SEVERITY_INFO;
		rna_strbuf_printf(out, "%s %s: %s\n", rna_severity_name(finding->severity),
				  finding->rule, finding->text);
	}
	return count;
}

static int look(struct rna_call *call, struct rna_once *once, struct rna_error *error)
{
	int status = rna_once_poll(call, once, error);

	if (status == 0 && once->view->findings_short)
		return rna_error_set(error, -ENOMEM, "not enough memory to find all findings");
	return status;
}

static int compare_recording(struct rna_call *call, struct rna_strbuf *out, struct rna_error *error)
{
	RNA_ONCE struct rna_once once = {0};
	size_t differences;
	int status = look(call, &once, error);

	if (status < 0)
		return status;
	if (once.view->profile.name)
		rna_strbuf_printf(out, "profile: %s, of %s\n", once.view->profile.name,
				  once.view->profile.source);
	else
		rna_strbuf_puts(out, "profile: none\n");
	differences = write_findings(once.view, is_about_profiles, out);
	differences += write_findings(once.view, is_about_names, out);
	return differences > 0 ? RNA_EXIT_FAILURE : RNA_EXIT_SUCCESS;
}

static bool has_names(const struct rna_settings *settings)
{
	return settings->expect_up || settings->expect_down || settings->devices_include ||
	       settings->devices_exclude;
}

static int compare_node(struct rna_call *call, struct rna_strbuf *out, struct rna_error *error)
{
	RNA_ONCE struct rna_once once = {0};
	const struct rna_presence *presence;
	int status = look(call, &once, error);

	if (status < 0)
		return status;
	presence = rna_snapshot_presence(once.view->snapshot);
	if (presence && presence->stack)
		(void)write_findings(once.view, is_about_names, out);
	else
		rna_strbuf_puts(out, "this node has no RDMA device, with which names of devices "
				     "and ports could be compared\n");
	return RNA_EXIT_SUCCESS;
}

/* Only if there is something to compare: otherwise the command reads nothing of the node. */
static int compare(struct rna_call *call, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int written, status = RNA_EXIT_SUCCESS;

	if (call->arguments.options[RNA_OPTION_ROOT])
		status = compare_recording(call, &text, error);
	else if (has_names(&call->settings))
		status = compare_node(call, &text, error);
	if (status < 0)
		return status;
	written = rna_output_strbuf(&text, error);
	return written < 0 ? written : status;
}

/* What no file can tell: whether the agent will run in a pod, and which taints that tolerates. */
static void note_eviction(const struct rna_settings *settings, struct rna_strbuf *out)
{
	if (*settings->kubernetes_taint &&
	    settings->kubernetes_taint_effect == RNA_TAINT_NO_EXECUTE)
		rna_strbuf_printf(
			out,
			"kubernetes.taint_effect NoExecute evicts pods; if the agent runs "
			"in one, it needs this toleration (the chart adds it): {key: %s, "
			"operator: Exists, effect: NoExecute}\n",
			settings->kubernetes_taint);
}

/* -- The command ------------------------------------------------------------------------------- */

static int check_file(struct rna_call *call, struct rna_error *error)
{
	int status;

	if (call->config && has_profiles(call->config))
		status = take_profiles(call, error);
	else
		status = rna_config_check(call->config, &call->settings, &call->mistakes, error);
	if (status == 0)
		status = check_profiles(call, error);
	if (status == 0)
		status = check_secret(&call->settings, error);
	return status < 0 ? status
			  : rna_web_config_check(call->settings.http_web_config_file,
						 rna_clock_now().realtime, error);
}

int rna_command_check_config(struct rna_call *call, struct rna_error *error)
{
	const char *path = call->config ? call->config : RNA_CONFIG_DEFAULT;
	bool defaults =
		!call->config && access(path, F_OK) < 0; /* otherwise the check has failed */
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int status;

	if (check_file(call, error) < 0)
		return RNA_EXIT_USAGE;
	rna_strbuf_printf(&text, "%s: ok%s\n", path,
			  defaults ? "; the file does not exist, the defaults apply" : "");
	note_eviction(&call->settings, &text);
	status = rna_output_strbuf(&text, error);
	return status < 0 ? status : compare(call, error);
}
