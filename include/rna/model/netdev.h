/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Network interfaces, and which of them serves which RDMA port.
 * Sources: rtnetlink (linux/if_link.h, Documentation/networking/operstates.rst), sysfs class/net.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/part.h"
#include "rna/model/value.h"

struct rna_device;

/* RFC 2863 operational state, linux/if.h IF_OPER_*. */
enum rna_operstate {
	RNA_OPER_UNKNOWN = 0,
	RNA_OPER_NOTPRESENT = 1,
	RNA_OPER_DOWN = 2,
	RNA_OPER_LOWERLAYERDOWN = 3,
	RNA_OPER_TESTING = 4,
	RNA_OPER_DORMANT = 5,
	RNA_OPER_UP = 6,
};

const char *rna_operstate_name(enum rna_operstate state); /* "up", "lowerlayerdown", ... */

struct rna_netdev {
	const char *name;
	const char *master; /* bond or bridge it belongs to, or NULL */
	bool bond;          /* its members are listed, too: those whose master it is */
	/* Of a member of a bond, the RDMA device on whose function it is, or NULL. */
	const char *device;
	unsigned ifindex;
	unsigned type;    /* ARPHRD_*: 1 Ethernet, 32 InfiniBand */
	bool representor; /* it stands for a function behind a switch in the device, not for a wire
			   */
	bool admin_up;    /* IFF_UP */
	enum rna_operstate operstate;
	struct rna_value carrier; /* 0 or 1; absent while the interface is administratively down */
	struct rna_value mtu;     /* bytes */
	struct rna_value carrier_up; /* transitions since the interface was made */
	struct rna_value carrier_down;
	struct rna_value speed; /* bits per second; absent where the driver does not tell */
	/* Its own addresses, not those of VLANs on it; of IPv6 no link-local ones. */
	struct rna_value ipv4_addresses;
	struct rna_value ipv6_addresses;
};

/* How a port was matched to its interface. */
enum rna_netdev_source {
	RNA_NETDEV_BY_NETLINK,  /* RDMA_NLDEV_CMD_PORT_GET: the kernel says it */
	RNA_NETDEV_BY_GID,      /* gid_attrs/ndevs/0 */
	RNA_NETDEV_BY_DEV_PORT, /* device/net/X with dev_port = port - 1 */
	RNA_NETDEV_BY_PARENT,   /* rxe: the device's parent attribute */
	RNA_NETDEV_BY_IPOIB,    /* same PCI function, type InfiniBand, dev_port = port - 1 */
};

const char *rna_netdev_source_name(enum rna_netdev_source source);

struct rna_port_netdev {
	const char *device; /* name of the RDMA device at that moment */
	unsigned port;
	const char *netdev; /* always one of the part's netdevs */
	enum rna_netdev_source source;
};

struct rna_netdevs {
	struct rna_part part;
	size_t count;
	const struct rna_netdev *netdevs; /* sorted by name */
	size_t port_count;
	const struct rna_port_netdev *ports; /* sorted by device, port */
	/*
	 * Where the default route goes, IPv4's before IPv6's: the way to other nodes for all that
	 * is not RDMA. Listed above only if it serves a port. NULL: no such route, or not known.
	 */
	const char *uplink;
};

/*
 * A search for many ports, one after the other. Ports and interfaces come in the same order from
 * all sides, or nearly so: it goes on where it ended, and 512 ports cost about 512 comparisons.
 */
struct rna_netdev_search {
	const struct rna_netdevs *netdevs; /* NULL: nothing is found */
	size_t port;
	size_t netdev;
};

/* NULL: there is none. */
const struct rna_port_netdev *rna_netdev_search_port(struct rna_netdev_search *search,
						     const char *device, unsigned port);
const struct rna_netdev *rna_netdev_search_name(struct rna_netdev_search *search, const char *name);

/*
 * A member of bond, from netdevs[*from] on, which moves behind it; NULL: no more. Of those behind
 * device alone: where two devices are in one bond, each has its own, and one that is no device's
 * is both's, as the second port of a LAG is. A device without a function is on top of the bond, and
 * has all of them. device: NULL: whosever it is.
 */
const struct rna_netdev *rna_netdevs_next_member(const struct rna_netdevs *netdevs,
						 const char *bond, const struct rna_device *device,
						 size_t *from);

/* The bond that netdev (NULL is fine) is, or is a member of; NULL: none. */
const struct rna_netdev *rna_netdevs_bond_of(const struct rna_netdevs *netdevs,
					     const struct rna_netdev *netdev);

/* Is it set down, or without a link? Then nothing goes over it, whatever its port says. */
bool rna_netdev_has_no_link(const struct rna_netdev *netdev);

/* Do both name the same interfaces, masters and mappings? Then labels made of one fit the other. */
bool rna_netdevs_same_names(const struct rna_netdevs *a, const struct rna_netdevs *b);
