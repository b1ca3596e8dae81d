// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "rna/base/parse.h"
#include "rna/model/module.h"

enum rna_module_limit rna_module_exceeded(const struct rna_port_module *module,
					  enum rna_module_measure measure, struct rna_value value)
{
	static const struct {
		enum rna_module_limit limit;
		bool high;
	} order[] = {
		{RNA_MODULE_HIGH_ALARM, true},
		{RNA_MODULE_LOW_ALARM, false},
		{RNA_MODULE_HIGH_WARNING, true},
		{RNA_MODULE_LOW_WARNING, false},
	};

	for (size_t i = 0; rna_value_is_known(value) && i < RNA_ARRAY_SIZE(order); i++) {
		struct rna_value limit = module->limits[measure][order[i].limit];

		if (rna_value_is_known(limit) &&
		    (order[i].high ? value.number > limit.number : value.number < limit.number))
			return order[i].limit;
	}
	return RNA_MODULE_LIMIT_COUNT;
}

bool rna_module_lane_is_used(const struct rna_port_module *module, unsigned lane)
{
	enum { DARK = 1000 }; /* nW, -30 dBm: below the sensitivity of all receivers */
	struct rna_value bias = module->lanes[lane][RNA_MODULE_BIAS];
	struct rna_value receive = module->lanes[lane][RNA_MODULE_RECEIVE_POWER];
	bool off = rna_value_is_known(bias) && bias.number == 0;

	return !off || (rna_value_is_known(receive) && receive.number > DARK);
}

/* Received power of a lane in use; absent if unknown or if the lane is unused. */
static struct rna_value received(const struct rna_port_module *module, unsigned lane)
{
	return rna_module_lane_is_used(module, lane) ? module->lanes[lane][RNA_MODULE_RECEIVE_POWER]
						     : (struct rna_value){0};
}

int rna_module_weak_lane(const struct rna_port_module *module)
{
	enum { ENOUGH = 3 };
	uint64_t known[RNA_MODULE_LANES_MAX], median;
	size_t count = 0;

	for (unsigned i = 0; i < module->lane_count; i++)
		if (rna_value_is_known(received(module, i)))
			known[count++] = received(module, i).number;
	if (count < ENOUGH)
		return -1;
	qsort(known, count, sizeof(known[0]), rna_compare_u64);
	median = known[count / 2];
	for (unsigned i = 0; i < module->lane_count; i++) {
		struct rna_value power = received(module, i);

		if (rna_value_is_known(power) && power.number < median / 2)
			return (int)i;
	}
	return -1;
}
