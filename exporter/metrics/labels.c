// SPDX-License-Identifier: Apache-2.0
/*
 * Prepared label text.
 *
 * Nodes, devices and ports change with snapshot->device_set. The jobs do nearly so, but a stalled
 * one may outlive its device; so they are compared by name, which is cheaper than writing them.
 */
#include "labels.h"

#include <errno.h>

#include "rna/base/project.h"

#include "exposition.h"
#include "families.h"

enum { LABELS_USUAL = 64 }; /* bytes of text; what needs more makes the arena grow */

struct prepared {
	struct rna_span labels;
	struct rna_span info;
	enum rna_collector_id collector; /* of a job */
	const char *device;
};

struct prepared_list {
	size_t count;
	struct prepared *items;
	struct rna_arena *arena; /* owns items and their text */
};

struct rna_label_store {
	uint64_t device_set;
	struct prepared_list scopes[RNA_SCOPE_COUNT];
};

struct rna_label_store *rna_label_store_new(void)
{
	return calloc(1, sizeof(struct rna_label_store));
}

static void drop(struct prepared_list *list)
{
	(void)rna_arena_free(list->arena);
	*list = (struct prepared_list){0};
}

static void drop_all(struct rna_label_store *store)
{
	for (size_t scope = 0; scope < RNA_SCOPE_COUNT; scope++)
		drop(&store->scopes[scope]);
}

struct rna_label_store *rna_label_store_free(struct rna_label_store *store)
{
	if (store)
		drop_all(store);
	free(store);
	return NULL;
}

static void add_name(struct rna_strbuf *out, const struct rna_subject *subject)
{
	if (subject->job) {
		rna_label_add(out, "collector", subject->job->name);
		rna_label_add(out, "device", subject->job->device);
	}
	if (subject->device)
		rna_label_add(out, "device", subject->rdma_device->name);
	if (subject->port)
		rna_label_add_number(out, "port", subject->port);
}

static void add_facts(struct rna_strbuf *out, const struct rna_subject *subject,
		      enum rna_scope scope)
{
	const struct rna_family_table *table = rna_family_table_of(scope);

	if (scope == RNA_SCOPE_NODE)
		rna_label_add(out, "version", RNA_VERSION);
	if (table)
		rna_family_add_labels(table, true, subject, out);
}

static int prepare(struct rna_arena *arena, const struct rna_subject *subject, enum rna_scope scope,
		   struct rna_strbuf *scratch, struct prepared *ret)
{
	scratch->len = 0;
	add_name(scratch, subject);
	if (rna_span_keep(arena, scratch, &ret->labels) < 0)
		return -ENOMEM;
	if (subject->job) { /* there are thousands, and no more is known of them */
		ret->info = ret->labels;
		ret->collector = subject->job->collector;
		ret->device = rna_arena_strdup(arena, subject->job->device);
		return ret->device ? 0 : -ENOMEM;
	}
	add_facts(scratch, subject, scope);
	return rna_span_keep(arena, scratch, &ret->info);
}

static int prepare_list(struct prepared_list *list, const struct rna_subject_list *subjects,
			enum rna_scope scope)
{
	RNA_STRBUF struct rna_strbuf scratch = RNA_STRBUF_INIT;
	size_t guess = subjects->count * (sizeof(*list->items) + LABELS_USUAL) + 256;

	drop(list);
	list->arena = rna_arena_new(guess);
	if (!list->arena)
		return -ENOMEM;
	list->items = rna_arena_array(list->arena, subjects->count, sizeof(*list->items));
	if (!list->items && subjects->count > 0)
		return -ENOMEM;
	for (size_t i = 0; i < subjects->count; i++)
		if (prepare(list->arena, &subjects->items[i], scope, &scratch, &list->items[i]) < 0)
			return -ENOMEM;
	list->count = subjects->count;
	return 0;
}

static bool same_jobs(const struct prepared_list *list, const struct rna_subject_list *jobs)
{
	return !RNA_ANY(i, jobs->count,
			list->items[i].collector != jobs->items[i].job->collector ||
				strcmp(list->items[i].device, jobs->items[i].job->device) != 0);
}

static bool is_stale(const struct rna_label_store *store, enum rna_scope scope,
		     const struct rna_subject_list *subjects, uint64_t device_set)
{
	const struct prepared_list *list = &store->scopes[scope];

	if (!list->arena || list->count != subjects->count)
		return true;
	if (scope == RNA_SCOPE_JOB)
		return !same_jobs(list, subjects);
	return store->device_set != device_set;
}

static size_t count_subjects(const struct rna_view *view, enum rna_scope scope)
{
	if (scope == RNA_SCOPE_GID)
		return view->metrics.gid_info ? rna_subjects_of_gids(view, NULL) : 0;
	if (scope == RNA_SCOPE_JOB)
		return view->metrics.all_jobs ? view->job_count : 0;
	return view->subjects->scopes[scope].count;
}

/* Writes count of them to items. */
static void copy_subjects(const struct rna_view *view, enum rna_scope scope, size_t count,
			  struct rna_subject *items)
{
	if (count == 0)
		return;
	if (scope == RNA_SCOPE_GID)
		(void)rna_subjects_of_gids(view, items);
	else if (scope != RNA_SCOPE_JOB)
		memcpy(items, view->subjects->scopes[scope].items, count * sizeof(*items));
	for (size_t i = 0; scope == RNA_SCOPE_JOB && i < count; i++)
		items[i] = rna_subject_of_job(view, i);
}

/* Copies, for labels to be put into. */
static struct rna_subject *list_subjects(const struct rna_view *view, struct rna_subjects *ret)
{
	struct rna_subject *memory, *next;
	size_t count = 0;

	for (enum rna_scope scope = 0; scope < RNA_SCOPE_COUNT; scope++) {
		ret->scopes[scope].count = count_subjects(view, scope);
		count += ret->scopes[scope].count;
	}
	next = memory = reallocarray(NULL, count, sizeof(*memory)); /* there is the node */
	for (enum rna_scope scope = 0; memory && scope < RNA_SCOPE_COUNT; scope++) {
		ret->scopes[scope].items = next;
		copy_subjects(view, scope, ret->scopes[scope].count, next);
		next += ret->scopes[scope].count;
	}
	return memory;
}

int rna_label_store_apply(struct rna_label_store *store, const struct rna_view *view,
			  struct rna_subjects *ret, struct rna_subject **ret_memory)
{
	uint64_t device_set = view->snapshot->device_set;
	struct rna_subject *next = list_subjects(view, ret);

	*ret_memory = next;
	if (!next)
		return -ENOMEM;
	for (enum rna_scope scope = 0; scope < RNA_SCOPE_COUNT; scope++) {
		const struct rna_subject_list *list = &ret->scopes[scope];
		struct prepared_list *prepared = &store->scopes[scope];

		if (is_stale(store, scope, list, device_set) &&
		    prepare_list(prepared, list, scope) < 0) {
			drop_all(store);
			return -ENOMEM;
		}
		for (size_t i = 0; i < list->count; i++, next++) {
			next->labels = prepared->items[i].labels;
			next->info = prepared->items[i].info;
		}
	}
	store->device_set = device_set;
	return 0;
}
