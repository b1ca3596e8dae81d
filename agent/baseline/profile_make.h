/* SPDX-License-Identifier: Apache-2.0 */
/* The profile of a node as it is: a draft, for people to review. */
#pragma once

#include "rna/model/view.h"

#include "profile.h"

/*
 * Demands what all physical functions of a model have in common. Texts lie in arena, or in the
 * view. 0, or -ENOMEM. Pure.
 */
int rna_profile_make(const struct rna_view *view, struct rna_arena *arena, struct rna_profile *ret);
