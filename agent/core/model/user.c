// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/model/users.h"

/* NULL comes last. */
static int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b;
	return strcmp(a, b);
}

int rna_user_compare(const struct rna_user *a, const struct rna_user *b)
{
	const char *const names[][2] = {
		{a->namespace, b->namespace}, {a->pod, b->pod},
		{a->container, b->container}, {a->job, b->job},
		{a->unit, b->unit},
	};
	int order = 0;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(names) && order == 0; i++)
		order = compare_texts(names[i][0], names[i][1]);
	return order;
}

static void describe_pod(const struct rna_user *user, struct rna_strbuf *out)
{
	if (user->namespace)
		rna_strbuf_printf(out, "pod %s/%s", user->namespace, user->pod);
	else
		rna_strbuf_printf(out, "pod with UID %s", user->pod);
	if (user->container)
		rna_strbuf_printf(out, " (%s)", user->container);
}

static void describe_job(const struct rna_user *user, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "Slurm job %s", user->job);
	if (rna_value_is_known(user->uid))
		rna_strbuf_printf(out, " of user %" PRIu64, user->uid.number);
}

void rna_user_describe(const struct rna_user *user, struct rna_strbuf *out)
{
	if (user->job) {
		describe_job(user, out);
		rna_strbuf_puts(out, user->pod ? " in " : "");
	}
	if (user->pod)
		describe_pod(user, out);
	else if (user->container && !user->job)
		rna_strbuf_printf(out, "container %s", user->container);
	else if (user->unit)
		rna_strbuf_puts(out, user->unit);
}

const struct rna_pod_resource *rna_pod_resource_find(const struct rna_pod_resources *resources,
						     const char *pod_uid, const char *pci_address)
{
	for (size_t i = 0; pod_uid && pci_address && i < resources->count; i++)
		if (strcmp(resources->items[i].pod_uid, pod_uid) == 0 &&
		    strcmp(resources->items[i].device_id, pci_address) == 0)
			return &resources->items[i];
	return NULL;
}

const char *rna_users_relation(const struct rna_users *users)
{
	return users && users->given ? "given to" : "in use by";
}

void rna_users_describe(const struct rna_users *users, struct rna_strbuf *out)
{
	/* two are named: "and 1 other" would be as long */
	const size_t shown = !users ? 0 : users->count > 2 ? 1 : users->count;

	for (size_t i = 0; i < shown; i++) {
		rna_strbuf_puts(out, i > 0 ? " and " : "");
		rna_user_describe(&users->items[i], out);
	}
	if (shown > 0 && shown < users->count)
		rna_strbuf_printf(out, " and %zu others", users->count - shown);
}
