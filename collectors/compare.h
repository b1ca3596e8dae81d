/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a part differs from the previous one: the column compare of table.c. old: the previous part
 * of the same collector and device; NULL: new is the first. Thread: any; pure.
 */
#pragma once

#include "rna/collector.h"

#define RNA_COMPARE(name)                                                                          \
	void rna_compare_##name(const struct rna_part *old, const struct rna_part *new,            \
				struct rna_news *ret)

RNA_COMPARE(presences);
RNA_COMPARE(states);
RNA_COMPARE(identities);
RNA_COMPARE(links);
RNA_COMPARE(gids);
RNA_COMPARE(netdevs);
RNA_COMPARE(topologies);
RNA_COMPARE(kernel_logs);
