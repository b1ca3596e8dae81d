/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of what the agent remembers: functions of its rows. */
#pragma once

#include "families.h"

void rna_family_expected_up(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_transitions(const struct rna_subject *port, struct rna_writer *writer);
struct rna_value rna_family_last_transition(const struct rna_subject *port);
struct rna_value rna_family_devices_missing(const struct rna_subject *node);
void rna_family_missing_info(const struct rna_subject *node, struct rna_writer *writer);
