/* SPDX-License-Identifier: Apache-2.0 */
/* The collect functions in the table; each is in the file of its name. */
#pragma once

#include "rna/collector.h"

/* clang-format off */
#define RNA_COLLECT(name)                                                                          \
	int rna_collect_##name(const struct rna_collect_input *in, struct rna_part **ret,          \
			       struct rna_error *error)
/* clang-format on */

RNA_COLLECT(presence);
RNA_COLLECT(state);
RNA_COLLECT(counters);
RNA_COLLECT(hw_counters);
RNA_COLLECT(identity);
RNA_COLLECT(link);
RNA_COLLECT(gids);
RNA_COLLECT(fabric);
RNA_COLLECT(pcie);
RNA_COLLECT(ethernet);
RNA_COLLECT(resources);
RNA_COLLECT(module);
RNA_COLLECT(qos);
RNA_COLLECT(virtual_functions);
RNA_COLLECT(netdev);
RNA_COLLECT(gateways);
RNA_COLLECT(lldp);
RNA_COLLECT(topology);
RNA_COLLECT(readiness);
RNA_COLLECT(kernel_log);
RNA_COLLECT(process);
