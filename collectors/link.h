/* SPDX-License-Identifier: Apache-2.0 */
/* How link decides between its two sources, for its tests. */
#pragma once

#include "rna/model/device.h"

#include "parse/rate.h"

/*
 * Fills rate, width, speed_code and speed_name of ret from what sysfs printed (NULL: nothing) and
 * from the speed code and lanes that verbs gave (may be absent).
 */
void rna_link_merge_speed(const struct rna_rate *printed, struct rna_value speed_code,
			  struct rna_value lanes, struct rna_port_link *ret);
