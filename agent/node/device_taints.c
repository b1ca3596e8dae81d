// SPDX-License-Identifier: Apache-2.0
#include "device_taints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/virtual_functions.h"

#include "node_conditions.h"

#define PREFIX "device:"

enum { BAD, GOOD };

bool rna_device_taints_own(const char *name)
{
	return strncmp(name, PREFIX, strlen(PREFIX)) == 0;
}

/* The rule of a finding that gives its device a taint; NULL: it gives none. */
static const struct rna_rule *tainting_rule(const struct rna_finding *finding,
					    const struct rna_settings *settings)
{
	enum rna_taint_when when = (enum rna_taint_when)settings->kubernetes_taint_when;

	/* A device that is lost need not be the last one. */
	if (when == RNA_TAINT_WHEN_NODE_LOST)
		when = RNA_TAINT_WHEN_CRITICAL;
	return finding->device && rna_finding_takes_node(finding, when)
		       ? rna_condition_rule_of(finding)
		       : NULL;
}

/* That of the worst finding about the device; NULL: there is none. */
static const struct rna_rule *rule_against(const struct rna_desired_input *in, const char *device)
{
	const struct rna_rule *rule = NULL;

	for (size_t i = 0; i < in->view->finding_count && !rule; i++)
		if (rna_finding_is_about(&in->view->findings[i], device))
			rule = tainting_rule(&in->view->findings[i], in->settings);
	return rule;
}

/* Have all problems been found that could give a device a taint? */
static bool has_settled(const struct rna_desired_input *in)
{
	return in->settled & RNA_CONDITION_BIT(RNA_CONDITION_NONE);
}

/* Has the problem for which it has its taint had the time to be found again? */
static bool may_be_over(const struct rna_published *published, const struct rna_desired_input *in)
{
	size_t id = rna_rule_find(published->verdict.value);

	return id < RNA_RULE_COUNT ? in->settled & RNA_CONDITION_BIT(rna_rules[id]->condition)
				   : has_settled(in);
}

/* Another rule for the same device is no news: the first stays while there is one. */
static bool follow(struct rna_published *published, const struct rna_desired_input *in,
		   const struct rna_node_delays *delays)
{
	const struct rna_rule *rule = rule_against(in, published->name + strlen(PREFIX));
	struct rna_node_verdict verdict = {.kind = RNA_VERDICT_NONE, .rank = GOOD};

	if (!rule && !may_be_over(published, in)) {
		rna_published_suspend(published);
		return false;
	}
	if (rule && published->decided && published->verdict.kind == RNA_VERDICT_VALUE)
		verdict = published->verdict;
	else if (rule) {
		verdict = (struct rna_node_verdict){
			.kind = RNA_VERDICT_VALUE,
			.bad = true,
			.rank = BAD,
		};
		(void)rna_label_value_make(rule->name, verdict.value);
	}
	return rna_published_follow(published, &verdict, NULL, delays, in->view->snapshot->time);
}

static bool find_device(struct rna_node_memory *memory, const char *device)
{
	RNA_STRBUF struct rna_strbuf name = RNA_STRBUF_INIT;

	rna_strbuf_printf(&name, PREFIX "%s", device);
	return rna_strbuf_ok(&name) && rna_published_find(memory, name.data);
}

/* Devices against which there is something for the first time. */
static bool find_new(struct rna_node_memory *memory, const struct rna_desired_input *in)
{
	RNA_EACH (finding, in->view->findings, in->view->finding_count) {
		if (!tainting_rule(finding, in->settings))
			continue;
		if (!find_device(memory, finding->device))
			return false;
		for (size_t k = 0; k < finding->other_count; k++)
			if (!find_device(memory, finding->others[k]))
				return false;
	}
	return true;
}

int rna_device_taints_follow(struct rna_node_memory *memory, const struct rna_desired_input *in,
			     const struct rna_node_delays *delays)
{
	bool changed = false;

	if (!find_new(memory, in))
		return -ENOMEM;
	for (size_t i = 0; i < memory->count; i++)
		if (rna_device_taints_own(memory->items[i].name))
			changed |= follow(&memory->items[i], in, delays);
	return changed;
}

bool rna_device_taints_forget(struct rna_node_memory *memory)
{
	bool changed = false;

	for (size_t i = 0; i < memory->count; i++)
		if (rna_device_taints_own(memory->items[i].name))
			changed |= rna_published_forget(memory, memory->items[i].name);
	return changed;
}

/* -- The desired state ------------------------------------------------------------------------- */

static bool add_functions(const struct rna_virtual_functions *functions, struct rna_arena *arena,
			  struct rna_node_device_taint *ret)
{
	size_t count = functions ? functions->count : 0;
	bool failed = false;

	ret->functions = rna_arena_array(arena, count, sizeof(*ret->functions));
	for (size_t i = 0; ret->functions && i < count; i++)
		if (functions->functions[i].pci_address)
			ret->functions[ret->function_count++] =
				rna_arena_keep(arena, functions->functions[i].pci_address, &failed);
	return ret->functions && !failed;
}

/*
 * The PCI address of a device, also of one that is missing; a function without an RDMA device is
 * called by it. NULL: unknown.
 */
static const char *address_of(const char *name, const struct rna_snapshot_device *device,
			      const struct rna_view *view)
{
	if (device)
		return device->device->pci_address;
	for (size_t i = 0; i < view->missing_count; i++)
		if (strcmp(view->missing[i].name, name) == 0)
			return view->missing[i].pci_address;
	return rna_pci_is_address(name, strlen(name)) ? name : NULL;
}

static bool add_device(const struct rna_published *published, const struct rna_view *view,
		       struct rna_arena *arena, struct rna_node_device_taint *ret)
{
	const char *name = published->name + strlen(PREFIX);
	const struct rna_snapshot_device *device = rna_snapshot_find(view->snapshot, name);
	bool failed = false;

	ret->device = rna_arena_keep(arena, name, &failed);
	ret->reason = rna_arena_keep(arena, published->verdict.value, &failed);
	ret->pci_address = rna_arena_keep(arena, address_of(name, device, view), &failed);
	if (!device)
		return !failed;
	return add_functions(rna_device_virtual_functions(device), arena, ret) && !failed;
}

/* Of what only a former agent saw, the rules are there, and stay until it is seen or not. */
static bool is_bad(const struct rna_published *published)
{
	return rna_device_taints_own(published->name) && published->decided &&
	       published->confirmed && published->verdict.kind == RNA_VERDICT_VALUE;
}

bool rna_device_taints_add(const struct rna_node_memory *memory, const struct rna_desired_input *in,
			   struct rna_desired_node *desired)
{
	struct rna_node_device_taint *list =
		rna_arena_array(desired->arena, memory->count, sizeof(*list));
	bool ok = list;

	for (size_t i = 0; ok && i < memory->count; i++)
		if (is_bad(&memory->items[i]))
			ok = add_device(&memory->items[i], in->view, desired->arena,
					&list[desired->device_taint_count++]);
	if (!ok)
		return false;
	qsort(list, desired->device_taint_count, sizeof(*list), rna_compare_text_items);
	desired->device_taints = list;
	desired->device_taints_complete = has_settled(in);
	return true;
}
