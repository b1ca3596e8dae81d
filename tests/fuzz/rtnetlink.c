// SPDX-License-Identifier: Apache-2.0
/* What rtnetlink answers of routes, nexthop objects, neighbours and bonds: any reader, any bytes.
 */
#include <errno.h>
#include <string.h>

#include "parse/bond_message.h"
#include "parse/route_message.h"

#include "fuzz.h"

static void read_bond(struct rna_bytes bytes)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct rna_lacp lacp = {0};
	int status;

	FUZZ_WANT(arena);
	status = rna_bond_message_read(bytes, arena, &lacp);
	FUZZ_WANT(status == 0 || status == -EBADMSG);
	FUZZ_WANT(status == 0 || !lacp.partner);
	FUZZ_WANT(!lacp.partner || strlen(lacp.partner) == strlen("00:00:00:00:00:00"));
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
	read_bond(bytes);
	return 0;
}
