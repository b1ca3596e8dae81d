// SPDX-License-Identifier: Apache-2.0
#include "once.h"

#include <errno.h>

#include "rna/base/log.h"
#include "rna/base/parse.h"
#include "rna/base/root.h"
#include "rna/base/words.h"
#include "rna/collector.h"

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

/* Of --pid, or that of --pod; 0: none is wanted. */
static int find_process(const struct rna_call *call, const struct rna_agent *agent, uint32_t *ret,
			struct rna_error *error)
{
	const char *pod = call->arguments.options[RNA_OPTION_POD];
	const char *number = call->arguments.options[RNA_OPTION_PID];
	uint64_t process = 0;
	int status;

	if (number)
		(void)rna_parse_u64(number, &process); /* the option was checked */
	*ret = (uint32_t)process;
	if (!pod)
		return 0;
	status = rna_find_pod_process(rna_agent_root(agent), pod, ret);
	if (status == -ESRCH)
		return rna_error_say(error, status,
				     "--pod: no process of a pod \"%.*s\" is on this node",
				     RNA_SHOWN(pod));
	return status < 0 ? rna_error_set(error, status, "cannot find the processes of the pod")
			  : 0;
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
	status = find_process(call, ret->agent, &ret->process, error);
	if (status < 0)
		return status;
	rna_agent_set_inside(ret->agent, ret->process);
	return rna_agent_collect(ret->agent, &ret->view, error);
}
