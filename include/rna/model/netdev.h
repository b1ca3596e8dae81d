/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Network interfaces, and their mapping to RDMA ports. Sources: rtnetlink (linux/if_link.h,
 * Documentation/networking/operstates.rst), sysfs class/net.
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

/* Bits of a port's state in an LACPDU: IEEE 802.1AX, 6.4.2.3; linux/if_bonding.h LACP_STATE_*. */
enum {
	RNA_LACP_COLLECTING = 0x10,
	RNA_LACP_DISTRIBUTING = 0x20,
};

/* LACP of a bond in mode 802.3ad, or of a member of one; all absent in other modes. */
struct rna_lacp {
	struct rna_value aggregator; /* of a bond: the one that carries its traffic */
	const char *partner;         /* of a bond: MAC address of the switch; NULL: unknown */
	/* Of a member: the state of this end, and what the partner says of its own. */
	struct rna_value actor_state;
	struct rna_value partner_state;
};

/* Is the partner's address zero: has no switch answered? False: it has, or unknown. */
bool rna_lacp_has_no_partner(const struct rna_lacp *lacp);
/* 1 if both ends of a member collect and distribute, so that it carries traffic; absent: unknown */
struct rna_value rna_lacp_carries_traffic(const struct rna_lacp *lacp);

struct rna_netdev {
	const char *name;
	const char *master; /* bond or bridge it belongs to, or NULL */
	bool bond;          /* its members are listed as well, with it as master */
	/* A bond whose members transmit at the same time; false: active-backup, or not known. */
	bool bond_spreads;
	/* Of a bond: 1 if it monitors the links of its members (miimon, arp_interval), else 0. */
	struct rna_value bond_monitors;
	/* For a member of a bond: the RDMA device on the same function, or NULL. */
	const char *device;
	struct rna_lacp lacp;
	unsigned ifindex;
	unsigned type;    /* ARPHRD_*: 1 Ethernet, 32 InfiniBand */
	bool representor; /* represents a function behind the embedded switch, not a cable */
	bool admin_up;    /* IFF_UP */
	enum rna_operstate operstate;
	struct rna_value carrier; /* 0 or 1; absent while the interface is administratively down */
	struct rna_value mtu;     /* bytes */
	struct rna_value carrier_up; /* transitions since the interface was created */
	struct rna_value carrier_down;
	struct rna_value speed; /* bits per second; absent if the driver does not report it */
	/*
	 * Number of its own addresses, without those of VLANs on it and without IPv6 link-local
	 * ones.
	 */
	struct rna_value ipv4_addresses;
	struct rna_value ipv6_addresses;
};

/* How the agent matched a port to its interface. */
enum rna_netdev_source {
	RNA_NETDEV_BY_NETLINK,  /* RDMA_NLDEV_CMD_PORT_GET: by the kernel */
	RNA_NETDEV_BY_GID,      /* gid_attrs/ndevs/0 */
	RNA_NETDEV_BY_DEV_PORT, /* device/net/X with dev_port = port - 1 */
	RNA_NETDEV_BY_PARENT,   /* rxe: the device's parent attribute */
	RNA_NETDEV_BY_IPOIB,    /* same PCI function, type InfiniBand, dev_port = port - 1 */
};

const char *rna_netdev_source_name(enum rna_netdev_source source);

struct rna_port_netdev {
	const char *device; /* current name of the RDMA device */
	unsigned port;
	const char *netdev; /* always one of the part's netdevs */
	enum rna_netdev_source source;
};

/*
 * The interface of a port whose device is in another network namespace. What files of sysfs tell;
 * its name means nothing in the agent's own namespace, so that it is not among the others.
 */
struct rna_followed_netdev {
	struct rna_port_netdev port;
	struct rna_netdev netdev;
};

struct rna_netdevs {
	struct rna_part part;
	size_t count;
	const struct rna_netdev *netdevs; /* sorted by name */
	size_t port_count;
	const struct rna_port_netdev *ports; /* sorted by device, port */
	size_t followed_count;
	const struct rna_followed_netdev *followed; /* sorted by device, port */
	/*
	 * The interface of the default route, of IPv4 or else IPv6: it carries all traffic that is
	 * not RDMA. It is in netdevs only if it serves a port. NULL: no default route, or unknown.
	 */
	const char *uplink;
};

/*
 * A search for many ports in sequence. All lists have nearly the same order, so each search tries
 * the place behind the last one first. What is not there, as for virtual functions without an
 * interface, costs a binary search.
 */
struct rna_netdev_search {
	const struct rna_netdevs *netdevs; /* NULL: all searches return NULL */
	size_t port;
	size_t netdev;
};

/* NULL: not found. */
const struct rna_port_netdev *rna_netdev_search_port(struct rna_netdev_search *search,
						     const char *device, unsigned port);
const struct rna_netdev *rna_netdev_search_name(struct rna_netdev_search *search, const char *name);

/* That of a port elsewhere; NULL: none, or the port is here. netdevs may be NULL. */
const struct rna_followed_netdev *rna_netdevs_followed(const struct rna_netdevs *netdevs,
						       const struct rna_device *device,
						       unsigned port);

/*
 * The next member of bond, starting at netdevs[*from]; sets *from behind it. NULL: no more. Only
 * members that belong to device: if two devices are in one bond, each has its own members, and a
 * member without a device belongs to both, such as the second port of a LAG. A device without a
 * function is on top of the bond and has all members. device NULL: all members.
 */
const struct rna_netdev *rna_netdevs_next_member(const struct rna_netdevs *netdevs,
						 const char *bond, const struct rna_device *device,
						 size_t *from);

/* The bond that netdev (may be NULL) is or belongs to. NULL: none. */
const struct rna_netdev *rna_netdevs_bond_of(const struct rna_netdevs *netdevs,
					     const struct rna_netdev *netdev);

/*
 * Is it administratively down or without carrier? Then it has no traffic, whatever the port state
 * is.
 */
bool rna_netdev_has_no_link(const struct rna_netdev *netdev);

/*
 * Do both have the same interfaces, masters, LACP partners and mappings? Then prepared labels of
 * one are valid for the other.
 */
bool rna_netdevs_same_names(const struct rna_netdevs *a, const struct rna_netdevs *b);
