/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MAD backend for collectors, as a source of a reader: after failures it is not queried for
 * growing pauses, so that a port that does not answer costs little.
 */
#pragma once

#include "backends.h"

/*
 * Can the port be queried? Not if it manages NVSwitches (rna/model/device.h); otherwise if the
 * backend serves it.
 */
bool rna_ask_is_possible(const struct rna_collect_input *in, unsigned port);

/*
 * Query a port for its PortInfo, its fabric (topics: see the MAD backend), or its counters; the
 * caller fills ret->capability if it is known. 0, or negative errno. It is normal that MADs are not
 * available, that the port is not ACTIVE, or that it requires an M_Key (-ENOKEY); other errors are
 * counted in part.
 */
int rna_ask_port_info(const struct rna_collect_input *in, unsigned port, struct rna_part *part,
		      struct rna_mad_port *ret);
int rna_ask_fabric(const struct rna_collect_input *in, unsigned port, unsigned topics,
		   struct rna_part *part, struct rna_mad_fabric *ret);
int rna_ask_counters(const struct rna_collect_input *in, unsigned port, struct rna_part *part,
		     struct rna_mad_counters *ret);

/* Adds a source to the reader, with an entry for each counter. 0 or -ENOMEM. */
int rna_ask_add_counters(struct rna_reader *reader, unsigned tag);

/* The counter of that name in answer; NULL: none. answer may be NULL. */
const struct rna_value *rna_ask_find(const struct rna_mad_counters *answer, const char *file);
