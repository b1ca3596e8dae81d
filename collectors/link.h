/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the two sources of link; declared here for its tests. */
#pragma once

#include "rna/model/device.h"

#include "parse/rate.h"

/*
 * Fills rate, width, speed_code and speed_name of ret from the text of sysfs (NULL: none) and from
 * the speed code and lanes of verbs (may be absent).
 */
void rna_link_merge_speed(const struct rna_link_rate *printed, struct rna_value speed_code,
			  struct rna_value lanes, struct rna_port_link *ret);
