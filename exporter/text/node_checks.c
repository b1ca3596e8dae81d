// SPDX-License-Identifier: Apache-2.0
/*
 * What the command check writes of many nodes. Their answers are claims of others: a node has the
 * name by which it was asked, and one that did not answer has its line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/check.h"

#include "json/json_writer.h"

#include "text_table.h"

/* -- One node ---------------------------------------------------------------------------------- */

int rna_node_check_fill(const struct rna_check *check, struct rna_arena *arena,
			struct rna_node_check *ret)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_finding *worst;

	ret->state = rna_check_state(check);
	ret->answered = !check->failure;
	for (enum rna_severity i = 0; i < RNA_SEVERITY_COUNT; i++)
		ret->counts[i] = rna_finding_count(check->findings, check->count, i);
	worst = rna_finding_headline(check->findings, check->count, ret->state);
	ret->impact = worst ? worst->impact : RNA_IMPACT_COUNT;
	ret->rule = worst ? rna_arena_strdup(arena, worst->rule) : NULL;
	rna_check_write_headline(check, &text);
	ret->headline = rna_strbuf_ok(&text) ? rna_arena_strdup(arena, text.data) : NULL;
	return !ret->headline || (worst && !ret->rule) ? -ENOMEM : 0;
}

/* -- Order ------------------------------------------------------------------------------------- */

/* As rna_health_state_of() has it: what is unknown may be critical, but need not be. */
static const enum rna_health_state worst_first[RNA_HEALTH_STATE_COUNT] = {
	RNA_HEALTH_CRITICAL,
	RNA_HEALTH_UNKNOWN,
	RNA_HEALTH_WARNING,
	RNA_HEALTH_OK,
};

static int rank(enum rna_health_state state)
{
	int i = 0;

	while (worst_first[i] != state)
		i++;
	return i;
}

static int compare(const void *a, const void *b)
{
	const struct rna_node_check *first = a, *second = b;
	int order = rank(first->state) - rank(second->state);

	if (order == 0)
		order = (int)first->impact - (int)second->impact;
	return order != 0 ? order : strcmp(first->node, second->node);
}

void rna_node_checks_sort(struct rna_node_check *nodes, size_t count)
{
	if (count > 0)
		qsort(nodes, count, sizeof(nodes[0]), compare);
}

int rna_node_checks_exit_code(const struct rna_node_check *nodes, size_t count)
{
	return (int)(count > 0 ? nodes[0].state : RNA_HEALTH_UNKNOWN);
}

/* -- The table --------------------------------------------------------------------------------- */

enum { STATE, NODE, CRITICAL, WARNING, HEADLINE, COLUMN_COUNT };

static void write_cell(const struct rna_text_table *table, size_t row, size_t column,
		       struct rna_strbuf *out)
{
	const struct rna_node_check *node = (const struct rna_node_check *)table->userdata + row;

	if (column == STATE)
		rna_strbuf_puts(out, rna_health_state_name(node->state));
	else if (column == NODE)
		rna_strbuf_puts(out, node->node);
	else if (column == HEADLINE)
		rna_strbuf_puts(out, node->headline);
	else if (node->answered)
		rna_strbuf_add_u64(out, node->counts[column == CRITICAL ? RNA_SEVERITY_CRITICAL
									: RNA_SEVERITY_WARNING]);
}

static void write_sums(const struct rna_node_check *nodes, size_t count, struct rna_strbuf *out)
{
	size_t sums[RNA_HEALTH_STATE_COUNT] = {0};

	for (size_t i = 0; i < count; i++)
		sums[nodes[i].state]++;
	rna_strbuf_printf(out, "%zu node%s:", count, count == 1 ? "" : "s");
	for (size_t i = 0; i < RNA_HEALTH_STATE_COUNT; i++)
		rna_strbuf_printf(out, "%s %zu %s", i > 0 ? "," : "", sums[worst_first[i]],
				  rna_health_state_name(worst_first[i]));
	rna_strbuf_add_char(out, '\n');
}

/* -- JSON -------------------------------------------------------------------------------------- */

static json_t *node_object(struct rna_json_writer *writer, const struct rna_node_check *node)
{
	json_t *object = json_object(), *counts = json_object();

	rna_json_set_text(writer, object, "node", node->node);
	rna_json_set_text(writer, object, "address", node->address);
	rna_json_set_text(writer, object, "state", rna_health_state_name(node->state));
	for (enum rna_severity i = 0; i < RNA_SEVERITY_COUNT; i++)
		rna_json_set(writer, counts, rna_severity_name(i),
			     rna_json_number(node->counts[i]));
	if (node->answered)
		rna_json_set(writer, object, "counts", counts);
	else
		json_decref(counts);
	rna_json_set_text(writer, object, "rule", node->rule);
	rna_json_set_text(writer, object, node->answered ? "headline" : "error", node->headline);
	return object;
}

/* -- Both -------------------------------------------------------------------------------------- */

void rna_write_node_checks(const struct rna_node_check *nodes, size_t count, bool json,
			   struct rna_strbuf *out)
{
	struct rna_text_table table = {
		.column_count = COLUMN_COUNT,
		.columns = {[STATE] = {"STATE"},
			    [NODE] = {"NODE"},
			    [CRITICAL] = {"CRITICAL", .right = true},
			    [WARNING] = {"WARNING", .right = true},
			    [HEADLINE] = {"HEADLINE"}},
		.row_count = count,
		.userdata = nodes,
		.cell = write_cell,
	};
	struct rna_json_writer writer = {0};
	json_t *list = json ? json_array() : NULL;

	for (size_t i = 0; json && i < count; i++)
		rna_json_append(&writer, list, node_object(&writer, &nodes[i]));
	if (json) {
		rna_json_write(&writer, list, RNA_JSON_INDENT, out);
		return;
	}
	rna_text_table_write(&table, out);
	write_sums(nodes, count, out);
}
