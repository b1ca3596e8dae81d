/* SPDX-License-Identifier: Apache-2.0 */
/* What drivers call the statistics that we have names for. */
#pragma once

#include "rna/model/ethernet.h"

/* How a name of "ethtool -S" is found again: '%' stands for a number of one or two digits. */
struct rna_ethernet_source {
	const char *pattern;
	enum rna_ethernet_statistic_id id;
	unsigned scale; /* from the driver's unit to ours; 0: the same */
};

/* The statistic that name stands for; *ret_number: its priority or lane, -1 without. NULL: none. */
const struct rna_ethernet_source *rna_ethernet_find_source(const char *name, int *ret_number);
