/* SPDX-License-Identifier: Apache-2.0 */
/* The drivers' names of the statistics in the table. */
#pragma once

#include "rna/model/ethernet.h"

/* A name in "ethtool -S"; '%' matches a number of one or two digits. */
struct rna_ethernet_source {
	const char *pattern;
	enum rna_ethernet_statistic_id id;
	unsigned scale; /* factor from the driver's unit to the table's; 0: 1 */
	bool ipoib;     /* means the same where it is a statistic of an IPoIB interface */
};

/* The statistic with that driver name; *ret_number: its priority or lane, or -1. NULL: none. */
const struct rna_ethernet_source *rna_ethernet_find_source(const char *name, int *ret_number);
