// SPDX-License-Identifier: Apache-2.0
/*
 * Output of the commands env and nccl: lines for a shell, a file for docker --env-file, the env of
 * a container in YAML, and JSON. Reasons are comments above the variables. In each format a comment
 * ends with its line, so line breaks in texts are replaced.
 */
#include "rna/exporter.h"

#include "json/json_writer.h"
#include "view/text.h"

/* -- Text forms -------------------------------------------------------------------------------- */

static const char *escape_shell(char c)
{
	return c == '\'' ? "'\\''" : NULL;
}

/* YAML 1.2, 5.7: escapes in double quotes; control characters do not occur. */
static const char *escape_yaml(char c)
{
	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	default:
		return NULL;
	}
}

struct form {
	const char *head;   /* behind the warnings */
	const char *indent; /* of comments and variables */
	const char *before; /* the name */
	const char *between;
	const char *after; /* the value */
	rna_escape *escape;
};

static const struct form forms[] = {
	[RNA_ENV_FORM_SHELL] = {"", "", "export ", "='", "'\n", escape_shell},
	[RNA_ENV_FORM_ENV] = {"", "", "", "=", "\n", NULL},
	[RNA_ENV_FORM_YAML] = {"env:\n", "  ", "- name: ", "\n    value: \"", "\"\n", escape_yaml},
};

static void write_comment(const char *indent, const char *kind, const char *text,
			  struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s# %s", indent, kind);
	rna_text_add(out, text, NULL);
	rna_strbuf_add_char(out, '\n');
}

static void write_left_out(const struct rna_env_left_out *left_out, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "# left out: ");
	for (size_t i = 0; i < left_out->count; i++) {
		rna_strbuf_puts(out, i > 0 ? ", " : "");
		rna_text_add(out, left_out->ports[i], NULL);
	}
	rna_strbuf_puts(out, " (");
	rna_text_add(out, left_out->reason, NULL);
	rna_strbuf_puts(out, ")\n");
}

static void write_variable(const struct rna_env_variable *variable, const struct form *form,
			   struct rna_strbuf *out)
{
	write_comment(form->indent, "", variable->reason, out);
	rna_strbuf_printf(out, "%s%s%s%s", form->indent, form->before, variable->name,
			  form->between);
	rna_text_add(out, variable->value, form->escape);
	rna_strbuf_puts(out, form->after);
}

static void write_text(const struct rna_env_advice *advice, const struct form *form,
		       struct rna_strbuf *out)
{
	for (size_t i = 0; i < advice->warning_count; i++)
		write_comment("", "warning: ", advice->warnings[i], out);
	for (size_t i = 0; i < advice->left_out_count; i++)
		write_left_out(&advice->left_out[i], out);
	rna_strbuf_puts(out, form->head);
	for (size_t i = 0; i < advice->variable_count; i++)
		write_variable(&advice->variables[i], form, out);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static json_t *variable_object(struct rna_json_writer *writer,
			       const struct rna_env_variable *variable)
{
	json_t *object = json_object();

	rna_json_set_text(writer, object, "name", variable->name);
	rna_json_set_text(writer, object, "value", variable->value);
	rna_json_set_text(writer, object, "reason", variable->reason);
	return object;
}

static json_t *left_out_object(struct rna_json_writer *writer,
			       const struct rna_env_left_out *left_out)
{
	json_t *object = json_object(), *ports = json_array();

	for (size_t i = 0; i < left_out->count; i++)
		rna_json_append(writer, ports, rna_json_text(writer, left_out->ports[i]));
	rna_json_set(writer, object, "ports", ports);
	rna_json_set_text(writer, object, "reason", left_out->reason);
	return object;
}

static void write_json(const struct rna_env_advice *advice, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *object = json_object(), *variables = json_array(), *left_out = json_array(),
	       *warnings = json_array();

	for (size_t i = 0; i < advice->variable_count; i++)
		rna_json_append(&writer, variables,
				variable_object(&writer, &advice->variables[i]));
	for (size_t i = 0; i < advice->left_out_count; i++)
		rna_json_append(&writer, left_out, left_out_object(&writer, &advice->left_out[i]));
	for (size_t i = 0; i < advice->warning_count; i++)
		rna_json_append(&writer, warnings, rna_json_text(&writer, advice->warnings[i]));
	rna_json_set(&writer, object, "variables", variables);
	rna_json_set(&writer, object, "left_out", left_out);
	rna_json_set(&writer, object, "warnings", warnings);
	rna_json_write(&writer, object, RNA_JSON_INDENT, out);
}

void rna_write_env(const struct rna_env_advice *advice, enum rna_env_form form,
		   struct rna_strbuf *out)
{
	if (form == RNA_ENV_FORM_JSON)
		write_json(advice, out);
	else
		write_text(advice, &forms[form], out);
}

/* -- A running job ----------------------------------------------------------------------------- */

void rna_write_env_check(const struct rna_env_check *check, const struct rna_env_advice *advice,
			 struct rna_strbuf *out)
{
	static const char *const words[] = {
		[RNA_ENV_RIGHT] = "ok",        [RNA_ENV_WRONG] = "wrong",
		[RNA_ENV_MISSING] = "missing", [RNA_ENV_EXTRA] = "extra",
		[RNA_ENV_UNKNOWN] = "unknown",
	};

	for (size_t i = 0; i < check->count; i++) {
		rna_strbuf_printf(out, "%-8s ", words[check->lines[i].verdict]);
		rna_text_add(out, check->lines[i].name, NULL);
		rna_strbuf_add_char(out, ' ');
		rna_text_add(out, check->lines[i].text, NULL);
		rna_strbuf_add_char(out, '\n');
	}
	for (size_t i = 0; i < advice->warning_count; i++) {
		rna_strbuf_puts(out, "warning  ");
		rna_text_add(out, advice->warnings[i], NULL);
		rna_strbuf_add_char(out, '\n');
	}
}
