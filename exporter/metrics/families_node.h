/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of the node as a whole: functions of its rows. */
#pragma once

#include "families.h"

struct rna_value rna_family_devices(const struct rna_subject *node);
struct rna_value rna_family_devices_excluded(const struct rna_subject *node);
void rna_family_node_info(const struct rna_subject *node, struct rna_writer *writer);
void rna_family_gpudirect_ready(const struct rna_subject *node, struct rna_writer *writer);
void rna_family_modules_loaded(const struct rna_subject *node, struct rna_writer *writer);
struct rna_value rna_family_netns_exclusive(const struct rna_subject *node);
void rna_family_findings(const struct rna_subject *node, struct rna_writer *writer);
void rna_family_finding_counts(const struct rna_subject *node, struct rna_writer *writer);
