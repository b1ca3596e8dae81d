/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The class of probes: traffic class and service level. Probes say something about the packets of
 * jobs only if switches put both into the same queues. Pure. Thread: any.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rna/model/value.h"
#include "rna/model/view.h"

#include "settings/settings.h"

struct rna_probe_class {
	uint8_t traffic_class; /* of GRH and IP header: DSCP << 2 */
	uint8_t service_level;
	uint8_t dscp; /* that probes leave with; 255: unknown */
};

/*
 * The class of the settings. Where they say auto, it is that of NCCL on this node: of
 * /etc/nccl.conf, else of what "env --for=nccl" advises, else NCCL's own, 0.
 */
struct rna_probe_class rna_probe_class_of_jobs(const struct rna_view *view,
					       const struct rna_settings *settings);

/*
 * The same for a port whose driver writes a class of its own into all RoCE packets
 * (rna_port_identity): that one, or, if the settings name another, one whose DSCP is unknown.
 */
struct rna_probe_class rna_probe_class_of_port(struct rna_probe_class jobs, struct rna_value driver,
					       const struct rna_settings *settings);

/* For settings: "auto", or a number. */
bool rna_probe_traffic_class_is_valid(const char *text);
bool rna_probe_service_level_is_valid(const char *text);
