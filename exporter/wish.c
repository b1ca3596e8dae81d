// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "rna/kubernetes.h"
#include "rna/parse.h"
#include "text.h"

struct rna_node_wish *rna_node_wish_ref(struct rna_node_wish *wish)
{
	if (wish)
		wish->refs++;
	return wish;
}

struct rna_node_wish *rna_node_wish_unref(struct rna_node_wish *wish)
{
	if (wish && --wish->refs == 0)
		(void)rna_arena_free(wish->arena);
	return NULL;
}

static bool same_labels(const struct rna_node_wish *a, const struct rna_node_wish *b)
{
	if (a->labels_decided != b->labels_decided || a->label_count != b->label_count)
		return false;
	for (size_t i = 0; i < a->label_count; i++)
		if (strcmp(a->labels[i].key, b->labels[i].key) != 0 ||
		    !rna_same_text(a->labels[i].value, b->labels[i].value))
			return false;
	return true;
}

static bool same_condition(const struct rna_node_condition *a, const struct rna_node_condition *b)
{
	return strcmp(a->type, b->type) == 0 && a->status == b->status &&
	       rna_same_text(a->reason, b->reason) && rna_same_text(a->message, b->message);
}

static bool same_conditions(const struct rna_node_wish *a, const struct rna_node_wish *b)
{
	if (a->conditions_decided != b->conditions_decided ||
	    a->condition_count != b->condition_count)
		return false;
	for (size_t i = 0; i < a->condition_count; i++)
		if (!same_condition(&a->conditions[i], &b->conditions[i]))
			return false;
	return true;
}

static bool same_taint(const struct rna_node_wish *a, const struct rna_node_wish *b)
{
	return a->taint_decided == b->taint_decided && a->taint == b->taint;
}

bool rna_node_wish_has_same_labels(const struct rna_node_wish *a, const struct rna_node_wish *b)
{
	return a && b ? same_labels(a, b) : a == b;
}

bool rna_node_wish_is_same(const struct rna_node_wish *a, const struct rna_node_wish *b)
{
	if (!a || !b)
		return a == b;
	return same_labels(a, b) && same_conditions(a, b) && same_taint(a, b);
}

const char *rna_node_backend_name(enum rna_node_backend_id id)
{
	static const char *const names[RNA_NODE_BACKEND_COUNT] = {
		[RNA_NODE_BACKEND_API] = "api",
		[RNA_NODE_BACKEND_NFD] = "nfd",
	};

	return names[id];
}

/* -- For people -------------------------------------------------------------------------------- */

static const char *escape_yaml(char c)
{
	if (c == '"')
		return "\\\"";
	return c == '\\' ? "\\\\" : rna_escape_control(c);
}

static void write_text(const char *before, const char *text, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s\"", before);
	rna_text_add(out, text, escape_yaml);
	rna_strbuf_puts(out, "\"\n");
}

static void write_conditions(const struct rna_node_wish *wish, struct rna_strbuf *out)
{
	static const char *const statuses[] = {
		[RNA_CONDITION_FALSE] = "False",
		[RNA_CONDITION_TRUE] = "True",
		[RNA_CONDITION_UNKNOWN] = "Unknown",
	};

	if (wish->condition_count > 0)
		rna_strbuf_puts(out, "status:\n  conditions:\n");
	for (size_t i = 0; i < wish->condition_count; i++) {
		const struct rna_node_condition *condition = &wish->conditions[i];

		if (!condition->message)
			continue;
		rna_strbuf_printf(out, "  - type: %s\n    status: \"%s\"\n    reason: %s\n",
				  condition->type, statuses[condition->status], condition->reason);
		write_text("    message: ", condition->message, out);
	}
}

void rna_node_wish_write(const struct rna_node_wish *wish,
			 const struct rna_kubernetes_options *options, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "apiVersion: v1\nkind: Node\nmetadata:\n");
	if (options->node && *options->node)
		write_text("  name: ", options->node, out);
	rna_strbuf_puts(out, wish->label_count > 0 ? "  labels:\n" : "  labels: {}\n");
	for (size_t i = 0; i < wish->label_count; i++)
		if (wish->labels[i].value)
			rna_strbuf_printf(out, "    %s: \"%s\"\n", wish->labels[i].key,
					  wish->labels[i].value);
	if (wish->taint) {
		rna_strbuf_puts(out, "spec:\n  taints:\n");
		rna_strbuf_printf(out, "  - key: %s\n    effect: %s\n", options->taint_key,
				  options->taint_effect);
	}
	write_conditions(wish, out);
}
