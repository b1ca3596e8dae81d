// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <string.h>

#include "rna/model/gateways.h"

const char *rna_neighbour_state_name(uint64_t state)
{
	switch (state) {
	case RNA_NEIGHBOUR_NONE:
		return "none";
	case RNA_NEIGHBOUR_INCOMPLETE:
		return "incomplete";
	case RNA_NEIGHBOUR_REACHABLE:
		return "reachable";
	case RNA_NEIGHBOUR_STALE:
		return "stale";
	case RNA_NEIGHBOUR_DELAY:
		return "delay";
	case RNA_NEIGHBOUR_PROBE:
		return "probe";
	case RNA_NEIGHBOUR_FAILED:
		return "failed";
	case RNA_NEIGHBOUR_NOARP:
		return "noarp";
	case RNA_NEIGHBOUR_PERMANENT:
		return "permanent";
	default:
		return NULL;
	}
}

const struct rna_gateway *rna_gateways_next(const struct rna_gateways *gateways, const char *netdev,
					    size_t *from)
{
	while (gateways && netdev && *from < gateways->count) {
		const struct rna_gateway *gateway = &gateways->items[(*from)++];

		if (strcmp(gateway->lower, netdev) == 0)
			return gateway;
	}
	return NULL;
}

void rna_address_format(const struct rna_gid *address, char ret[RNA_ADDRESS_TEXT_MAX])
{
	if (!rna_gid_ipv4(address, ret))
		(void)inet_ntop(AF_INET6, address->bytes, ret, RNA_ADDRESS_TEXT_MAX);
}
