// SPDX-License-Identifier: Apache-2.0
#include "once.h"

#include "rna/base/log.h"
#include "rna/base/parse.h"
#include "rna/base/root.h"

#include "loop/agent.h"

void rna_once_deinit(struct rna_once *once)
{
	once->view = rna_view_unref(once->view);
	once->agent = rna_agent_free(once->agent);
}

/* A command does not log at level info, as the daemon does: the user sees the result. */
static void lower_log_level(const struct rna_settings *settings)
{
	rna_log_set_level(settings->log_level < LOG_WARNING ? settings->log_level : LOG_WARNING);
}

/*
 * A file of lstopo alone is all that there is: the node that it describes is seldom this one, and
 * addresses of this node's functions may occur in it by chance.
 */
static const char *find_root(const struct rna_call *call)
{
	const char *const *options = call->arguments.options;

	return options[RNA_OPTION_HWLOC_XML] && !options[RNA_OPTION_ROOT]
		       ? rna_root_empty
		       : options[RNA_OPTION_ROOT];
}

uint32_t rna_once_process(const struct rna_call *call)
{
	const char *text = call->arguments.options[RNA_OPTION_PID];
	uint64_t process = 0;

	if (text)
		(void)rna_parse_u64(text, &process); /* the option was checked */
	return (uint32_t)process;
}

int rna_once_poll(struct rna_call *call, struct rna_once *ret, struct rna_error *error)
{
	const char *hwloc_xml = call->arguments.options[RNA_OPTION_HWLOC_XML];
	int status;

	lower_log_level(&call->settings);
	status = rna_agent_new(find_root(call), call->config, &call->settings, &ret->agent, error);
	if (status == 0 && hwloc_xml)
		status = rna_agent_set_hwloc_xml(ret->agent, hwloc_xml, error);
	if (status < 0)
		return status;
	rna_agent_set_inside(ret->agent, rna_once_process(call));
	return rna_agent_collect(ret->agent, &ret->view, error);
}
