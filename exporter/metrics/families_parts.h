/* SPDX-License-Identifier: Apache-2.0 */
/* What families of several subjects are written with. */
#pragma once

#include "families.h"

static const struct rna_value rna_no_value;

static inline struct rna_value rna_family_yes_or_no(bool yes)
{
	return rna_value_ok(yes ? 1 : 0);
}

/* Gets a value that stands in one of the structs that are joined in a subject. */
#define RNA_FAMILY_MEMBER(name, object, member)                                                    \
	struct rna_value rna_family_##name(const struct rna_subject *subject)                      \
	{                                                                                          \
		return subject->object ? subject->object->member : rna_no_value;                   \
	}
