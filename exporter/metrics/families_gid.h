/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of GIDs: functions of its rows. */
#pragma once

#include "families.h"

void rna_family_gid_counts(const struct rna_subject *port, struct rna_writer *writer);
struct rna_value rna_family_gid_info(const struct rna_subject *gid);
struct rna_value rna_family_nccl_gid_info(const struct rna_subject *gid);
struct rna_value rna_family_nccl_gid_index(const struct rna_subject *port);
struct rna_value rna_family_gid_changes(const struct rna_subject *port);
