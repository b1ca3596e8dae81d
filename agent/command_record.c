// SPDX-License-Identifier: Apache-2.0
/* The command record: a machine from this node, for a bug report or a test. */
#include "commands.h"

#include "rna/record.h"
#include "rna/root.h"

int rna_command_record(struct rna_call *call, struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	const char *directory = call->arguments.operand;
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_record_result result;
	int ret;

	ret = rna_root_open(options[RNA_OPTION_ROOT], &root, error);
	if (ret < 0)
		return ret;
	ret = rna_record(root, directory, options[RNA_OPTION_KEEP_IDENTITY], &result, error);
	if (ret < 0)
		return ret;
	rna_strbuf_printf(&text, "%s: %zu devices, %zu files, %zu unreadable\n", directory,
			  result.devices, result.files, result.unreadable);
	return rna_output_strbuf(&text, error);
}
