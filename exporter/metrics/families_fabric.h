/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of the fabric: functions of its rows. */
#pragma once

#include "families.h"

void rna_family_peer_info(const struct rna_subject *port, struct rna_writer *writer);
struct rna_value rna_family_peer_stale(const struct rna_subject *port);
struct rna_value rna_family_peer_changes(const struct rna_subject *port);
struct rna_value rna_family_peer_width_supported(const struct rna_subject *port);
struct rna_value rna_family_peer_width_enabled(const struct rna_subject *port);
struct rna_value rna_family_peer_speed_supported(const struct rna_subject *port);
struct rna_value rna_family_peer_speed_enabled(const struct rna_subject *port);
void rna_family_sm_info(const struct rna_subject *port, struct rna_writer *writer);
struct rna_value rna_family_sm_state(const struct rna_subject *port);
struct rna_value rna_family_sm_priority(const struct rna_subject *port);
struct rna_value rna_family_sm_changes(const struct rna_subject *port);
void rna_family_pkeys(const struct rna_subject *port, struct rna_writer *writer);
struct rna_value rna_family_default_pkey(const struct rna_subject *port);
struct rna_value rna_family_virtual_lanes(const struct rna_subject *port);
struct rna_value rna_family_congestion_control(const struct rna_subject *port);
