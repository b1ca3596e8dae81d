// SPDX-License-Identifier: Apache-2.0
#include "rna/model/desired_node.h"

#include <string.h>

#include "rna/base/parse.h"

struct rna_desired_node *rna_desired_node_ref(struct rna_desired_node *desired)
{
	if (desired)
		atomic_fetch_add(&desired->refs, 1);
	return desired;
}

struct rna_desired_node *rna_desired_node_unref(struct rna_desired_node *desired)
{
	if (desired && atomic_fetch_sub(&desired->refs, 1) == 1)
		(void)rna_arena_free(desired->arena);
	return NULL;
}

static bool same_labels(const struct rna_desired_node *a, const struct rna_desired_node *b)
{
	if (a->labels_decided != b->labels_decided || a->label_count != b->label_count)
		return false;
	return !RNA_ANY(i, a->label_count,
			strcmp(a->labels[i].key, b->labels[i].key) != 0 ||
				!rna_same_text(a->labels[i].value, b->labels[i].value));
}

static bool same_condition(const struct rna_node_condition *a, const struct rna_node_condition *b)
{
	return strcmp(a->type, b->type) == 0 && a->status == b->status &&
	       rna_same_text(a->reason, b->reason) && rna_same_text(a->message, b->message);
}

static bool same_conditions(const struct rna_desired_node *a, const struct rna_desired_node *b)
{
	if (a->conditions_decided != b->conditions_decided ||
	    a->condition_count != b->condition_count)
		return false;
	return RNA_ALL(i, a->condition_count, same_condition(&a->conditions[i], &b->conditions[i]));
}

static bool same_taint(const struct rna_desired_node *a, const struct rna_desired_node *b)
{
	return a->taint_decided == b->taint_decided && a->taint == b->taint;
}

bool rna_desired_node_has_same_labels(const struct rna_desired_node *a,
				      const struct rna_desired_node *b)
{
	return a && b ? same_labels(a, b) : a == b;
}

static bool is_same_device(const struct rna_node_device_taint *a,
			   const struct rna_node_device_taint *b)
{
	if (!rna_same_text(a->device, b->device) || !rna_same_text(a->reason, b->reason) ||
	    !rna_same_text(a->pci_address, b->pci_address) ||
	    a->function_count != b->function_count)
		return false;
	return !RNA_ANY(i, a->function_count, strcmp(a->functions[i], b->functions[i]) != 0);
}

static bool same_device_taints(const struct rna_desired_node *a, const struct rna_desired_node *b)
{
	if (a->device_taints_complete != b->device_taints_complete ||
	    a->device_taint_count != b->device_taint_count)
		return false;
	return RNA_ALL(i, a->device_taint_count,
		       is_same_device(&a->device_taints[i], &b->device_taints[i]));
}

bool rna_desired_node_is_same(const struct rna_desired_node *a, const struct rna_desired_node *b)
{
	if (!a || !b)
		return a == b;
	return same_labels(a, b) && same_conditions(a, b) && same_taint(a, b) &&
	       same_device_taints(a, b);
}
