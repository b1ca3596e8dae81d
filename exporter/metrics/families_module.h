/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of modules: functions of its rows. */
#pragma once

#include "families.h"

void rna_family_module_info(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_module_temperature(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_module_temperature_limit(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_module_voltage(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_module_receive_power(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_module_transmit_power(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_module_bias(const struct rna_subject *port, struct rna_writer *writer);
