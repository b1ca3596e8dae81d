/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the users of a device, for the collector resources. */
#pragma once

#include "rna/base/root.h"
#include "rna/model/users.h"

/*
 * Finds the user of each context, which it sets there; contexts->arena is that of the result.
 * before: of the last run, NULL: none. -ENOMEM or 0.
 */
int rna_find_users(const struct rna_root *root, const struct rna_context_list *contexts,
		   const struct rna_users *before, struct rna_users *ret);

/* Finds for whom the process works: one user, or none. In arena. -ENOMEM or 0. */
int rna_find_owner(const struct rna_root *root, uint32_t process, struct rna_arena *arena,
		   struct rna_users *ret);

/*
 * Finds for whom the process works, to whose network namespace a device was given; none if its
 * control group does not say it. In arena. -ENOMEM or 0.
 */
int rna_find_holder(const struct rna_root *root, uint32_t process, struct rna_arena *arena,
		    struct rna_users *ret);
