// SPDX-License-Identifier: Apache-2.0
/*
 * The command check-config. Its row does not ask for settings: loading them for run tolerates
 * invalid names for Kubernetes, which this command has to report.
 */
#include <unistd.h>

#include "rna/base/clock.h"

#include "config/web_use.h"

#include "commands.h"

static int check_web(const char *path, struct rna_error *error)
{
	RNA_CLEANUP(rna_web_use_close_p) struct rna_web_use *web = NULL;

	return *path ? rna_web_use_open(path, rna_clock_now().realtime, &web, error) : 0;
}

int rna_command_check_config(struct rna_call *call, struct rna_error *error)
{
	const char *path = call->config ? call->config : RNA_CONFIG_DEFAULT;
	bool defaults =
		!call->config && access(path, F_OK) < 0; /* otherwise the check has failed */
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (rna_config_check(call->config, &call->settings, &call->mistakes, error) < 0)
		return RNA_EXIT_USAGE;
	if (check_web(call->settings.http_web_config_file, error) < 0)
		return RNA_EXIT_USAGE;
	rna_strbuf_printf(&text, "%s: ok%s\n", path,
			  defaults ? "; the file does not exist, the defaults apply" : "");
	return rna_output_strbuf(&text, error);
}
