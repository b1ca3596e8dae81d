/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of what Kubernetes is told: functions of its rows. */
#pragma once

#include "families.h"

void rna_family_node_in_step(const struct rna_subject *node, struct rna_writer *writer);
void rna_family_node_problem(const struct rna_subject *node, struct rna_writer *writer);
void rna_family_node_written(const struct rna_subject *node, struct rna_writer *writer);
void rna_family_node_requests(const struct rna_subject *subject, struct rna_writer *writer);
struct rna_value rna_family_node_events_sent(const struct rna_subject *subject);
struct rna_value rna_family_node_events_dropped(const struct rna_subject *subject);
void rna_family_node_allocatable(const struct rna_subject *subject, struct rna_writer *writer);
void rna_family_node_capacity(const struct rna_subject *subject, struct rna_writer *writer);
