// SPDX-License-Identifier: Apache-2.0
/* The command events: ports that went up or down, as the running agent recorded it. */
#include "client.h"
#include "commands.h"

int rna_command_events(struct rna_call *call, struct rna_error *error)
{
	const char *path =
		call->arguments.options[RNA_OPTION_JSON] ? "/api/v1/events" : "/api/v1/events.txt";
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int ret;

	ret = rna_client_get(&call->settings, path, &text, error);
	return ret < 0 ? ret : rna_output_strbuf(&text, error);
}
