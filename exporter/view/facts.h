/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts that several outputs compute from what is known about a device, a port or a GID. All that
 * is only read has a row in the tables of exporter/metrics.
 */
#pragma once

#include "subjects.h"

/* Absent while the port is down, for what drivers say then is made up. The rate: bytes per second.
 */
struct rna_value rna_port_rate(const struct rna_subject *port);
struct rna_value rna_port_width(const struct rna_subject *port);
struct rna_value rna_port_speed_code(const struct rna_subject *port);

/* The speed of a PCIe link in its base unit. */
struct rna_value rna_transfers_per_second(struct rna_value speed);

/* Is the link up, for traffic? Absent when the state is not known. */
struct rna_value rna_port_up(const struct rna_subject *port);

/* Has its model no cable there (RNA_EXPECTATION_UNWIRED)? */
bool rna_port_is_unwired(const struct rna_subject *port);

/* A sentence for people on why there is no port to show. NULL: there is one. */
const char *rna_why_no_port(const struct rna_subjects *subjects);

/* Is it the GID that NCCL uses of its port? */
bool rna_gid_is_nccl(const struct rna_subject *gid);

/* Should a person look at it? */
enum rna_tone {
	RNA_TONE_PLAIN,
	RNA_TONE_GOOD,
	RNA_TONE_WARNING, /* on its way, or not quite */
	RNA_TONE_BAD,
};

/* What makes a terminal show it so; "": as all else. "\033[0m" ends it. */
const char *rna_tone_colour(enum rna_tone tone);

/* Of the worst finding about a port, or about its whole device, whatever is called so. */
enum rna_tone rna_tone_findings(const struct rna_view *view, const char *device, unsigned port);

typedef enum rna_tone rna_tone_of(const struct rna_subject *subject);

rna_tone_of rna_tone_state; /* of its state, or of a finding about it, the worse one */
rna_tone_of rna_tone_physical_state;
rna_tone_of rna_tone_operstate;
