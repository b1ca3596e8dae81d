// SPDX-License-Identifier: Apache-2.0
#include "rna/model/node_wish.h"

#include <string.h>

#include "rna/base/parse.h"

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
