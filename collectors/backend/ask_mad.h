/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MAD backend as collectors use it: as a source beside the files of a reader, which is left
 * alone for growing pauses when it fails, so that a port that does not answer costs little.
 */
#pragma once

#include "backends.h"

/* Not what manages NVSwitches, see rna/model/device.h, and else what the backend serves. */
bool rna_ask_is_possible(const struct rna_collect_input *in, unsigned port);

/*
 * Asks a port for its PortInfo, for what it knows of its fabric (topics: see the MAD backend), or
 * for its counters; ret->capability is filled beforehand where it is known. 0, or negative errno.
 * That there is no way to ask, or that the port is not ACTIVE, is normal; anything else is counted
 * in part.
 */
int rna_ask_port_info(const struct rna_collect_input *in, unsigned port, struct rna_part *part,
		      struct rna_mad_port *ret);
int rna_ask_fabric(const struct rna_collect_input *in, unsigned port, unsigned topics,
		   struct rna_part *part, struct rna_mad_fabric *ret);
int rna_ask_counters(const struct rna_collect_input *in, unsigned port, struct rna_part *part,
		     struct rna_mad_counters *ret);

/* Adds to the reader a source with a file for each counter. 0 or -ENOMEM. */
int rna_ask_add_counters(struct rna_reader *reader, unsigned tag);

/* The counter of that name in an answer; NULL: it has none. answer may be NULL. */
const struct rna_value *rna_ask_find(const struct rna_mad_counters *answer, const char *file);
