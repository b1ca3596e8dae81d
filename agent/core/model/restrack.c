// SPDX-License-Identifier: Apache-2.0
#include "rna/model/resources.h"

const char *rna_resource_name(enum rna_resource resource)
{
	static const char *const names[RNA_RESOURCE_COUNT] = {
		[RNA_RESOURCE_PD] = "pd",   [RNA_RESOURCE_CQ] = "cq",
		[RNA_RESOURCE_QP] = "qp",   [RNA_RESOURCE_CM_ID] = "cm_id",
		[RNA_RESOURCE_MR] = "mr",   [RNA_RESOURCE_CTX] = "ctx",
		[RNA_RESOURCE_SRQ] = "srq",
	};

	return names[resource];
}

/* Between the two counts a context may have been closed. */
struct rna_value rna_resources_users(const struct rna_resource_counts *counts)
{
	struct rna_value users = counts->of[RNA_RESOURCE_CTX];
	struct rna_value own = counts->own_contexts;

	if (own.state == RNA_VALUE_UNREADABLE)
		return own;
	if (rna_value_is_known(users) && rna_value_is_known(own))
		users.number -= own.number < users.number ? own.number : users.number;
	return users;
}
