/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of the topology: functions of its rows. */
#pragma once

#include "families.h"

void rna_family_gpu_info(const struct rna_subject *node, struct rna_writer *writer);
void rna_family_gpu_nic_path(const struct rna_subject *node, struct rna_writer *writer);
struct rna_value rna_family_port_rail(const struct rna_subject *port);
