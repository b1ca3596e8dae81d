/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of the Ethernet side: functions of its rows, and a family per statistic. */
#pragma once

#include "families.h"

void rna_family_ethernet_up(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_ethernet_down_info(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_ethernet_speed(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_ethernet_lanes(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_ethernet_unknown(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_ethernet_mode_info(const struct rna_subject *port, struct rna_writer *writer);

/* The family of a statistic, its texts in arena; its name is NULL without memory. */
struct rna_family rna_family_of_statistic(enum rna_ethernet_statistic_id id,
					  struct rna_arena *arena);
void rna_family_write_statistic(const struct rna_family *family,
				const struct rna_subject_list *ports, struct rna_writer *writer);
/* Its labels beside device and port, for documents. */
const char *rna_family_statistic_labels(const struct rna_family *family);
