// SPDX-License-Identifier: Apache-2.0
/*
 * The command check: the findings of the agent that runs on this node, for people and for systems
 * that run monitoring plugins. With --once or --root the command polls by itself, once, and so
 * cannot know which counters rise and since when.
 */
#include <errno.h>

#include "rna/exporter.h"

#include "client.h"
#include "commands.h"
#include "once.h"

enum { CHECK_OK, CHECK_WARNING, CHECK_CRITICAL };

/* The findings; their texts are in the arena, or in the view. */
struct checked {
	struct rna_once once;
	struct rna_arena *arena;
	struct rna_strbuf json;
	const struct rna_finding *findings;
	size_t count;
};

static void deinit_checked(struct checked *checked)
{
	rna_once_deinit(&checked->once);
	rna_strbuf_deinit(&checked->json);
	(void)rna_arena_free(checked->arena);
}

static int ask(const struct rna_call *call, struct checked *ret, struct rna_error *error)
{
	struct rna_finding *findings;
	ssize_t count = -ENOMEM;
	int status;

	status = rna_client_get(&call->settings, "/api/v1/findings", &ret->json, error);
	if (status < 0)
		return status;
	ret->arena = rna_arena_new(ret->json.len);
	if (ret->arena && ret->json.data)
		count = rna_read_findings(ret->json.data, ret->json.len, ret->arena, &findings);
	if (count < 0)
		return rna_error_set(error, (int)count, "cannot read the reply of the agent");
	ret->findings = findings;
	ret->count = (size_t)count;
	return 0;
}

static int get_findings(struct rna_call *call, struct checked *ret, struct rna_error *error)
{
	int status = rna_once_poll(call, &ret->once, error);

	if (status < 0)
		return status;
	if (ret->once.view->findings_short)
		return rna_error_set(error, -ENOMEM, "not enough memory to find all findings");
	rna_write_findings(ret->once.view, &ret->json);
	ret->findings = ret->once.view->findings;
	ret->count = ret->once.view->finding_count;
	return 0;
}

int rna_command_check(struct rna_call *call, struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	bool once = options[RNA_OPTION_ONCE] || options[RNA_OPTION_ROOT];
	RNA_CLEANUP(deinit_checked) struct checked checked = {0};
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int status;

	status = once ? get_findings(call, &checked, error) : ask(call, &checked, error);
	if (status < 0)
		return status;
	rna_write_check(checked.findings, checked.count, once, &text);
	status = rna_output_strbuf(options[RNA_OPTION_JSON] ? &checked.json : &text, error);
	if (status < 0)
		return status;
	if (rna_finding_count(checked.findings, checked.count, RNA_SEVERITY_CRITICAL) > 0)
		return CHECK_CRITICAL;
	if (rna_finding_count(checked.findings, checked.count, RNA_SEVERITY_WARNING) > 0)
		return CHECK_WARNING;
	return CHECK_OK;
}
