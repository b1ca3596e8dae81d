// SPDX-License-Identifier: Apache-2.0
/* What rtnetlink answers of routes, neighbours and interfaces: any reader, any bytes. */
#include <errno.h>
#include <string.h>

#include "parse/link_message.h"
#include "parse/route_message.h"

#include "fuzz.h"

static void read_link(struct rna_bytes bytes)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct rna_netdev netdev = {0};
	const char *partner;
	struct rna_qos_vlan vlan = {0};
	uint32_t master;
	int status;

	FUZZ_WANT(arena);
	status = rna_link_message_read(bytes, arena, &netdev, &master);
	partner = netdev.lacp.partner;
	FUZZ_WANT(status == 0 || status == -EBADMSG);
	FUZZ_WANT(status == 0 || !netdev.name);
	FUZZ_WANT(!partner || strlen(partner) == strlen("00:00:00:00:00:00"));
	status = rna_vlan_message_read(bytes, &vlan);
	FUZZ_WANT(status == 0 || status == -EBADMSG || status == -ENOENT);
	FUZZ_WANT(status == 0 || !rna_value_is_known(vlan.id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rna_bytes bytes = {data, size};
	struct rna_route_message route;
	struct rna_nexthop_message nexthop;
	struct rna_neighbour_message neighbour;
	struct rna_address_message address;
	uint32_t ifindex;
	int status = rna_route_answer_read(bytes, &ifindex);

	FUZZ_WANT(status == 0 || status == -EBADMSG);
	if (rna_route_message_read(bytes, &route) == 0)
		FUZZ_WANT(route.count <= RNA_ROUTE_HOPS_MAX);
	for (size_t i = 0; rna_route_message_read(bytes, &route) == 0 && i < route.count; i++)
		FUZZ_WANT(route.hops[i].ifindex && !rna_gid_is_zero(&route.hops[i].gateway));
	if (rna_nexthop_message_read(bytes, &nexthop) == 0)
		FUZZ_WANT(nexthop.count <= RNA_ROUTE_HOPS_MAX);
	if (rna_neighbour_message_read(bytes, &neighbour) == 0)
		FUZZ_WANT(neighbour.timed || (!neighbour.confirmed && !neighbour.changed));
	if (rna_address_message_read(bytes, &address) == 0 && rna_gid_is_zero(&address.address))
		FUZZ_WANT(rna_gid_is_zero(&address.network));
	read_link(bytes);
	return 0;
}
