/* SPDX-License-Identifier: Apache-2.0 */
/* The devices and ports of a view, joined for rules with all that is known of each. */
#pragma once

#include "rules.h"

/* *ret, to be freed, without their past; each device in front of its ports. Count, or -ENOMEM. */
ssize_t rna_rule_subjects_new(const struct rna_view *view, const struct rna_settings *settings,
			      struct rna_rule_subject **ret);
