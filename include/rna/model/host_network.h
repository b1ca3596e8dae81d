/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the IP stack of the host does for RoCE: addresses of the rails, how the kernel answers ARP
 * for them, and its tables of neighbours.
 *
 * An address belongs to the host, not to an interface: by default the kernel answers an ARP request
 * for any of its addresses on each interface that receives the request (arp_process() in
 * net/ipv4/arp.c; Documentation/networking/ip-sysctl.rst, arp_ignore). If two rails are in one
 * subnet, the peer takes one of several answers, which may be the link-layer address of the wrong
 * NIC. A connection of RDMA keeps that address in its queue pair (dst_fetch_ha() in
 * drivers/infiniband/core/addr.c), and the wrong NIC drops its packets. Neighbour discovery of IPv6
 * answers for addresses of the receiving interface alone (ndisc_recv_ns() in net/ipv6/ndisc.c), so
 * this is about IPv4.
 *
 * Outgoing packets of RDMA need no routing by source: the lookup names the interface of the GID
 * (addr_resolve() in addr.c, bound_dev_if). Those of sockets do, and so does the answer to an ARP
 * request where the reverse path is filtered strictly (__fib_validate_source() in
 * net/ipv4/fib_frontend.c). Linux 6.1 to 6.18.
 */
#pragma once

#include <stddef.h>

#include "rna/model/gid.h"
#include "rna/model/part.h"
#include "rna/model/value.h"

/* An IPv4 address of a RoCE interface, its bond, or a VLAN on these. */
struct rna_rail_address {
	const char *netdev;
	struct rna_gid address; /* mapped */
	const char *text;       /* the address */
	struct rna_gid subnet;  /* its first address, mapped */
	struct rna_value prefix_length;
	/*
	 * The interface by which the kernel sends a packet from this address to its subnet. NULL:
	 * unknown, or no other interface of the list is in the subnet.
	 */
	const char *leaves_by;
	/* As they apply to the interface: the larger one of conf/all and conf/NETDEV. */
	struct rna_value arp_ignore;
	struct rna_value arp_announce;
	struct rna_value arp_filter;
	struct rna_value rp_filter;
};

enum { RNA_RAIL_ADDRESSES_MAX = 256 }; /* further ones are left out */

/*
 * A table of the kernel with the link-layer addresses of neighbours, of all network namespaces.
 * Absent in other namespaces than that of the host.
 */
struct rna_neighbour_table {
	struct rna_value entries;
	struct rna_value limit;     /* gc_thresh3 */
	struct rna_value overflows; /* neighbours that were refused since boot: table_fulls */
	rna_usec overflowed; /* monotonic time of the last reading that found more; 0: none */
};

struct rna_host_network {
	size_t address_count;
	const struct rna_rail_address *addresses; /* by netdev and address */
	struct rna_neighbour_table tables[RNA_GID_FAMILY_COUNT];
};
