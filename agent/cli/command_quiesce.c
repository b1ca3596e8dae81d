// SPDX-License-Identifier: Apache-2.0
/* The commands quiesce and resume: requests to the running agent. */
#include <errno.h>

#include "loop/quiesce.h"

#include "commands.h"
#include "control_client.h"

int rna_command_quiesce(struct rna_call *call, struct rna_error *error)
{
	const char *timeout = call->arguments.options[RNA_OPTION_TIMEOUT];
	RNA_STRBUF struct rna_strbuf request = RNA_STRBUF_INIT;
	rna_usec ignored;

	if (timeout && rna_quiesce_read_timeout(timeout, &ignored, error) < 0)
		return RNA_EXIT_USAGE;
	rna_strbuf_puts(&request, "quiesce\n");
	if (timeout)
		rna_strbuf_printf(&request, "timeout=%s\n", timeout);
	if (!rna_strbuf_ok(&request))
		return rna_error_set(error, -ENOMEM, "quiesce");
	return rna_control_show(call->settings.control_socket, request.data, error);
}

int rna_command_resume(struct rna_call *call, struct rna_error *error)
{
	return rna_control_show(call->settings.control_socket, "resume\n", error);
}
