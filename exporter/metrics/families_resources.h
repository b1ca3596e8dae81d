/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of RDMA objects and optional counters: functions of its rows. */
#pragma once

#include "families.h"

struct rna_value rna_family_in_use(const struct rna_subject *device);
void rna_family_resources(const struct rna_subject *device, struct rna_writer *writer);
void rna_family_idle_resources(const struct rna_subject *device, struct rna_writer *writer);
void rna_family_optional_counters(const struct rna_subject *port, struct rna_writer *writer);
