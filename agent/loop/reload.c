// SPDX-License-Identifier: Apache-2.0
/* Settings that are read again: what the new ones change, and what happens if they are wrong. */
#include <errno.h>

#include "rna/base/log.h"

#include "config/settings_table.h"

#include "guests.h"

static void warn_of_late(const struct rna_settings *old, const struct rna_settings *new)
{
	RNA_EACH (setting, rna_settings_schema.rows, rna_settings_schema.count)
		if (setting->read_at_start && !rna_setting_is_same(setting, old, new))
			rna_log_warning("%s takes effect only after a restart of the agent",
					setting->key);
}

void rna_agent_load_baseline(struct rna_agent *agent)
{
	struct rna_mistakes rest = {0};
	struct rna_error error = {0};

	if (rna_baseline_load(&agent->baseline, agent->settings.expect_profile, &rest, &error) >= 0)
		return;
	rna_log_error("expect.profile: %s; continuing without a profile", error.text);
	rna_mistakes_log(&rest);
}

/* At the start a name that cannot be one costs Kubernetes only; here there are better ones. */
static int try_reload(struct rna_agent *agent, struct rna_mistakes *rest, struct rna_error *error)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	RNA_CLEANUP(rna_device_filter_unref_p) struct rna_device_filter *filter = NULL;
	RNA_CLEANUP(rna_texts_unref_p) struct rna_texts *statistics = NULL;
	struct rna_settings old;
	int ret;

	ret = rna_config_check(agent->config, &settings, rest, error);
	if (ret >= 0)
		ret = rna_config_override(agent->overrides, &settings, error);
	if (ret < 0)
		return ret;
	filter = rna_device_filter_new(settings.devices_include, settings.devices_exclude);
	statistics = rna_texts_copy(settings.ethernet_statistics);
	if (!filter || !statistics)
		return rna_error_set(error, -ENOMEM, "cannot apply the device settings");
	ret = rna_server_reload(&agent->server, &settings, error);
	if (ret < 0)
		return ret;
	old = agent->settings;
	agent->settings = settings;
	settings = old;
	warn_of_late(&settings, &agent->settings);
	rna_log_set_level(agent->settings.log_level);
	rna_schedule_reload(&agent->schedule, RNA_TAKE(filter), RNA_TAKE(statistics));
	if (rna_health_reload(&agent->health) < 0)
		rna_log_error("out of memory: rules keep the old settings until the next reload");
	rna_agent_load_baseline(agent);
	rna_watch_update(agent->watch);
	rna_selftest_update(agent->selftest);
	if (!rna_settings_are_same(&agent->settings, &settings, "probe")) {
		rna_probing_update(agent->probing);
		rna_measuring_update(agent->measuring);
	}
	if (!rna_settings_are_same(&agent->settings, &settings, "kubernetes"))
		rna_node_reload(agent->node);
	return 0;
}

/* The whole list is for the log. */
static void sum_up(const struct rna_error *first, const struct rna_mistakes *rest, char *ret,
		   size_t size)
{
	if (rest->count == 0)
		(void)snprintf(ret, size, "%s", first->text);
	else
		(void)snprintf(ret, size, "%s (and %s%zu more mistake%s)", first->text,
			       rest->more ? "over " : "", rest->count, rest->count > 1 ? "s" : "");
}

void rna_agent_reload(struct rna_agent *agent)
{
	struct rna_mistakes rest = {0};
	struct rna_error error = {0};

	if (agent->view)
		rna_notify_reloading(rna_clock_monotonic());
	agent->status.config_error = NULL;
	if (try_reload(agent, &rest, &error) >= 0) {
		agent->status.config_loaded = rna_clock_now().realtime;
		rna_log_notice("configuration reloaded");
		rna_agent_note(agent, RNA_CHANGE_RELOADED, "configuration");
	} else {
		sum_up(&error, &rest, agent->config_error, sizeof(agent->config_error));
		rna_log_error("configuration not reloaded, keeping the old settings: %s",
			      agent->config_error);
		rna_mistakes_log(&rest);
		rna_agent_note(agent, RNA_CHANGE_REFUSED, agent->config_error);
		agent->status.config_error = agent->config_error;
	}
	if (agent->view) /* else it is not ready yet */
		rna_notify_ready();
	rna_views_want(agent);
}
