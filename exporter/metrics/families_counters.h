/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of counters: how known ones are written, and
 * functions of its rows. */
#pragma once

#include "families.h"

void rna_family_write_known_counter(const struct rna_counter *counter, struct rna_walk *walk,
				    struct rna_writer *writer);
void rna_family_write_labelled_counters(const struct rna_counter *first,
					const struct rna_subject_list *ports,
					struct rna_writer *writer);
void rna_family_write_alias(const struct rna_counter *counter, const struct rna_subject_list *ports,
			    struct rna_writer *writer);
void rna_family_port_counters(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_port_hw_counters(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_device_hw_counters(const struct rna_subject *device, struct rna_writer *writer);
struct rna_value rna_family_saturated_counters(const struct rna_subject *port);
struct rna_value rna_family_counters_resets(const struct rna_subject *port);
struct rna_value rna_family_hw_counters_resets(const struct rna_subject *port);
struct rna_value rna_family_fabric_counters_resets(const struct rna_subject *port);
struct rna_value rna_family_device_hw_counters_resets(const struct rna_subject *device);

/* Is the row one of the family that the row before it begins? */
bool rna_family_counter_follows(const struct rna_counter *row);
