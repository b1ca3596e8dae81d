// SPDX-License-Identifier: Apache-2.0
/*
 * The command "probe bandwidth": asks the running agent to measure the bandwidth to another node.
 * There is no way without an agent: it knows the other nodes, and answers their calls.
 */
#include <errno.h>
#include <string.h>

#include "commands.h"
#include "control_client.h"

static int ask(const struct rna_call *call, const char *target, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf request = RNA_STRBUF_INIT;

	rna_strbuf_printf(&request, "bandwidth\ntarget=%s\n%s", target,
			  call->arguments.options[RNA_OPTION_JSON] ? "json=\n" : "");
	if (!rna_strbuf_ok(&request))
		return rna_error_set(error, -ENOMEM, "probe bandwidth");
	return rna_control_show(call->settings.control_socket, request.data, error);
}

int rna_command_probe_bandwidth(struct rna_call *call, struct rna_error *error)
{
	const struct rna_arguments *arguments = &call->arguments;

	if (arguments->word_count == 0)
		return rna_error_say(error, -EINVAL, "missing argument NODE[:DEVICE]");
	if (arguments->word_count > 1)
		return rna_error_say(error, -EINVAL, "unexpected argument \"%.64s\"",
				     arguments->words[1]);
	if (strchr(arguments->words[0], '\n'))
		return rna_error_say(error, -EINVAL, "NODE must be one line");
	if (arguments->options[RNA_OPTION_URL] || arguments->options[RNA_OPTION_WIDE])
		return rna_error_say(error, -EINVAL, "--%s: bandwidth does not take this option",
				     arguments->options[RNA_OPTION_URL] ? "url" : "wide");
	if (arguments->options[RNA_OPTION_ROOT])
		return rna_error_say(error, -EINVAL,
				     "--root: a recorded node cannot measure bandwidth");
	return ask(call, arguments->words[0], error);
}
