// SPDX-License-Identifier: Apache-2.0
/* The commands quiesce and resume: requests to the running agent. */
#include <errno.h>

#include "loop/quiesce.h"

#include "commands.h"
#include "control_client.h"

static int write_output(const char *text, size_t len, struct rna_error *error, void *userdata)
{
	(void)userdata;
	return rna_output(text, len, error);
}

static int ask(const struct rna_call *call, const char *request, struct rna_error *error)
{
	const struct rna_control_reader reader = {.output = write_output};
	const char *socket = call->settings.control_socket;
	int status;

	if (!socket[0])
		return rna_error_say(error, -ENOENT,
				     "control.socket is empty: cannot contact the agent");
	status = rna_control_ask(socket, request, &reader, error);
	if (status == -ENOENT || status == -ECONNREFUSED)
		return rna_error_say(error, status,
				     "%s: no agent listens on this socket; is it running?", socket);
	return status;
}

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
	return ask(call, request.data, error);
}

int rna_command_resume(struct rna_call *call, struct rna_error *error)
{
	return ask(call, "resume\n", error);
}
