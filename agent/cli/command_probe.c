// SPDX-License-Identifier: Apache-2.0
/*
 * The command probe: what the running agent knows of probes between nodes. The JSON of the agent
 * has the result as one word, which becomes the exit code; the tables are another document of the
 * agent. Its action bandwidth asks the agent to measure the bandwidth to another node: the agent
 * knows the other nodes, and answers their calls.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/json_document.h"
#include "rna/model/probe.h"

#include "client.h"
#include "commands.h"
#include "control_client.h"

const char *const rna_probe_actions[] = {"bandwidth", NULL};

/* enum rna_probes_result, whose numbers are the exit codes. */
static int read_result(const struct rna_strbuf *json, struct rna_error *error)
{
	/* a pair takes some 10 KiB */
	static const struct rna_json_limits limits = {.memory = 64 << 20, .levels = 16};
	RNA_CLEANUP(rna_json_free_p) json_t *document = NULL;
	const char *word;
	int status;

	status = rna_json_parse(json->data ? json->data : "", json->len, &limits, &document, NULL);
	if (status == -ENOMEM)
		return rna_error_set(error, status, "probes");
	word = json_string_value(json_object_get(document, "result"));
	for (enum rna_probes_result i = 0; word && i < RNA_PROBES_RESULT_COUNT; i++)
		if (strcmp(word, rna_probes_result_name(i)) == 0)
			return (int)i;
	return rna_error_say(error, -EBADMSG, "cannot read the reply of the agent");
}

/* -- Bandwidth --------------------------------------------------------------------------------- */

static int check_target(const struct rna_arguments *arguments, struct rna_error *error)
{
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
	return 0;
}

static int measure(const struct rna_call *call, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf request = RNA_STRBUF_INIT;

	if (check_target(&call->arguments, error) < 0)
		return RNA_EXIT_USAGE;
	rna_strbuf_printf(&request, "bandwidth\ntarget=%s\n%s", call->arguments.words[0],
			  call->arguments.options[RNA_OPTION_JSON] ? "json=\n" : "");
	if (!rna_strbuf_ok(&request))
		return rna_error_set(error, -ENOMEM, "probe bandwidth");
	return rna_control_show(call->settings.control_socket, request.data, error);
}

/* -- The command ------------------------------------------------------------------------------- */

int rna_command_probe(struct rna_call *call, struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	RNA_STRBUF struct rna_strbuf json = RNA_STRBUF_INIT, table = RNA_STRBUF_INIT;
	const char *path =
		options[RNA_OPTION_WIDE] ? "/api/v1/probes-wide.txt" : "/api/v1/probes.txt";
	int result = -1, status;

	if (call->arguments.operand)
		return measure(call, error); /* there is no other action */
	status = rna_client_get(call, "/api/v1/probes", &json, error);
	if (status == 0)
		status = result = read_result(&json, error);
	if (status >= 0 && !options[RNA_OPTION_JSON])
		status = rna_client_get(call, path, &table, error);
	if (status >= 0)
		status = rna_output_strbuf(options[RNA_OPTION_JSON] ? &json : &table, error);
	return status < 0 ? status : result;
}
