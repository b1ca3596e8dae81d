/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of virtual functions: functions of its rows. */
#pragma once

#include "families.h"

void rna_family_vf_properties(const struct rna_subject *device, struct rna_writer *writer);
void rna_family_vf_info(const struct rna_subject *device, struct rna_writer *writer);
