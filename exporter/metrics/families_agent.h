/* SPDX-License-Identifier: Apache-2.0 */
/* What families.c has of the agent itself: functions of its rows. */
#pragma once

#include "families.h"

struct rna_value rna_family_success(const struct rna_subject *job);
struct rna_value rna_family_duration(const struct rna_subject *job);
struct rna_value rna_family_age(const struct rna_subject *job);
struct rna_value rna_family_stalled(const struct rna_subject *job);
void rna_family_errors(const struct rna_subject *job, struct rna_writer *writer);
struct rna_value rna_family_start_time(const struct rna_subject *node);
struct rna_value rna_family_snapshots(const struct rna_subject *node);
struct rna_value rna_family_lanes(const struct rna_subject *node);
struct rna_value rna_family_lanes_stalled(const struct rna_subject *node);
void rna_family_seccomp(const struct rna_subject *node, struct rna_writer *writer);
struct rna_value rna_family_quiesced(const struct rna_subject *node);
struct rna_value rna_family_config_ok(const struct rna_subject *node);
struct rna_value rna_family_config_loaded(const struct rna_subject *node);
struct rna_value rna_family_web_ok(const struct rna_subject *node);
struct rna_value rna_family_web_loaded(const struct rna_subject *node);
struct rna_value rna_family_certificate_end(const struct rna_subject *node);
void rna_family_logins(const struct rna_subject *node, struct rna_writer *writer);
void rna_family_events(const struct rna_subject *node, struct rna_writer *writer);
void rna_family_event_overruns(const struct rna_subject *node, struct rna_writer *writer);
void rna_family_changes(const struct rna_subject *node, struct rna_writer *writer);
void rna_family_event_latency(const struct rna_subject *node, struct rna_writer *writer);
struct rna_value rna_family_process_cpu(const struct rna_subject *node);
struct rna_value rna_family_process_resident_memory(const struct rna_subject *subject);
struct rna_value rna_family_process_virtual_memory(const struct rna_subject *subject);
struct rna_value rna_family_process_open_fds(const struct rna_subject *subject);
struct rna_value rna_family_process_max_fds(const struct rna_subject *subject);
struct rna_value rna_family_process_threads(const struct rna_subject *subject);
