/* SPDX-License-Identifier: Apache-2.0 */
/* What collector gateways reads of the IP stack of the host: rna/model/host_network.h. */
#pragma once

#include "rna/collector.h"
#include "rna/model/host_network.h"

/* The interfaces, and what was read in the previous run (NULL: nothing). */
struct rna_host_network_request {
	const struct rna_collect_input *in;
	const char *const *netdevs;
	size_t count;
	const struct rna_host_network *before;
	rna_usec now; /* monotonic */
	struct rna_arena *scratch, *keep;
};

/*
 * 0 or negative errno; *ret then has what could be read. What the kernel does not have, or does not
 * show in this network namespace, is absent.
 */
int rna_read_host_network(const struct rna_host_network_request *request,
			  struct rna_host_network *ret);
