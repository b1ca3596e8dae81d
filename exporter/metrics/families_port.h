/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of ports and their network interfaces: functions of its rows. */
#pragma once

#include "families.h"

struct rna_value rna_family_state_id(const struct rna_subject *subject);
struct rna_value rna_family_physical_state_id(const struct rna_subject *subject);
struct rna_value rna_family_width_supported(const struct rna_subject *subject);
struct rna_value rna_family_width_enabled(const struct rna_subject *subject);
struct rna_value rna_family_speed_supported(const struct rna_subject *subject);
struct rna_value rna_family_speed_enabled(const struct rna_subject *subject);
struct rna_value rna_family_active_mtu(const struct rna_subject *subject);
struct rna_value rna_family_max_mtu(const struct rna_subject *subject);
struct rna_value rna_family_lid(const struct rna_subject *subject);
struct rna_value rna_family_sm_lid(const struct rna_subject *subject);
struct rna_value rna_family_lmc(const struct rna_subject *subject);
struct rna_value rna_family_capability_mask(const struct rna_subject *subject);
struct rna_value rna_family_netdev_up(const struct rna_subject *port);
struct rna_value rna_family_netdev_carrier(const struct rna_subject *subject);
struct rna_value rna_family_netdev_mtu(const struct rna_subject *subject);
struct rna_value rna_family_netdev_speed(const struct rna_subject *port);
struct rna_value rna_family_netdev_carrier_up(const struct rna_subject *subject);
struct rna_value rna_family_netdev_carrier_down(const struct rna_subject *subject);
