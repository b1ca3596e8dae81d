/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateways of RoCE interfaces, and what the kernel's neighbour table says of them. Sources:
 * linux/neighbour.h; net/core/neighbour.c; net/ipv4/fib_semantics.c, net/ipv6/route.c (Linux 6.1 to
 * 6.18).
 *
 * A rail that leads to a router has a gateway in some routing table, often in one of its own
 * (policy routing). Each connection to another subnet needs its link-layer address; RDMA asks the
 * kernel for it like IP does (dst_fetch_ha() in drivers/infiniband/core/addr.c) and keeps it in the
 * queue pair. So RDMA traffic does not refresh the neighbour entry: it becomes STALE 15 to 45
 * seconds after the last answer and may stay so for days. STALE says nothing; FAILED says that the
 * gateway did not answer when a process tried.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/model/gid.h"
#include "rna/model/host_network.h"
#include "rna/model/part.h"
#include "rna/model/value.h"

/* NUD_* of linux/neighbour.h. */
enum rna_neighbour_state {
	RNA_NEIGHBOUR_NONE = 0x00,       /* there is no entry */
	RNA_NEIGHBOUR_INCOMPLETE = 0x01, /* asked, not answered: for three seconds by default */
	RNA_NEIGHBOUR_REACHABLE = 0x02,
	RNA_NEIGHBOUR_STALE = 0x04,
	RNA_NEIGHBOUR_DELAY = 0x08, /* in use again; is asked in five seconds */
	RNA_NEIGHBOUR_PROBE = 0x10, /* is being asked again */
	RNA_NEIGHBOUR_FAILED = 0x20,
	RNA_NEIGHBOUR_NOARP = 0x40,     /* the interface needs no addresses */
	RNA_NEIGHBOUR_PERMANENT = 0x80, /* set by an administrator or a routing daemon */
};

/* "none", "incomplete", ...; NULL: unknown. */
const char *rna_neighbour_state_name(uint64_t state);

struct rna_gateway {
	const char *netdev;     /* interface of the routes */
	const char *lower;      /* interface that netdev is a VLAN on; otherwise netdev */
	struct rna_gid address; /* IPv4: mapped */
	const char *text;       /* the address */
	struct rna_value state; /* enum rna_neighbour_state */
	/*
	 * Microseconds, at the time of the reading, since it last proved to be reachable, and since
	 * its state changed. Absent if the state makes them meaningless.
	 */
	struct rna_value confirmed;
	struct rna_value changed;
	/* Monotonic times of the first and the last reading of a failure that goes on; 0: none. */
	rna_usec failing_first;
	rna_usec failing_last;
	rna_usec probed; /* monotonic time of the last probe; 0: none */
};

enum {
	RNA_GATEWAYS_MAX = 8,       /* of an interface and IP version; see below */
	RNA_ROUTE_NETDEVS_MAX = 128 /* interfaces; further ones are left out */
};

struct rna_gateways {
	struct rna_part part;
	/*
	 * Of each interface, those of its widest routes: of a default route, if there is one. An
	 * interface with more than RNA_GATEWAYS_MAX of them is in a mesh of peers, not behind
	 * routers, and has none here.
	 */
	size_t count;
	const struct rna_gateway *items; /* by netdev and address */
	struct rna_host_network host;
};

/*
 * The next gateway on netdev or on a VLAN on it, starting at items[*from]; sets *from behind it.
 * NULL: no more. gateways, netdev: may be NULL.
 */
const struct rna_gateway *rna_gateways_next(const struct rna_gateways *gateways, const char *netdev,
					    size_t *from);

/* Writes an address as people do: "10.1.0.1", "fe80::1". */
enum { RNA_ADDRESS_TEXT_MAX = 46 };
void rna_address_format(const struct rna_gid *address, char ret[RNA_ADDRESS_TEXT_MAX]);
