// SPDX-License-Identifier: Apache-2.0
/* The command record: make a recorded machine from this node, for a bug report or a test. */
#include "rna/base/log.h"
#include "rna/base/root.h"
#include "rna/model/log_site.h"
#include "rna/record.h"

#include "commands.h"

/* The same as for a collector. */
#define DEADLINE (5 * RNA_USEC_PER_SEC)

static void warn(const char *line)
{
	rna_log_warning("%s", line);
}

int rna_command_record(struct rna_call *call, struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	const struct rna_record_options choices = {
		.directory = call->arguments.operand,
		.keep_identity = options[RNA_OPTION_KEEP_IDENTITY],
		.deadline = DEADLINE,
		.tell = warn,
	};
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_record_result result;
	int ret;

	ret = rna_root_open(options[RNA_OPTION_ROOT], &root, error);
	if (ret < 0)
		return ret;
	ret = rna_log_site_set(call->settings.kernel_log_patterns);
	if (ret < 0)
		return rna_error_set(error, ret, "cannot make kernel_log.patterns");
	ret = rna_record(root, &choices, &result, error);
	if (ret < 0)
		return ret;
	rna_strbuf_printf(&text, "%s: %zu devices, %zu files, %zu unreadable\n", choices.directory,
			  result.devices, result.files, result.unreadable);
	return rna_output_strbuf(&text, error);
}
