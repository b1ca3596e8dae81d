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

/* How a collector makes its part. */
struct rna_part_plan {
	enum rna_collector_id id;
	size_t size;         /* of the part */
	size_t room;         /* for what it points to; the arena grows beyond that */
	size_t scratch;      /* likewise, of an arena that ends with the run; 0: there is none */
	const char *failure; /* "cannot read link"; the name of the device is put in front */
	/* Reads what there is. 0, or negative errno if it read nothing useful. */
	int (*read)(const struct rna_collect_input *in, struct rna_part *part,
		    struct rna_arena *scratch);
};

int rna_collect(const struct rna_part_plan *plan, const struct rna_collect_input *in,
		struct rna_part **ret, struct rna_error *error);

/* Defines the function of a row. call: of a function that reads, by in, part and scratch. */
/* clang-format off */
#define RNA_DEFINE_COLLECT(name, ID, type, part_room, scratch_room, text, call)                    \
	static int read_part(const struct rna_collect_input *in, struct rna_part *base,            \
			     struct rna_arena *scratch)                                            \
	{                                                                                          \
		type *part = (type *)base;                                                         \
                                                                                                   \
		(void)in, (void)scratch; /* some need neither */                                   \
		return call;                                                                       \
	}                                                                                          \
                                                                                                   \
	RNA_COLLECT(name)                                                                          \
	{                                                                                          \
		const struct rna_part_plan plan = {RNA_COLLECTOR_##ID, sizeof(type), part_room,    \
						   scratch_room, text, read_part};                 \
                                                                                                   \
		return rna_collect(&plan, in, ret, error);                                         \
	}
/* clang-format on */
