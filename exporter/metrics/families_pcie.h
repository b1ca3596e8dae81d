/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of the PCIe path of a device: functions of its rows. */
#pragma once

#include "families.h"

struct rna_value rna_family_pcie_width(const struct rna_subject *subject);
struct rna_value rna_family_pcie_max_width(const struct rna_subject *subject);
struct rna_value rna_family_pcie_max_read_request(const struct rna_subject *subject);
struct rna_value rna_family_virtual_functions(const struct rna_subject *subject);
struct rna_value rna_family_max_virtual_functions(const struct rna_subject *subject);
struct rna_value rna_family_pcie_speed(const struct rna_subject *device);
struct rna_value rna_family_pcie_max_speed(const struct rna_subject *device);
struct rna_value rna_family_pcie_rate(const struct rna_subject *device);
void rna_family_pcie_bottleneck(const struct rna_subject *device, struct rna_writer *writer);
void rna_family_pcie_errors(const struct rna_subject *device, struct rna_writer *writer);
