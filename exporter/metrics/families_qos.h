/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of quality of service: functions of its rows. */
#pragma once

#include "families.h"

void rna_family_qos_info(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_pfc_enabled(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_pfc_frames(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_priority_dscp(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_ecn_enabled(const struct rna_subject *port, struct rna_writer *writer);
struct rna_value rna_family_traffic_class(const struct rna_subject *port);
struct rna_value rna_family_default_tos(const struct rna_subject *port);
void rna_family_vlan_info(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_vlan_gids(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_vlan_mtu(const struct rna_subject *port, struct rna_writer *writer);

/* With metrics.qos_details only: */
void rna_family_priority_traffic_class(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_traffic_class_bandwidth(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_receive_buffer(const struct rna_subject *port, struct rna_writer *writer);
void rna_family_congestion_parameter(const struct rna_subject *port, struct rna_writer *writer);
