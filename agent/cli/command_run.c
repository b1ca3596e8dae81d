// SPDX-License-Identifier: Apache-2.0
/* The command run: the daemon. */
#include <sys/resource.h>
#include <unistd.h>

#include "rna/base/log.h"
#include "rna/base/project.h"

#include "config/web_config.h"
#include "loop/agent.h"

#include "commands.h"

/*
 * On a large node, readers keep thousands of attribute files open, more than the usual soft limit
 * of 1024, which exists for programs that use select(2).
 */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit); /* with the soft limit, reading is slower */
	}
}

static void announce(const struct rna_call *call)
{
	const char *root = call->arguments.options[RNA_OPTION_ROOT];
	const char *config = call->config ? call->config : RNA_CONFIG_DEFAULT;

	if (!call->config && access(config, F_OK) < 0)
		config = "built in";
	rna_log_info("rdma-node-agent " RNA_VERSION " starts, root %s, configuration %s",
		     root ? root : "/", config);
}

int rna_command_run(struct rna_call *call, struct rna_error *error)
{
	RNA_CLEANUP(rna_agent_free_p) struct rna_agent *agent = NULL;
	int ret;

	if (rna_web_config_check(call->settings.http_web_config_file, rna_clock_now().realtime,
				 error) < 0)
		return RNA_EXIT_USAGE; /* as any other mistake of the configuration */
	raise_descriptor_limit();
	rna_log_set_level(call->settings.log_level);
	announce(call);
	ret = rna_agent_new(call->arguments.options[RNA_OPTION_ROOT], call->config, &call->settings,
			    &agent, error);
	if (ret < 0)
		return ret;
	rna_agent_set_overrides(agent, call->arguments.overrides);
	return rna_agent_run(agent, error);
}
